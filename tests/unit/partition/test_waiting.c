// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "waiting.h"

static struct loop *loop;
static unsigned woken;

static void count_wake(struct message *message)
{
    (void)message;
    woken++;
}

static void open_loop(void)
{
    assert_int_equal(loop_open(&loop, "test", clock_real()), 0);
    woken = 0;
}

static struct waiter waiter_for(int64_t offset, struct message *message)
{
    return (struct waiter){ .offset = offset, .loop = loop, .wake = message };
}

TEST(a_waiter_is_woken_by_an_offset_above_its_own_and_by_no_other)
{
    open_loop();
    struct list waiting;
    struct message message;
    list_init(&waiting);
    message_init(&message, count_wake);
    struct waiter waiter = waiter_for(5, &message);
    waiting_add(&waiting, &waiter);

    waiting_wake(&waiting, 5);
    loop_turn(loop);
    assert_int_equal(woken, 0);

    waiting_wake(&waiting, 6);
    loop_turn(loop);
    assert_int_equal(woken, 1);
    assert_true(list_is_empty(&waiting));
    loop_close(loop);
}

TEST(two_waiters_of_one_request_make_one_wake)
{
    open_loop();
    struct list waiting;
    struct message message;
    list_init(&waiting);
    message_init(&message, count_wake);
    struct waiter first = waiter_for(1, &message), second = waiter_for(2, &message);
    waiting_add(&waiting, &first);
    waiting_add(&waiting, &second);

    waiting_wake_all(&waiting);
    loop_turn(loop);
    assert_int_equal(woken, 1);
    loop_close(loop);
}

TEST(waking_some_leaves_the_others)
{
    open_loop();
    struct list waiting;
    struct message messages[2];
    list_init(&waiting);
    message_init(&messages[0], count_wake);
    message_init(&messages[1], count_wake);
    struct waiter near = waiter_for(1, &messages[0]), far = waiter_for(9, &messages[1]);
    waiting_add(&waiting, &far);
    waiting_add(&waiting, &near);

    waiting_wake(&waiting, 2);
    loop_turn(loop);
    assert_int_equal(woken, 1);
    assert_ptr_equal(waiting.next, &far.node);
    assert_ptr_equal(waiting.prev, &far.node);
    list_remove(&far.node);
    loop_close(loop);
}
