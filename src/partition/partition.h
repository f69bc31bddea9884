// SPDX-License-Identifier: Apache-2.0
/* One replica of one partition on this broker: its log, what it leads, and who waits for it.
 *
 *  (1) One short lock guards the state. A page-cache append happens under it, on the loop; what may
 *      wait for the disk happens without it, on the disk pool, while `appending` keeps others out.
 *  (2) Appends keep their order: while anything is queued, everything that comes is queued behind it.
 *  (3) Consumers see records below the high watermark only; it never goes back here (DESIGN 5.1). It is
 *      noted now and then, and begins there in the next life: a follower then knows as much as it did.
 *  (4) A partition is born opening: appends queue, reads find nothing yet. It serves as soon as its
 *      own log is open (DESIGN 4.4), and is offline once its log has failed (DESIGN 4.7). */

#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "dirty_window.h"
#include "disk_pool.h"
#include "partition_log.h"
#include "waiting.h"

enum partition_state {
    PARTITION_OPENING, /* The log is being opened or recovered. */
    PARTITION_SERVING,
    PARTITION_OFFLINE, /* The disk failed: KAFKA_STORAGE_ERROR. */
    PARTITION_GONE,    /* Deleted, or the broker stops. */
};

/* What the quorum says about this replica. */
struct partition_role {
    bool is_leader;
    int32_t leader;
    int32_t leader_epoch;
    int32_t replica_count;
    int32_t isr_count;
};

struct partition;

/* What the partitions of one data folder share. */
struct partition_owner {
    /* The partition has something that is not on disk yet. Under the partition's lock. */
    void (*dirty)(struct partition_owner *owner, struct partition *partition);
    /* A log could not be opened, or has failed; or it is open now. On the pool. */
    void (*opened)(struct partition_owner *owner, struct partition *partition, int err);
    /* A log has failed: is it its file, or the whole disk? Under the partition's lock. */
    void (*failed)(struct partition_owner *owner, struct partition *partition);
    /* Half of the window is dirty: flush. Under the partition's lock. */
    void (*hurry)(struct partition_owner *owner);
    /* A retired partition has closed its log, or given its folder up. On the pool. */
    void (*closed)(struct partition_owner *owner, struct partition *partition);
    struct dirty_window window; /* Of this disk. */
    /* An append to this disk was slow: until then all appends go through the pool (DESIGN 2.2). */
    atomic_llong slow_until_us;
    /* The broker stops: batches that still wait to be checked are refused, so that a thousand of them that
     * decompress to much do not hold it up. They were not appended; clients send them again. */
    atomic_bool is_stopping;
    atomic_llong producer_expiration_ms; /* producer.id.expiration.ms; 0: never. */
    /* It has a compacted log now, or may have. May be NULL. Any thread. */
    void (*compacts)(struct partition_owner *owner);
    /* So much is to be closed that one sync of the file system is cheaper than one of each file: whoever
     * closes leaves syncing to the owner. */
    atomic_bool syncs_itself;
};

struct partition {
    atomic_int references;
    struct uuid topic_id;
    char *topic;
    int32_t index;
    struct data_dir *dir;
    struct clock *clock;
    struct partition_owner *owner;
    struct executor *disk;

    pthread_mutex_t lock;
    uint64_t appended_bytes, appended_records, appended_batches; /* In this life. */
    atomic_uint_fast64_t fetched_bytes;                          /* Without the lock. */
    enum partition_state state;
    struct partition_log *log; /* NULL while opening and when gone. */
    unsigned log_pins;         /* Who uses the log without the lock; it is not closed before. */
    pthread_cond_t unpinned;
    struct topic_settings settings;
    struct partition_role role;
    int64_t high_watermark;
    int64_t noted_high_watermark; /* In the data folder's checkpoint. */
    bool appending;               /* A job on the pool is the log's writer: queue behind it. */
    bool is_dirty;                /* On the owner's list of what to flush. */
    bool needs_checkpoint;        /* Flushed beyond its recovery point. */
    bool open_is_held;            /* The open job waits for another partition's close. */
    bool is_closed;
    struct partition *successor; /* Opens when this one is closed; with a reference. */
    int close_error;             /* Of a polite close: 0 if all is on disk. */
    bool opens_in_turn;          /* The owner's: not all of them open at once. */
    struct list owner_node; /* The owner's, before it opens, and while is_dirty, as is the next. */
    int64_t flush_by_ms;    /* Monotonic: by when it is to be flushed, if that is soon. */
    struct list queue;      /* struct append, in order. */
    size_t queue_bytes;     /* Of the batches in the queue. */
    int64_t unsynced_bytes; /* Written since the last sync began: its part of the window. */
    struct list waiting;    /* struct waiter, for the high watermark. */
    struct list unflushed, uncommitted; /* struct append: who waits for what (partition_acks.h). */
    struct job_lane lane; /* Whatever must not overlap: the log's writers on the pool. */
    struct job open_job, append_job, flush_job, checkpoint_job, end_checkpoint_job, retain_job,
        expire_job, close_job, free_job;
    struct log_checkpoint checkpoint; /* Between the two jobs for it. */
    bool append_waits, flush_runs, checkpoint_waits, retain_waits,
        expire_waits; /* Each job is in one queue at a time. */
    bool flush_again; /* Asked for while one ran, which may not have seen what came meanwhile. */
    bool is_being_cleaned; /* A pass of compaction runs. */
    bool is_uncleanable;
    atomic_bool is_retired; /* That pass is to end. */
    bool delete_files;      /* What close_job does with the folder. */
    bool is_new;            /* Nothing of it is on disk; set before it opens. */
};

/* Makes a partition that is opening; partition_start_opening() submits the job that opens its log.
 * 0 or ERR_NO_MEMORY. The caller holds the only reference. */
int partition_create(struct partition **partition, struct partition_owner *owner,
                     struct executor *disk, struct clock *clock, struct data_dir *dir,
                     const char *topic, int32_t index, const struct uuid *topic_id,
                     const struct topic_settings *settings, const struct partition_role *role);

struct partition *partition_ref(struct partition *partition);
void partition_unref(struct partition *partition); /* NULL is fine. */

/* With a predecessor that has the same folder (a topic that was deleted and made again), as soon as
 * that one has given it up; NULL: at once. The predecessor must not have closed() yet. */
void partition_start_opening(struct partition *partition, struct partition *predecessor);

/* The same, but it opens when partition_open_held() says so. */
void partition_hold_opening(struct partition *partition);
void partition_open_held(struct partition *partition);

/* The quorum has changed its mind: leader, epoch, replicas, settings. */
void partition_set_role(struct partition *partition, const struct partition_role *role,
                        const struct topic_settings *settings);

/* Takes the partition out of service: wakes all waiters, refuses what is queued, then flushes and
 * closes the log on the pool, and gives up its folder if `delete_files`. */
void partition_retire(struct partition *partition, bool delete_files);

/* Its disk failed: offline, whatever its own log says. Everybody who waits hears of it. */
void partition_fail(struct partition *partition);

/* Waits until a retired partition's log is closed. Blocks. 0 if everything of it is on disk. */
int partition_wait_closed(struct partition *partition);

/* May a client with this leader epoch (-1: unchecked) be served as by a leader? 0,
 * ERR_NOT_LEADER_OR_FOLLOWER, ERR_FENCED_LEADER_EPOCH, ERR_UNKNOWN_LEADER_EPOCH (KIP-320),
 * ERR_KAFKA_STORAGE_ERROR. While opening: ERR_LEADER_NOT_AVAILABLE. Caller holds the lock. */
int partition_check_leader(const struct partition *partition, int32_t current_leader_epoch);

/* Uses the log without the lock; NULL if there is none. Give it back with partition_unpin_log(). Caller
 * holds the lock for the first, not for the second. */
struct partition_log *partition_pin_log(struct partition *partition);
void partition_unpin_log(struct partition *partition);

/* How many bytes its log has, and by how many offsets that is behind the high watermark. False: its log is
 * not open. Any thread. */
bool partition_measure(struct partition *partition, int64_t *size_bytes, int64_t *lag);

struct partition_stats {
    enum partition_state state;
    /* Of a log that is open, else 0: */
    int64_t size_bytes, start_offset, end_offset, high_watermark;
    /* Since this broker has it: */
    uint64_t appended_bytes, appended_records, appended_batches, fetched_bytes;
};
void partition_stats(struct partition *partition, struct partition_stats *stats); /* Any thread. */

/* So many bytes of it leave for a client. Any thread. */
static inline void partition_note_fetched(struct partition *partition, uint64_t bytes)
{
    atomic_fetch_add_explicit(&partition->fetched_bytes, bytes, memory_order_relaxed);
}

/* A job of the lane is the log's writer between these two: appends queue meanwhile and go on behind.
 * False if there is no log any more (then no end either). */
bool partition_begin_writing(struct partition *partition);
void partition_end_writing(struct partition *partition);

/* Raises the high watermark to what the ISR has, as far as is known here (under flush.*: has on disk),
 * and wakes and answers who waited for it, or for a flush. Caller holds the lock. */
void partition_advance_high_watermark(struct partition *partition);

/* Takes the high watermark down for the data folder's checkpoint, if it has changed; in memory. */
void partition_note_high_watermark(struct partition *partition);

/* Housekeeping, each a job on the pool. Several requests while one waits are one. */
void partition_flush_soon(struct partition *partition);
void partition_checkpoint_soon(struct partition *partition);
void partition_retain_soon(struct partition *partition);

/* Forgets the producers that were not heard of for long. False: there are none to forget, now or later.
 * Otherwise as above. */
bool partition_expire_soon(struct partition *partition);

/* Does the ISR satisfy min.insync.replicas? Caller holds the lock. */
bool partition_isr_is_large_enough(const struct partition *partition);

/* Last stable offset: no open transaction lies below it. Caller holds the lock. */
int64_t partition_last_stable_offset(const struct partition *partition);

#endif
