// SPDX-License-Identifier: Apache-2.0
#include "meta_rules.h"

#include "error.h"
#include "meta_core.h"

#define VOTERS_KEPT 3

void meta_rules_anchor(struct meta_message *append, int64_t commit_index, int64_t commit_term)
{
    int64_t known = commit_index - append->as.append.previous_index;
    unsigned count = append->as.append.entry_count;
    unsigned skip = known < count ? (unsigned)known : count;
    append->as.append.previous_index = commit_index;
    append->as.append.previous_term = commit_term;
    if (skip > 0) append->as.append.entries += skip;
    append->as.append.entry_count -= skip;
}

unsigned meta_rules_run(const struct meta_entry *entries, unsigned count)
{
    unsigned run = 1;
    while (run < count && entries[run].type != META_ENTRY_MEMBERS)
        run++;
    return run;
}

void meta_rules_forgive(struct meta_message *append_result, int64_t match_index)
{
    if (append_result->as.append_result.rejected == 0 ||
        append_result->as.append_result.rejected > match_index)
        return;
    append_result->as.append_result.rejected = 0;
    append_result->as.append_result.last_index = 0;
}

struct meta_message meta_rules_heartbeat(const struct meta_message *message, int64_t index,
                                         int64_t term)
{
    bool is_append = message->type == META_MESSAGE_APPEND;
    return (struct meta_message){
        .type = META_MESSAGE_APPEND,
        .from = message->from,
        .to = message->to,
        .term = message->term,
        .directory_id = message->directory_id,
        .as.append = {
            .previous_index = index,
            .previous_term = term,
            .leader_commit = is_append ? message->as.append.leader_commit : 0,
        },
    };
}

/* ---- changes of members ---- */

/* What one side lists and the other does not, or in another role. */
static unsigned count_changes(const struct meta_members *before, const struct meta_members *after)
{
    unsigned changes = 0;
    for (unsigned i = 0; i < before->count; i++) {
        const struct meta_member *member = meta_members_find(after, before->members[i].node_id);
        if (member == NULL || member->role != before->members[i].role) changes++;
    }
    for (unsigned i = 0; i < after->count; i++)
        if (meta_members_find(before, after->members[i].node_id) == NULL) changes++;
    return changes;
}

/* A member with another disk than before has forgotten what it promised: it is another member, which
 * has to go first (DESIGN 7.6). */
static bool disks_stay(const struct meta_members *before, const struct meta_members *after)
{
    for (unsigned i = 0; i < before->count; i++) {
        const struct meta_member *old = &before->members[i];
        const struct meta_member *new = meta_members_find(after, old->node_id);
        if (new != NULL && !uuid_is_zero(&old->directory_id) &&
            !uuid_equal(&old->directory_id, &new->directory_id))
            return false;
    }
    return true;
}

static bool is_in_order(const struct meta_members *members)
{
    if (members->count == 0 || members->count > META_MEMBERS_MAX) return false;
    for (unsigned i = 0; i < members->count; i++)
        if (members->members[i].node_id < 0 ||
            (i > 0 && members->members[i].node_id <= members->members[i - 1].node_id))
            return false;
    return true;
}

int meta_rules_check_change(const struct meta_members *before, const struct meta_members *after,
                            int32_t leader, uint32_t rules_off)
{
    unsigned voters_before = meta_members_voter_count(before);
    unsigned voters_after = meta_members_voter_count(after);
    unsigned voters_kept = voters_before < VOTERS_KEPT ? voters_before : VOTERS_KEPT;
    const struct meta_member *self = meta_members_find(after, leader);
    if (!is_in_order(after) || voters_after == 0) return ERR_INVALID_REQUEST;
    if (count_changes(before, after) > 1 || !disks_stay(before, after)) return ERR_INVALID_REQUEST;
    if (voters_after < voters_kept && (rules_off & META_RULE_R7A) == 0) return ERR_INVALID_REQUEST;
    if ((self == NULL || self->role != META_VOTER) && (rules_off & META_RULE_R7B) == 0)
        return ERR_INVALID_REQUEST;
    return 0;
}
