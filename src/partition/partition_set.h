// SPDX-License-Identifier: Apache-2.0
/* Every partition that this broker hosts, found by topic id and index; and their housekeeping:
 * fdatasync of what was written, checkpoints, retention, compaction, producers that are to be forgotten.
 *
 * Housekeeping runs by timers on one loop and jobs on the pool. A broker whose partitions nobody
 * writes to has no timer set but that of the next retention (DESIGN 5.3: idle costs nothing). */

#ifndef PARTITION_PARTITION_SET_H
#define PARTITION_PARTITION_SET_H

#include "cleaner.h"
#include "loop.h"
#include "partition.h"

struct partition_set;

struct partition_set_options {
    struct data_dir **dirs;
    unsigned dir_count;
    struct executor *disk;
    struct clock *clock;
    struct loop *loop;          /* Whose timers drive the housekeeping. */
    int64_t flush_interval_ms;  /* How long written data stays unsynced, at most about. */
    int64_t unsynced_max_bytes; /* So much may be written and not synced, in all folders; 0: any. */
    int64_t checkpoint_interval_ms;     /* log.flush.offset.checkpoint.interval.ms */
    int64_t high_watermark_interval_ms; /* replica.high.watermark.checkpoint.interval.ms */
    /* A data folder cannot be written to any more; its partitions are offline. On the pool. */
    void (*folder_failed)(void *context, struct data_dir *dir);
    void *context;
    int64_t retention_interval_ms;  /* log.retention.check.interval.ms */
    int64_t producer_expiration_ms; /* producer.id.expiration.ms; 0: they do not expire. */
    int64_t expiration_interval_ms; /* producer.id.expiration.check.interval.ms */
    struct cleaner_options cleaner;
    unsigned
        recovery_threads; /* Logs of one folder that are opened at a time; 0: all. A new log, with
                                * nothing to recover, does not count. */
};

/* Looks for the partitions that are in the folders. 0, ERR_NO_MEMORY, ERR_IO, …; ERR_EXISTS if one of them
 * is in two: one line says which. Blocks. */
int partition_set_open(struct partition_set **set, const struct partition_set_options *options);

/* The broker is about to stop: work that waits on the pool and is not begun need not be done. Any thread. NULL
 * is fine. */
void partition_set_announce_stop(struct partition_set *set);

/* Retires all partitions, flushing them first, writes the checkpoints and, if `mark_clean` and all is on
 * disk, the clean markers; frees. The loop must have stopped or be the caller's. Blocks. NULL is fine. */
void partition_set_close(struct partition_set *set, int64_t broker_epoch, bool mark_clean);

/* A new partition of this broker, opening from now on. In the folder where it is already, else in the
 * data folder with the fewest, of those that have not failed. 0, ERR_NO_MEMORY, ERR_EXISTS. Any thread. */
int partition_set_add(struct partition_set *set, const char *topic, int32_t index,
                      const struct uuid *topic_id, const struct topic_settings *settings,
                      const struct partition_role *role);

/* Out of the set and out of service; its folder goes too. Any thread. */
void partition_set_remove(struct partition_set *set, const struct uuid *topic_id, int32_t index);

/* A partition that was removed in an earlier life: if that ended before the folder was given up, it is
 * now. Before the first partition_set_add(). Blocks. */
void partition_set_give_up(struct partition_set *set, const char *topic, int32_t index,
                           const struct uuid *topic_id);

/* With a reference for the caller; NULL if this broker has no such partition. Any thread. */
struct partition *partition_set_find(struct partition_set *set, const struct uuid *topic_id,
                                     int32_t index);

/* How many are not open yet. Any thread. */
unsigned partition_set_opening(struct partition_set *set);

/* Makes one pass of compaction over the dirtiest log, as the cleaner's threads do; false: none is dirty
 * enough. Blocks. */
bool partition_set_clean_one(struct partition_set *set);

size_t partition_set_count(struct partition_set *set);

/* Calls `each` for every partition, without a lock held. 0, or ERR_NO_MEMORY and no call. Any thread. */
int partition_set_visit(struct partition_set *set,
                        void (*each)(void *context, struct partition *partition), void *context);

/* The data folders, as they are in the options; and those that have failed stay so. Any thread. */
unsigned partition_set_folder_count(const struct partition_set *set);
struct data_dir *partition_set_folder(const struct partition_set *set, unsigned index);
bool partition_set_folder_has_failed(const struct partition_set *set, unsigned index);

/* All partitions that there are have been added: removes the folders of deleted ones, forgets what the data
 * folders' checkpoints say of them, and names, in one trace line each data folder, those that no partition
 * claimed. */
void partition_set_sweep(struct partition_set *set);

/* Other options of compaction from now on, as cleaner_set_options() does it. */
int partition_set_change_cleaner(struct partition_set *set, const struct cleaner_options *options);

/* As `recovery_threads` of the options, for logs that are added from now on. Any thread. */
void partition_set_recover_at_most(struct partition_set *set, unsigned recovery_threads);

/* producer.id.expiration.ms, from now on. Any thread. */
void partition_set_expire_producers_after(struct partition_set *set, int64_t expiration_ms);

#endif
