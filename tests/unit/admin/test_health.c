// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "clock.h"
#include "health.h"

static struct clock_manual manual;
static struct loop *own, *main_loop, *network;
static struct health health;
static unsigned rounds;
static const char *silent;

static void round_is_over(struct health *ended)
{
    rounds++;
    silent = health_silent_loop(ended);
}

static void three_loops(void)
{
    clock_manual_init(&manual, 0);
    rounds = 0;
    silent = NULL;
    assert_int_equal(loop_open(&own, "admin", &manual.clock), 0);
    assert_int_equal(loop_open(&main_loop, "main", &manual.clock), 0);
    assert_int_equal(loop_open(&network, "network", &manual.clock), 0);
    health_open(&health, own, round_is_over);
    assert_int_equal(health_add(&health, main_loop, "main", -1), 0);
    assert_int_equal(health_add(&health, network, "network", 3), 0);
}

static void loops_end(void)
{
    health_stop(&health);
    loop_close(network);
    loop_close(main_loop);
    loop_close(own);
    health_close(&health);
}

TEST(loops_that_answer_are_alive)
{
    three_loops();
    health_ask(&health);
    assert_int_equal(rounds, 0);
    loop_turn(main_loop);
    loop_turn(own);
    assert_int_equal(rounds, 0);
    loop_turn(network);
    loop_turn(own);
    assert_int_equal(rounds, 1);
    assert_null(silent);
    loops_end();
}

TEST(a_loop_that_is_silent_is_named_after_a_second)
{
    three_loops();
    health_ask(&health);
    loop_turn(main_loop);
    clock_manual_advance_ms(&manual, HEALTH_PATIENCE_MS - 1);
    loop_turn(own);
    assert_int_equal(rounds, 0);
    clock_manual_advance_ms(&manual, 1);
    loop_turn(own);
    assert_int_equal(rounds, 1);
    assert_string_equal(silent, "network 3");

    /* It has the question still, and lives again. */
    health_ask(&health);
    loop_turn(main_loop);
    loop_turn(network);
    loop_turn(own);
    assert_int_equal(rounds, 2);
    assert_null(silent);
    loops_end();
}

TEST(who_asks_during_a_round_gets_its_result)
{
    three_loops();
    health_ask(&health);
    health_ask(&health);
    loop_turn(main_loop);
    loop_turn(network);
    loop_turn(own);
    assert_int_equal(rounds, 1);
    loops_end();
}
