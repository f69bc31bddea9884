// SPDX-License-Identifier: Apache-2.0
/* Whose data folders these are, and what survived since the last time. */

#ifndef BROKER_CLEAN_START_H
#define BROKER_CLEAN_START_H

#include "data_dir.h"

/* Did everything that the last incarnation wrote survive? After a clean stop, yes (DESIGN 6.3). */
bool clean_start_page_cache_survived(struct data_dir *const *dirs, unsigned count);

/* A new folder becomes ours; one of another cluster or node is refused, with one line that says what to
 * do. 0 or ERR_INCONSISTENT_CLUSTER_ID, ERR_IO, … Blocks. */
int clean_start_claim(struct data_dir *dir, const char *cluster_id, int32_t node_id);

#endif
