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

void batch_builder_append(struct batch_builder *builder, int64_t timestamp, struct bytes key,
                          struct bytes value, const struct record_header *headers,
                          int32_t header_count)
{
    struct buffer *out = &builder->records;
    if (builder->record_count == 0) builder->base_timestamp = timestamp;
    if (timestamp > builder->max_timestamp) builder->max_timestamp = timestamp;
    int64_t timestamp_delta = (int64_t)((uint64_t)timestamp - (uint64_t)builder->base_timestamp);
    size_t size = 1 + zigzag_size(timestamp_delta) + zigzag_size(builder->record_count) +
                  bytes_size(key) + bytes_size(value) + zigzag_size(header_count);
    for (int32_t i = 0; i < header_count; i++)
        size += bytes_size(headers[i].key) + bytes_size(headers[i].value);
    if (size > INT32_MAX - builder->records.length) {
        out->failed = true;
        return;
    }
    buffer_varint(out, (int32_t)size);
    buffer_i8(out, 0);
    buffer_varlong(out, timestamp_delta);
    buffer_varint(out, builder->record_count++);
    put_bytes(out, key);
    put_bytes(out, value);
    buffer_varint(out, header_count);
    for (int32_t i = 0; i < header_count; i++) {
        put_bytes(out, headers[i].key);
        put_bytes(out, headers[i].value);
    }
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
    buffer_i32(out, builder->record_count - 1);
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
