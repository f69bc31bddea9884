// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdbool.h>
#include <stdlib.h>

#include "alloc.h"
#include "ended_transactions.h"

static struct ended_transactions ended;

TEST(nothing_ended_holds_nobody_back)
{
    ended_transactions_init(&ended);
    assert_int_equal(ended_transactions_first(&ended, 0), -1);
    ended_transactions_close(&ended);
}

TEST(an_ended_transaction_counts_until_the_high_watermark_has_passed_its_marker)
{
    ended_transactions_init(&ended);
    ended_transactions_add(&ended, 10, 15);
    assert_int_equal(ended_transactions_first(&ended, 0), 10);
    assert_int_equal(ended_transactions_first(&ended, 15), 10);
    assert_int_equal(ended_transactions_first(&ended, 16), -1);
    ended_transactions_close(&ended);
}

TEST(the_oldest_of_several_is_known_however_they_overlap)
{
    ended_transactions_init(&ended);
    ended_transactions_add(&ended, 10, 20);
    ended_transactions_add(&ended, 5, 21);
    ended_transactions_add(&ended, 12, 22);
    ended_transactions_add(&ended, 11, 23);
    ended_transactions_add(&ended, 24, 25);
    assert_int_equal(ended_transactions_first(&ended, 20), 5);
    assert_int_equal(ended_transactions_first(&ended, 22), 11);
    assert_int_equal(ended_transactions_first(&ended, 24), 24);
    assert_int_equal(ended_transactions_first(&ended, 26), -1);
    ended_transactions_add(&ended, 30, 31);
    assert_int_equal(ended_transactions_first(&ended, 31), 30);
    ended_transactions_close(&ended);
}

/* Against a plain list, by seed; with and without memory. */
static void compare_with_list(bool has_memory)
{
    enum { COUNT = 400 };
    struct ended_span all[COUNT];
    int64_t high_watermark = 0;

    srand((unsigned)test_seed());
    ended_transactions_init(&ended);
    for (int i = 0; i < COUNT; i++) {
        int64_t last = 10 * (i + 1) + rand() % 5;
        all[i] = (struct ended_span){ last - 1 - rand() % (last < 300 ? 5 : 300), last };
        if (!has_memory) mem_fail_at(1);
        ended_transactions_add(&ended, all[i].first_offset, all[i].last_offset);
        mem_fail_at(0);
        if (rand() % 4 == 0) high_watermark += rand() % 60;
        if (high_watermark > last) high_watermark = last;
        int64_t expected = -1;
        for (int k = 0; k <= i; k++)
            if (all[k].last_offset >= high_watermark &&
                (expected < 0 || all[k].first_offset < expected))
                expected = all[k].first_offset;
        int64_t found = ended_transactions_first(&ended, high_watermark);
        if (has_memory)
            assert_int_equal(found, expected);
        else
            assert_true(expected < 0 ? found < 0 : found >= 0 && found <= expected);
    }
    assert_int_equal(ended_transactions_first(&ended, INT64_MAX), -1);
    ended_transactions_close(&ended);
}

TEST(what_is_known_is_what_a_list_of_all_would_say)
{
    compare_with_list(true);
}

TEST(without_memory_nothing_is_taken_for_stable_too_early)
{
    compare_with_list(false);
}

TEST(a_million_of_them_take_bounded_memory)
{
    ended_transactions_init(&ended);
    for (int64_t i = 0; i < 1000000; i++)
        ended_transactions_add(&ended, 10 * i, 10 * i + 9);
    assert_true(ended.capacity <= 2 * ENDED_TRANSACTIONS_MAX);
    assert_int_equal(ended_transactions_first(&ended, 0), 0);
    assert_int_equal(ended_transactions_first(&ended, 5000), 5000);
    assert_int_equal(ended_transactions_first(&ended, 10000000), -1);
    ended_transactions_close(&ended);
}

TEST(what_others_say_of_earlier_markers_is_taken_over)
{
    struct ended_transactions taken;
    ended_transactions_init(&ended);
    ended_transactions_init(&taken);
    ended_transactions_add(&ended, 10, 20);
    ended_transactions_add(&ended, 15, 40);
    ended_transactions_add(&ended, 35, 50);
    ended_transactions_add_below(&taken, &ended, 30);
    assert_int_equal(ended_transactions_first(&taken, 20), 10);
    assert_int_equal(ended_transactions_first(&taken, 29), 15);
    assert_int_equal(ended_transactions_first(&taken, 30), -1);
    ended_transactions_move(&taken, &ended);
    assert_int_equal(ended_transactions_first(&taken, 0), 10);
    assert_int_equal(ended_transactions_first(&ended, 0), -1);
    ended_transactions_close(&ended);
    ended_transactions_close(&taken);
}
