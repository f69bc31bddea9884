// SPDX-License-Identifier: Apache-2.0
/* The produce path: from a checked batch to the log.
 *
 *    partition_check ──► partition_append ──► (queued on the pool) ──► done
 *
 * Without I/O that may wait, and unless its acknowledgement must wait (partition_acks.h), an append is
 * over when partition_append() returns. */

#ifndef PARTITION_PARTITION_APPEND_H
#define PARTITION_PARTITION_APPEND_H

#include "job.h"
#include "loop.h"
#include "partition.h"

/* Batches that decompress to more are checked on the pool (DESIGN 2.2). */
#define APPEND_INLINE_DECOMPRESSED_BYTES 65536
/* The same where the topic wants them in another codec, which costs many times more. */
#define APPEND_INLINE_RECOMPRESSED_BYTES 8192

struct append {
    struct log_append log; /* Data, header, answer: err, base_offset, … */
    struct batch_verdict verdict;
    struct list node;            /* The partition's queue. */
    struct append *next;         /* Chain of one partition's appends in one burst. */
    struct partition *partition; /* The caller's reference. */
    bool data_stays; /* Set by the caller: the data is valid until `done`, no copy needed. */
    uint8_t *owned;  /* A copy of the data, if it had to outlive the frame or be compressed anew. */
    bool is_pending; /* Not answered when partition_append() returned: `done` will come. */
    int64_t log_start_offset; /* Answer. */
    int64_t high_watermark;   /* Answer: right after the append. */
    int32_t leader;           /* Answer: who leads, where the error is about that. */
    int32_t leader_epoch;
    struct loop *loop; /* Where `done` is called. */
    struct message message;
    void (*done)(struct append *append);
    int16_t produce_version;
    bool acks_all, acks_none; /* Set by the caller; neither: acks=1. */
    bool
        is_written; /* partition_append() itself wrote it, so only its acknowledgement is missing. */
    bool
        is_held; /* Waits for that (partition_acks.h). Under the partition's lock, as is the next. */
    bool is_late;   /* Its time was up before it was written. */
    struct job job; /* partition_check_on_pool(). */
};

/* Prepares an append of `size` bytes at `data`, which belong to the caller. */
void append_init(struct append *append, struct partition *partition, uint8_t *data, size_t size,
                 int16_t produce_version, struct loop *loop, void (*done)(struct append *append));

/* Frees what the append copied, and its verdict. */
void append_close(struct append *append);

/* Checks what the producer sent (DESIGN 4.3), corrects the batch's max timestamp, and compresses anew for
 * a topic with a compression.type of its own. The verdict is in append->log.err and append->verdict.
 * Returns false, with nothing decided, if that is work for the pool: then partition_check_on_pool(). */
bool partition_check(struct append *append);

/* Copies the batch and does it on the pool, then calls append->done on append->loop: the
 * batch is not appended yet. 0, or ERR_NO_MEMORY (no call follows). */
int partition_check_on_pool(struct append *append);

/* Appends a chain of checked batches (linked by `next`, one partition), in order. Those that have
 * their answer on return have is_pending false; for the others the data was copied, and `done`
 * is called later on their loop. acks_all asks for enough replicas first (min.insync.replicas):
 * ERR_NOT_ENOUGH_REPLICAS. The links are the partition's to change. */
void partition_append(struct partition *partition, struct append *first);

/* The pool's part: appends what is queued. Caller holds the lock and `appending`. Unless `keeps_lock`, the
 * lock is given up while the log is written; with it only what needs no waiting is written. */
void partition_append_queued(struct partition *partition, bool keeps_lock);

/* It has what the next round of flushes is to flush. Caller holds the lock. */
void partition_note_dirty(struct partition *partition);

/* Fills in what the log does not know. Caller holds the lock. */
void append_settle(struct partition *partition, struct append *append);

/* Has an append to this partition's disk been slow lately (DESIGN 2.2), or is more dirty than may be
 * (DESIGN 4.6)? */
bool partition_disk_is_slow(const struct partition *partition);

#endif
