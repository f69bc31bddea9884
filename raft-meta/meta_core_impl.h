// SPDX-License-Identifier: Apache-2.0
/* What the files of meta_core share: meta_core.c has the step and what follows from it,
 * meta_core_receive.c messages, meta_core_snapshot.c snapshots, meta_core_members.c members. */

#ifndef META_CORE_IMPL_H
#define META_CORE_IMPL_H

#include "member_history.h"
#include "meta_core.h"
#include "meta_raft.h"
#include "meta_rules.h"
#include "pending_writes.h"

/* What a leader knows of another member. */
struct core_peer {
    int32_t node_id;
    int64_t heard_ms;         /* INT64_MIN / 2: not in this term. */
    struct uuid directory_id; /* As it last said; zeros: it never did. */
    bool is_snapshot_sending;
};

struct meta_core {
    struct meta_raft *raft;
    struct meta_core_io *io;
    struct meta_core_options options;
    int failed;
    int64_t now_ms;
    int64_t first_index;
    int64_t last_index;
    int64_t commit_index;
    int64_t applied_index;
    int64_t applied_term;
    int64_t caught_up_index; /* Applied up to here means caught up; -1: not known yet. */
    int64_t leader_heard_ms;
    struct pending_writes writes;
    struct member_history members;
    struct core_peer peers[META_MEMBERS_MAX];
    unsigned peer_count;

    /* The newest snapshot, also while it is being installed. */
    bool is_installing;
    int64_t snapshot_index, snapshot_term, snapshot_members_index;
    struct buffer snapshot_members;

    /* As last told by role_changed(). */
    enum meta_core_role told_role;
    int64_t told_term;
    int32_t told_leader;
};

static inline bool core_keeps(const struct meta_core *core, enum meta_rule rule)
{
    return (core->options.rules_off & rule) == 0;
}

/* Each public function begins with this: 0, or why the core has failed. */
int core_begin(struct meta_core *core, int64_t now_ms);
int core_fail(struct meta_core *core, int err);

/* Carries out what a step asked for, also after an error (`err` is the step's), and applies what is
 * committed. ERR_NOT_CONTROLLER, ERR_BUSY and ERR_VOTER_NOT_FOUND are given back as they are; any other
 * error fails the core. `message` is the one that was received, or NULL. */
int core_after(struct meta_core *core, int err, const struct meta_raft_orders *orders,
               const struct meta_message *message);

/* Entries of any type, in the current term, for a leader. */
int core_submit(struct meta_core *core, struct meta_entry *entries, unsigned count,
                int64_t *first_index);

int core_term_of(struct meta_core *core, int64_t index, int64_t *term);
int core_push_to(struct meta_core *core, int32_t node_id, int64_t match);

/* NULL: there is no room for another one. */
struct core_peer *core_peer(struct meta_core *core, int32_t node_id);
const struct core_peer *core_peer_known(const struct meta_core *core, int32_t node_id);

/* The order to install the snapshot in the message. */
int core_install(struct meta_core *core, const struct meta_message *message);

#endif
