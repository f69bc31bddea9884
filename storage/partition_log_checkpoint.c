// SPDX-License-Identifier: Apache-2.0
/* What is derived from the data, indexes, epochs and producers, on disk: so that what lies below the recovery
 * point is never read again (DESIGN 4.4).
 *
 * A checkpoint begins on the writer's side, where the producers are as the log's end has them, and ends under
 * the flush lock, beside the writer. */

#include <string.h>

#include "alloc.h"
#include "buffer.h"
#include "checkpoint.h"
#include "error.h"
#include "partition_log_inside.h"

int log_write_epochs(struct partition_log *log)
{
    char path[PATH_MAX];
    struct buffer lines;

    buffer_init(&lines);
    pthread_mutex_lock(&log->lock);
    bool is_dirty = log->epochs_are_dirty || log->has_unused_epoch;
    size_t count = log->epochs.count;
    if (is_dirty) epoch_history_print(&log->epochs, &lines);
    log->epochs_are_dirty = log->has_unused_epoch = false;
    pthread_mutex_unlock(&log->lock);
    int err = lines.failed ? ERR_NO_MEMORY : 0;
    if (err == 0 && is_dirty) err = fs_path(path, "%s/leader-epoch-checkpoint", log->folder);
    if (err == 0 && is_dirty)
        err = checkpoint_rename(log->fs, path, &lines, count, !log->leaves_syncs);
    if (err != 0) {
        pthread_mutex_lock(&log->lock);
        log->epochs_are_dirty = true;
        pthread_mutex_unlock(&log->lock);
    }
    buffer_close(&lines);
    return err;
}

static int put_snapshot(struct partition_log *log, int64_t offset, const struct buffer *snapshot,
                        bool sync)
{
    char path[PATH_MAX];

    int err = segment_path(log->folder, offset, ".snapshot", path);
    /* Torn, it is found out by its CRC, and an earlier one is used: so no rename is needed. */
    if (err == 0) err = fs_write_file(log->fs, path, snapshot->data, snapshot->length, sync);
    return err;
}

/* A whole one may be in the page cache that an earlier sync left out: only written again it gets to the disk. */
static int replace_snapshot(struct partition_log *log, const char *path)
{
    char *data = NULL;
    size_t length;

    int err = fs_read_file(log->fs, path, SNAPSHOT_MAX_BYTES, &data, &length);
    if (err == 0) err = fs_rename_over(log->fs, path, data, length, true);
    mem_free(data);
    return err;
}

int log_sync_snapshot(struct partition_log *log, int64_t offset)
{
    char path[PATH_MAX];
    int err = segment_path(log->folder, offset, ".snapshot", path);

    if (err != 0) return err;
    return data_dir_has_failed(log->dir) ? replace_snapshot(log, path)
                                         : fs_sync_file(log->fs, path);
}

int log_write_snapshot(struct partition_log *log, int64_t offset)
{
    struct buffer snapshot;

    pthread_mutex_lock(&log->lock);
    bool is_there = log->snapshot_offset == offset;
    pthread_mutex_unlock(&log->lock);
    /* Torn while it is written again, it would be missing where the recovery point is. */
    if (is_there) return 0;
    buffer_init(&snapshot);
    int err = producer_history_write(log->producers, &snapshot);
    if (err == 0) err = put_snapshot(log, offset, &snapshot, false);
    buffer_close(&snapshot);
    return err;
}

int log_remove_old_snapshot(struct partition_log *log, int64_t offset)
{
    char path[PATH_MAX];

    pthread_mutex_lock(&log->lock);
    bool is_needed = log->segments[log_segment_at(log, offset)]->base_offset == offset;
    pthread_mutex_unlock(&log->lock);
    if (is_needed) return 0;
    int err = segment_path(log->folder, offset, ".snapshot", path);
    if (err == 0) err = log->fs->remove(log->fs, path);
    return err == ERR_NOT_FOUND ? 0 : err;
}

static int drop_old(struct partition_log *log, int64_t *old)
{
    int64_t offset = *old;

    if (offset < 0 || data_dir_may_name(log->dir, log->topic, log->partition, offset)) return 0;
    *old = -1;
    return offset == log->snapshot_offset ? 0 : log_remove_old_snapshot(log, offset);
}

int log_remove_old_snapshots(struct partition_log *log)
{
    int err = 0;

    for (int i = 0; i < LOG_OLD_SNAPSHOTS && err == 0; i++)
        err = drop_old(log, &log->old_snapshots[i]);
    return err;
}

/* There is a new one. */
static int note_snapshot(struct partition_log *log, int64_t offset)
{
    int64_t previous = log->snapshot_offset;

    if (offset == previous) return 0;
    pthread_mutex_lock(&log->lock);
    log->snapshot_offset = offset;
    pthread_mutex_unlock(&log->lock);
    int err = log_remove_old_snapshots(log);
    if (err == 0) err = drop_old(log, &previous);
    for (int i = 0; i < LOG_OLD_SNAPSHOTS && previous >= 0; i++) {
        if (log->old_snapshots[i] >= 0) continue;
        log->old_snapshots[i] = previous;
        previous = -1;
    }
    return err;
}

/* ---- checkpoints */

/* Would a checkpoint change nothing? A log without data needs none: it has nothing to read again, and its
 * names are made to last by the first flush, also of a later life. */
static bool is_at_rest(const struct partition_log *log)
{
    if (log->recovery_point != log->data_end || log->epochs_are_dirty) return false;
    if (log->size_bytes == 0) return true;
    if (log->indexes_are_behind) return false;
    return log->snapshot_offset == log->data_end && !log->is_new && !log->folder_is_dirty;
}

/* Nothing was appended since the last checkpoint: gives up what an active partition has. */
static int rest(struct partition_log *log)
{
    struct segment *active = log_active(log);

    pthread_mutex_lock(&log->lock);
    bool keeps_reserved = log->settings.preallocate;
    pthread_mutex_unlock(&log->lock);
    pthread_mutex_lock(&log->flush_lock);
    int err = keeps_reserved ? 0 : log_trim(log, active);
    pthread_mutex_unlock(&log->flush_lock);
    segment_let_go(active);
    return err;
}

/* The data is safe: without room or memory for the rest the recovery point stays where it is. */
static int checkpoint_failure(struct partition_log *log, int err)
{
    if (err == 0 || err == ERR_NO_SPACE || err == ERR_NO_MEMORY || err == ERR_KAFKA_STORAGE_ERROR)
        return err;
    return log_fail(log, err, "writing a checkpoint");
}

int partition_log_begin_checkpoint(struct partition_log *log, struct log_checkpoint *checkpoint)
{
    struct segment *active = log_active(log);
    size_t with_batches = 0;
    int64_t snapshot;

    buffer_init(&checkpoint->producers);
    buffer_init(&checkpoint->batches);
    checkpoint->offset = -1;
    if (partition_log_failed(log) != 0) return ERR_KAFKA_STORAGE_ERROR;
    if (is_at_rest(log)) return rest(log);
    int err = log->producers_are_stale ? log_reload_producers(log, log->end_offset, &snapshot) : 0;
    if (err == 0) err = log_finish_segment(active);
    if (err == 0) err = producer_history_write(log->producers, &checkpoint->producers);
    if (err == 0)
        err = producer_history_write_batches(log->producers, &checkpoint->batches, &with_batches);
    if (with_batches == 0) buffer_close(&checkpoint->batches);
    if (err == 0) {
        checkpoint->offset = log->data_end;
        checkpoint->segment_base = active->base_offset;
        checkpoint->truncations = log->truncations;
    } else {
        buffer_close(&checkpoint->producers);
        buffer_close(&checkpoint->batches);
    }
    return checkpoint_failure(log, err);
}

/* Those of the segment that was active. It may be gone meanwhile; or closed, after the flush or before. */
static int write_indexes(struct partition_log *log, int64_t base_offset, bool sync)
{
    struct segment *segment = NULL;

    pthread_mutex_lock(&log->lock);
    struct segment *found = log->segments[log_segment_at(log, base_offset)];
    if (found->base_offset == base_offset && !found->indexes_are_flushed)
        segment = segment_keep(found);
    pthread_mutex_unlock(&log->lock);
    int err = segment == NULL ? 0 : segment_write_indexes(segment, sync);
    segment_release(segment);
    return err;
}

/* One that is there is of the same batches, but may come from a roll, which does not sync. */
static int write_checkpoints_snapshot(struct partition_log *log,
                                      const struct log_checkpoint *checkpoint, bool sync)
{
    if (log->snapshot_offset != checkpoint->offset)
        return put_snapshot(log, checkpoint->offset, &checkpoint->producers, sync);
    return sync ? log_sync_snapshot(log, checkpoint->offset) : 0;
}

/* Writes what is derived from the data, so that the data need not be read again. */
static int write_derived(struct partition_log *log, const struct log_checkpoint *checkpoint,
                         bool sync)
{
    int err = write_indexes(log, checkpoint->segment_base, sync);

    if (err == 0) err = log_write_epochs(log);
    if (err == 0) err = write_checkpoints_snapshot(log, checkpoint, sync);
    if (err == 0) err = log_write_batches(log, &checkpoint->batches);
    if (err == 0 && sync) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0)
        err = data_dir_set_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic,
                                      log->partition, checkpoint->offset);
    return err;
}

static int remove_remaking(void *context, const struct fs_entry *entry)
{
    struct partition_log *log = context;
    const char *suffix = "";
    char path[PATH_MAX];

    if (segment_parse_name(entry->name, &suffix) < 0 || strcmp(suffix, ".index.tmp") != 0) return 0;
    int err = fs_path(path, "%s/%s", log->folder, entry->name);
    return err != 0 ? err : log->fs->remove(log->fs, path);
}

/* Indexes that were made again without room for them are on disk now. */
static int forget_remaking(struct partition_log *log, bool sync)
{
    if (!log->indexes_are_behind || !sync) return 0;
    return log->fs->list(log->fs, log->folder, remove_remaking, log);
}

static int end_locked(struct partition_log *log, const struct log_checkpoint *checkpoint, bool sync)
{
    if (checkpoint->truncations != log->truncations) return 0; /* The next one will be right. */
    int err = log_flush_locked(log);
    if (err != 0) return err;
    err = log->indexes_lack_space ? ERR_NO_SPACE : write_derived(log, checkpoint, sync);
    if (err == 0) err = forget_remaking(log, sync);
    if (err != 0) return err;
    if (!sync) data_dir_owe_sync(log->dir);
    log->recovery_point = checkpoint->offset;
    log->indexes_are_behind = false;
    return note_snapshot(log, checkpoint->offset);
}

int partition_log_end_checkpoint(struct partition_log *log, struct log_checkpoint *checkpoint,
                                 bool sync)
{
    int err = 0;

    if (checkpoint->offset < 0) return 0;
    pthread_mutex_lock(&log->flush_lock);
    log->leaves_syncs = !sync;
    err = checkpoint_failure(log, end_locked(log, checkpoint, sync));
    log->leaves_syncs = false;
    pthread_mutex_unlock(&log->flush_lock);
    buffer_close(&checkpoint->producers);
    buffer_close(&checkpoint->batches);
    return err;
}

void partition_log_drop_checkpoint(struct log_checkpoint *checkpoint)
{
    if (checkpoint->offset >= 0) {
        buffer_close(&checkpoint->producers);
        buffer_close(&checkpoint->batches);
    }
    checkpoint->offset = -1;
}

int partition_log_checkpoint(struct partition_log *log)
{
    struct log_checkpoint checkpoint;

    int err = partition_log_begin_checkpoint(log, &checkpoint);
    return err != 0 ? err : partition_log_end_checkpoint(log, &checkpoint, true);
}
