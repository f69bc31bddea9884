// SPDX-License-Identifier: Apache-2.0
/* libraft's core and the rules that make it safe: events go in, orders to disk and network come
 * out.
 *
 *  (1) This is the only file that includes raft.h and calls raft_step(). Every rule that libraft's
 *      defects ask for (R1 to R10) is kept here and nowhere else; each says why where it is kept.
 *  (2) It does no I/O and reads no clock: the owner brings both, through struct meta_core_io. A
 *      simulator of three or five nodes links this file as it is.
 *  (3) The orders of one step come in the order in which they must be carried out: term and vote
 *      (durable before the call returns), entries, messages, committed entries, change of role.
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

    /* May drop it. Borrows the message. */
    void (*send)(struct meta_core_io *io, const struct meta_message *message);

    /* The next committed entry, each once, in order, barriers and members too. */
    int (*apply)(struct meta_core_io *io, int64_t index, const struct meta_entry *entry);

    /* Role, term or leader is another one (ask for them). */
    void (*role_changed)(struct meta_core_io *io);
};

struct meta_core_options {
    int32_t node_id;
    int32_t election_timeout_ms;
    int32_t heartbeat_ms;
    uint32_t seed; /* Of the election timeouts. */
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
