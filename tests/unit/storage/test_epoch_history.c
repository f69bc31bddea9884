// SPDX-License-Identifier: Apache-2.0

#include <string.h>

#include "alloc.h"
#include "epoch_history.h"
#include "error.h"
#include "runner.h"

static struct epoch_history history;

static void begin(int32_t epoch, int64_t start_offset)
{
    assert_int_equal(epoch_history_reserve(&history), 0);
    epoch_history_begin(&history, epoch, start_offset);
}

/* Epochs 2, 5 and 6, from 10, 20 and 30 on. */
static void start(void)
{
    epoch_history_close(&history);
    begin(2, 10);
    begin(5, 20);
    begin(6, 30);
}

static void assert_end_of(int32_t epoch, int32_t expected_epoch, int64_t expected_end)
{
    int32_t found;
    int64_t end;

    epoch_history_end_of(&history, epoch, 100, &found, &end);
    assert_int_equal(found, expected_epoch);
    assert_int_equal(end, expected_end);
}

TEST(an_epoch_ends_where_the_next_one_begins)
{
    start();
    assert_end_of(2, 2, 20);
    assert_end_of(3, 2, 20);
    assert_end_of(5, 5, 30);
    assert_end_of(6, 6, 100);
    assert_end_of(9, 6, 100);
    assert_end_of(1, 1, 10);
    epoch_history_close(&history);
    assert_end_of(1, -1, -1);
}

TEST(an_offset_lies_in_the_epoch_that_wrote_it)
{
    start();
    assert_int_equal(epoch_history_of(&history, 9), -1);
    assert_int_equal(epoch_history_of(&history, 10), 2);
    assert_int_equal(epoch_history_of(&history, 29), 5);
    assert_int_equal(epoch_history_of(&history, 1000), 6);
    epoch_history_close(&history);
}

TEST(epochs_never_go_back)
{
    start();
    assert_int_equal(epoch_history_reserve(&history), 0);
    assert_false(epoch_history_begin(&history, 6, 40));
    assert_false(epoch_history_begin(&history, 4, 40));
    assert_false(epoch_history_begin(&history, -1, 40));
    assert_int_equal(epoch_history_last(&history), 6);
    epoch_history_close(&history);
}

TEST(an_epoch_that_wrote_nothing_is_replaced)
{
    start();
    begin(7, 30);
    assert_int_equal(epoch_history_of(&history, 30), 7);
    assert_end_of(6, 5, 30);
    epoch_history_close(&history);
}

TEST(a_truncation_forgets_what_began_later)
{
    start();
    assert_false(epoch_history_truncate(&history, 31));
    assert_true(epoch_history_truncate(&history, 30));
    assert_int_equal(epoch_history_last(&history), 5);
    assert_true(epoch_history_truncate(&history, 0));
    assert_int_equal(epoch_history_last(&history), -1);
    epoch_history_close(&history);
}

TEST(a_higher_start_leaves_the_epoch_that_holds_it)
{
    start();
    assert_false(epoch_history_raise_start(&history, 10));
    assert_true(epoch_history_raise_start(&history, 15));
    assert_int_equal(epoch_history_of(&history, 14), -1);
    assert_int_equal(epoch_history_of(&history, 15), 2);
    assert_true(epoch_history_raise_start(&history, 20));
    assert_int_equal(history.count, 2);
    assert_true(epoch_history_raise_start(&history, 50));
    assert_int_equal(history.count, 1);
    assert_int_equal(history.starts[0].start_offset, 50);
    epoch_history_close(&history);
}

TEST(the_file_is_read_back_as_it_was_written)
{
    struct buffer lines, text;

    start();
    buffer_init(&lines);
    epoch_history_print(&history, &lines);
    assert_int_equal(lines.length, strlen("2 10\n5 20\n6 30\n"));
    assert_memory_equal(lines.data, "2 10\n5 20\n6 30\n", lines.length);
    buffer_init(&text);
    buffer_put(&text, "0\n3\n", 4);
    buffer_put(&text, lines.data, lines.length);
    epoch_history_close(&history);
    assert_int_equal(epoch_history_parse(&history, (const char *)text.data, text.length), 0);
    assert_end_of(5, 5, 30);
    buffer_close(&text);
    buffer_close(&lines);
    epoch_history_close(&history);
}

TEST(a_file_that_makes_no_sense_changes_nothing)
{
    static const char *const bad[] = { "",
                                       "0\n1\n",
                                       "0\n2\n5 1\n5 2\n",
                                       "0\n1\n-1 0\n",
                                       "0\n1\n5000000000 0\n",
                                       "0\n1\n1 -5\n",
                                       "0\n2\n5 9\n6 8\n" };

    start();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(epoch_history_parse(&history, bad[i], strlen(bad[i])), ERR_MALFORMED);
    assert_int_equal(epoch_history_last(&history), 6);
    mem_fail_at(1);
    assert_int_equal(epoch_history_parse(&history, "0\n1\n1 1\n", 8), ERR_NO_MEMORY);
    mem_fail_at(0);
    assert_int_equal(epoch_history_last(&history), 6);
    epoch_history_close(&history);
}
