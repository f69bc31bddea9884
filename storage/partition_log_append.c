// SPDX-License-Identifier: Apache-2.0
/* Appending: the writer's path, on a loop most of the time.
 *
 *  (1) Batches of a chain that go to the same segment are written with one call: a run.
 *  (2) A run becomes visible, all of it or nothing, after it was written: under the lock.
 *  (3) Whatever can fail for lack of memory fails before the write.
 *  (4) Producers are told of a batch when it joins the run, since the next batch of the run may be the
 *      same producer's. If the run is then not written, they are read again from the log. */

#include <inttypes.h>

#include "alloc.h"
#include "error.h"
#include "partition_log_inside.h"
#include "segment_aborted.h"
#include "segment_end.h"
#include "trace.h"

#define RUN_MAX 256 /* Well below the system's limit for one write. */

struct run {
    struct partition_log *log;
    int64_t now_ms;
    int32_t leader_epoch;
    bool may_block;
    bool refuse_rest;         /* A write failed: what follows must not overtake it. */
    struct segment *prepared; /* The active segment, while it can be appended to, */
    int fd;                   /* and its .log. */

    struct log_append *batches[RUN_MAX];
    struct iovec parts[RUN_MAX];
    int count;
    int64_t bytes;
    int64_t next_offset;
    int32_t last_epoch;
    int aborted; /* Transactions that batches of the run end so. */
    bool has_new_epoch;
    bool has_producer;
};

static void refuse(struct log_append *append, int err)
{
    append->err = err;
    append->is_repeat = false;
    append->base_offset = append->last_offset = append->append_time_ms = -1;
    append->ended.producer_id = -1;
}

static void run_start(struct run *run)
{
    run->count = 0;
    run->bytes = 0;
    run->aborted = 0;
    run->next_offset = run->log->end_offset;
    run->last_epoch = epoch_history_last(&run->log->epochs);
    run->has_new_epoch = false;
    run->has_producer = false;
}

/* The run was not written. A full disk is no failure of the log (DESIGN 4.7). */
static void run_undo(struct run *run, int err, const char *doing)
{
    struct partition_log *log = run->log;
    struct segment *active = log_active(log);

    if (err == ERR_NO_SPACE) {
        if (!log->is_full)
            trace(TRACE_WARN, "storage", "%s: the disk is full: batches are refused", log->folder);
        log->is_full = true;
        err = log->fs->truncate(log->fs, run->fd, active->size);
    }
    if (err != 0) log_fail(log, err, doing);
    for (int i = 0; i < run->count; i++)
        refuse(run->batches[i], ERR_KAFKA_STORAGE_ERROR);
    log->producers_are_stale = log->producers_are_stale || run->has_producer;
    run->refuse_rest = true;
}

static void run_publish(struct run *run)
{
    struct partition_log *log = run->log;
    struct segment *active = log_active(log);

    pthread_mutex_lock(&log->lock);
    log->epochs_are_dirty |= log->has_unused_epoch;
    for (int i = 0; i < run->count; i++) {
        const struct record_batch *batch = &run->batches[i]->batch;
        const struct ended_transaction *ended = &run->batches[i]->ended;
        if (log_begin_epoch(log, batch->leader_epoch, batch->base_offset))
            log->epochs_are_dirty = true;
        if (ended->producer_id >= 0)
            ended_transactions_add(&log->ended, ended->first_offset, ended->last_offset);
    }
    active->size += run->bytes;
    active->top = active->newest;
    log->size_bytes += run->bytes;
    log->end_offset = log->data_end = run->next_offset;
    log->first_open_offset = producer_history_first_open(log->producers);
    segment_hint_appended(active, log->end_offset, active->size);
    pthread_mutex_unlock(&log->lock);
}

/* Before the marker can be seen: who sees it finds what it ended. */
static void note_aborted(struct segment *active, const struct ended_transaction *ended)
{
    if (ended->producer_id < 0 || !ended->is_aborted) return;
    segment_aborted_append(active, &(struct aborted_transaction){
                                       .producer_id = ended->producer_id,
                                       .first_offset = ended->first_offset,
                                       .last_offset = ended->last_offset,
                                       .last_stable_offset = ended->last_stable_offset,
                                   });
}

/* Writes what has been gathered and starts anew. */
static void run_write(struct run *run)
{
    struct partition_log *log = run->log;
    struct segment *active = log_active(log);
    int64_t position = active->size;

    if (run->count == 0) return;
    int err = log->fs->write(log->fs, run->fd, run->parts, run->count, position);
    if (err != 0) {
        run_undo(run, err, "writing");
    } else {
        log->is_full = false;
        for (int i = 0; i < run->count && err == 0; i++) {
            const struct record_batch *batch = &run->batches[i]->batch;
            err = segment_index_batch(active, batch, position, log->settings.index_interval_bytes);
            position += (int64_t)batch->size;
            note_aborted(active, &run->batches[i]->ended);
        }
        if (err == 0)
            run_publish(run);
        else
            run_undo(run, err, "writing an index");
    }
    run_start(run);
}

static int run_prepare(struct run *run)
{
    struct segment *active = log_active(run->log);
    int err = segment_begin_append(active, run->may_block, &run->fd);

    if (err == 0) run->prepared = active;
    return err;
}

static void run_end(struct run *run)
{
    if (run->prepared != NULL) segment_end_append(run->prepared);
    run->prepared = NULL;
}

/* A number below `bound` that is always the same for this segment. */
static int64_t jitter(const struct partition_log *log, const struct segment *segment, int64_t bound)
{
    uint64_t mixed = ((uint64_t)segment->base_offset << 20) + (uint64_t)log->partition + 1;

    mixed = (mixed ^ (mixed >> 31)) * UINT64_C(0x9e3779b97f4a7c15);
    return bound <= 0 ? 0 : (int64_t)((mixed >> 1) % (uint64_t)bound);
}

static bool is_old(const struct run *run, const struct segment *active,
                   const struct record_batch *batch)
{
    const struct topic_settings *settings = &run->log->settings;
    int64_t first = active->size > 0 ? active->first_timestamp
                                     : run->batches[0]->batch.max_timestamp;
    int64_t segment_ms = settings->segment_ms;
    /* What is in the active segment cannot be compacted in time (KIP-354). */
    if ((settings->cleanup_policy & CLEANUP_COMPACT) &&
        segment_ms > settings->max_compaction_lag_ms)
        segment_ms = settings->max_compaction_lag_ms;
    int64_t age = first >= 0 && batch->max_timestamp >= 0 ? batch->max_timestamp - first
                                                          : run->now_ms - active->created_ms;

    int64_t jitter_ms = settings->segment_jitter_ms < segment_ms ? settings->segment_jitter_ms
                                                                 : segment_ms;
    return age > segment_ms - jitter(run->log, active, jitter_ms);
}

/* Kafka's rule for when a batch begins a new segment. */
static bool must_roll(const struct run *run, const struct record_batch *batch)
{
    const struct segment *active = log_active(run->log);
    const struct topic_settings *settings = &run->log->settings;
    int64_t size = active->size + run->bytes;
    uint32_t index_bytes = (uint32_t)settings->segment_index_bytes;
    uint32_t pending = (uint32_t)run->count;

    /* Offsets in the indexes are counted from the base offset, in 31 bits. */
    if (record_batch_last_offset(batch) - active->base_offset > INT32_MAX) return true;
    if (size == 0) return false;
    return size > settings->segment_bytes - (int64_t)batch->size || is_old(run, active, batch) ||
           active->offsets.file.count + pending >= index_bytes / OFFSET_INDEX_ENTRY_SIZE ||
           active->times.file.count + pending + 1 >= index_bytes / TIME_INDEX_ENTRY_SIZE;
}

/* Makes sure that the active segment can take the batch. ERR_NEEDS_IO: not without waiting. */
static int make_room(struct run *run, const struct record_batch *batch)
{
    struct partition_log *log = run->log;

    if (!must_roll(run, batch)) return 0;
    run_write(run);
    if (run->refuse_rest || !must_roll(run, batch)) return 0;
    if (!run->may_block) return ERR_NEEDS_IO;
    /* Where the one before ends, even if a replica's batch leaves a hole: by that the recovery knows that
     * nothing is missing between them. */
    int64_t base_offset = log->data_end;
    if (record_batch_last_offset(batch) - base_offset > INT32_MAX) base_offset = batch->base_offset;
    run_end(run);
    int err = log_roll(log, base_offset, run->now_ms);
    if (err == 0) err = run_prepare(run);
    if (err == 0) return 0;
    if (err != ERR_NO_SPACE && err != ERR_NO_MEMORY) log_fail(log, err, "beginning a segment");
    run->refuse_rest = true;
    return 0;
}

/* Room to remember the batch's leader epoch; at most one new one per run. */
static int reserve_epoch(struct run *run, int32_t epoch)
{
    struct partition_log *log = run->log;

    if (epoch <= run->last_epoch) return 0;
    if (run->has_new_epoch) run_write(run);
    pthread_mutex_lock(&log->lock);
    int err = epoch_history_reserve(&log->epochs);
    pthread_mutex_unlock(&log->lock);
    if (err == 0) {
        run->has_new_epoch = true;
        run->last_epoch = epoch;
    }
    return err;
}

/* Which transaction does the batch end? If it was aborted, there must be room to say so. */
static int prepare_end(struct run *run, struct log_append *append)
{
    int err = producer_history_ends(run->log->producers, &append->batch, &append->ended);

    if (err != 0 || append->ended.producer_id < 0) return err;
    if (!append->ended.is_aborted) return 0;
    err = segment_aborted_reserve(log_active(run->log), (size_t)run->aborted + 1, run->may_block);
    if (err == 0) run->aborted++;
    if (err == 0 || err == ERR_NEEDS_IO || err == ERR_NO_MEMORY) return err;
    run->refuse_rest = true;
    return err == ERR_NO_SPACE ? ERR_KAFKA_STORAGE_ERROR
                               : log_fail(run->log, err, "writing a transaction index");
}

/* Is it a batch that may follow what is there? Fills in the answer if not. */
static bool is_acceptable(struct run *run, struct log_append *append)
{
    struct partition_log *log = run->log;
    struct producer_verdict verdict = { 0 };

    if (!append->from_client) {
        /* A replica's batch keeps its offsets, which may leave a hole where the leader has one. */
        append->err = append->batch.base_offset < run->next_offset ? ERR_OFFSET_OUT_OF_RANGE : 0;
        return append->err == 0;
    }
    if (append->batch.size > (size_t)log->settings.segment_bytes) {
        append->err = ERR_RECORD_LIST_TOO_LARGE;
        return false;
    }
    producer_history_check(log->producers, &append->batch, &verdict);
    append->err = verdict.err;
    append->is_repeat = verdict.err == 0 && verdict.is_repeat;
    if (append->is_repeat) {
        append->base_offset = verdict.base_offset;
        append->last_offset = verdict.last_offset;
        append->append_time_ms =
            verdict.timestamp; /* As Kafka, whatever the topic's kind of time. */
    }
    if (append->err != 0 || append->is_repeat) return false;
    if (data_dir_has_room(log->dir, (int64_t)append->batch.size)) return true;
    append->err = ERR_KAFKA_STORAGE_ERROR; /* Clients try again. */
    return false;
}

/* Gives a client's batch its place. */
static void set_position(struct run *run, struct log_append *append)
{
    struct record_batch *batch = &append->batch;

    batch->base_offset = run->next_offset;
    batch->leader_epoch = run->leader_epoch;
    record_batch_set_position(append->data, batch->base_offset, batch->leader_epoch);
    if (!run->log->settings.log_append_time) return;
    record_batch_set_log_append_time(append->data, batch->size, run->now_ms);
    record_batch_read_header(batch, append->data, batch->size);
    append->append_time_ms = run->now_ms;
}

static void run_join(struct run *run, struct log_append *append)
{
    struct record_batch *batch = &append->batch;

    run->batches[run->count] = append;
    run->parts[run->count] = (struct iovec){ append->data, batch->size };
    run->count++;
    run->bytes += (int64_t)batch->size;
    run->next_offset = record_batch_last_offset(batch) + 1;
    run->has_producer = run->has_producer || batch->producer_id >= 0;
    append->base_offset = batch->base_offset;
    append->last_offset = record_batch_last_offset(batch);
}

/* Answers a batch, or lets it join the run. ERR_NEEDS_IO: neither. */
static int take(struct run *run, struct log_append *append)
{
    struct record_batch *batch = &append->batch;

    refuse(append, run->refuse_rest ? ERR_KAFKA_STORAGE_ERROR : 0);
    if (run->refuse_rest) return 0;
    if (!is_acceptable(run, append)) {
        /* The batch that it repeats may be one of the run: then it is only true once that is written. */
        if (append->is_repeat && run->has_producer) {
            run_write(run);
            if (run->refuse_rest) refuse(append, ERR_KAFKA_STORAGE_ERROR);
        }
        return 0;
    }
    if (run->count == RUN_MAX) run_write(run);
    if (append->from_client) set_position(run, append);
    int err = make_room(run, batch);
    if (err != 0) return err;
    if (!run->refuse_rest) append->err = reserve_epoch(run, batch->leader_epoch);
    if (!run->refuse_rest && append->err == 0) append->err = prepare_end(run, append);
    if (append->err == ERR_NEEDS_IO) return ERR_NEEDS_IO;
    if (!run->refuse_rest && append->err == 0)
        append->err = producer_history_add(run->log->producers, batch, run->now_ms);
    if (run->refuse_rest)
        refuse(append, ERR_KAFKA_STORAGE_ERROR);
    else if (append->err == 0)
        run_join(run, append);
    return 0;
}

/* Whatever must be true before the first batch. */
static int get_ready(struct run *run)
{
    struct partition_log *log = run->log;
    int64_t snapshot;
    int err = 0;

    if (partition_log_failed(log) != 0) return ERR_KAFKA_STORAGE_ERROR;
    if (log->producers_are_stale)
        err = run->may_block ? log_reload_producers(log, log->end_offset, &snapshot) : ERR_NEEDS_IO;
    if (err == 0) err = run_prepare(run);
    if (err == 0 && log->tail_is_unchecked)
        err = run->may_block ? log_check_tail(log) : ERR_NEEDS_IO;
    if (err == 0) err = segment_load_first_timestamp(log_active(log), run->may_block);
    if (err != 0 && err != ERR_NEEDS_IO && err != ERR_NO_MEMORY && err != ERR_NO_SPACE)
        err = log_fail(log, err, "preparing to append");
    return err == ERR_NO_SPACE ? ERR_KAFKA_STORAGE_ERROR : err;
}

int partition_log_append(struct partition_log *log, struct log_append *first, int32_t leader_epoch,
                         int64_t now_ms, bool may_block, struct log_append **rest)
{
    struct log_append *append = first;
    struct run run = {
        .log = log,
        .now_ms = now_ms,
        .leader_epoch = leader_epoch,
        .may_block = may_block,
    };

    *rest = NULL;
    int err = get_ready(&run);
    if (err != 0) run_end(&run);
    if (err == ERR_NEEDS_IO) {
        *rest = first;
        return err;
    }
    if (err != 0) { /* Nothing can be appended: everybody hears why. */
        for (; append != NULL; append = append->next)
            refuse(append, err);
        return 0;
    }
    run_start(&run);
    for (; append != NULL && err == 0; append = err == 0 ? append->next : append)
        err = take(&run, append);
    run_write(&run);
    run_end(&run);
    *rest = append;
    return err;
}

int log_check_tail(struct partition_log *log)
{
    struct segment *active = log_active(log);
    int64_t end_offset = active->base_offset;
    int err = active->size == 0 ? 0 : segment_end_offset(active, active->size, &end_offset);

    if (err == 0 && end_offset != log->data_end) err = ERR_CORRUPT_MESSAGE;
    if (err == 0) log->tail_is_unchecked = false;
    if (err == ERR_CORRUPT_MESSAGE)
        trace(
            TRACE_ERROR, "storage",
            "%s/%020" PRId64 ".log does not end with offset %" PRId64
            ", as it did when it was left in order: nothing is appended to it until a restart has "
            "recovered it",
            log->folder, active->base_offset, log->data_end - 1);
    return err;
}

/* Ends the active segment: its indexes are complete, and the producers of its end are remembered. The indexes
 * leave memory here and not when they are flushed: there may be thousands of segments before that. Without
 * room for them they stay, and the flush tries it again. */
static int finish_segment(struct partition_log *log, struct segment *active, int64_t base_offset)
{
    int64_t snapshot;
    int err = log_finish_segment(active);

    if (err == 0) segment_spill_indexes(active);
    /* A snapshot that knew a batch which was refused would have its repeat acknowledged. */
    if (err == 0 && log->producers_are_stale)
        err = log_reload_producers(log, log->end_offset, &snapshot);
    if (err == 0) err = log_write_snapshot(log, base_offset);
    return err;
}

/* By the strict rule a segment with data is behind whole ones, so these are on disk before it is begun. */
static int sync_before_next(struct partition_log *log, struct segment *active)
{
    int fd;
    int err = segment_pin(active, true, &fd);

    if (err != 0) return err;
    err = log->fs->sync(log->fs, fd);
    segment_unpin(active);
    return err != 0 ? err : log->fs->sync_folder(log->fs, log->folder);
}

int log_roll(struct partition_log *log, int64_t base_offset, int64_t now_ms)
{
    struct segment *active = log_active(log);
    struct segment *created = NULL;
    bool was_empty = active->size == 0;

    int err = log_reserve_segment(log);
    if (err == 0 && log->tail_is_unchecked) err = log_check_tail(log);
    if (err == 0 && was_empty && active->base_offset == base_offset) return 0;
    if (err == 0 && !was_empty) err = finish_segment(log, active, base_offset);
    if (err == 0 && !was_empty && log->is_strict) err = sync_before_next(log, active);
    if (err == 0) err = segment_create(&created, log->shared, base_offset, now_ms);
    if (err != 0) return err;
    pthread_mutex_lock(&log->lock);
    if (was_empty) {
        log->segment_count--;
        log->cuts++; /* Segment.h, (3). */
    } else
        active->is_closed = true;
    log->segments[log->segment_count++] = created;
    log->folder_is_dirty = true;
    if (log->data_end < base_offset) log->data_end = base_offset;
    pthread_mutex_unlock(&log->lock);
    if (was_empty) { /* An empty one is replaced: offsets have made a jump. There is always one on disk. */
        err = log->fs->sync_folder(log->fs, log->folder);
        if (err == 0) err = segment_remove_files(log->fs, log->folder, active->base_offset, "");
        log_drop_segment(log, active);
    }
    return err;
}
