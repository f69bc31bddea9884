// SPDX-License-Identifier: Apache-2.0
/* What must never happen, looked at whenever something could have (DESIGN 15):
 *
 *  (1) Every index has one committed value, and what lies before it is the same everywhere: a hash of
 *      the whole prefix is kept for each, and compared at every apply.
 *  (2) Whoever is elected holds all that was committed in earlier terms.
 *  (3) A term has one leader, and a node gives one vote in it, whatever it forgot in a crash.
 *  (4) A node's term and what it has applied never go back while it lives.
 *  (5) Equal index, equal state.
 *  (6) Nobody is a candidate in a term before it asked whether it would get votes there (pre-vote); only
 *      whom a leader hands over to need not.
 *  (7) libraft's commit index never goes back, although we would not follow it.
 *  (8) A leader does not take its own vote away, three voters stay once they are there, and members
 *      change only while most of the new voters are nearly level.
 *  (9) A node neither fails nor refuses to start because of what a disk may do; only while the disk is
 *      full may the process end, and begin again. */

#ifndef META_WORLD_ORACLE_H
#define META_WORLD_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "meta_entry.h"
#include "meta_members.h"

#define WORLD_TERMS 4096

struct world;
struct world_node;

struct world_committed {
    uint64_t prefix_hash;
    uint64_t state_hash; /* Of every 16th. */
    int64_t term;
    int64_t committed_in; /* The term in which it was first seen to be committed. */
};

struct world_oracle_node {
    uint64_t prefix_hash;
    int64_t applied_index;
    int64_t term;               /* The highest that it was seen in. */
    int64_t asked_term;         /* The highest of its pre-votes in this life. */
    int32_t votes[WORLD_TERMS]; /* Whom it gave its vote, plus one. */
};

struct world_oracle {
    struct world_committed *committed; /* By index. */
    int64_t last_index, capacity;
    int32_t leaders[WORLD_TERMS]; /* Plus one. */
    struct world_oracle_node *nodes;
};

void world_oracle_open(struct world *world);
void world_oracle_close(struct world *world);

void world_oracle_started(struct world *world,
                          struct world_node *node); /* Before its first step. */
void world_oracle_sent(struct world *world, struct world_node *node,
                       const struct meta_message *message);
/* The node's state is a snapshot's. */
void world_oracle_restored(struct world *world, struct world_node *node);

void world_oracle_applied(struct world *world, struct world_node *node, int64_t index,
                          const struct meta_entry *entry);
void world_oracle_role_changed(struct world *world, struct world_node *node);

/* It has ended itself, or does not start. */
void world_oracle_failed(struct world *world, struct world_node *node, int err, const char *why);
void world_oracle_refused(struct world *world, struct world_node *node, int err, const char *why);

/* A leader made the members others. */
void world_oracle_changed(struct world *world, struct world_node *leader,
                          const struct meta_members *before, const struct meta_members *after);

/* A line that a node wrote to its trace. */
void world_oracle_line(struct world *world, const char *line);

/* Is there a leader, and are all members up, level, and the same? `why` says which is not. */
bool world_oracle_all_equal(struct world *world, char *why, size_t why_size);

uint64_t world_oracle_hash(uint64_t hash, const void *data, size_t length);

#endif
