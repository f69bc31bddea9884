// SPDX-License-Identifier: Apache-2.0
/* Messages of other nodes, and the rules that stand before libraft. */

#include <inttypes.h>

#include "error.h"
#include "meta_core_impl.h"
#include "trace.h"

static void core_drop(const struct meta_core *core, const struct meta_message *message,
                      const char *why)
{
    trace(TRACE_WARN, "quorum",
          "node %" PRId32 ": dropped message %d of node %" PRId32 " in term %" PRId64 ": %s",
          core->options.node_id, (int)message->type, message->from, message->term, why);
}

static int core_receive(struct meta_core *core, const struct meta_message *message)
{
    struct meta_raft_orders orders;
    int err = meta_raft_receive(core->raft, core->now_ms, message, &orders);
    return core_after(core, err, &orders, message);
}

/* By DESIGN 7.6 what a voter says counts only from the disk that was agreed on: another one does not
 * hold what was acknowledged, and has forgotten how it voted. */
static bool is_of_other_disk(struct meta_core *core, const struct meta_message *message)
{
    struct meta_members members;
    if (!core_keeps(core, META_RULE_DISK) || !meta_core_members(core, &members)) return false;
    const struct meta_member *member = meta_members_find(&members, message->from);
    if (member == NULL) return false;
    if (uuid_is_zero(&member->directory_id)) {
        struct core_peer *peer = core_peer(core, message->from);
        if (peer != NULL) peer->directory_id = message->directory_id;
        return false;
    }
    if (uuid_equal(&member->directory_id, &message->directory_id)) return false;
    core_drop(core, message, "it comes from another disk than the one that the members name");
    return true;
}

/* B16: two leaders in one term. libraft has only an assert for it. */
static bool is_second_leader(const struct meta_core *core, const struct meta_message *message)
{
    if (!core_keeps(core, META_RULE_B16) || meta_core_role(core) != META_LEADER ||
        message->term != meta_core_term(core))
        return false;
    trace(TRACE_ERROR, "quorum",
          "node %" PRId32 " claims to lead in term %" PRId64 ", as node %" PRId32 " does",
          message->from, message->term, core->options.node_id);
    return true;
}

/* B15: while a snapshot is installed libraft ignores or loses what comes, and its log is not what it
 * was: all that counts is that the leader lives. */
static int receive_while_installing(struct meta_core *core, const struct meta_message *message)
{
    struct meta_message beat = meta_rules_heartbeat(message, core->snapshot_index,
                                                    core->snapshot_term);
    return core_receive(core, &beat);
}

static int receive_append(struct meta_core *core, const struct meta_message *message)
{
    struct meta_message rest = *message;
    int err = 0;
    if (message->term < meta_core_term(core)) return core_receive(core, message);
    if (is_second_leader(core, message)) return 0;
    core->leader_heard_ms = core->now_ms;
    if (core->caught_up_index < 0) core->caught_up_index = message->as.append.leader_commit;
    if (core->is_installing && core_keeps(core, META_RULE_B15))
        return receive_while_installing(core, message);

    /* R1: libraft would reject it where the log was cut in front, and the leader then trips over its
     * own idea of what we hold; or would take the commit index back, or append at the wrong
     * index. */
    if (core_keeps(core, META_RULE_R1) && !core->is_installing &&
        rest.as.append.previous_index < core->commit_index) {
        int64_t term = 0;
        err = core_term_of(core, core->commit_index, &term);
        if (err != 0) return core_fail(core, err);
        meta_rules_anchor(&rest, core->commit_index, term);
    }

    unsigned left = rest.as.append.entry_count;
    do {
        unsigned run = left;
        if (left > 0 && core_keeps(core, META_RULE_R6A))
            run = meta_rules_run(rest.as.append.entries, left);
        rest.as.append.entry_count = run;
        err = core_receive(core, &rest);
        left -= run;
        if (run == 0) break;
        rest.as.append.previous_index += run;
        rest.as.append.previous_term = rest.as.append.entries[run - 1].term;
        rest.as.append.entries += run;
    } while (err == 0 && left > 0 && meta_core_term(core) == message->term);
    return err;
}

/* It was not needed for the majority, and now has entries that were committed without it. */
static int push_to_late(struct meta_core *core, int32_t node_id, int64_t old_match)
{
    int64_t match = meta_raft_match_index(core->raft, node_id);
    if (match <= old_match || old_match >= core->commit_index) return 0;
    int err = core_push_to(core, node_id, match);
    return err == 0 ? 0 : core_fail(core, err);
}

static int receive_append_result(struct meta_core *core, const struct meta_message *message)
{
    struct meta_message answer = *message;
    int64_t match = -1, old_commit = core->commit_index;
    if (meta_core_role(core) == META_LEADER && message->term == meta_core_term(core)) {
        match = meta_raft_match_index(core->raft, message->from);
        if (match < 0 || is_of_other_disk(core, message)) return 0;
        /* Nobody holds more of our log than we do, or can reject what we never sent. */
        if (message->as.append_result.last_index > core->last_index ||
            message->as.append_result.rejected > core->last_index) {
            core_drop(core, message, "it is about entries that we do not have");
            return 0;
        }
        struct core_peer *peer = core_peer(core, message->from);
        if (peer != NULL) peer->heard_ms = core->now_ms;
        if (core_keeps(core, META_RULE_R2)) meta_rules_forgive(&answer, match);
        /* It has no snapshot yet because that is still on its way. */
        if (peer != NULL && peer->is_snapshot_sending)
            meta_rules_forgive(&answer, core->snapshot_index);
    }
    int err = core_receive(core, &answer);
    if (err != 0 || match < 0 || core->commit_index != old_commit) return err;
    return push_to_late(core, message->from, match);
}

static int receive_vote(struct meta_core *core, const struct meta_message *message)
{
    struct meta_raft_orders orders;
    /* R8: a node votes although its own, perhaps old, configuration does not list it as a voter;
     * who asks knows better, and counts only whom its configuration lists. Not so one that lost the
     * disk with which it was a voter. */
    bool votes_always = core_keeps(core, META_RULE_R8) && !meta_core_lost_its_disk(core);
    /* R10: a leader not heard of for an election timeout no longer stands in the way of a vote;
     * those who have no vote themselves would never forget it. */
    bool forgets_leader = core_keeps(core, META_RULE_R10) &&
                          core->now_ms - core->leader_heard_ms >= core->options.election_timeout_ms;
    int err = meta_raft_receive_vote(core->raft, core->now_ms, message, votes_always,
                                     forgets_leader, &orders);
    return core_after(core, err, &orders, message);
}

static int receive_vote_result(struct meta_core *core, const struct meta_message *message)
{
    /* R4: when we are no candidate libraft reads a field that is not there. */
    if (meta_core_role(core) != META_CANDIDATE && core_keeps(core, META_RULE_R4)) return 0;
    if (message->as.vote_result.is_granted && message->term > meta_core_term(core) + 1) {
        core_drop(core, message, "it grants a vote in a term that nobody asked for");
        return 0;
    }
    if (message->as.vote_result.is_granted && is_of_other_disk(core, message)) return 0;
    return core_receive(core, message);
}

static int receive_snapshot(struct meta_core *core, const struct meta_message *message)
{
    if (message->term < meta_core_term(core)) return core_receive(core, message);
    if (is_second_leader(core, message)) return 0;
    core->leader_heard_ms = core->now_ms;
    if (core->is_installing && core_keeps(core, META_RULE_B15))
        return receive_while_installing(core, message);
    /* R1: it is old, or sent twice. */
    if (core_keeps(core, META_RULE_R1) && !core->is_installing &&
        message->as.snapshot.index <= core->commit_index) {
        int64_t term = 0;
        int err = core_term_of(core, core->commit_index, &term);
        if (err != 0) return core_fail(core, err);
        struct meta_message beat = meta_rules_heartbeat(message, core->commit_index, term);
        return core_receive(core, &beat);
    }
    return core_receive(core, message);
}

/* R2: libraft's own answer to a request of an old term has fields that were never set. */
static int answer_stale(struct meta_core *core, const struct meta_message *message)
{
    struct meta_message answer = {
        .type = META_MESSAGE_APPEND_RESULT,
        .from = core->options.node_id,
        .to = message->from,
        .term = meta_core_term(core),
        .directory_id = core->options.directory_id,
        .as.append_result = { .rejected = 1, .last_index = 0 },
    };
    core->io->send(core->io, &answer);
    return 0;
}

int meta_core_receive(struct meta_core *core, int64_t now_ms, const struct meta_message *message)
{
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    if (meta_message_check(message) != 0 || message->to != core->options.node_id) {
        core_drop(core, message, "it makes no sense");
        return 0;
    }
    bool is_stale = message->term < meta_core_term(core) && core_keeps(core, META_RULE_R2);
    switch (message->type) {
    case META_MESSAGE_APPEND:
        return is_stale ? answer_stale(core, message) : receive_append(core, message);
    case META_MESSAGE_SNAPSHOT:
        return is_stale ? answer_stale(core, message) : receive_snapshot(core, message);
    case META_MESSAGE_APPEND_RESULT: return receive_append_result(core, message);
    case META_MESSAGE_VOTE: return receive_vote(core, message);
    case META_MESSAGE_VOTE_RESULT: return receive_vote_result(core, message);
    case META_MESSAGE_TIMEOUT_NOW: return core_receive(core, message);
    }
    return 0;
}
