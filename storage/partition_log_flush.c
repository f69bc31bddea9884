// SPDX-License-Identifier: Apache-2.0
/* Making the log durable. All of it under the flush lock, so one at a time, beside the writer: the list
 * of segments may grow meanwhile, and nothing else about it changes.
 *
 * A flush makes the data durable, and what is needed to find it: names in the folder. Indexes, epochs
 * and producers can all be had from the data above the recovery point again, so they need only be on
 * disk before that point moves: at a checkpoint (partition_log_checkpoint.c). */

#include "alloc.h"
#include "error.h"
#include "partition_log_inside.h"
#include "trace.h"

/* Space is reserved for a partition that has this much data, and at most so much at once. */
#define RESERVE_FROM_BYTES (64 * 1024)
#define RESERVE_MAX_BYTES  (64 * 1024 * 1024)

int log_trim(struct partition_log *log, struct segment *segment)
{
    int fd;
    int err = 0;

    if (log->reserve_least > 0 && segment == log_active(log)) return 0;
    if (segment->reserved_to > segment->size) {
        err = segment_pin(segment, true, &fd);
        if (err == 0) {
            err = log->fs->truncate(log->fs, fd, segment->size);
            segment_unpin(segment);
        }
    }
    if (err == 0) segment->reserved_to = segment->size;
    data_dir_give_reserve(log->dir, segment->reserve_taken);
    segment->reserve_taken = 0;
    return err;
}

static int reserve(struct partition_log *log, struct segment *segment, int64_t from, int64_t length)
{
    int fd;
    int err = segment_pin(segment, true, &fd);

    if (err != 0) return err;
    err = log->fs->reserve(log->fs, fd, from, length);
    segment_unpin(segment);
    return err;
}

/* What one segment was when its flush began. */
struct flushing {
    struct segment *segment;
    int64_t size;
    int64_t segment_bytes;
    bool preallocates;
    bool is_closed;
};

/* All that the segment may become, for a topic that asks for it: by its operator's wish, so the folder's
 * budget does not count. */
static void preallocate(struct partition_log *log, const struct flushing *flushing)
{
    struct segment *segment = flushing->segment;
    int64_t from = segment->reserved_to > flushing->size ? segment->reserved_to : flushing->size;
    if (from < flushing->segment_bytes &&
        reserve(log, segment, from, flushing->segment_bytes - from) == 0)
        segment->reserved_to = flushing->segment_bytes;
}

/* Reserves space behind the active segment's end, as much again as it has (DESIGN 4.2): fewer, longer
 * extents, and less to do for the file system in an append. Done here and not by the writer, since it
 * may wait for the disk. It keeps the file's size, so the writer may go on beside it; if the segment
 * is rolled meanwhile, the next flush gives the space back. */
static void reserve_ahead(struct partition_log *log, const struct flushing *flushing)
{
    struct segment *segment = flushing->segment;
    int64_t size = flushing->size, segment_bytes = flushing->segment_bytes;
    int64_t wanted = size < RESERVE_MAX_BYTES ? size : RESERVE_MAX_BYTES;
    int64_t from = segment->reserved_to > size ? segment->reserved_to : size;
    int64_t used = segment->reserve_taken - (from - size);

    if (used > 0) { /* Written meanwhile: no longer reserved, but used. */
        data_dir_give_reserve(log->dir, used);
        segment->reserve_taken -= used;
    }
    if (size + wanted > segment_bytes) wanted = segment_bytes - size;
    int64_t more = size + wanted - from;
    if (size < RESERVE_FROM_BYTES || more <= 0 || from - size > wanted / 2) return;
    if (!data_dir_take_reserve(log->dir, more)) return;
    if (reserve(log, segment, from, more) == 0) {
        segment->reserved_to = from + more;
        segment->reserve_taken += more;
    } else { /* No harm: the space is then found when it is written. */
        data_dir_give_reserve(log->dir, more);
    }
}

/* What must be there whatever else the disk is full of. */
static void reserve_least(struct partition_log *log, struct segment *segment, int64_t size)
{
    if (log->reserve_least == 0 || segment->reserved_to - size >= log->reserve_least / 2) return;
    if (reserve(log, segment, size, log->reserve_least) == 0)
        segment->reserved_to = size + log->reserve_least;
}

void partition_log_keep_reserved(struct partition_log *log, int64_t bytes)
{
    pthread_mutex_lock(&log->flush_lock);
    log->reserve_least = bytes;
    reserve_least(log, log_active(log), log_active(log)->size);
    pthread_mutex_unlock(&log->flush_lock);
}

static int sync_data(struct partition_log *log, const struct flushing *flushing)
{
    struct segment *segment = flushing->segment;
    int fd;

    if (segment->flushed_size >= flushing->size) return 0;
    if (log->leaves_syncs) return 0;
    int err = segment_pin(segment, true, &fd);
    if (err != 0) return err;
    err = log->fs->sync(log->fs, fd);
    segment_unpin(segment);
    if (err == 0) segment->flushed_size = flushing->size;
    return err;
}

static int flush_segment(struct partition_log *log, const struct flushing *flushing)
{
    struct segment *segment = flushing->segment;
    int err = sync_data(log, flushing);

    if (err != 0) return err;
    if (!flushing->is_closed) {
        if (flushing->preallocates)
            preallocate(log, flushing);
        else
            reserve_ahead(log, flushing);
        reserve_least(log, segment, flushing->size);
        return 0;
    }
    err = log_trim(log, segment);
    if (err == 0 && !segment->indexes_are_flushed) {
        /* Made when the disk was full they may lack their last entry. */
        if (log->indexes_are_behind) err = log_finish_segment(segment);
        if (err == 0) err = segment_write_indexes(segment, !log->leaves_syncs);
        segment->indexes_are_flushed = err == 0;
        segment_close_indexes(segment);
        if (err == ERR_NO_SPACE) { /* They can be had from the data again (DESIGN 4.7). */
            log->indexes_lack_space = true;
            err = 0;
        }
    }
    return err;
}

/* Needs a flush nothing of the segment? Under both locks. */
static bool is_clean(const struct segment *segment)
{
    return segment->is_closed && segment->flushed_size >= segment->size &&
           segment->indexes_are_flushed && segment->reserved_to <= segment->size;
}

/* The first of all, by index, with base above `behind`; the active one if there is none. Under both locks. */
static size_t first_unclean(const struct partition_log *log, int64_t behind)
{
    size_t index = log_segment_at(log, behind);

    while (index + 1 < log->segment_count &&
           (log->segments[index]->base_offset <= behind || is_clean(log->segments[index])))
        index++;
    return index;
}

/* The first segment that may have something to flush, with base above `behind`; false: none. */
static bool next_to_flush(struct partition_log *log, int64_t behind, int64_t below,
                          struct flushing *flushing)
{
    size_t index;

    pthread_mutex_lock(&log->lock);
    index = log->segment_count - 1; /* The active one is never clean. */
    while (index > 0 && log->segments[index - 1]->base_offset > behind &&
           !is_clean(log->segments[index - 1]))
        index--;
    if (log->indexes_are_behind) /* Perhaps also those of one in front of clean ones. */
        index = first_unclean(log, behind);
    struct segment *segment = log->segments[index];
    bool is_found = segment->base_offset > behind && segment->base_offset <= below;
    if (is_found) {
        *flushing = (struct flushing){ segment_keep(segment), segment->size,
                                       log->settings.segment_bytes, log->settings.preallocate,
                                       segment->is_closed };
    }
    pthread_mutex_unlock(&log->lock);
    return is_found;
}

int log_sync_topic_id(struct partition_log *log)
{
    char path[PATH_MAX];
    int err = fs_path(path, "%s/partition.metadata", log->folder);

    if (err == 0) err = fs_sync_file(log->fs, path);
    return err == ERR_NOT_FOUND ? 0 : err; /* A log without topic id has none. */
}

/* Makes the names in the folder durable, and in a new log the folder's own. */
static int sync_names(struct partition_log *log)
{
    int err = 0;

    if (log->leaves_syncs) return 0;
    pthread_mutex_lock(&log->lock);
    bool is_dirty = log->folder_is_dirty;
    log->folder_is_dirty = false;
    pthread_mutex_unlock(&log->lock);
    if (log->is_new) err = log_sync_topic_id(log);
    if (err == 0 && (is_dirty || log->is_new)) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0 && log->is_new) err = log->fs->sync_folder(log->fs, data_dir_path(log->dir));
    if (err == 0) log->is_new = false;
    if (err != 0 && is_dirty) {
        pthread_mutex_lock(&log->lock);
        log->folder_is_dirty = true;
        pthread_mutex_unlock(&log->lock);
    }
    return err;
}

int log_flush_locked(struct partition_log *log)
{
    struct flushing flushing;
    int64_t behind = -1;
    int err = 0;

    pthread_mutex_lock(&log->lock);
    int failed = log->failed;
    int64_t end_offset = log->end_offset;
    pthread_mutex_unlock(&log->lock);
    if (failed != 0) return ERR_KAFKA_STORAGE_ERROR;
    log->indexes_lack_space = false;
    while (err == 0 && next_to_flush(log, behind, end_offset, &flushing)) {
        behind = flushing.segment->base_offset;
        err = flush_segment(log, &flushing);
        segment_release(flushing.segment);
    }
    if (err == 0) err = sync_names(log);
    if (err == ERR_NO_MEMORY) return err; /* Nothing is lost, and the next one does it. */
    if (err != 0) return log_fail(log, err, "flushing");
    if (log->leaves_syncs) return 0;
    pthread_mutex_lock(&log->lock);
    if (log->flushed_offset < end_offset) log->flushed_offset = end_offset;
    pthread_mutex_unlock(&log->lock);
    return 0;
}

int partition_log_flush(struct partition_log *log)
{
    pthread_mutex_lock(&log->flush_lock);
    int err = log_flush_locked(log);
    pthread_mutex_unlock(&log->flush_lock);
    return err;
}
