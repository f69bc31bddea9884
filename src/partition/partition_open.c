// SPDX-License-Identifier: Apache-2.0
/* The first job of a partition, which opens its log, and the last one, which closes it or gives its folder
 * up. What holds for all jobs: partition_jobs.c. */

#include <assert.h>
#include <inttypes.h>

#include "error.h"
#include "partition_acks.h"
#include "partition_append.h"
#include "partition_jobs.h"
#include "trace.h"

/* ---- open ---- */

/* They may be changed while the log is being opened; it is told of those that are the newest then. */
static struct topic_settings settings_now(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    struct topic_settings settings = partition->settings;
    pthread_mutex_unlock(&partition->lock);
    return settings;
}

static bool waits_for_flushes_now(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    bool waits = partition_waits_for_flushes(partition);
    pthread_mutex_unlock(&partition->lock);
    return waits;
}

static int open_log(struct partition *partition, struct partition_log **log)
{
    struct partition_log_open_options options = {
        .dir = partition->dir,
        .clock = partition->clock,
        .topic = partition->topic,
        .partition = partition->index,
        .topic_id = partition->topic_id,
        .settings = settings_now(partition),
        .producer_expiration_ms = atomic_load(&partition->owner->producer_expiration_ms),
        .cut_only_from = -1,
    };
    struct partition_log_recovery recovery;
    int err = partition_log_open(log, &options, &recovery);
    if (err == ERR_INCONSISTENT_TOPIC_ID) {
        /* The folder of an earlier topic of that name: the id decides, not the name. It may be
         * somebody's data, so it is put aside and named, not removed. */
        err = data_dir_set_aside(partition->dir, partition->topic, partition->index);
        if (err == 0) err = partition_log_open(log, &options, &recovery);
    }
    /* Of a log that was recovered the names are not known to be on disk; until they are, nobody could see
     * its records. */
    if (err == 0 && waits_for_flushes_now(partition) &&
        partition_log_flushed_offset(*log) < partition_log_end_offset(*log)) {
        err = partition_log_flush(*log);
        if (err != 0) partition_log_close(*log);
        if (err != 0) *log = NULL;
    }
    return err;
}

/* What was noted, as far as the log bears it out. Caller holds the lock. */
static int64_t first_high_watermark(const struct partition *partition)
{
    int64_t noted = 0;
    (void)data_dir_checkpoint(partition->dir, CHECKPOINT_HIGH_WATERMARK, partition->topic,
                              partition->index, &noted);
    int64_t start = partition_log_start_offset(partition->log);
    int64_t end = partition_log_end_offset(partition->log);
    return noted < start ? start : noted > end ? end : noted;
}

void partition_run_open(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, open_job);
    struct partition_log *log = NULL;
    pthread_mutex_lock(&partition->lock);
    /* An end does not wait for thousands of folders to be made. What has one is opened all the same: it
     * may have to be recovered, or deleted. */
    bool is_needed = partition->state != PARTITION_GONE || !partition->is_new;
    if (is_needed) partition->is_new = false;
    pthread_mutex_unlock(&partition->lock);
    int err = is_needed ? open_log(partition, &log) : ERR_CANCELED;
    if (err != 0 && is_needed)
        trace(TRACE_ERROR, "partition", "%s/%s-%" PRId32 ": the log cannot be opened: %s",
              data_dir_path(partition->dir), partition->topic, partition->index, error_text(err));

    pthread_mutex_lock(&partition->lock);
    partition->appending = false;
    partition->log = log;
    if (partition->state == PARTITION_OPENING)
        partition->state = err == 0 ? PARTITION_SERVING : PARTITION_OFFLINE;
    if (partition->state == PARTITION_OFFLINE)
        partition_refuse_queue(partition, ERR_KAFKA_STORAGE_ERROR);
    if (log != NULL) {
        partition->high_watermark = first_high_watermark(partition);
        partition_tell_log(partition);
        partition_advance_high_watermark(partition);
    }
    if (!list_is_empty(&partition->queue)) partition_start_queued_appends(partition);
    waiting_wake_all(&partition->waiting);
    pthread_mutex_unlock(&partition->lock);

    partition->owner->opened(partition->owner, partition, err);
    partition_unref(partition);
}

static void open_now(struct partition *partition)
{
    partition_ref(partition);
    job_lane_submit(&partition->lane, &partition->open_job);
}

/* It may have been retired meanwhile: that is still to be done. */
void partition_open_held(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    partition->open_is_held = false;
    open_now(partition); /* Under the lock: no close may get into the lane before it. */
    bool is_retired = partition->state == PARTITION_GONE;
    pthread_mutex_unlock(&partition->lock);
    if (is_retired) partition_start_closing(partition);
}

void partition_hold_opening(struct partition *partition)
{
    partition->appending = true; /* Not shared yet, or under the caller's control. */
    partition->open_is_held = true;
}

void partition_start_opening(struct partition *partition, struct partition *predecessor)
{
    if (predecessor == NULL) {
        partition->appending = true;
        open_now(partition);
        return;
    }
    partition_hold_opening(partition);
    pthread_mutex_lock(&predecessor->lock);
    assert(!predecessor->is_closed && predecessor->successor == NULL);
    predecessor->successor = partition_ref(partition);
    pthread_mutex_unlock(&predecessor->lock);
}

/* ---- close ---- */

void partition_run_close(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, close_job);
    partition_note_high_watermark(partition);
    pthread_mutex_lock(&partition->lock);
    struct partition_log *log = partition->log;
    partition->log = NULL;
    partition->appending = true; /* For ever. */
    while (partition->log_pins > 0)
        pthread_cond_wait(&partition->unpinned, &partition->lock);
    dirty_window_remove(&partition->owner->window, partition_begin_sync(partition));
    pthread_mutex_unlock(&partition->lock);

    int err = 0;
    if (log == NULL) {
        /* What could not be opened is not in order. */
        err = partition->delete_files || partition->is_new ? 0 : ERR_IO;
    } else if (partition->delete_files) {
        err = partition_log_delete(log);
        if (err != 0)
            trace(TRACE_WARN, "partition", "%s-%" PRId32 ": its folder cannot be given up: %s",
                  partition->topic, partition->index, error_text(err));
    } else {
        struct log_checkpoint checkpoint;
        bool sync = !atomic_load(&partition->owner->syncs_itself);
        err = partition_log_begin_checkpoint(log, &checkpoint);
        if (err == 0) err = partition_log_end_checkpoint(log, &checkpoint, sync);
        partition_log_close(log);
    }

    partition->owner->closed(partition->owner, partition); /* From here on nobody can succeed it. */
    pthread_mutex_lock(&partition->lock);
    partition->is_closed = true;
    partition->close_error = err;
    struct partition *successor = partition->successor;
    partition->successor = NULL;
    pthread_cond_broadcast(&partition->unpinned);
    pthread_mutex_unlock(&partition->lock);
    if (successor != NULL) partition_open_held(successor);
    partition_unref(successor);
    partition_unref(partition);
}

void partition_start_closing(struct partition *partition)
{
    partition_ref(partition);
    job_lane_submit(&partition->lane, &partition->close_job);
}
