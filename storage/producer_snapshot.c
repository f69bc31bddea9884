// SPDX-License-Identifier: Apache-2.0
/* What is on disk of a partition's producers: Kafka's snapshot, and beside it our own file of the batches
 * for which that has no room. */

#include <stdlib.h>

#include "alloc.h"
#include "crc32c.h"
#include "error.h"
#include "producer_history_inside.h"

/* ---- the snapshot file
 *
 *    at  size  meaning                        per producer, at  size  meaning
 *     0    2   version, 1                                    0    8   producer id
 *     2    4   CRC-32C of what follows                       8    2   epoch
 *     6    4   number of producers                          10    4   last sequence, -1 none
 *    10        producers                                    14    8   last offset, -1 none
 *                                                           22    4   offset delta of that batch
 *                                                           26    8   timestamp
 *                                                           34    4   coordinator epoch, -1 none
 *                                                           38    8   first offset of the open
 *                                                                     transaction, -1 none */

#define SNAPSHOT_VERSION     1
#define SNAPSHOT_HEADER_SIZE 10
#define SNAPSHOT_ENTRY_SIZE  46
#define SNAPSHOT_CRC_FROM    6

static int compare_ids(const void *a, const void *b)
{
    int64_t id_a = (*(struct producer *const *)a)->id, id_b = (*(struct producer *const *)b)->id;
    return id_a < id_b ? -1 : id_a > id_b;
}

static struct producer_snapshot snapshot_of(const struct producer *producer)
{
    static const struct remembered_batch none = { -1, 0, -1, -1 };
    const struct remembered_batch *newest = producer_batch(producer, 0);
    if (newest == NULL) newest = &none;
    return (struct producer_snapshot){
        .id = producer->id,
        .epoch = producer->epoch,
        .last_sequence = newest->last_sequence,
        .last_offset = newest->last_offset,
        .offset_delta = newest->offset_delta,
        .timestamp = producer->last_timestamp,
        .coordinator_epoch = producer->coordinator_epoch,
        .first_open_offset = producer->open == NULL ? -1 : producer->open->first_offset,
    };
}

bool producer_history_find(const struct producer_history *history, int64_t id,
                           struct producer_snapshot *producer)
{
    const struct producer *found = producer_find(history, id);
    if (found != NULL) *producer = snapshot_of(found);
    return found != NULL;
}

static void write_producer(const struct producer_snapshot *producer, struct buffer *out)
{
    buffer_i64(out, producer->id);
    buffer_i16(out, producer->epoch);
    buffer_i32(out, producer->last_sequence);
    buffer_i64(out, producer->last_offset);
    buffer_i32(out, producer->offset_delta);
    buffer_i64(out, producer->timestamp);
    buffer_i32(out, producer->coordinator_epoch);
    buffer_i64(out, producer->first_open_offset);
}

int producer_history_write(const struct producer_history *history, struct buffer *out)
{
    size_t before = out->length, count = 0;
    struct producer **sorted = mem_calloc(history->count, sizeof *sorted);
    if (sorted == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < (size_t)1 << history->bucket_bits; i++)
        for (struct producer *producer = history->buckets[i]; producer != NULL;
             producer = producer->next)
            sorted[count++] = producer;
    if (count > 0) qsort(sorted, count, sizeof *sorted, compare_ids);
    buffer_i16(out, SNAPSHOT_VERSION);
    buffer_i32(out, 0);
    buffer_i32(out, (int32_t)count);
    for (size_t i = 0; i < count; i++) {
        struct producer_snapshot producer = snapshot_of(sorted[i]);
        write_producer(&producer, out);
    }
    mem_free(sorted);
    if (out->failed) return ERR_NO_MEMORY;
    uint8_t *covered = out->data + before + SNAPSHOT_CRC_FROM;
    store_i32(covered - 4, (int32_t)crc32c(covered, out->length - before - SNAPSHOT_CRC_FROM));
    return 0;
}

static struct producer_snapshot read_producer(const uint8_t *at)
{
    return (struct producer_snapshot){
        .id = load_i64(at),
        .epoch = load_i16(at + 8),
        .last_sequence = load_i32(at + 10),
        .last_offset = load_i64(at + 14),
        .offset_delta = load_i32(at + 22),
        .timestamp = load_i64(at + 26),
        .coordinator_epoch = load_i32(at + 34),
        .first_open_offset = load_i64(at + 38),
    };
}

int producer_snapshot_parse(const void *data, size_t length,
                            int (*each)(void *context, const struct producer_snapshot *producer),
                            void *context)
{
    const uint8_t *bytes = data;
    if (length < SNAPSHOT_HEADER_SIZE || load_i16(bytes) != SNAPSHOT_VERSION ||
        (uint32_t)load_i32(bytes + 2) !=
            crc32c(bytes + SNAPSHOT_CRC_FROM, length - SNAPSHOT_CRC_FROM))
        return ERR_CORRUPT_MESSAGE;
    int32_t count = load_i32(bytes + 6);
    if (count < 0 || (uint64_t)count * SNAPSHOT_ENTRY_SIZE != length - SNAPSHOT_HEADER_SIZE)
        return ERR_CORRUPT_MESSAGE;
    int err = 0;
    for (int32_t i = 0; err == 0 && i < count; i++) {
        struct producer_snapshot producer = read_producer(bytes + SNAPSHOT_HEADER_SIZE +
                                                          (size_t)i * SNAPSHOT_ENTRY_SIZE);
        err = each(context, &producer);
    }
    return err;
}

struct taking {
    struct producer_history *history;
    int64_t before_ms, now_ms;
};

static int take_producer(void *context, const struct producer_snapshot *snapshot)
{
    struct taking *taking = context;
    struct producer_history *history = taking->history;
    if (snapshot->id < 0 || snapshot->offset_delta < 0 ||
        (snapshot->last_offset >= 0 && snapshot->offset_delta > snapshot->last_offset) ||
        producer_find(history, snapshot->id) != NULL)
        return ERR_CORRUPT_MESSAGE;
    if (snapshot->first_open_offset < 0 && snapshot->timestamp < taking->before_ms) return 0;
    struct producer *producer = producer_insert(history, snapshot->id, snapshot->epoch);
    if (producer == NULL) return ERR_NO_MEMORY;
    producer->last_timestamp = snapshot->timestamp;
    producer->seen_ms = snapshot->timestamp < taking->now_ms ? snapshot->timestamp : taking->now_ms;
    producer->coordinator_epoch = snapshot->coordinator_epoch;
    if (snapshot->last_offset >= 0)
        producer_remember(producer, &(struct remembered_batch){
                                        .last_sequence = snapshot->last_sequence,
                                        .offset_delta = snapshot->offset_delta,
                                        .last_offset = snapshot->last_offset,
                                        .timestamp = snapshot->timestamp,
                                    });
    if (snapshot->first_open_offset < 0) return 0;
    /* The list is brought into order at the end: an order that somebody chose must not cost more. */
    producer->open = mem_alloc(sizeof *producer->open);
    if (producer->open == NULL) return ERR_NO_MEMORY;
    producer->open->first_offset = snapshot->first_open_offset;
    list_push_back(&history->open, &producer->open->node);
    return 0;
}

static int compare_first_offsets(const void *a, const void *b)
{
    const struct open_transaction *left = *(struct open_transaction *const *)a;
    const struct open_transaction *right = *(struct open_transaction *const *)b;
    return left->first_offset < right->first_offset ? -1 : left->first_offset > right->first_offset;
}

static int sort_open(struct producer_history *history)
{
    size_t count = 0;
    struct list *node;
    struct open_transaction **sorted = mem_calloc(history->count + 1, sizeof *sorted);
    if (sorted == NULL) return ERR_NO_MEMORY;
    while ((node = list_pop_front(&history->open)) != NULL)
        sorted[count++] = LIST_OWNER(node, struct open_transaction, node);
    qsort(sorted, count, sizeof *sorted, compare_first_offsets);
    for (size_t i = 0; i < count; i++)
        list_push_back(&history->open, &sorted[i]->node);
    mem_free(sorted);
    return 0;
}

int producer_history_read(struct producer_history *history, const void *data, size_t length,
                          int64_t before_ms, int64_t now_ms)
{
    struct taking taking = { NULL, before_ms, now_ms };
    int err = producer_history_open(&taking.history);
    struct producer_history *fresh = taking.history;
    if (err == 0) err = producer_snapshot_parse(data, length, take_producer, &taking);
    if (err == 0) err = sort_open(fresh);
    if (err == 0) {
        producer_history_clear(history);
        struct producer_history empty = *history;
        history->buckets = fresh->buckets;
        history->bucket_bits = fresh->bucket_bits;
        history->secret = fresh->secret;
        history->count = fresh->count;
        for (struct list *node; (node = list_pop_front(&fresh->open)) != NULL;)
            list_push_back(&history->open, node);
        fresh->buckets = empty.buckets;
        fresh->bucket_bits = empty.bucket_bits;
        fresh->secret = empty.secret;
        fresh->count = 0;
    }
    producer_history_close(fresh);
    return err;
}

/* ---- the file of recent batches
 *
 *    at  size  meaning                        per producer, at  size  meaning
 *     0    2   version, 1                                    0    8   producer id
 *     2    4   CRC-32C of what follows                       8    2   epoch
 *     6    4   number of producers                          10    1   number of batches, 2 to 5
 *    10        producers                                    11        batches, oldest first:
 *                                                            0    4   last sequence
 *                                                            4    4   offset delta
 *                                                            8    8   last offset
 *                                                           16    8   timestamp */

#define BATCHES_VERSION      1
#define BATCHES_HEADER_SIZE  10
#define BATCHES_ENTRY_HEADER 11
#define BATCH_SIZE           24

static void write_batches(const struct producer *producer, struct buffer *out)
{
    buffer_i64(out, producer->id);
    buffer_i16(out, producer->epoch);
    buffer_i8(out, (int8_t)producer->batch_count);
    for (unsigned i = producer->batch_count; i > 0; i--) {
        const struct remembered_batch *batch = producer_batch(producer, i - 1);
        buffer_i32(out, batch->last_sequence);
        buffer_i32(out, batch->offset_delta);
        buffer_i64(out, batch->last_offset);
        buffer_i64(out, batch->timestamp);
    }
}

int producer_history_write_batches(const struct producer_history *history, struct buffer *out,
                                   size_t *count)
{
    size_t before = out->length, found = 0;
    buffer_i16(out, BATCHES_VERSION);
    buffer_i32(out, 0);
    buffer_i32(out, 0);
    for (size_t i = 0; i < (size_t)1 << history->bucket_bits; i++)
        for (const struct producer *producer = history->buckets[i]; producer != NULL;
             producer = producer->next) {
            if (producer->batch_count < 2) continue;
            write_batches(producer, out);
            found++;
        }
    if (out->failed) return ERR_NO_MEMORY;
    uint8_t *covered = out->data + before + SNAPSHOT_CRC_FROM;
    store_i32(covered, (int32_t)found);
    store_i32(covered - 4, (int32_t)crc32c(covered, out->length - before - SNAPSHOT_CRC_FROM));
    *count = found;
    return 0;
}

/* Puts a batch behind the oldest that is remembered, if it is older and there is room. */
static void remember_older(struct producer *producer, const struct remembered_batch *batch)
{
    unsigned count = producer->batch_count;
    const struct remembered_batch *oldest = count == 0 ? NULL : producer_batch(producer, count - 1);
    if (oldest == NULL || count == REMEMBERED_BATCHES || batch->last_offset >= oldest->last_offset)
        return;
    producer->batches[(producer->newest + REMEMBERED_BATCHES - count) % REMEMBERED_BATCHES] =
        *batch;
    producer->batch_count++;
}

/* The batches of one entry, newest first. */
static int parse_entry(const uint8_t *entry, unsigned count,
                       int (*each)(void *context, const struct producer_recent_batch *batch),
                       void *context)
{
    int err = 0;
    for (unsigned i = count; err == 0 && i > 0; i--) {
        const uint8_t *at = entry + BATCHES_ENTRY_HEADER + (size_t)(i - 1) * BATCH_SIZE;
        struct producer_recent_batch batch = {
            .producer_id = load_i64(entry),
            .producer_epoch = load_i16(entry + 8),
            .last_sequence = load_i32(at),
            .offset_delta = load_i32(at + 4),
            .last_offset = load_i64(at + 8),
            .timestamp = load_i64(at + 16),
        };
        if (batch.last_sequence < 0 || batch.offset_delta < 0 ||
            batch.last_offset < batch.offset_delta)
            return ERR_CORRUPT_MESSAGE;
        err = each(context, &batch);
    }
    return err;
}

int producer_batches_parse(const void *data, size_t length,
                           int (*each)(void *context, const struct producer_recent_batch *batch),
                           void *context)
{
    const uint8_t *bytes = data;
    size_t at = BATCHES_HEADER_SIZE;
    if (length < BATCHES_HEADER_SIZE || load_i16(bytes) != BATCHES_VERSION ||
        (uint32_t)load_i32(bytes + 2) !=
            crc32c(bytes + SNAPSHOT_CRC_FROM, length - SNAPSHOT_CRC_FROM))
        return ERR_CORRUPT_MESSAGE;
    int32_t count = load_i32(bytes + 6);
    int err = count < 0 ? ERR_CORRUPT_MESSAGE : 0;
    for (int32_t i = 0; i < count && err == 0; i++) {
        if (length - at < BATCHES_ENTRY_HEADER) return ERR_CORRUPT_MESSAGE;
        unsigned batch_count = bytes[at + 10];
        size_t size = BATCHES_ENTRY_HEADER + (size_t)batch_count * BATCH_SIZE;
        if (batch_count < 2 || batch_count > REMEMBERED_BATCHES || length - at < size)
            return ERR_CORRUPT_MESSAGE;
        err = parse_entry(bytes + at, batch_count, each, context);
        at += size;
    }
    return err == 0 && at != length ? ERR_CORRUPT_MESSAGE : err;
}

struct merging {
    struct producer_history *history;
    int64_t below_offset;
    bool has_more;
};

static int merge_batch(void *context, const struct producer_recent_batch *recent)
{
    struct merging *merging = context;
    struct producer *producer = producer_find(merging->history, recent->producer_id);
    struct remembered_batch batch = { recent->last_sequence, recent->offset_delta,
                                      recent->last_offset, recent->timestamp };
    if (recent->last_offset >= merging->below_offset)
        merging->has_more = true;
    else if (producer != NULL && producer->epoch == recent->producer_epoch)
        remember_older(producer, &batch);
    return 0;
}

int producer_history_merge_batches(struct producer_history *history, const void *data,
                                   size_t length, int64_t below_offset, bool *has_more)
{
    struct merging merging = { history, below_offset, false };
    int err = producer_batches_parse(data, length, merge_batch, &merging);
    *has_more = merging.has_more;
    return err;
}
