// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "meta_core_impl.h"

/* R7c: how many entries a voter may be behind when members change. */
#define NEARLY_LEVEL 5

static bool is_nearly_level(const struct meta_core *core, int32_t node_id)
{
    int64_t match = meta_raft_match_index(core->raft, node_id);
    return match >= 0 && match + NEARLY_LEVEL >= core->last_index;
}

static bool was_heard(const struct meta_core *core, int32_t node_id)
{
    const struct core_peer *peer = core_peer_known(core, node_id);
    return peer != NULL && core->now_ms - peer->heard_ms < core->options.election_timeout_ms;
}

/* R7c: the voters are nearly level, those of today and the one that becomes one. A voter that is not
 * there at all would never be, and could not be replaced: it may be behind as long as the others are
 * a majority of the new voters. */
static bool voters_are_level(const struct meta_core *core, const struct meta_members *before,
                             const struct meta_members *after)
{
    unsigned level = 0;
    for (unsigned i = 0; i < after->count; i++) {
        const struct meta_member *member = &after->members[i];
        const struct meta_member *old = meta_members_find(before, member->node_id);
        if (member->role != META_VOTER) continue;
        if (is_nearly_level(core, member->node_id))
            level++;
        else if (old == NULL || old->role != META_VOTER || was_heard(core, member->node_id))
            return false;
    }
    return level > meta_members_voter_count(after) / 2;
}

/* R6b: before the members may change, an entry of this leader's own term must be committed, or two
 * majorities that do not overlap could be counted on. If none is on its way, a barrier is. */
static int change_barrier(struct meta_core *core)
{
    int64_t last_term = 0, index = 0;
    if (core->applied_term == meta_core_term(core)) return 0;
    int err = core_term_of(core, core->last_index, &last_term);
    if (err != 0) return core_fail(core, err);
    struct meta_entry barrier = { .type = META_ENTRY_BARRIER, .payload = BYTES_NULL };
    if (last_term != meta_core_term(core)) err = core_submit(core, &barrier, 1, &index);
    return err == 0 ? ERR_BUSY : err;
}

bool meta_core_members(const struct meta_core *core, struct meta_members *members)
{
    const struct member_record *record = member_history_at(&core->members, INT64_MAX);
    return record != NULL && meta_members_decode(members, member_record_payload(record)) == 0;
}

bool meta_core_lost_its_disk(const struct meta_core *core)
{
    struct meta_members members;
    if (!core_keeps(core, META_RULE_DISK) || !meta_core_members(core, &members)) return false;
    const struct meta_member *self = meta_members_find(&members, core->options.node_id);
    return self != NULL && !uuid_is_zero(&self->directory_id) &&
           !uuid_equal(&self->directory_id, &core->options.directory_id);
}

bool meta_core_learned_members(const struct meta_core *core, struct meta_members *members)
{
    bool is_news = false;
    if (!meta_core_members(core, members)) return false;
    for (unsigned i = 0; i < members->count; i++) {
        struct meta_member *member = &members->members[i];
        const struct core_peer *peer = core_peer_known(core, member->node_id);
        if (!uuid_is_zero(&member->directory_id)) continue;
        if (member->node_id == core->options.node_id)
            member->directory_id = core->options.directory_id;
        else if (peer != NULL)
            member->directory_id = peer->directory_id;
        is_news = is_news || !uuid_is_zero(&member->directory_id);
    }
    return is_news;
}

int meta_core_change_members(struct meta_core *core, int64_t now_ms,
                             const struct meta_members *members, int64_t *index)
{
    struct meta_members before;
    struct buffer payload;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    if (meta_core_role(core) != META_LEADER || meta_core_is_transferring(core))
        return ERR_NOT_CONTROLLER;
    if (!meta_core_members(core, &before)) return core_fail(core, ERR_CORRUPT_MESSAGE);
    err = meta_rules_check_change(&before, members, core->options.node_id, core->options.rules_off);
    if (err != 0) return err;
    if (meta_raft_is_changing(core->raft)) return ERR_BUSY; /* One at a time. */
    if (core_keeps(core, META_RULE_R6B)) err = change_barrier(core);
    if (err != 0) return err;
    if (core_keeps(core, META_RULE_R7C) && !voters_are_level(core, &before, members))
        return ERR_BUSY;

    buffer_init(&payload);
    meta_members_encode(members, &payload);
    struct meta_entry entry = {
        .type = META_ENTRY_MEMBERS,
        .payload = { payload.data, (int32_t)payload.length },
    };
    /* B9: alone; libraft would keep the entries in front of one that it refuses. */
    err = payload.failed ? ERR_NO_MEMORY : core_submit(core, &entry, 1, index);
    buffer_close(&payload);
    return err;
}

/* B17: libraft would hand over at the next acknowledgement, complete or not, and take no commands until
 * it gives up. */
static bool may_lead(const struct meta_core *core, const struct meta_member *member)
{
    return member->role == META_VOTER && member->node_id != core->options.node_id &&
           (!core_keeps(core, META_RULE_B17) ||
            meta_raft_match_index(core->raft, member->node_id) == core->last_index);
}

int meta_core_transfer(struct meta_core *core, int64_t now_ms, int32_t node_id)
{
    struct meta_members members;
    struct meta_raft_orders orders;
    const struct meta_member *to = NULL;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    if (meta_core_role(core) != META_LEADER) return ERR_NOT_CONTROLLER;
    if (meta_core_is_transferring(core)) return ERR_BUSY;
    if (!meta_core_members(core, &members)) return core_fail(core, ERR_CORRUPT_MESSAGE);
    bool is_voter = node_id == META_NOBODY && meta_members_voter_count(&members) > 1;
    for (unsigned i = 0; i < members.count; i++) {
        const struct meta_member *member = &members.members[i];
        if (node_id != META_NOBODY && member->node_id != node_id) continue;
        if (member->node_id == node_id && member->role == META_VOTER &&
            node_id != core->options.node_id)
            is_voter = true;
        if (to == NULL && may_lead(core, member)) to = member;
    }
    if (!is_voter) return ERR_VOTER_NOT_FOUND;
    if (to == NULL) return ERR_BUSY;
    err = meta_raft_transfer(core->raft, core->now_ms, to->node_id, &orders);
    return core_after(core, err, &orders, NULL);
}
