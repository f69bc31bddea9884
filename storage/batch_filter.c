// SPDX-License-Identifier: Apache-2.0
#include "batch_filter.h"

#include "batch_builder.h"
#include "error.h"

#define BATCH_NO_TIMESTAMP  (-1)
#define BATCH_ATTRIBUTES_OF (BATCH_LOG_APPEND_TIME | BATCH_TRANSACTIONAL | BATCH_CONTROL)

/* What a look at every record told. */
struct wish {
    struct buffer keep; /* A byte for each record: 1, it is wanted. */
    int32_t kept_count;
    bool has_tombstone; /* Among the wanted. */
};

/* No bound of its own for what it decompresses to: that was checked when it came. */
static int walk_open(struct record_walk **walk, const struct record_batch *batch)
{
    return record_walk_open(walk, batch, INT64_MAX);
}

static int look(const struct batch_filter *filter, const struct record_batch *batch,
                struct wish *wish)
{
    struct record_walk *walk = NULL;
    struct record record;
    int err = walk_open(&walk, batch);
    while (err == 0 && (err = record_walk_next(walk, &record)) == 0) {
        bool is_wanted = filter->wants(filter->context, batch, &record);
        buffer_i8(&wish->keep, is_wanted);
        if (wish->keep.failed) err = ERR_NO_MEMORY;
        if (!is_wanted) continue;
        wish->kept_count++;
        if (record.value.length < 0) wish->has_tombstone = true;
    }
    record_walk_close(walk);
    return err == ERR_NOT_FOUND ? 0 : err;
}

static void copy_header(struct batch_builder *builder, const struct record_batch *batch)
{
    builder->base_offset = batch->base_offset;
    builder->leader_epoch = batch->leader_epoch;
    builder->attributes = batch->attributes & BATCH_ATTRIBUTES_OF;
    builder->producer_id = batch->producer_id;
    builder->producer_epoch = batch->producer_epoch;
    builder->base_sequence = batch->base_sequence;
    builder->last_offset_delta = batch->last_offset_delta;
}

/* By (2) and (3). */
static int write_anew(const struct record_batch *batch, const struct wish *wish, bool has_horizon,
                      int64_t horizon_ms, struct buffer *out)
{
    struct batch_builder builder;
    struct record_walk *walk = NULL;
    struct record record;
    size_t index = 0;

    batch_builder_init(&builder);
    copy_header(&builder, batch);
    builder.attributes |= batch->attributes & BATCH_CODEC_MASK;
    if (has_horizon) {
        builder.attributes |= BATCH_DELETE_HORIZON;
        builder.base_timestamp = horizon_ms;
    }
    int err = walk_open(&walk, batch);
    while (err == 0 && (err = record_walk_next(walk, &record)) == 0) {
        if (wish->keep.data[index++])
            batch_builder_copy(&builder, &record, (int32_t)(record.offset - batch->base_offset));
    }
    record_walk_close(walk);
    if (err == ERR_NOT_FOUND) err = batch_builder_finish(&builder, out);
    batch_builder_close(&builder);
    return err;
}

/* By (4). */
static int write_empty(const struct record_batch *batch, struct buffer *out)
{
    struct batch_builder builder;

    batch_builder_init(&builder);
    copy_header(&builder, batch);
    builder.base_timestamp = BATCH_NO_TIMESTAMP;
    builder.max_timestamp = batch->max_timestamp;
    int err = batch_builder_finish(&builder, out);
    batch_builder_close(&builder);
    return err;
}

static int write_same(const struct record_batch *batch, struct buffer *out)
{
    size_t before = out->length;

    buffer_put(out, batch->data, batch->size);
    if (!out->failed) return 0;
    out->length = before;
    return ERR_NO_MEMORY;
}

int batch_filter(const struct batch_filter *filter, const struct record_batch *batch,
                 struct buffer *out)
{
    struct wish wish = { .kept_count = 0 };
    int64_t horizon_ms;
    bool has_horizon = record_batch_delete_horizon(batch, &horizon_ms);

    buffer_init(&wish.keep);
    int err = look(filter, batch, &wish);
    bool needs_horizon = !has_horizon && (wish.has_tombstone || filter->needs_horizon);
    if (err == 0 && wish.kept_count > 0) {
        if ((size_t)wish.kept_count == wish.keep.length && !needs_horizon)
            err = write_same(batch, out);
        else
            err = write_anew(batch, &wish, has_horizon || needs_horizon,
                             needs_horizon ? filter->delete_horizon_ms : horizon_ms, out);
    } else if (err == 0 && filter->keeps_empty) {
        err = write_empty(batch, out);
    }
    buffer_close(&wish.keep);
    return err;
}
