// SPDX-License-Identifier: Apache-2.0
/* What compaction leaves of one batch (Kafka's MemoryRecords.filterTo).
 *
 *  (1) A batch that loses nothing keeps its bytes.
 *  (2) Otherwise it is written anew with its codec. Base offset, last offset, producer, base sequence and
 *      leader epoch remain, so that the producer's last sequence and the end of the offsets do; offsets
 *      inside get holes. The base timestamp becomes that of the first record that is left.
 *  (3) The first time that a tombstone is kept, or a marker whose transaction has nothing left, the batch
 *      gets a delete horizon (KIP-534): the base timestamp says from when on it may go, attribute bit 6
 *      that it does.
 *  (4) Without records it goes, or is left as a bare header: no codec, no base timestamp. */

#ifndef STORAGE_BATCH_FILTER_H
#define STORAGE_BATCH_FILTER_H

#include "buffer.h"
#include "record_batch.h"

struct batch_filter {
    bool (*wants)(void *context, const struct record_batch *batch, const struct record *record);
    void *context;
    int64_t delete_horizon_ms; /* For batches that have none and need one. */
    bool keeps_empty;          /* By (4): it stays although nothing is left in it. */
    bool needs_horizon;        /* By (3): it is such a marker. */
};

/* Appends to `out` what is left of the batch: nothing, or one batch. 0, ERR_NO_MEMORY, ERR_LIMIT (it
 * would be too large), ERR_INVALID_RECORD, ERR_UNSUPPORTED_COMPRESSION_TYPE: then `out` is as it was. */
int batch_filter(const struct batch_filter *filter, const struct record_batch *batch,
                 struct buffer *out);

/* The delete horizon of a batch; false if it has none. */
static inline bool record_batch_delete_horizon(const struct record_batch *batch, int64_t *time_ms)
{
    *time_ms = batch->base_timestamp;
    return (batch->attributes & BATCH_DELETE_HORIZON) != 0;
}

#endif
