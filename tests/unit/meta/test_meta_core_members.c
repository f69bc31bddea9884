// SPDX-License-Identifier: Apache-2.0
/* Members come, go, vote and hand over leadership: R6b, R7, B14, B17, and the disks that they vote
 * with (DESIGN 7.6). */

#include "runner.h"

#include <string.h>

#include "core_fixture.h"
#include "error.h"
#include "meta_rules.h"
#include "trace.h"

static struct cores cores;

static struct meta_core *core(int32_t id)
{
    return cores.nodes[id].core;
}

static void no_lines(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static struct uuid disk(uint8_t number)
{
    return (struct uuid){ { number } };
}

static struct meta_member member_of(int32_t id, enum meta_member_role role)
{
    return (struct meta_member){ .node_id = id, .role = role, .address = STR_LITERAL("") };
}

/* Nodes 0 .. count-1, the first `voters` vote. */
static struct meta_members some_members(unsigned count, unsigned voters)
{
    struct meta_members members = { .count = count };
    for (unsigned i = 0; i < count; i++)
        members.members[i] = member_of((int32_t)i, i < voters ? META_VOTER : META_STANDBY);
    return members;
}

static int change(int32_t id, const struct meta_members *members)
{
    int64_t index = -1;
    return meta_core_change_members(core(id), cores.now_ms, members, &index);
}

/* Asks until it is no longer too early. */
static int change_at_last(int32_t id, const struct meta_members *members)
{
    int err = ERR_BUSY;
    for (int i = 0; i < 5 && err == ERR_BUSY; i++) {
        err = change(id, members);
        cores_settle(&cores);
    }
    return err;
}

/* Node `id` joins as it is with an empty disk. */
static void start_empty(int32_t id)
{
    struct core_node *node = &cores.nodes[id];
    cores_crash(&cores, id);
    node->term = 0;
    node->first_index = 1;
    node->last_index = 0;
    cores_start(&cores, id);
}

/* ---- what may be changed ---- */

static int checked(struct meta_members before, struct meta_members after)
{
    return meta_rules_check_change(&before, &after, 0, 0);
}

TEST(one_member_at_a_time)
{
    struct meta_members three = some_members(3, 3);
    assert_int_equal(checked(three, some_members(4, 3)), 0);
    assert_int_equal(checked(three, some_members(5, 3)), ERR_INVALID_REQUEST);
    assert_int_equal(checked(some_members(4, 3), some_members(4, 4)), 0);
    assert_int_equal(checked(some_members(5, 3), some_members(5, 5)), ERR_INVALID_REQUEST);
    assert_int_equal(checked(some_members(5, 3), some_members(4, 4)), ERR_INVALID_REQUEST);
    assert_int_equal(checked(some_members(4, 3), three), 0);
}

TEST(three_voters_stay_once_they_are_there)
{
    assert_int_equal(checked(some_members(4, 4), some_members(4, 3)), 0);
    assert_int_equal(checked(some_members(3, 3), some_members(3, 2)), ERR_INVALID_REQUEST);
    assert_int_equal(checked(some_members(2, 1), some_members(2, 2)), 0); /* It grows. */
    assert_int_equal(checked(some_members(2, 2), some_members(2, 1)), ERR_INVALID_REQUEST);
    struct meta_members before = some_members(3, 3), after = some_members(3, 2);
    assert_int_equal(meta_rules_check_change(&before, &after, 0, META_RULE_R7A), 0);
}

TEST(a_leader_does_not_remove_itself)
{
    struct meta_members before = some_members(4, 4), after = before;
    after.members[0].role = META_STANDBY;
    assert_int_equal(checked(before, after), ERR_INVALID_REQUEST);
    assert_int_equal(meta_rules_check_change(&before, &after, 1, 0), 0);
    assert_int_equal(meta_rules_check_change(&before, &after, 0, META_RULE_R7B), 0);
}

TEST(the_disk_of_a_member_is_named_once)
{
    struct meta_members before = some_members(3, 3), after = before, other;
    for (uint8_t i = 0; i < 3; i++)
        after.members[i].directory_id = disk((uint8_t)(i + 1));
    assert_int_equal(checked(before, after), 0); /* All at once: it changes no majority. */
    other = after;
    other.members[1].directory_id = disk(9);
    assert_int_equal(checked(after, other), ERR_INVALID_REQUEST);
    assert_int_equal(checked(after, before), ERR_INVALID_REQUEST);
}

TEST(members_that_are_none_are_refused)
{
    struct meta_members before = some_members(3, 3), after = before;
    after.members[1].node_id = 0; /* Twice. */
    assert_int_equal(checked(before, after), ERR_INVALID_REQUEST);
    after.count = 0;
    assert_int_equal(checked(before, after), ERR_INVALID_REQUEST);
}

/* ---- changes ---- */

TEST(one_node_grows_to_three)
{
    cores_open(&cores, 3, 3);
    for (int32_t id = 0; id < 3; id++) { /* Begin with node 0 alone. */
        cores.nodes[id].log[0].payload = cores_members(1, 1);
        if (id > 0)
            start_empty(id);
        else
            cores_crash(&cores, 0), cores_start(&cores, 0);
    }
    assert_int_equal(meta_core_role(core(0)), META_LEADER);
    struct meta_members steps[] = { some_members(2, 1), some_members(2, 2), some_members(3, 2),
                                    some_members(3, 3) };
    for (unsigned i = 0; i < 4; i++) {
        cores_submit(&cores, 0);
        cores_settle(&cores);
        assert_int_equal(change_at_last(0, &steps[i]), 0);
        cores_tick(&cores, 0);
        cores_settle(&cores);
        cores_tick(&cores, 0);
        cores_settle(&cores);
    }
    for (int32_t id = 0; id < 3; id++) {
        assert_int_equal(meta_core_voter_count(core(id)), 3);
        assert_int_equal(meta_core_applied_index(core(id)), meta_core_last_index(core(0)));
    }
    /* The two others go on without it. */
    cores_crash(&cores, 0);
    cores_elect(&cores, 1);
    cores_close(&cores);
}

TEST(r6b_a_leader_changes_nothing_before_it_has_committed_an_entry_of_its_own)
{
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    struct meta_members wanted = some_members(4, 4);
    /* libraft puts a barrier only where something was not committed: here nothing of this term is. */
    assert_int_equal(meta_core_last_index(core(0)), 1);
    assert_int_equal(change(0, &wanted), ERR_BUSY);
    assert_int_equal(cores.nodes[0].log[1].type, META_ENTRY_BARRIER);
    assert_int_equal(change(0, &wanted), ERR_BUSY);
    assert_int_equal(meta_core_last_index(core(0)), 2); /* One is enough. */
    cores_settle(&cores);
    assert_int_equal(change(0, &wanted), 0);
    assert_int_equal(meta_core_voter_count(core(0)), 4);
    cores_close(&cores);
    cores.rules_off = META_RULE_R6B;
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    assert_int_equal(change(0, &wanted), 0);
    cores_close(&cores);
    cores.rules_off = 0;
}

TEST(b9_a_change_is_refused_while_another_is_under_way)
{
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    struct meta_members wanted = some_members(4, 4);
    assert_int_equal(change(0, &wanted), ERR_BUSY);
    cores_settle(&cores);
    assert_int_equal(change(0, &wanted), 0);
    int64_t last = meta_core_last_index(core(0));
    wanted = some_members(4, 3);
    assert_int_equal(change(0, &wanted), ERR_BUSY);
    assert_int_equal(meta_core_last_index(core(0)), last); /* No entry is left of it. */
    assert_int_equal(meta_core_failed(core(0)), 0);
    cores_settle(&cores);
    assert_int_equal(change(0, &wanted), 0);
    cores_close(&cores);
}

TEST(r7c_voters_must_be_nearly_level)
{
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    struct meta_members wanted = some_members(4, 4);
    assert_int_equal(change(0, &wanted), ERR_BUSY); /* The barrier. */
    cores_settle(&cores);
    cores_crash(&cores, 3);
    for (int i = 0; i < 8; i++)
        cores_submit(&cores, 0);
    cores_settle(&cores);
    assert_int_equal(change(0, &wanted), ERR_BUSY); /* Who is to vote lacks eight entries. */
    cores_start(&cores, 3);
    for (int i = 0; i < 4; i++) {
        cores_tick(&cores, 0);
        cores_settle(&cores);
    }
    cores_elect(&cores, 0); /* Node 3 came back with a newer term. */
    assert_int_equal(change_at_last(0, &wanted), 0);
    cores_close(&cores);
}

TEST(r7c_a_dead_voter_can_be_replaced)
{
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    cores_crash(&cores, 2); /* For good. */
    for (int i = 0; i < 8; i++)
        cores_submit(&cores, 0);
    cores_settle(&cores);
    for (int i = 0; i < 20; i++) {
        cores_tick(&cores, 0);
        cores_settle(&cores);
    }
    struct meta_members wanted = some_members(4, 4);
    assert_int_equal(change_at_last(0, &wanted), 0); /* 0, 1 and 3 are three of four. */
    wanted.members[2].role = META_STANDBY;
    assert_int_equal(change_at_last(0, &wanted), 0);
    wanted.members[2] = wanted.members[3];
    wanted.count = 3;
    assert_int_equal(change_at_last(0, &wanted), 0);
    assert_int_equal(meta_core_member_count(core(3)), 3);
    assert_int_equal(meta_core_voter_count(core(3)), 3);
    cores_close(&cores);
}

TEST(only_a_leader_changes_members)
{
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    struct meta_members wanted = some_members(4, 4);
    assert_int_equal(change(1, &wanted), ERR_NOT_CONTROLLER);
    assert_int_equal(meta_core_failed(core(1)), 0);
    cores_close(&cores);
}

TEST(members_survive_a_restart_and_a_cut)
{
    struct meta_members members;
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    struct meta_members wanted = some_members(4, 4);
    assert_int_equal(change_at_last(0, &wanted), 0);
    wanted = some_members(4, 4);
    wanted.members[3].role = META_STANDBY;
    assert_int_equal(change(0, &wanted), 0); /* Not agreed, only here. */
    cores_persist(&cores, 0);
    cores_drop_all(&cores);
    assert_true(meta_core_members(core(0), &members));
    assert_int_equal(meta_members_voter_count(&members), 3);
    cores_crash(&cores, 0);
    cores_start(&cores, 0);
    assert_true(meta_core_members(core(0), &members));
    assert_int_equal(meta_members_voter_count(&members), 3);
    cores_elect(&cores, 1); /* It does not know of the second change: node 0's is overwritten. */
    cores_submit(&cores, 1);
    cores_settle(&cores);
    cores_tick(&cores, 1);
    cores_settle(&cores);
    cores_tick(&cores, 1);
    cores_settle(&cores);
    assert_true(meta_core_members(core(0), &members));
    assert_int_equal(meta_members_voter_count(&members), 4);
    assert_int_equal(meta_core_voter_count(core(0)), 4);
    cores_close(&cores);
}

/* ---- transfer ---- */

TEST(leadership_is_handed_over)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    cores_submit(&cores, 0);
    cores_settle(&cores);
    assert_int_equal(meta_core_transfer(core(0), cores.now_ms, 2), 0);
    assert_true(meta_core_is_transferring(core(0)));
    cores_settle(&cores);
    assert_int_equal(meta_core_role(core(2)), META_LEADER);
    assert_int_equal(meta_core_role(core(0)), META_FOLLOWER);
    cores_close(&cores);
}

TEST(leadership_is_handed_to_any_that_is_level)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    cores_crash(&cores, 1);
    cores_submit(&cores, 0);
    cores_settle(&cores);
    assert_int_equal(meta_core_transfer(core(0), cores.now_ms, META_NOBODY), 0);
    cores_settle(&cores);
    assert_int_equal(meta_core_role(core(2)), META_LEADER);
    cores_close(&cores);
}

TEST(b17_leadership_is_not_handed_to_one_that_is_behind)
{
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    cores_submit(&cores, 0); /* Nobody has it yet. */
    assert_int_equal(meta_core_transfer(core(0), cores.now_ms, 1), ERR_BUSY);
    assert_int_equal(meta_core_transfer(core(0), cores.now_ms, META_NOBODY), ERR_BUSY);
    assert_int_equal(meta_core_transfer(core(0), cores.now_ms, 3), ERR_VOTER_NOT_FOUND);
    assert_int_equal(meta_core_transfer(core(0), cores.now_ms, 0), ERR_VOTER_NOT_FOUND);
    assert_int_equal(meta_core_transfer(core(1), cores.now_ms, 0), ERR_NOT_CONTROLLER);
    assert_false(meta_core_is_transferring(core(0)));
    cores_submit(&cores, 0); /* Commands are taken meanwhile. */
    cores_settle(&cores);
    assert_int_equal(meta_core_transfer(core(0), cores.now_ms, 1), 0);
    cores_close(&cores);
    cores.rules_off = META_RULE_B17;
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    cores_submit(&cores, 0);
    struct meta_entry entry = { .payload = { (const uint8_t *)"x", 1 } };
    int64_t index;
    assert_int_equal(meta_core_transfer(core(0), cores.now_ms, 1), 0);
    assert_int_equal(meta_core_submit(core(0), cores.now_ms, &entry, 1, &index),
                     ERR_NOT_CONTROLLER);
    cores_close(&cores);
    cores.rules_off = 0;
}

/* ---- disks ---- */

/* Three voters with disks 1, 2, 3 that the members name. */
static void open_with_disks(void)
{
    cores_open(&cores, 3, 3);
    for (int32_t id = 0; id < 3; id++) {
        cores_crash(&cores, id);
        cores.nodes[id].directory_id = disk((uint8_t)(id + 1));
        cores_start(&cores, id);
    }
    cores_elect(&cores, 0);
    cores_submit(&cores, 0);
    cores_settle(&cores);
    struct meta_members learned;
    assert_true(meta_core_learned_members(core(0), &learned));
    for (uint8_t i = 0; i < 3; i++) {
        struct uuid expected = disk((uint8_t)(i + 1));
        assert_true(uuid_equal(&learned.members[i].directory_id, &expected));
    }
    assert_int_equal(change_at_last(0, &learned), 0);
    assert_false(meta_core_learned_members(core(0), &learned));
}

TEST(the_first_leader_learns_the_disks_of_the_voters)
{
    open_with_disks();
    cores_close(&cores);
}

/* Node 2 comes back with another, empty disk. */
static void lose_the_disk_of_node_2(void)
{
    cores.nodes[2].directory_id = disk(9);
    start_empty(2);
}

TEST(an_acknowledgement_from_another_disk_does_not_count)
{
    open_with_disks();
    lose_the_disk_of_node_2();
    cores_crash(&cores, 1);
    trace_set_sink(no_lines, NULL);
    int64_t index = cores_submit(&cores, 0);
    for (int i = 0; i < 4; i++) {
        cores_settle(&cores);
        cores_tick(&cores, 0);
    }
    cores_settle(&cores);
    assert_true(meta_core_applied_index(core(0)) < index);
    trace_set_sink(NULL, NULL);
    cores_close(&cores);
}

TEST(a_vote_from_another_disk_does_not_count)
{
    open_with_disks();
    lose_the_disk_of_node_2();
    cores_crash(&cores, 0);
    trace_set_sink(no_lines, NULL);
    for (int i = 0; i < 10; i++) {
        cores.now_ms += 3 * CORE_ELECTION_MS;
        cores_tick(&cores, 1);
        cores_settle(&cores);
        assert_true(meta_core_role(core(1)) != META_LEADER);
    }
    trace_set_sink(NULL, NULL);
    cores_close(&cores);
}

TEST(a_voter_that_lost_its_disk_neither_votes_nor_campaigns_once_it_knows)
{
    open_with_disks();
    cores_crash(&cores, 2); /* The same log, but on another disk. */
    cores.nodes[2].directory_id = disk(9);
    cores_start(&cores, 2);
    assert_true(meta_core_lost_its_disk(core(2)));
    cores.now_ms += 20 * CORE_ELECTION_MS;
    for (int i = 0; i < 5; i++)
        cores_tick(&cores, 2);
    assert_int_equal(meta_core_role(core(2)), META_FOLLOWER);
    struct meta_message vote = {
        .type = META_MESSAGE_VOTE,
        .from = 1,
        .to = 2,
        .term = meta_core_term(core(2)) + 1,
        .directory_id = disk(2),
        .as.vote = { 1, 60, meta_core_term(core(2)), false, false },
    };
    cores_drop_all(&cores);
    cores_deliver(&cores, &vote);
    assert_false(cores_sent(&cores, 2, META_MESSAGE_VOTE_RESULT)->as.vote_result.is_granted);
    cores_close(&cores);
}
