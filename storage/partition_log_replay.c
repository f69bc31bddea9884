// SPDX-License-Identifier: Apache-2.0
/* What is derived from the batches of a log: its leader epochs and its producers. Both have files that
 * say all up to some offset; what came later is had from the batches' headers again. */

#include <string.h>

#include "alloc.h"
#include "batch_scan.h"
#include "error.h"
#include "partition_log_inside.h"

#define EPOCHS_MAX_BYTES  (16 << 20)
#define CONTROL_MAX_BYTES (64 << 10) /* An end marker takes 78. */
#define BATCHES_MAX_BYTES (64 << 20)

/* Of a control batch more than its header is wanted. One that cannot be an end marker keeps its header
 * only, as a batch without records. */
static int load_control(struct batch_scan *scan, struct record_batch *batch, int64_t position,
                        uint8_t **buffer)
{
    if ((batch->attributes & BATCH_CONTROL) == 0 || batch->producer_id < 0) return 0;
    if (*buffer == NULL && (*buffer = mem_alloc(CONTROL_MAX_BYTES)) == NULL) return ERR_NO_MEMORY;
    int err = batch_scan_load(scan, batch, position, *buffer, CONTROL_MAX_BYTES);
    if (err != ERR_LIMIT) return err;
    batch->size = RECORD_BATCH_HEADER_SIZE;
    batch->record_count = 0;
    return 0;
}

int log_walk_headers(struct partition_log *log, int64_t from_offset, int64_t below_offset,
                     int (*each)(struct partition_log *log, const struct record_batch *batch),
                     int64_t *bytes_read)
{
    uint8_t *buffer = NULL;
    int err = 0;

    if (from_offset >= log->end_offset || from_offset >= below_offset) return 0;
    for (size_t i = log_segment_at(log, from_offset); i < log->segment_count && err == 0; i++) {
        struct segment_view view;
        struct record_batch batch;
        struct batch_scan scan;
        int64_t position = 0;
        int fd;

        pthread_mutex_lock(&log->lock);
        log_view(log, i, true, &view);
        pthread_mutex_unlock(&log->lock);
        err = segment_pin(view.segment, true, &fd);
        bool is_pinned = err == 0;
        if (err == 0) err = segment_find_position(&view, from_offset, &position);
        if (err == 0) batch_scan_init(&scan, log->fs, fd, position, view.size, true);
        while (err == 0) {
            err = batch_scan_next(&scan, &batch, &position);
            if (err == 0 && record_batch_last_offset(&batch) >= below_offset) err = ERR_CANCELED;
            if (err == 0) err = load_control(&scan, &batch, position, &buffer);
            if (err == 0)
                err = each(log, &batch);
            else
                *bytes_read += scan.bytes_read;
        }
        if (is_pinned) segment_unpin(view.segment);
        segment_release(view.segment);
        /* Below the recovery point the disk may have lost something: what is left counts. */
        if (err == ERR_NOT_FOUND || err == ERR_CORRUPT_MESSAGE) err = 0;
    }
    mem_free(buffer);
    return err == ERR_CANCELED ? 0 : err;
}

static int add_epoch(struct partition_log *log, const struct record_batch *batch)
{
    pthread_mutex_lock(&log->lock);
    int err = epoch_history_reserve(&log->epochs);
    if (err == 0 && log_begin_epoch(log, batch->leader_epoch, batch->base_offset))
        log->epochs_are_dirty = true;
    pthread_mutex_unlock(&log->lock);
    return err;
}

static int add_forgotten_epoch(struct partition_log *log, const struct record_batch *batch)
{
    return batch->base_offset >= log->epochs_known_from ? ERR_CANCELED : add_epoch(log, batch);
}

/* Epochs from where the log begins up to the first one that the file knows: the log's start was raised, and a
 * crash has taken it back, but not the file. */
static int add_forgotten_epochs(struct partition_log *log, int64_t *bytes_read)
{
    struct epoch_history known = log->epochs;

    epoch_history_init(&log->epochs);
    log->epochs_known_from = known.starts[0].start_offset;
    int err = log_walk_headers(log, log->start_offset, INT64_MAX, add_forgotten_epoch, bytes_read);
    for (size_t i = 0; i < known.count && err == 0; i++) {
        err = epoch_history_reserve(&log->epochs);
        if (err == 0) log_begin_epoch(log, known.starts[i].epoch, known.starts[i].start_offset);
    }
    epoch_history_close(&known);
    log->epochs_are_dirty = true;
    return err;
}

int log_load_epochs(struct partition_log *log, int64_t *bytes_read)
{
    int64_t recovery_point = log->recovery_point;
    char path[PATH_MAX];
    char *text = NULL;
    size_t length;

    int err = fs_path(path, "%s/leader-epoch-checkpoint", log->folder);
    if (err == 0) err = fs_read_file(log->fs, path, EPOCHS_MAX_BYTES, &text, &length);
    if (err == 0) err = epoch_history_parse(&log->epochs, text, length);
    mem_free(text);
    if (err == ERR_NOT_FOUND || err == ERR_MALFORMED || err == ERR_LIMIT) {
        recovery_point = log->start_offset; /* Those below it are not wanted. */
        err = 0;
    }
    bool may_be_short = err == 0 && !data_dir_was_clean(log->dir);
    if (may_be_short && log->epochs.count == 0) recovery_point = log->start_offset;
    if (may_be_short && log->epochs.count > 0 &&
        log->epochs.starts[0].start_offset > log->start_offset)
        err = add_forgotten_epochs(log, bytes_read);
    if (err != 0) return err;
    /* The file may know of an end that a truncation took away. */
    if (recovery_point < log->end_offset && epoch_history_truncate(&log->epochs, recovery_point))
        log->epochs_are_dirty = true;
    /* One that begins at the end has no record yet. */
    if (epoch_history_truncate(&log->epochs, log->end_offset + 1)) log->epochs_are_dirty = true;
    err = log_walk_headers(log, recovery_point, INT64_MAX, add_epoch, bytes_read);
    /* Offsets of a damaged batch may be anything. */
    if (epoch_history_truncate(&log->epochs, log->end_offset + 1)) log->epochs_are_dirty = true;
    if (epoch_history_raise_start(&log->epochs, log->start_offset)) log->epochs_are_dirty = true;
    /* What was read may be in the page cache only. */
    if (data_dir_has_failed(log->dir)) log->epochs_are_dirty = true;
    return err;
}

static int add_producer(struct partition_log *log, const struct record_batch *batch)
{
    struct ended_transaction ended;

    int64_t now_ms = clock_wall_ms(log->clock);
    int64_t seen_ms = batch->max_timestamp < now_ms ? batch->max_timestamp : now_ms;

    int err = producer_history_ends(log->producers, batch, &ended);
    if (err == 0) err = producer_history_add(log->producers, batch, seen_ms);
    return err != 0 ? err : log_replay_ended(log, &ended);
}

struct snapshot_search {
    int64_t at_most;
    int64_t found; /* -1: none. */
};

static int note_snapshot(void *context, const struct fs_entry *entry)
{
    struct snapshot_search *search = context;
    const char *suffix = "";
    int64_t offset = segment_parse_name(entry->name, &suffix);

    if (strcmp(suffix, ".snapshot") == 0 && offset <= search->at_most && offset > search->found)
        search->found = offset;
    return 0;
}

/* Who was heard of last before that is forgotten. */
static int64_t expired_before(const struct partition_log *log)
{
    if (log->producer_expiration_ms <= 0) return INT64_MIN;
    return clock_wall_ms(log->clock) - log->producer_expiration_ms;
}

/* Reads the snapshot at `offset`; ERR_CORRUPT_MESSAGE or ERR_NOT_FOUND: look for an earlier one. */
static int read_snapshot(struct partition_log *log, int64_t offset)
{
    char path[PATH_MAX];
    char *data = NULL;
    size_t length;

    int err = segment_path(log->folder, offset, ".snapshot", path);
    if (err == 0) err = fs_read_file(log->fs, path, SNAPSHOT_MAX_BYTES, &data, &length);
    if (err == 0)
        err = producer_history_read(log->producers, data, length, expired_before(log),
                                    clock_wall_ms(log->clock));
    mem_free(data);
    return err == ERR_LIMIT ? ERR_CORRUPT_MESSAGE : err;
}

/* The newest good snapshot at or below `at_most`; *snapshot is its offset, or -1. */
static int load_snapshot(struct partition_log *log, int64_t at_most, int64_t *snapshot)
{
    /* What lies between an older one and the first segment can be had from nowhere: a transaction that
     * ended there would stay open for ever. */
    int64_t least = log->segments[0]->base_offset;
    struct snapshot_search search = { at_most, at_most > least ? at_most : least };
    int err;

    producer_history_clear(log->producers);
    /* After a clean stop it is the one at the end, which needs no search. */
    while ((err = read_snapshot(log, search.found)) != 0) {
        if (err != ERR_NOT_FOUND && err != ERR_CORRUPT_MESSAGE) return err;
        search.at_most = search.found - 1;
        search.found = -1;
        err = log->fs->list(log->fs, log->folder, note_snapshot, &search);
        if (err != 0) return err;
        if (search.found < least) search.found = -1;
        if (search.found < 0) break;
    }
    *snapshot = search.found;
    return 0;
}

/* ---- the file of recent batches: a snapshot knows the last one of each producer, and repeats of those
 * before it must be known, too (DESIGN 5.4) */

static int batches_path(const struct partition_log *log, const char *suffix, char path[PATH_MAX])
{
    return fs_path(path, "%s/producer-batches%s", log->folder, suffix);
}

/* After a kill it is as it was written; what a power cut leaves of it counts if it is whole. */
int log_write_batches(struct partition_log *log, const struct buffer *batches)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    struct fs *fs = log->fs;

    if (batches->length == 0 && !log->has_batches_file) return 0;
    int err = batches_path(log, "", path);
    if (err == 0) err = batches_path(log, ".tmp", temporary);
    if (err == 0 && batches->length == 0) {
        err = fs->remove(fs, path);
        if (err == ERR_NOT_FOUND) err = 0;
    } else if (err == 0) {
        err = fs_write_file(fs, temporary, batches->data, batches->length, false);
        if (err == 0) err = fs->rename(fs, temporary, path);
    }
    if (err == 0) log->has_batches_file = batches->length > 0;
    return err;
}

/* A file that a cut or a power loss has overtaken must not come back: others may get the offsets of which it
 * tells, and repeats of what is not there would be acknowledged. */
static int remove_batches(struct partition_log *log)
{
    char path[PATH_MAX];

    int err = batches_path(log, "", path);
    if (err == 0) err = log->fs->remove(log->fs, path);
    if (err == ERR_NOT_FOUND) err = 0;
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0) log->has_batches_file = false;
    return err;
}

/* *are_overtaken: the file is no good for a log that ends at `end_offset`. */
static int merge_batches(struct partition_log *log, int64_t end_offset, bool *are_overtaken)
{
    char path[PATH_MAX];
    char *data = NULL;
    size_t length;

    *are_overtaken = false;
    if (!log->has_batches_file) return 0;
    int err = batches_path(log, "", path);
    if (err == 0) err = fs_read_file(log->fs, path, BATCHES_MAX_BYTES, &data, &length);
    if (err == 0)
        err = producer_history_merge_batches(log->producers, data, length, end_offset,
                                             are_overtaken);
    mem_free(data);
    if (err != ERR_CORRUPT_MESSAGE && err != ERR_LIMIT) return err == ERR_NOT_FOUND ? 0 : err;
    *are_overtaken = true;
    return 0;
}

/* ---- replay */

/* What ended below `from` is not replayed, and may still wait for the high watermark. */
static void begin_replay(struct partition_log *log, int64_t from)
{
    ended_transactions_clear(&log->replayed);
    pthread_mutex_lock(&log->lock);
    ended_transactions_add_below(&log->replayed, &log->ended, from);
    pthread_mutex_unlock(&log->lock);
}

static void publish_replay(struct partition_log *log)
{
    pthread_mutex_lock(&log->lock);
    log->first_open_offset = producer_history_first_open(log->producers);
    ended_transactions_move(&log->ended, &log->replayed);
    pthread_mutex_unlock(&log->lock);
}

/* What the log knows of its producers up to `end_offset`, beginning with a snapshot at or below `at_most`. */
static int load_producers(struct partition_log *log, int64_t at_most, int64_t end_offset,
                          struct log_reload *reload)
{
    int64_t below_offset = end_offset < log->end_offset ? end_offset : INT64_MAX;
    int64_t bytes_read = 0;

    log->producers_are_stale = true;
    int err = load_snapshot(log, at_most, &reload->snapshot);
    if (err != 0) return err;
    int64_t from = reload->snapshot < 0 ? log->start_offset : reload->snapshot;
    begin_replay(log, from);
    err = log_walk_headers(log, from, below_offset, add_producer, &bytes_read);
    return err != 0 ? err : merge_batches(log, end_offset, &reload->batches_are_overtaken);
}

static int publish_producers(struct partition_log *log, const struct log_reload *reload)
{
    int err = reload->batches_are_overtaken ? remove_batches(log) : 0;

    if (err != 0) return err;
    producer_history_expire(log->producers, expired_before(log));
    log->producers_are_stale = false;
    publish_replay(log);
    return 0;
}

int log_reload_producers(struct partition_log *log, int64_t at_most, int64_t *snapshot)
{
    struct log_reload reload;
    int err = load_producers(log, at_most, log->end_offset, &reload);

    if (err == 0) err = publish_producers(log, &reload);
    if (err == 0) *snapshot = reload.snapshot;
    return err;
}

void log_drop_reload(struct partition_log *log, struct log_reload *reload)
{
    if (reload->before == NULL) return;
    producer_history_close(log->producers);
    log->producers = reload->before;
    log->producers_are_stale = reload->were_stale;
    reload->before = NULL;
}

int log_prepare_reload(struct partition_log *log, int64_t offset, struct log_reload *reload)
{
    struct producer_history *loaded = NULL;
    int err = producer_history_open(&loaded);

    if (err != 0) return err;
    *reload = (struct log_reload){ log->producers, log->producers_are_stale, -1, false };
    log->producers = loaded;
    err = load_producers(log, offset, offset, reload);
    if (err != 0) log_drop_reload(log, reload);
    return err;
}

/* What was known of the files of snapshots, but for the one that was read. */
static void forget_snapshots(struct partition_log *log, int64_t snapshot)
{
    for (int i = 0; i < LOG_OLD_SNAPSHOTS; i++)
        log->old_snapshots[i] = -1;
    pthread_mutex_lock(&log->lock);
    log->snapshot_offset = snapshot;
    pthread_mutex_unlock(&log->lock);
}

int log_finish_reload(struct partition_log *log, struct log_reload *reload)
{
    producer_history_close(reload->before);
    reload->before = NULL;
    forget_snapshots(log, reload->snapshot);
    return publish_producers(log, reload);
}

int log_reload_after_restart(struct partition_log *log, int64_t offset)
{
    int64_t snapshot;
    int err = log_reload_producers(log, offset, &snapshot);

    if (err == 0) forget_snapshots(log, snapshot);
    return err;
}

struct snapshot_removal {
    struct partition_log *log;
    int64_t from, to;
};

static int remove_snapshot(void *context, const struct fs_entry *entry)
{
    struct snapshot_removal *removal = context;
    struct partition_log *log = removal->log;
    const char *suffix = "";
    char path[PATH_MAX];
    int64_t offset = segment_parse_name(entry->name, &suffix);

    if (strcmp(suffix, ".snapshot") != 0 || offset < 0 ||
        (offset >= removal->from && offset <= removal->to))
        return 0;
    int err = segment_path(log->folder, offset, ".snapshot", path);
    return err != 0 ? err : log->fs->remove(log->fs, path);
}

int log_remove_snapshots(struct partition_log *log, int64_t from, int64_t to)
{
    struct snapshot_removal removal = { log, from, to };

    return log->fs->list(log->fs, log->folder, remove_snapshot, &removal);
}

static int remove_stray_snapshot(void *context, const struct fs_entry *entry)
{
    struct snapshot_removal *removal = context;
    struct partition_log *log = removal->log;
    const char *suffix = "";
    int64_t offset = segment_parse_name(entry->name, &suffix);

    if (strcmp(suffix, ".snapshot") != 0 || offset < 0 || offset == removal->to ||
        offset == log->snapshot_offset ||
        data_dir_may_name(log->dir, log->topic, log->partition, offset))
        return 0;
    return log_remove_old_snapshot(log, offset);
}

int log_remove_stray_snapshots(struct partition_log *log, int64_t newest)
{
    struct snapshot_removal removal = { log, 0, newest };

    return log->fs->list(log->fs, log->folder, remove_stray_snapshot, &removal);
}
