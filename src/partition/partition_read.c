// SPDX-License-Identifier: Apache-2.0
#include "partition_read.h"

#include "alloc.h"
#include "error.h"

/* Takes down what every answer carries, and decides whether there is one. Caller holds the lock. */
static int begin_read(struct partition *partition, struct partition_read *read)
{
    read->leader = partition->role.leader;
    read->leader_epoch = partition->role.leader_epoch;
    read->high_watermark = partition->high_watermark;
    read->last_stable_offset = partition_last_stable_offset(partition);
    read->log_start_offset = -1;
    int err = partition_check_leader(partition, read->current_leader_epoch);
    if (err == 0) read->log_start_offset = partition_log_start_offset(partition->log);
    return err;
}

/* The largest epoch not above `epoch`, and where it ends. Of one that has not begun nobody can say where
 * it will end: -1 and -1. */
static void find_epoch_end(const struct partition_log *log, int32_t epoch, int32_t *found,
                           int64_t *end)
{
    *found = -1;
    *end = -1;
    if (epoch != -1 && epoch <= partition_log_last_epoch(log))
        partition_log_epoch_end(log, epoch, found, end);
}

/* Has the reader records that this log never had? (KIP-595: the leader says where its epochs end.) Out of
 * range if the epoch is one that the log cannot place. */
static int check_divergence(const struct partition_log *log, struct partition_read *read)
{
    if (read->last_fetched_epoch < 0) return 0;
    int32_t epoch;
    int64_t end;
    find_epoch_end(log, read->last_fetched_epoch, &epoch, &end);
    if (end < 0) return ERR_OFFSET_OUT_OF_RANGE;
    if (epoch >= read->last_fetched_epoch && end >= read->from_offset) return 0;
    read->has_diverged = true;
    read->diverging_epoch = epoch;
    read->diverging_end = end;
    return 0;
}

/* So many aborted transactions are told of at once, unless a single batch has more: each takes 16 bytes
 * of the answer. */
#define ABORTED_MAX 65536

/* Finds records and, for a reader of committed ones, what was aborted among them (KIP-98). */
static int find_records(struct partition_log *log, struct partition_read *read, int64_t below)
{
    size_t max_bytes = read->max_bytes;
    int err;

    do {
        struct log_read found = {
            .from_offset = read->from_offset,
            .below_offset = below,
            .max_bytes = max_bytes,
            .at_least_one = read->at_least_one,
            .skips_empty = true, /* Only consumers read so far; a follower needs every batch. */
            .may_block = read->may_block,
        };
        err = partition_log_read(log, &found);
        if (err != 0) return err;
        struct log_aborted aborted = {
            .from_offset = read->from_offset,
            .below_offset = found.slice.length > 0 ? found.next_offset : read->from_offset,
            .limit = max_bytes > 0 ? ABORTED_MAX : SIZE_MAX,
            .may_block = read->may_block,
        };
        if (read->read_committed) err = partition_log_aborted(log, &aborted);
        read->aborted = aborted.list;
        read->slice = found.slice;
        if (err != 0) partition_read_release(read);
        max_bytes /= 2; /* Fewer records have fewer of them. */
    } while (err == ERR_LIMIT);
    return err;
}

void partition_read_release(struct partition_read *read)
{
    file_slice_release(&read->slice);
    mem_free(read->aborted.items);
    read->slice = (struct file_slice){ .fd = -1 };
    read->aborted = (struct aborted_list){ 0 };
}

void partition_read(struct partition *partition, struct partition_read *read)
{
    read->slice = (struct file_slice){ .fd = -1 };
    read->aborted = (struct aborted_list){ 0 };
    read->has_diverged = false;

    pthread_mutex_lock(&partition->lock);
    read->err = begin_read(partition, read);
    struct partition_log *log = read->err == 0 ? partition_pin_log(partition) : NULL;
    pthread_mutex_unlock(&partition->lock);
    if (log == NULL) return;

    int64_t below = read->read_committed ? read->last_stable_offset : read->high_watermark;
    read->err = check_divergence(log, read);
    if (read->err == 0 && !read->has_diverged) {
        if (read->from_offset < read->log_start_offset ||
            read->from_offset > partition_log_end_offset(log))
            read->err = ERR_OFFSET_OUT_OF_RANGE;
        else if (read->from_offset < below)
            read->err = find_records(log, read, below);
    }
    partition_unpin_log(partition);
}

bool partition_wait(struct partition *partition, struct waiter *waiter, int64_t from_offset,
                    bool read_committed)
{
    pthread_mutex_lock(&partition->lock);
    int64_t visible = read_committed ? partition_last_stable_offset(partition)
                                     : partition->high_watermark;
    bool waits = partition->state == PARTITION_OPENING ||
                 (partition->state == PARTITION_SERVING && visible <= from_offset);
    if (waits) {
        /* Above a stable offset that stands still, a rising high watermark is what may move it. */
        waiter->offset = read_committed && partition->high_watermark > from_offset
                             ? partition->high_watermark
                             : from_offset;
        waiting_add(&partition->waiting, waiter);
    }
    pthread_mutex_unlock(&partition->lock);
    return waits;
}

void partition_stop_waiting(struct partition *partition, struct waiter *waiter)
{
    pthread_mutex_lock(&partition->lock);
    list_remove(&waiter->node);
    pthread_mutex_unlock(&partition->lock);
}

/* ---- ListOffsets ---- */

static void find_in(struct partition_log *log, int64_t below, struct partition_lookup *lookup)
{
    struct log_position *position = &lookup->position;
    switch (lookup->timestamp) {
    case TIMESTAMP_LATEST:
        /* It will be written in the epoch that goes on. */
        position->offset = below;
        position->leader_epoch = lookup->leader_epoch;
        break;
    case TIMESTAMP_EARLIEST:
    case TIMESTAMP_EARLIEST_LOCAL: /* Nothing is anywhere else. */
        position->offset = partition_log_start_offset(log);
        position->leader_epoch = partition_log_epoch_of(log, position->offset);
        break;
    case TIMESTAMP_LATEST_TIERED:
    case TIMESTAMP_EARLIEST_PENDING_UPLOAD: break; /* No tiered storage: there is no such offset. */
    case TIMESTAMP_MAX:
        lookup->err = partition_log_find_max_timestamp(log, below, lookup->may_block, position);
        break;
    default:
        lookup->err = partition_log_find_timestamp(log, lookup->timestamp, below, lookup->may_block,
                                                   position);
    }
}

void partition_find_offset(struct partition *partition, struct partition_lookup *lookup)
{
    lookup->position = (struct log_position){ -1, -1, -1 };
    pthread_mutex_lock(&partition->lock);
    lookup->err = partition_check_leader(partition, lookup->current_leader_epoch);
    int64_t below = lookup->read_committed ? partition_last_stable_offset(partition)
                                           : partition->high_watermark;
    lookup->leader_epoch = partition->role.leader_epoch;
    struct partition_log *log = lookup->err == 0 ? partition_pin_log(partition) : NULL;
    pthread_mutex_unlock(&partition->lock);
    if (log == NULL) return;

    find_in(log, below, lookup);
    partition_unpin_log(partition);
}

/* ---- OffsetForLeaderEpoch ---- */

void partition_find_epoch_end(struct partition *partition, struct partition_epoch_end *end)
{
    end->found_epoch = -1;
    end->end_offset = -1;
    pthread_mutex_lock(&partition->lock);
    end->err = partition_check_leader(partition, end->current_leader_epoch);
    if (end->err == 0)
        find_epoch_end(partition->log, end->epoch, &end->found_epoch, &end->end_offset);
    pthread_mutex_unlock(&partition->lock);
}
