// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "batch_builder.h"
#include "error.h"
#include "record_batch.h"

#define NOW_MS 1700000000000

static const struct batch_rules usual = {
    .max_message_bytes = 1048588,
    .max_decompressed_bytes = 2147483639,
    .timestamp_before_max_ms = INT64_MAX,
    .timestamp_after_max_ms = 3600000,
    .produce_version = 13,
};

static struct bytes bytes_of(const char *text)
{
    return text == NULL ? BYTES_NULL
                        : (struct bytes){ (const uint8_t *)text, (int32_t)strlen(text) };
}

static struct batch_builder started(int16_t attributes)
{
    struct batch_builder builder;
    batch_builder_init(&builder);
    builder.attributes = attributes;
    return builder;
}

static void add(struct batch_builder *builder, int64_t timestamp, const char *key,
                const char *value)
{
    batch_builder_append(builder, timestamp, bytes_of(key), bytes_of(value), NULL, 0);
}

static struct buffer finished(struct batch_builder *builder)
{
    struct buffer out;
    buffer_init(&out);
    assert_int_equal(batch_builder_finish(builder, &out), 0);
    batch_builder_close(builder);
    return out;
}

static struct batch_verdict judged(const struct buffer *batch, const struct batch_rules *rules)
{
    struct record_batch header;
    struct batch_verdict verdict;
    record_batch_validate(batch->data, batch->length, rules, NOW_MS, &header, &verdict);
    return verdict;
}

static struct record_batch header_of(const struct buffer *buffer)
{
    struct record_batch batch;
    assert_int_equal(record_batch_read_header(&batch, buffer->data, buffer->length), 0);
    return batch;
}

TEST(what_the_builder_wrote_is_walked_record_by_record)
{
    for (int16_t codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++) {
        const struct record_header headers[] = { { bytes_of("a"), bytes_of("1") },
                                                 { bytes_of("b"), BYTES_NULL } };
        struct batch_builder builder = started(codec);
        builder.base_offset = 70;
        add(&builder, NOW_MS, "key", "value");
        batch_builder_append(&builder, NOW_MS - 5, BYTES_NULL, bytes_of(""), headers, 2);
        struct buffer buffer = finished(&builder);
        struct record_batch batch = header_of(&buffer);
        struct record_walk *walk;
        struct record record;
        assert_int_equal(batch.size, buffer.length);
        assert_true(record_batch_crc_is_right(&batch));
        assert_int_equal(record_walk_open(&walk, &batch, 1000), 0);
        assert_int_equal(record_walk_next(walk, &record), 0);
        assert_int_equal(record.offset, 70);
        assert_int_equal(record.timestamp, NOW_MS);
        assert_memory_equal(record.key.data, "key", 3);
        assert_memory_equal(record.value.data, "value", 5);
        assert_int_equal(record_walk_next(walk, &record), 0);
        assert_int_equal(record.offset, 71);
        assert_int_equal(record.timestamp, NOW_MS - 5);
        assert_int_equal(record.key.length, -1);
        assert_int_equal(record.value.length, 0);
        assert_int_equal(record.header_count, 2);
        assert_int_equal(record_walk_next(walk, &record), ERR_NOT_FOUND);
        record_walk_close(walk);
        buffer_close(&buffer);
    }
}

TEST(a_record_larger_than_any_window_is_one_piece_to_a_reader)
{
    size_t length = 3000000;
    char *value = malloc(length + 1);
    memset(value, 'x', length);
    value[length] = '\0';
    for (int16_t codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++) {
        struct batch_builder builder = started(codec);
        add(&builder, NOW_MS, "small", "s");
        add(&builder, NOW_MS, "large", value);
        add(&builder, NOW_MS, "small", "s");
        struct buffer buffer = finished(&builder);
        struct record_batch batch = header_of(&buffer);
        struct batch_rules rules = usual;
        rules.max_message_bytes = INT32_MAX;
        assert_int_equal(judged(&buffer, &rules).err, 0);
        struct record_walk *walk;
        struct record record;
        assert_int_equal(record_walk_open(&walk, &batch, 4000000), 0);
        assert_int_equal(record_walk_next(walk, &record), 0);
        assert_int_equal(record_walk_next(walk, &record), 0);
        assert_int_equal(record.value.length, length);
        assert_memory_equal(record.value.data, value, length);
        assert_int_equal(record_walk_next(walk, &record), 0);
        assert_int_equal(record_walk_next(walk, &record), ERR_NOT_FOUND);
        record_walk_close(walk);
        buffer_close(&buffer);
    }
    free(value);
}

TEST(records_that_cross_every_window_boundary_are_found_whole)
{
    for (int16_t codec = CODEC_GZIP; codec <= CODEC_ZSTD; codec++) {
        for (size_t pad = 0; pad < 40; pad++) {
            static char padding[65536];
            struct batch_builder builder = started(codec);
            memset(padding, 'p', sizeof padding);
            padding[65500 + pad - 10] = '\0';
            add(&builder, NOW_MS, "k", padding);
            for (int i = 0; i < 20; i++)
                add(&builder, NOW_MS + i * 1000, "key", "value");
            struct buffer buffer = finished(&builder);
            struct batch_verdict verdict = judged(&buffer, &usual);
            assert_int_equal(verdict.err, 0);
            assert_int_equal(verdict.max_timestamp, NOW_MS + 19000);
            buffer_close(&buffer);
        }
    }
}

TEST(offset_and_epoch_are_set_without_touching_the_crc)
{
    struct batch_builder builder = started(0);
    add(&builder, NOW_MS, "k", "v");
    struct buffer buffer = finished(&builder);
    record_batch_set_position(buffer.data, 123456789012, 7);
    struct record_batch batch = header_of(&buffer);
    assert_int_equal(batch.base_offset, 123456789012);
    assert_int_equal(batch.leader_epoch, 7);
    assert_true(record_batch_crc_is_right(&batch));
    buffer_close(&buffer);
}

TEST(with_log_append_time_every_record_has_the_time_of_the_append)
{
    struct batch_builder builder = started(CODEC_LZ4);
    add(&builder, NOW_MS, "k", "v");
    struct buffer buffer = finished(&builder);
    record_batch_set_log_append_time(buffer.data, buffer.length, 4242);
    struct record_batch batch = header_of(&buffer);
    struct record_walk *walk;
    struct record record;
    assert_true(record_batch_crc_is_right(&batch));
    assert_int_equal(record_walk_open(&walk, &batch, 100), 0);
    assert_int_equal(record_walk_next(walk, &record), 0);
    assert_int_equal(record.timestamp, 4242);
    record_walk_close(walk);
    buffer_close(&buffer);
}

TEST(a_sequence_wraps_to_zero)
{
    struct record_batch batch = { .base_sequence = INT32_MAX - 1, .last_offset_delta = 3 };
    assert_int_equal(record_batch_last_sequence(&batch), 1);
    batch.base_sequence = -1;
    assert_int_equal(record_batch_last_sequence(&batch), -1);
}

TEST(an_emptied_batch_has_no_records_and_is_no_error)
{
    struct batch_builder builder = started(CODEC_ZSTD);
    add(&builder, NOW_MS, "k", "v");
    struct buffer buffer = finished(&builder);
    store_i32(buffer.data + 57, 0);
    store_i32(buffer.data + 8, RECORD_BATCH_HEADER_SIZE - RECORD_BATCH_OVERHEAD);
    struct record_batch batch = header_of(&buffer);
    struct record_walk *walk;
    struct record record;
    assert_int_equal(record_walk_open(&walk, &batch, 100), 0);
    assert_int_equal(record_walk_next(walk, &record), ERR_NOT_FOUND);
    record_walk_close(walk);
    buffer_close(&buffer);
}

TEST(zstd_from_a_client_that_cannot_know_it_is_refused)
{
    struct batch_builder builder = started(CODEC_ZSTD);
    add(&builder, NOW_MS, "k", "v");
    struct buffer buffer = finished(&builder);
    struct batch_rules rules = usual;
    rules.produce_version = 6;
    assert_int_equal(judged(&buffer, &rules).err, ERR_UNSUPPORTED_COMPRESSION_TYPE);
    rules.produce_version = 7;
    assert_int_equal(judged(&buffer, &rules).err, 0);
    buffer_close(&buffer);
}

TEST(a_compacted_topic_names_the_records_without_a_key)
{
    struct batch_builder builder = started(CODEC_GZIP);
    add(&builder, NOW_MS, "k", "v");
    add(&builder, NOW_MS, NULL, "v");
    add(&builder, NOW_MS, "k", "v");
    add(&builder, NOW_MS, NULL, "v");
    struct buffer buffer = finished(&builder);
    struct batch_rules rules = usual;
    rules.is_compacted = true;
    struct batch_verdict verdict = judged(&buffer, &rules);
    assert_int_equal(verdict.err, ERR_INVALID_RECORD);
    assert_int_equal(verdict.record_error_count, 2);
    assert_int_equal(verdict.record_errors[0], 1);
    assert_int_equal(verdict.record_errors[1], 3);
    batch_verdict_release(&verdict);
    rules.trust_records = true; /* Keys are not taken on trust. */
    verdict = judged(&buffer, &rules);
    assert_int_equal(verdict.record_error_count, 2);
    batch_verdict_release(&verdict);
    buffer_close(&buffer);
}

TEST(a_bad_timestamp_outweighs_a_missing_key)
{
    struct batch_builder builder = started(0);
    add(&builder, NOW_MS, NULL, "v");
    add(&builder, NOW_MS + 3600001, "k", "v");
    add(&builder, NOW_MS + 3600000, NULL, "v");
    struct buffer buffer = finished(&builder);
    struct batch_rules rules = usual;
    rules.is_compacted = true;
    struct batch_verdict verdict = judged(&buffer, &rules);
    assert_int_equal(verdict.err, ERR_INVALID_TIMESTAMP);
    assert_int_equal(verdict.record_error_count, 3);
    batch_verdict_release(&verdict);
    buffer_close(&buffer);
}

TEST(of_many_bad_records_all_are_named)
{
    struct batch_builder builder = started(0);
    for (int i = 0; i < 1000; i++)
        add(&builder, NOW_MS + 4000000, "k", "v");
    struct buffer buffer = finished(&builder);
    struct batch_verdict verdict = judged(&buffer, &usual);
    assert_int_equal(verdict.err, ERR_INVALID_TIMESTAMP);
    assert_int_equal(verdict.record_error_count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(verdict.record_errors[i], i);
    batch_verdict_release(&verdict);
    buffer_close(&buffer);
}

TEST(lack_of_memory_to_name_bad_records_is_an_error_and_leaks_nothing)
{
    struct batch_builder builder = started(0);
    for (int i = 0; i < 100; i++)
        add(&builder, NOW_MS + 4000000, "k", "v");
    struct buffer buffer = finished(&builder);
    int err = ERR_NO_MEMORY;
    int nth = 1;
    for (; err == ERR_NO_MEMORY; nth++) {
        mem_fail_at(nth);
        struct batch_verdict verdict = judged(&buffer, &usual);
        mem_fail_at(0);
        err = verdict.err;
        assert_int_equal(verdict.record_error_count, err == ERR_NO_MEMORY ? 0 : 100);
        batch_verdict_release(&verdict);
    }
    assert_int_equal(err, ERR_INVALID_TIMESTAMP);
    assert_true(nth > 3);
    buffer_close(&buffer);
}

TEST(trusted_records_are_not_looked_at)
{
    struct batch_builder builder = started(CODEC_ZSTD);
    add(&builder, NOW_MS, "k", "v");
    struct buffer buffer = finished(&builder);
    memset(buffer.data + RECORD_BATCH_HEADER_SIZE, 0xee, 8);
    record_batch_set_max_timestamp(buffer.data, buffer.length, NOW_MS); /* For the CRC. */
    struct batch_rules rules = usual;
    assert_int_equal(judged(&buffer, &rules).err, ERR_INVALID_RECORD);
    assert_false(judged(&buffer, &rules).is_too_long_decompressed);
    rules.trust_records = true;
    assert_int_equal(judged(&buffer, &rules).err, 0);
    buffer.data[RECORD_BATCH_HEADER_SIZE] ^= 1;
    assert_int_equal(judged(&buffer, &rules).err, ERR_CORRUPT_MESSAGE);
    buffer_close(&buffer);
}

TEST(what_decompresses_to_more_than_allowed_is_refused)
{
    size_t length = 20000000;
    char *value = calloc(1, length + 1);
    memset(value, 'z', length);
    for (int16_t codec = CODEC_GZIP; codec <= CODEC_ZSTD; codec++) {
        struct batch_builder builder = started(codec);
        add(&builder, NOW_MS, "k", value);
        struct buffer buffer = finished(&builder);
        struct batch_rules rules = usual;
        rules.max_message_bytes = INT32_MAX;
        rules.max_decompressed_bytes = (int64_t)length;
        struct batch_verdict verdict = judged(&buffer, &rules);
        assert_int_equal(verdict.err, ERR_INVALID_RECORD);
        assert_true(verdict.is_too_long_decompressed);
        rules.max_decompressed_bytes = (int64_t)length + 7; /* Shorter than its last bytes. */
        assert_true(judged(&buffer, &rules).is_too_long_decompressed);
        rules.max_decompressed_bytes = (int64_t)length + 20;
        assert_int_equal(judged(&buffer, &rules).err, 0);
        buffer_close(&buffer);
    }
    free(value);
}

TEST(a_length_that_was_only_claimed_takes_no_memory)
{
    static const uint8_t claim[] = { 0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0 }; /* 2^31-1 */
    for (int16_t codec = CODEC_GZIP; codec <= CODEC_ZSTD; codec++) {
        struct batch_builder builder = started(codec);
        add(&builder, NOW_MS, "k", "v");
        builder.records.length = 0;
        buffer_put(&builder.records, claim, sizeof claim);
        struct buffer buffer = finished(&builder);
        struct record_batch batch = header_of(&buffer);
        struct record_walk *walk;
        struct record record;
        assert_int_equal(record_walk_open(&walk, &batch, INT32_MAX), 0);
        assert_int_equal(record_walk_next(walk, &record), ERR_INVALID_RECORD);
        record_walk_close(walk);
        buffer_close(&buffer);
    }
}

TEST(checking_an_uncompressed_batch_allocates_nothing)
{
    struct batch_builder builder = started(0);
    for (int i = 0; i < 100; i++)
        add(&builder, NOW_MS, "key", "value");
    struct buffer buffer = finished(&builder);
    mem_fail_at(1);
    assert_int_equal(judged(&buffer, &usual).err, 0);
    mem_fail_at(0);
    buffer_close(&buffer);
}

TEST(lack_of_memory_while_checking_or_walking_is_an_error_and_leaks_nothing)
{
    char value[100000];
    memset(value, 'v', sizeof value);
    value[sizeof value - 1] = '\0';
    for (int16_t codec = CODEC_GZIP; codec <= CODEC_ZSTD; codec++) {
        struct batch_builder builder = started(codec);
        add(&builder, NOW_MS, "k", value);
        struct buffer buffer = finished(&builder);
        struct record_batch batch = header_of(&buffer);
        int err = ERR_NO_MEMORY;
        for (int nth = 1; err != 0; nth++) {
            struct record_walk *walk = NULL;
            struct record record;
            mem_fail_at(nth);
            err = judged(&buffer, &usual).err;
            if (err == 0) err = record_walk_open(&walk, &batch, 200000);
            if (err == 0) err = record_walk_next(walk, &record);
            mem_fail_at(0);
            record_walk_close(walk);
            if (err != 0) assert_int_equal(err, ERR_NO_MEMORY);
        }
        buffer_close(&buffer);
    }
}

TEST(a_builder_starts_again_after_each_batch)
{
    struct batch_builder builder = started(0);
    struct buffer out;
    buffer_init(&out);
    builder.producer_id = 5;
    add(&builder, NOW_MS, "first", "1");
    assert_int_equal(batch_builder_finish(&builder, &out), 0);
    size_t first = out.length;
    add(&builder, NOW_MS + 1, "second", "2");
    assert_int_equal(batch_builder_finish(&builder, &out), 0);
    struct record_batch batch;
    assert_int_equal(record_batch_read_header(&batch, out.data + first, out.length - first), 0);
    assert_int_equal(batch.record_count, 1);
    assert_int_equal(batch.producer_id, -1);
    assert_int_equal(batch.base_timestamp, NOW_MS + 1);
    batch_builder_close(&builder);
    buffer_close(&out);
}
