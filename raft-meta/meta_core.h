// SPDX-License-Identifier: Apache-2.0
/* libraft's core and the rules that make it safe: events go in, orders to disk and network come
 * out.
 *
 *  (1) Behind it are meta_raft, which alone knows libraft, and meta_rules. Every rule that libraft's
 *      defects ask for (R1 to R10 and some more) is kept here; each says why where it is kept.
 *  (2) It does no I/O and reads no clock: the owner brings both, through struct meta_core_io. A
 *      simulator of three or five nodes links this file as it is.
 *  (3) The orders of one step come in the order in which they must be carried out: term and vote
 *      (durable before the call returns), entries, a snapshot to be installed, messages, committed
 *      entries, change of role.
 *  (4) When an order fails the core has failed: it takes no more events, and the process must end.
 *
 * One thread. The functions of meta_core_io may not call back, except to ask. */

#ifndef META_CORE_H
#define META_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "meta_entry.h"
#include "meta_members.h"

struct meta_core;

enum meta_core_role { META_FOLLOWER, META_CANDIDATE, META_LEADER };

struct meta_core_io {
    /* Makes term and vote durable before it returns. */
    int (*store_vote)(struct meta_core_io *io, int64_t term, int32_t voted_for);

    /* Removes what the log has at and above `first_index`, appends, and starts to make it durable;
     * meta_core_persisted() is told `write` when that is done. Writes are finished in order, and
     * telling of the last of several is enough. Borrows the entries. */
    int (*append)(struct meta_core_io *io, uint64_t write, int64_t first_index,
                  const struct meta_entry *entries, unsigned count);

    /* Entries of the log, there for sure. Payloads stay until the next append, or are copied into
     * the arena. */
    int (*read)(struct meta_core_io *io, int64_t first_index, unsigned count,
                struct meta_entry *entries, struct arena *arena);

    /* May drop it. Borrows the message. A snapshot is sent without its image: it is the newest one
     * that the core was told of, and meta_core_snapshot_sending() says how it goes. */
    void (*send)(struct meta_core_io *io, const struct meta_message *message);

    /* All that this node had, log and state, gives way to the snapshot in the message. From now on
     * the log is empty and goes on behind the snapshot; writes on their way no longer count. Starts
     * to make that durable, so that the next start finds all of it or nothing, and to put the state
     * in place; then meta_core_snapshot_installed() is called. Until then nothing is appended or
     * applied. */
    int (*install)(struct meta_core_io *io, const struct meta_message *snapshot);

    /* The next committed entry, each once, in order, barriers and members too. */
    int (*apply)(struct meta_core_io *io, int64_t index, const struct meta_entry *entry);

    /* Role, term or leader is another one (ask for them). */
    void (*role_changed)(struct meta_core_io *io);
};

/* For tests only: rules that are not to be kept, so that a test or the simulator can show what they
 * are good for. The product has them all. */
enum meta_rule {
    META_RULE_R1 = 1 << 0,
    META_RULE_R2 = 1 << 1,
    META_RULE_R3 = 1 << 2,
    META_RULE_R4 = 1 << 3,
    META_RULE_R5 = 1 << 4,
    META_RULE_R6A = 1 << 5,
    META_RULE_R6B = 1 << 6,
    META_RULE_R7A = 1 << 7,
    META_RULE_R7B = 1 << 8,
    META_RULE_R7C = 1 << 9,
    META_RULE_R8 = 1 << 10,
    META_RULE_R9 = 1 << 11,
    META_RULE_R10 = 1 << 12,
    META_RULE_B15 = 1 << 13,  /* Nothing but time is taken while a snapshot is installed. */
    META_RULE_B16 = 1 << 14,  /* No second leader of a term is believed. */
    META_RULE_B17 = 1 << 15,  /* Leadership goes only to who has all of the log. */
    META_RULE_PUSH = 1 << 16, /* Followers are told of a commit at once. */
    META_RULE_DISK = 1 << 17, /* A vote counts only from the disk that was agreed on. */
};

struct meta_core_options {
    int32_t node_id;
    int32_t election_timeout_ms;
    int32_t heartbeat_ms;
    uint32_t seed;            /* Of the election timeouts. */
    struct uuid directory_id; /* Of the disk that holds the log. */
    uint32_t rules_off;       /* 0, but in tests: enum meta_rule. */
};

/* A snapshot as the core knows it: what is left of all entries up to `index`. */
struct meta_core_snapshot {
    int64_t index;
    int64_t term;          /* Of that entry. */
    int64_t members_index; /* Of the newest members entry up to there … */
    struct bytes members;  /* … and its payload. Borrowed: the core's next event ends it. */
};

/* What the disk holds, for the start. */
struct meta_core_stored {
    int64_t term; /* 0: nothing was ever stored, then everything else is 0 too. */
    int32_t voted_for;
    int64_t first_index;    /* Of the log; at most snapshot_index + 1. */
    int64_t last_index;     /* first_index - 1: empty. */
    int64_t snapshot_index; /* 0: none. All entries up to it are in the owner's state. */
    int64_t snapshot_term;
    int64_t snapshot_members_index;
    const struct meta_members *snapshot_members;
};

int meta_core_open(struct meta_core **core, const struct meta_core_options *options,
                   struct meta_core_io *io);
void meta_core_close(struct meta_core *core); /* NULL is fine. */

/* Milliseconds are monotonic; a time before the last one counts as the last one. All return 0 or
 * why the core has failed. */
int meta_core_start(struct meta_core *core, int64_t now_ms, const struct meta_core_stored *stored);
int meta_core_tick(struct meta_core *core, int64_t now_ms);
int meta_core_persisted(struct meta_core *core, int64_t now_ms, uint64_t write);

/* A message of a peer whose identity is known. What does not make sense is dropped with a line in
 * the trace. */
int meta_core_receive(struct meta_core *core, int64_t now_ms, const struct meta_message *message);

/* Appends commands (payloads borrowed, terms and types set here) on a leader; the first one's index
 * is *first_index. ERR_NOT_CONTROLLER if this node does not lead (the core has not failed then). */
int meta_core_submit(struct meta_core *core, int64_t now_ms, struct meta_entry *entries,
                     unsigned count, int64_t *first_index);

/* ---- snapshots ---- */

/* What a snapshot of the state as it is now covers. False: none can be taken now; nothing was applied
 * since the last one, or not all of that is durable here, or one is being installed. */
bool meta_core_snapshot_point(const struct meta_core *core, struct meta_core_snapshot *point);

/* A snapshot of the state as it was at that point is durable. What lies in front of `first_index` (at
 * most its index, at least where the log begins) may be cut off the log from now on. No effect if
 * another one came first. */
int meta_core_snapshot_taken(struct meta_core *core, int64_t now_ms,
                             const struct meta_core_snapshot *snapshot, int64_t first_index);

/* What io->install() was to do is done, and the state is the snapshot's. */
int meta_core_snapshot_installed(struct meta_core *core, int64_t now_ms);

/* A snapshot is on its way to that node, or no longer is. Meanwhile no other is sent to it, and that
 * it has none yet is no reason to begin again. */
void meta_core_snapshot_sending(struct meta_core *core, int32_t node_id, bool is_sending);

bool meta_core_is_installing(const struct meta_core *core);
int64_t meta_core_snapshot_index(const struct meta_core *core); /* Of the newest; 0: none. */

/* ---- members ---- */

/* Appends other members on a leader, under R6b and R7: at most one joins as a stand-by or leaves as
 * one, or changes its role. *index is the entry's. ERR_NOT_CONTROLLER; ERR_INVALID_REQUEST: this is
 * never done; ERR_BUSY: ask again (a change is under way, this term has nothing committed yet, a voter
 * is behind). The core has not failed then. */
int meta_core_change_members(struct meta_core *core, int64_t now_ms,
                             const struct meta_members *members, int64_t *index);

/* Hands leadership to a voter that has all of our log; META_NOBODY: to any such. Whether it takes it
 * shows in the role; if not within an election timeout, ask again. ERR_NOT_CONTROLLER,
 * ERR_VOTER_NOT_FOUND; ERR_BUSY: ask again (it is behind, or a transfer is under way). */
int meta_core_transfer(struct meta_core *core, int64_t now_ms, int32_t node_id);

/* The newest members, agreed or not; texts are borrowed from the core until its next event. False: it
 * knows of none. */
bool meta_core_members(const struct meta_core *core, struct meta_members *members);

/* The same, with the disks that members were heard from where none is known yet. True if that is any
 * news: then a leader should change the members so (DESIGN 7.6). */
bool meta_core_learned_members(const struct meta_core *core, struct meta_members *members);

/* The members name this node with another disk: it lost what it promised as a voter, and never votes
 * again under that name; who is to take part again is removed first, and joins as new. */
bool meta_core_lost_its_disk(const struct meta_core *core);

/* ---- questions ---- */

/* When meta_core_tick() is due; INT64_MAX: never, unless something else happens first. */
int64_t meta_core_deadline_ms(const struct meta_core *core);

int meta_core_failed(const struct meta_core *core); /* 0, or why. */
enum meta_core_role meta_core_role(const struct meta_core *core);
int64_t meta_core_term(const struct meta_core *core);
int32_t meta_core_leader(const struct meta_core *core); /* Node id; -1: not known. */
int64_t meta_core_last_index(const struct meta_core *core);
int64_t meta_core_applied_index(const struct meta_core *core);
bool meta_core_is_transferring(const struct meta_core *core);

/* All entries committed by anybody before now are applied here: on a leader its own first ones are,
 * on a follower those that its leader told of. */
bool meta_core_is_caught_up(const struct meta_core *core);

/* Up to which index `node_id` is known to hold our log; -1 if we do not lead or it takes no
 * part. */
int64_t meta_core_match_index(const struct meta_core *core, int32_t node_id);

/* Those of the newest configuration, agreed or not. */
unsigned meta_core_member_count(const struct meta_core *core);
unsigned meta_core_voter_count(const struct meta_core *core);

#endif
