// SPDX-License-Identifier: Apache-2.0
/* Who takes part changes while everything else goes wrong: nodes join as stand-bys, become voters, are
 * demoted and removed, and hand leadership over. */

#ifndef META_WORLD_MEMBERS_H
#define META_WORLD_MEMBERS_H

#include <stdint.h>

struct world;

struct world_members {
    int64_t next_ms;   /* INT64_MAX: members stay who they are. */
    unsigned pause_ms; /* Between two attempts, at most. */
};

void world_members_open(struct world *world);
void world_members_act(struct world *world);

/* The leader hands over to a node by chance, or to whom it likes. */
void world_members_transfer(struct world *world);

#endif
