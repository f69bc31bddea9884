// SPDX-License-Identifier: Apache-2.0
/* What is on its way between nodes. The transport's promise (DESIGN 7.1) is kept: in order in each
 * direction, nothing twice, and nothing of an old connection once there is a new one. */

#ifndef META_WORLD_NETWORK_H
#define META_WORLD_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "meta_entry.h"

#define WORLD_NODES 7

struct world;

/* One direction. */
struct world_link {
    struct list messages; /* By arrival. */
    int64_t last_due_ms;
    bool is_cut; /* What is sent or arrives is lost. */
};

struct world_network {
    struct world_link links[WORLD_NODES][WORLD_NODES]; /* [from][to] */
    unsigned slow_percent;                             /* So many messages take long. */
};

void world_network_open(struct world *world);
void world_network_close(struct world *world);

/* Copies the message. */
void world_network_send(struct world *world, const struct meta_message *message);

/* When the next one arrives on the link; INT64_MAX: none is on its way. */
int64_t world_link_due_ms(const struct world_link *link);
void world_network_deliver(struct world *world, unsigned from, unsigned to);

void world_network_reset(struct world *world, unsigned one, unsigned other); /* Both directions. */
void world_network_reset_node(struct world *world, unsigned id); /* All its connections. */
void world_network_cut(struct world *world, unsigned from, unsigned to);
void world_network_heal(struct world *world);

#endif
