// SPDX-License-Identifier: Apache-2.0
#include "meta_log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "batch_builder.h"
#include "error.h"
#include "meta_batch.h"
#include "partition_log.h"

#define SEGMENT_BYTES  (64 << 20)
#define WRITE_BYTES    (4 << 20) /* An append is written in pieces of about this size. */
#define WRITE_ENTRIES  256
#define TAIL_BYTES     (8 << 20) /* Kept in memory, for followers that are nearly level. */
#define READ_BYTES     (1 << 20)
#define BATCH_OVERHEAD 100
#define RESERVED_BYTES \
    (2 << 20) /* For what must be written on a full disk, many thousand entries. */

struct tail_entry {
    struct meta_entry entry; /* Owns its payload. */
};

/* The newest entries, in memory: a ring. */
struct log_tail {
    struct tail_entry *items;
    unsigned first, count, capacity;
    int64_t first_index;
    size_t bytes;
};

/* A run of older entries, as last read from the disk. */
struct log_window {
    struct arena arena;
    struct meta_entry *entries;
    unsigned count;
    int64_t first_index;
};

/* What was met: in the .log of this base offset. */
struct log_damage {
    int64_t segment; /* -1: none was. */
    int64_t position;
    int64_t index; /* The entry that should be there. */
};

struct meta_log {
    struct partition_log *log;
    struct data_dir *dir;
    struct fs *fs;
    struct clock *clock;
    int64_t persisted_index; /* As known when it was opened. */
    struct log_damage damage;
    bool is_stretched; /* (5) */
    int64_t first_index;
    int64_t last_index;
    struct log_tail tail;
    struct log_window window;
    struct batch_builder builder;
    struct buffer batches; /* What is being appended. */

    struct meta_log_flusher *flusher;
    struct job flush;          /* Runs on the executor … */
    struct message flush_done; /* … and comes back with this. */
    bool is_flushing;
    uint64_t wanted_write;
    uint64_t flushing_write;
    int flush_err;
};

/* ---- the newest entries in memory ---- */

static struct tail_entry *tail_at(struct log_tail *tail, unsigned position)
{
    return &tail->items[(tail->first + position) % tail->capacity];
}

static size_t entry_bytes(const struct meta_entry *entry)
{
    return (entry->payload.length > 0 ? (size_t)entry->payload.length : 0) +
           sizeof(struct tail_entry);
}

static void tail_drop(struct log_tail *tail, bool newest)
{
    struct tail_entry *item = tail_at(tail, newest ? tail->count - 1 : 0);
    tail->bytes -= entry_bytes(&item->entry);
    mem_free((void *)item->entry.payload.data);
    tail->count--;
    if (newest) return;
    tail->first = (tail->first + 1) % tail->capacity;
    tail->first_index++;
}

static void tail_truncate(struct log_tail *tail, int64_t index)
{
    while (tail->count > 0 && tail->first_index + tail->count > index)
        tail_drop(tail, true);
    if (tail->count == 0) tail->first_index = index;
}

static int tail_reserve(struct log_tail *tail)
{
    if (tail->count < tail->capacity) return 0;
    unsigned capacity = tail->capacity == 0 ? 64 : tail->capacity * 2;
    struct tail_entry *items = mem_calloc(capacity, sizeof *items);
    if (items == NULL) return ERR_NO_MEMORY;
    for (unsigned i = 0; i < tail->count; i++)
        items[i] = *tail_at(tail, i);
    mem_free(tail->items);
    tail->items = items;
    tail->first = 0;
    tail->capacity = capacity;
    return 0;
}

static int tail_add(struct log_tail *tail, const struct meta_entry *entry)
{
    int err = tail_reserve(tail);
    if (err != 0) return err;
    struct meta_entry copy = *entry;
    if (entry->payload.length > 0) {
        copy.payload.data = mem_dup(entry->payload.data, (size_t)entry->payload.length);
        if (copy.payload.data == NULL) return ERR_NO_MEMORY;
    } else {
        copy.payload.data = NULL;
    }
    tail_at(tail, tail->count++)->entry = copy;
    tail->bytes += entry_bytes(&copy);
    while (tail->count > 1 && tail->bytes > TAIL_BYTES)
        tail_drop(tail, false);
    return 0;
}

static void tail_close(struct log_tail *tail)
{
    while (tail->count > 0)
        tail_drop(tail, true);
    mem_free(tail->items);
}

/* ---- older entries from the disk ---- */

static int window_take(struct log_window *window, const struct record_batch *batch,
                       const struct record *record)
{
    struct meta_entry *entry = &window->entries[window->count];
    int err = meta_batch_read_record(batch, record, entry);
    if (err != 0) return err;
    if (record->value.length > 0) {
        entry->payload.data = arena_dup(&window->arena, record->value.data,
                                        (size_t)record->value.length);
        if (entry->payload.data == NULL) return ERR_NO_MEMORY;
    }
    window->count++;
    return 0;
}

static int window_add_batch(struct log_window *window, const struct record_batch *batch)
{
    struct record_walk *walk = NULL;
    struct record record;
    if (!record_batch_crc_is_right(batch) || !meta_batch_is_right(batch) ||
        batch->base_offset != window->first_index + window->count)
        return ERR_CORRUPT_MESSAGE;
    int err = record_walk_open(&walk, batch, INT32_MAX);
    if (err == 0) err = record_walk_next(walk, &record);
    if (err == 0) err = window_take(window, batch, &record);
    record_walk_close(walk);
    return err == ERR_INVALID_RECORD || err == ERR_NOT_FOUND ? ERR_CORRUPT_MESSAGE : err;
}

/* Counts before it decodes, so that the array is made once. *at: where it failed, in the batch behind
 * `window->count` good ones. */
static int window_decode(struct log_window *window, const uint8_t *data, size_t length, size_t *at)
{
    struct record_batch batch;
    for (*at = 0; *at < length; *at += batch.size) {
        int err = record_batch_read_header(&batch, data + *at, length - *at);
        if (err != 0 || batch.size > length - *at) return ERR_CORRUPT_MESSAGE;
        if (*at == 0) window->first_index = batch.base_offset;
        window->count++;
    }
    window->entries = arena_calloc(&window->arena, window->count, sizeof *window->entries);
    window->count = 0;
    if (window->entries == NULL) return ERR_NO_MEMORY;
    for (*at = 0; *at < length; *at += batch.size) {
        int err = record_batch_read_header(&batch, data + *at, length - *at);
        if (err == 0) err = window_add_batch(window, &batch);
        if (err != 0) return err;
    }
    return 0;
}

static void window_forget(struct log_window *window)
{
    arena_close(&window->arena);
    arena_init(&window->arena, NULL, 0, SIZE_MAX);
    window->entries = NULL;
    window->count = 0;
    window->first_index = 0;
}

static int window_load(struct meta_log *log, int64_t index)
{
    struct log_window *window = &log->window;
    struct log_read read = {
        .from_offset = index,
        .below_offset = INT64_MAX,
        .max_bytes = READ_BYTES,
        .at_least_one = true,
        .may_block = true,
    };
    window_forget(window);
    int err = partition_log_read(log->log, &read);
    if (err == ERR_CORRUPT_MESSAGE)
        log->damage = (struct log_damage){ partition_log_segment_base(log->log, index), -1, index };
    if (err != 0) return err;
    size_t got = 0, at = 0;
    uint8_t *data = mem_alloc(read.slice.length);
    if (data == NULL) err = ERR_NO_MEMORY;
    if (err == 0)
        err = log->fs->read(log->fs, read.slice.fd, data, read.slice.length, read.slice.offset,
                            &got);
    if (err == 0 && got < read.slice.length) err = ERR_CORRUPT_MESSAGE;
    if (err == 0) err = window_decode(window, data, got, &at);
    if (err == ERR_CORRUPT_MESSAGE)
        log->damage = (struct log_damage){ partition_log_segment_base(log->log, index),
                                           read.slice.offset + (int64_t)at, index + window->count };
    file_slice_release(&read.slice);
    mem_free(data);
    if (err != 0) window_forget(window);
    return err;
}

static bool window_has(const struct log_window *window, int64_t index)
{
    return index >= window->first_index && index < window->first_index + window->count;
}

/* ---- open, close ---- */

static void log_settings(struct topic_settings *settings)
{
    topic_settings_defaults(settings);
    settings->segment_bytes = SEGMENT_BYTES;
    settings->segment_ms = INT64_MAX;
    settings->retention_ms = -1; /* Snapshots decide what may go, nothing else does. */
    settings->retention_bytes = -1;
    settings->file_delete_delay_ms = 0; /* Nobody else reads it. */
    settings->max_message_bytes = META_ENTRY_MAX_SIZE + BATCH_OVERHEAD;
}

static int log_check(struct meta_log *log, int64_t persisted_index)
{
    log->first_index = partition_log_start_offset(log->log);
    log->last_index = partition_log_end_offset(log->log) - 1;
    if (log->first_index < 1 || log->last_index < persisted_index) return ERR_CORRUPT_MESSAGE;
    log->tail.first_index = log->last_index + 1;
    return 0;
}

void meta_log_explain_damage(const struct meta_log *log, char *why, size_t why_size)
{
    char file[40] = "", where[80] = "";
    int64_t known = log->persisted_index;
    if (log->damage.segment >= 0) {
        if (known < log->damage.index) known = log->damage.index; /* By what lies behind it. */
        snprintf(file, sizeof file, "/%020" PRId64 ".log", log->damage.segment);
        int length = snprintf(where, sizeof where, ", from entry %" PRId64, log->damage.index);
        if (log->damage.position >= 0)
            length += snprintf(where + length, sizeof where - (size_t)length,
                               " at position %" PRId64, log->damage.position);
        snprintf(where + length, sizeof where - (size_t)length, " on");
    }
    snprintf(
        why, why_size,
        "%s/" META_LOG_TOPIC "-0%s: entries that this node had acknowledged (it knows of %" PRId64
        ") are damaged or gone%s; with other voters, empty the folder and let this node join again "
        "from them, otherwise restore it from a copy",
        data_dir_path(log->dir), file, known, where);
}

int meta_log_open(struct meta_log **log, struct data_dir *dir, struct clock *clock, int64_t term,
                  int64_t persisted_index, int64_t snapshot_index, char *why, size_t why_size)
{
    struct partition_log_open_options options = {
        .dir = dir,
        .clock = clock,
        .topic = META_LOG_TOPIC,
        .partition = 0,
        .cut_only_from = persisted_index == 0 ? 0 : persisted_index + 1, /* A new log ends at 0. */
        .may_restart_at = snapshot_index + 1,
        .batch_is_right = meta_batch_is_right,
        .on_disk_before = meta_batch_on_disk_before,
        .on_disk_epoch = term,
    };
    /* Kafka's own metadata topic has this id; ours is another log, but as much one of its kind. */
    options.topic_id.bytes[15] = 1;
    struct partition_log_recovery recovery;
    struct meta_log *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->dir = dir;
    opened->fs = data_dir_fs(dir);
    opened->persisted_index = persisted_index;
    opened->damage.segment = -1;
    opened->clock = clock;
    arena_init(&opened->window.arena, NULL, 0, SIZE_MAX);
    batch_builder_init(&opened->builder);
    buffer_init(&opened->batches);
    log_settings(&options.settings);

    int err = partition_log_open(&opened->log, &options, &recovery);
    if (err == 0 && partition_log_end_offset(opened->log) == 0)
        err = partition_log_restart_at(opened->log, 1);
    if (err == 0) err = log_check(opened, persisted_index);
    if (err == 0) partition_log_keep_reserved(opened->log, RESERVED_BYTES);
    /* What was found counts as stored from now on. */
    if (err == 0) err = partition_log_flush(opened->log);
    if (err == 0) {
        *log = opened;
        return 0;
    }
    if (err == ERR_CORRUPT_MESSAGE) {
        opened->damage = (struct log_damage){ recovery.refused_segment, recovery.refused_position,
                                              recovery.refused_offset };
        meta_log_explain_damage(opened, why, why_size);
    } else
        snprintf(why, why_size, "%s/" META_LOG_TOPIC "-0: %s", data_dir_path(dir), error_text(err));
    meta_log_close(opened);
    return err;
}

void meta_log_close(struct meta_log *log)
{
    if (log == NULL) return;
    assert(!log->is_flushing);
    partition_log_close(log->log);
    tail_close(&log->tail);
    arena_close(&log->window.arena);
    batch_builder_close(&log->builder);
    buffer_close(&log->batches);
    mem_free(log);
}

int64_t meta_log_first_index(const struct meta_log *log)
{
    return log->first_index;
}

int64_t meta_log_last_index(const struct meta_log *log)
{
    return log->last_index;
}

int64_t meta_log_last_term(const struct meta_log *log)
{
    int32_t epoch = partition_log_last_epoch(log->log);
    return epoch < 0 ? 0 : epoch;
}

int64_t meta_log_flushed_index(const struct meta_log *log)
{
    return partition_log_flushed_offset(log->log) - 1;
}

/* ---- append ---- */

/* How many of the entries are written next: of one term, not too many bytes. */
static unsigned log_run(const struct meta_entry *entries, unsigned count)
{
    size_t bytes = 0;
    unsigned run = 0;
    while (run < count && run < WRITE_ENTRIES && entries[run].term == entries[0].term) {
        bytes += entry_bytes(&entries[run]) + BATCH_OVERHEAD;
        if (run > 0 && bytes > WRITE_BYTES) break;
        run++;
    }
    return run;
}

/* One batch for each entry, by (1). */
static int log_build(struct meta_log *log, int64_t index, const struct meta_entry *entries,
                     unsigned count, int64_t now_ms)
{
    int64_t flushed_index = meta_log_flushed_index(log);
    int err = 0;
    log->batches.length = 0;
    for (unsigned i = 0; err == 0 && i < count; i++)
        err = meta_batch_put(&log->builder, &log->batches, index + i, &entries[i], flushed_index,
                             now_ms);
    return err;
}

/* By (5). False: it was so already. */
static bool log_stretch(struct meta_log *log, bool is_stretched)
{
    struct topic_settings settings;
    if (log->is_stretched == is_stretched) return false;
    log_settings(&settings);
    if (is_stretched) settings.segment_bytes = INT32_MAX;
    partition_log_set_settings(log->log, &settings);
    log->is_stretched = is_stretched;
    return true;
}

/* Those in front of the first that is refused are in the log. */
static int log_append_chain(struct meta_log *log, struct log_append *first, int32_t term,
                            int64_t now_ms)
{
    struct log_append *rest = NULL;
    int err = partition_log_append(log->log, first, term, now_ms, true, &rest);
    while (err == 0 && first != NULL && first->err == 0)
        first = first->next;
    if (err != 0 || first == NULL) return err;
    if (first->err != ERR_KAFKA_STORAGE_ERROR || partition_log_failed(log->log) != 0 ||
        !log_stretch(log, true))
        return first->err;
    for (struct log_append *append = first; append != NULL; append = append->next)
        append->err = 0;
    return log_append_chain(log, first, term, now_ms);
}

static int log_append_run(struct meta_log *log, int64_t index, const struct meta_entry *entries,
                          unsigned count)
{
    struct log_append appends[WRITE_ENTRIES];
    int64_t now_ms = clock_wall_ms(log->clock);
    size_t at = 0;
    int err = log_build(log, index, entries, count, now_ms);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        struct log_append *append = &appends[i];
        *append = (struct log_append){ .next = i + 1 < count ? append + 1 : NULL,
                                       .data = log->batches.data + at };
        err = record_batch_read_header(&append->batch, append->data, log->batches.length - at);
        at += append->batch.size;
    }
    return err == 0 ? log_append_chain(log, appends, (int32_t)entries[0].term, now_ms) : err;
}

static int log_truncate(struct meta_log *log, int64_t index)
{
    if (index > log->last_index) return 0;
    tail_truncate(&log->tail, index);
    window_forget(&log->window);
    int err = partition_log_truncate(log->log, index);
    if (err == 0) log->last_index = index - 1;
    return err;
}

int meta_log_append(struct meta_log *log, int64_t first_index, const struct meta_entry *entries,
                    unsigned count)
{
    assert(first_index <= log->last_index + 1);
    int err = log_truncate(log, first_index);
    for (unsigned done = 0; err == 0 && done < count;) {
        unsigned run = log_run(entries + done, count - done);
        if (entries[done].term < 1 || entries[done].term > INT32_MAX) return ERR_LIMIT;
        err = log_append_run(log, first_index + done, entries + done, run);
        for (unsigned i = 0; err == 0 && i < run; i++)
            err = tail_add(&log->tail, &entries[done + i]);
        if (err == 0) log->last_index += run;
        done += run;
    }
    return err;
}

int meta_log_restart(struct meta_log *log, int64_t first_index)
{
    tail_truncate(&log->tail, log->tail.first_index);
    window_forget(&log->window);
    int err = partition_log_restart_at(log->log, first_index);
    if (err != 0) return err;
    log->first_index = log->tail.first_index = first_index;
    log->last_index = first_index - 1;
    return 0;
}

int meta_log_trim(struct meta_log *log, int64_t first_index)
{
    int64_t next_ms;
    log_stretch(log, false); /* A snapshot did fit, so may another segment. */
    int err = partition_log_raise_start(log->log, first_index);
    if (err == 0)
        err = partition_log_retain(log->log, first_index, clock_wall_ms(log->clock), &next_ms);
    if (err == 0 && first_index > log->first_index) log->first_index = first_index;
    return err;
}

/* ---- read ---- */

static int log_read_one(struct meta_log *log, int64_t index, struct meta_entry *entry,
                        struct arena *arena)
{
    if (index < log->first_index || index > log->last_index) return ERR_NOT_FOUND;
    if (index >= log->tail.first_index) {
        *entry = tail_at(&log->tail, (unsigned)(index - log->tail.first_index))->entry;
        return 0;
    }
    int err = window_has(&log->window, index) ? 0 : window_load(log, index);
    if (err != 0) return err;
    if (!window_has(&log->window, index)) return ERR_CORRUPT_MESSAGE;
    *entry = log->window.entries[index - log->window.first_index];
    if (entry->payload.length > 0) {
        /* The next one may bring another window. */
        entry->payload.data = arena_dup(arena, entry->payload.data, (size_t)entry->payload.length);
        if (entry->payload.data == NULL) return ERR_NO_MEMORY;
    }
    return 0;
}

int meta_log_read(struct meta_log *log, int64_t first_index, unsigned count,
                  struct meta_entry *entries, struct arena *arena)
{
    int err = 0;
    for (unsigned i = 0; err == 0 && i < count; i++)
        err = log_read_one(log, first_index + i, &entries[i], arena);
    return err;
}

/* ---- flush ---- */

static void flush_start(struct meta_log *log)
{
    log->is_flushing = true;
    log->flushing_write = log->wanted_write;
    executor_submit(log->flusher->executor, &log->flush);
}

static void flush_run(struct job *job)
{
    struct meta_log *log = LIST_OWNER(job, struct meta_log, flush);
    log->flush_err = partition_log_flush(log->log);
    mailbox_post(log->flusher->owner, &log->flush_done);
}

static void flush_deliver(struct message *message)
{
    struct meta_log *log = LIST_OWNER(message, struct meta_log, flush_done);
    uint64_t write = log->flushing_write;
    int err = log->flush_err; /* The next one's from flush_start() on. */
    log->is_flushing = false;
    if (err == 0 && log->wanted_write > write) flush_start(log);
    log->flusher->flushed(log->flusher, write, err);
}

void meta_log_set_flusher(struct meta_log *log, struct meta_log_flusher *flusher)
{
    log->flusher = flusher;
    list_init(&log->flush.node);
    job_init(&log->flush, flush_run);
    log->flush.is_urgent = true; /* Folders of thousands of partitions may be waiting to be made. */
    message_init(&log->flush_done, flush_deliver);
}

void meta_log_want_flush(struct meta_log *log, uint64_t write)
{
    log->wanted_write = write;
    if (!log->is_flushing) flush_start(log);
}

bool meta_log_is_flushing(const struct meta_log *log)
{
    return log->is_flushing;
}

int meta_log_checkpoint(struct meta_log *log)
{
    return partition_log_checkpoint(log->log);
}
