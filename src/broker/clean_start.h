// SPDX-License-Identifier: Apache-2.0
/* Whose data folders these are, whether all are there, and what survived since the last time. */

#ifndef BROKER_CLEAN_START_H
#define BROKER_CLEAN_START_H

#include "data_dir.h"

/* Did everything that the last incarnation wrote survive? After a clean stop, yes (DESIGN 6.3). */
bool clean_start_page_cache_survived(struct data_dir *const *dirs, unsigned count);

/* Before clean_start_check(): folders that are those of another cluster, a Kafka's for example, become new
 * ones (DESIGN 4.1); what lies in them stays. 0 or an error, of which a line was said. Blocks. */
int clean_start_adopt(struct data_dir *const *dirs, unsigned count);

/* Before anything is written: are the folders this node's, of one cluster, and all that it has (an emptied
 * or forgotten disk would come back as partitions that begin at 0)? If not, one line says what to do.
 * 0 or ERR_INCONSISTENT_CLUSTER_ID, ERR_IO, … Blocks. */
int clean_start_check(struct data_dir *const *dirs, unsigned count, int32_t node_id);

/* New folders become ours, and each learns of the others. 0 or ERR_INCONSISTENT_CLUSTER_ID, ERR_IO, …
 * Blocks. */
int clean_start_claim(struct data_dir *const *dirs, unsigned count, const char *cluster_id,
                      int32_t node_id);

#endif
