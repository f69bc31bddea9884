// SPDX-License-Identifier: Apache-2.0
#include "key_offsets.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "runner.h"

static struct bytes key_of(int number)
{
    static char text[32];
    return (struct bytes){ (const uint8_t *)text, snprintf(text, sizeof text, "key-%d", number) };
}

TEST(the_last_offset_of_a_key_counts)
{
    struct key_offsets *offsets;
    assert_int_equal(key_offsets_open(&offsets, 4096, 0.9, 100), 0);
    assert_int_equal(key_offsets_get(offsets, key_of(1)), -1);
    assert_int_equal(key_offsets_put(offsets, key_of(1), 0), 0);
    assert_int_equal(key_offsets_put(offsets, key_of(2), 7), 0);
    assert_int_equal(key_offsets_put(offsets, key_of(1), 9), 0);
    assert_int_equal(key_offsets_get(offsets, key_of(1)), 9);
    assert_int_equal(key_offsets_get(offsets, key_of(2)), 7);
    assert_int_equal(key_offsets_count(offsets), 2);
    key_offsets_close(offsets);
}

TEST(an_empty_key_is_a_key)
{
    struct key_offsets *offsets;
    assert_int_equal(key_offsets_open(&offsets, 4096, 0.9, 100), 0);
    assert_int_equal(key_offsets_put(offsets, (struct bytes){ (const uint8_t *)"", 0 }, 3), 0);
    assert_int_equal(key_offsets_get(offsets, (struct bytes){ (const uint8_t *)"", 0 }), 3);
    key_offsets_close(offsets);
}

TEST(a_full_map_takes_no_new_key_but_newer_offsets)
{
    struct key_offsets *offsets;
    /* 24 bytes a key, of 100 slots half. */
    assert_int_equal(key_offsets_open(&offsets, 2400, 0.5, 1000), 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(key_offsets_put(offsets, key_of(i), i), 0);
    assert_int_equal(key_offsets_put(offsets, key_of(50), 50), ERR_LIMIT);
    assert_int_equal(key_offsets_put(offsets, key_of(49), 51), 0);
    assert_int_equal(key_offsets_get(offsets, key_of(50)), -1);
    for (int i = 0; i < 49; i++)
        assert_int_equal(key_offsets_get(offsets, key_of(i)), i);
    assert_int_equal(key_offsets_get(offsets, key_of(49)), 51);
    key_offsets_close(offsets);
}

TEST(a_map_that_may_be_filled_to_the_last_slot_still_ends_its_searches)
{
    struct key_offsets *offsets;
    int taken = 0;
    assert_int_equal(key_offsets_open(&offsets, 240, 1.0, 1000), 0);
    while (key_offsets_put(offsets, key_of(taken), taken) == 0)
        taken++;
    assert_int_equal(taken, 9);
    assert_int_equal(key_offsets_get(offsets, key_of(1000)), -1);
    key_offsets_close(offsets);
}

TEST(the_smallest_map_takes_a_key)
{
    struct key_offsets *offsets;
    assert_int_equal(key_offsets_open(&offsets, 0, 0.1, 1000), 0);
    assert_int_equal(key_offsets_put(offsets, key_of(1), 5), 0);
    assert_int_equal(key_offsets_put(offsets, key_of(2), 6), ERR_LIMIT);
    assert_int_equal(key_offsets_get(offsets, key_of(1)), 5);
    key_offsets_close(offsets);
}

TEST(as_many_keys_fit_as_were_asked_for)
{
    struct key_offsets *offsets;
    assert_int_equal(key_offsets_open(&offsets, 1 << 20, 0.9, 1000), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(key_offsets_put(offsets, key_of(i), i), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(key_offsets_get(offsets, key_of(i)), i);
    key_offsets_close(offsets);
}

TEST(without_memory_there_is_no_map)
{
    struct key_offsets *offsets = NULL;
    for (int nth = 1; nth <= 2; nth++) {
        mem_fail_at(nth);
        assert_int_equal(key_offsets_open(&offsets, 4096, 0.9, 100), ERR_NO_MEMORY);
        assert_null(offsets);
    }
    mem_fail_at(0);
}
