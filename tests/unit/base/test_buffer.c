// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "alloc.h"
#include "buffer.h"

#define ASSERT_HOLDS(buffer, ...)                                                \
    assert_int_equal((buffer).length, sizeof((const uint8_t[]){ __VA_ARGS__ })); \
    assert_memory_equal((buffer).data, ((const uint8_t[]){ __VA_ARGS__ }), (buffer).length)

TEST(integers_are_written_in_network_order)
{
    struct buffer buffer;
    buffer_init(&buffer);
    buffer_i8(&buffer, -1);
    buffer_i16(&buffer, 0x0102);
    buffer_i32(&buffer, -2);
    buffer_i64(&buffer, 0x0102030405060708);
    ASSERT_HOLDS(buffer, 0xff, 1, 2, 0xff, 0xff, 0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8);
    buffer_close(&buffer);
}

TEST(varints_take_as_few_bytes_as_they_can)
{
    struct buffer buffer;
    buffer_init(&buffer);
    buffer_uvarint(&buffer, 0);
    buffer_uvarint(&buffer, 127);
    buffer_uvarint(&buffer, 128);
    buffer_uvarint(&buffer, UINT32_MAX);
    buffer_varint(&buffer, -64);
    buffer_varint(&buffer, 64);
    buffer_varint(&buffer, INT32_MIN);
    ASSERT_HOLDS(buffer, 0, 0x7f, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x80, 1, 0xff, 0xff,
                 0xff, 0xff, 0x0f);
    buffer_close(&buffer);

    buffer_varlong(&buffer, INT64_MIN);
    ASSERT_HOLDS(buffer, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
    buffer_close(&buffer);
}

TEST(the_size_of_a_varint_is_known_before_it_is_written)
{
    assert_int_equal(uvarint_size(0), 1);
    assert_int_equal(uvarint_size(0x7f), 1);
    assert_int_equal(uvarint_size(0x80), 2);
    assert_int_equal(uvarint_size(0x3fff), 2);
    assert_int_equal(uvarint_size(0x4000), 3);
    assert_int_equal(uvarint_size(0x0fffffff), 4);
    assert_int_equal(uvarint_size(0x10000000), 5);
    assert_int_equal(uvarint_size(UINT32_MAX), 5);
}

TEST(a_buffer_grows_and_keeps_what_it_has)
{
    struct buffer buffer;
    buffer_init(&buffer);
    for (int i = 0; i < 100000; i++)
        buffer_i32(&buffer, i);
    assert_int_equal(buffer.length, 400000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(load_i32(buffer.data + 4 * i), i);
    buffer_close(&buffer);
}

TEST(reserved_room_is_given_without_moving)
{
    struct buffer buffer;
    buffer_init(&buffer);
    assert_true(buffer_reserve(&buffer, 10000));
    const uint8_t *data = buffer.data;
    assert_int_equal(buffer.length, 0);
    mem_fail_at(1);
    for (int i = 0; i < 10000; i++)
        buffer_i8(&buffer, 1);
    mem_fail_at(0);
    assert_ptr_equal(buffer.data, data);
    assert_false(buffer.failed);
    buffer_close(&buffer);
}

TEST(nothing_written_is_no_failure)
{
    struct buffer buffer;
    buffer_init(&buffer);
    buffer_put(&buffer, NULL, 0);
    assert_non_null(buffer_extend(&buffer, 0));
    assert_false(buffer.failed);
    assert_int_equal(buffer.length, 0);
    buffer_close(&buffer);
}

TEST(a_length_that_overflows_fails)
{
    struct buffer buffer;
    buffer_init(&buffer);
    buffer_i8(&buffer, 1);
    assert_null(buffer_extend(&buffer, SIZE_MAX));
    assert_true(buffer.failed);
    buffer_close(&buffer);
}

TEST(a_failure_is_remembered_until_the_buffer_is_closed)
{
    struct buffer buffer;
    buffer_init(&buffer);
    mem_fail_at(1);
    buffer_i32(&buffer, 1);
    mem_fail_at(0);
    assert_true(buffer.failed);
    buffer_i32(&buffer, 2);
    assert_int_equal(buffer.length, 0);
    assert_false(buffer_reserve(&buffer, 1));
    assert_null(buffer_extend(&buffer, 0));
    buffer_close(&buffer);
    assert_false(buffer.failed);
}

TEST(a_buffer_that_cannot_grow_says_so_wherever_it_happens)
{
    for (long nth = 1;; nth++) {
        struct buffer buffer;
        buffer_init(&buffer);
        mem_fail_at(nth);
        for (int i = 0; i < 1000; i++)
            buffer_varlong(&buffer, INT64_MIN);
        mem_fail_at(0);
        bool failed = buffer.failed;
        assert_true(failed || buffer.length == 10000);
        buffer_close(&buffer);
        if (!failed) {
            assert_true(nth > 2);
            break;
        }
    }
}
