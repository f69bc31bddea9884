// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "startup_limit.h"

#define LIMIT_MS 100

static struct clock_manual manual;
static struct loop *loop;
static struct startup_limit limit;
static unsigned exceeded_count;

static void note_exceeded(struct startup_limit *passed)
{
    assert_ptr_equal(passed, &limit);
    exceeded_count++;
}

/* What comes before the loop runs takes its part of the time. */
static void start(int64_t before_loop_ms)
{
    exceeded_count = 0;
    clock_manual_init(&manual, 1700000000000);
    assert_int_equal(loop_open(&loop, "test", &manual.clock), 0);
    startup_limit_init(&limit, &manual.clock, LIMIT_MS, note_exceeded);
    clock_manual_advance_ms(&manual, before_loop_ms);
    startup_limit_watch(&limit, loop);
    loop_turn(loop);
}

static void wait_ms(int64_t ms)
{
    clock_manual_advance_ms(&manual, ms);
    loop_turn(loop);
}

TEST(a_start_may_take_so_long_and_no_longer)
{
    start(60);
    wait_ms(LIMIT_MS - 60 - 1);
    assert_int_equal(exceeded_count, 0);
    wait_ms(2);
    assert_int_equal(exceeded_count, 1);
    assert_false(startup_limit_end(&limit));
    wait_ms(LIMIT_MS);
    assert_int_equal(exceeded_count, 1);
    loop_close(loop);
}

TEST(who_is_ready_is_left_alone)
{
    start(0);
    assert_true(startup_limit_end(&limit));
    assert_int_equal(startup_limit_ms(&limit), 0);
    wait_ms(10 * LIMIT_MS);
    assert_int_equal(exceeded_count, 0);
    loop_close(loop);
}

/* The loop may have been busy when the time was up. */
TEST(who_is_ready_too_late_is_told_so)
{
    start(0);
    clock_manual_advance_ms(&manual, LIMIT_MS);
    assert_false(startup_limit_end(&limit));
    assert_int_equal(exceeded_count, 1);
    loop_turn(loop);
    assert_int_equal(exceeded_count, 1);
    loop_close(loop);
}
