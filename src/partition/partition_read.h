// SPDX-License-Identifier: Apache-2.0
/* The fetch path: records, offsets by time, and ends of leader epochs. Any thread. */

#ifndef PARTITION_PARTITION_READ_H
#define PARTITION_PARTITION_READ_H

#include "partition.h"

struct partition_read {
    int64_t from_offset;
    int32_t current_leader_epoch; /* -1: unchecked. */
    int32_t last_fetched_epoch;   /* -1: unchecked (KIP-595's divergence check). */
    bool read_committed;
    size_t max_bytes;
    bool at_least_one;
    bool may_block;
    /* The answer: */
    int err;                     /* ERR_NEEDS_IO: ask again with may_block, on the pool. */
    struct file_slice slice;     /* Release it, with partition_read_release(). */
    struct aborted_list aborted; /* Transactions that a reader of committed records leaves out. */
    int64_t high_watermark;
    int64_t last_stable_offset;
    int64_t log_start_offset;
    int32_t leader; /* With ERR_NOT_LEADER_OR_FOLLOWER and the epoch errors. */
    int32_t leader_epoch;
    bool has_diverged; /* diverging_epoch and diverging_end say where; no records then. */
    int32_t diverging_epoch;
    int64_t diverging_end;
};

void partition_read(struct partition *partition, struct partition_read *read);

/* Gives back what an answer holds. */
void partition_read_release(struct partition_read *read);

/* Waits for records: wakes `waiter` once something at or beyond from_offset is visible, or the partition
 * has opened, failed or gone. False, and nothing
 * registered, if that is so already (look again): whoever registers checks the state again under the
 * lock (DESIGN 2.1). */
bool partition_wait(struct partition *partition, struct waiter *waiter, int64_t from_offset,
                    bool read_committed);

/* Takes the waiter off, if it is still on; its message may be queued nevertheless. */
void partition_stop_waiting(struct partition *partition, struct waiter *waiter);

enum {
    TIMESTAMP_LATEST = -1,
    TIMESTAMP_EARLIEST = -2,
    TIMESTAMP_MAX = -3,            /* KIP-734 */
    TIMESTAMP_EARLIEST_LOCAL = -4, /* KIP-405 */
    TIMESTAMP_LATEST_TIERED = -5,  /* KIP-1005 */
    TIMESTAMP_EARLIEST_PENDING_UPLOAD = -6,
};

struct partition_lookup {
    int64_t timestamp;
    int32_t current_leader_epoch;
    bool read_committed;
    bool may_block;
    /* The answer: */
    int err;
    struct log_position position;
    int32_t leader_epoch; /* The current one. */
};

/* ListOffsets for one partition, on its leader. */
void partition_find_offset(struct partition *partition, struct partition_lookup *lookup);

struct partition_epoch_end {
    int32_t epoch;
    int32_t current_leader_epoch; /* -1: unchecked. */
    /* The answer: */
    int err;
    int32_t
        found_epoch; /* As partition_log_epoch_end() has it; -1 and -1 if the epoch is -1 or has not begun. */
    int64_t end_offset;
};

/* OffsetForLeaderEpoch for one partition, on its leader (KIP-101, KIP-320). Touches memory only. */
void partition_find_epoch_end(struct partition *partition, struct partition_epoch_end *end);

#endif
