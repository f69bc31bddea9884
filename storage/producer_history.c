// SPDX-License-Identifier: Apache-2.0
/* A hash table of producers, and a list of the open transactions in the order of their offsets.
 *
 * Producer ids come from clients: the hash multiplies with a secret odd number, so nobody outside
 * can choose ids that meet in one bucket. A producer takes less than 200 bytes, table included. */

#include "producer_history.h"

#include <stdlib.h>
#include <sys/random.h>

#include "alloc.h"
#include "crc32c.h"
#include "error.h"
#include "list.h"

#define REMEMBERED_BATCHES 5
#define FIRST_BUCKET_BITS  3
#define MARKER_BYTES_MAX   65536 /* If somebody compressed it. */

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
    size_t count;
    struct list open; /* Of open_transaction, first offsets ascending. */
};

/* ---- the table */

static struct producer **bucket_of(struct producer **buckets, unsigned bits, uint64_t secret,
                                   int64_t id)
{
    return &buckets[((uint64_t)id * secret) >> (64 - bits)];
}

static struct producer *find(const struct producer_history *history, int64_t id)
{
    struct producer *producer = *bucket_of(history->buckets, history->bucket_bits, history->secret,
                                           id);
    while (producer != NULL && producer->id != id)
        producer = producer->next;
    return producer;
}

/* Lack of memory only makes the chains longer. */
static void grow(struct producer_history *history)
{
    size_t old_count = (size_t)1 << history->bucket_bits;
    struct producer **buckets = mem_calloc(old_count * 2, sizeof *buckets);
    if (buckets == NULL) return;
    for (size_t i = 0; i < old_count; i++) {
        for (struct producer *producer = history->buckets[i], *next; producer != NULL;
             producer = next) {
            next = producer->next;
            struct producer **bucket = bucket_of(buckets, history->bucket_bits + 1, history->secret,
                                                 producer->id);
            producer->next = *bucket;
            *bucket = producer;
        }
    }
    mem_free(history->buckets);
    history->buckets = buckets;
    history->bucket_bits++;
}

static struct producer *insert(struct producer_history *history, int64_t id, int16_t epoch)
{
    struct producer *producer = mem_zalloc(sizeof *producer);
    if (producer == NULL) return NULL;
    if (history->count >> history->bucket_bits > 0) grow(history);
    producer->id = id;
    producer->epoch = epoch;
    producer->coordinator_epoch = -1;
    producer->last_timestamp = -1;
    struct producer **bucket = bucket_of(history->buckets, history->bucket_bits, history->secret,
                                         id);
    producer->next = *bucket;
    *bucket = producer;
    history->count++;
    return producer;
}

static void end_transaction(struct producer *producer)
{
    if (producer->open != NULL) list_remove(&producer->open->node);
    mem_free(producer->open);
    producer->open = NULL;
}

/* Replayed logs and live appends begin transactions in order, so the place is found at once. */
static int begin_transaction(struct producer_history *history, struct producer *producer,
                             int64_t first_offset)
{
    struct open_transaction *open = mem_alloc(sizeof *open);
    if (open == NULL) return ERR_NO_MEMORY;
    open->first_offset = first_offset;
    struct list *behind = history->open.prev;
    while (behind != &history->open &&
           LIST_OWNER(behind, struct open_transaction, node)->first_offset > first_offset)
        behind = behind->prev;
    list_push_front(behind, &open->node);
    producer->open = open;
    return 0;
}

static bool is_any(const struct producer *producer, int64_t before_ms)
{
    (void)producer;
    (void)before_ms;
    return true;
}

static bool is_idle(const struct producer *producer, int64_t before_ms)
{
    return producer->open == NULL && producer->last_timestamp < before_ms;
}

static void remove_if(struct producer_history *history,
                      bool (*unwanted)(const struct producer *producer, int64_t before_ms),
                      int64_t before_ms)
{
    for (size_t i = 0; i < (size_t)1 << history->bucket_bits; i++) {
        struct producer **link = &history->buckets[i];
        while (*link != NULL) {
            struct producer *producer = *link;
            if (!unwanted(producer, before_ms)) {
                link = &producer->next;
                continue;
            }
            *link = producer->next;
            end_transaction(producer);
            mem_free(producer);
            history->count--;
        }
    }
}

int producer_history_open(struct producer_history **history)
{
    struct producer_history *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->bucket_bits = FIRST_BUCKET_BITS;
    opened->buckets = mem_calloc((size_t)1 << FIRST_BUCKET_BITS, sizeof *opened->buckets);
    if (opened->buckets == NULL) {
        mem_free(opened);
        return ERR_NO_MEMORY;
    }
    list_init(&opened->open);
    if (getrandom(&opened->secret, sizeof opened->secret, 0) != sizeof opened->secret)
        opened->secret = (uint64_t)(uintptr_t)
            opened; /* A kernel without it; better than nothing. */
    opened->secret |= 1;
    *history = opened;
    return 0;
}

void producer_history_close(struct producer_history *history)
{
    if (history == NULL) return;
    producer_history_clear(history);
    mem_free(history->buckets);
    mem_free(history);
}

void producer_history_clear(struct producer_history *history)
{
    remove_if(history, is_any, 0);
}

void producer_history_expire(struct producer_history *history, int64_t before_ms)
{
    remove_if(history, is_idle, before_ms);
}

static int compare_lasts(const void *a, const void *b)
{
    int64_t left = ((const struct producer_last *)a)->producer_id;
    int64_t right = ((const struct producer_last *)b)->producer_id;

    return left < right ? -1 : left > right;
}

int producer_history_lasts(const struct producer_history *history, struct producer_last **lasts,
                           size_t *count)
{
    struct producer_last *all = mem_calloc(history->count, sizeof *all);
    size_t taken = 0;

    if (all == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < (size_t)1 << history->bucket_bits; i++)
        for (const struct producer *producer = history->buckets[i]; producer != NULL;
             producer = producer->next)
            all[taken++] = (struct producer_last){
                .producer_id = producer->id,
                .epoch = producer->epoch,
                .last_offset = producer->batch_count > 0
                                   ? producer->batches[producer->newest].last_offset
                                   : -1,
            };
    if (taken > 0) qsort(all, taken, sizeof *all, compare_lasts);
    *lasts = all;
    *count = taken;
    return 0;
}

size_t producer_history_count(const struct producer_history *history)
{
    return history->count;
}

int64_t producer_history_first_open(const struct producer_history *history)
{
    return list_is_empty(&history->open)
               ? -1
               : LIST_OWNER(history->open.next, struct open_transaction, node)->first_offset;
}

/* ---- what a client may append */

static const struct remembered_batch *newest_batch(const struct producer *producer)
{
    return producer->batch_count == 0 ? NULL : &producer->batches[producer->newest];
}

static const struct remembered_batch *find_repeat(const struct producer *producer,
                                                  const struct record_batch *batch)
{
    int32_t last_sequence = record_batch_last_sequence(batch);
    for (unsigned i = 0; i < producer->batch_count; i++) {
        const struct remembered_batch *old = &producer->batches[i];
        if (old->last_sequence == last_sequence && old->offset_delta == batch->last_offset_delta)
            return old;
    }
    return NULL;
}

/* (2) */
static bool is_next(const struct producer *producer, const struct record_batch *batch)
{
    if (producer->epoch < 0)
        return true; /* Its batches had no epoch: nothing to hold it to, as in Kafka. */
    if (producer->epoch != batch->producer_epoch) return batch->base_sequence == 0;
    const struct remembered_batch *newest = newest_batch(producer);
    uint32_t last_sequence = newest == NULL ? UINT32_MAX : (uint32_t)newest->last_sequence;
    return (uint32_t)batch->base_sequence == ((last_sequence + 1) & INT32_MAX);
}

void producer_history_check(const struct producer_history *history,
                            const struct record_batch *batch, struct producer_verdict *verdict)
{
    *verdict = (struct producer_verdict){ .base_offset = -1, .last_offset = -1, .timestamp = -1 };
    if (batch->producer_id < 0) return;
    if (batch->base_sequence < 0 || (batch->attributes & BATCH_CONTROL) != 0) {
        verdict->err = ERR_INVALID_RECORD;
        return;
    }
    const struct producer *producer = find(history, batch->producer_id);
    if (producer == NULL) return; /* KIP-360 */
    const struct remembered_batch *repeat = producer->epoch == batch->producer_epoch
                                                ? find_repeat(producer, batch)
                                                : NULL;
    if (repeat != NULL) { /* (1) */
        verdict->is_repeat = true;
        verdict->base_offset = repeat->last_offset - repeat->offset_delta;
        verdict->last_offset = repeat->last_offset;
        verdict->timestamp = repeat->timestamp;
    } else if (batch->producer_epoch < producer->epoch) { /* (3) */
        verdict->err = ERR_INVALID_PRODUCER_EPOCH;
    } else if (!is_next(producer, batch)) {
        verdict->err = ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
    } else if (producer->open != NULL && (batch->attributes & BATCH_TRANSACTIONAL) == 0) {
        verdict->err = ERR_INVALID_TXN_STATE;
    }
}

/* ---- what is in the log */

static void set_epoch(struct producer *producer, int16_t epoch)
{
    if (producer->epoch != epoch)
        producer->batch_count = 0; /* Sequences of another epoch mean nothing. */
    producer->epoch = epoch;
}

static void remember(struct producer *producer, const struct remembered_batch *batch)
{
    producer->newest = producer->batch_count == 0
                           ? 0
                           : (uint8_t)((producer->newest + 1) % REMEMBERED_BATCHES);
    producer->batches[producer->newest] = *batch;
    if (producer->batch_count < REMEMBERED_BATCHES) producer->batch_count++;
}

static int add_data(struct producer_history *history, struct producer *producer,
                    const struct record_batch *batch)
{
    int err = 0;
    if ((batch->attributes & BATCH_TRANSACTIONAL) != 0 && producer->open == NULL)
        err = begin_transaction(history, producer, batch->base_offset);
    if (err != 0) return err;
    set_epoch(producer, batch->producer_epoch);
    remember(producer, &(struct remembered_batch){
                           .last_sequence = record_batch_last_sequence(batch),
                           .offset_delta = batch->last_offset_delta,
                           .last_offset = record_batch_last_offset(batch),
                           .timestamp = batch->max_timestamp,
                       });
    producer->last_timestamp = batch->max_timestamp;
    return 0;
}

struct end_marker {
    bool is_one; /* Other control records (leader changes …) say nothing of producers. */
    bool is_abort;
    int32_t coordinator_epoch;
    int64_t timestamp;
};

/* Key: int16 version, int16 type (0 abort, 1 commit). Value: int16 version, int32 coordinator
 * epoch. A control batch whose record was compacted away has none. */
static int read_end_marker(const struct record_batch *batch, struct end_marker *marker)
{
    struct record_walk *walk = NULL;
    struct record record = { 0 };
    int err = record_walk_open(&walk, batch, MARKER_BYTES_MAX);
    if (err == 0) err = record_walk_next(walk, &record);
    *marker = (struct end_marker){ .coordinator_epoch = -1 };
    if (err == 0 && record.key.length >= 4) {
        int16_t type = load_i16(record.key.data + 2);
        marker->is_one = type == 0 || type == 1;
        marker->is_abort = type == 0;
        marker->timestamp = record.timestamp;
        if (record.value.length >= 6) marker->coordinator_epoch = load_i32(record.value.data + 2);
    }
    record_walk_close(walk);
    return err == ERR_NO_MEMORY ? err : 0;
}

/* First offset of the oldest transaction that another producer has open; `none` if there is none. */
static int64_t first_open_of_others(const struct producer_history *history,
                                    const struct producer *producer, int64_t none)
{
    struct list *node = history->open.next;

    if (producer->open != NULL && node == &producer->open->node) node = node->next;
    return node == &history->open ? none
                                  : LIST_OWNER(node, struct open_transaction, node)->first_offset;
}

int producer_history_ends(const struct producer_history *history, const struct record_batch *batch,
                          struct ended_transaction *ended)
{
    struct end_marker marker = { 0 };

    *ended = (struct ended_transaction){ .producer_id = -1 };
    if (batch->producer_id < 0 || (batch->attributes & BATCH_CONTROL) == 0) return 0;
    const struct producer *producer = find(history, batch->producer_id);
    if (producer == NULL || producer->open == NULL) return 0;
    int err = read_end_marker(batch, &marker);
    if (err != 0 || !marker.is_one) return err;
    *ended = (struct ended_transaction){
        .producer_id = producer->id,
        .first_offset = producer->open->first_offset,
        .last_offset = batch->base_offset,
        .last_stable_offset = first_open_of_others(history, producer, batch->base_offset + 1),
        .is_aborted = marker.is_abort,
    };
    return 0;
}

int producer_history_add(struct producer_history *history, const struct record_batch *batch)
{
    struct end_marker marker = { 0 };
    bool is_control = (batch->attributes & BATCH_CONTROL) != 0;
    if (batch->producer_id < 0) return 0;
    int err = is_control ? read_end_marker(batch, &marker) : 0;
    if (err != 0 || (is_control && !marker.is_one)) return err;
    struct producer *producer = find(history, batch->producer_id);
    bool is_new = producer == NULL;
    if (is_new && (producer = insert(history, batch->producer_id, batch->producer_epoch)) == NULL)
        return ERR_NO_MEMORY;
    if (is_control) {
        set_epoch(producer, batch->producer_epoch);
        producer->coordinator_epoch = marker.coordinator_epoch;
        producer->last_timestamp = marker.timestamp;
        end_transaction(producer);
        return 0;
    }
    err = add_data(history, producer, batch);
    if (err != 0 && is_new) {
        *bucket_of(history->buckets, history->bucket_bits, history->secret,
                   producer->id) = producer->next; /* A new one is the first of its chain. */
        mem_free(producer);
        history->count--;
    }
    return err;
}

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
    const struct remembered_batch *newest = newest_batch(producer);
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
    const struct producer *found = find(history, id);
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

static int take_producer(void *context, const struct producer_snapshot *snapshot)
{
    struct producer_history *history = context;
    if (snapshot->id < 0 || find(history, snapshot->id) != NULL) return ERR_CORRUPT_MESSAGE;
    struct producer *producer = insert(history, snapshot->id, snapshot->epoch);
    if (producer == NULL) return ERR_NO_MEMORY;
    producer->last_timestamp = snapshot->timestamp;
    producer->coordinator_epoch = snapshot->coordinator_epoch;
    if (snapshot->last_offset >= 0)
        remember(producer, &(struct remembered_batch){
                               .last_sequence = snapshot->last_sequence,
                               .offset_delta = snapshot->offset_delta,
                               .last_offset = snapshot->last_offset,
                               .timestamp = snapshot->timestamp,
                           });
    return snapshot->first_open_offset < 0
               ? 0
               : begin_transaction(history, producer, snapshot->first_open_offset);
}

int producer_history_read(struct producer_history *history, const void *data, size_t length)
{
    struct producer_history *fresh = NULL;
    int err = producer_history_open(&fresh);
    if (err == 0) err = producer_snapshot_parse(data, length, take_producer, fresh);
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
        fresh->count = 0;
    }
    producer_history_close(fresh);
    return err;
}
