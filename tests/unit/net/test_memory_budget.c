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
    assert_int_equal(memory_budget_open(&budget, total, KIB), 0);
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

static bool take(struct waiter *waiter, unsigned name, uint64_t bytes, enum memory_share share)
{
    waiter->name = name;
    memory_wait_init(&waiter->wait, loop, granted);
    return memory_budget_take(&budget, bytes, share, &waiter->wait);
}

static void give_back(struct waiter *waiter)
{
    memory_budget_give_back(&budget, &waiter->wait.grant);
    loop_turn(loop);
    loop_turn(loop);
}

TEST(large_frames_leave_the_shares_of_others)
{
    struct waiter a, b, c;
    open_budget(160 * KIB);
    assert_true(take(&a, 1, 70 * KIB, MEMORY_LARGE));
    assert_true(take(&b, 2, 40 * KIB, MEMORY_LARGE));
    assert_false(take(&c, 3, 1, MEMORY_LARGE));
    give_back(&a);
    assert_int_equal(granted_count, 1);
    give_back(&b);
    give_back(&c);
    close_budget();
}

TEST(small_frames_go_on_when_larger_ones_hold_everything)
{
    struct waiter large, waiting, usual, small[3];
    open_budget(160 * KIB);
    assert_true(take(&large, 0, 110 * KIB, MEMORY_LARGE));
    assert_false(take(&waiting, 9, 110 * KIB, MEMORY_LARGE));
    assert_true(take(&usual, 8, 40 * KIB, MEMORY_USUAL));
    assert_true(take(&small[0], 1, 5 * KIB, MEMORY_SMALL));
    assert_true(take(&small[1], 2, 5 * KIB, MEMORY_SMALL));
    assert_false(take(&small[2], 3, 5 * KIB, MEMORY_SMALL));
    give_back(&small[0]);
    assert_int_equal(granted_count, 1);
    assert_int_equal(granted_order[0], 3);
    give_back(&small[1]);
    give_back(&small[2]);
    give_back(&usual);
    give_back(&large);
    give_back(&waiting);
    close_budget();
}

TEST(usual_frames_go_on_when_large_ones_hold_the_rest_and_wait_for_it)
{
    struct waiter large, waiting, usual[3];
    open_budget(160 * KIB);
    assert_true(take(&large, 0, 110 * KIB, MEMORY_LARGE));
    assert_false(take(&waiting, 9, 1, MEMORY_LARGE));
    assert_true(take(&usual[0], 1, 20 * KIB, MEMORY_USUAL));
    assert_true(take(&usual[1], 2, 20 * KIB, MEMORY_USUAL));
    assert_false(take(&usual[2], 3, 20 * KIB, MEMORY_USUAL));
    give_back(&usual[0]);
    assert_int_equal(granted_count, 1);
    assert_int_equal(granted_order[0], 3);
    give_back(&usual[1]);
    give_back(&usual[2]);
    give_back(&large);
    give_back(&waiting);
    close_budget();
}

TEST(frames_take_from_the_share_of_larger_ones_if_nobody_waits_there)
{
    struct waiter usual, spilled, small[2], large;
    open_budget(160 * KIB);
    assert_true(take(&usual, 0, 40 * KIB, MEMORY_USUAL));
    assert_true(take(&spilled, 1, 100 * KIB, MEMORY_USUAL));
    assert_int_equal(spilled.wait.grant.share, MEMORY_LARGE);
    assert_true(take(&small[0], 2, 10 * KIB, MEMORY_SMALL));
    assert_true(take(&small[1], 3, 5 * KIB, MEMORY_SMALL));
    assert_int_equal(small[1].wait.grant.share, MEMORY_LARGE);
    assert_false(take(&large, 4, 10 * KIB, MEMORY_LARGE));
    give_back(&small[0]);
    assert_int_equal(granted_count, 0);
    give_back(&small[1]);
    give_back(&large);
    give_back(&spilled);
    give_back(&usual);
    close_budget();
}

TEST(a_grant_is_wanted_by_those_who_wait_and_could_use_it)
{
    struct waiter usual, large, small, waiting;
    open_budget(160 * KIB);
    assert_true(take(&large, 0, 110 * KIB, MEMORY_LARGE));
    assert_true(take(&usual, 1, 40 * KIB, MEMORY_USUAL));
    assert_true(take(&small, 2, 10 * KIB, MEMORY_SMALL));
    assert_false(memory_budget_is_wanted(&budget, &large.wait.grant));
    assert_false(take(&waiting, 3, 30 * KIB, MEMORY_USUAL));
    assert_true(memory_budget_is_wanted(&budget, &large.wait.grant));
    assert_true(memory_budget_is_wanted(&budget, &usual.wait.grant));
    assert_false(memory_budget_is_wanted(&budget, &small.wait.grant));
    give_back(&large);
    assert_false(memory_budget_is_wanted(&budget, &usual.wait.grant));
    give_back(&usual);
    give_back(&small);
    give_back(&waiting);
    close_budget();
}

TEST(who_came_first_is_served_first)
{
    struct waiter holder, first, second, third;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 110 * KIB, MEMORY_LARGE));
    assert_false(take(&first, 1, 90 * KIB, MEMORY_LARGE));
    assert_false(take(&second, 2, 80 * KIB, MEMORY_LARGE));
    assert_false(take(&third, 3, 15 * KIB,
                      MEMORY_LARGE)); /* Would fit beside the first, but is not its turn. */
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
    struct waiter holder, large, share, usual, small;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 70 * KIB, MEMORY_LARGE));
    assert_false(take(&large, 1, 50 * KIB, MEMORY_LARGE));
    assert_true(take(&share, 2, 10 * KIB, MEMORY_SMALL));
    assert_true(take(&usual, 4, 40 * KIB, MEMORY_USUAL));
    assert_false(take(&small, 3, 10 * KIB, MEMORY_SMALL)); /* 40 KiB are free, and waited for. */
    give_back(&holder);
    assert_int_equal(granted_count, 2);
    assert_int_equal(granted_order[0], 1);
    give_back(&large);
    give_back(&share);
    give_back(&usual);
    give_back(&small);
    close_budget();
}

TEST(a_frame_larger_than_everything_is_served_when_it_is_alone)
{
    struct waiter other, huge;
    open_budget(160 * KIB);
    assert_true(take(&other, 0, 1, MEMORY_LARGE));
    assert_false(take(&huge, 1, 1024 * KIB, MEMORY_LARGE));
    give_back(&other);
    assert_int_equal(granted_count, 1);
    give_back(&huge);
    close_budget();
}

TEST(who_leaves_the_line_lets_the_next_one_through)
{
    struct waiter holder, large, next;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 70 * KIB, MEMORY_LARGE));
    assert_false(take(&large, 1, 50 * KIB, MEMORY_LARGE));
    assert_false(take(&next, 2, 40 * KIB, MEMORY_LARGE));
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
    struct memory_grant grant, other;
    struct waiter late;
    open_budget(160 * KIB);
    assert_false(memory_budget_is_tight(&budget));
    memory_budget_charge(&budget, 200 * KIB, MEMORY_USUAL, &grant);
    assert_false(memory_budget_is_tight(&budget));
    memory_budget_charge(&budget, 40 * KIB, MEMORY_USUAL, &other);
    assert_true(memory_budget_is_tight(&budget));
    assert_false(take(&late, 1, 1, MEMORY_LARGE));
    memory_budget_give_back(&budget, &grant);
    loop_turn(loop);
    loop_turn(loop);
    assert_int_equal(granted_count, 1);
    assert_false(memory_budget_is_tight(&budget));
    give_back(&late);
    memory_budget_give_back(&budget, &other);
    close_budget();
}

TEST(who_waits_does_not_wait_for_what_those_who_wait_were_charged)
{
    struct memory_grant held[2];
    struct waiter holder, first, second;
    open_budget(160 * KIB);
    assert_true(take(&holder, 0, 70 * KIB, MEMORY_LARGE));
    assert_false(take(&first, 1, 1024 * KIB, MEMORY_LARGE));
    memory_budget_charge(&budget, 10 * KIB, MEMORY_LARGE, &held[0]);
    memory_budget_note_beside(&budget, &first.wait, &held[0]);
    assert_false(take(&second, 2, 110 * KIB, MEMORY_LARGE));
    memory_budget_charge(&budget, 20 * KIB, MEMORY_LARGE, &held[1]);
    memory_budget_note_beside(&budget, &second.wait, &held[1]);
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
    assert_true(take(&holder, 0, 70 * KIB, MEMORY_LARGE));
    memory_budget_charge(&budget, 10 * KIB, MEMORY_LARGE, &held);
    assert_false(take(&waiting, 1, 110 * KIB, MEMORY_LARGE));
    give_back(&holder);
    assert_int_equal(granted_count, 0);
    memory_budget_note_beside(&budget, &waiting.wait, &held);
    loop_turn(loop);
    loop_turn(loop);
    assert_int_equal(granted_count, 1);
    memory_budget_note_beside(&budget, &waiting.wait, &held); /* It does not wait any more. */
    memory_budget_give_back(&budget, &held);
    give_back(&waiting);
    close_budget();
}
