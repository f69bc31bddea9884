// SPDX-License-Identifier: Apache-2.0
#include "partition.h"

#include <assert.h>
#include <inttypes.h>

#include "alloc.h"
#include "error.h"
#include "partition_acks.h"
#include "partition_jobs.h"
#include "trace.h"

int partition_create(struct partition **partition, struct partition_owner *owner,
                     struct executor *disk, struct clock *clock, struct data_dir *dir,
                     const char *topic, int32_t index, const struct uuid *topic_id,
                     const struct topic_settings *settings, const struct partition_role *role)
{
    struct partition *created = mem_zalloc(sizeof *created);
    if (created == NULL) return ERR_NO_MEMORY;
    created->topic = mem_strdup(topic);
    if (created->topic == NULL) {
        mem_free(created);
        return ERR_NO_MEMORY;
    }
    atomic_init(&created->references, 1);
    atomic_init(&created->is_retired, false);
    created->topic_id = *topic_id;
    created->index = index;
    created->dir = dir;
    created->clock = clock;
    created->owner = owner;
    created->disk = disk;
    created->settings = *settings;
    created->role = *role;
    created->state = PARTITION_OPENING;
    created->noted_high_watermark = -1;
    pthread_mutex_init(&created->lock, NULL);
    pthread_cond_init(&created->unpinned, NULL);
    list_init(&created->owner_node);
    list_init(&created->queue);
    list_init(&created->waiting);
    list_init(&created->unflushed);
    list_init(&created->uncommitted);
    job_lane_init(&created->lane, disk);
    partition_jobs_init(created);
    *partition = created;
    return 0;
}

struct partition *partition_ref(struct partition *partition)
{
    atomic_fetch_add_explicit(&partition->references, 1, memory_order_relaxed);
    return partition;
}

static void run_free(struct job *job)
{
    struct partition *partition = LIST_OWNER(job, struct partition, free_job);
    assert(partition->log == NULL);
    job_lane_close(&partition->lane);
    pthread_cond_destroy(&partition->unpinned);
    pthread_mutex_destroy(&partition->lock);
    mem_free(partition->topic);
    mem_free(partition);
}

void partition_unref(struct partition *partition)
{
    if (partition == NULL) return;
    if (atomic_fetch_sub_explicit(&partition->references, 1, memory_order_acq_rel) != 1) return;
    /* The last reference may be that of a job of the lane, which must leave before the lane goes. */
    job_init(&partition->free_job, run_free);
    executor_submit(partition->disk, &partition->free_job);
}

struct partition_log *partition_pin_log(struct partition *partition)
{
    if (partition->log != NULL) partition->log_pins++;
    return partition->log;
}

void partition_unpin_log(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    assert(partition->log_pins > 0);
    if (--partition->log_pins == 0) pthread_cond_broadcast(&partition->unpinned);
    pthread_mutex_unlock(&partition->lock);
}

bool partition_measure(struct partition *partition, int64_t *size_bytes, int64_t *lag)
{
    pthread_mutex_lock(&partition->lock);
    struct partition_log *log = partition->state == PARTITION_SERVING ? partition->log : NULL;
    if (log != NULL) {
        int64_t behind = partition->high_watermark - partition_log_end_offset(log);
        *size_bytes = partition_log_size_bytes(log);
        *lag = behind > 0 ? behind : 0;
    }
    pthread_mutex_unlock(&partition->lock);
    return log != NULL;
}

void partition_stats(struct partition *partition, struct partition_stats *stats)
{
    pthread_mutex_lock(&partition->lock);
    *stats = (struct partition_stats){
        .state = partition->state,
        .appended_bytes = partition->appended_bytes,
        .appended_records = partition->appended_records,
        .appended_batches = partition->appended_batches,
        .fetched_bytes = atomic_load_explicit(&partition->fetched_bytes, memory_order_relaxed),
    };
    if (partition->state == PARTITION_SERVING && partition->log != NULL) {
        stats->size_bytes = partition_log_size_bytes(partition->log);
        stats->start_offset = partition_log_start_offset(partition->log);
        stats->end_offset = partition_log_end_offset(partition->log);
        stats->high_watermark = partition->high_watermark;
    }
    pthread_mutex_unlock(&partition->lock);
}

void partition_set_role(struct partition *partition, const struct partition_role *role,
                        const struct topic_settings *settings)
{
    pthread_mutex_lock(&partition->lock);
    bool leader_changed = partition->role.leader_epoch != role->leader_epoch;
    partition->role = *role;
    partition->settings = *settings;
    /* A job that writes takes the new ones over when it ends. */
    if (partition->log != NULL && !partition->appending) partition_tell_log(partition);
    partition_advance_high_watermark(partition);
    if (!role->is_leader)
        partition_refuse_acks(partition, ERR_NOT_LEADER_OR_FOLLOWER);
    else if (!partition_isr_is_large_enough(partition))
        partition_refuse_acks_all(partition, ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND);
    partition_flush_if_due(partition); /* By the new settings. */
    if (leader_changed) waiting_wake_all(&partition->waiting);
    pthread_mutex_unlock(&partition->lock);
    if ((settings->cleanup_policy & CLEANUP_COMPACT) && partition->owner->compacts != NULL)
        partition->owner->compacts(partition->owner);
}

/* Without memory for the epoch it begins with its first record. */
void partition_tell_log(struct partition *partition)
{
    partition_log_set_settings(partition->log, &partition->settings);
    if (partition->role.is_leader)
        (void)partition_log_begin_epoch(partition->log, partition->role.leader_epoch);
}

int partition_check_leader(const struct partition *partition, int32_t current_leader_epoch)
{
    const struct partition_role *role = &partition->role;
    if (partition->state == PARTITION_GONE) return ERR_NOT_LEADER_OR_FOLLOWER;
    if (partition->state == PARTITION_OFFLINE) return ERR_KAFKA_STORAGE_ERROR;
    if (current_leader_epoch != -1 && current_leader_epoch < role->leader_epoch)
        return ERR_FENCED_LEADER_EPOCH;
    if (current_leader_epoch > role->leader_epoch) return ERR_UNKNOWN_LEADER_EPOCH;
    if (!role->is_leader) return ERR_NOT_LEADER_OR_FOLLOWER;
    return partition->state == PARTITION_OPENING ? ERR_LEADER_NOT_AVAILABLE : 0;
}

/* min.insync.replicas cannot ask for more replicas than there are (DESIGN 5.2). */
bool partition_isr_is_large_enough(const struct partition *partition)
{
    int32_t wanted = partition->settings.min_insync_replicas;
    if (wanted > partition->role.replica_count) wanted = partition->role.replica_count;
    return partition->role.isr_count >= wanted;
}

/* Up to where the ISR has the log, as far as is known here; -1: not known. */
static int64_t isr_end(const struct partition *partition)
{
    if (partition->log == NULL || !partition->role.is_leader ||
        !partition_isr_is_large_enough(partition))
        return -1;
    /* Alone in the ISR, what is in the log here is what the ISR has. */
    if (partition->role.isr_count != 1) return -1;
    /* What is visible is durable (DESIGN 4.6): no consumer may see what a power cut takes. */
    return partition_waits_for_flushes(partition) ? partition_log_flushed_offset(partition->log)
                                                  : partition_log_end_offset(partition->log);
}

void partition_advance_high_watermark(struct partition *partition)
{
    int64_t reached = isr_end(partition);
    if (reached > partition->high_watermark) {
        partition->high_watermark = reached;
        waiting_wake(&partition->waiting, reached);
    }
    partition_release_acks(partition);
}

void partition_note_high_watermark(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    int64_t high_watermark = partition->high_watermark;
    /* Without memory it is noted the next time. */
    if (partition->log != NULL && high_watermark != partition->noted_high_watermark &&
        data_dir_set_checkpoint(partition->dir, CHECKPOINT_HIGH_WATERMARK, partition->topic,
                                partition->index, high_watermark) == 0)
        partition->noted_high_watermark = high_watermark;
    pthread_mutex_unlock(&partition->lock);
}

int64_t partition_last_stable_offset(const struct partition *partition)
{
    int64_t unstable = -1;
    if (partition->log != NULL)
        unstable = partition_log_first_unstable_offset(partition->log, partition->high_watermark);
    if (unstable >= 0 && unstable < partition->high_watermark) return unstable;
    return partition->high_watermark;
}

void partition_retire(struct partition *partition, bool delete_files)
{
    atomic_store(&partition->is_retired, true);
    pthread_mutex_lock(&partition->lock);
    bool first = partition->state != PARTITION_GONE;
    partition->state = PARTITION_GONE;
    bool is_held = partition->open_is_held; /* Then it is closed when it has been opened. */
    if (first) {
        partition->delete_files = delete_files;
        partition_refuse_queue(partition, ERR_NOT_LEADER_OR_FOLLOWER);
        partition_refuse_acks(partition, ERR_NOT_LEADER_OR_FOLLOWER);
        waiting_wake_all(&partition->waiting);
    }
    pthread_mutex_unlock(&partition->lock);
    if (first && !is_held) partition_start_closing(partition);
}

void partition_fail(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    if (partition->state == PARTITION_OPENING || partition->state == PARTITION_SERVING)
        partition_go_offline(partition);
    pthread_mutex_unlock(&partition->lock);
}

int partition_wait_closed(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    while (!partition->is_closed)
        pthread_cond_wait(&partition->unpinned, &partition->lock);
    int err = partition->close_error;
    pthread_mutex_unlock(&partition->lock);
    return err;
}
