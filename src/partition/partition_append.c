// SPDX-License-Identifier: Apache-2.0
#include "partition_append.h"

#include <assert.h>

#include "alloc.h"
#include "batch_recompress.h"
#include "error.h"
#include "partition_acks.h"
#include "partition_jobs.h"

/* An append to the page cache that took longer means that the disk is saturated (DESIGN 2.2) … */
#define SLOW_APPEND_US 20000
/* … and this long after the last such one, appends go through the pool. */
#define SLOW_DISK_US 1000000

static void deliver_append(struct message *message)
{
    struct append *append = LIST_OWNER(message, struct append, message);
    append->is_pending = false;
    append->done(append);
}

void append_init(struct append *append, struct partition *partition, uint8_t *data, size_t size,
                 int16_t produce_version, struct loop *loop, void (*done)(struct append *append))
{
    memset(append, 0, sizeof *append);
    append->log.data = data;
    append->log.batch.size = size;
    append->log.from_client = true;
    append->log.base_offset = -1;
    append->log.last_offset = -1;
    append->log.append_time_ms = -1;
    append->log_start_offset = -1;
    append->leader = append->leader_epoch = -1;
    append->partition = partition;
    append->produce_version = produce_version;
    append->loop = loop;
    append->done = done;
    list_init(&append->node);
    message_init(&append->message, deliver_append);
}

void append_close(struct append *append)
{
    mem_free(append->owned);
    append->owned = NULL;
    batch_verdict_release(&append->verdict);
}

/* ---- the check ---- */

/* What a topic's settings want of the check. */
struct check {
    struct batch_rules rules;
    int codec; /* compression.type */
    int level;
};

static int level_of(const struct topic_settings *settings)
{
    switch (settings->compression_type) {
    case CODEC_GZIP: return settings->gzip_level;
    case CODEC_LZ4: return settings->lz4_level;
    case CODEC_ZSTD: return settings->zstd_level;
    default: return 0;
    }
}

static void check_init(struct check *check, const struct append *append)
{
    struct partition *partition = append->partition;
    pthread_mutex_lock(&partition->lock);
    const struct topic_settings *settings = &partition->settings;
    check->rules = (struct batch_rules){
        .max_message_bytes = settings->max_message_bytes,
        .max_decompressed_bytes = settings->max_decompressed_message_bytes,
        .log_append_time = settings->log_append_time,
        .timestamp_before_max_ms = settings->timestamp_before_max_ms,
        .timestamp_after_max_ms = settings->timestamp_after_max_ms,
        .is_compacted = (settings->cleanup_policy & CLEANUP_COMPACT) != 0,
        .produce_version = append->produce_version,
    };
    check->codec = settings->compression_type;
    check->level = level_of(settings);
    pthread_mutex_unlock(&partition->lock);
}

static bool wants_other_codec(const struct check *check, const struct record_batch *batch)
{
    return check->codec != COMPRESSION_PRODUCER &&
           check->codec != (batch->attributes & BATCH_CODEC_MASK);
}

/* KIP-390. The new batch must fit max.message.bytes as well as the one that came did. */
static void recompress(struct append *append, const struct check *check)
{
    struct buffer out;
    buffer_init(&out);
    int err = batch_recompress(&append->log.batch, (enum codec)check->codec, check->level,
                               check->rules.max_decompressed_bytes,
                               (size_t)check->rules.max_message_bytes, &out);
    if (err == 0) err = record_batch_read_header(&append->log.batch, out.data, out.length);
    append->log.err = err;
    if (err != 0) {
        buffer_close(&out);
        return;
    }
    mem_free(append->owned);
    append->owned = append->log.data = out.data;
}

static void check_with(struct append *append, const struct check *check)
{
    size_t size = append->log.batch.size;
    record_batch_validate(append->log.data, size, &check->rules,
                          clock_wall_ms(append->partition->clock), &append->log.batch,
                          &append->verdict);
    append->log.batch.size = size;
    append->log.err = append->verdict.err;
    if (append->log.err == 0 && append->verdict.max_timestamp_differs) {
        record_batch_set_max_timestamp(append->log.data, size, append->verdict.max_timestamp);
        append->log.err = record_batch_read_header(&append->log.batch, append->log.data, size);
    }
    if (append->log.err == 0 && wants_other_codec(check, &append->log.batch))
        recompress(append, check);
    if (append->log.err != 0) {
        pthread_mutex_lock(&append->partition->lock);
        append_settle(append->partition, append);
        pthread_mutex_unlock(&append->partition->lock);
    }
}

/* How much a loop may have to decompress for this batch; 0: nothing, or too much in any case. */
static int64_t inline_bytes(const struct append *append, const struct check *check, bool *is_bulky)
{
    struct record_batch batch;
    *is_bulky = false;
    if (record_batch_read_header(&batch, append->log.data, append->log.batch.size) != 0) return 0;
    bool is_compressed = (batch.attributes & BATCH_CODEC_MASK) != CODEC_NONE;
    bool is_recompressed = wants_other_codec(check, &batch);
    int64_t most = is_recompressed ? APPEND_INLINE_RECOMPRESSED_BYTES
                                   : APPEND_INLINE_DECOMPRESSED_BYTES;
    *is_bulky = (is_compressed || is_recompressed) && (int64_t)append->log.batch.size > most;
    return most;
}

bool partition_check(struct append *append)
{
    struct check check;
    bool is_bulky;
    check_init(&check, append);
    int64_t most = inline_bytes(append, &check, &is_bulky);
    if (is_bulky) return false;
    int64_t allowed = check.rules.max_decompressed_bytes;
    if (allowed > most) check.rules.max_decompressed_bytes = most;
    check_with(append, &check);
    return !(append->verdict.is_too_long_decompressed && allowed > most);
}

static int own_data(struct append *append)
{
    if (append->owned != NULL || append->data_stays) return 0;
    append->owned = mem_dup(append->log.data, append->log.batch.size);
    if (append->owned == NULL) return ERR_NO_MEMORY;
    append->log.data = append->owned;
    append->log.batch.data = append->owned;
    return 0;
}

static void run_check(struct job *job)
{
    struct append *append = LIST_OWNER(job, struct append, job);
    struct check check;
    if (atomic_load(&append->partition->owner->is_stopping)) {
        append->log.err = ERR_NOT_LEADER_OR_FOLLOWER;
    } else {
        check_init(&check, append);
        check_with(append, &check);
    }
    loop_post(append->loop, &append->message);
}

int partition_check_on_pool(struct append *append)
{
    int err = own_data(append);
    if (err != 0) return err;
    append->is_pending = true;
    job_init(&append->job, run_check);
    append->job.is_urgent = true;
    executor_submit(append->partition->disk, &append->job);
    return 0;
}

/* ---- the append ---- */

/* May this append go into the log now? Caller holds the lock. */
static int check_writable(const struct partition *partition, const struct append *append)
{
    int err = partition_check_leader(partition, -1);
    if (err == ERR_LEADER_NOT_AVAILABLE) err = 0; /* Opening: it is queued. */
    if (err == 0 && append->acks_all && !partition_isr_is_large_enough(partition))
        err = ERR_NOT_ENOUGH_REPLICAS;
    return err;
}

void append_settle(struct partition *partition, struct append *append)
{
    if (partition->log != NULL)
        append->log_start_offset = partition_log_start_offset(partition->log);
    append->high_watermark = partition->high_watermark;
    append->leader = partition->role.leader;
    append->leader_epoch = partition->role.leader_epoch;
}

static void queue_chain(struct partition *partition, struct append *first)
{
    for (struct append *append = first; append != NULL; append = append->next) {
        int err = own_data(append);
        if (err != 0) {
            append->log.err = err;
            append_settle(partition, append);
            continue;
        }
        append->is_pending = true;
        list_push_back(&partition->queue, &append->node);
        partition->queue_bytes += append->log.batch.size;
    }
    if (!list_is_empty(&partition->queue)) partition_start_queued_appends(partition);
}

/* Appends and measures. Returns the first that must go to the pool, or NULL. */
static struct append *write_chain(struct partition *partition, struct append *first,
                                  int32_t leader_epoch, bool may_block)
{
    for (struct append *append = first; append != NULL; append = append->next)
        append->log.next = append->next == NULL ? NULL : &append->next->log;

    struct log_append *rest = NULL;
    int64_t before_us = clock_monotonic_us(partition->clock);
    int err = partition_log_append(partition->log, &first->log, leader_epoch,
                                   clock_wall_ms(partition->clock), may_block, &rest);
    assert((err == 0) == (rest == NULL) && (rest == NULL || !may_block));
    (void)err;
    int64_t after_us = clock_monotonic_us(partition->clock);
    if (after_us - before_us > SLOW_APPEND_US)
        atomic_store(&partition->owner->slow_until_us, after_us + SLOW_DISK_US);
    return rest == NULL ? NULL : LIST_OWNER(rest, struct append, log);
}

void partition_note_dirty(struct partition *partition)
{
    if (partition->is_dirty) return;
    partition->is_dirty = true;
    partition->owner->dirty(partition->owner, partition);
}

/* What the chain has written in front of `rest` is dirty. Caller holds the lock. */
static void note_written(struct partition *partition, const struct append *first,
                         const struct append *rest)
{
    int64_t bytes = 0;
    for (; first != rest; first = first->next) {
        if (first->log.err != 0 || first->log.is_repeat) continue;
        bytes += (int64_t)first->log.batch.size;
        partition->appended_batches++;
        partition->appended_records += (uint64_t)first->log.batch.record_count;
    }
    partition->appended_bytes += (uint64_t)bytes;
    partition->unsynced_bytes += bytes;
    if (dirty_window_add(&partition->owner->window, bytes))
        partition->owner->hurry(partition->owner);
    partition_note_dirty(partition);
}

bool partition_disk_is_slow(const struct partition *partition)
{
    if (dirty_window_is_full(&partition->owner->window)) return true;
    long long slow_until_us = atomic_load_explicit(&partition->owner->slow_until_us,
                                                   memory_order_relaxed);
    return slow_until_us != 0 && clock_monotonic_us(partition->clock) < slow_until_us;
}

static bool must_queue(const struct partition *partition)
{
    return partition->appending || !list_is_empty(&partition->queue) || partition->log == NULL ||
           partition_disk_is_slow(partition);
}

/* Fills in the answers, or lets them wait for their condition. */
static void settle_written(struct partition *partition, struct append *first, struct append *rest)
{
    for (struct append *append = first; append != rest; append = append->next) {
        append->is_written = true;
        append_settle(partition, append);
        append->is_pending = append->log.err == 0 && partition_hold_ack(partition, append);
    }
}

void partition_append(struct partition *partition, struct append *first)
{
    pthread_mutex_lock(&partition->lock);
    struct append **link = &first;
    while (*link != NULL) {
        struct append *append = *link;
        append->log.err = check_writable(partition, append);
        if (append->log.err == 0) {
            link = &append->next;
            continue;
        }
        append_settle(partition, append);
        *link = append->next;
    }
    if (first != NULL && must_queue(partition)) {
        queue_chain(partition, first);
    } else if (first != NULL) {
        struct append *rest = write_chain(partition, first, partition->role.leader_epoch, false);
        partition_advance_high_watermark(partition);
        note_written(partition, first, rest);
        settle_written(partition, first, rest);
        partition_note_failure(partition);
        partition_flush_if_due(partition);
        if (rest != NULL) queue_chain(partition, rest);
    }
    pthread_mutex_unlock(&partition->lock);
}

/* Takes the whole queue, so that one run of writes serves all who waited meanwhile. */
static struct append *take_queue(struct partition *partition)
{
    struct append *first = NULL, **end = &first;
    struct list *node;
    partition->queue_bytes = 0;
    while ((node = list_pop_front(&partition->queue)) != NULL) {
        struct append *append = LIST_OWNER(node, struct append, node);
        append->log.err = check_writable(partition, append);
        if (append->log.err != 0) {
            append_settle(partition, append);
            loop_post(append->loop, &append->message);
            continue;
        }
        *end = append;
        end = &append->next;
    }
    *end = NULL;
    return first;
}

void partition_append_queued(struct partition *partition, bool keeps_lock)
{
    struct append *first = take_queue(partition);
    if (first == NULL) return;
    int32_t leader_epoch = partition->role.leader_epoch;
    if (!keeps_lock) pthread_mutex_unlock(&partition->lock);
    struct append *rest = write_chain(partition, first, leader_epoch, !keeps_lock);
    if (!keeps_lock) pthread_mutex_lock(&partition->lock);

    partition_advance_high_watermark(partition);
    note_written(partition, first, rest);
    while (first != rest) {
        struct append *append = first;
        first = append->next; /* Its owner may be gone once it is told. */
        append_settle(partition, append);
        if (append->log.err == 0 && partition_hold_ack(partition, append)) continue;
        loop_post(append->loop, &append->message);
    }
    partition_flush_if_due(partition);
    /* With the lock nobody else came into the queue: its order holds. */
    for (struct append *append = rest; append != NULL; append = append->next) {
        list_push_back(&partition->queue, &append->node);
        partition->queue_bytes += append->log.batch.size;
    }
}
