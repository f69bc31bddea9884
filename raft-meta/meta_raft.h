// SPDX-License-Identifier: Apache-2.0
/* libraft's core in our own types, and who owns what goes into it and comes out: meta_raft.c is the
 * only file that includes raft.h and calls raft_step(). It decides nothing; the rules that libraft's
 * defects ask for are meta_core's, and so is the order in which orders are carried out.
 *
 * For meta_core alone. One thread. */

#ifndef META_RAFT_H
#define META_RAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "meta_core.h"

struct meta_raft;

/* What one step asks for, also when it failed: the world may have seen part of it. */
struct meta_raft_orders {
    bool has_vote;          /* Term or vote is another one. */
    bool installs_snapshot; /* The one in the message. */
    int64_t entries_index;  /* Append these; 0: nothing. */
    const struct meta_entry *entries;
    unsigned entry_count;
    unsigned message_count; /* meta_raft_message(), until the next step. */
};

struct meta_raft_options {
    struct meta_core_options core;
    int32_t snapshot_timeout_ms; /* Until a snapshot that was sent is sent again. */
};

int meta_raft_open(struct meta_raft **raft, const struct meta_raft_options *options);
void meta_raft_close(struct meta_raft *raft); /* NULL is fine. */

/* Brings the stored entries for the start, at most META_RAFT_READ at once, and then says in which term
 * and with which vote to begin: those that are given are the stored ones. */
#define META_RAFT_READ 64
struct meta_raft_reader {
    int (*read)(struct meta_raft_reader *reader, int64_t first_index, unsigned count,
                struct meta_entry *entries, struct arena *arena);
    int (*begin)(struct meta_raft_reader *reader, int64_t *term, int32_t *voted_for);
};

/* Steps. 0, ERR_NOT_CONTROLLER (it does not lead, or hands leadership over), ERR_BUSY (a change of
 * members is under way), ERR_VOTER_NOT_FOUND: nothing happened. ERR_NO_MEMORY, ERR_CORRUPT_MESSAGE:
 * libraft is useless. */
int meta_raft_start(struct meta_raft *raft, int64_t now_ms, const struct meta_core_stored *stored,
                    struct meta_raft_reader *reader, struct meta_raft_orders *orders);
int meta_raft_persisted(struct meta_raft *raft, int64_t now_ms, int64_t index,
                        struct meta_raft_orders *orders);
int meta_raft_submit(struct meta_raft *raft, int64_t now_ms, const struct meta_entry *entries,
                     unsigned count, struct meta_raft_orders *orders);
int meta_raft_members_agreed(struct meta_raft *raft, int64_t now_ms, int64_t index,
                             struct bytes members, struct meta_raft_orders *orders);
int meta_raft_snapshot_taken(struct meta_raft *raft, int64_t now_ms,
                             const struct meta_core_snapshot *snapshot, int64_t first_index,
                             struct meta_raft_orders *orders);
int meta_raft_snapshot_installed(struct meta_raft *raft, int64_t now_ms,
                                 const struct meta_core_snapshot *snapshot,
                                 struct meta_raft_orders *orders);
int meta_raft_transfer(struct meta_raft *raft, int64_t now_ms, int32_t node_id,
                       struct meta_raft_orders *orders);

/* `asks_first`: R9. */
int meta_raft_tick(struct meta_raft *raft, int64_t now_ms, bool asks_first,
                   struct meta_raft_orders *orders);

/* Any message but a request for a vote. */
int meta_raft_receive(struct meta_raft *raft, int64_t now_ms, const struct meta_message *message,
                      struct meta_raft_orders *orders);

/* `votes_always`: R8. `forgets_leader`: R10. */
int meta_raft_receive_vote(struct meta_raft *raft, int64_t now_ms,
                           const struct meta_message *message, bool votes_always,
                           bool forgets_leader, struct meta_raft_orders *orders);

/* The nth message to be sent, without what only the log and the snapshot know: entries, members,
 * the sender's disk. */
void meta_raft_message(const struct meta_raft *raft, unsigned number, struct meta_message *message);

enum meta_core_role meta_raft_role(const struct meta_raft *raft);
int64_t meta_raft_term(const struct meta_raft *raft);
int32_t meta_raft_voted_for(const struct meta_raft *raft);
int32_t meta_raft_leader(const struct meta_raft *raft);
int32_t meta_raft_transferee(const struct meta_raft *raft);
int64_t meta_raft_last_index(const struct meta_raft *raft);
int64_t meta_raft_stored_index(const struct meta_raft *raft);
int64_t meta_raft_commit_index(const struct meta_raft *raft);
int64_t meta_raft_deadline_ms(const struct meta_raft *raft);
bool meta_raft_is_changing(const struct meta_raft *raft); /* Members are not agreed. */

/* Of a leader; -1 if it does not lead, or the node takes no part. */
int64_t meta_raft_match_index(const struct meta_raft *raft, int32_t node_id);

unsigned meta_raft_member_count(const struct meta_raft *raft);
int32_t meta_raft_member_at(const struct meta_raft *raft, unsigned position);
unsigned meta_raft_voter_count(const struct meta_raft *raft);

#endif
