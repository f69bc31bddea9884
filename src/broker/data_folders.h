// SPDX-License-Identifier: Apache-2.0
/* The data folders of this node: those of log.dirs, and that of the metadata if it has one of its own. */

#ifndef BROKER_DATA_FOLDERS_H
#define BROKER_DATA_FOLDERS_H

#include "config.h"
#include "data_dir.h"

struct data_folders {
    struct data_dir **all; /* The first holds the metadata. */
    unsigned count;
    struct data_dir **logs; /* Those that hold partitions: all, or all but the first. */
    unsigned log_count;
};

/* Makes, locks and checks them, takes over foreign ones if it is to (--adopt), and takes their clean markers
 * away. 0 or an error, of which a line was said; close takes what is left. Blocks. */
int data_folders_open(struct data_folders *folders, const struct config *config);

/* After partition_set_close() and meta_quorum_close(): a folder of the metadata alone is left in order, too.
 * Blocks. */
void data_folders_leave(struct data_folders *folders, int64_t broker_epoch);

/* Empty ones are fine. */
void data_folders_close(struct data_folders *folders);

#endif
