// SPDX-License-Identifier: Apache-2.0
/* DeleteRecords for one partition, on its leader: its log begins later from then on. */

#ifndef PARTITION_PARTITION_TRIM_H
#define PARTITION_PARTITION_TRIM_H

#include "partition.h"

#define TRIM_TO_HIGH_WATERMARK (-1)

struct partition_trim {
    int64_t offset; /* The first one that is kept. */
    /* What comes next: on the pool, as soon as readers see the new start. It is durable once the
     * checkpoints of partition->dir have been written. */
    void (*done)(struct partition_trim *trim);
    /* The answer: */
    int err; /* ERR_OFFSET_OUT_OF_RANGE: above the high watermark; ERR_POLICY_VIOLATION: only
                           * compaction may remove there; and what partition_check_leader() says. */
    int64_t start_offset; /* Of the log by now; it may have been higher already. */
    /* Its own: */
    struct partition *partition; /* With a reference, until `done` returns. */
    struct job job;
};

/* Any thread. `trim` stays until `done` is called. */
void partition_trim(struct partition *partition, struct partition_trim *trim);

#endif
