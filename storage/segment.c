// SPDX-License-Identifier: Apache-2.0

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "batch_scan.h"
#include "checkpoint.h"
#include "error.h"
#include "segment.h"
#include "segment_aborted.h"

#define OFFSET_DIGITS 20

static const struct segment_hint no_hint = { -1, 0 };

int segment_path(const char *folder, int64_t base_offset, const char *suffix, char path[PATH_MAX])
{
    return fs_path(path, "%s/%020" PRId64 "%s", folder, base_offset, suffix);
}

int64_t segment_parse_name(const char *name, const char **suffix)
{
    int64_t base_offset;

    if (strspn(name, "0123456789") != OFFSET_DIGITS ||
        checkpoint_number((struct str){ name, OFFSET_DIGITS }, 0, &base_offset) != 0)
        return -1;
    *suffix = name + OFFSET_DIGITS;
    return base_offset;
}

static struct segment *segment_new(struct fs *fs, const char *folder, int64_t base_offset,
                                   int64_t now_ms)
{
    struct segment *segment = mem_zalloc(sizeof *segment);

    if (segment == NULL) return NULL;
    segment->fs = fs;
    segment->folder = folder;
    segment->base_offset = base_offset;
    atomic_init(&segment->references, 1);
    pthread_mutex_init(&segment->lock, NULL);
    segment->fd = -1;
    segment_forget_hints(segment);
    segment->top = segment->newest = (struct segment_top){ -1, base_offset };
    segment->first_timestamp = SEGMENT_TIME_UNKNOWN;
    segment->created_ms = now_ms;
    offset_index_init(&segment->offsets, fs, base_offset);
    time_index_init(&segment->times, fs, base_offset);
    return segment;
}

/* Makes an empty file, whatever was there. */
static int make_empty(struct segment *segment, const char *suffix)
{
    char path[PATH_MAX];
    int err = segment_path(segment->folder, segment->base_offset, suffix, path);

    if (err == 0) err = fs_write_file(segment->fs, path, "", 0, false);
    return err;
}

int segment_create(struct segment **segment, struct fs *fs, const char *folder, int64_t base_offset,
                   int64_t now_ms)
{
    struct segment *created = segment_new(fs, folder, base_offset, now_ms);

    if (created == NULL) return ERR_NO_MEMORY;
    /* The .log first: an index without its log would look like a lost segment. */
    int err = make_empty(created, ".log");
    if (err == 0) err = make_empty(created, ".index");
    if (err == 0) err = make_empty(created, ".timeindex");
    if (err != 0) {
        segment_remove_files(fs, folder, base_offset, "");
        segment_release(created);
        return err;
    }
    *segment = created;
    return 0;
}

static int load_indexes(struct segment *segment)
{
    char path[PATH_MAX];

    int err = segment_path(segment->folder, segment->base_offset, ".index", path);
    if (err == 0) err = offset_index_load(&segment->offsets, path, segment->size);
    if (err == 0) err = segment_path(segment->folder, segment->base_offset, ".timeindex", path);
    if (err == 0) err = time_index_load(&segment->times, path);
    if (err == 0 && segment->size == 0 && segment->times.file.count > 0) err = ERR_CORRUPT_MESSAGE;
    return err;
}

int segment_reset_indexes(struct segment *segment)
{
    offset_index_close(&segment->offsets);
    time_index_close(&segment->times);
    offset_index_init(&segment->offsets, segment->fs, segment->base_offset);
    time_index_init(&segment->times, segment->fs, segment->base_offset);
    segment->newest = (struct segment_top){ -1, segment->base_offset };
    int err = make_empty(segment, ".index");
    if (err == 0) err = make_empty(segment, ".timeindex");
    return err;
}

int segment_open(struct segment **segment, struct fs *fs, const char *folder, int64_t base_offset,
                 int64_t now_ms, bool *indexes_are_good)
{
    char path[PATH_MAX];
    int fd = -1;
    struct segment *opened = segment_new(fs, folder, base_offset, now_ms);

    if (opened == NULL) return ERR_NO_MEMORY;
    int err = segment_path(folder, base_offset, ".log", path);
    if (err == 0) err = fs->open(fs, path, FS_READ, &fd);
    if (err == 0) err = fs->size(fs, fd, &opened->size);
    if (fd >= 0) fs->close(fs, fd);
    if (err == 0) {
        err = load_indexes(opened);
        *indexes_are_good = err == 0;
        if (err == ERR_NOT_FOUND || err == ERR_CORRUPT_MESSAGE) err = segment_reset_indexes(opened);
    }
    if (err != 0) {
        segment_release(opened);
        return err;
    }
    opened->newest = (struct segment_top){ opened->times.last.timestamp,
                                           opened->times.last.offset };
    opened->top = opened->newest;
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
    if (segment->fd >= 0) segment->fs->close(segment->fs, segment->fd);
    offset_index_close(&segment->offsets);
    time_index_close(&segment->times);
    txn_index_close(segment->aborted);
    pthread_mutex_destroy(&segment->lock);
    mem_free(segment);
}

int segment_file(struct segment *segment, bool may_block, int *fd)
{
    char path[PATH_MAX];
    int opened = -1;

    pthread_mutex_lock(&segment->lock);
    int current = segment->fd;
    pthread_mutex_unlock(&segment->lock);
    if (current >= 0) {
        *fd = current;
        return 0;
    }
    if (!may_block) return ERR_NEEDS_IO;
    int err = segment_path(segment->folder, segment->base_offset, ".log", path);
    if (err == 0) err = segment->fs->open(segment->fs, path, FS_WRITE, &opened);
    if (err != 0) return err;

    pthread_mutex_lock(&segment->lock);
    int spare = -1;
    if (segment->fd < 0)
        segment->fd = opened;
    else
        spare = opened; /* Somebody else was faster. */
    *fd = segment->fd;
    pthread_mutex_unlock(&segment->lock);
    if (spare >= 0) segment->fs->close(segment->fs, spare);
    return 0;
}

static int open_indexes(struct segment *segment)
{
    char path[PATH_MAX];

    int err = segment_path(segment->folder, segment->base_offset, ".index", path);
    if (err == 0) err = index_file_open_for_append(&segment->offsets.file, path);
    if (err == 0) err = segment_path(segment->folder, segment->base_offset, ".timeindex", path);
    if (err == 0) err = index_file_open_for_append(&segment->times.file, path);
    return err;
}

int segment_prepare_append(struct segment *segment, bool may_block)
{
    int fd;
    int err = segment_file(segment, may_block, &fd);

    if (err == 0 &&
        (!index_file_is_open(&segment->offsets.file) || !index_file_is_open(&segment->times.file)))
        err = may_block ? open_indexes(segment) : ERR_NEEDS_IO;
    if (err == 0) err = index_file_reserve(&segment->offsets.file);
    if (err == 0) err = index_file_reserve(&segment->times.file);
    return err;
}

int segment_load_first_timestamp(struct segment *segment, bool may_block)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t position;
    int fd;

    if (segment->first_timestamp != SEGMENT_TIME_UNKNOWN || segment->size == 0) return 0;
    int err = segment_file(segment, may_block, &fd);
    if (err != 0) return err;
    batch_scan_init(&scan, segment->fs, fd, 0, segment->size, may_block);
    err = batch_scan_next(&scan, &batch, &position);
    if (err == 0) segment->first_timestamp = batch.max_timestamp;
    return err;
}

int segment_index_batch(struct segment *segment, const struct record_batch *batch, int64_t position,
                        int32_t index_interval_bytes)
{
    int64_t last_offset = record_batch_last_offset(batch);

    if (position == 0) segment->first_timestamp = batch->max_timestamp;
    if (batch->max_timestamp > segment->newest.timestamp)
        segment->newest = (struct segment_top){ batch->max_timestamp, last_offset };
    if (position - segment->offsets.last_position <= index_interval_bytes) return 0;
    int err = offset_index_append(&segment->offsets, last_offset, position);
    if (err == 0) err = segment_finish_time_index(segment);
    return err == ERR_NO_SPACE ? 0 : err;
}

int segment_finish_time_index(struct segment *segment)
{
    return time_index_append(&segment->times, segment->newest.timestamp, segment->newest.offset);
}

int segment_write_indexes(struct segment *segment, bool sync)
{
    char path[PATH_MAX];

    int err = segment_path(segment->folder, segment->base_offset, ".index", path);
    if (err == 0) err = index_file_write_out(&segment->offsets.file, path, sync);
    if (err == 0) err = segment_path(segment->folder, segment->base_offset, ".timeindex", path);
    if (err == 0) err = index_file_write_out(&segment->times.file, path, sync);
    if (err == 0) err = segment_aborted_write(segment, sync);
    return err;
}

void segment_close_indexes(struct segment *segment)
{
    index_file_let_go(&segment->offsets.file);
    index_file_let_go(&segment->times.file);
    index_file_shrink(&segment->offsets.file);
    index_file_shrink(&segment->times.file);
}

int segment_truncate(struct segment *segment, int64_t offset, int64_t position)
{
    char path[PATH_MAX];
    int fd;

    int err = segment_file(segment, true, &fd);
    if (err == 0) err = segment->fs->truncate(segment->fs, fd, position);
    if (err == 0) err = segment->fs->sync(segment->fs, fd);
    if (err == 0) err = segment_path(segment->folder, segment->base_offset, ".index", path);
    if (err == 0) err = offset_index_truncate(&segment->offsets, path, offset);
    if (err == 0) err = segment_path(segment->folder, segment->base_offset, ".timeindex", path);
    if (err == 0) err = time_index_truncate(&segment->times, path, offset);
    if (err == 0) err = segment_aborted_truncate(segment, offset);
    segment->reserved_to = position;
    segment->indexes_are_flushed = false;
    return err;
}

static const char *const suffixes[] = { ".index", ".timeindex", ".txnindex", ".log" };

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

int segment_rename_deleted(struct segment *segment)
{
    struct fs *fs = segment->fs;
    int err = 0;

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && err == 0; i++) {
        char from[PATH_MAX], to[PATH_MAX];
        err = segment_path(segment->folder, segment->base_offset, suffixes[i], from);
        if (err == 0) err = fs_path(to, "%s.deleted", from);
        if (err == 0) err = fs->rename(fs, from, to);
        if (err == ERR_NOT_FOUND) err = 0;
    }
    return err;
}

static void add_hint(struct segment *segment, struct segment_hint *hints, unsigned *next,
                     struct segment_hint hint)
{
    pthread_mutex_lock(&segment->lock);
    hints[*next] = hint;
    *next = (*next + 1) % SEGMENT_HINTS;
    pthread_mutex_unlock(&segment->lock);
}

void segment_hint_appended(struct segment *segment, int64_t offset, int64_t position)
{
    add_hint(segment, segment->appended, &segment->next_appended,
             (struct segment_hint){ offset, position });
}

void segment_hint_handed_out(struct segment *segment, int64_t offset, int64_t position)
{
    int64_t known;

    if (!segment_hint(segment, offset, &known))
        add_hint(segment, segment->handed_out, &segment->next_handed_out,
                 (struct segment_hint){ offset, position });
}

void segment_forget_hints(struct segment *segment)
{
    pthread_mutex_lock(&segment->lock);
    for (unsigned i = 0; i < SEGMENT_HINTS; i++)
        segment->appended[i] = segment->handed_out[i] = no_hint;
    pthread_mutex_unlock(&segment->lock);
}

bool segment_hint(struct segment *segment, int64_t offset, int64_t *position)
{
    bool found = false;

    pthread_mutex_lock(&segment->lock);
    for (unsigned i = 0; i < SEGMENT_HINTS && !found; i++) {
        const struct segment_hint *hint = &segment->appended[i];
        if (hint->offset != offset) hint = &segment->handed_out[i];
        if (hint->offset == offset) {
            *position = hint->position;
            found = true;
        }
    }
    pthread_mutex_unlock(&segment->lock);
    return found;
}
