// SPDX-License-Identifier: Apache-2.0
#include "batch_builder.h"

#include "compress.h"
#include "crc32c.h"
#include "error.h"

#define CRC_AT   17
#define CRC_FROM 21

static void start(struct batch_builder *builder)
{
    struct buffer records = builder->records;
    records.length = 0;
    records.failed = false;
    *builder = (struct batch_builder){
        .producer_id = -1,
        .producer_epoch = -1,
        .base_sequence = -1,
        .last_offset_delta = -1,
        .records = records,
        .base_timestamp = -1,
        .max_timestamp = -1,
    };
}

void batch_builder_init(struct batch_builder *builder)
{
    buffer_init(&builder->records);
    start(builder);
}

void batch_builder_close(struct batch_builder *builder)
{
    buffer_close(&builder->records);
}

static size_t zigzag_size(int64_t value)
{
    uint64_t raw = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    size_t size = 1;
    for (; raw >= 0x80; raw >>= 7)
        size++;
    return size;
}

static size_t bytes_size(struct bytes bytes)
{
    return bytes.length < 0 ? 1 : zigzag_size(bytes.length) + (size_t)bytes.length;
}

static void put_bytes(struct buffer *out, struct bytes bytes)
{
    buffer_varint(out, bytes.length < 0 ? -1 : bytes.length);
    if (bytes.length > 0) buffer_put(out, bytes.data, (size_t)bytes.length);
}

/* Everything of a record but its headers, of which there are `header_bytes`. False: it does not fit. */
static bool put_record(struct batch_builder *builder, const struct record *record,
                       int32_t offset_delta, size_t header_bytes)
{
    struct buffer *out = &builder->records;
    if (builder->record_count == 0 && !(builder->attributes & BATCH_DELETE_HORIZON))
        builder->base_timestamp = record->timestamp;
    if (record->timestamp > builder->max_timestamp) builder->max_timestamp = record->timestamp;
    int64_t timestamp_delta = (int64_t)((uint64_t)record->timestamp -
                                        (uint64_t)builder->base_timestamp);
    size_t size = 1 + zigzag_size(timestamp_delta) + zigzag_size(offset_delta) +
                  bytes_size(record->key) + bytes_size(record->value) +
                  zigzag_size(record->header_count) + header_bytes;
    if (size > INT32_MAX - builder->records.length) {
        out->failed = true;
        return false;
    }
    builder->record_count++;
    buffer_varint(out, (int32_t)size);
    buffer_i8(out, 0);
    buffer_varlong(out, timestamp_delta);
    buffer_varint(out, offset_delta);
    put_bytes(out, record->key);
    put_bytes(out, record->value);
    buffer_varint(out, record->header_count);
    return true;
}

void batch_builder_append(struct batch_builder *builder, int64_t timestamp, struct bytes key,
                          struct bytes value, const struct record_header *headers,
                          int32_t header_count)
{
    struct record record = {
        .timestamp = timestamp,
        .key = key,
        .value = value,
        .header_count = header_count,
    };
    size_t header_bytes = 0;
    for (int32_t i = 0; i < header_count; i++)
        header_bytes += bytes_size(headers[i].key) + bytes_size(headers[i].value);
    if (!put_record(builder, &record, builder->record_count, header_bytes)) return;
    for (int32_t i = 0; i < header_count; i++) {
        put_bytes(&builder->records, headers[i].key);
        put_bytes(&builder->records, headers[i].value);
    }
}

void batch_builder_copy(struct batch_builder *builder, const struct record *record,
                        int32_t offset_delta)
{
    size_t length = record->headers.length > 0 ? (size_t)record->headers.length : 0;
    if (put_record(builder, record, offset_delta, length) && length > 0)
        buffer_put(&builder->records, record->headers.data, length);
}

size_t batch_builder_size(const struct batch_builder *builder)
{
    return RECORD_BATCH_HEADER_SIZE + builder->records.length;
}

static void put_header(const struct batch_builder *builder, struct buffer *out)
{
    buffer_i64(out, builder->base_offset);
    buffer_i32(out, 0); /* Length and CRC come when the payload is there. */
    buffer_i32(out, builder->leader_epoch);
    buffer_i8(out, 2);
    buffer_i32(out, 0);
    buffer_i16(out, builder->attributes);
    buffer_i32(out, builder->last_offset_delta >= 0 ? builder->last_offset_delta
                                                    : builder->record_count - 1);
    buffer_i64(out, builder->base_timestamp);
    buffer_i64(out, builder->max_timestamp);
    buffer_i64(out, builder->producer_id);
    buffer_i16(out, builder->producer_epoch);
    buffer_i32(out, builder->base_sequence);
    buffer_i32(out, builder->record_count);
}

int batch_builder_finish(struct batch_builder *builder, struct buffer *out)
{
    size_t before = out->length;
    enum codec codec = builder->attributes & BATCH_CODEC_MASK;
    int err = builder->records.failed ? ERR_NO_MEMORY : 0;
    put_header(builder, out);
    if (err == 0 && codec == CODEC_NONE)
        buffer_put(out, builder->records.data, builder->records.length);
    else if (err == 0)
        err = codec_compress(codec, codec_default_level(codec), builder->records.data,
                             builder->records.length, out);
    if (err == 0 && out->failed) err = ERR_NO_MEMORY;
    size_t size = out->length - before;
    if (err == 0 && size > INT32_MAX) err = ERR_LIMIT;
    if (err == 0) {
        uint8_t *batch = out->data + before;
        store_i32(batch + 8, (int32_t)size - RECORD_BATCH_OVERHEAD);
        store_i32(batch + CRC_AT, (int32_t)crc32c(batch + CRC_FROM, size - CRC_FROM));
    } else {
        out->length = before;
    }
    start(builder);
    return err;
}
