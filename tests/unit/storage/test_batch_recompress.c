// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "alloc.h"
#include "batch_builder.h"
#include "batch_recompress.h"
#include "compress.h"
#include "error.h"

#define EACH_CODEC(codec) for (int codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++)

static const struct bytes no_key = { NULL, -1 };

/* A batch with all that a header can have, and records with `value_bytes` each. */
static struct buffer batch_of(int codec, int records, size_t value_bytes)
{
    struct batch_builder builder;
    struct buffer out;
    buffer_init(&out);
    batch_builder_init(&builder);
    uint8_t *value = mem_zalloc(value_bytes + 1);
    for (int i = 0; i < records; i++) {
        value[0] = (uint8_t)i;
        batch_builder_append(&builder, 1000 - i, no_key,
                             (struct bytes){ value, (int32_t)value_bytes }, NULL, 0);
    }
    builder.attributes = (int16_t)(codec | BATCH_TRANSACTIONAL);
    builder.producer_id = 77;
    builder.producer_epoch = 3;
    builder.base_sequence = 12;
    assert_int_equal(batch_builder_finish(&builder, &out), 0);
    batch_builder_close(&builder);
    mem_free(value);
    return out;
}

static struct record_batch header_of(const struct buffer *buffer)
{
    struct record_batch batch;
    assert_int_equal(record_batch_read_header(&batch, buffer->data, buffer->length), 0);
    assert_int_equal(batch.size, buffer->length);
    assert_true(record_batch_crc_is_right(&batch));
    return batch;
}

static int to_codec(const struct buffer *from, int codec, size_t max_bytes, struct buffer *out)
{
    struct record_batch batch = header_of(from);
    buffer_init(out);
    return batch_recompress(&batch, (enum codec)codec, codec_default_level((enum codec)codec),
                            INT32_MAX, max_bytes, out);
}

TEST(records_survive_the_way_from_any_codec_to_any_other)
{
    static const struct {
        int records;
        size_t value_bytes;
    } sizes[] = { { 1, 0 }, { 3, 10 }, { 200, 3000 }, { 2, 300000 } };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct buffer plain = batch_of(CODEC_NONE, sizes[i].records, sizes[i].value_bytes);
        EACH_CODEC(from) EACH_CODEC(to)
        {
            struct buffer first, second, last;
            assert_int_equal(to_codec(&plain, from, INT32_MAX, &first), 0);
            assert_int_equal(to_codec(&first, to, INT32_MAX, &second), 0);
            assert_int_equal(header_of(&second).attributes & BATCH_CODEC_MASK, to);
            assert_int_equal(to_codec(&second, CODEC_NONE, INT32_MAX, &last), 0);
            assert_int_equal(last.length, plain.length);
            assert_memory_equal(last.data, plain.data, plain.length);
            buffer_close(&first);
            buffer_close(&second);
            buffer_close(&last);
        }
        buffer_close(&plain);
    }
}

TEST(every_level_that_a_topic_may_have_can_be_read)
{
    static const struct {
        int codec, least, most;
    } ranges[] = { { CODEC_GZIP, -1, 9 },
                   { CODEC_LZ4, 1, 17 },
                   { CODEC_ZSTD, -7, 22 },
                   { CODEC_ZSTD, -131072, -131071 } };
    struct buffer plain = batch_of(CODEC_NONE, 50, 5000);
    struct record_batch batch = header_of(&plain);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        for (int level = ranges[i].least; level <= ranges[i].most; level++) {
            struct buffer packed, last;
            buffer_init(&packed);
            assert_int_equal(batch_recompress(&batch, (enum codec)ranges[i].codec, level, INT32_MAX,
                                              INT32_MAX, &packed),
                             0);
            assert_int_equal(to_codec(&packed, CODEC_NONE, INT32_MAX, &last), 0);
            assert_int_equal(last.length, plain.length);
            assert_memory_equal(last.data, plain.data, plain.length);
            buffer_close(&packed);
            buffer_close(&last);
        }
    }
    buffer_close(&plain);
}

TEST(what_comes_out_is_held_to_the_limit_to_the_byte)
{
    EACH_CODEC(from) EACH_CODEC(to)
    {
        struct buffer source = batch_of(from, 40, 2000), out, exact;
        assert_int_equal(to_codec(&source, to, INT32_MAX, &out), 0);
        assert_int_equal(to_codec(&source, to, out.length, &exact), 0);
        buffer_close(&exact);
        assert_int_equal(to_codec(&source, to, out.length - 1, &exact), ERR_MESSAGE_TOO_LARGE);
        assert_int_equal(exact.length, 0);
        buffer_close(&exact);
        buffer_close(&out);
        buffer_close(&source);
    }
}

/* 64 MiB of zeros are some KiB of zstd: the limit ends it long before they are in memory. */
TEST(a_bomb_takes_no_more_memory_than_the_limit)
{
    struct buffer bomb = batch_of(CODEC_ZSTD, 1, 64 << 20), out;
    assert_int_equal(to_codec(&bomb, CODEC_NONE, 100000, &out), ERR_MESSAGE_TOO_LARGE);
    assert_true(out.capacity < 1000000);
    buffer_close(&out);
    struct record_batch batch = header_of(&bomb);
    buffer_init(&out);
    assert_int_equal(batch_recompress(&batch, CODEC_LZ4, 9, 1 << 20, INT32_MAX, &out),
                     ERR_INVALID_RECORD);
    buffer_close(&out);
    buffer_close(&bomb);
}

TEST(broken_records_are_refused)
{
    for (int from = CODEC_GZIP; from <= CODEC_ZSTD; from++) {
        struct buffer source = batch_of(from, 20, 100), out;
        struct record_batch batch = header_of(&source);
        batch.size -= 5;
        buffer_init(&out);
        assert_int_equal(batch_recompress(&batch, CODEC_NONE, 0, INT32_MAX, INT32_MAX, &out),
                         ERR_INVALID_RECORD);
        assert_int_equal(out.length, 0);
        buffer_close(&out);
        buffer_close(&source);
    }
}

TEST(without_memory_it_fails_and_leaves_nothing)
{
    EACH_CODEC(from) EACH_CODEC(to)
    {
        struct buffer source = batch_of(from, 5, 1000), out;
        int err = ERR_NO_MEMORY;
        for (int64_t nth = 1; err == ERR_NO_MEMORY; nth++) {
            mem_fail_at(nth);
            err = to_codec(&source, to, INT32_MAX, &out);
            mem_fail_at(0);
            assert_true(err == 0 || err == ERR_NO_MEMORY);
            if (err != 0) assert_int_equal(out.length, 0);
            buffer_close(&out);
        }
        buffer_close(&source);
    }
}
