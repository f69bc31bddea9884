// SPDX-License-Identifier: Apache-2.0
/* What was appended, and what of it must survive. */

#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "error.h"

void model_clear(struct model_batches *batches)
{
    for (size_t i = 0; i < batches->count; i++)
        free(batches->list[i].data);
    batches->count = 0;
}

static void note_records(struct world *world, struct model_batch *batch)
{
    struct record_walk *walk = NULL;
    struct record record;
    struct record_batch header = batch->header;
    int count = 0;

    header.data = batch->data;
    int err = record_walk_open(&walk, &header, INT32_MAX);
    while (err == 0 && (err = record_walk_next(walk, &record)) == 0 && count < BATCH_RECORDS) {
        batch->records[count++] = (struct model_record){
            .offset = record.offset,
            .timestamp = record.timestamp,
            .key = record.key.length == 8 ? load_i64(record.key.data) : -1,
            .is_tombstone = record.value.length < 0,
            .covered_ms = -1,
        };
        batch->is_abort = (header.attributes & BATCH_CONTROL) != 0 && record.key.length >= 4 &&
                          load_i16(record.key.data + 2) == 0;
    }
    record_walk_close(walk);
    batch->record_count = count;
    promise(world, err == ERR_NOT_FOUND, "a batch of ours can be walked: %s", error_name(err));
}

void model_add(struct world *world, struct model_batches *batches, const uint8_t *data, size_t size)
{
    if (batches->count == batches->capacity) {
        batches->capacity = batches->capacity == 0 ? 32 : batches->capacity * 2;
        batches->list = realloc(batches->list, batches->capacity * sizeof *batches->list);
        if (batches->list == NULL) abort();
    }
    struct model_batch *batch = &batches->list[batches->count];
    *batch = (struct model_batch){ .size = size, .data = malloc(size), .life = world->life };
    if (batch->data == NULL) abort();
    memcpy(batch->data, data, size);
    batches->count++;
    int err = record_batch_read_header(&batch->header, batch->data, size);
    promise(world, err == 0, "a batch of ours has a header: %s", error_name(err));
    batch->base_offset = batch->header.base_offset;
    batch->last_offset = record_batch_last_offset(&batch->header);
    note_records(world, batch);
}

void model_remove(struct model_batches *batches, size_t index)
{
    free(batches->list[index].data);
    batches->count--;
    memmove(&batches->list[index], &batches->list[index + 1],
            (batches->count - index) * sizeof *batches->list);
}

void model_replace(struct world *world, struct model_batch *batch, const uint8_t *data, size_t size)
{
    struct model_batch before = *batch;

    batch->data = malloc(size);
    if (batch->data == NULL) abort();
    memcpy(batch->data, data, size);
    batch->size = size;
    int err = record_batch_read_header(&batch->header, batch->data, size);
    promise(world, err == 0, "what was read has a header");
    note_records(world, batch);
    for (int i = 0; i < batch->record_count; i++)
        for (int k = 0; k < before.record_count; k++)
            if (before.records[k].offset == batch->records[i].offset)
                batch->records[i] = before.records[k];
    free(before.data);
}

/* Gone may be what has a later record of its key below the pass's end, and a tombstone that an earlier pass has
 * seen delete.retention.ms ago: the horizon that it was given then is no earlier. */
void model_note_pass(struct partition *partition, int64_t below_offset, int64_t now_ms)
{
    bool has_later[WORLD_KEYS] = { false };

    for (size_t i = partition->batches.count; i > 0; i--) {
        struct model_batch *batch = &partition->batches.list[i - 1];
        for (int k = batch->record_count; k > 0; k--) {
            struct model_record *record = &batch->records[k - 1];
            if (record->offset >= below_offset || record->key < 0 || record->key >= WORLD_KEYS)
                continue;
            bool is_expired = record->is_tombstone && record->covered_ms >= 0 &&
                              now_ms - record->covered_ms >=
                                  partition->settings.delete_retention_ms;
            if (has_later[record->key] || is_expired) record->may_go = true;
            if (record->covered_ms < 0) record->covered_ms = now_ms;
            has_later[record->key] = true;
        }
    }
}

void model_begin_at(struct partition *partition, int64_t offset)
{
    model_clear(&partition->batches);
    model_clear(&partition->refused);
    partition->floor = partition->start = partition->durable_start = offset;
    partition->highest_start = offset;
    partition->end = partition->durable = offset;
    partition->restarting_at = -1;
    partition->is_being_deleted = false;
    partition->may_read_again = partition->was_checkpointed = false;
}

int64_t model_boundary(const struct partition *partition, int64_t offset)
{
    int64_t boundary = partition->floor;

    for (size_t i = 0; i < partition->batches.count; i++)
        if (partition->batches.list[i].last_offset < offset &&
            partition->batches.list[i].last_offset >= boundary)
            boundary = partition->batches.list[i].last_offset + 1;
    return boundary;
}

void model_cut(struct partition *partition, int64_t offset)
{
    struct model_batches *batches = &partition->batches;

    while (batches->count > 0 && batches->list[batches->count - 1].last_offset >= offset)
        free(batches->list[--batches->count].data);
    partition->end = offset;
    if (partition->start > offset) partition->start = offset;
    int64_t boundary = model_boundary(partition, offset);
    if (partition->durable > boundary) partition->durable = boundary;
}

void model_note_flushed(struct world *world, struct partition *partition)
{
    if (partition->log == NULL) return;
    int64_t flushed = partition_log_flushed_offset(partition->log);
    if (world->plant == PLANT_ACK_BEFORE_SYNC) flushed = partition->end;
    promise(world, flushed <= partition->end, "%s-%d: flushed to %lld, ends at %lld",
            partition->topic, partition->number, (long long)flushed, (long long)partition->end);
    int64_t boundary = model_boundary(partition, flushed);
    if (boundary > partition->durable) partition->durable = boundary;
}

void model_note_checkpoints(struct world *world)
{
    for (int i = 0; i < world->partition_count; i++) {
        struct partition *partition = &world->partitions[i];
        int64_t start;
        if (partition->was_checkpointed) partition->may_read_again = false;
        /* A start that only the names of the segments tell of may go back with them. */
        if (data_dir_checkpoint(world->dir, CHECKPOINT_LOG_START, partition->topic,
                                partition->number, &start) &&
            start > partition->durable_start)
            partition->durable_start = start;
    }
}

const struct model_batch *model_newest(const struct partition *partition, int64_t producer_id)
{
    for (size_t i = partition->batches.count; i > 0; i--) {
        const struct model_batch *batch = &partition->batches.list[i - 1];
        if (batch->header.producer_id == producer_id &&
            (batch->header.attributes & BATCH_CONTROL) == 0)
            return batch;
    }
    return NULL;
}

int64_t model_open_since(const struct partition *partition, int64_t producer_id, int64_t from)
{
    int64_t since = -1;

    for (size_t i = 0; i < partition->batches.count; i++) {
        const struct model_batch *batch = &partition->batches.list[i];
        if (batch->header.producer_id != producer_id) continue;
        if (batch->header.attributes & BATCH_CONTROL)
            since = -1;
        else if ((batch->header.attributes & BATCH_TRANSACTIONAL) && since < 0 &&
                 batch->last_offset >= from)
            since = batch->base_offset;
    }
    return since;
}

size_t model_find_aborted(const struct partition *partition,
                          struct model_aborted aborted[MODEL_ABORTED_MAX])
{
    int64_t since[WORLD_PRODUCERS] = { -1, -1, -1, -1 };
    size_t count = 0;

    for (size_t i = 0; i < partition->batches.count; i++) {
        const struct model_batch *batch = &partition->batches.list[i];
        int64_t id = batch->header.producer_id;
        if (id < 1000 || (batch->header.attributes & BATCH_TRANSACTIONAL) == 0) continue;
        int64_t *first = &since[id - 1000];
        if ((batch->header.attributes & BATCH_CONTROL) == 0) {
            if (*first < 0) *first = batch->base_offset;
            continue;
        }
        if (batch->is_abort && *first >= 0 && count < MODEL_ABORTED_MAX)
            aborted[count++] = (struct model_aborted){ id, *first, batch->base_offset };
        *first = -1;
    }
    return count;
}
