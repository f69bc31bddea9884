// SPDX-License-Identifier: Apache-2.0
/* Commands for whoever leads, made by the controller as for a real request; what was told to be
 * done is found at its index for ever (world_oracle.h (1)). */

#ifndef META_WORLD_CLIENTS_H
#define META_WORLD_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "meta_apply.h"
#include "meta_entry.h"

#define WORLD_WAITING 512

struct world;
struct world_node;

/* Somebody waits for the command at `index`, on the node that led then. */
struct world_waiting {
    unsigned node, life;
    int64_t index;
    int64_t term;
    uint64_t payload_hash;
};

struct world_clients {
    struct world_waiting waiting[WORLD_WAITING]; /* A ring: the oldest are forgotten. */
    unsigned next_waiting;
    unsigned topics; /* Asked for so far. */
    int64_t next_ms;
    unsigned pause_ms; /* Between two rounds, at most. */
    bool is_probing;
    bool is_probe_told;
};

void world_clients_open(struct world *world);

/* A round of commands for everybody who believes to lead. */
void world_clients_act(struct world *world);

/* The write at the end: on the leader, again and again until one was told to be done. */
bool world_clients_probe(struct world *world);

/* As meta_requests does, the leader of the term tells who waits for the index. */
void world_clients_applied(struct world *world, struct world_node *node, int64_t index,
                           const struct meta_entry *entry, const struct meta_outcome *outcome);

#endif
