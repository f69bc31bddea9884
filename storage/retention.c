// SPDX-License-Identifier: Apache-2.0
/* Which segments are no longer wanted (DESIGN 4.5), and taking them away from the front of the log. */

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "partition_log_inside.h"
#include "trace.h"

#define NEVER INT64_MAX

/* How old is it? By its newest record, or where no record has a time, by when it was begun. */
static int64_t newest_ms(const struct segment *segment)
{
    return segment->top.timestamp >= 0 ? segment->top.timestamp : segment->created_ms;
}

/* What the decision looks at: a table in the tests. */
struct retention_view {
    int64_t now_ms;
    int64_t start_offset;
    int64_t below_offset;  /* The high watermark: nothing at or above it goes. */
    int64_t surplus_bytes; /* By so much the log is larger than it may be; at most 0: it is not. */
};

static int64_t plus_capped(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static bool is_unwanted(const struct topic_settings *settings, const struct retention_view *view,
                        const struct segment *segment, int64_t end_offset, bool is_active)
{
    if (end_offset > view->below_offset) return false;
    /* As in Kafka, which rolls nothing for a start that moved: the active one stays. */
    if (end_offset <= view->start_offset && !is_active) return true;
    if (!(settings->cleanup_policy & CLEANUP_DELETE)) return false;
    if (settings->retention_ms >= 0 &&
        plus_capped(newest_ms(segment), settings->retention_ms) < view->now_ms)
        return true;
    return settings->retention_bytes >= 0 && view->surplus_bytes >= segment->size;
}

/* How many segments, from the front, are unwanted? The active one may be among them. */
static int count_unwanted(struct partition_log *log, struct retention_view view, size_t *unwanted)
{
    const struct topic_settings *settings = &log->settings;
    size_t count = 0;
    int err = 0;

    view.surplus_bytes = settings->retention_bytes >= 0
                             ? log->size_bytes - settings->retention_bytes
                             : 0;
    for (; count < log->segment_count; count++) {
        struct segment *segment = log->segments[count];
        err = log_load_top(log, segment);
        if (err != 0) return err;
        bool is_last = count + 1 == log->segment_count;
        int64_t end_offset = is_last ? log->end_offset : log->segments[count + 1]->base_offset;
        if ((is_last && segment->size == 0) ||
            !is_unwanted(settings, &view, segment, end_offset, is_last))
            break;
        view.surplus_bytes -= segment->size;
    }
    *unwanted = count;
    return 0;
}

static int remember_removed(struct partition_log *log, const struct segment *segment,
                            int64_t due_ms)
{
    struct removed_segment *removed = mem_realloc(log->removed,
                                                  (log->removed_count + 1) * sizeof *removed);

    if (removed == NULL) return ERR_NO_MEMORY;
    log->removed = removed;
    log->removed[log->removed_count++] = (struct removed_segment){ segment->base_offset, due_ms };
    return 0;
}

/* Takes the first segment out of the log. */
static int remove_first(struct partition_log *log, int64_t now_ms)
{
    struct segment *segment = log->segments[0];
    int64_t start_offset = log->segments[1]->base_offset;

    int err = 0;

    /* What came before is on disk first, whatever the file system does first: a removal that outlived an
     * earlier one would leave a gap, one that outlived the roll no segment. */
    if (log->folder_is_dirty) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0)
        err = remember_removed(log, segment,
                               plus_capped(now_ms, log->settings.file_delete_delay_ms));
    if (err != 0) return err;
    pthread_mutex_lock(&log->lock);
    log->segment_count--;
    memmove(log->segments, log->segments + 1, log->segment_count * sizeof *log->segments);
    log->size_bytes -= segment->size;
    if (log->start_offset < start_offset) {
        log->start_offset = start_offset;
        if (epoch_history_raise_start(&log->epochs, start_offset)) log->epochs_are_dirty = true;
    }
    log->cuts++; /* Who looks for its files under their old names looks in vain. */
    log->folder_is_dirty = true;
    pthread_mutex_unlock(&log->lock);
    err = segment_rename_deleted(segment);
    log_drop_segment(log, segment);
    return err;
}

/* Unlinks what was removed long enough ago. */
static int unlink_due(struct partition_log *log, int64_t now_ms)
{
    size_t done = 0;
    int err = 0;

    while (done < log->removed_count && log->removed[done].due_ms <= now_ms && err == 0) {
        err = segment_remove_files(log->fs, log->folder, log->removed[done].base_offset,
                                   ".deleted");
        if (err == 0) done++;
    }
    log->removed_count -= done;
    if (log->removed_count > 0)
        memmove(log->removed, log->removed + done, log->removed_count * sizeof *log->removed);
    return err;
}

/* When will there be something to do, if nothing else happens? */
static int64_t next_due(const struct partition_log *log)
{
    const struct topic_settings *settings = &log->settings;
    const struct segment *first = log->segments[0];
    int64_t next = NEVER;

    if (log->removed_count > 0) next = log->removed[0].due_ms;
    if (settings->retention_ms >= 0 && (settings->cleanup_policy & CLEANUP_DELETE) &&
        log->size_bytes > 0) {
        int64_t due = plus_capped(plus_capped(newest_ms(first), settings->retention_ms), 1);
        next = due < next ? due : next;
    }
    return next;
}

static int retain_locked(struct partition_log *log, int64_t below_offset, int64_t now_ms)
{
    struct retention_view view = {
        .now_ms = now_ms,
        .start_offset = log->start_offset,
        .below_offset = below_offset,
    };
    int64_t start_before = log->start_offset;
    size_t unwanted = 0;
    int err = count_unwanted(log, view, &unwanted);

    /* There is always an active segment: one that is unwanted is rolled first, as in Kafka. */
    if (err == 0 && unwanted == log->segment_count) err = log_roll(log, log->end_offset, now_ms);
    for (size_t i = 0; i < unwanted && err == 0; i++)
        err = remove_first(log, now_ms);
    if (err == 0 && unwanted > 0)
        err = log_remove_snapshots(log, log->segments[0]->base_offset, INT64_MAX);
    if (err == 0 && log->start_offset != start_before)
        err = data_dir_set_checkpoint(log->dir, CHECKPOINT_LOG_START, log->topic, log->partition,
                                      log->start_offset);
    if (err == 0) err = unlink_due(log, now_ms);
    return err;
}

int partition_log_retain(struct partition_log *log, int64_t below_offset, int64_t now_ms,
                         int64_t *next_ms)
{
    pthread_mutex_lock(&log->flush_lock);
    int err = partition_log_failed(log) != 0 ? ERR_KAFKA_STORAGE_ERROR
                                             : retain_locked(log, below_offset, now_ms);
    if (err != 0 && err != ERR_NO_SPACE && err != ERR_NO_MEMORY && err != ERR_KAFKA_STORAGE_ERROR)
        err = log_fail(log, err, "removing old segments");
    if (err == 0) *next_ms = next_due(log);
    pthread_mutex_unlock(&log->flush_lock);
    return err;
}
