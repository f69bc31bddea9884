// SPDX-License-Identifier: Apache-2.0
/* A pass from outside: what there is to clean, what it needs of the log, and its steps in order. */

#include "compaction_inside.h"

#include <inttypes.h>

#include "alloc.h"
#include "batch_scan.h"
#include "error.h"
#include "trace.h"

/* ---- how much is there to clean ---- */

/* Where the last pass ended, as far as the log bears it out. */
static int64_t first_dirty_offset(const struct partition_log *log)
{
    int64_t cleaned;

    if (!data_dir_checkpoint(log->dir, CHECKPOINT_CLEANED, log->topic, log->partition, &cleaned) ||
        cleaned < log->start_offset || cleaned > log->end_offset)
        return log->start_offset;
    return cleaned;
}

/* By (1): how many segments may be cleaned. Under the lock. */
static size_t count_cleanable(const struct partition_log *log, int64_t below_offset,
                              int64_t first_dirty, int64_t now_ms)
{
    int64_t lag_ms = log->settings.min_compaction_lag_ms;
    size_t first = log_segment_at(log, first_dirty);
    size_t count = log->segment_count - 1;

    if (below_offset < log_active(log)->base_offset) count = log_segment_at(log, below_offset);
    for (size_t i = first; i < count && lag_ms > 0; i++)
        if (log->segments[i]->top.timestamp > now_ms - lag_ms) count = i;
    return count;
}

/* min.compaction.lag.ms asks for the newest record of each segment, which may still have to be read. */
static int load_tops(struct partition_log *log)
{
    int64_t behind = -1;
    int err = 0;

    while (err == 0) {
        struct segment *segment = NULL;
        pthread_mutex_lock(&log->lock);
        for (size_t i = log_segment_at(log, behind);
             i + 1 < log->segment_count && segment == NULL &&
             log->settings.min_compaction_lag_ms > 0;
             i++)
            if (log->segments[i]->base_offset > behind) segment = segment_keep(log->segments[i]);
        pthread_mutex_unlock(&log->lock);
        if (segment == NULL) break;
        behind = segment->base_offset;
        err = log_load_top(log, segment);
        segment_release(segment);
    }
    return err;
}

/* The time of the oldest batch that begins a dirty segment below `below`; INT64_MAX: none has one. */
static int oldest_dirty(struct partition_log *log, int64_t first_dirty, int64_t below,
                        int64_t *oldest_ms)
{
    int64_t from = first_dirty;
    int err = 0;

    *oldest_ms = INT64_MAX;
    while (err == 0) {
        struct segment_view view;
        struct record_batch batch;
        struct batch_scan scan;
        int64_t position;
        int fd;
        pthread_mutex_lock(&log->lock);
        size_t index = log_segment_at(log, from);
        bool is_closed = index + 1 < log->segment_count;
        if (is_closed) log_view(log, index, true, &view);
        pthread_mutex_unlock(&log->lock);
        if (!is_closed || view.segment->base_offset >= below) {
            if (is_closed) segment_release(view.segment);
            break;
        }
        err = segment_pin(view.segment, true, &fd);
        if (err == 0) {
            batch_scan_init(&scan, log->fs, fd, 0, view.size, true);
            err = batch_scan_next(&scan, &batch, &position);
            segment_unpin(view.segment);
        }
        if (err == 0 && batch.max_timestamp > 0 && batch.max_timestamp < *oldest_ms)
            *oldest_ms = batch.max_timestamp;
        segment_release(view.segment);
        if (err == ERR_NOT_FOUND) err = 0; /* An empty one, or just gone. */
        from = view.end_offset;
    }
    return err;
}

int partition_log_cleanable(struct partition_log *log, int64_t below_offset, int64_t now_ms,
                            struct cleanable *cleanable)
{
    struct cleanable found = { 0 };
    int64_t oldest_ms = INT64_MAX;

    int err = load_tops(log);
    if (err != 0) return err;
    pthread_mutex_lock(&log->lock);
    int64_t lag_ms = log->settings.max_compaction_lag_ms;
    found.first_dirty_offset = first_dirty_offset(log);
    size_t first = log_segment_at(log, found.first_dirty_offset);
    size_t count = count_cleanable(log, below_offset, found.first_dirty_offset, now_ms);
    found.first_uncleanable_offset = log->segments[count]->base_offset;
    for (size_t i = 0; i < count; i++) {
        const struct segment *segment = log->segments[i];
        if (segment->base_offset < found.first_dirty_offset) found.clean_bytes += segment->size;
        if (i >= first) found.dirty_bytes += segment->size;
    }
    err = log->failed != 0 ? ERR_KAFKA_STORAGE_ERROR : 0;
    pthread_mutex_unlock(&log->lock);
    if (err == 0 && lag_ms < INT64_MAX && found.dirty_bytes > 0)
        err = oldest_dirty(log, found.first_dirty_offset, found.first_uncleanable_offset,
                           &oldest_ms);
    found.is_overdue = oldest_ms < now_ms - lag_ms;
    if (err == 0) *cleanable = found;
    return err;
}

/* ---- the beginning ---- */

static void take_source(struct compaction *compaction, const struct partition_log *log,
                        size_t index)
{
    struct segment *segment = log->segments[index];
    int64_t offset_bytes = (int64_t)segment->offsets.file.count * OFFSET_INDEX_ENTRY_SIZE;
    int64_t time_bytes = (int64_t)segment->times.file.count * TIME_INDEX_ENTRY_SIZE;

    compaction->sources[compaction->count++] = (struct compaction_source){
        .segment = segment_keep(segment),
        .base_offset = segment->base_offset,
        .end_offset = log->segments[index + 1]->base_offset,
        .size = segment->size,
        .index_bytes = offset_bytes > time_bytes ? offset_bytes : time_bytes,
    };
}

static int take_sources(struct compaction *compaction, struct partition_log *log)
{
    const struct compaction_options *options = &compaction->options;

    pthread_mutex_lock(&log->lock);
    compaction->settings = log->settings;
    compaction->truncations = log->truncations;
    compaction->first_dirty = first_dirty_offset(log);
    size_t count = count_cleanable(log, options->below_offset, compaction->first_dirty,
                                   options->now_ms);
    int err = log->segments[count]->base_offset > compaction->first_dirty ? 0 : ERR_NOT_FOUND;
    if (err == 0) {
        compaction->sources = mem_calloc(count, sizeof *compaction->sources);
        if (compaction->sources == NULL) err = ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count && err == 0; i++)
        take_source(compaction, log, i);
    pthread_mutex_unlock(&log->lock);
    return err;
}

/* Of the whole log: a transaction of the cleaned part may have ended behind it. */
static int take_aborted(struct compaction *compaction, struct partition_log *log)
{
    struct log_aborted wanted = {
        .from_offset = log->segments[0]->base_offset,
        .below_offset = log->end_offset,
        .limit = SIZE_MAX,
        .may_block = true,
    };

    int err = partition_log_aborted(log, &wanted);
    if (err == 0) compaction->aborted = wanted.list;
    return err;
}

int compaction_begin(struct compaction **compaction, struct partition_log *log,
                     const struct compaction_options *options)
{
    struct compaction *begun = mem_zalloc(sizeof *begun);
    if (begun == NULL) return ERR_NO_MEMORY;
    begun->log = log;
    begun->fs = log->fs;
    begun->folder = log->folder;
    begun->options = *options;
    int err = load_tops(log);
    if (err == 0) err = take_sources(begun, log);
    if (err == 0 && log->recovery_point < begun->sources[begun->count - 1].end_offset)
        err = partition_log_checkpoint(log);
    if (err == 0) err = take_aborted(begun, log);
    if (err == 0) err = producer_history_lasts(log->producers, &begun->lasts, &begun->last_count);
    if (err == 0) err = batch_reader_open(&begun->reader, options->buffer_bytes);
    if (err == 0)
        *compaction = begun;
    else
        compaction_close(begun);
    return err;
}

void compaction_close(struct compaction *compaction)
{
    if (compaction == NULL) return;
    for (size_t i = 0; i < compaction->count; i++)
        segment_release(compaction->sources[i].segment);
    mem_free(compaction->sources);
    mem_free(compaction->lasts);
    mem_free(compaction->aborted.items);
    key_offsets_close(compaction->keys);
    if (compaction->has_transactions) cleaned_transactions_close(&compaction->transactions);
    batch_reader_close(&compaction->reader);
    mem_free(compaction);
}

void compaction_result(const struct compaction *compaction, struct compaction_result *result)
{
    *result = compaction->result;
}

/* ---- the steps ---- */

int compaction_check(struct compaction *compaction)
{
    struct partition_log *log = compaction->log;

    if (compaction->options.is_cancelled(compaction->options.owner)) return ERR_CANCELED;
    pthread_mutex_lock(&log->lock);
    bool was_cut = log->truncations != compaction->truncations;
    int failed = log->failed;
    pthread_mutex_unlock(&log->lock);
    if (failed != 0) return ERR_KAFKA_STORAGE_ERROR;
    return was_cut ? ERR_CANCELED : 0;
}

int compaction_read_source(struct compaction *compaction, const struct compaction_source *source,
                           int64_t offset, int *fd)
{
    struct segment_view view = {
        .segment = source->segment,
        .size = source->size,
        .end_offset = source->end_offset,
        .may_block = true,
    };
    char path[PATH_MAX];
    int64_t position = 0;

    int err = segment_path(compaction->folder, source->base_offset, ".log", path);
    if (err == 0) err = compaction->fs->open(compaction->fs, path, FS_READ, fd);
    if (err == 0 && offset > source->base_offset)
        err = segment_find_position(&view, offset, &position);
    if (err == ERR_NOT_FOUND) err = ERR_CANCELED; /* Retention has taken it. */
    if (err == 0)
        batch_reader_seek(&compaction->reader, compaction->fs, *fd, position, source->size);
    return err;
}

/* The next sources that fit into one segment, by Kafka's rules; none: 0. */
static size_t count_group(const struct compaction *compaction, size_t first)
{
    const struct topic_settings *settings = &compaction->settings;
    const struct compaction_source *sources = compaction->sources;
    int64_t size = 0, index_bytes = 0;
    size_t end = first;

    for (; end < compaction->count && sources[end].base_offset <= compaction->latest; end++) {
        size += sources[end].size;
        index_bytes += sources[end].index_bytes;
        if (end > first &&
            (size > settings->segment_bytes || index_bytes > settings->segment_index_bytes ||
             sources[end].end_offset - 1 - sources[first].base_offset > INT32_MAX))
            break;
    }
    return end - first;
}

static int begin_writing(struct compaction *compaction)
{
    /* What a crash makes read again must look as if it had been appended: leader epochs that have no
     * batch any more would be forgotten. So nothing above the recovery point on disk is cleaned. */
    int err = data_dir_write_checkpoints(compaction->log->dir);

    if (err == 0) err = compaction_map_keys(compaction);
    if (err == 0)
        err = cleaned_transactions_open(&compaction->transactions, compaction->aborted.items,
                                        compaction->aborted.count);
    compaction->has_transactions = err == 0;
    return err;
}

bool compaction_is_harmless(int err)
{
    return err == ERR_CANCELED || err == ERR_NO_MEMORY || err == ERR_NO_SPACE ||
           err == ERR_KAFKA_STORAGE_ERROR;
}

static bool is_of_content(int err)
{
    return err == ERR_CORRUPT_MESSAGE || err == ERR_INVALID_RECORD || err == ERR_LIMIT ||
           err == ERR_UNSUPPORTED_COMPRESSION_TYPE;
}

/* What an error of a pass means to the log. */
static int explain(struct compaction *compaction, int err)
{
    if (compaction_is_harmless(err)) return err;
    if (!is_of_content(err)) return log_fail(compaction->log, err, "compacting");
    /* It may be that a truncation changed the file under the reader. */
    int check = compaction_check(compaction);
    return check != 0 ? check : err;
}

/* One that stayed would undo the swap of a segment behind it. */
static int remove_cleaned(const struct compaction *compaction)
{
    return segment_remove_files(compaction->fs, compaction->folder,
                                compaction->sources[compaction->group].base_offset, CLEANED_SUFFIX);
}

int compaction_next(struct compaction *compaction, bool *is_ready)
{
    int err = compaction->keys == NULL ? begin_writing(compaction)
                                       : compaction_unlink_old(compaction);

    *is_ready = false;
    if (err == 0) {
        compaction->group += compaction->group_count;
        compaction->group_count = count_group(compaction, compaction->group);
    }
    if (err == 0 && compaction->group_count > 0) {
        err = compaction_write_group(compaction);
        if (err == 0) *is_ready = compaction->is_ready = true;
        if (err != 0 && remove_cleaned(compaction) != 0) err = ERR_IO;
    }
    return err == 0 ? 0 : explain(compaction, err);
}
