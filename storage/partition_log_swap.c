// SPDX-License-Identifier: Apache-2.0
/* A compacted segment takes the place of those that it was made from, so that a crash at any moment, of
 * the process or of the machine, loses nothing (DESIGN 4.5).
 *
 *  (1) `.cleaned`: being written, or written and durable, all four names of it, before (2). The old segments are
 *      whole: it goes.
 *  (2) All four files are renamed `.swap`, the .log last, and the folder is synced. From here on the old
 *      ones are not needed.
 *  (3) The old segments but the first, whose names the new one takes, are renamed `.deleted`; the folder
 *      is synced before (4), or what they hold would be there twice.
 *  (4) The suffix goes, the .log's last, and the folder is synced. Every part is renamed over the old
 *      one, the transaction index too, even if it is empty.
 *
 * What a crash left tells by itself how far it came. While a `.cleaned` is there, a `.swap` with the same
 * or a higher offset is from the middle of (2) and goes, as Kafka sees it. (Kafka leaves both where a
 * split of a segment was cut short, too.) Any other `.swap` is from (3) or (4), which are done again:
 * segments that begin inside a `.log.swap` are old ones. Names may reach the disk in any order between
 * two syncs. */

#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "batch_scan.h"
#include "compaction_inside.h"
#include "error.h"
#include "segment_aborted.h"
#include "trace.h"

/* The order in which names change: the .log last. */
static const char *const parts[] = { ".index", ".timeindex", ".txnindex", ".log" };
#define PART_COUNT (sizeof parts / sizeof parts[0])

/* Gives all files of a segment another suffix; those that are not there are passed over. */
static int rename_parts(struct partition_log *log, int64_t base_offset, const char *from_suffix,
                        const char *to_suffix)
{
    int err = 0;

    for (size_t i = 0; i < PART_COUNT && err == 0; i++) {
        char from[PATH_MAX], to[PATH_MAX];
        err = fs_path(from, "%s/%020" PRId64 "%s%s", log->folder, base_offset, parts[i],
                      from_suffix);
        if (err == 0)
            err = fs_path(to, "%s/%020" PRId64 "%s%s", log->folder, base_offset, parts[i],
                          to_suffix);
        if (err == 0) err = log->fs->rename(log->fs, from, to);
        if (err == ERR_NOT_FOUND) err = 0;
    }
    return err;
}

/* A transaction index without entries is none. */
static int remove_empty_txn_index(struct partition_log *log, int64_t base_offset, bool *is_there)
{
    char path[PATH_MAX];
    int64_t size = 0;
    int fd = -1;

    int err = segment_path(log->folder, base_offset, ".txnindex", path);
    if (err == 0) err = log->fs->open(log->fs, path, FS_READ, &fd);
    if (err == 0) err = log->fs->size(log->fs, fd, &size);
    if (fd >= 0) log->fs->close(log->fs, fd);
    if (err == 0 && size == 0) err = log->fs->remove(log->fs, path);
    *is_there = size > 0;
    return err == ERR_NOT_FOUND ? 0 : err;
}

/* ---- while the log is open ---- */

/* Where the group's first segment is in the log, if all of it is still there. */
static bool find_group(const struct compaction *compaction, size_t *index)
{
    const struct partition_log *log = compaction->log;
    const struct compaction_source *sources = compaction->sources + compaction->group;
    size_t at = log_segment_at(log, sources[0].base_offset);

    if (log->truncations != compaction->truncations ||
        log->segment_count - at <= compaction->group_count)
        return false;
    for (size_t i = 0; i < compaction->group_count; i++)
        if (log->segments[at + i] != sources[i].segment) return false;
    *index = at;
    return true;
}

/* By (2). A failure leaves everything as it was, unless that fails, too. */
static int make_swap(struct partition_log *log, int64_t base_offset)
{
    int err = rename_parts(log, base_offset, CLEANED_SUFFIX, SWAP_SUFFIX);

    if (err == 0) return log->fs->sync_folder(log->fs, log->folder);
    int undo = segment_remove_files(log->fs, log->folder, base_offset, SWAP_SUFFIX);
    if (undo == 0) undo = log->fs->sync_folder(log->fs, log->folder);
    if (undo == 0) undo = segment_remove_files(log->fs, log->folder, base_offset, CLEANED_SUFFIX);
    return undo == 0 && (err == ERR_NO_SPACE || err == ERR_NO_MEMORY) ? err : ERR_IO;
}

static void set_swap(struct partition_log *log, int64_t from, int64_t below)
{
    pthread_mutex_lock(&log->lock);
    log->swap_from = from;
    log->swap_below = below;
    log->cuts++; /* Who looks for the old files under their names may find others. */
    pthread_cond_broadcast(&log->swapped);
    pthread_mutex_unlock(&log->lock);
}

/* Is a snapshot at that offset one that a checkpoint left, and sees to? */
static bool is_of_checkpoint(const struct partition_log *log, int64_t offset)
{
    bool is_one = offset == log->snapshot_offset;

    for (int i = 0; i < LOG_OLD_SNAPSHOTS; i++)
        is_one = is_one || offset == log->old_snapshots[i];
    return is_one;
}

/* By (3). */
static int remove_old(struct compaction *compaction)
{
    struct partition_log *log = compaction->log;
    const struct compaction_source *sources = compaction->sources + compaction->group;
    int err = 0;

    for (size_t i = 1; i < compaction->group_count && err == 0; i++) {
        int64_t base_offset = sources[i].base_offset;
        char path[PATH_MAX];
        err = segment_rename_deleted(sources[i].segment);
        /* Nothing begins there any more. */
        if (err == 0) err = segment_path(log->folder, base_offset, ".snapshot", path);
        if (err == 0 && !is_of_checkpoint(log, base_offset)) err = log->fs->remove(log->fs, path);
        if (err == ERR_NOT_FOUND) err = 0;
    }
    return err == 0 ? log->fs->sync_folder(log->fs, log->folder) : err;
}

/* By (4), and opens the new one. */
static int take_place(struct compaction *compaction, struct segment **segment)
{
    struct partition_log *log = compaction->log;
    const struct compaction_source *sources = compaction->sources + compaction->group;
    const struct segment *last = sources[compaction->group_count - 1].segment;
    bool indexes_are_good = true, has_aborted = false;

    int err = rename_parts(log, sources[0].base_offset, SWAP_SUFFIX, "");
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0) err = remove_empty_txn_index(log, sources[0].base_offset, &has_aborted);
    if (err == 0)
        err = segment_open(segment, log->shared, sources[0].base_offset, last->created_ms, false,
                           &indexes_are_good);
    if (err == 0 && has_aborted) err = segment_aborted_load(*segment, false);
    if (err == 0 && !indexes_are_good) err = ERR_CORRUPT_MESSAGE;
    if (err != 0) {
        segment_release(*segment);
        return err;
    }
    (*segment)->is_closed = true;
    (*segment)->flushed_size = (*segment)->size;
    (*segment)->indexes_are_flushed = true;
    return 0;
}

static void publish(struct compaction *compaction, size_t index, struct segment *segment)
{
    struct partition_log *log = compaction->log;
    const struct compaction_source *sources = compaction->sources + compaction->group;
    size_t count = compaction->group_count;

    pthread_mutex_lock(&log->lock);
    log->size_bytes += segment->size;
    for (size_t i = 0; i < count; i++)
        log->size_bytes -= sources[i].size;
    log->segments[index] = segment;
    memmove(log->segments + index + 1, log->segments + index + count,
            (log->segment_count - index - count) * sizeof *log->segments);
    log->segment_count -= count - 1;
    pthread_mutex_unlock(&log->lock);
    for (size_t i = 0; i < count; i++)
        log_drop_segment(log, sources[i].segment);
}

static int swap_locked(struct compaction *compaction)
{
    struct partition_log *log = compaction->log;
    const struct compaction_source *sources = compaction->sources + compaction->group;
    int64_t base_offset = sources[0].base_offset;
    struct segment *segment = NULL;
    size_t index;
    int err;

    if (!find_group(compaction, &index)) {
        err = segment_remove_files(log->fs, log->folder, base_offset, CLEANED_SUFFIX);
        return err == 0 ? ERR_CANCELED : err;
    }
    err = make_swap(log, base_offset);
    if (err != 0) return err;
    set_swap(log, base_offset, sources[compaction->group_count - 1].end_offset);
    err = remove_old(compaction);
    if (err == 0) err = take_place(compaction, &segment);
    if (err == 0) publish(compaction, index, segment);
    /* What is half done must not be read on: only opening the log again completes it. */
    if (err != 0) err = log_fail(log, err, "replacing compacted segments");
    set_swap(log, 0, 0);
    return err;
}

int compaction_swap(struct compaction *compaction)
{
    struct partition_log *log = compaction->log;
    size_t behind = compaction->group + compaction->group_count;
    bool is_last = behind == compaction->count ||
                   compaction->sources[behind].base_offset > compaction->latest;

    compaction->is_ready = false;
    pthread_mutex_lock(&log->flush_lock);
    int err = partition_log_failed(log) != 0 ? ERR_KAFKA_STORAGE_ERROR : swap_locked(compaction);
    if (err == 0 && is_last)
        err = data_dir_set_checkpoint(log->dir, CHECKPOINT_CLEANED, log->topic, log->partition,
                                      compaction->latest + 1);
    if (err != 0 && !compaction_is_harmless(err))
        err = log_fail(log, err, "replacing compacted segments");
    pthread_mutex_unlock(&log->flush_lock);
    return err;
}

int compaction_unlink_old(struct compaction *compaction)
{
    const struct compaction_source *sources = compaction->sources + compaction->group;
    int err = 0;

    for (size_t i = 1; i < compaction->group_count && err == 0; i++)
        err = segment_remove_files(compaction->fs, compaction->folder, sources[i].base_offset,
                                   ".deleted");
    return err;
}

/* ---- when it is opened ---- */

struct leftovers {
    int64_t *bases; /* Of .swap files, each once. */
    size_t count;
    int64_t lowest_cleaned; /* INT64_MAX: there is none. */
};

static bool has_suffix(const char *suffix, const char *end)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        size_t length = strlen(parts[i]);
        if (strncmp(suffix, parts[i], length) == 0 && strcmp(suffix + length, end) == 0)
            return true;
    }
    return false;
}

static int note_leftover(void *context, const struct fs_entry *entry)
{
    struct leftovers *leftovers = context;
    const char *suffix = "";
    int64_t base_offset = segment_parse_name(entry->name, &suffix);

    if (base_offset < 0 || entry->is_folder) return 0;
    if (has_suffix(suffix, CLEANED_SUFFIX) && base_offset < leftovers->lowest_cleaned)
        leftovers->lowest_cleaned = base_offset;
    if (!has_suffix(suffix, SWAP_SUFFIX)) return 0;
    for (size_t i = 0; i < leftovers->count; i++)
        if (leftovers->bases[i] == base_offset) return 0;
    int64_t *bases = mem_realloc(leftovers->bases, (leftovers->count + 1) * sizeof *bases);
    if (bases == NULL) return ERR_NO_MEMORY;
    leftovers->bases = bases;
    bases[leftovers->count++] = base_offset;
    return 0;
}

/* Where the batches of a `.log.swap` end; -1: it is not there (any more). */
static int find_end(struct partition_log *log, int64_t base_offset, int64_t *end_offset)
{
    struct record_batch batch;
    struct batch_scan scan;
    char path[PATH_MAX];
    int64_t size, position;
    int fd = -1;

    *end_offset = -1;
    int err = segment_path(log->folder, base_offset, ".log" SWAP_SUFFIX, path);
    if (err == 0) err = log->fs->open(log->fs, path, FS_READ, &fd);
    if (err == 0) err = log->fs->size(log->fs, fd, &size);
    if (err == 0) batch_scan_init(&scan, log->fs, fd, 0, size, true);
    if (err == 0) *end_offset = base_offset;
    while (err == 0) {
        err = batch_scan_next(&scan, &batch, &position);
        if (err == 0) *end_offset = record_batch_last_offset(&batch) + 1;
    }
    if (fd >= 0) log->fs->close(log->fs, fd);
    return err == ERR_NOT_FOUND ? 0 : err;
}

struct old_segments {
    struct partition_log *log;
    int64_t above, below; /* Their bases lie between these. */
};

static int remove_old_file(void *context, const struct fs_entry *entry)
{
    const struct old_segments *old = context;
    struct fs *fs = old->log->fs;
    const char *suffix = "";
    char path[PATH_MAX];
    int64_t base_offset = segment_parse_name(entry->name, &suffix);

    if (entry->is_folder || base_offset <= old->above || base_offset >= old->below ||
        !has_suffix(suffix, ""))
        return 0;
    int err = fs_path(path, "%s/%s", old->log->folder, entry->name);
    return err != 0 ? err : fs->remove(fs, path);
}

/* By (3) and (4). */
static int complete(struct partition_log *log, int64_t base_offset)
{
    struct old_segments old = { log, base_offset, -1 };
    bool has_aborted;

    int err = find_end(log, base_offset, &old.below);
    if (err == 0 && old.below > base_offset)
        err = log->fs->list(log->fs, log->folder, remove_old_file, &old);
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0) err = rename_parts(log, base_offset, SWAP_SUFFIX, "");
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0) err = remove_empty_txn_index(log, base_offset, &has_aborted);
    if (err == 0)
        trace(TRACE_INFO, "storage", "%s: completed the compaction of segment %" PRId64,
              log->folder, base_offset);
    else
        trace(TRACE_ERROR, "storage",
              "%s: the compaction of segment %" PRId64 " cannot be completed: %s", log->folder,
              base_offset, error_text(err));
    return err;
}

static int remove_cleaned(void *context, const struct fs_entry *entry)
{
    struct partition_log *log = context;
    const char *suffix = "";
    char path[PATH_MAX];

    if (entry->is_folder || segment_parse_name(entry->name, &suffix) < 0 ||
        !has_suffix(suffix, CLEANED_SUFFIX))
        return 0;
    int err = fs_path(path, "%s/%s", log->folder, entry->name);
    return err != 0 ? err : log->fs->remove(log->fs, path);
}

int log_complete_swap(struct partition_log *log)
{
    struct leftovers leftovers = { .lowest_cleaned = INT64_MAX };
    bool was_undone = false;

    int err = log->fs->list(log->fs, log->folder, note_leftover, &leftovers);
    for (size_t i = 0; i < leftovers.count && err == 0; i++) {
        if (leftovers.bases[i] < leftovers.lowest_cleaned) continue;
        err = segment_remove_files(log->fs, log->folder, leftovers.bases[i], SWAP_SUFFIX);
        was_undone = true;
    }
    /* The `.cleaned` files are what says that these were from the middle of (2): they go last. */
    if (err == 0 && was_undone) err = log->fs->sync_folder(log->fs, log->folder);
    for (size_t i = 0; i < leftovers.count && err == 0; i++)
        if (leftovers.bases[i] < leftovers.lowest_cleaned) err = complete(log, leftovers.bases[i]);
    if (err == 0) err = log->fs->list(log->fs, log->folder, remove_cleaned, log);
    mem_free(leftovers.bases);
    return err;
}
