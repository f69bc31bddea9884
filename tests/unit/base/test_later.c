// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "later.h"

#define TASKS 5

static struct clock_manual manual;
static struct loop *loop;
static struct later later;
static int64_t each_takes_us;
static int done[TASKS], done_count, answered;

struct numbered_task {
    struct later_task task;
    int number;
};
static struct numbered_task tasks[TASKS];

static void run_task(struct later_task *task)
{
    done[done_count++] = LIST_OWNER(task, struct numbered_task, task)->number;
    manual.monotonic_us += each_takes_us;
}

static void answer(struct message *message)
{
    (void)message;
    answered++;
}

static void tasks_are_added(int64_t takes_us)
{
    clock_manual_init(&manual, 0);
    assert_int_equal(loop_open(&loop, "test", &manual.clock), 0);
    later_init(&later, loop);
    each_takes_us = takes_us;
    done_count = answered = 0;
    for (int i = 0; i < TASKS; i++) {
        tasks[i].task.run = run_task;
        tasks[i].number = i;
        later_add(&later, &tasks[i].task);
    }
}

TEST(of_what_takes_long_a_turn_does_one_and_then_what_else_has_come)
{
    struct message small;
    message_init(&small, answer);
    tasks_are_added(LATER_TURN_US);
    assert_int_equal(done_count, 0);
    for (int turn = 1; turn <= TASKS; turn++) {
        loop_post(loop, &small);
        loop_turn(loop);
        assert_int_equal(answered, turn);
        assert_int_equal(done_count, turn);
        assert_int_equal(done[turn - 1], turn - 1);
    }
    loop_turn(loop);
    assert_int_equal(done_count, TASKS);
    loop_close(loop);
}

TEST(of_what_takes_little_a_turn_does_some)
{
    tasks_are_added(LATER_TURN_US / 2);
    loop_turn(loop);
    assert_int_equal(done_count, 2);
    loop_turn(loop);
    assert_int_equal(done_count, 4);
    loop_turn(loop);
    assert_int_equal(done_count, TASKS);
    loop_close(loop);
}
