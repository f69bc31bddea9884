// SPDX-License-Identifier: Apache-2.0
/* What one partition remembers of each idempotent producer: its epoch and its last five batches.
 *
 *  (1) A repeat of one of the last five batches is answered with its original offset.
 *  (2) The next batch begins at last sequence + 1 (after 2^31-1 comes 0); a new epoch begins at 0;
 *      anything else is out of order. With nothing remembered, any sequence is accepted (KIP-360).
 *  (3) A lower epoch than the last one is fenced.
 *  (4) The state survives: snapshot files in Kafka's format (which know each producer's last
 *      batch), the file of recent batches beside them, and replay of the log above.
 *  (5) Memory is bounded: who was not heard of for long is forgotten, and where there are too many, who
 *      was not heard of for longest. Who has a transaction open is not.
 *
 * Not shared between threads; the partition log guards it. */

#ifndef STORAGE_PRODUCER_HISTORY_H
#define STORAGE_PRODUCER_HISTORY_H

#include "buffer.h"
#include "record_batch.h"

struct producer_history;

#define PRODUCERS_MAX 100000 /* A few hundred bytes each. */

int producer_history_open(struct producer_history **history);  /* 0 or ERR_NO_MEMORY */
void producer_history_close(struct producer_history *history); /* NULL is fine. */

struct producer_verdict {
    int err;        /* 0: append it, or it is a repeat. */
    bool is_repeat; /* Nothing to append: answer with these. */
    int64_t base_offset;
    int64_t last_offset;
    int64_t timestamp;
};

/* May this batch, sent by a client, be appended? ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
 * ERR_INVALID_PRODUCER_EPOCH, ERR_INVALID_TXN_STATE, ERR_INVALID_RECORD. A batch without producer
 * id is always fine. Changes nothing. */
void producer_history_check(const struct producer_history *history,
                            const struct record_batch *batch, struct producer_verdict *verdict);

struct ended_transaction {
    int64_t producer_id; /* -1: none ended. */
    int64_t first_offset;
    int64_t last_offset; /* The marker's. */
    int64_t
        last_stable_offset; /* As the marker leaves it: the first offset of what is still open, or
                                 * behind the marker. */
    bool is_aborted;
};

/* Which transaction does this batch end, if it is added? A marker that ends none is legal. 0 or
 * ERR_NO_MEMORY. Changes nothing. */
int producer_history_ends(const struct producer_history *history, const struct record_batch *batch,
                          struct ended_transaction *ended);

/* Remembers a batch that is in the log at batch->base_offset (also when the log is replayed;
 * control batches end transactions, and all of their bytes must be there). `seen_ms`: the wall clock when
 * it came, by which producers expire; a batch's own time may be anything. 0 or ERR_NO_MEMORY, with
 * nothing changed. */
int producer_history_add(struct producer_history *history, const struct record_batch *batch,
                         int64_t seen_ms);

/* First offset of the oldest open transaction, or -1. */
int64_t producer_history_first_open(const struct producer_history *history);

/* Forgets producers without open transaction that were not heard of since. */
void producer_history_expire(struct producer_history *history, int64_t before_ms);

/* Forgets what lies at or above `offset` (the log was truncated): everything; replay from a
 * snapshot. */
void producer_history_clear(struct producer_history *history);

/* Of each producer its epoch, and the last offset of its last batch of data; -1: none is remembered. */
struct producer_last {
    int64_t producer_id;
    int64_t last_offset;
    int16_t epoch;
};

/* *lasts is ordered by id, and the caller's to mem_free(). 0 or ERR_NO_MEMORY. */
int producer_history_lasts(const struct producer_history *history, struct producer_last **lasts,
                           size_t *count);

size_t producer_history_count(const struct producer_history *history);

/* A producer as a snapshot file has it; -1 where it says nothing. */
struct producer_snapshot {
    int64_t id;
    int16_t epoch;
    int32_t last_sequence;
    int64_t last_offset;
    int32_t offset_delta; /* Of the last batch. */
    int64_t timestamp;
    int32_t coordinator_epoch;
    int64_t first_open_offset; /* Of its open transaction. */
};

/* What is remembered of a producer; false: nothing. */
bool producer_history_find(const struct producer_history *history, int64_t id,
                           struct producer_snapshot *producer);

/* Calls `each` for every producer in a snapshot file's bytes; what it returns other than 0 ends the walk
 * and is returned. ERR_CORRUPT_MESSAGE if they are no snapshot. */
int producer_snapshot_parse(const void *data, size_t length,
                            int (*each)(void *context, const struct producer_snapshot *producer),
                            void *context);

/* The file `<20-digit offset>.snapshot`: version 1, CRC-32C, entries; Kafka's bytes exactly.
 * Reading replaces the content, but for producers that would have expired: of those without open
 * transaction only what was written since `before_ms` is wanted; none was heard of after `now_ms`.
 * ERR_CORRUPT_MESSAGE or ERR_NO_MEMORY leave the content as it was. */
int producer_history_write(const struct producer_history *history, struct buffer *out);
int producer_history_read(struct producer_history *history, const void *data, size_t length,
                          int64_t before_ms, int64_t now_ms);

/* The file of recent batches, ours: those of each producer, if there is more than the one that a snapshot
 * knows. *count: of such producers. */
int producer_history_write_batches(const struct producer_history *history, struct buffer *out,
                                   size_t *count);

/* A batch as that file has it. */
struct producer_recent_batch {
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t last_sequence;
    int32_t offset_delta;
    int64_t last_offset;
    int64_t timestamp;
};

/* Calls `each` for every batch in such a file's bytes, of one producer after the other, the newest first.
 * As producer_snapshot_parse(). */
int producer_batches_parse(const void *data, size_t length,
                           int (*each)(void *context, const struct producer_recent_batch *batch),
                           void *context);

/* Adds what such a file knows of batches below `below_offset` that were forgotten here, to producers that
 * are known in the same epoch. *has_more: it knows of batches from there on. ERR_CORRUPT_MESSAGE: it is no
 * such file. */
int producer_history_merge_batches(struct producer_history *history, const void *data,
                                   size_t length, int64_t below_offset, bool *has_more);

#endif
