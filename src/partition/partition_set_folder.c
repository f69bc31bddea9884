// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "error.h"
#include "partition_set_inside.h"
#include "trace.h"

/* ---- jobs ---- */

void set_folder_start(struct set_folder *folder, struct job *job, bool *runs)
{
    pthread_mutex_lock(&folder->lock);
    bool start = !*runs;
    *runs = true;
    pthread_mutex_unlock(&folder->lock);
    if (start) executor_submit(folder->set->options.disk, job);
}

/* Caller holds the lock. */
static void folder_job_is_over(struct set_folder *folder, bool *runs)
{
    *runs = false;
    pthread_cond_broadcast(&folder->idle);
}

static void end_folder_job(struct set_folder *folder, bool *runs)
{
    pthread_mutex_lock(&folder->lock);
    folder_job_is_over(folder, runs);
    pthread_mutex_unlock(&folder->lock);
}

void set_folder_wait(struct set_folder *folder)
{
    pthread_mutex_lock(&folder->lock);
    while (folder->sweep_runs || folder->checkpoint_runs || folder->probe_runs)
        pthread_cond_wait(&folder->idle, &folder->lock);
    pthread_mutex_unlock(&folder->lock);
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

/* A topic may have thousands of folders: others, and a stop, do not wait for more of them than that. */
#define SWEEP_AT_ONCE 64

/* Folders of deleted topics, also those that an earlier life did not get to remove (DESIGN 8.5). */
static void run_sweep(struct job *job)
{
    struct set_folder *folder = LIST_OWNER(job, struct set_folder, sweep_job);
    pthread_mutex_lock(&folder->lock);
    folder->sweeps_again = false; /* What is there now is found now. */
    pthread_mutex_unlock(&folder->lock);
    bool has_more = false;
    int err = data_dir_sweep_deleted(folder->dir, SWEEP_AT_ONCE, &has_more);
    if (err != 0)
        trace(TRACE_WARN, "partition", "%s: deleted folders cannot be removed: %s",
              data_dir_path(folder->dir), error_text(err));

    pthread_mutex_lock(&folder->lock);
    bool goes_on = folder->sweeps_again || (err == 0 && has_more);
    if (!goes_on) folder_job_is_over(folder, &folder->sweep_runs);
    pthread_mutex_unlock(&folder->lock);
    if (goes_on) executor_submit(folder->set->options.disk, job); /* Behind what others wait for. */
}

void set_folder_sweep(struct set_folder *folder)
{
    pthread_mutex_lock(&folder->lock);
    folder->sweeps_again = true;
    pthread_mutex_unlock(&folder->lock);
    set_folder_start(folder, &folder->sweep_job, &folder->sweep_runs);
}

/* ---- what partitions tell of their disk ---- */

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
        (void)partition_set_visit(folder->set, fail_one, NULL);
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
        set_folder_start(folder, &folder->probe_job, &folder->probe_runs);
}

void set_folder_open_in_turn(struct set_folder *folder, struct partition *partition)
{
    unsigned most = atomic_load(&folder->set->recovery_threads);
    partition_hold_opening(partition);
    partition->opens_in_turn = true;
    pthread_mutex_lock(&folder->lock);
    bool waits = most > 0 && folder->opening >= most;
    if (waits)
        list_push_back(&folder->to_open, &partition_ref(partition)->owner_node);
    else
        folder->opening++;
    bool is_news = waits && !folder->has_told_of_turns;
    if (is_news) folder->has_told_of_turns = true;
    pthread_mutex_unlock(&folder->lock);
    if (is_news)
        trace(TRACE_INFO, "partition",
              "%s: logs that are opened at a time: %u (num.recovery.threads.per.data.dir); the "
              "others "
              "wait",
              data_dir_path(folder->dir), most);
    if (!waits) partition_open_held(partition);
}

static void open_next(struct set_folder *folder)
{
    pthread_mutex_lock(&folder->lock);
    struct list *node = list_pop_front(&folder->to_open);
    if (node == NULL) folder->opening--;
    pthread_mutex_unlock(&folder->lock);
    if (node == NULL) return;
    struct partition *partition = LIST_OWNER(node, struct partition, owner_node);
    partition_open_held(partition);
    partition_unref(partition);
}

static void folder_has_opened(struct partition_owner *owner, struct partition *partition, int err)
{
    struct set_folder *folder = LIST_OWNER(owner, struct set_folder, owner);
    if (err == ERR_IO || err == ERR_READ_ONLY) log_has_failed(owner, partition);
    if (partition->opens_in_turn) open_next(folder);
    atomic_fetch_sub(&folder->set->opening, 1);
}

static void folder_has_closed(struct partition_owner *owner, struct partition *partition)
{
    struct set_folder *folder = LIST_OWNER(owner, struct set_folder, owner);
    struct partition_set *set = folder->set;
    char name[FOLDER_NAME_SIZE];
    if (partition->delete_files) set_folder_sweep(folder);
    set_print_name(name, partition->topic, partition->index);
    pthread_mutex_lock(&set->lock);
    if (map_get(&set->names, name, strlen(name)) == partition)
        map_remove(&set->names, name, strlen(name));
    if (set->names.count == 0) pthread_cond_broadcast(&set->all_closed);
    pthread_mutex_unlock(&set->lock);
}

static void wake_cleaner(struct partition_owner *owner)
{
    cleaner_wake(LIST_OWNER(owner, struct set_folder, owner)->set->cleaner);
}

/* ---- opening ---- */

/* Do two folders of one name say that they are of different topics? */
static bool are_of_two_topics(const struct set_folder *one, const struct set_folder *other,
                              const char *name)
{
    const struct set_folder *both[] = { one, other };
    struct uuid ids[2];
    char path[PATH_MAX];
    for (int i = 0; i < 2; i++)
        if (fs_path(path, "%s/%s", data_dir_path(both[i]->dir), name) != 0 ||
            partition_log_topic_id(data_dir_fs(both[i]->dir), path, &ids[i]) != 0)
            return false;
    return !uuid_equal(&ids[0], &ids[1]);
}

#define TWINS_TOLD 20

/* A partition has one folder; which of two is right is not for us to choose. */
static void tell_twin(struct set_folder *folder, const struct set_folder *other, const char *name)
{
    if (++folder->twins > TWINS_TOLD) return;
    trace(
        TRACE_ERROR, "partition", "%s is in %s and in %s: %s", name, data_dir_path(other->dir),
        data_dir_path(folder->dir),
        are_of_two_topics(other, folder, name)
            ? "they are of two topics with different ids, and one broker serves one of that name; "
              "move the other away, to another broker for example"
            : "one of them is a copy; move it away, and keep the one that is complete");
}

static int note_folder(void *context, const char *name, struct str topic, int32_t partition,
                       bool is_deleted)
{
    (void)partition;
    struct set_folder *folder = context;
    if (is_deleted || str_equals_text(topic, METADATA_TOPIC)) return 0;
    for (const struct set_folder *other = folder->set->folders; other != folder; other++) {
        if (map_get(&other->found, name, strlen(name)) == NULL) continue;
        tell_twin(folder, other, name);
        return 0;
    }
    return map_put(&folder->found, name, strlen(name), folder, NULL);
}

int set_folder_open(struct set_folder *folder, struct partition_set *set, struct data_dir *dir)
{
    folder->owner.dirty = housekeeping_note_dirty;
    folder->owner.opened = folder_has_opened;
    folder->owner.closed = folder_has_closed;
    folder->owner.failed = log_has_failed;
    folder->owner.hurry = housekeeping_hurry;
    dirty_window_init(&folder->owner.window,
                      set->options.unsynced_max_bytes / set->options.dir_count);
    atomic_init(&folder->has_failed, false);
    folder->owner.compacts = wake_cleaner;
    atomic_init(&folder->owner.slow_until_us, 0);
    atomic_init(&folder->owner.is_stopping, false);
    atomic_init(&folder->owner.syncs_itself, false);
    atomic_init(&folder->owner.producer_expiration_ms, set->options.producer_expiration_ms);
    folder->set = set;
    folder->dir = dir;
    pthread_mutex_init(&folder->lock, NULL);
    list_init(&folder->dirty);
    list_init(&folder->hasty);
    list_init(&folder->to_open);
    map_init(&folder->found);
    pthread_cond_init(&folder->idle, NULL);
    job_init(&folder->sweep_job, run_sweep);
    job_init(&folder->checkpoint_job, run_folder_checkpoint);
    job_init(&folder->probe_job, run_probe);
    int err = data_dir_list(dir, note_folder, folder);
    if (folder->twins > TWINS_TOLD)
        trace(TRACE_ERROR, "partition", "%s: %u more such folders", data_dir_path(dir),
              folder->twins - TWINS_TOLD);
    return err == 0 && folder->twins > 0 ? ERR_EXISTS : err;
}

void set_folder_close(struct set_folder *folder)
{
    map_close(&folder->found);
    pthread_cond_destroy(&folder->idle);
    pthread_mutex_destroy(&folder->lock);
}
