// SPDX-License-Identifier: Apache-2.0
/* Every job holds a reference to its partition from submit to end.
 *
 *  (1) Writers of the log on the pool (open, queued appends, checkpoint, retention, close) go through
 *      the partition's lane, one at a time, and hold `appending` so that no loop appends meanwhile.
 *  (2) A flush may run beside a writer: it goes to the pool directly, and a roll does not wait for its
 *      fsync. So does the second half of a checkpoint, in which all of its syncs are.
 *  (3) A folder's name belongs to one partition at a time: the next one with that name is opened when
 *      the one before is closed, without a thread that waits for it. */

#include "partition_jobs.h"

#include <inttypes.h>

#include "error.h"
#include "partition_acks.h"
#include "partition_append.h"
#include "trace.h"

bool partition_begin_writing(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    bool may_write = partition->log != NULL;
    if (may_write) partition->appending = true;
    pthread_mutex_unlock(&partition->lock);
    return may_write;
}

/* Caller holds the lock. */
static void end_writing(struct partition *partition)
{
    partition->appending = partition->append_waits; /* It comes next in the lane. */
    if (partition->log != NULL) partition_tell_log(partition);
    partition_note_failure(partition);
    partition_advance_high_watermark(partition); /* It may have flushed. */
    if (!list_is_empty(&partition->queue)) partition_start_queued_appends(partition);
}

void partition_end_writing(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    end_writing(partition);
    pthread_mutex_unlock(&partition->lock);
}

int64_t partition_begin_sync(struct partition *partition)
{
    int64_t bytes = partition->unsynced_bytes;
    partition->unsynced_bytes = 0;
    return bytes;
}

/* Without memory nothing was synced, and the log goes on: the next round tries it again. Caller holds the
 * lock. */
static void end_sync(struct partition *partition, int64_t bytes, int err)
{
    if (err == ERR_NO_MEMORY && partition->state == PARTITION_SERVING) {
        partition->unsynced_bytes += bytes;
        partition_note_dirty(partition);
    } else {
        dirty_window_remove(&partition->owner->window, bytes);
    }
}

void partition_note_failure(struct partition *partition)
{
    if (partition->state != PARTITION_SERVING || partition->log == NULL ||
        partition_log_failed(partition->log) == 0)
        return;
    trace(TRACE_ERROR, "partition", "%s-%" PRId32 ": offline, its disk failed: %s",
          partition->topic, partition->index, error_text(partition_log_failed(partition->log)));
    partition_go_offline(partition);
    partition->owner->failed(partition->owner, partition);
}

void partition_go_offline(struct partition *partition)
{
    partition->state = PARTITION_OFFLINE;
    /* It will not be synced any more, and others need the room. */
    dirty_window_remove(&partition->owner->window, partition_begin_sync(partition));
    waiting_wake_all(&partition->waiting);
    partition_refuse_queue(partition, ERR_KAFKA_STORAGE_ERROR);
    partition_refuse_acks(partition, ERR_KAFKA_STORAGE_ERROR);
}

/* ---- queued appends ---- */

void partition_start_queued_appends(struct partition *partition)
{
    if (partition->appending) return; /* Whoever writes goes on with the queue when it ends. */
    partition->appending = partition->append_waits = true;
    partition_ref(partition);
    job_lane_submit(&partition->lane, &partition->append_job);
}

/* What came while the pool wrote is written with the lock held, if it is little: then the queue is
 * empty and the loops go back to appending by themselves. Otherwise a busy partition would
 * stay with the pool for ever, since there is always something that came meanwhile. */
#define DRAIN_BYTES (4u << 20)

/* More is dirty on this disk than may be: what this partition has of it is synced before it writes more.
 * Caller holds the lock, and is the log's writer. */
static void keep_to_window(struct partition *partition)
{
    if (!dirty_window_is_full(&partition->owner->window) || partition->unsynced_bytes == 0 ||
        atomic_load(&partition->owner->is_stopping))
        return;
    int64_t bytes = partition_begin_sync(partition);
    pthread_mutex_unlock(&partition->lock);
    int err = partition_log_flush(partition->log); /* A failure is the log's to remember. */
    pthread_mutex_lock(&partition->lock);
    end_sync(partition, bytes, err);
    partition_note_failure(partition);
    partition_advance_high_watermark(partition);
}

static void run_appends(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, append_job);
    bool keeps_lock = false;
    pthread_mutex_lock(&partition->lock);
    partition->append_waits = false;
    while (partition->log != NULL && !list_is_empty(&partition->queue)) {
        if (!keeps_lock) keep_to_window(partition);
        partition_append_queued(partition, keeps_lock);
        /* What could not be written without waiting is next. */
        keeps_lock = !keeps_lock && partition->queue_bytes <= DRAIN_BYTES &&
                     !partition_disk_is_slow(partition);
    }
    end_writing(partition);
    pthread_mutex_unlock(&partition->lock);
    partition_unref(partition);
}

void partition_refuse_queue(struct partition *partition, int err)
{
    struct list *node;
    partition->queue_bytes = 0;
    while ((node = list_pop_front(&partition->queue)) != NULL) {
        struct append *append = LIST_OWNER(node, struct append, node);
        append->log.err = err;
        loop_post(append->loop, &append->message);
    }
}

/* ---- flush, checkpoint, retention ---- */

static void run_flush(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, flush_job);
    pthread_mutex_lock(&partition->lock);
    /* At the end closing syncs, of many partitions together; only who waits for this one needs it. */
    bool is_needed = !atomic_load(&partition->owner->is_stopping) ||
                     partition_waits_for_flushes(partition);
    struct partition_log *log = is_needed ? partition_pin_log(partition) : NULL;
    partition->flush_again = false; /* What is there now is flushed now. */
    int64_t bytes = log == NULL ? 0 : partition_begin_sync(partition);
    pthread_mutex_unlock(&partition->lock);
    int err = log == NULL ? 0 : partition_log_flush(log);

    pthread_mutex_lock(&partition->lock);
    end_sync(partition, bytes, err);
    partition->needs_checkpoint = err == 0;
    partition_note_failure(partition);
    partition_advance_high_watermark(partition); /* One sync answers all who waited for it. */
    bool runs_again = partition->log != NULL && partition->state == PARTITION_SERVING && err == 0 &&
                      (partition->flush_again || partition_flush_is_due(partition));
    partition->flush_runs = runs_again;
    pthread_mutex_unlock(&partition->lock);
    if (log != NULL) partition_unpin_log(partition);
    if (runs_again)
        executor_submit(partition->disk, job); /* With the reference. */
    else
        partition_unref(partition);
}

/* From here on another may begin. Gives up the job's reference. */
static void checkpoint_is_over(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    partition->checkpoint_waits = false;
    pthread_mutex_unlock(&partition->lock);
    partition_unref(partition);
}

static void run_checkpoint(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, checkpoint_job);
    pthread_mutex_lock(&partition->lock);
    partition->needs_checkpoint = false;
    pthread_mutex_unlock(&partition->lock);
    partition->checkpoint.offset = -1;
    if (partition_begin_writing(partition)) {
        /* A failure is remembered by the log and noticed when the writing ends. */
        (void)partition_log_begin_checkpoint(partition->log, &partition->checkpoint);
        partition_end_writing(partition);
    }
    if (partition->checkpoint.offset >= 0)
        executor_submit(partition->disk, &partition->end_checkpoint_job); /* With the reference. */
    else
        checkpoint_is_over(partition);
}

static void run_end_checkpoint(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, end_checkpoint_job);
    pthread_mutex_lock(&partition->lock);
    struct partition_log *log = partition_pin_log(partition);
    pthread_mutex_unlock(&partition->lock);
    if (log != NULL) {
        (void)partition_log_end_checkpoint(log, &partition->checkpoint, true);
        pthread_mutex_lock(&partition->lock);
        partition_note_failure(partition);
        partition_advance_high_watermark(partition); /* It has flushed. */
        pthread_mutex_unlock(&partition->lock);
        partition_unpin_log(partition);
    } else {
        partition_log_drop_checkpoint(&partition->checkpoint); /* Closing makes one of its own. */
    }
    checkpoint_is_over(partition);
}

static void run_retain(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, retain_job);
    pthread_mutex_lock(&partition->lock);
    partition->retain_waits = false;
    int64_t high_watermark = partition->high_watermark;
    pthread_mutex_unlock(&partition->lock);
    if (partition_begin_writing(partition)) {
        int64_t next_ms;
        int err = partition_log_retain(partition->log, high_watermark,
                                       clock_wall_ms(partition->clock), &next_ms);
        if (err != 0)
            trace(TRACE_WARN, "partition", "%s-%" PRId32 ": retention failed: %s", partition->topic,
                  partition->index, error_text(err));
        partition_end_writing(partition);
    }
    partition_unref(partition);
}

static void start_flush(struct partition *partition)
{
    if (partition->log == NULL) return;
    partition->flush_runs = true;
    partition_ref(partition);
    executor_submit(partition->disk, &partition->flush_job);
}

void partition_flush_if_due(struct partition *partition)
{
    if (!partition->flush_runs && partition_flush_is_due(partition)) start_flush(partition);
}

void partition_flush_soon(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    partition->flush_again = partition->flush_runs;
    if (!partition->flush_runs) start_flush(partition);
    pthread_mutex_unlock(&partition->lock);
}

static void lane_soon(struct partition *partition, struct job *job, bool *waits)
{
    pthread_mutex_lock(&partition->lock);
    bool start = !*waits && partition->log != NULL;
    if (start) *waits = true;
    pthread_mutex_unlock(&partition->lock);
    if (!start) return;
    partition_ref(partition);
    job_lane_submit(&partition->lane, job);
}

void partition_checkpoint_soon(struct partition *partition)
{
    lane_soon(partition, &partition->checkpoint_job, &partition->checkpoint_waits);
}

static void run_expire(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, expire_job);
    pthread_mutex_lock(&partition->lock);
    partition->expire_waits = false;
    pthread_mutex_unlock(&partition->lock);
    if (partition_begin_writing(partition)) {
        int64_t expiration_ms = atomic_load(&partition->owner->producer_expiration_ms);
        partition_log_expire_producers(partition->log,
                                       clock_wall_ms(partition->clock) - expiration_ms);
        partition_end_writing(partition);
    }
    partition_unref(partition);
}

bool partition_expire_soon(struct partition *partition)
{
    bool may_have_some = false;
    if (atomic_load(&partition->owner->producer_expiration_ms) <= 0) return false;
    pthread_mutex_lock(&partition->lock);
    if (partition->state == PARTITION_OPENING || partition->appending)
        may_have_some = true;
    else if (partition->log != NULL)
        may_have_some = producer_history_count(partition_log_producers(partition->log)) > 0;
    pthread_mutex_unlock(&partition->lock);
    if (may_have_some) lane_soon(partition, &partition->expire_job, &partition->expire_waits);
    return may_have_some;
}

void partition_retain_soon(struct partition *partition)
{
    lane_soon(partition, &partition->retain_job, &partition->retain_waits);
}

void partition_jobs_init(struct partition *partition)
{
    job_init(&partition->open_job, partition_run_open);
    job_init(&partition->append_job, run_appends);
    partition->append_job.is_urgent = true;
    job_init(&partition->flush_job, run_flush);
    job_init(&partition->checkpoint_job, run_checkpoint);
    job_init(&partition->end_checkpoint_job, run_end_checkpoint);
    job_init(&partition->retain_job, run_retain);
    job_init(&partition->expire_job, run_expire);
    job_init(&partition->close_job, partition_run_close);
}
