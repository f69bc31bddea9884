// SPDX-License-Identifier: Apache-2.0
/* A hash table of producers, and a list of the open transactions in the order of their offsets.
 *
 * Producer ids come from clients: the hash multiplies with a secret odd number, so nobody outside
 * can choose ids that meet in one bucket. A producer takes less than 200 bytes, table included. */

#include "producer_history_inside.h"

#include <stdlib.h>
#include <sys/random.h>

#include "alloc.h"
#include "error.h"

#define FIRST_BUCKET_BITS 3
#define MARKER_BYTES_MAX  65536 /* If somebody compressed it. */

/* ---- the table */

static struct producer **bucket_of(struct producer **buckets, unsigned bits, uint64_t secret,
                                   int64_t id)
{
    return &buckets[((uint64_t)id * secret) >> (64 - bits)];
}

struct producer *producer_find(const struct producer_history *history, int64_t id)
{
    struct producer *producer = *bucket_of(history->buckets, history->bucket_bits, history->secret,
                                           id);
    while (producer != NULL && producer->id != id)
        producer = producer->next;
    return producer;
}

/* Lack of memory only makes the chains longer. */
static void resize(struct producer_history *history, unsigned bits)
{
    struct producer **buckets = mem_calloc((size_t)1 << bits, sizeof *buckets);
    if (buckets == NULL) return;
    for (size_t i = 0; i < (size_t)1 << history->bucket_bits; i++) {
        for (struct producer *producer = history->buckets[i], *next; producer != NULL;
             producer = next) {
            next = producer->next;
            struct producer **bucket = bucket_of(buckets, bits, history->secret, producer->id);
            producer->next = *bucket;
            *bucket = producer;
        }
    }
    mem_free(history->buckets);
    history->buckets = buckets;
    history->bucket_bits = bits;
}

static void end_transaction(struct producer *producer)
{
    if (producer->open != NULL) list_remove(&producer->open->node);
    mem_free(producer->open);
    producer->open = NULL;
}

static bool is_any(const struct producer *producer, int64_t before_ms)
{
    (void)producer;
    (void)before_ms;
    return true;
}

static bool is_idle(const struct producer *producer, int64_t before_ms)
{
    return producer->open == NULL && producer->seen_ms < before_ms;
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

#define SAMPLES 512

static int compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

/* (5) About the quarter that was heard of longest ago, judged by some of them. */
static void forget_some(struct producer_history *history)
{
    int64_t times[SAMPLES];
    size_t count = 0, passed = 0, step = history->count / SAMPLES + 1;
    for (size_t i = 0; i < (size_t)1 << history->bucket_bits; i++)
        for (const struct producer *producer = history->buckets[i]; producer != NULL;
             producer = producer->next)
            if (producer->open == NULL && passed++ % step == 0 && count < SAMPLES)
                times[count++] = producer->seen_ms;
    if (count == 0) return;
    qsort(times, count, sizeof times[0], compare_times);
    remove_if(history, is_idle, times[count / 4] + 1);
}

struct producer *producer_insert(struct producer_history *history, int64_t id, int16_t epoch)
{
    struct producer *producer = mem_zalloc(sizeof *producer);
    if (producer == NULL) return NULL;
    if (history->count >= history->most) forget_some(history);
    if (history->count >> history->bucket_bits > 0) resize(history, history->bucket_bits + 1);
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

int producer_history_open(struct producer_history **history)
{
    struct producer_history *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->bucket_bits = FIRST_BUCKET_BITS;
    opened->most = PRODUCERS_MAX;
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
    unsigned bits = history->bucket_bits;
    remove_if(history, is_idle, before_ms);
    while (bits > FIRST_BUCKET_BITS && history->count < (size_t)1 << (bits - 2))
        bits--;
    if (bits < history->bucket_bits) resize(history, bits);
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

const struct remembered_batch *producer_batch(const struct producer *producer, unsigned nth)
{
    if (nth >= producer->batch_count) return NULL;
    return &producer->batches[(producer->newest + REMEMBERED_BATCHES - nth) % REMEMBERED_BATCHES];
}

static const struct remembered_batch *find_repeat(const struct producer *producer,
                                                  const struct record_batch *batch)
{
    int32_t last_sequence = record_batch_last_sequence(batch);
    for (unsigned i = 0; i < producer->batch_count; i++) {
        const struct remembered_batch *old = producer_batch(producer, i);
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
    const struct remembered_batch *newest = producer_batch(producer, 0);
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
    const struct producer *producer = producer_find(history, batch->producer_id);
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

void producer_remember(struct producer *producer, const struct remembered_batch *batch)
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
    producer_remember(producer, &(struct remembered_batch){
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
    const struct producer *producer = producer_find(history, batch->producer_id);
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

int producer_history_add(struct producer_history *history, const struct record_batch *batch,
                         int64_t seen_ms)
{
    struct end_marker marker = { 0 };
    bool is_control = (batch->attributes & BATCH_CONTROL) != 0;
    if (batch->producer_id < 0) return 0;
    int err = is_control ? read_end_marker(batch, &marker) : 0;
    if (err != 0 || (is_control && !marker.is_one)) return err;
    struct producer *producer = producer_find(history, batch->producer_id);
    bool is_new = producer == NULL;
    if (is_new &&
        (producer = producer_insert(history, batch->producer_id, batch->producer_epoch)) == NULL)
        return ERR_NO_MEMORY;
    if (is_control) {
        set_epoch(producer, batch->producer_epoch);
        producer->coordinator_epoch = marker.coordinator_epoch;
        producer->last_timestamp = marker.timestamp;
        producer->seen_ms = seen_ms;
        end_transaction(producer);
        return 0;
    }
    err = add_data(history, producer, batch);
    if (err == 0) producer->seen_ms = seen_ms;
    if (err != 0 && is_new) {
        *bucket_of(history->buckets, history->bucket_bits, history->secret,
                   producer->id) = producer->next; /* A new one is the first of its chain. */
        mem_free(producer);
        history->count--;
    }
    return err;
}
