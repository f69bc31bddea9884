// SPDX-License-Identifier: Apache-2.0
/* The second half of a pass: writing segments anew, without what is no longer wanted. */

#include "compaction_inside.h"

#include <inttypes.h>
#include <stdlib.h>

#include "batch_filter.h"
#include "error.h"

#define INDEX_BUFFER_BYTES 4096

static int cleaned_path(const struct compaction *compaction, const char *suffix,
                        char path[PATH_MAX])
{
    return fs_path(path, "%s/%020" PRId64 "%s" CLEANED_SUFFIX, compaction->folder,
                   compaction->cleaned.base_offset, suffix);
}

/* Makes an empty file, whatever was there. */
static int file_open(struct compaction *compaction, const char *suffix, struct cleaned_file *file)
{
    struct fs *fs = compaction->fs;
    char path[PATH_MAX];

    int err = cleaned_path(compaction, suffix, path);
    if (err == 0) err = fs_write_file(fs, path, "", 0, false);
    if (err == 0) err = fs->open(fs, path, FS_WRITE, &file->fd);
    return err;
}

static void file_init(struct cleaned_file *file)
{
    *file = (struct cleaned_file){ .fd = -1 };
    buffer_init(&file->waiting);
}

static void file_close(struct compaction *compaction, struct cleaned_file *file)
{
    if (file->fd >= 0) compaction->fs->close(compaction->fs, file->fd);
    buffer_close(&file->waiting);
}

static int file_write_out(struct compaction *compaction, struct cleaned_file *file)
{
    struct iovec part = { file->waiting.data, file->waiting.length };

    if (file->waiting.failed) return ERR_NO_MEMORY;
    if (part.iov_len == 0) return 0;
    int err = compaction->fs->write(compaction->fs, file->fd, &part, 1, file->size);
    if (err != 0) return err;
    file->size += (int64_t)part.iov_len;
    file->waiting.length = 0;
    compaction->options.spend(compaction->options.owner, (int64_t)part.iov_len);
    return 0;
}

static int file_put(struct compaction *compaction, struct cleaned_file *file, const void *data,
                    size_t length)
{
    buffer_put(&file->waiting, data, length);
    return file->waiting.length < INDEX_BUFFER_BYTES && !file->waiting.failed
               ? 0
               : file_write_out(compaction, file);
}

static int file_finish(struct compaction *compaction, struct cleaned_file *file)
{
    int err = file_write_out(compaction, file);

    return err != 0 ? err : compaction->fs->sync(compaction->fs, file->fd);
}

static int cleaned_open(struct compaction *compaction)
{
    struct cleaned_segment *cleaned = &compaction->cleaned;
    struct cleaned_file aborted;

    *cleaned = (struct cleaned_segment){
        .base_offset = compaction->sources[compaction->group].base_offset,
        .last_timestamp = -1,
        .is_open = true,
    };
    cleaned->newest = (struct segment_top){ -1, cleaned->base_offset };
    file_init(&cleaned->log);
    file_init(&cleaned->offsets);
    file_init(&cleaned->times);
    file_init(&aborted);
    int err = txn_index_create(&cleaned->aborted, compaction->fs, cleaned->base_offset);
    if (err == 0) err = file_open(compaction, ".txnindex", &aborted);
    file_close(compaction, &aborted); /* The index opens it by itself. */
    if (err == 0) err = file_open(compaction, ".index", &cleaned->offsets);
    if (err == 0) err = file_open(compaction, ".timeindex", &cleaned->times);
    if (err == 0) err = file_open(compaction, ".log", &cleaned->log);
    return err;
}

static void cleaned_close(struct compaction *compaction)
{
    struct cleaned_segment *cleaned = &compaction->cleaned;

    if (!cleaned->is_open) return;
    file_close(compaction, &cleaned->log);
    file_close(compaction, &cleaned->offsets);
    file_close(compaction, &cleaned->times);
    txn_index_close(cleaned->aborted);
    cleaned->is_open = false;
}

/* How far timestamps have come, unless that is no news. */
static int index_time(struct compaction *compaction)
{
    struct cleaned_segment *cleaned = &compaction->cleaned;
    uint8_t entry[TIME_INDEX_ENTRY_SIZE];

    if (cleaned->newest.timestamp <= cleaned->last_timestamp) return 0;
    cleaned->last_timestamp = cleaned->newest.timestamp;
    time_index_write_entry(
        entry, cleaned->base_offset,
        (struct time_index_entry){ cleaned->newest.timestamp, cleaned->newest.offset });
    return file_put(compaction, &cleaned->times, entry, sizeof entry);
}

/* All of it to the disk, the names, too: one of them that a power cut took while another's new name is there would
 * say that the swap was further than it was (partition_log_swap.c). */
static int cleaned_finish(struct compaction *compaction)
{
    struct cleaned_segment *cleaned = &compaction->cleaned;
    char path[PATH_MAX];

    int err = file_finish(compaction, &cleaned->log);
    if (err == 0) err = index_time(compaction);
    if (err == 0) err = file_finish(compaction, &cleaned->offsets);
    if (err == 0) err = file_finish(compaction, &cleaned->times);
    if (err == 0) err = cleaned_path(compaction, ".txnindex", path);
    if (err == 0 && txn_index_count(cleaned->aborted) > 0)
        err = txn_index_write_out(cleaned->aborted, path, true);
    return err == 0 ? compaction->fs->sync_folder(compaction->fs, compaction->folder) : err;
}

/* The batch that is the last of the .log's buffer, from `at` on: into the indexes, by Kafka's rule. */
static int index_kept(struct compaction *compaction, size_t at)
{
    struct cleaned_segment *cleaned = &compaction->cleaned;
    struct record_batch batch;
    uint8_t entry[OFFSET_INDEX_ENTRY_SIZE];
    int64_t position = cleaned->log.size + (int64_t)at;

    int err = record_batch_read_header(&batch, cleaned->log.waiting.data + at,
                                       cleaned->log.waiting.length - at);
    if (err != 0) return err;
    int64_t last_offset = record_batch_last_offset(&batch);
    if (record_batch_newest(&batch) > cleaned->newest.timestamp)
        cleaned->newest = (struct segment_top){ batch.max_timestamp, last_offset };
    if (position - cleaned->last_position <= compaction->settings.index_interval_bytes) return 0;
    cleaned->last_position = position;
    offset_index_write_entry(entry, cleaned->base_offset,
                             (struct offset_index_entry){ last_offset, position });
    err = file_put(compaction, &cleaned->offsets, entry, sizeof entry);
    return err != 0 ? err : index_time(compaction);
}

/* ---- what stays */

struct wanting {
    const struct compaction *compaction;
    bool discards; /* All records of the batch. */
};

static bool wants(void *context, const struct record_batch *batch, const struct record *record)
{
    const struct wanting *wanting = context;
    const struct compaction *compaction = wanting->compaction;
    int64_t horizon_ms;

    if (wanting->discards) return false;
    if ((batch->attributes & BATCH_CONTROL) || record->offset > compaction->latest) return true;
    if (record->key.length < 0) return false;
    if (record->offset < key_offsets_get(compaction->keys, record->key)) return false;
    return record->value.length >= 0 || !record_batch_delete_horizon(batch, &horizon_ms) ||
           compaction->options.now_ms < horizon_ms;
}

static int compare_ids(const void *key, const void *element)
{
    int64_t id = *(const int64_t *)key;
    int64_t other = ((const struct producer_last *)element)->producer_id;

    return id < other ? -1 : id > other;
}

/* Does the batch hold what must be known of its producer: the last sequence, or the last epoch? */
static bool is_last_of_producer(const struct compaction *compaction,
                                const struct record_batch *batch)
{
    int64_t id = batch->producer_id;

    if (id < 0 || compaction->last_count == 0) return false;
    const struct producer_last *last = bsearch(&id, compaction->lasts, compaction->last_count,
                                               sizeof *last, compare_ids);
    if (last == NULL) return false;
    if (last->last_offset >= 0) return record_batch_last_offset(batch) == last->last_offset;
    return (batch->attributes & BATCH_CONTROL) && batch->producer_epoch == last->epoch;
}

static int64_t plus_capped(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* What its transaction says of the batch. */
static int ask_transactions(struct compaction *compaction, const struct record_batch *batch,
                            bool *discards, bool *needs_horizon)
{
    const struct aborted_transaction *aborted = NULL;
    struct cleaned_segment *cleaned = &compaction->cleaned;
    char path[PATH_MAX];
    int64_t horizon_ms;
    int err;

    *needs_horizon = false;
    if (!(batch->attributes & BATCH_CONTROL))
        return cleaned_transactions_data(&compaction->transactions, batch, discards);
    err = cleaned_transactions_marker(&compaction->transactions, batch, needs_horizon, &aborted);
    *discards = *needs_horizon && record_batch_delete_horizon(batch, &horizon_ms) &&
                horizon_ms <= compaction->options.now_ms;
    if (err != 0 || aborted == NULL) return err;
    err = cleaned_path(compaction, ".txnindex", path);
    if (err == 0) err = txn_index_reserve(cleaned->aborted, path, 1, true);
    if (err == 0) txn_index_append(cleaned->aborted, aborted);
    return err;
}

static int clean_batch(struct compaction *compaction, const struct record_batch *batch,
                       bool is_last_of_group)
{
    struct wanting wanting = { .compaction = compaction };
    struct cleaned_file *log = &compaction->cleaned.log;
    size_t before = log->waiting.length;
    bool needs_horizon;

    int err = ask_transactions(compaction, batch, &wanting.discards, &needs_horizon);
    if (err != 0) return err;
    struct batch_filter filter = {
        .wants = wants,
        .context = &wanting,
        .delete_horizon_ms = plus_capped(compaction->options.now_ms,
                                         compaction->settings.delete_retention_ms),
        .keeps_empty = is_last_of_group || is_last_of_producer(compaction, batch),
        .needs_horizon = needs_horizon,
    };
    if (wanting.discards && !filter.keeps_empty) return 0;
    err = batch_filter(&filter, batch, &log->waiting);
    if (err == 0 && log->waiting.length > before) err = index_kept(compaction, before);
    if (err == 0 && log->waiting.length >= compaction->options.buffer_bytes)
        err = file_write_out(compaction, log);
    return err;
}

static int clean_source(struct compaction *compaction, const struct compaction_source *source,
                        bool is_last)
{
    struct record_batch batch;
    int fd = -1;

    int err = compaction_read_source(compaction, source, source->base_offset, &fd);
    while (err == 0) {
        err = compaction_check(compaction);
        if (err == 0) err = batch_reader_next(&compaction->reader, &batch);
        if (err == 0)
            err = clean_batch(compaction, &batch,
                              is_last && compaction->reader.position >= compaction->reader.end);
        if (err == 0) compaction->options.spend(compaction->options.owner, (int64_t)batch.size);
    }
    if (fd >= 0) compaction->fs->close(compaction->fs, fd);
    return err == ERR_NOT_FOUND ? 0 : err;
}

int compaction_write_group(struct compaction *compaction)
{
    const struct compaction_source *sources = compaction->sources + compaction->group;
    size_t last = compaction->group_count - 1;

    while (last > 0 && sources[last].size == 0)
        last--;
    int err = cleaned_open(compaction);
    for (size_t i = 0; i < compaction->group_count && err == 0; i++)
        err = clean_source(compaction, &sources[i], i == last);
    if (err == 0) err = cleaned_finish(compaction);
    if (err == 0) {
        for (size_t i = 0; i < compaction->group_count; i++)
            compaction->result.bytes_before += sources[i].size;
        compaction->result.bytes_after += compaction->cleaned.log.size;
    }
    cleaned_close(compaction);
    return err;
}
