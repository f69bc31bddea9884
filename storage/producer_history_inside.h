// SPDX-License-Identifier: Apache-2.0
/* What producer_history.c and producer_snapshot.c share; nobody else includes it. */

#ifndef STORAGE_PRODUCER_HISTORY_INSIDE_H
#define STORAGE_PRODUCER_HISTORY_INSIDE_H

#include "list.h"
#include "producer_history.h"

#define REMEMBERED_BATCHES 5

struct remembered_batch {
    int32_t last_sequence;
    int32_t offset_delta; /* From its first record to its last. */
    int64_t last_offset;
    int64_t timestamp;
};

struct open_transaction {
    struct list node; /* In producer_history.open. */
    int64_t first_offset;
};

struct producer {
    struct producer *next; /* In its bucket. */
    int64_t id;
    struct open_transaction *open; /* Owned; NULL: none. */
    int64_t last_timestamp;
    int64_t seen_ms;           /* When it was last heard of. */
    int32_t coordinator_epoch; /* Of the last marker, -1 none. */
    int16_t epoch;
    uint8_t batch_count;
    uint8_t newest; /* Index of the last batch in the ring. */
    struct remembered_batch batches[REMEMBERED_BATCHES];
};

struct producer_history {
    struct producer **buckets;
    unsigned bucket_bits;
    uint64_t secret; /* Odd. */
    size_t count, most;
    struct list open; /* Of open_transaction, first offsets ascending. */
};

struct producer *producer_find(const struct producer_history *history,
                               int64_t id); /* NULL: none. */

/* A producer that is not there yet; NULL: out of memory. */
struct producer *producer_insert(struct producer_history *history, int64_t id, int16_t epoch);

/* Its last batch; what is too many is forgotten. */
void producer_remember(struct producer *producer, const struct remembered_batch *batch);

/* The nth newest batch, from 0; NULL: not so many are remembered. */
const struct remembered_batch *producer_batch(const struct producer *producer, unsigned nth);

#endif
