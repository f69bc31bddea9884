// SPDX-License-Identifier: Apache-2.0
/* What the files of the partition set share; nobody else includes it.
 *
 *    partition_set.c            who is in it; opening and closing all
 *    partition_set_folder.c     the data folders: their jobs, and what becomes of a bad one
 *    partition_housekeeping.c   timers: what is flushed, checkpointed, removed and forgotten when
 *
 * Locks, in this order: the set's, a partition's, a folder's. */

#ifndef PARTITION_PARTITION_SET_INSIDE_H
#define PARTITION_PARTITION_SET_INSIDE_H

#include "map.h"
#include "partition_set.h"

/* One data folder and what it holds. */
struct set_folder {
    struct partition_owner owner;
    struct partition_set *set;
    struct data_dir *dir;
    pthread_mutex_t lock;
    struct list dirty;      /* struct partition by owner_node, each with a reference; and those */
    struct list hasty;      /* whose flush.ms is less than the others' interval. */
    struct list to_open;    /* As many as may are being opened: these, by owner_node, wait, … */
    unsigned opening;       /* … for so many. Each with a reference. */
    bool has_told_of_turns; /* Under `lock`, as what is above. */
    size_t partition_count; /* Under the set's lock. */
    size_t unsynced_count;  /* While the set closes. */
    struct map found;       /* Folder name → itself: found at start, claimed by no partition. */
    unsigned twins;         /* Folders that are in another data folder, too. */
    struct job sweep_job, checkpoint_job, probe_job;
    atomic_bool has_failed;
    bool sweeps_again; /* There is more since its job began. Under `lock`. */
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
    bool all_were_added; /* Those that there were at the start: what comes now is new. By `lock`. */
    struct set_folder *folders;
    unsigned folder_count;
    struct partition_set_options options;
    struct cleaner_source cleaner_source;
    struct cleaner *cleaner;
    atomic_uint opening;
    atomic_uint recovery_threads; /* As in the options. */
    struct message arm_flush, hurry;
    struct timer flush_timer, hasty_timer, checkpoint_timer, watermark_timer, retention_timer,
        expiration_timer;
    bool has_producers; /* On the loop, while expiration goes through them. */
};

static inline struct set_folder *owner_folder(const struct partition *partition)
{
    return LIST_OWNER(partition->owner, struct set_folder, owner);
}

/* The name of a partition's folder. */
void set_print_name(char name[FOLDER_NAME_SIZE], const char *topic, int32_t index);

/* ---- folders ---- */

/* Looks for the partitions that are in it. 0, ERR_EXISTS, ERR_IO, …. Blocks. */
int set_folder_open(struct set_folder *folder, struct partition_set *set, struct data_dir *dir);
void set_folder_close(struct set_folder *folder);

/* Opens a log that may have to be recovered, now or when others have been. */
void set_folder_open_in_turn(struct set_folder *folder, struct partition *partition);

/* A folder's job is in the pool's queue at most once. */
void set_folder_start(struct set_folder *folder, struct job *job, bool *runs);
void set_folder_wait(struct set_folder *folder); /* Until none runs. */

/* Removes the folders that were given up, some at a time, unless the set is stopping. */
void set_folder_sweep(struct set_folder *folder);

/* ---- housekeeping ---- */

/* Timers begin with the loop's first turn. */
void housekeeping_start(struct partition_set *set);
void housekeeping_stop(struct partition_set *set); /* On the loop's thread, or after its end. */

/* A partition has something to flush. For struct partition_owner. */
void housekeeping_note_dirty(struct partition_owner *owner, struct partition *partition);

/* Too much is not synced: do not wait for the interval. For struct partition_owner. */
void housekeeping_hurry(struct partition_owner *owner);

/* Begins the flushes of all that is dirty. Any thread. */
void housekeeping_flush_all(struct partition_set *set);

/* Gives up the folder's list of what is dirty. */
void housekeeping_forget_dirty(struct set_folder *folder);

#endif
