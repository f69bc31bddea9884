// SPDX-License-Identifier: Apache-2.0
/* Taking away: truncation, beginning anew, a higher start, deletion. All by the writer, under the flush
 * lock, and always in this order: first nobody sees it any more, then it is gone on disk. A failure on
 * the way leaves a log that is out of use until it is opened again. */

#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "partition_log_inside.h"
#include "segment_end.h"

/* The recovery point must be down, on disk, before offsets below it are written a second time: what
 * lies below it is trusted. */
static int lower_recovery_point(struct partition_log *log, int64_t offset)
{
    int64_t cleaned;
    int err = 0;

    if (data_dir_checkpoint(log->dir, CHECKPOINT_CLEANED, log->topic, log->partition, &cleaned) &&
        cleaned > offset)
        err = data_dir_set_checkpoint(log->dir, CHECKPOINT_CLEANED, log->topic, log->partition,
                                      offset);
    if (log->recovery_point <= offset || err != 0) return err;
    err = data_dir_set_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic, log->partition,
                                  offset);
    if (err == 0) err = data_dir_write_checkpoints(log->dir);
    if (err == 0)
        log->recovery_point = offset;
    else /* It stays as it is. */
        data_dir_set_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic, log->partition,
                                log->recovery_point);
    return err;
}

/* Takes the segments from `index` on out of the list; the caller has their references. The first of
 * them is returned, the others follow it in the array, which is not touched before the next append. */
static size_t hide_segments(struct partition_log *log, size_t index)
{
    size_t count = log->segment_count - index;

    for (size_t i = index; i < log->segment_count; i++)
        log->size_bytes -= log->segments[i]->size;
    log->segment_count = index;
    return count;
}

static void drop_hidden(struct partition_log *log, struct segment **hidden, size_t count)
{
    for (size_t i = 0; i < count; i++)
        log_drop_segment(log, hidden[i]);
}

/* By the strict rule no segment may be behind a gap, also after a power cut, which may keep any of the removals. */
static int remove_one(struct partition_log *log, const struct segment *segment)
{
    int err = segment_remove_files(log->fs, log->folder, segment->base_offset, "");

    return err == 0 && log->is_strict ? log->fs->sync_folder(log->fs, log->folder) : err;
}

static int remove_hidden(struct partition_log *log, struct segment **hidden, size_t count)
{
    int err = 0;

    /* From the end, so that what a crash leaves is a log without a gap. */
    for (size_t i = count; i > 0 && err == 0; i--)
        err = remove_one(log, hidden[i - 1]);
    drop_hidden(log, hidden, count);
    return err;
}

/* All but the last segment, of which the first is the last in the array: from the beginning, so that what a
 * crash leaves ends where the log did. */
static int remove_all_hidden(struct partition_log *log, struct segment **hidden, size_t count)
{
    int err = count > 0 ? remove_one(log, hidden[count - 1]) : 0;

    for (size_t i = 0; i + 1 < count && err == 0; i++)
        err = remove_one(log, hidden[i]);
    drop_hidden(log, hidden, count);
    return err;
}

/* Publishes the lower end; the active segment ends at `position`. */
static void publish_cut(struct partition_log *log, size_t index, int64_t offset, int64_t position,
                        size_t *hidden_count)
{
    pthread_mutex_lock(&log->lock);
    *hidden_count = hide_segments(log, index + 1);
    struct segment *active = log->segments[index];
    log->size_bytes -= active->size - position;
    active->size = position;
    active->damage.position = SEGMENT_UNCHECKED;
    active->is_closed = false;
    segment_forget_hints(active);
    log->end_offset = offset;
    if (log->flushed_offset > offset) log->flushed_offset = offset;
    if (log->start_offset > offset) log->start_offset = offset;
    log->cuts++;
    log->truncations++;
    if (epoch_history_truncate(&log->epochs, offset)) log->epochs_are_dirty = true;
    pthread_mutex_unlock(&log->lock);
}

/* A truncation. What it needs memory for comes before anything is changed: it can be refused then, and tried
 * again. */
struct cut {
    int64_t offset;           /* The new end, */
    int64_t data_end;         /* behind the last batch that is left, */
    int64_t position;         /* where that ends */
    size_t index;             /* in this segment, */
    struct segment_held held; /* whose files are open, */
    struct segment_top top;   /* and its newest record then. */
    struct log_reload reload;
};

/* The segment's largest timestamp after a cut: what its time index says, and the batches behind. */
static int find_cut_top(const struct segment_view *view, struct cut *cut)
{
    struct segment_view left = *view;

    left.size = cut->position;
    left.end_offset =
        INT64_MAX; /* As if there were something behind: only then is it looked for. */
    return segment_find_top(&left, left.segment->base_offset, cut->offset, &cut->top);
}

static int prepare_cut(struct partition_log *log, struct cut *cut)
{
    struct segment_view view;

    cut->index = log_segment_at(log, cut->offset);
    pthread_mutex_lock(&log->lock);
    log_view(log, cut->index, true, &view);
    pthread_mutex_unlock(&log->lock);
    int err = segment_find_position(&view, cut->offset, &cut->position);
    if (err == 0) err = segment_end_offset(view.segment, cut->position, &cut->data_end);
    if (err == 0) err = find_cut_top(&view, cut);
    if (err == 0) err = segment_hold(view.segment, &cut->held);
    if (err == 0) err = log_prepare_reload(log, cut->offset, &cut->reload);
    if (err == 0) err = lower_recovery_point(log, cut->data_end);
    segment_release(view.segment);
    return err;
}

/* The recovery point is where the log was cut: closed there, the segment is trusted with its indexes. */
static int sync_cut_indexes(struct partition_log *log, struct segment *active)
{
    int err = log_finish_segment(active);

    if (err == 0) err = segment_write_indexes(active, true);
    if (err != ERR_NO_SPACE && err != ERR_NO_MEMORY) return err;
    log->indexes_are_behind = true; /* They are in memory, or can be made again. */
    return 0;
}

static int cut_active(struct partition_log *log, const struct cut *cut)
{
    struct segment *active = log_active(log);
    int err = segment_truncate(active, cut->offset, cut->position);

    if (err != 0) return err;
    active->flushed_size = active->flushed_size < cut->position ? active->flushed_size
                                                                : cut->position;
    data_dir_give_reserve(log->dir, active->reserve_taken);
    active->reserve_taken = 0;
    if (cut->position == 0) active->first_timestamp = SEGMENT_TIME_UNKNOWN;
    pthread_mutex_lock(&log->lock);
    active->top = active->newest = cut->top;
    pthread_mutex_unlock(&log->lock);
    return sync_cut_indexes(log, active);
}

/* If it is lost, an earlier one and the data say the same. */
static int sync_cut_snapshot(struct partition_log *log, int64_t offset)
{
    int err = log_sync_snapshot(log, offset);

    return err == ERR_NO_SPACE || err == ERR_NO_MEMORY ? 0 : err;
}

/* An epoch that was cut off could seem to be one without records, if it stays in the file. That does no more
 * harm than a longer way to where the leader's log divides from ours. */
static int write_cut_epochs(struct partition_log *log)
{
    int err = log_write_epochs(log);

    return err == ERR_NO_SPACE || err == ERR_NO_MEMORY ? 0 : err;
}

static int carry_out_cut(struct partition_log *log, struct cut *cut)
{
    size_t hidden_count = 0;

    publish_cut(log, cut->index, cut->offset, cut->position, &hidden_count);
    int err = remove_hidden(log, &log->segments[log->segment_count], hidden_count);
    log->data_end = cut->data_end;
    if (err == 0) err = cut_active(log, cut);
    if (err == 0) err = log_remove_snapshots(log, -1, cut->offset);
    if (err == 0) err = write_cut_epochs(log);
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0) err = log_finish_reload(log, &cut->reload);
    /* The recovery point is there now, and what a roll wrote is not on disk, but for its name. */
    if (err == 0 && log->snapshot_offset == cut->data_end)
        err = sync_cut_snapshot(log, cut->data_end);
    return err;
}

static int truncate_locked(struct partition_log *log, int64_t offset)
{
    struct cut cut = { .offset = offset };
    int err = prepare_cut(log, &cut);
    bool is_refused = err == ERR_NO_SPACE || err == ERR_NO_MEMORY;
    struct segment *segment = log->segments[cut.index];

    if (err == 0) err = carry_out_cut(log, &cut);
    if (err != 0) log_drop_reload(log, &cut.reload);
    segment_unhold(segment, &cut.held);
    return err == 0 || is_refused ? err : log_fail(log, err, "truncating");
}

/* The start is raised before anything is gone, so that whatever a crash leaves below it is not wanted. The
 * recovery point goes no higher than it was: what is left of the old files is not trusted. */
static int announce_restart(struct partition_log *log, int64_t offset)
{
    int64_t recovery_point = log->recovery_point < offset ? log->recovery_point : offset;

    int err = data_dir_set_checkpoint(log->dir, CHECKPOINT_LOG_START, log->topic, log->partition,
                                      offset);
    if (err == 0)
        err = data_dir_set_checkpoint(log->dir, CHECKPOINT_CLEANED, log->topic, log->partition, -1);
    if (err == 0)
        err = data_dir_set_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic,
                                      log->partition, recovery_point);
    if (err == 0) err = data_dir_write_checkpoints(log->dir);
    if (err == 0) {
        log->recovery_point = recovery_point;
        return 0;
    }
    /* The log goes on as it is: nobody may write down later that it has begun anew. */
    data_dir_set_checkpoint(log->dir, CHECKPOINT_LOG_START, log->topic, log->partition,
                            log->start_offset);
    data_dir_set_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic, log->partition,
                            log->recovery_point);
    return err;
}

/* Without room or memory the recovery point on disk stays lower, which is right, too. */
static int note_restarted(struct partition_log *log, int64_t offset)
{
    int err = data_dir_set_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic,
                                      log->partition, offset);

    if (err == 0) err = data_dir_write_checkpoints(log->dir);
    return err == ERR_NO_SPACE || err == ERR_NO_MEMORY ? 0 : err;
}

/* `created` is the new segment, without files so far; it is taken over. */
static int carry_out_restart(struct partition_log *log, int64_t offset, struct segment *created)
{
    size_t hidden_count;

    /* The old files first: the new segment may have the name of one of them. Until there is a new
     * segment, readers find the last old one, cut to nothing. */
    struct segment *last = log_active(log);
    publish_cut(log, log->segment_count - 1, offset, 0, &hidden_count);
    pthread_mutex_lock(&log->lock);
    log->start_offset = log->flushed_offset = offset;
    if (epoch_history_truncate(&log->epochs, 0)) log->epochs_are_dirty = true;
    struct segment *first = log->segments[0];
    log->segments[0] = last;
    log->segments[log->segment_count - 1] = first;
    hidden_count = hide_segments(log, 1);
    pthread_mutex_unlock(&log->lock);
    /* Snapshots of the old log must not outlive it, or they would be believed of the new one. */
    int err = log_remove_snapshots(log, -1, -1);
    if (err == 0) err = log_write_batches(log, &(struct buffer){ 0 });
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0)
        err = remove_all_hidden(log, &log->segments[1], hidden_count);
    else
        drop_hidden(log, &log->segments[1], hidden_count);
    if (err == 0) err = segment_remove_files(log->fs, log->folder, last->base_offset, "");
    if (err == 0) err = segment_make_files(created);
    if (err == 0) {
        pthread_mutex_lock(&log->lock);
        log->segments[0] = created;
        log->folder_is_dirty = true;
        pthread_mutex_unlock(&log->lock);
        log_drop_segment(log, last);
    } else {
        segment_release(created);
    }
    if (err == 0 && log->is_new) err = log_sync_topic_id(log);
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    if (err == 0) err = note_restarted(log, offset);
    if (err == 0) {
        log->recovery_point = log->data_end = offset;
        err = log_reload_after_restart(log, offset);
    }
    return err;
}

static int restart_locked(struct partition_log *log, int64_t offset)
{
    struct segment *created = segment_new(log->shared, offset, clock_wall_ms(log->clock));
    int err = created == NULL ? ERR_NO_MEMORY : announce_restart(log, offset);
    bool is_refused = err == ERR_NO_SPACE || err == ERR_NO_MEMORY;

    if (err == 0)
        err = carry_out_restart(log, offset, created);
    else
        segment_release(created);
    return err == 0 || is_refused ? err : log_fail(log, err, "beginning anew");
}

int partition_log_restart_at(struct partition_log *log, int64_t offset)
{
    pthread_mutex_lock(&log->flush_lock);
    int err = partition_log_failed(log) != 0 ? ERR_KAFKA_STORAGE_ERROR
                                             : restart_locked(log, offset);
    pthread_mutex_unlock(&log->flush_lock);
    return err;
}

int partition_log_truncate(struct partition_log *log, int64_t offset)
{
    if (offset >= log->end_offset)
        return partition_log_failed(log) != 0 ? ERR_KAFKA_STORAGE_ERROR : 0;
    if (offset < log->segments[0]->base_offset) return partition_log_restart_at(log, offset);
    pthread_mutex_lock(&log->flush_lock);
    int err = partition_log_failed(log) != 0 ? ERR_KAFKA_STORAGE_ERROR
                                             : truncate_locked(log, offset);
    pthread_mutex_unlock(&log->flush_lock);
    return err;
}

int partition_log_raise_start(struct partition_log *log, int64_t offset)
{
    if (offset > log->end_offset) return ERR_OFFSET_OUT_OF_RANGE;
    if (offset <= log->start_offset) return 0;
    pthread_mutex_lock(&log->flush_lock);
    int err = data_dir_set_checkpoint(log->dir, CHECKPOINT_LOG_START, log->topic, log->partition,
                                      offset);
    if (err == 0) {
        pthread_mutex_lock(&log->lock);
        log->start_offset = offset;
        if (epoch_history_raise_start(&log->epochs, offset)) log->epochs_are_dirty = true;
        pthread_mutex_unlock(&log->lock);
    }
    pthread_mutex_unlock(&log->flush_lock);
    return err;
}

int partition_log_delete(struct partition_log *log)
{
    int err = data_dir_give_up(log->dir, log->topic, log->partition);
    log_free(log);
    return err;
}
