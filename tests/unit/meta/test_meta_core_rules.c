// SPDX-License-Identifier: Apache-2.0
/* What the rules are good for: each case runs with its rule, and without it, where the defect of
 * libraft that the rule keeps away must show. Where that is an assert of libraft, it is run in a process
 * of its own. docs/metadata.md has the table. */

#include "runner.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core_fixture.h"
#include "error.h"
#include "trace.h"

static struct cores cores;

static struct meta_core *core(int32_t id)
{
    return cores.nodes[id].core;
}

static void open_without(uint32_t rules_off, unsigned count, unsigned voters)
{
    cores.rules_off = rules_off;
    cores_open(&cores, count, voters);
}

static void no_lines(void *context, const char *line)
{
    (void)context;
    (void)line;
}

/* Does it end in an assert? */
static bool aborts(bool (*run)(uint32_t rules_off), uint32_t rules_off)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* Not the test's failure. */
        close(STDERR_FILENO);
        close(STDOUT_FILENO);
        trace_set_sink(no_lines, NULL);
        alarm(30);
        run(rules_off);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static const uint8_t command[] = "command";

static struct meta_entry command_of(int64_t term)
{
    return (struct meta_entry){ term, META_ENTRY_COMMAND, { command, sizeof command } };
}

/* Delivers what `from` sent to `to` and drops all else. */
static void deliver_only(int32_t from, int32_t to)
{
    static struct core_message sent[sizeof cores.queue / sizeof cores.queue[0]];
    unsigned count = cores.queued;
    memcpy(sent, cores.queue, sizeof sent);
    cores_drop_all(&cores);
    for (unsigned i = 0; i < count; i++) {
        struct meta_message *message = &sent[i].message;
        if (message->type == META_MESSAGE_APPEND) message->as.append.entries = sent[i].entries;
        if (message->type == META_MESSAGE_SNAPSHOT)
            message->as.snapshot.members.data = sent[i].members;
        if (message->from == from && message->to == to) cores_deliver(&cores, message);
    }
}

/* ---- R1, R2 ---- */

/* A follower holds all and has cut its log, and its acknowledgements were lost: the leader begins
 * again at what it knows of. */
static bool follower_is_level_at_last(uint32_t rules_off)
{
    open_without(rules_off, 3, 3);
    cores_elect(&cores, 0);
    for (int i = 0; i < 5; i++) {
        cores_submit(&cores, 0);
        deliver_only(0, 1);
        cores_persist(&cores, 1);
        cores_drop_all(&cores);
    }
    /* It learns that all of it is committed, as if by node 2's acknowledgements. */
    int64_t last = meta_core_last_index(core(1));
    struct meta_message told = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 1,
        .term = meta_core_term(core(0)),
        .as.append = { last, meta_core_term(core(0)), last, NULL, 0 },
    };
    cores_deliver(&cores, &told);
    cores_drop_all(&cores);
    assert_int_equal(meta_core_applied_index(core(1)), last);
    cores_take_snapshot(&cores, 1, last);

    /* Nothing comes back for so long that the leader no longer trusts what it has sent, while node 2
     * keeps it in office. */
    for (int i = 0; i < 20; i++) {
        cores_tick(&cores, 0);
        deliver_only(0, 2);
        deliver_only(2, 0);
        cores_drop_all(&cores);
    }
    for (int i = 0; i < 4; i++) {
        cores_tick(&cores, 0);
        cores_settle(&cores);
    }
    bool is_level = meta_core_match_index(core(0), 1) == meta_core_last_index(core(0));
    cores_close(&cores);
    return is_level;
}

TEST(r1_and_r2_keep_the_leaders_idea_of_a_follower_that_cut_its_log)
{
    assert_true(follower_is_level_at_last(0));
    assert_true(follower_is_level_at_last(META_RULE_R2));
    assert_true(aborts(follower_is_level_at_last, META_RULE_R1 | META_RULE_R2));
}

/* ---- R3 ---- */

/* The best log with an old term, and a newer term without the log; nobody else. */
static bool somebody_is_elected(uint32_t rules_off)
{
    open_without(rules_off, 3, 3);
    cores_elect(&cores, 0);
    cores_submit(&cores, 0);
    cores_persist(&cores, 0);
    cores_drop_all(&cores);
    for (int32_t id = 0; id < 3; id++)
        cores_crash(&cores, id);
    cores.nodes[1].term += 10;
    cores_start(&cores, 0);
    cores_start(&cores, 1);
    bool is_elected = false;
    for (int round = 0; round < 50 && !is_elected; round++) {
        cores.now_ms += 3 * CORE_ELECTION_MS;
        cores_tick(&cores, round % 2);
        cores_settle(&cores);
        is_elected = meta_core_role(core(0)) == META_LEADER;
        assert_true(meta_core_role(core(1)) != META_LEADER); /* It lacks an entry. */
    }
    cores_close(&cores);
    return is_elected;
}

TEST(r3_lets_the_best_log_learn_the_newest_term)
{
    assert_true(somebody_is_elected(0));
    assert_false(somebody_is_elected(META_RULE_R3));
}

/* ---- R4 ---- */

/* libraft looks at a candidate's field that a leader does not have. */
static bool a_late_vote_changes_a_leader(uint32_t rules_off)
{
    open_without(rules_off, 3, 3);
    cores_elect(&cores, 0);
    struct meta_message message = {
        .type = META_MESSAGE_VOTE_RESULT,
        .from = 2,
        .to = 0,
        .term = meta_core_term(core(0)) + 3,
        .as.vote_result = { false, true }, /* Of a pre-vote: it should move nobody's term. */
    };
    cores_deliver(&cores, &message);
    bool is_changed = meta_core_role(core(0)) != META_LEADER;
    cores_close(&cores);
    return is_changed;
}

TEST(r4_votes_are_for_candidates)
{
    assert_false(a_late_vote_changes_a_leader(0));
    assert_true(a_late_vote_changes_a_leader(META_RULE_R4));
}

/* ---- R5 ---- */

static bool an_index_and_term_are_given_twice(uint32_t rules_off)
{
    open_without(rules_off, 2, 1);
    int64_t term = meta_core_term(core(0));
    int64_t index = cores_submit(&cores, 0);
    cores_drop_all(&cores);
    cores_crash(&cores, 0);
    cores.nodes[0].last_index = index - 1; /* It was sent, perhaps, but not stored. */
    cores_start(&cores, 0);
    bool is_twice = cores_submit(&cores, 0) == index && meta_core_term(core(0)) == term;
    cores_close(&cores);
    return is_twice;
}

TEST(r5_gives_no_index_and_term_twice)
{
    assert_false(an_index_and_term_are_given_twice(0));
    assert_true(an_index_and_term_are_given_twice(META_RULE_R5));
}

/* ---- R6a ---- */

/* Members in the middle of a message are overwritten; the voters after that. */
static unsigned voters_after_they_were_taken_back(uint32_t rules_off)
{
    open_without(rules_off, 4, 3);
    int64_t term = meta_core_term(core(1));
    struct meta_entry entries[] = {
        command_of(term),
        { term, META_ENTRY_MEMBERS, cores_members(4, 4) },
        command_of(term),
    };
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 1,
        .term = term,
        .as.append = { 1, 1, 1, entries, 3 },
    };
    cores_deliver(&cores, &message);
    struct meta_entry other = command_of(term + 1);
    message.from = 2;
    message.term = term + 1;
    message.as.append.previous_index = 2;
    message.as.append.previous_term = term;
    message.as.append.entries = &other;
    message.as.append.entry_count = 1;
    cores_deliver(&cores, &message);
    unsigned voters = meta_core_voter_count(core(1));
    cores_close(&cores);
    return voters;
}

TEST(r6a_members_are_known_by_their_own_index)
{
    assert_int_equal(voters_after_they_were_taken_back(0), 3);
    assert_int_equal(voters_after_they_were_taken_back(META_RULE_R6A), 4);
}

/* ---- R8, R9, R10 ---- */

static bool is_granted(int32_t id, int32_t candidate)
{
    struct meta_message message = {
        .type = META_MESSAGE_VOTE,
        .from = candidate,
        .to = id,
        .term = meta_core_term(core(id)) + 1,
        .as.vote = { candidate, 60, meta_core_term(core(id)), false, false },
    };
    cores_deliver(&cores, &message);
    return cores_sent(&cores, id, META_MESSAGE_VOTE_RESULT)->as.vote_result.is_granted;
}

static bool a_standby_votes(uint32_t rules_off)
{
    open_without(rules_off, 4, 3);
    cores.now_ms += CORE_ELECTION_MS;
    bool votes = is_granted(3, 0);
    cores_close(&cores);
    return votes;
}

TEST(r8_who_has_no_vote_in_its_own_old_view_votes)
{
    assert_true(a_standby_votes(0));
    assert_false(a_standby_votes(META_RULE_R8));
}

static int64_t terms_used_alone(uint32_t rules_off)
{
    open_without(rules_off, 3, 3);
    cores.now_ms += 10 * CORE_ELECTION_MS;
    int64_t term = meta_core_term(core(0));
    cores_tick(&cores, 0);
    deliver_only(0, 1);
    deliver_only(1, 0); /* The pre-vote is won; nobody answers the vote. */
    for (int i = 0; i < 5; i++) {
        cores_drop_all(&cores);
        cores_tick(&cores, 0);
    }
    int64_t used = meta_core_term(core(0)) - term;
    cores_close(&cores);
    return used;
}

TEST(r9_a_candidate_that_nobody_answers_raises_no_more_terms)
{
    assert_int_equal(terms_used_alone(0), 1);
    assert_int_equal(terms_used_alone(META_RULE_R9), 6);
}

static bool a_silent_leader_is_forgotten(uint32_t rules_off)
{
    open_without(rules_off, 4, 3);
    cores_elect(&cores, 0);
    cores_tick(&cores, 0);
    cores_settle(&cores);
    cores.now_ms += 2 * CORE_ELECTION_MS;
    bool votes = is_granted(3, 2); /* A stand-by, which never campaigns and so never forgets. */
    cores_close(&cores);
    return votes;
}

TEST(r10_a_leader_that_is_not_heard_of_stands_in_nobodys_way)
{
    assert_true(a_silent_leader_is_forgotten(0));
    assert_false(a_silent_leader_is_forgotten(META_RULE_R10));
}

/* ---- B15, B16 ---- */

static bool leader_ignores_a_second_one(uint32_t rules_off)
{
    open_without(rules_off, 3, 3);
    cores_elect(&cores, 0);
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = 2,
        .to = 0,
        .term = meta_core_term(core(0)),
        .as.append = { 1, 1, 1, NULL, 0 },
    };
    trace_set_sink(no_lines, NULL);
    cores_deliver(&cores, &message);
    trace_set_sink(NULL, NULL);
    bool leads = meta_core_role(core(0)) == META_LEADER;
    cores_close(&cores);
    return leads;
}

TEST(b16_no_second_leader_of_a_term_is_believed)
{
    assert_true(leader_ignores_a_second_one(0));
    assert_true(aborts(leader_ignores_a_second_one, META_RULE_B16));
}

/* ---- commit push ---- */

static int64_t applied_by_a_follower(uint32_t rules_off, int64_t *index)
{
    open_without(rules_off, 3, 3);
    cores_elect(&cores, 0);
    *index = cores_submit(&cores, 0);
    cores_settle(&cores);
    int64_t applied = meta_core_applied_index(core(1));
    cores_close(&cores);
    return applied;
}

TEST(followers_hear_of_a_commit_without_a_heartbeat)
{
    int64_t index = 0;
    int64_t applied = applied_by_a_follower(0, &index);
    assert_int_equal(applied, index);
    applied = applied_by_a_follower(META_RULE_PUSH, &index);
    assert_int_equal(applied, index - 1);
    cores.rules_off = 0;
}
