// SPDX-License-Identifier: Apache-2.0

#include <assert.h>
#include <inttypes.h>

#include "alloc.h"
#include "error.h"
#include "partition_log_inside.h"
#include "trace.h"

size_t log_segment_at(const struct partition_log *log, int64_t offset)
{
    size_t low = 0;
    size_t high = log->segment_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (log->segments[middle]->base_offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void log_view(struct partition_log *log, size_t index, bool may_block, struct segment_view *view)
{
    struct segment *segment = log->segments[index];
    bool is_last = index + 1 == log->segment_count;

    *view = (struct segment_view){
        .segment = segment_keep(segment),
        .size = segment->size,
        .end_offset = is_last ? log->end_offset : log->segments[index + 1]->base_offset,
        .top = segment->top,
        .damage = segment->damage,
        .may_block = may_block,
    };
}

int log_await_swap(struct partition_log *log, int64_t base_offset, bool may_block)
{
    if (base_offset < log->swap_from || base_offset >= log->swap_below) return 0;
    if (!may_block) return ERR_NEEDS_IO;
    while (log->swap_below > log->swap_from)
        pthread_cond_wait(&log->swapped, &log->lock);
    return ERR_BUSY;
}

bool log_is_of_disk(int err)
{
    return err == ERR_IO || err == ERR_NOT_A_FILE || err == ERR_NOT_PERMITTED;
}

int log_fail(struct partition_log *log, int err, const char *doing)
{
    pthread_mutex_lock(&log->lock);
    bool is_first = log->failed == 0;
    if (is_first) log->failed = err;
    pthread_mutex_unlock(&log->lock);
    if (!is_first) return ERR_KAFKA_STORAGE_ERROR;
    trace(TRACE_ERROR, "storage", "%s: %s failed: %s; it is out of use until it is opened again",
          log->folder, doing, error_text(err));
    data_dir_note_failure(log->dir);
    return ERR_KAFKA_STORAGE_ERROR;
}

int log_reserve_segment(struct partition_log *log)
{
    if (log->segment_count < log->segment_capacity) return 0;
    size_t capacity = log->segment_capacity == 0 ? 1 : log->segment_capacity * 2;
    pthread_mutex_lock(&log->lock);
    struct segment **segments = mem_realloc(log->segments, capacity * sizeof *segments);
    if (segments != NULL) {
        log->segments = segments;
        log->segment_capacity = capacity;
    }
    pthread_mutex_unlock(&log->lock);
    return segments == NULL ? ERR_NO_MEMORY : 0;
}

void log_drop_segment(struct partition_log *log, struct segment *segment)
{
    data_dir_give_reserve(log->dir, segment->reserve_taken);
    segment_let_go(segment);
    segment_release(segment);
}

void log_free(struct partition_log *log)
{
    for (size_t i = 0; i < log->segment_count; i++)
        log_drop_segment(log, log->segments[i]);
    mem_free(log->segments);
    mem_free(log->removed);
    epoch_history_close(&log->epochs);
    ended_transactions_close(&log->ended);
    ended_transactions_close(&log->replayed);
    producer_history_close(log->producers);
    pthread_cond_destroy(&log->swapped);
    pthread_mutex_destroy(&log->lock);
    pthread_mutex_destroy(&log->flush_lock);
    segment_folder_release(log->shared);
    mem_free(log->topic);
    mem_free(log);
}

int log_load_top(struct partition_log *log, struct segment *segment)
{
    struct segment_top top;

    pthread_mutex_lock(&log->lock);
    bool is_known = segment->top.timestamp != SEGMENT_TIME_UNKNOWN;
    int64_t size = segment->size;
    pthread_mutex_unlock(&log->lock);
    int err = is_known ? 0 : segment_find_newest(segment, size, true, &top);
    if (err == 0 && !is_known) log_publish_top(log, segment, &top);
    return err;
}

void log_publish_top(struct partition_log *log, struct segment *segment,
                     const struct segment_top *top)
{
    pthread_mutex_lock(&log->lock);
    if (segment->top.timestamp == SEGMENT_TIME_UNKNOWN) segment->top = *top;
    pthread_mutex_unlock(&log->lock);
}

int log_finish_segment(struct segment *segment)
{
    int fd;

    if (segment->size == 0) return 0;
    int err = segment_begin_append(segment, true, &fd);
    if (err != 0) return err;
    err = segment_finish_time_index(segment);
    segment_end_append(segment);
    return err == 0 ? segment_write_indexes(segment, false) : err;
}

/* The recovery point of a log that is not as a checkpoint left it: the active segment lies above it, and so
 * does the first one whose indexes are right in memory only. */
static int64_t recovery_point_to_leave(const struct partition_log *log)
{
    const struct segment *active = log_active(log);
    int64_t offset = log->recovery_point;

    if (offset > active->base_offset) offset = active->base_offset;
    for (size_t i = 0; i < log->segment_count && log->indexes_are_behind; i++) {
        const struct segment *segment = log->segments[i];
        if (segment->base_offset < offset && !segment->indexes_are_flushed)
            offset = segment->base_offset;
    }
    return offset;
}

/* Closing is no promise, so failures only cost the next opening some time: whatever is not as a
 * checkpoint left it makes that opening look at the active segment. */
static void leave_in_order(struct partition_log *log)
{
    bool is_at_checkpoint = log->recovery_point == log->data_end && !log->indexes_are_behind;

    if (log->failed == 0) {
        for (size_t i = 0; i < log->segment_count; i++)
            log_trim(log, log->segments[i]);
        if (!is_at_checkpoint) log_finish_segment(log_active(log));
    }
    if (is_at_checkpoint) (void)log_remove_old_snapshots(log);
    if (log->failed != 0 || !is_at_checkpoint) {
        data_dir_note_unsynced(log->dir);
        data_dir_set_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic, log->partition,
                                recovery_point_to_leave(log));
    }
}

void partition_log_close(struct partition_log *log)
{
    if (log == NULL) return;
    leave_in_order(log);
    log_free(log);
}

void partition_log_set_settings(struct partition_log *log, const struct topic_settings *settings)
{
    pthread_mutex_lock(&log->lock);
    log->settings = *settings;
    pthread_mutex_unlock(&log->lock);
}

/* ---- what others see */

/* The lock is part of a log that is const to its reader. */
static pthread_mutex_t *lock_of(const struct partition_log *log)
{
    return (pthread_mutex_t *)(uintptr_t)&log->lock;
}

static int64_t read_offset(const struct partition_log *log, const int64_t *offset)
{
    pthread_mutex_lock(lock_of(log));
    int64_t value = *offset;
    pthread_mutex_unlock(lock_of(log));
    return value;
}

int64_t partition_log_start_offset(const struct partition_log *log)
{
    return read_offset(log, &log->start_offset);
}

int64_t partition_log_end_offset(const struct partition_log *log)
{
    return read_offset(log, &log->end_offset);
}

int64_t partition_log_flushed_offset(const struct partition_log *log)
{
    return read_offset(log, &log->flushed_offset);
}

int64_t partition_log_size_bytes(const struct partition_log *log)
{
    return read_offset(log, &log->size_bytes);
}

int64_t partition_log_segment_base(const struct partition_log *log, int64_t offset)
{
    pthread_mutex_lock(lock_of(log));
    int64_t base = log->segments[log_segment_at(log, offset)]->base_offset;
    pthread_mutex_unlock(lock_of(log));
    return base;
}

int partition_log_failed(const struct partition_log *log)
{
    pthread_mutex_lock(lock_of(log));
    int failed = log->failed;
    pthread_mutex_unlock(lock_of(log));
    return failed;
}

void partition_log_expire_producers(struct partition_log *log, int64_t before_ms)
{
    producer_history_expire(log->producers, before_ms);
}

const struct producer_history *partition_log_producers(const struct partition_log *log)
{
    return log->producers;
}

bool log_begin_epoch(struct partition_log *log, int32_t epoch, int64_t offset)
{
    if (log->epochs.count == 0) offset = log->start_offset;
    return epoch_history_begin(&log->epochs, epoch, offset);
}

int partition_log_begin_epoch(struct partition_log *log, int32_t epoch)
{
    pthread_mutex_lock(&log->lock);
    int err = epoch_history_reserve(&log->epochs);
    if (err == 0 && log_begin_epoch(log, epoch, log->end_offset)) log->has_unused_epoch = true;
    pthread_mutex_unlock(&log->lock);
    return err;
}

int32_t partition_log_last_epoch(const struct partition_log *log)
{
    pthread_mutex_lock(lock_of(log));
    int32_t epoch = epoch_history_last(&log->epochs);
    pthread_mutex_unlock(lock_of(log));
    return epoch;
}

int32_t partition_log_epoch_of(const struct partition_log *log, int64_t offset)
{
    pthread_mutex_lock(lock_of(log));
    int32_t epoch = epoch_history_of(&log->epochs, offset);
    pthread_mutex_unlock(lock_of(log));
    return epoch;
}

void partition_log_epoch_end(const struct partition_log *log, int32_t epoch, int32_t *found_epoch,
                             int64_t *end_offset)
{
    pthread_mutex_lock(lock_of(log));
    epoch_history_end_of(&log->epochs, epoch, log->end_offset, found_epoch, end_offset);
    pthread_mutex_unlock(lock_of(log));
}
