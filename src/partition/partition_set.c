// SPDX-License-Identifier: Apache-2.0
#include "partition_set.h"

#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "map.h"
#include "trace.h"

/* One data folder and what it holds. Its lock comes after a partition's lock. */
struct set_folder {
    struct partition_owner owner;
    struct partition_set *set;
    struct data_dir *dir;
    pthread_mutex_t lock;
    struct list dirty;      /* struct partition by owner_node, each with a reference; and those */
    struct list hasty;      /* whose flush.ms is less than the others' interval. */
    size_t partition_count; /* Under the set's lock. */
    size_t unsynced_count;  /* While the set closes. */
    struct map found;       /* Folder name → itself: found at start, claimed by no partition. */
    struct job sweep_job, checkpoint_job, probe_job;
    atomic_bool has_failed;
    bool sweep_runs, checkpoint_runs,
        probe_runs;      /* Under `lock`: each job is in one queue at a time. */
    pthread_cond_t idle; /* Neither runs. */
};

#define METADATA_TOPIC   "__sluice_metadata" /* Its log is the quorum's, not a partition of ours. */
#define FOLDER_NAME_SIZE 300

struct partition_set {
    pthread_mutex_t lock;  /* Taken alone, or before a partition's lock, never after it. */
    struct map partitions; /* Topic id and index → struct partition, with a reference. */
    struct map
        names; /* Folder name → the newest struct partition of that name, until it is closed. */
    pthread_cond_t all_closed; /* `names` is empty. */
    struct set_folder *folders;
    unsigned folder_count;
    struct partition_set_options options;
    struct cleaner_source cleaner_source;
    struct cleaner *cleaner;
    atomic_uint opening;
    struct message arm_flush, hurry;
    struct timer flush_timer, hasty_timer, checkpoint_timer, watermark_timer, retention_timer,
        expiration_timer;
    bool has_producers; /* On the loop, while expiration goes through them. */
};

struct set_key {
    struct uuid topic_id;
    int32_t index;
};

static struct set_key key_of(const struct uuid *topic_id, int32_t index)
{
    struct set_key key;
    memset(&key, 0, sizeof key);
    key.topic_id = *topic_id;
    key.index = index;
    return key;
}

/* ---- housekeeping ---- */

static void folder_is_dirty(struct partition_owner *owner, struct partition *partition)
{
    struct set_folder *folder = LIST_OWNER(owner, struct set_folder, owner);
    int64_t flush_ms = partition->settings.flush_ms;
    bool is_hasty = flush_ms < folder->set->options.flush_interval_ms;
    if (is_hasty) partition->flush_by_ms = clock_monotonic_us(partition->clock) / 1000 + flush_ms;
    pthread_mutex_lock(&folder->lock);
    list_push_back(is_hasty ? &folder->hasty : &folder->dirty,
                   &partition_ref(partition)->owner_node);
    pthread_mutex_unlock(&folder->lock);
    loop_post(folder->set->options.loop, &folder->set->arm_flush);
}

static void log_has_failed(struct partition_owner *owner, struct partition *partition);

static void folder_has_opened(struct partition_owner *owner, struct partition *partition, int err)
{
    struct set_folder *folder = LIST_OWNER(owner, struct set_folder, owner);
    if (err == ERR_IO || err == ERR_READ_ONLY) log_has_failed(owner, partition);
    atomic_fetch_sub(&folder->set->opening, 1);
}

static struct set_folder *owner_folder(const struct partition *partition)
{
    return LIST_OWNER(partition->owner, struct set_folder, owner);
}

static void print_name(char name[FOLDER_NAME_SIZE], const char *topic, int32_t index)
{
    snprintf(name, FOLDER_NAME_SIZE, "%s-%" PRId32, topic, index);
}

static void folder_has_closed(struct partition_owner *owner, struct partition *partition)
{
    struct partition_set *set = LIST_OWNER(owner, struct set_folder, owner)->set;
    char name[FOLDER_NAME_SIZE];
    print_name(name, partition->topic, partition->index);
    pthread_mutex_lock(&set->lock);
    if (map_get(&set->names, name, strlen(name)) == partition)
        map_remove(&set->names, name, strlen(name));
    if (set->names.count == 0) pthread_cond_broadcast(&set->all_closed);
    pthread_mutex_unlock(&set->lock);
}

/* For the first of the hasty ones. */
static void arm_hasty(struct partition_set *set)
{
    int64_t first_ms = INT64_MAX;
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        pthread_mutex_lock(&folder->lock);
        for (struct list *node = folder->hasty.next; node != &folder->hasty; node = node->next) {
            int64_t by_ms = LIST_OWNER(node, struct partition, owner_node)->flush_by_ms;
            if (by_ms < first_ms) first_ms = by_ms;
        }
        pthread_mutex_unlock(&folder->lock);
    }
    if (first_ms == INT64_MAX) return;
    int64_t delay_ms = first_ms - clock_monotonic_us(set->options.clock) / 1000;
    timer_set(set->options.loop, &set->hasty_timer, delay_ms < 0 ? 0 : delay_ms);
}

static void arm_flush(struct message *message)
{
    struct partition_set *set = LIST_OWNER(message, struct partition_set, arm_flush);
    arm_hasty(set);
    if (!timer_is_set(&set->flush_timer))
        timer_set(set->options.loop, &set->flush_timer, set->options.flush_interval_ms);
    if (!timer_is_set(&set->checkpoint_timer))
        timer_set(set->options.loop, &set->checkpoint_timer, set->options.checkpoint_interval_ms);
    if (!timer_is_set(&set->watermark_timer))
        timer_set(set->options.loop, &set->watermark_timer,
                  set->options.high_watermark_interval_ms);
    if (set->options.producer_expiration_ms > 0 && !timer_is_set(&set->expiration_timer))
        timer_set(set->options.loop, &set->expiration_timer, set->options.expiration_interval_ms);
}

static bool is_due(const struct list *node, int64_t now_ms)
{
    return LIST_OWNER(node, struct partition, owner_node)->flush_by_ms <= now_ms;
}

/* The next of a folder's hasty partitions that is due, then of the others, clean from now on, with its
 * reference; NULL at the end. */
static struct partition *take_dirty(struct set_folder *folder, int64_t now_ms, bool others)
{
    pthread_mutex_lock(&folder->lock);
    struct list *node = folder->hasty.next;
    while (node != &folder->hasty && !is_due(node, now_ms))
        node = node->next;
    if (node != &folder->hasty)
        list_remove(node);
    else
        node = others ? list_pop_front(&folder->dirty) : NULL;
    pthread_mutex_unlock(&folder->lock);
    if (node == NULL) return NULL;
    struct partition *partition = LIST_OWNER(node, struct partition, owner_node);
    pthread_mutex_lock(&partition->lock);
    partition->is_dirty = false;
    pthread_mutex_unlock(&partition->lock);
    return partition;
}

static void flush_those(struct partition_set *set, int64_t now_ms, bool others)
{
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct partition *partition;
        while ((partition = take_dirty(&set->folders[i], now_ms, others)) != NULL) {
            partition_flush_soon(partition);
            partition_unref(partition);
        }
    }
}

static void flush_dirty(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, flush_timer);
    flush_those(set, clock_monotonic_us(set->options.clock) / 1000, true);
}

static void flush_hasty(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, hasty_timer);
    flush_those(set, clock_monotonic_us(set->options.clock) / 1000, false);
    arm_hasty(set);
}

/* Calls `each` for every partition, without the set's lock held. */
static void for_each(struct partition_set *set,
                     void (*each)(void *context, struct partition *partition), void *context)
{
    pthread_mutex_lock(&set->lock);
    size_t count = set->partitions.count, taken = 0;
    struct partition **all = mem_calloc(count + 1, sizeof(struct partition *));
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;
    while (all != NULL && map_next(&set->partitions, &cursor, &key, &key_length, &value))
        all[taken++] = partition_ref(value);
    pthread_mutex_unlock(&set->lock);

    for (size_t i = 0; i < taken; i++) {
        each(context, all[i]);
        partition_unref(all[i]);
    }
    mem_free(all);
}

static void wake_cleaner(struct partition_owner *owner)
{
    cleaner_wake(LIST_OWNER(owner, struct set_folder, owner)->set->cleaner);
}

static void visit_all(struct cleaner_source *source,
                      void (*visit)(void *context, struct partition *partition), void *context)
{
    struct partition_set *set = LIST_OWNER(source, struct partition_set, cleaner_source);
    for_each(set, visit, context);
}

bool partition_set_clean_one(struct partition_set *set)
{
    bool has_compacted;
    return cleaner_clean_one(set->cleaner, &has_compacted);
}

static void checkpoint_one(void *context, struct partition *partition)
{
    (void)context;
    pthread_mutex_lock(&partition->lock);
    bool needs = partition->needs_checkpoint;
    pthread_mutex_unlock(&partition->lock);
    if (needs) partition_checkpoint_soon(partition);
}

static void start_folder_job(struct set_folder *folder, struct job *job, bool *runs)
{
    pthread_mutex_lock(&folder->lock);
    bool start = !*runs;
    *runs = true;
    pthread_mutex_unlock(&folder->lock);
    if (start) executor_submit(folder->set->options.disk, job);
}

static void end_folder_job(struct set_folder *folder, bool *runs)
{
    pthread_mutex_lock(&folder->lock);
    *runs = false;
    pthread_cond_broadcast(&folder->idle);
    pthread_mutex_unlock(&folder->lock);
}

static void wait_for_folder_jobs(struct set_folder *folder)
{
    pthread_mutex_lock(&folder->lock);
    while (folder->sweep_runs || folder->checkpoint_runs || folder->probe_runs)
        pthread_cond_wait(&folder->idle, &folder->lock);
    pthread_mutex_unlock(&folder->lock);
}

static void hurry(struct partition_owner *owner)
{
    struct partition_set *set = LIST_OWNER(owner, struct set_folder, owner)->set;
    loop_post(set->options.loop, &set->hurry);
}

static void flush_now(struct message *message)
{
    struct partition_set *set = LIST_OWNER(message, struct partition_set, hurry);
    flush_those(set, INT64_MAX, true);
}

static void fail_one(void *context, struct partition *partition)
{
    (void)context;
    if (atomic_load(&owner_folder(partition)->has_failed)) partition_fail(partition);
}

/* A bad file is one partition's trouble, a disk that takes nothing any more that of all who are on it. */
static void run_probe(struct job *job)
{
    struct set_folder *folder = LIST_OWNER(job, struct set_folder, probe_job);
    int err = data_dir_probe(folder->dir);
    if (err != 0 && !atomic_exchange(&folder->has_failed, true)) {
        trace(TRACE_ERROR, "partition", "%s: cannot be written to any more: %s",
              data_dir_path(folder->dir), error_text(err));
        for_each(folder->set, fail_one, NULL);
        if (folder->set->options.folder_failed != NULL)
            folder->set->options.folder_failed(folder->set->options.context, folder->dir);
    }
    end_folder_job(folder, &folder->probe_runs);
}

static void log_has_failed(struct partition_owner *owner, struct partition *partition)
{
    struct set_folder *folder = LIST_OWNER(owner, struct set_folder, owner);
    (void)partition;
    if (!atomic_load(&folder->has_failed))
        start_folder_job(folder, &folder->probe_job, &folder->probe_runs);
}

static void run_folder_checkpoint(struct job *job)
{
    struct set_folder *folder = LIST_OWNER(job, struct set_folder, checkpoint_job);
    int err = data_dir_write_checkpoints(folder->dir);
    if (err != 0)
        trace(TRACE_WARN, "partition", "%s: checkpoints cannot be written: %s",
              data_dir_path(folder->dir), error_text(err));
    end_folder_job(folder, &folder->checkpoint_runs);
}

static void write_checkpoints(struct partition_set *set)
{
    for (unsigned i = 0; i < set->folder_count; i++)
        start_folder_job(&set->folders[i], &set->folders[i].checkpoint_job,
                         &set->folders[i].checkpoint_runs);
}

/* What was checkpointed in memory by the round before is written now. */
static void checkpoint_all(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, checkpoint_timer);
    for_each(set, checkpoint_one, NULL);
    write_checkpoints(set);
}

static void note_one(void *context, struct partition *partition)
{
    (void)context;
    partition_note_high_watermark(partition);
}

/* What is appended later arms the timer again. */
static void note_watermarks(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, watermark_timer);
    for_each(set, note_one, NULL);
    write_checkpoints(set);
}

static void retain_one(void *context, struct partition *partition)
{
    (void)context;
    partition_retain_soon(partition);
}

static void retain_all(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, retention_timer);
    for_each(set, retain_one, NULL);
    timer_set(set->options.loop, &set->retention_timer, set->options.retention_interval_ms);
}

static void expire_one(void *context, struct partition *partition)
{
    struct partition_set *set = context;
    if (partition_expire_soon(partition)) set->has_producers = true;
}

/* The next round is set here if there is anybody left, otherwise by the next append. */
static void expire_all(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, expiration_timer);
    set->has_producers = false;
    for_each(set, expire_one, set);
    if (set->has_producers)
        timer_set(set->options.loop, &set->expiration_timer, set->options.expiration_interval_ms);
}

/* ---- open and close ---- */

static int note_folder(void *context, const char *name, struct str topic, int32_t partition,
                       bool is_deleted)
{
    (void)partition;
    struct set_folder *folder = context;
    if (is_deleted || str_equals_text(topic, METADATA_TOPIC)) return 0;
    for (const struct set_folder *other = folder->set->folders; other != folder; other++) {
        if (map_get(&other->found, name, strlen(name)) == NULL) continue;
        trace(
            TRACE_ERROR, "partition",
            "%s is in %s and in %s: one of them is a copy; move it away, and keep the one that is "
            "complete",
            name, data_dir_path(other->dir), data_dir_path(folder->dir));
        return ERR_EXISTS;
    }
    return map_put(&folder->found, name, strlen(name), folder, NULL);
}

/* Folders of deleted topics that an earlier life did not get to remove (DESIGN 8.5). */
static void run_sweep(struct job *job)
{
    struct set_folder *folder = LIST_OWNER(job, struct set_folder, sweep_job);
    int err = data_dir_sweep_deleted(folder->dir);
    if (err != 0)
        trace(TRACE_WARN, "partition", "%s: deleted folders cannot be removed: %s",
              data_dir_path(folder->dir), error_text(err));
    end_folder_job(folder, &folder->sweep_runs);
}

static int folder_open(struct set_folder *folder, struct partition_set *set, struct data_dir *dir)
{
    folder->owner.dirty = folder_is_dirty;
    folder->owner.opened = folder_has_opened;
    folder->owner.closed = folder_has_closed;
    folder->owner.failed = log_has_failed;
    folder->owner.hurry = hurry;
    dirty_window_init(&folder->owner.window,
                      set->options.unsynced_max_bytes / set->options.dir_count);
    atomic_init(&folder->has_failed, false);
    folder->owner.compacts = wake_cleaner;
    atomic_init(&folder->owner.slow_until_us, 0);
    atomic_init(&folder->owner.is_stopping, false);
    atomic_init(&folder->owner.syncs_itself, false);
    folder->owner.producer_expiration_ms = set->options.producer_expiration_ms;
    folder->set = set;
    folder->dir = dir;
    pthread_mutex_init(&folder->lock, NULL);
    list_init(&folder->dirty);
    list_init(&folder->hasty);
    map_init(&folder->found);
    pthread_cond_init(&folder->idle, NULL);
    folder->sweep_job.run = run_sweep;
    folder->checkpoint_job.run = run_folder_checkpoint;
    folder->probe_job.run = run_probe;
    return data_dir_list(dir, note_folder, folder);
}

static void set_free(struct partition_set *set)
{
    for (unsigned i = 0; i < set->folder_count; i++) {
        map_close(&set->folders[i].found);
        pthread_cond_destroy(&set->folders[i].idle);
        pthread_mutex_destroy(&set->folders[i].lock);
    }
    map_close(&set->partitions);
    map_close(&set->names);
    pthread_cond_destroy(&set->all_closed);
    pthread_mutex_destroy(&set->lock);
    mem_free(set->folders);
    mem_free(set);
}

static void start_retention(struct message *message);

int partition_set_open(struct partition_set **set, const struct partition_set_options *options)
{
    struct partition_set *created = mem_zalloc(sizeof *created);
    if (created == NULL) return ERR_NO_MEMORY;
    created->options = *options;
    pthread_mutex_init(&created->lock, NULL);
    map_init(&created->partitions);
    map_init(&created->names);
    pthread_cond_init(&created->all_closed, NULL);
    atomic_init(&created->opening, 0);
    message_init(&created->arm_flush, start_retention);
    message_init(&created->hurry, flush_now);
    timer_init(&created->flush_timer, flush_dirty);
    timer_init(&created->hasty_timer, flush_hasty);
    timer_init(&created->checkpoint_timer, checkpoint_all);
    timer_init(&created->watermark_timer, note_watermarks);
    timer_init(&created->retention_timer, retain_all);
    timer_init(&created->expiration_timer, expire_all);
    created->folders = mem_calloc(options->dir_count, sizeof *created->folders);
    int err = created->folders == NULL ? ERR_NO_MEMORY : 0;
    for (unsigned i = 0; err == 0 && i < options->dir_count; i++) {
        created->folder_count++;
        err = folder_open(&created->folders[i], created, options->dirs[i]);
    }
    created->cleaner_source.each = visit_all;
    if (err == 0)
        err = cleaner_open(&created->cleaner, &options->cleaner, options->clock,
                           &created->cleaner_source);
    if (err != 0) {
        set_free(created);
        return err;
    }
    loop_post(options->loop, &created->arm_flush);
    *set = created;
    return 0;
}

/* The first delivery, on the loop's thread: from here on timers may be set. */
static void start_retention(struct message *message)
{
    struct partition_set *set = LIST_OWNER(message, struct partition_set, arm_flush);
    timer_set(set->options.loop, &set->retention_timer, set->options.retention_interval_ms);
    message->deliver = arm_flush;
    arm_flush(message);
}

void partition_set_announce_stop(struct partition_set *set)
{
    for (unsigned i = 0; set != NULL && i < set->folder_count; i++)
        atomic_store(&set->folders[i].owner.is_stopping, true);
    /* No timer will begin the flush that an acknowledgement may wait for. */
    if (set != NULL) flush_those(set, INT64_MAX, true);
}

/* A checkpoint of one log needs five to eight syncs, and one of the whole file system may also write what
 * other processes have written to it. */
#define SYNC_ALL_FROM 64

static bool needs_syncs(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    bool needs = partition->is_dirty || partition->needs_checkpoint || partition->flush_runs;
    pthread_mutex_unlock(&partition->lock);
    return needs;
}

/* Nobody adds or removes any more, so the map is walked as it is, also without memory for a copy. */
static void decide_who_syncs(struct partition_set *set)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;
    for (unsigned i = 0; i < set->folder_count; i++)
        set->folders[i].unsynced_count = 0;
    while (map_next(&set->partitions, &cursor, &key, &key_length, &value))
        if (needs_syncs(value)) owner_folder(value)->unsynced_count++;
    for (unsigned i = 0; i < set->folder_count; i++)
        if (set->folders[i].unsynced_count >= SYNC_ALL_FROM)
            atomic_store(&set->folders[i].owner.syncs_itself, true);
}

/* Retires all and waits for them; true if all of them could be left in order. */
static bool retire_all(struct partition_set *set)
{
    bool all_are_on_disk = true;
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;
    while (map_next(&set->partitions, &cursor, &key, &key_length, &value))
        partition_retire(value, false);
    cursor = (struct map_cursor){ 0 };
    while (map_next(&set->partitions, &cursor, &key, &key_length, &value)) {
        if (partition_wait_closed(value) != 0) all_are_on_disk = false;
        partition_unref(value);
    }
    /* Those that were removed before may still be about it; they use their folder. */
    pthread_mutex_lock(&set->lock);
    while (set->names.count > 0)
        pthread_cond_wait(&set->all_closed, &set->lock);
    pthread_mutex_unlock(&set->lock);
    return all_are_on_disk;
}

/* The checkpoints may say that something is on disk only when it is. */
static int leave_folder(struct set_folder *folder, int64_t broker_epoch, bool mark_clean)
{
    int err = atomic_load(&folder->owner.syncs_itself) ? data_dir_sync_all(folder->dir) : 0;
    if (err == 0) err = data_dir_write_checkpoints(folder->dir);
    if (err == 0 && mark_clean) err = data_dir_mark_clean(folder->dir, broker_epoch);
    return err;
}

void partition_set_close(struct partition_set *set, int64_t broker_epoch, bool mark_clean)
{
    if (set == NULL) return;
    timer_cancel(set->options.loop, &set->flush_timer);
    timer_cancel(set->options.loop, &set->hasty_timer);
    timer_cancel(set->options.loop, &set->checkpoint_timer);
    timer_cancel(set->options.loop, &set->watermark_timer);
    timer_cancel(set->options.loop, &set->retention_timer);
    timer_cancel(set->options.loop, &set->expiration_timer);
    cleaner_close(set->cleaner);
    set->cleaner = NULL;
    for (unsigned i = 0; i < set->folder_count; i++)
        wait_for_folder_jobs(&set->folders[i]);
    decide_who_syncs(set);
    if (!retire_all(set)) mark_clean = false;
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        struct partition *partition;
        while ((partition = take_dirty(folder, INT64_MAX, true)) != NULL)
            partition_unref(partition);
        wait_for_folder_jobs(folder);
        int err = leave_folder(folder, broker_epoch, mark_clean);
        if (err != 0)
            trace(TRACE_WARN, "partition", "%s: not left in order: %s", data_dir_path(folder->dir),
                  error_text(err));
    }
    set_free(set);
}

/* ---- members ---- */

/* *is_new: in none of them is anything of it. */
static struct set_folder *choose_folder(struct partition_set *set, const char *name, bool *is_new)
{
    *is_new = false;
    struct set_folder *chosen = &set->folders[0]; /* If that fails the broker ends. */
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        if (map_remove(&folder->found, name, strlen(name)) != NULL) return folder;
        if (!atomic_load(&folder->has_failed) && folder->partition_count < chosen->partition_count)
            chosen = folder;
    }
    *is_new = true;
    return chosen;
}

int partition_set_add(struct partition_set *set, const char *topic, int32_t index,
                      const struct uuid *topic_id, const struct topic_settings *settings,
                      const struct partition_role *role)
{
    char name[FOLDER_NAME_SIZE];
    print_name(name, topic, index);
    struct set_key key = key_of(topic_id, index);
    struct partition *partition = NULL;
    void *predecessor = NULL; /* Of a topic of that name that was deleted just now. */

    pthread_mutex_lock(&set->lock);
    int err = map_get(&set->partitions, &key, sizeof key) == NULL ? 0 : ERR_EXISTS;
    bool is_new = false;
    struct set_folder *folder = err == 0 ? choose_folder(set, name, &is_new) : NULL;
    if (err == 0)
        err = partition_create(&partition, &folder->owner, set->options.disk, set->options.clock,
                               folder->dir, topic, index, topic_id, settings, role);
    if (err == 0) err = map_put(&set->partitions, &key, sizeof key, partition, NULL);
    if (err == 0) {
        err = map_put(&set->names, name, strlen(name), partition, &predecessor);
        if (err != 0) map_remove(&set->partitions, &key, sizeof key);
    }
    if (err == 0) {
        folder->partition_count++;
        atomic_fetch_add(&set->opening, 1);
        partition->is_new = is_new;
        partition_start_opening(partition, predecessor);
        if (settings->cleanup_policy & CLEANUP_COMPACT) cleaner_wake(set->cleaner);
    } else {
        partition_unref(partition);
    }
    pthread_mutex_unlock(&set->lock);
    return err;
}

void partition_set_remove(struct partition_set *set, const struct uuid *topic_id, int32_t index)
{
    struct set_key key = key_of(topic_id, index);
    pthread_mutex_lock(&set->lock);
    struct partition *partition = map_remove(&set->partitions, &key, sizeof key);
    if (partition != NULL) owner_folder(partition)->partition_count--;
    pthread_mutex_unlock(&set->lock);
    if (partition == NULL) return;
    partition_retire(partition, true);
    partition_unref(partition);
}

void partition_set_give_up(struct partition_set *set, const char *topic, int32_t index,
                           const struct uuid *topic_id)
{
    char name[FOLDER_NAME_SIZE];
    print_name(name, topic, index);
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        pthread_mutex_lock(&set->lock);
        bool is_there = map_get(&folder->found, name, strlen(name)) != NULL;
        pthread_mutex_unlock(&set->lock);
        if (!is_there) continue;
        int err = partition_log_give_up(folder->dir, topic, index, topic_id);
        if (err == ERR_INCONSISTENT_TOPIC_ID) continue; /* A later topic of that name. */
        if (err != 0) {
            trace(TRACE_WARN, "partition", "%s/%s of a deleted topic cannot be given up: %s",
                  data_dir_path(folder->dir), name, error_text(err));
            continue;
        }
        pthread_mutex_lock(&set->lock);
        map_remove(&folder->found, name, strlen(name));
        pthread_mutex_unlock(&set->lock);
    }
}

struct partition *partition_set_find(struct partition_set *set, const struct uuid *topic_id,
                                     int32_t index)
{
    struct set_key key = key_of(topic_id, index);
    pthread_mutex_lock(&set->lock);
    struct partition *partition = map_get(&set->partitions, &key, sizeof key);
    if (partition != NULL) partition_ref(partition);
    pthread_mutex_unlock(&set->lock);
    return partition;
}

unsigned partition_set_opening(struct partition_set *set)
{
    return atomic_load(&set->opening);
}

size_t partition_set_count(struct partition_set *set)
{
    pthread_mutex_lock(&set->lock);
    size_t count = set->partitions.count;
    pthread_mutex_unlock(&set->lock);
    return count;
}

void partition_set_sweep(struct partition_set *set)
{
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        start_folder_job(folder, &folder->sweep_job, &folder->sweep_runs);
        pthread_mutex_lock(&set->lock);
        struct map_cursor cursor = { 0 };
        const void *name;
        size_t length;
        void *value;
        char names[512] = "";
        size_t used = 0, count = 0;
        while (map_next(&folder->found, &cursor, &name, &length, &value)) {
            char shown[256];
            trace_escape(shown, sizeof shown, (struct str){ name, (int32_t)length });
            if (used < sizeof names)
                used += (size_t)snprintf(names + used, sizeof names - used, " %s", shown);
            count++;
        }
        pthread_mutex_unlock(&set->lock);
        if (count > 0)
            trace(TRACE_WARN, "partition",
                  "%s: %zu folders belong to no topic that is known here and are left alone:%s",
                  data_dir_path(folder->dir), count, names);
    }
}
