// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "memory_budget.h"

#define KIB 1024u

static struct loop *loop;
static struct memory_budget budget;
static unsigned granted_order[16], granted_count;

struct waiter {
    struct memory_wait wait;
    unsigned name;
};

static void granted(struct message *message)
{
    struct waiter *waiter = LIST_OWNER(message, struct waiter, wait.granted);
    granted_order[granted_count++] = waiter->name;
}

static void open_budget(uint64_t total)
{
    granted_count = 0;
    assert_int_equal(loop_open(&loop, "test", clock_real()), 0);
    assert_int_equal(memory_budget_open(&budget, total, 0), 0);
}

static void close_budget(void)
{
    uint64_t reserved, waiting;
    memory_budget_usage(&budget, &reserved, &waiting);
    assert_int_equal(reserved, 0);
    assert_int_equal(waiting, 0);
    memory_budget_close(&budget);
    loop_close(loop);
}

static bool take(struct waiter *waiter, unsigned name, uint64_t bytes, bool is_small)
{
    waiter->name = name;
    memory_wait_init(&waiter->wait, loop, granted);
    return memory_budget_take(&budget, bytes, is_small, &waiter->wait);
}

static void give_back(struct waiter *waiter)
{
    memory_budget_give_back(&budget, &waiter->wait.grant);
    loop_turn(loop);
    loop_turn(loop);
}

TEST(large_frames_take_all_but_a_sixteenth)
{
    struct waiter a, b, c;
    open_budget(160 * KIB);
    assert_true(take(&a, 1, 100 * KIB, false));
    assert_true(take(&b, 2, 50 * KIB, false));
    assert_false(take(&c, 3, 1, false));
    give_back(&a);
    assert_int_equal(granted_count, 1);
    give_back(&b);
    give_back(&c);
    close_budget();
}

TEST(small_frames_go_on_when_large_ones_hold_everything)
{
    struct waiter large, waiting, small[3];
    open_budget(160 * KIB);
    assert_true(take(&large, 0, 150 * KIB, false));
    assert_false(take(&waiting, 9, 150 * KIB, false));
    assert_true(take(&small[0], 1, 5 * KIB, true));
    assert_true(take(&small[1], 2, 5 * KIB, true));
    assert_false(take(&small[2], 3, 5 * KIB, true));
    give_back(&small[0]);
    assert_int_equal(granted_count, 1);
    assert_int_equal(granted_order[0], 3);
    give_back(&small[1]);
    give_back(&small[2]);
    give_back(&large);
    give_back(&waiting);
    close_budget();
}

TEST(who_came_first_is_served_first)
{
    struct waiter holder, first, second, third;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 150 * KIB, false));
    assert_false(take(&first, 1, 120 * KIB, false));
    assert_false(take(&second, 2, 100 * KIB, false));
    assert_false(
        take(&third, 3, 20 * KIB, false)); /* Would fit beside the first, but is not its turn. */
    give_back(&holder);
    assert_int_equal(granted_count, 1);
    give_back(&first);
    assert_int_equal(granted_count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(granted_order[i], i + 1);
    give_back(&second);
    give_back(&third);
    close_budget();
}

TEST(small_frames_do_not_overtake_a_large_one_in_its_own_pool)
{
    struct waiter holder, large, share, small;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 100 * KIB, false));
    assert_false(take(&large, 1, 60 * KIB, false));
    assert_true(take(&share, 2, 10 * KIB, true));
    assert_false(take(&small, 3, 10 * KIB, true)); /* 50 KiB are free, and waited for. */
    give_back(&holder);
    assert_int_equal(granted_count, 2);
    assert_int_equal(granted_order[0], 1);
    give_back(&large);
    give_back(&share);
    give_back(&small);
    close_budget();
}

TEST(a_frame_larger_than_everything_is_served_when_it_is_alone)
{
    struct waiter other, huge;
    open_budget(160 * KIB);
    assert_true(take(&other, 0, 1, false));
    assert_false(take(&huge, 1, 1024 * KIB, false));
    give_back(&other);
    assert_int_equal(granted_count, 1);
    give_back(&huge);
    close_budget();
}

TEST(who_leaves_the_line_lets_the_next_one_through)
{
    struct waiter holder, large, next;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 100 * KIB, false));
    assert_false(take(&large, 1, 60 * KIB, false));
    assert_false(take(&next, 2, 50 * KIB, false));
    assert_true(memory_budget_cancel(&budget, &large.wait));
    loop_turn(loop);
    loop_turn(loop);
    assert_int_equal(granted_count, 1);
    assert_int_equal(granted_order[0], 2);
    assert_false(memory_budget_cancel(&budget, &next.wait));
    give_back(&next);
    give_back(&holder);
    close_budget();
}

TEST(what_is_charged_counts_and_makes_the_budget_tight)
{
    struct memory_grant grant;
    struct waiter late;
    open_budget(160 * KIB);
    assert_false(memory_budget_is_tight(&budget));
    memory_budget_charge(&budget, 200 * KIB, false, &grant);
    assert_true(memory_budget_is_tight(&budget));
    assert_false(take(&late, 1, 1, false));
    memory_budget_give_back(&budget, &grant);
    loop_turn(loop);
    loop_turn(loop);
    assert_int_equal(granted_count, 1);
    assert_false(memory_budget_is_tight(&budget));
    give_back(&late);
    close_budget();
}

TEST(who_waits_does_not_wait_for_what_those_who_wait_were_charged)
{
    struct memory_grant held[2];
    struct waiter holder, first, second;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 100 * KIB, false));
    assert_false(take(&first, 1, 1024 * KIB, false));
    memory_budget_charge(&budget, 10 * KIB, false, &held[0]);
    memory_budget_note_beside(&budget, &first.wait, held[0].bytes);
    assert_false(take(&second, 2, 150 * KIB, false));
    memory_budget_charge(&budget, 20 * KIB, false, &held[1]);
    memory_budget_note_beside(&budget, &second.wait, held[1].bytes);
    loop_turn(loop);
    assert_int_equal(granted_count, 0);

    give_back(&holder);
    assert_int_equal(granted_count, 1);
    memory_budget_give_back(&budget, &held[0]);
    assert_int_equal(granted_count, 1); /* One at a time. */
    give_back(&first);
    assert_int_equal(granted_count, 2);
    assert_int_equal(granted_order[1], 2);
    memory_budget_give_back(&budget, &held[1]);
    give_back(&second);
    close_budget();
}

TEST(what_others_gave_back_before_a_charge_was_noted_is_not_forgotten)
{
    struct memory_grant held;
    struct waiter holder, waiting;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 100 * KIB, false));
    memory_budget_charge(&budget, 10 * KIB, false, &held);
    assert_false(take(&waiting, 1, 150 * KIB, false));
    give_back(&holder);
    assert_int_equal(granted_count, 0);
    memory_budget_note_beside(&budget, &waiting.wait, held.bytes);
    loop_turn(loop);
    loop_turn(loop);
    assert_int_equal(granted_count, 1);
    memory_budget_note_beside(&budget, &waiting.wait, held.bytes); /* It does not wait any more. */
    memory_budget_give_back(&budget, &held);
    give_back(&waiting);
    close_budget();
}
