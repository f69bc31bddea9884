// SPDX-License-Identifier: Apache-2.0

#include "segment.h"

#include <inttypes.h>

#include "alloc.h"
#include "batch_scan.h"
#include "error.h"
#include "segment_aborted.h"

/* What is known of a .log only while it is open. Under the folder's lock. */
struct segment_file {
    struct open_file file;
    struct segment_hint appended[SEGMENT_HINTS];   /* Where runs were appended last, */
    struct segment_hint handed_out[SEGMENT_HINTS]; /* and where slices ended last. */
    unsigned next_appended, next_handed_out;
};

struct segment *segment_new(struct segment_folder *folder, int64_t base_offset, int64_t now_ms)
{
    struct segment *segment = mem_zalloc(sizeof *segment);

    if (segment == NULL) return NULL;
    segment->folder = segment_folder_keep(folder);
    segment->base_offset = base_offset;
    atomic_init(&segment->references, 1);
    segment->top = segment->newest = (struct segment_top){ -1, base_offset };
    segment->damage.position = SEGMENT_WHOLE;
    segment->first_timestamp = SEGMENT_TIME_UNKNOWN;
    segment->created_ms = now_ms;
    offset_index_init(&segment->offsets, folder, base_offset);
    time_index_init(&segment->times, folder, base_offset);
    return segment;
}

static int path_of(const struct segment *segment, const char *suffix, char path[PATH_MAX])
{
    return segment_path(segment->folder->path, segment->base_offset, suffix, path);
}

/* Makes an empty file, whatever was there. */
static int make_empty(struct segment *segment, const char *suffix)
{
    struct fs *fs = segment->folder->fs;
    char path[PATH_MAX];
    int err = path_of(segment, suffix, path);

    if (err == 0) err = fs_write_file(fs, path, "", 0, false);
    return err;
}

int segment_make_files(struct segment *segment)
{
    /* The .log first: an index without its log would look like a lost segment. */
    int err = make_empty(segment, ".log");

    if (err == 0) err = make_empty(segment, ".index");
    if (err == 0) err = make_empty(segment, ".timeindex");
    if (err != 0)
        segment_remove_files(segment->folder->fs, segment->folder->path, segment->base_offset, "");
    return err;
}

int segment_create(struct segment **segment, struct segment_folder *folder, int64_t base_offset,
                   int64_t now_ms)
{
    struct segment *created = segment_new(folder, base_offset, now_ms);
    int err = created == NULL ? ERR_NO_MEMORY : segment_make_files(created);

    if (err == 0)
        *segment = created;
    else
        segment_release(created);
    return err;
}

static int load_indexes(struct segment *segment, bool may_be_torn)
{
    int err = offset_index_load(&segment->offsets, may_be_torn);

    if (err == 0) err = time_index_load(&segment->times, may_be_torn);
    if (err == 0 && segment->size == 0 && segment->times.file.count > 0) err = ERR_CORRUPT_MESSAGE;
    return err;
}

int segment_reset_indexes(struct segment *segment)
{
    int err = index_file_reset(&segment->offsets.file);

    if (err == 0) err = index_file_reset(&segment->times.file);
    segment->newest = (struct segment_top){ -1, segment->base_offset };
    return err;
}

int segment_open(struct segment **segment, struct segment_folder *folder, int64_t base_offset,
                 int64_t now_ms, bool may_be_torn, bool *indexes_are_good)
{
    char path[PATH_MAX];
    struct segment *opened = segment_new(folder, base_offset, now_ms);

    if (opened == NULL) return ERR_NO_MEMORY;
    int err = path_of(opened, ".log", path);
    if (err == 0) err = folder->fs->path_size(folder->fs, path, &opened->size);
    if (err == 0) {
        err = load_indexes(opened, may_be_torn);
        *indexes_are_good = err == 0;
        if (err == ERR_NOT_FOUND || err == ERR_CORRUPT_MESSAGE) {
            err = segment_aborted_note_loss(opened);
            if (err == 0) err = segment_reset_indexes(opened);
        }
    }
    if (err != 0) {
        segment_release(opened);
        return err;
    }
    if (opened->size > 0) {
        opened->top.timestamp = SEGMENT_TIME_UNKNOWN;
        opened->damage.position = SEGMENT_UNCHECKED;
    }
    opened->newest = opened->top;
    opened->reserved_to = opened->size;
    *segment = opened;
    return 0;
}

struct segment *segment_keep(struct segment *segment)
{
    atomic_fetch_add_explicit(&segment->references, 1, memory_order_relaxed);
    return segment;
}

void segment_release(struct segment *segment)
{
    if (segment == NULL ||
        atomic_fetch_sub_explicit(&segment->references, 1, memory_order_acq_rel) != 1)
        return;
    file_cache_let_go(segment->folder->files, &segment->file, &segment->folder->lock);
    offset_index_close(&segment->offsets);
    time_index_close(&segment->times);
    txn_index_close(segment->aborted);
    segment_folder_release(segment->folder);
    mem_free(segment);
}

int segment_pin(struct segment *segment, bool may_block, int *fd)
{
    struct segment_folder *folder = segment->folder;
    struct open_file *file;
    char path[PATH_MAX];
    int err = 0;

    if (!file_cache_pin(&segment->file, &folder->lock, &file)) {
        if (!may_block) return ERR_NEEDS_IO;
        err = path_of(segment, ".log", path);
        if (err == 0)
            err = file_cache_open_file(folder->files, path, FS_WRITE, sizeof(struct segment_file),
                                       &segment->file, &folder->lock, &file);
    }
    if (err == 0) *fd = file->fd;
    return err;
}

void segment_unpin(struct segment *segment)
{
    file_cache_unpin(segment->folder->files, segment->file);
}

void segment_let_go(struct segment *segment)
{
    file_cache_let_go(segment->folder->files, &segment->file, &segment->folder->lock);
    segment_close_indexes(segment);
}

void segment_close_indexes(struct segment *segment)
{
    index_file_let_go(&segment->offsets.file);
    index_file_let_go(&segment->times.file);
    segment_aborted_let_go(segment);
}

int segment_begin_append(struct segment *segment, bool may_block, int *fd)
{
    struct segment_top top;
    int err = segment_pin(segment, may_block, fd);

    if (err != 0) return err;
    if (segment->newest.timestamp == SEGMENT_TIME_UNKNOWN) {
        err = segment_find_newest(segment, segment->size, may_block, &top);
        if (err == 0) segment->newest = top;
    }
    if (err == 0) err = index_file_begin_append(&segment->offsets.file, may_block);
    if (err == 0) {
        err = index_file_begin_append(&segment->times.file, may_block);
        if (err != 0) index_file_end_append(&segment->offsets.file);
    }
    if (err != 0) segment_unpin(segment);
    return err;
}

void segment_end_append(struct segment *segment)
{
    index_file_end_append(&segment->times.file);
    index_file_end_append(&segment->offsets.file);
    segment_unpin(segment);
}

/* The largest timestamp of all batches, by their headers. */
static int walk_for_newest(struct segment *segment, int64_t size, struct segment_top *top)
{
    struct segment_top found = { -1, segment->base_offset };
    struct batch_scan scan;
    struct record_batch batch;
    int64_t position;
    int fd;

    int err = segment_pin(segment, true, &fd);
    if (err != 0) return err;
    batch_scan_init(&scan, segment->folder->fs, fd, 0, size, true);
    while ((err = batch_scan_next(&scan, &batch, &position)) == 0)
        if (record_batch_newest(&batch) > found.timestamp)
            found = (struct segment_top){ batch.max_timestamp, record_batch_last_offset(&batch) };
    segment_unpin(segment);
    if (err != ERR_NOT_FOUND && err != ERR_CORRUPT_MESSAGE) return err;
    *top = found;
    return 0;
}

int segment_find_newest(struct segment *segment, int64_t size, bool may_block,
                        struct segment_top *top)
{
    struct time_index_entry entry;
    int err = time_index_find_last(&segment->times, may_block, &entry);

    if (err == 0) *top = (struct segment_top){ entry.timestamp, entry.offset };
    if (err != ERR_NOT_FOUND && err != ERR_CORRUPT_MESSAGE) return err;
    return may_block ? walk_for_newest(segment, size, top) : ERR_NEEDS_IO;
}

int segment_load_first_timestamp(struct segment *segment, bool may_block)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t position;
    int fd;

    if (segment->first_timestamp != SEGMENT_TIME_UNKNOWN || segment->size == 0) return 0;
    int err = segment_pin(segment, may_block, &fd);
    if (err != 0) return err;
    batch_scan_init(&scan, segment->folder->fs, fd, 0, segment->size, may_block);
    err = batch_scan_next(&scan, &batch, &position);
    segment_unpin(segment);
    if (err == 0) segment->first_timestamp = batch.max_timestamp;
    return err;
}

int segment_index_batch(struct segment *segment, const struct record_batch *batch, int64_t position,
                        int32_t index_interval_bytes)
{
    int64_t last_offset = record_batch_last_offset(batch);

    if (position == 0) segment->first_timestamp = batch->max_timestamp;
    if (record_batch_newest(batch) > segment->newest.timestamp)
        segment->newest = (struct segment_top){ batch->max_timestamp, last_offset };
    if (position - offset_index_last_position(&segment->offsets) <= index_interval_bytes) return 0;
    int err = offset_index_append(&segment->offsets, last_offset, position);
    if (err == 0) err = segment_finish_time_index(segment);
    return err == ERR_NO_SPACE ? 0 : err;
}

int segment_finish_time_index(struct segment *segment)
{
    return time_index_append(&segment->times, segment->newest.timestamp, segment->newest.offset);
}

bool segment_indexes_have_changed(struct segment *segment)
{
    return index_file_has_changed(&segment->offsets.file) ||
           index_file_has_changed(&segment->times.file);
}

int segment_write_indexes(struct segment *segment, bool sync)
{
    /* The index of offsets last: where it reaches to the end the other one is complete, too. */
    int err = index_file_write_out(&segment->times.file, sync);

    if (err == 0) err = index_file_write_out(&segment->offsets.file, sync);
    if (err == 0) err = segment_aborted_write(segment, sync);
    return err;
}

void segment_spill_indexes(struct segment *segment)
{
    if (index_file_write_out(&segment->times.file, false) == 0 &&
        index_file_write_out(&segment->offsets.file, false) == 0)
        segment_close_indexes(segment);
}

int segment_hold(struct segment *segment, struct segment_held *held)
{
    int fd;

    *held = (struct segment_held){ 0 };
    int err = segment_pin(segment, true, &fd);
    if (err == 0) held->log = segment->file;
    if (err == 0) err = index_file_hold(&segment->offsets.file, &held->offsets);
    if (err == 0) err = index_file_hold(&segment->times.file, &held->times);
    if (err != 0) segment_unhold(segment, held);
    return err;
}

void segment_unhold(struct segment *segment, struct segment_held *held)
{
    index_file_unhold(&segment->times.file, held->times);
    index_file_unhold(&segment->offsets.file, held->offsets);
    if (held->log != NULL) file_cache_unpin(segment->folder->files, held->log);
    *held = (struct segment_held){ 0 };
}

int segment_truncate(struct segment *segment, int64_t offset, int64_t position)
{
    struct fs *fs = segment->folder->fs;
    int fd;

    int err = segment_pin(segment, true, &fd);
    if (err != 0) return err;
    err = fs->truncate(fs, fd, position);
    if (err == 0) err = fs->sync(fs, fd);
    segment_unpin(segment);
    if (err == 0) err = offset_index_truncate(&segment->offsets, offset);
    if (err == 0) err = time_index_truncate(&segment->times, offset);
    if (err == 0) err = segment_aborted_truncate(segment, offset);
    segment->reserved_to = position;
    segment->indexes_are_flushed = false;
    return err;
}

static const char *const suffixes[] = { ".index",    ".timeindex",    ".index.tmp",
                                        ".txnindex", ".txnindex.tmp", ".log" };

int segment_remove_files(struct fs *fs, const char *folder, int64_t base_offset, const char *suffix)
{
    int err = 0;

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && err == 0; i++) {
        char path[PATH_MAX];
        err = fs_path(path, "%s/%020" PRId64 "%s%s", folder, base_offset, suffixes[i], suffix);
        if (err == 0) err = fs->remove(fs, path);
        if (err == ERR_NOT_FOUND) err = 0;
    }
    return err;
}

static int rename_deleted(struct segment *segment, const char *suffix)
{
    struct fs *fs = segment->folder->fs;
    char from[PATH_MAX], to[PATH_MAX];

    int err = path_of(segment, suffix, from);
    if (err == 0) err = fs_path(to, "%s.deleted", from);
    if (err == 0) err = fs->rename(fs, from, to);
    return err == ERR_NOT_FOUND ? 0 : err;
}

int segment_rename_deleted(struct segment *segment)
{
    struct fs *fs = segment->folder->fs;

    int err = rename_deleted(segment, ".index");
    if (err == 0) err = rename_deleted(segment, ".timeindex");
    if (err == 0) err = rename_deleted(segment, ".index.tmp");
    if (err == 0) err = rename_deleted(segment, ".log");
    /* If a power cut brought the .log back without it, nothing would have been aborted there. */
    if (err == 0 && segment->aborted != NULL) err = fs->sync_folder(fs, segment->folder->path);
    if (err == 0) err = rename_deleted(segment, ".txnindex");
    return err != 0 ? err : rename_deleted(segment, ".txnindex.tmp");
}

/* ---- hints */

/* Locks; NULL while the .log is not open. */
static struct segment_file *lock(struct segment *segment)
{
    pthread_mutex_lock(&segment->folder->lock);
    return (struct segment_file *)(void *)segment->file; /* Its first member. */
}

static void unlock(struct segment *segment)
{
    pthread_mutex_unlock(&segment->folder->lock);
}

/* Is `offset` among them? */
static bool find_hint(const struct segment_file *file, int64_t offset, int64_t *position)
{
    for (unsigned i = 0; i < SEGMENT_HINTS; i++) {
        const struct segment_hint *hint = &file->appended[i];
        if (hint->offset != offset) hint = &file->handed_out[i];
        if (hint->offset == offset) {
            *position = hint->position;
            return true;
        }
    }
    return false;
}

static void add_hint(struct segment_hint *hints, unsigned *next, struct segment_hint hint)
{
    hints[*next] = hint;
    *next = (*next + 1) % SEGMENT_HINTS;
}

void segment_hint_appended(struct segment *segment, int64_t offset, int64_t position)
{
    struct segment_file *file = lock(segment);

    if (file != NULL)
        add_hint(file->appended, &file->next_appended, (struct segment_hint){ offset, position });
    unlock(segment);
}

void segment_hint_handed_out(struct segment *segment, int64_t offset, int64_t position)
{
    int64_t known;

    struct segment_file *file = lock(segment);

    if (file != NULL && !find_hint(file, offset, &known))
        add_hint(file->handed_out, &file->next_handed_out,
                 (struct segment_hint){ offset, position });
    unlock(segment);
}

void segment_forget_hints(struct segment *segment)
{
    static const struct segment_hint none;
    struct segment_file *file = lock(segment);

    for (unsigned i = 0; i < SEGMENT_HINTS && file != NULL; i++)
        file->appended[i] = file->handed_out[i] = none;
    unlock(segment);
}

bool segment_hint(struct segment *segment, int64_t offset, int64_t *position)
{
    const struct segment_file *file = lock(segment);
    bool found = file != NULL && find_hint(file, offset, position);

    unlock(segment);
    return found;
}
