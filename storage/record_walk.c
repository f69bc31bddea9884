// SPDX-License-Identifier: Apache-2.0
#include "alloc.h"
#include "error.h"
#include "record_reader.h"

struct record_walk {
    struct record_batch batch;
    struct record_reader reader;
    int32_t left;
};

int record_walk_open(struct record_walk **walk, const struct record_batch *batch,
                     int64_t max_decompressed_bytes)
{
    if (batch->record_count < 0) return ERR_INVALID_RECORD;
    struct record_walk *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->batch = *batch;
    opened->left = batch->record_count;
    int err = record_reader_open(&opened->reader, batch, max_decompressed_bytes, true);
    if (err == 0)
        *walk = opened;
    else
        record_walk_close(opened);
    return err;
}

void record_walk_close(struct record_walk *walk)
{
    if (walk == NULL) return;
    record_reader_close(&walk->reader);
    mem_free(walk);
}

static int64_t add_wrapping(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

int record_walk_next(struct record_walk *walk, struct record *record)
{
    const struct record_batch *batch = &walk->batch;
    /* Compaction leaves batches without records, whatever their codec says. */
    if (batch->record_count == 0) return ERR_NOT_FOUND;
    if (walk->left == 0) {
        int err = record_reader_finish(&walk->reader);
        return err == 0 ? ERR_NOT_FOUND : err;
    }
    struct record_fields fields;
    int err = record_reader_next(&walk->reader, &fields);
    if (err != 0) return err;
    walk->left--;
    *record = (struct record){
        .offset = add_wrapping(batch->base_offset, fields.offset_delta),
        .timestamp = batch->attributes & BATCH_LOG_APPEND_TIME
                         ? batch->max_timestamp
                         : add_wrapping(batch->base_timestamp, fields.timestamp_delta),
        .key = fields.key,
        .value = fields.value,
        .header_count = fields.header_count,
        .headers = fields.headers,
    };
    return 0;
}

static struct bytes take_bytes(struct cursor *cursor)
{
    int32_t length = cursor_varint(cursor);
    if (length < 0) return BYTES_NULL;
    return (struct bytes){ cursor_take(cursor, (size_t)length), length };
}

int record_next_header(struct cursor *headers, struct record_header *header)
{
    if (!headers->bad && cursor_left(headers) == 0) return ERR_NOT_FOUND;
    struct record_header read = { .key = take_bytes(headers) };
    read.value = take_bytes(headers);
    if (headers->bad || read.key.length < 0) return ERR_INVALID_RECORD;
    *header = read;
    return 0;
}
