// SPDX-License-Identifier: Apache-2.0
/* Raft as we run it, and one case for each rule that libraft's defects ask for. The names R1 to R10
 * are those of meta_core.c. */

#include "runner.h"

#include <string.h>

#include "core_fixture.h"
#include "error.h"
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

/* A message that is expected to be dropped says so; the line is not part of the test. */
static void deliver_quietly(const struct meta_message *message)
{
    trace_set_sink(no_lines, NULL);
    cores_deliver(&cores, message);
    trace_set_sink(NULL, NULL);
}

static const uint8_t command[] = "command";
#define COMMAND(term)               \
    {                               \
        term, META_ENTRY_COMMAND,   \
        {                           \
            command, sizeof command \
        }                           \
    }

/* ---- raft ---- */

TEST(three_nodes_elect_one_and_agree)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    assert_int_equal(meta_core_leader(core(2)), 0);
    int64_t index = cores_submit(&cores, 0);
    cores_settle(&cores);
    for (int32_t id = 0; id < 3; id++) {
        assert_int_equal(meta_core_applied_index(core(id)), index);
        assert_true(meta_core_is_caught_up(core(id)));
    }
    cores_close(&cores);
}

TEST(a_node_alone_leads_at_once_and_needs_no_timer)
{
    cores_open(&cores, 1, 1);
    assert_int_equal(meta_core_role(core(0)), META_LEADER);
    assert_int_equal(meta_core_deadline_ms(core(0)), INT64_MAX);
    int64_t index = cores_submit(&cores, 0);
    assert_int_equal(meta_core_applied_index(core(0)), index - 1);
    cores_persist(&cores, 0);
    assert_int_equal(meta_core_applied_index(core(0)), index);
    cores_close(&cores);
}

TEST(only_a_leader_takes_commands)
{
    cores_open(&cores, 3, 3);
    struct meta_entry entry = { .payload = { command, sizeof command } };
    int64_t index = -1;
    assert_int_equal(meta_core_submit(core(1), cores.now_ms, &entry, 1, &index),
                     ERR_NOT_CONTROLLER);
    assert_int_equal(meta_core_failed(core(1)), 0);
    assert_int_equal(index, -1);
    cores_close(&cores);
}

TEST(nothing_is_committed_before_it_is_durable_on_a_majority)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    cores_crash(&cores, 2);
    int64_t index = cores_submit(&cores, 0);
    cores_persist(&cores, 0);
    assert_int_equal(meta_core_applied_index(core(0)), index - 1);
    cores_settle(&cores);
    assert_int_equal(meta_core_applied_index(core(0)), index);
    cores_close(&cores);
}

TEST(followers_hear_of_a_commit_at_once)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    int64_t index = cores_submit(&cores, 0);
    int64_t asked_at_ms = cores.now_ms;
    cores_settle(&cores);
    assert_int_equal(cores.now_ms, asked_at_ms); /* No heartbeat was due meanwhile. */
    assert_int_equal(meta_core_applied_index(core(1)), index);
    cores_close(&cores);
}

TEST(a_leader_that_came_back_finds_its_tail_replaced)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    int64_t lost = cores_submit(&cores, 0);
    cores_persist(&cores, 0); /* On its own disk only. */
    cores_drop_all(&cores);
    cores_crash(&cores, 0);
    cores_elect(&cores, 1);
    int64_t kept = cores_submit(&cores, 1);
    cores_settle(&cores);
    assert_int_equal(kept, lost);
    cores_start(&cores, 0);
    cores_tick(&cores, 1); /* Its heartbeat. */
    cores_settle(&cores);
    cores_tick(&cores, 1);
    cores_settle(&cores);
    assert_int_equal(meta_core_applied_index(core(0)), kept);
    assert_int_equal(cores.nodes[0].log[kept - 1].term, meta_core_term(core(1)));
    cores_close(&cores);
}

TEST(an_overwritten_write_is_not_reported)
{
    cores_open(&cores, 3, 3);
    int64_t term = meta_core_term(core(1));
    struct meta_entry old_entries[] = { COMMAND(term), COMMAND(term), COMMAND(term) };
    struct meta_entry new_entry = COMMAND(term + 1);
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 1,
        .term = term,
        .as.append = { 1, 1, 1, old_entries, 3 },
    };
    cores_deliver(&cores, &message); /* 2, 3 and 4, on their way to the disk */
    uint64_t old_write = cores.nodes[1].newest_write;
    message.from = 2;
    message.term = term + 1;
    message.as.append.entries = &new_entry; /* Another 2. */
    message.as.append.entry_count = 1;
    cores_deliver(&cores, &message);
    assert_int_equal(meta_core_last_index(core(1)), 2);
    cores_drop_all(&cores);

    assert_int_equal(meta_core_persisted(core(1), cores.now_ms, old_write), 0);
    assert_int_equal(cores.queued, 0);
    cores_persist(&cores, 1);
    assert_int_equal(cores_sent(&cores, 1, META_MESSAGE_APPEND_RESULT)->as.append_result.last_index,
                     2);
    cores_close(&cores);
}

TEST(a_snapshot_is_a_place_to_start_from)
{
    cores_open(&cores, 3, 3);
    cores_crash(&cores, 1);
    struct core_node *node = &cores.nodes[1];
    struct meta_members members;
    assert_int_equal(meta_members_decode(&members, cores_members(3, 3)), 0);
    node->first_index = 11;
    node->last_index = 10;
    node->term = 4;
    struct meta_core_options options = {
        .node_id = 1,
        .election_timeout_ms = CORE_ELECTION_MS,
        .heartbeat_ms = CORE_HEARTBEAT_MS,
        .seed = 2,
    };
    struct meta_core_stored stored = {
        .term = 4,
        .voted_for = META_NOBODY,
        .first_index = 11,
        .last_index = 10,
        .snapshot_index = 10,
        .snapshot_term = 3,
        .snapshot_members_index = 1,
        .snapshot_members = &members,
    };
    assert_int_equal(meta_core_open(&node->core, &options, &node->io), 0);
    assert_int_equal(meta_core_start(node->core, cores.now_ms, &stored), 0);
    assert_int_equal(meta_core_applied_index(core(1)), 10);
    assert_int_equal(meta_core_voter_count(core(1)), 3);

    /* R1: the message begins below what is left of the log. */
    struct meta_entry entries[] = { COMMAND(3), COMMAND(3), COMMAND(5) };
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 1,
        .term = 5,
        .as.append = { 8, 3, 8, entries, 3 },
    };
    cores_deliver(&cores, &message);
    assert_int_equal(meta_core_last_index(core(1)), 11);
    assert_int_equal(node->log[0].term, 5);
    cores_drop_all(&cores);
    cores_persist(&cores, 1);
    assert_int_equal(cores_sent(&cores, 1, META_MESSAGE_APPEND_RESULT)->as.append_result.last_index,
                     11);
    cores_close(&cores);
}

/* ---- the rules ---- */

TEST(r1_what_is_sent_again_from_the_beginning_takes_nothing_back)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    for (int i = 0; i < 5; i++)
        cores_submit(&cores, 0);
    cores_settle(&cores);
    int64_t applied = meta_core_applied_index(core(1));
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 1,
        .term = meta_core_term(core(0)),
        .as.append = { 0, 0, 1, cores.nodes[0].log, 3 },
    };
    cores_deliver(&cores, &message);
    assert_int_equal(meta_core_last_index(core(1)), applied);
    assert_int_equal(cores_sent(&cores, 1, META_MESSAGE_APPEND_RESULT)->as.append_result.rejected,
                     0);
    assert_int_equal(cores_sent(&cores, 1, META_MESSAGE_APPEND_RESULT)->as.append_result.last_index,
                     applied);
    cores_close(&cores);
}

TEST(r2_a_request_of_an_old_term_gets_an_answer_of_ours)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 2,
        .to = 1,
        .term = 1,
        .as.append = { 0, 0, 0, NULL, 0 }, /* libraft would answer "success". */
    };
    cores_deliver(&cores, &message);
    const struct meta_message *answer = cores_sent(&cores, 1, META_MESSAGE_APPEND_RESULT);
    assert_int_equal(answer->term, meta_core_term(core(1)));
    assert_int_equal(answer->as.append_result.rejected, 1);
    assert_int_equal(answer->as.append_result.last_index, 0);
    cores_close(&cores);
}

TEST(r2_a_rejection_that_comes_late_does_no_harm)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    cores_submit(&cores, 0);
    cores_settle(&cores);
    int64_t match = meta_core_match_index(core(0), 1);
    for (int64_t rejected = 1; rejected <= match; rejected++) {
        struct meta_message message = {
            .type = META_MESSAGE_APPEND_RESULT,
            .from = 1,
            .to = 0,
            .term = meta_core_term(core(0)),
            .as.append_result = { rejected, rejected - 1 },
        };
        cores_deliver(&cores, &message);
    }
    assert_int_equal(meta_core_match_index(core(0), 1), match);
    cores_submit(&cores, 0);
    cores_settle(&cores);
    assert_int_equal(meta_core_match_index(core(0), 1), match + 1);
    cores_close(&cores);
}

TEST(r3_who_asks_with_an_old_term_learns_the_new_one)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    cores_elect(&cores, 1);
    int64_t term = meta_core_term(core(1));
    assert_true(term > 2);
    struct meta_message message = {
        .type = META_MESSAGE_VOTE,
        .from = 2,
        .to = 1,
        .term = 2,
        .as.vote = { 2, 50, 2, false, true },
    };
    cores_deliver(&cores, &message);
    const struct meta_message *answer = cores_sent(&cores, 1, META_MESSAGE_VOTE_RESULT);
    assert_false(answer->as.vote_result.is_granted);
    assert_int_equal(answer->term, term);
    cores_close(&cores);
}

TEST(r4_a_vote_that_comes_late_is_ignored)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    for (int32_t id = 0; id < 2; id++) { /* A leader and a follower. */
        struct meta_message message = {
            .type = META_MESSAGE_VOTE_RESULT,
            .from = 2,
            .to = id,
            .term = meta_core_term(core(id)),
            .as.vote_result = { true, false },
        };
        cores_deliver(&cores, &message);
    }
    assert_int_equal(meta_core_role(core(0)), META_LEADER);
    assert_int_equal(meta_core_role(core(1)), META_FOLLOWER);
    cores_close(&cores);
}

TEST(r5_a_node_alone_never_leads_twice_in_one_term)
{
    cores_open(&cores, 2, 1);
    int64_t term = meta_core_term(core(0));
    int64_t index = cores_submit(&cores, 0);
    cores_drop_all(&cores);
    /* It was sent, perhaps, but not stored. */
    cores_crash(&cores, 0);
    cores.nodes[0].last_index = index - 1;
    cores_start(&cores, 0);
    assert_int_equal(meta_core_role(core(0)), META_LEADER);
    assert_int_equal(meta_core_term(core(0)), term + 1);
    assert_int_equal(cores.nodes[0].term, term + 1); /* On its disk, too. */
    assert_int_equal(cores_submit(&cores, 0), index);
    cores_close(&cores);
}

TEST(r5_a_node_alone_is_known_from_its_snapshot_too)
{
    cores_open(&cores, 1, 1);
    int64_t term = meta_core_term(core(0));
    cores_submit(&cores, 0);
    cores_settle(&cores);
    cores_take_snapshot(&cores, 0, meta_core_last_index(core(0)));
    cores_crash(&cores, 0);
    cores_start(&cores, 0);
    assert_int_equal(meta_core_term(core(0)), term + 1);
    assert_int_equal(meta_core_role(core(0)), META_LEADER);
    cores_close(&cores);
}

TEST(r5_one_voter_of_several_comes_back_without_deposing_the_leader)
{
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    int64_t term = meta_core_term(core(0));
    for (int32_t id = 1; id < 4; id++) { /* A stand-by neither. */
        cores_crash(&cores, id);
        cores_start(&cores, id);
        assert_int_equal(meta_core_term(core(id)), term);
        for (int i = 0; i < 3; i++) {
            cores_tick(&cores, 0);
            cores_settle(&cores);
        }
        assert_int_equal(meta_core_role(core(0)), META_LEADER);
        assert_int_equal(meta_core_term(core(0)), term);
        cores_submit(&cores, 0);
        cores_settle(&cores);
        assert_int_equal(meta_core_applied_index(core(id)), meta_core_last_index(core(0)));
    }
    cores_close(&cores);
}

TEST(r6_members_in_the_middle_of_a_message_are_taken_back_with_their_entry)
{
    cores_open(&cores, 4, 3);
    int64_t term = meta_core_term(core(1));
    struct meta_entry entries[] = {
        COMMAND(term),
        { term, META_ENTRY_MEMBERS, cores_members(4, 4) },
        COMMAND(term),
    };
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 1,
        .term = term,
        .as.append = { 1, 1, 1, entries, 3 },
    };
    cores_deliver(&cores, &message);
    assert_int_equal(meta_core_voter_count(core(1)), 4);

    /* The next leader has the command (2), but not the members (3). */
    struct meta_entry other = COMMAND(term + 1);
    message.from = 2;
    message.term = term + 1;
    message.as.append.previous_index = 2;
    message.as.append.previous_term = term;
    message.as.append.entries = &other;
    message.as.append.entry_count = 1;
    cores_deliver(&cores, &message);
    assert_int_equal(meta_core_last_index(core(1)), 3);
    assert_int_equal(meta_core_voter_count(core(1)), 3);
    cores_close(&cores);
}

TEST(r6_members_in_the_middle_of_a_message_become_agreed)
{
    cores_open(&cores, 4, 3);
    int64_t term = meta_core_term(core(1));
    struct meta_entry entries[] = {
        COMMAND(term),
        { term, META_ENTRY_MEMBERS, cores_members(4, 4) },
        COMMAND(term),
    };
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 1,
        .term = term,
        .as.append = { 1, 1, 4, entries, 3 },
    };
    cores_deliver(&cores, &message);
    assert_int_equal(meta_core_applied_index(core(1)), 4);
    /* Agreed: another tail does not take them back. */
    struct meta_entry other = COMMAND(term + 1);
    message.term = term + 1;
    message.as.append.previous_index = 4;
    message.as.append.previous_term = term;
    message.as.append.entries = &other;
    message.as.append.entry_count = 1;
    cores_deliver(&cores, &message);
    assert_int_equal(meta_core_voter_count(core(1)), 4);
    cores_close(&cores);
}

static bool grants(int32_t id, int32_t candidate, bool is_pre_vote)
{
    struct meta_message message = {
        .type = META_MESSAGE_VOTE,
        .from = candidate,
        .to = id,
        .term = meta_core_term(core(id)) + 1,
        .as.vote = { candidate, 60, meta_core_term(core(id)), false, is_pre_vote },
    };
    cores_deliver(&cores, &message);
    return cores_sent(&cores, id, META_MESSAGE_VOTE_RESULT)->as.vote_result.is_granted;
}

TEST(r8_who_has_no_vote_in_its_own_old_view_votes_all_the_same)
{
    cores_open(&cores, 4, 3);
    cores.now_ms += CORE_ELECTION_MS;
    assert_true(grants(3, 0, false));
    assert_int_equal(meta_core_voter_count(core(3)), 3); /* Its view is as it was. */
    cores_close(&cores);
}

TEST(r10_a_silent_leader_does_not_stand_in_the_way_of_the_next)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    cores_tick(&cores, 0);
    cores_settle(&cores); /* A heartbeat, now. */
    cores.now_ms += CORE_ELECTION_MS - 1;
    assert_false(grants(1, 2, true));
    cores.now_ms += 1;
    assert_true(grants(1, 2, true));
    assert_int_equal(meta_core_leader(core(1)), 0); /* Only asked; it may still come back. */
    cores_close(&cores);
}

TEST(r9_every_round_of_an_election_begins_with_a_question)
{
    cores_open(&cores, 3, 3);
    cores.now_ms += 10 * CORE_ELECTION_MS;
    cores_tick(&cores, 0);
    assert_true(cores_sent(&cores, 0, META_MESSAGE_VOTE)->as.vote.is_pre_vote);
    int64_t term = meta_core_term(core(0));
    struct meta_message question = *cores_sent(&cores, 0, META_MESSAGE_VOTE);
    cores_drop_all(&cores);
    cores_deliver(&cores, &question);
    struct meta_message answer = cores.queue[0].message;
    cores_drop_all(&cores);
    cores_deliver(&cores, &answer);
    assert_false(cores_sent(&cores, 0, META_MESSAGE_VOTE)->as.vote.is_pre_vote);
    assert_int_equal(meta_core_term(core(0)), term + 1);
    cores_drop_all(&cores);
    for (int i = 0; i < 5; i++) { /* Nobody answers. */
        cores_tick(&cores, 0);
        assert_true(cores_sent(&cores, 0, META_MESSAGE_VOTE)->as.vote.is_pre_vote);
        assert_int_equal(meta_core_term(core(0)), term + 1);
    }
    cores_close(&cores);
}

TEST(b16_a_second_leader_of_the_same_term_is_not_believed)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 2,
        .to = 0,
        .term = meta_core_term(core(0)),
        .as.append = { 1, 1, 1, NULL, 0 },
    };
    deliver_quietly(&message);
    assert_int_equal(meta_core_role(core(0)), META_LEADER);
    assert_int_equal(meta_core_failed(core(0)), 0);
    cores_close(&cores);
}

/* ---- what others may send ---- */

TEST(messages_that_make_no_sense_are_refused)
{
    struct meta_entry members = { 1, META_ENTRY_MEMBERS, cores_members(3, 3) };
    struct meta_entry no_payload = { 1, META_ENTRY_COMMAND, BYTES_NULL };
    struct meta_entry falling[] = { COMMAND(3), COMMAND(2) };
    struct meta_entry newer = COMMAND(9);
    struct meta_entry broken = { 3, META_ENTRY_MEMBERS, { command, sizeof command } };
    struct meta_message good = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 1,
        .term = 3,
        .as.append = { 0, 0, 0, &members, 1 },
    };
    assert_int_equal(meta_message_check(&good), 0);
#define BAD(change)                                                \
    do {                                                           \
        struct meta_message bad = good;                            \
        change;                                                    \
        assert_int_equal(meta_message_check(&bad), ERR_MALFORMED); \
    } while (0)
    BAD(bad.type = 0);
    BAD(bad.type = 99);
    BAD(bad.from = 1);
    BAD(bad.from = -1);
    BAD(bad.term = 0);
    BAD(bad.term = INT64_MAX);
    BAD(bad.as.append.previous_index = -1);
    BAD(bad.as.append.previous_index = 5); /* Without a term. */
    BAD(bad.as.append.previous_term = 1);  /* Without an index. */
    BAD(bad.as.append.leader_commit = -1);
    BAD(bad.as.append.entry_count = META_MESSAGE_MAX_ENTRIES + 1);
    BAD(bad.as.append.entries = &no_payload);
    BAD(bad.as.append.entries = &newer);
    BAD(bad.as.append.entries = &broken);
    BAD(bad.as.append.entries = falling); /* A log does not begin like this. */
    good.as.append.previous_index = good.as.append.previous_term = 1;
    good.as.append.entries = falling;
    assert_int_equal(meta_message_check(&good), 0);
    BAD(bad.as.append.entry_count = 2);
#undef BAD
}

static uint64_t chance(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

/* Numbers near those that matter. */
static int64_t some_number(uint64_t *seed)
{
    return (int64_t)chance(seed, 14) - 1;
}

static void random_message(struct meta_message *message, struct meta_entry *entries, uint64_t *seed)
{
    *message = (struct meta_message){
        .type = (enum meta_message_type)chance(seed, 7),
        .from = (int32_t)chance(seed, 4),
        .to = (int32_t)chance(seed, 3),
        .term = some_number(seed),
    };
    switch (message->type) {
    case META_MESSAGE_APPEND:
        for (unsigned i = 0; i < 4; i++)
            entries[i] = (struct meta_entry){
                some_number(seed),
                (enum meta_entry_type)(1 + chance(seed, 3)),
                chance(seed, 3) == 0 ? cores_members(4, 3)
                                     : (struct bytes){ command, sizeof command },
            };
        message->as.append.previous_index = some_number(seed);
        message->as.append.previous_term = some_number(seed);
        message->as.append.leader_commit = some_number(seed);
        message->as.append.entries = entries;
        message->as.append.entry_count = (unsigned)chance(seed, 5);
        break;
    case META_MESSAGE_VOTE:
        message->as.vote.candidate = message->from;
        message->as.vote.last_index = some_number(seed);
        message->as.vote.last_term = some_number(seed);
        message->as.vote.disrupt_leader = chance(seed, 2);
        message->as.vote.is_pre_vote = chance(seed, 2);
        break;
    case META_MESSAGE_VOTE_RESULT:
        message->as.vote_result.is_granted = chance(seed, 2);
        message->as.vote_result.is_pre_vote = chance(seed, 2);
        break;
    default: /* Two numbers each. */
        message->as.append_result.rejected = some_number(seed);
        message->as.append_result.last_index = some_number(seed);
    }
}

/* A peer that lies may make a node give up (a committed entry contradicted), never trip over an
 * assert or worse. Here node 3, and whoever it pretends to be, lies; libraft has its asserts on. */
TEST(no_message_makes_the_core_trip)
{
    uint64_t seed = test_seed();
    trace_set_sink(no_lines, NULL);
    for (int round = 0; round < 300; round++) {
        cores_open(&cores, 3, 3);
        for (int step = 0; step < 60; step++) {
            struct meta_message message;
            struct meta_entry entries[4];
            int32_t id = (int32_t)chance(&seed, 3);
            random_message(&message, entries, &seed);
            cores.now_ms += (int64_t)chance(&seed, 200);
            if (chance(&seed, 4) == 0)
                meta_core_tick(core(id), cores.now_ms);
            else if (chance(&seed, 4) == 0)
                meta_core_persisted(core(id), cores.now_ms, cores.nodes[id].newest_write);
            else
                meta_core_receive(core(message.to), cores.now_ms, &message);
            if (cores.queued > 200) cores_drop_all(&cores);
        }
        cores_drop_all(&cores);
        cores_close(&cores);
    }
    trace_set_sink(NULL, NULL);
}
