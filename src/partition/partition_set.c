// SPDX-License-Identifier: Apache-2.0
#include "partition_set_inside.h"

#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "trace.h"

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

void set_print_name(char name[FOLDER_NAME_SIZE], const char *topic, int32_t index)
{
    snprintf(name, FOLDER_NAME_SIZE, "%s-%" PRId32, topic, index);
}

int partition_set_visit(struct partition_set *set,
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
    return all == NULL ? ERR_NO_MEMORY : 0;
}

unsigned partition_set_folder_count(const struct partition_set *set)
{
    return set->folder_count;
}

struct data_dir *partition_set_folder(const struct partition_set *set, unsigned index)
{
    return set->folders[index].dir;
}

bool partition_set_folder_has_failed(const struct partition_set *set, unsigned index)
{
    return atomic_load(&set->folders[index].has_failed);
}

static void visit_all(struct cleaner_source *source,
                      void (*visit)(void *context, struct partition *partition), void *context)
{
    struct partition_set *set = LIST_OWNER(source, struct partition_set, cleaner_source);
    (void)partition_set_visit(set, visit, context);
}

bool partition_set_clean_one(struct partition_set *set)
{
    bool has_compacted;
    return cleaner_clean_one(set->cleaner, &has_compacted);
}

/* ---- open and close ---- */

static void set_free(struct partition_set *set)
{
    for (unsigned i = 0; i < set->folder_count; i++) {
        set_folder_close(&set->folders[i]);
    }
    map_close(&set->partitions);
    map_close(&set->names);
    pthread_cond_destroy(&set->all_closed);
    pthread_mutex_destroy(&set->lock);
    mem_free(set->folders);
    mem_free(set);
}

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
    atomic_init(&created->recovery_threads, options->recovery_threads);
    created->folders = mem_calloc(options->dir_count, sizeof *created->folders);
    int err = created->folders == NULL ? ERR_NO_MEMORY : 0;
    for (unsigned i = 0; err == 0 && i < options->dir_count; i++) {
        created->folder_count++;
        err = set_folder_open(&created->folders[i], created, options->dirs[i]);
    }
    created->cleaner_source.each = visit_all;
    if (err == 0)
        err = cleaner_open(&created->cleaner, &options->cleaner, options->clock,
                           &created->cleaner_source);
    if (err != 0) {
        set_free(created);
        return err;
    }
    housekeeping_start(created);
    *set = created;
    return 0;
}

void partition_set_announce_stop(struct partition_set *set)
{
    for (unsigned i = 0; set != NULL && i < set->folder_count; i++) {
        atomic_store(&set->folders[i].owner.is_stopping, true);
        data_dir_stop_sweeping(set->folders[i].dir);
    }
    /* No timer will begin the flush that an acknowledgement may wait for. */
    if (set != NULL) housekeeping_flush_all(set);
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
        if (set->folders[i].unsynced_count >= SYNC_ALL_FROM &&
            data_dir_syncs_all_logs(set->folders[i].dir))
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
    housekeeping_stop(set);
    cleaner_close(set->cleaner);
    set->cleaner = NULL;
    for (unsigned i = 0; i < set->folder_count; i++)
        set_folder_wait(&set->folders[i]);
    decide_who_syncs(set);
    if (!retire_all(set)) mark_clean = false;
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        housekeeping_forget_dirty(folder);
        set_folder_wait(folder);
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
    struct set_folder *chosen = NULL;
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        if (map_remove(&folder->found, name, strlen(name)) != NULL) return folder;
        if (!atomic_load(&folder->has_failed) &&
            (chosen == NULL || folder->partition_count < chosen->partition_count))
            chosen = folder;
    }
    *is_new = true;
    return chosen != NULL ? chosen : &set->folders[0]; /* All have failed: the broker ends. */
}

/* Which folder's checkpoint tells of records, while the partition's own folder is nowhere? Not by us: who
 * deletes a log forgets its checkpoints, unless it is killed just then; so only of partitions that were
 * there at the start. NULL: none. */
static struct set_folder *folder_that_lost(struct partition_set *set, const char *topic,
                                           int32_t index)
{
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        int64_t offset = 0;
        if (!data_dir_checkpoint(folder->dir, CHECKPOINT_RECOVERY_POINT, topic, index, &offset) ||
            offset <= 0)
            continue;
        trace(TRACE_ERROR, "partition",
              "%s: the folder of %s-%" PRId32 " is gone, but was on disk up to offset %" PRId64
              ": it begins anew, and unless its topic was deleted and created again just before a "
              "kill, "
              "its records are lost",
              data_dir_path(folder->dir), topic, index, offset);
        return folder;
    }
    return NULL;
}

int partition_set_add(struct partition_set *set, const char *topic, int32_t index,
                      const struct uuid *topic_id, const struct topic_settings *settings,
                      const struct partition_role *role)
{
    char name[FOLDER_NAME_SIZE];
    set_print_name(name, topic, index);
    struct set_key key = key_of(topic_id, index);
    struct partition *partition = NULL;
    void *predecessor = NULL; /* Of a topic of that name that was deleted just now. */

    pthread_mutex_lock(&set->lock);
    int err = map_get(&set->partitions, &key, sizeof key) == NULL ? 0 : ERR_EXISTS;
    bool is_new = false;
    struct set_folder *folder = err == 0 ? choose_folder(set, name, &is_new) : NULL;
    /* While a predecessor is leaving, the checkpoints are still its own. */
    if (is_new && !set->all_were_added && map_get(&set->names, name, strlen(name)) == NULL) {
        struct set_folder *lost = folder_that_lost(set, topic, index);
        if (lost != NULL && !atomic_load(&lost->has_failed)) folder = lost;
    }
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
        if (is_new || predecessor != NULL)
            partition_start_opening(partition, predecessor);
        else
            set_folder_open_in_turn(folder, partition);
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
    set_print_name(name, topic, index);
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        pthread_mutex_lock(&set->lock);
        bool is_there = map_get(&folder->found, name, strlen(name)) != NULL;
        pthread_mutex_unlock(&set->lock);
        if (!is_there) continue;
        int err = partition_log_give_up(folder->dir, topic, index, topic_id);
        if (err == ERR_INCONSISTENT_TOPIC_ID) continue; /* A later topic of that name. */
        /* A power cut may take what says whose it is, of many folders: what remains is told together. */
        if (err == ERR_MALFORMED || err == ERR_NOT_FOUND) continue;
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

/* Caller holds the set's lock. */
static bool is_in_folder(void *context, const char *topic, int32_t index)
{
    const struct set_folder *folder = context;
    char name[FOLDER_NAME_SIZE];
    set_print_name(name, topic, index);
    const struct partition *partition = map_get(&folder->set->names, name, strlen(name));
    return (partition != NULL && owner_folder(partition) == folder) ||
           map_get(&folder->found, name, strlen(name)) != NULL ||
           strcmp(topic, METADATA_TOPIC) == 0;
}

/* Of partitions that were deleted, when a kill came before that was written. */
static void forget_deleted(struct partition_set *set, struct set_folder *folder)
{
    pthread_mutex_lock(&set->lock);
    size_t count = data_dir_forget_others(folder->dir, is_in_folder, folder);
    pthread_mutex_unlock(&set->lock);
    if (count > 0) set_folder_start(folder, &folder->checkpoint_job, &folder->checkpoint_runs);
}

void partition_set_sweep(struct partition_set *set)
{
    pthread_mutex_lock(&set->lock);
    set->all_were_added = true;
    pthread_mutex_unlock(&set->lock);
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        set_folder_sweep(folder);
        forget_deleted(set, folder);
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

int partition_set_change_cleaner(struct partition_set *set, const struct cleaner_options *options)
{
    return cleaner_set_options(set->cleaner, options);
}

void partition_set_recover_at_most(struct partition_set *set, unsigned recovery_threads)
{
    atomic_store(&set->recovery_threads, recovery_threads);
}

void partition_set_expire_producers_after(struct partition_set *set, int64_t expiration_ms)
{
    for (unsigned i = 0; i < set->folder_count; i++)
        atomic_store(&set->folders[i].owner.producer_expiration_ms, expiration_ms);
}
