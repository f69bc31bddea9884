// SPDX-License-Identifier: Apache-2.0
#include "partition_acks.h"

#include "error.h"

bool partition_waits_for_flushes(const struct partition *partition)
{
    return partition->settings.flush_messages != INT64_MAX ||
           partition->settings.flush_ms != INT64_MAX;
}

bool partition_flush_is_due(const struct partition *partition)
{
    if (partition->log == NULL || !partition_waits_for_flushes(partition)) return false;
    int64_t unflushed = partition_log_end_offset(partition->log) -
                        partition_log_flushed_offset(partition->log);
    if (unflushed <= 0) return false;
    /* Who stops has no timer any more that would begin it later. */
    return unflushed >= partition->settings.flush_messages || partition->settings.flush_ms == 0 ||
           atomic_load(&partition->owner->is_stopping);
}

/* Below which offset is everything on disk, as far as anybody waits for that? */
static int64_t flushed_enough(const struct partition *partition)
{
    if (!partition_waits_for_flushes(partition)) return INT64_MAX;
    return partition->log == NULL ? -1 : partition_log_flushed_offset(partition->log);
}

/* Nearly always at the end: only a repeat's offset is an earlier one. */
static void insert(struct list *waiting, struct append *append)
{
    struct list *before = waiting->prev;
    while (before != waiting &&
           LIST_OWNER(before, struct append, node)->log.last_offset > append->log.last_offset)
        before = before->prev;
    list_push_front(before, &append->node);
}

bool partition_hold_ack(struct partition *partition, struct append *append)
{
    if (append->acks_none) return false;
    int64_t reached = append->acks_all ? partition->high_watermark : flushed_enough(partition);
    if (append->log.last_offset < reached) return false;
    if (append->is_late) {
        append->log.err = ERR_REQUEST_TIMED_OUT;
        return false;
    }
    append_close(append); /* What was written is in the log. */
    append->is_held = true;
    insert(append->acks_all ? &partition->uncommitted : &partition->unflushed, append);
    return true;
}

static void answer(struct partition *partition, struct append *append, int err)
{
    list_remove(&append->node);
    append->is_held = false;
    append->log.err = err;
    append_settle(partition, append);
    loop_post(append->loop, &append->message);
}

static void answer_below(struct partition *partition, struct list *waiting, int64_t reached,
                         int err)
{
    while (!list_is_empty(waiting)) {
        struct append *append = LIST_OWNER(waiting->next, struct append, node);
        if (append->log.last_offset >= reached) break;
        answer(partition, append, err);
    }
}

void partition_release_acks(struct partition *partition)
{
    if (!list_is_empty(&partition->unflushed))
        answer_below(partition, &partition->unflushed, flushed_enough(partition), 0);
    answer_below(partition, &partition->uncommitted, partition->high_watermark, 0);
}

void partition_refuse_acks(struct partition *partition, int err)
{
    answer_below(partition, &partition->unflushed, INT64_MAX, err);
    partition_refuse_acks_all(partition, err);
}

void partition_refuse_acks_all(struct partition *partition, int err)
{
    answer_below(partition, &partition->uncommitted, INT64_MAX, err);
}

bool partition_stop_waiting_for_ack(struct append *append)
{
    struct partition *partition = append->partition;
    pthread_mutex_lock(&partition->lock);
    bool was_held = append->is_held;
    if (was_held) {
        list_remove(&append->node);
        append->is_held = append->is_pending = false;
        append->log.err = ERR_REQUEST_TIMED_OUT;
        append_settle(partition, append);
    } else {
        append->is_late = true;
    }
    pthread_mutex_unlock(&partition->lock);
    return was_held;
}
