// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <limits.h>
#include <string.h>

#include "alloc.h"
#include "buffer.h"
#include "cursor.h"

#define CURSOR(...) \
    cursor_over((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void assert_bad_for_good(struct cursor *cursor)
{
    assert_true(cursor->bad);
    assert_int_equal(cursor_left(cursor), 0);
    assert_int_equal(cursor_i8(cursor), 0);
    assert_int_equal(cursor_i64(cursor), 0);
    assert_int_equal(cursor_uvarint(cursor), 0);
    assert_int_equal(cursor_varint(cursor), 0);
    assert_int_equal(cursor_varlong(cursor), 0);
    assert_null(cursor_take(cursor, 0));
    assert_true(cursor->bad);
}

TEST(integers_are_read_in_network_order)
{
    struct cursor cursor = CURSOR(0xff, 0x80, 0x01, 0xff, 0xfe, 0x80, 0, 0, 2, 0xff, 0xff, 0xff,
                                  0xfd, 1, 2, 3, 4, 5, 6, 7, 8);
    assert_int_equal(cursor_i8(&cursor), -1);
    assert_int_equal(cursor_i16(&cursor), -32767);
    assert_int_equal(cursor_u16(&cursor), 65534);
    assert_true(cursor_i32(&cursor) == INT32_MIN + 2);
    assert_true(cursor_u32(&cursor) == UINT32_MAX - 2);
    assert_true(cursor_i64(&cursor) == 0x0102030405060708);
    assert_int_equal(cursor_left(&cursor), 0);
    assert_false(cursor.bad);
}

TEST(a_read_that_does_not_fit_is_bad_even_if_later_ones_would)
{
    struct cursor cursor = CURSOR(1, 2, 3);
    assert_int_equal(cursor_i32(&cursor), 0);
    assert_bad_for_good(&cursor);
}

TEST(each_integer_needs_all_of_its_bytes)
{
    for (size_t length = 0; length < 8; length++) {
        uint8_t *bytes = mem_calloc(length, 1); /* On the heap: a read behind it is noticed. */
        struct cursor cursor;
#define ASSERT_READS(read, size)         \
    cursor = cursor_over(bytes, length); \
    read(&cursor);                       \
    assert_int_equal(cursor.bad, length < (size))
        ASSERT_READS(cursor_i8, 1);
        ASSERT_READS(cursor_i16, 2);
        ASSERT_READS(cursor_u16, 2);
        ASSERT_READS(cursor_i32, 4);
        ASSERT_READS(cursor_u32, 4);
        ASSERT_READS(cursor_i64, 8);
        ASSERT_READS(cursor_uvarint, 1);
#undef ASSERT_READS
        mem_free(bytes);
    }
}

TEST(taking_more_than_is_left_is_bad)
{
    struct cursor cursor = CURSOR(1, 2, 3);
    const uint8_t *start = cursor.at;
    assert_ptr_equal(cursor_take(&cursor, 2), start);
    assert_ptr_equal(cursor_take(&cursor, 0), start + 2);
    assert_null(cursor_take(&cursor, SIZE_MAX));
    assert_bad_for_good(&cursor);
}

TEST(nothing_can_be_taken_from_nothing)
{
    struct cursor cursor = cursor_over(NULL, 0);
    assert_int_equal(cursor_left(&cursor), 0);
    assert_non_null(cursor_take(&cursor, 0));
    assert_false(cursor.bad);
    assert_null(cursor_take(&cursor, 1));
    assert_bad_for_good(&cursor);
}

TEST(a_varint_has_at_most_five_bytes)
{
    struct cursor five = CURSOR(0xff, 0xff, 0xff, 0xff, 0x0f, 0x01);
    assert_true(cursor_uvarint(&five) == UINT32_MAX);
    assert_int_equal(cursor_left(&five), 1);
    assert_false(five.bad);

    struct cursor six = CURSOR(0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
    assert_int_equal(cursor_uvarint(&six), 0);
    assert_bad_for_good(&six);
}

TEST(bits_of_a_varint_above_32_are_dropped)
{
    struct cursor cursor = CURSOR(0x81, 0x80, 0x80, 0x80, 0x7f);
    assert_true(cursor_uvarint(&cursor) == 0xf0000001);
    assert_false(cursor.bad);
}

TEST(a_varlong_has_at_most_ten_bytes)
{
    struct cursor ten = CURSOR(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    assert_true(cursor_varlong(&ten) == INT64_MIN);
    assert_false(ten.bad);

    struct cursor eleven = CURSOR(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0);
    assert_int_equal(cursor_varlong(&eleven), 0);
    assert_bad_for_good(&eleven);
}

TEST(a_varint_that_is_cut_off_is_bad)
{
    struct cursor cursor = CURSOR(0x80, 0x80);
    assert_int_equal(cursor_uvarint(&cursor), 0);
    assert_bad_for_good(&cursor);
}

TEST(zigzag_puts_the_sign_into_the_lowest_bit)
{
    static const struct {
        uint8_t byte;
        int value;
    } rows[] = { { 0, 0 }, { 1, -1 }, { 2, 1 }, { 3, -2 }, { 126, 63 }, { 127, -64 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cursor cursor = cursor_over(&rows[i].byte, 1);
        assert_int_equal(cursor_varint(&cursor), rows[i].value);
        cursor = cursor_over(&rows[i].byte, 1);
        assert_int_equal(cursor_varlong(&cursor), rows[i].value);
    }
}

TEST(what_a_buffer_writes_a_cursor_reads)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int64_t around = -1; around <= 1; around++) {
            int64_t value = (int64_t)((UINT64_C(1) << bit) + (uint64_t)around);
            struct buffer buffer;
            buffer_init(&buffer);
            buffer_uvarint(&buffer, (uint32_t)value);
            assert_int_equal(buffer.length, uvarint_size((uint32_t)value));
            buffer_varint(&buffer, (int32_t)value);
            buffer_varlong(&buffer, value);
            buffer_i8(&buffer, (int8_t)value);
            buffer_i16(&buffer, (int16_t)value);
            buffer_i32(&buffer, (int32_t)value);
            buffer_i64(&buffer, value);
            assert_false(buffer.failed);

            struct cursor cursor = cursor_over(buffer.data, buffer.length);
            assert_true(cursor_uvarint(&cursor) == (uint32_t)value);
            assert_true(cursor_varint(&cursor) == (int32_t)value);
            assert_true(cursor_varlong(&cursor) == value);
            assert_true(cursor_i8(&cursor) == (int8_t)value);
            assert_true(cursor_i16(&cursor) == (int16_t)value);
            assert_true(cursor_i32(&cursor) == (int32_t)value);
            assert_true(cursor_i64(&cursor) == value);
            assert_int_equal(cursor_left(&cursor), 0);
            assert_false(cursor.bad);
            buffer_close(&buffer);
        }
    }
}
