// SPDX-License-Identifier: Apache-2.0
/* What the files of data_dir have between them. */

#ifndef STORAGE_DATA_DIR_INSIDE_H
#define STORAGE_DATA_DIR_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "data_dir.h"
#include "map.h"

#define CHECKPOINT_KINDS    4
#define RECOVERY_POINT_FILE "recovery-point-offset-checkpoint"

/* What is remembered of one partition; -1: nothing. */
struct partition_offsets {
    int32_t partition;
    int64_t offsets[CHECKPOINT_KINDS];
    int64_t written; /* The recovery point as the file on disk says it, */
    int64_t printed; /* and as the one does that is being written. */
    char topic[];
};

struct data_dir {
    struct fs *fs;
    struct file_cache *files;
    struct block_cache *blocks;
    char *path;
    int lock_fd;
    bool was_clean;
    bool marker_is_no_file;            /* But a folder, for example; */
    bool is_no_file[CHECKPOINT_KINDS]; /* and so for the files of checkpoints. */
    bool needs_sync;        /* What a life before left in the page cache may not be on disk, */
    atomic_bool is_synced;  /* it is since we began, and no log was left unsynced after that, */
    atomic_bool has_failed; /* or not even a sync may bring it there (failure_mark.h). */
    atomic_bool owes_sync;  /* Recovery points rest on what was left to data_dir_sync_all(), */
    atomic_bool owes_lost;  /* and it has failed: no later one brings that to the disk. */
    atomic_bool has_links;  /* Folders of logs that are somewhere else. */
    struct data_dir_identity identity;
    char *sisters; /* As in data_dir_set_sisters(). */
    int64_t reserve_limit;
    _Atomic int64_t reserved;
    int64_t least_free;   /* Less than that is for what makes room, and for the metadata. */
    _Atomic int64_t room; /* What may be written before the free space is looked at again. */
    atomic_bool is_full;

    pthread_mutex_t sweep_lock;
    atomic_bool sweeps_no_more;
    atomic_bool has_given_up;   /* A name that a power cut may bring back. */
    pthread_mutex_t write_lock; /* One writer of checkpoint files. Before `lock`. */
    pthread_mutex_t lock;       /* For these. */
    struct map partitions;      /* Of struct partition_offsets, by name and number. */
    bool is_changed[CHECKPOINT_KINDS];
    bool has_forgotten; /* The files may name logs that are no more. */
};

/* Was the folder left in order, and with these recovery points? Sets `was_clean`. `why` as for
 * data_dir_open(). Blocks. */
int data_dir_read_marker(struct data_dir *dir, char *why, size_t why_size);

/* Durably. There need not be one. Blocks. */
int data_dir_remove_marker(struct data_dir *dir);

/* Renames what is no file, but has the name of one of ours. Blocks; syncs nothing. */
int data_dir_move_away(struct data_dir *dir, const char *name);

/* The same for what is in the place of files of checkpoints. Blocks. */
int data_dir_clear_checkpoints(struct data_dir *dir);

/* Sets `was_clean` back if the recovery points cannot be read. `why` as for data_dir_open(). Blocks. */
int data_dir_read_checkpoints(struct data_dir *dir, char *why, size_t why_size);

void data_dir_free_checkpoints(struct data_dir *dir);

/* Of a log that is no more; in memory. */
void data_dir_forget_offsets(struct data_dir *dir, const char *topic, int32_t partition);

/* Gives a new folder its random directory id. `why` as for data_dir_open(). Blocks. */
int data_dir_read_identity(struct data_dir *dir, char *why, size_t why_size);

#endif
