// SPDX-License-Identifier: Apache-2.0
#include "meta_batch.h"

#include "error.h"

static int16_t low_bits(int64_t term)
{
    return (int16_t)(term & INT16_MAX);
}

int meta_batch_put(struct batch_builder *builder, struct buffer *out, int64_t index,
                   const struct meta_entry *entry, int64_t flushed_index, int64_t now_ms)
{
    uint8_t type = (uint8_t)entry->type;
    int64_t distance = index - flushed_index;
    builder->base_offset = index;
    builder->leader_epoch = (int32_t)entry->term;
    builder->producer_epoch = low_bits(entry->term);
    builder->base_sequence = distance >= 1 && distance <= INT32_MAX ? (int32_t)distance : -1;
    batch_builder_append(builder, now_ms, (struct bytes){ &type, 1 }, entry->payload, NULL, 0);
    return batch_builder_finish(builder, out);
}

bool meta_batch_is_right(const struct record_batch *batch)
{
    return batch->attributes == 0 && batch->record_count == 1 && batch->last_offset_delta == 0 &&
           batch->leader_epoch >= 1 &&
           (batch->producer_epoch < 0 || batch->producer_epoch == low_bits(batch->leader_epoch));
}

int64_t meta_batch_on_disk_before(const struct record_batch *batch)
{
    if (batch->base_sequence < 1 || batch->base_sequence > batch->base_offset) return 0;
    return batch->base_offset - batch->base_sequence + 1;
}

int meta_batch_read_record(const struct record_batch *batch, const struct record *record,
                           struct meta_entry *entry)
{
    if (record->key.length != 1 || record->offset != batch->base_offset) return ERR_CORRUPT_MESSAGE;
    *entry = (struct meta_entry){ batch->leader_epoch, record->key.data[0], record->value };
    return 0;
}
