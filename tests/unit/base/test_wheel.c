// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdbool.h>
#include <stdlib.h>

#include "wheel.h"

#define START_MS INT64_C(123456789)

static struct timer *add_at(struct wheel *wheel, struct timer *timer, int64_t deadline_ms)
{
    timer_init(timer, NULL);
    timer->deadline_ms = deadline_ms;
    wheel_add(wheel, timer);
    return timer;
}

/* The only timer that is due at now_ms; NULL: none is. */
static struct timer *only_due(struct wheel *wheel, int64_t now_ms)
{
    struct list due;
    list_init(&due);
    wheel_advance(wheel, now_ms, &due);
    struct list *node = list_pop_front(&due);
    assert_true(list_is_empty(&due));
    return node == NULL ? NULL : LIST_OWNER(node, struct timer, node);
}

TEST(a_wheel_without_timers_has_nothing_to_do)
{
    struct wheel wheel;
    wheel_init(&wheel, START_MS);
    assert_true(wheel_next_ms(&wheel) == INT64_MAX);
    assert_null(only_due(&wheel, START_MS + 1000000));
}

TEST(a_timer_is_due_at_its_deadline_and_not_before)
{
    static const int64_t delays_ms[] = {
        0,
        1,
        2,
        63,
        64,
        65,
        4095,
        4096,
        4097,
        262143,
        262144,
        16777215,
        16777216,
        16777217,
        1073741824,
        68719476736,
        INT64_C(1) << 45,
        INT64_C(1) << 55,
        INT64_MAX - START_MS,
    };
    for (size_t i = 0; i < sizeof delays_ms / sizeof delays_ms[0]; i++) {
        struct wheel wheel;
        struct timer timer;
        int64_t deadline_ms = START_MS + delays_ms[i];
        wheel_init(&wheel, START_MS);
        add_at(&wheel, &timer, deadline_ms);
        if (delays_ms[i] > 0) assert_null(only_due(&wheel, deadline_ms - 1));
        assert_true(wheel_next_ms(&wheel) == deadline_ms);
        assert_ptr_equal(only_due(&wheel, deadline_ms), &timer);
        assert_true(wheel_next_ms(&wheel) == INT64_MAX);
    }
}

TEST(a_deadline_in_the_past_is_due_at_once)
{
    struct wheel wheel;
    struct timer timer;
    wheel_init(&wheel, START_MS);
    add_at(&wheel, &timer, START_MS - 5);
    assert_true(wheel_next_ms(&wheel) == START_MS);
    assert_ptr_equal(only_due(&wheel, START_MS), &timer);
}

TEST(following_the_wheel_takes_one_turn_per_level)
{
    struct wheel wheel;
    struct timer timer;
    wheel_init(&wheel, START_MS);
    add_at(&wheel, &timer, START_MS + INT64_C(7) * 24 * 3600 * 1000);
    struct timer *due = NULL;
    int turns = 0;
    while (due == NULL) {
        assert_true(wheel_next_ms(&wheel) <= timer.deadline_ms);
        due = only_due(&wheel, wheel_next_ms(&wheel));
        turns++;
    }
    assert_ptr_equal(due, &timer);
    assert_in_range(turns, 1, 6);
}

TEST(a_removed_timer_is_never_due_and_leaves_its_slot_empty)
{
    for (int64_t delay_ms = 0; delay_ms < 100000; delay_ms = delay_ms * 2 + 1) {
        struct wheel wheel;
        struct timer first, second;
        wheel_init(&wheel, START_MS);
        add_at(&wheel, &first, START_MS + delay_ms);
        add_at(&wheel, &second, START_MS + delay_ms);
        wheel_remove(&wheel, &first);
        wheel_remove(&wheel, &first);
        assert_true(wheel_next_ms(&wheel) <= START_MS + delay_ms);
        wheel_remove(&wheel, &second);
        assert_true(wheel_next_ms(&wheel) == INT64_MAX);
        assert_null(only_due(&wheel, START_MS + delay_ms));
    }
}

TEST(timers_with_one_deadline_are_due_in_the_order_of_setting)
{
    struct wheel wheel;
    struct timer timers[3];
    struct list due;
    list_init(&due);
    wheel_init(&wheel, START_MS);
    int64_t deadline_ms = START_MS + 5000;
    add_at(&wheel, &timers[0], deadline_ms); /* Two levels above the lowest. */
    assert_null(only_due(&wheel, deadline_ms - 100));
    add_at(&wheel, &timers[1], deadline_ms); /* One level above. */
    assert_null(only_due(&wheel, deadline_ms - 1));
    add_at(&wheel, &timers[2], deadline_ms);
    wheel_advance(&wheel, deadline_ms, &due);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(list_pop_front(&due), &timers[i].node);
    assert_true(list_is_empty(&due));
}

#define MODEL_TIMERS 200

/* Due now, by deadline; the wheel must give the same timers that a search over all of them does. */
static void assert_due_as_modelled(struct wheel *wheel, struct timer *timers, bool *is_set,
                                   int64_t now_ms)
{
    struct list due;
    struct list *node;
    int64_t last_ms = 0;
    list_init(&due);
    wheel_advance(wheel, now_ms, &due);
    while ((node = list_pop_front(&due)) != NULL) {
        struct timer *timer = LIST_OWNER(node, struct timer, node);
        assert_true(is_set[timer - timers]);
        assert_true(timer->deadline_ms <= now_ms);
        assert_true(timer->deadline_ms >= last_ms);
        last_ms = timer->deadline_ms;
        is_set[timer - timers] = false;
    }
    int64_t earliest_ms = INT64_MAX;
    for (int i = 0; i < MODEL_TIMERS; i++) {
        if (!is_set[i]) continue;
        assert_true(timers[i].deadline_ms > now_ms);
        if (timers[i].deadline_ms < earliest_ms) earliest_ms = timers[i].deadline_ms;
    }
    assert_true(wheel_next_ms(wheel) <= earliest_ms);
    assert_true(earliest_ms != INT64_MAX || wheel_next_ms(wheel) == INT64_MAX);
}

TEST(a_wheel_agrees_with_a_search_over_all_timers)
{
    struct wheel wheel;
    struct timer timers[MODEL_TIMERS];
    bool is_set[MODEL_TIMERS] = { false };
    unsigned short random[3] = { (unsigned short)test_seed(), 1, 2 };
    int64_t now_ms = START_MS;
    wheel_init(&wheel, now_ms);
    for (int i = 0; i < MODEL_TIMERS; i++)
        timer_init(&timers[i], NULL);
    for (int round = 0; round < 20000; round++) {
        int i = (int)(nrand48(random) % MODEL_TIMERS);
        long span_ms = 1L << nrand48(random) % 26;
        if (is_set[i]) wheel_remove(&wheel, &timers[i]);
        is_set[i] = nrand48(random) % 4 != 0;
        if (is_set[i]) add_at(&wheel, &timers[i], now_ms + nrand48(random) % span_ms);
        if (nrand48(random) % 4 == 0) {
            now_ms += nrand48(random) % (1L << nrand48(random) % 20);
            assert_due_as_modelled(&wheel, timers, is_set, now_ms);
        }
    }
}
