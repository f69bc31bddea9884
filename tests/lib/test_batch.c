// SPDX-License-Identifier: Apache-2.0
#include "test_batch.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "crc32c.h"
#include "runner.h"

#define AT_LENGTH            8
#define AT_MAGIC             16
#define AT_CRC               17
#define AT_ATTRIBUTES        21
#define AT_LAST_OFFSET_DELTA 23
#define AT_BASE_TIMESTAMP    27
#define AT_MAX_TIMESTAMP     35
#define AT_PRODUCER_ID       43
#define AT_PRODUCER_EPOCH    51
#define AT_BASE_SEQUENCE     53
#define AT_RECORD_COUNT      57
#define LENGTH_OVERHEAD      12 /* Bytes that the length field does not count. */

static void put_record(struct buffer *to, const struct batch *batch, int32_t index)
{
    char key[24], text[24];
    bool is_exempt = index < 32 && (batch->keyless >> index & 1) != 0;
    bool has_key = batch->is_keyed && !is_exempt;
    snprintf(key, sizeof key, "key %d", batch->first_key + index);
    snprintf(text, sizeof text, "value %d", index);
    struct buffer record;
    buffer_init(&record);
    buffer_i8(&record, 0);
    buffer_varlong(&record, index * batch->timestamp_step);
    buffer_varint(&record, index);
    buffer_varint(&record, has_key ? (int32_t)strlen(key) : -1);
    if (has_key) buffer_put(&record, key, strlen(key));
    size_t text_bytes = strlen(text);
    size_t value_bytes = batch->value_bytes == 0 ? text_bytes : (size_t)batch->value_bytes;
    buffer_varint(&record, (int32_t)value_bytes);
    for (size_t i = 0; i < value_bytes; i++)
        buffer_put(&record, &text[i % text_bytes], 1);
    buffer_varint(&record, 0);
    buffer_varint(to, (int32_t)record.length);
    buffer_put(to, record.data, record.length);
    buffer_close(&record);
}

struct records batch_build(struct arena *arena, struct batch batch)
{
    if (batch.record_count == 0) batch.record_count = 1;
    if (batch.first_timestamp == 0) batch.first_timestamp = clock_wall_ms(clock_real());
    int64_t last_timestamp = batch.first_timestamp +
                             (batch.record_count - 1) * batch.timestamp_step;
    int64_t max_timestamp = batch.timestamp_step < 0 ? batch.first_timestamp : last_timestamp;

    struct buffer bytes;
    buffer_init(&bytes);
    buffer_i64(&bytes, 0);  /* Base offset. */
    buffer_i32(&bytes, 0);  /* Length: below. */
    buffer_i32(&bytes, -1); /* Leader epoch. */
    buffer_i8(&bytes, 2);
    buffer_i32(&bytes, 0); /* CRC: below. */
    buffer_i16(&bytes, batch.attributes);
    buffer_i32(&bytes, batch.record_count - 1);
    buffer_i64(&bytes, batch.first_timestamp);
    buffer_i64(&bytes, max_timestamp);
    buffer_i64(&bytes, batch.is_idempotent ? batch.producer_id : -1);
    buffer_i16(&bytes, batch.is_idempotent ? batch.producer_epoch : -1);
    buffer_i32(&bytes, batch.is_idempotent ? batch.base_sequence : -1);
    buffer_i32(&bytes, batch.record_count);
    for (int32_t i = 0; i < batch.record_count; i++)
        put_record(&bytes, &batch, i);
    assert_false(bytes.failed);

    store_i32(bytes.data + AT_LENGTH, (int32_t)bytes.length - LENGTH_OVERHEAD);
    struct records built = { bytes.data, (int32_t)bytes.length, NULL };
    records_repair_crc(built);
    built = records_copy(arena, built);
    buffer_close(&bytes);
    return built;
}

struct records records_copy(struct arena *arena, struct records records)
{
    records.data = arena_dup(arena, records.data, (size_t)records.length);
    assert_non_null(records.data);
    return records;
}

void records_repair_crc(struct records records)
{
    uint8_t *data = (uint8_t *)(uintptr_t)records.data;
    store_i32(data + AT_CRC,
              (int32_t)crc32c(data + AT_ATTRIBUTES, (size_t)records.length - AT_ATTRIBUTES));
}

/* The batch that begins at `records`; ends the test if it is not whole. */
static struct records first_batch(struct records records)
{
    if (records.length < BATCH_HEADER_BYTES) fail_msg("%d bytes of a batch", records.length);
    int64_t length = (int64_t)load_i32(records.data + AT_LENGTH) + LENGTH_OVERHEAD;
    if (length < BATCH_HEADER_BYTES || length > records.length)
        fail_msg("a batch of %lld bytes in %d", (long long)length, records.length);
    records.length = (int32_t)length;
    assert_int_equal(records.data[AT_MAGIC], 2);
    assert_int_equal((uint32_t)load_i32(records.data + AT_CRC),
                     crc32c(records.data + AT_ATTRIBUTES, (size_t)length - AT_ATTRIBUTES));
    return records;
}

static struct records behind(struct records records, struct records first)
{
    return (struct records){ records.data + first.length, records.length - first.length, NULL };
}

int32_t records_batch_count(struct records records)
{
    int32_t count = 0;
    for (; records.length > 0; count++)
        records = behind(records, first_batch(records));
    return count;
}

struct records records_batch(struct records records, int32_t nth)
{
    for (; nth > 0; nth--)
        records = behind(records, first_batch(records));
    return first_batch(records);
}

int64_t batch_base_offset(struct records batch)
{
    return load_i64(batch.data);
}

int64_t batch_last_offset(struct records batch)
{
    return load_i64(batch.data) + load_i32(batch.data + AT_LAST_OFFSET_DELTA);
}

int64_t batch_base_timestamp(struct records batch)
{
    return load_i64(batch.data + AT_BASE_TIMESTAMP);
}

int64_t batch_max_timestamp(struct records batch)
{
    return load_i64(batch.data + AT_MAX_TIMESTAMP);
}

int32_t batch_record_count(struct records batch)
{
    return load_i32(batch.data + AT_RECORD_COUNT);
}

int64_t batch_producer_id(struct records batch)
{
    return load_i64(batch.data + AT_PRODUCER_ID);
}

int16_t batch_producer_epoch(struct records batch)
{
    return load_i16(batch.data + AT_PRODUCER_EPOCH);
}

int32_t batch_base_sequence(struct records batch)
{
    return load_i32(batch.data + AT_BASE_SEQUENCE);
}

int16_t batch_attributes(struct records batch)
{
    return load_i16(batch.data + AT_ATTRIBUTES);
}

void assert_same_batch(struct records batch, struct records sent)
{
    assert_int_equal(batch.length, sent.length);
    assert_memory_equal(batch.data + AT_LENGTH, sent.data + AT_LENGTH, 4);
    assert_memory_equal(batch.data + AT_MAGIC, sent.data + AT_MAGIC,
                        (size_t)sent.length - AT_MAGIC);
}
