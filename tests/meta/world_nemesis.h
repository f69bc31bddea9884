// SPDX-License-Identifier: Apache-2.0
/* What goes wrong. */

#ifndef META_WORLD_NEMESIS_H
#define META_WORLD_NEMESIS_H

#include <stdint.h>

struct world;
struct world_node;

struct world_nemesis {
    int64_t next_ms;
    unsigned pause_ms;      /* Between two strokes, at most. */
    unsigned death_percent; /* Of starts that are followed by a death at some change of the disk. */
};

void world_nemesis_open(struct world *world);
void world_nemesis_act(struct world *world);

/* Everything is mended, and nothing more happens. */
void world_nemesis_end(struct world *world);

void world_nemesis_starting(struct world *world, struct world_node *node);
void world_nemesis_died(struct world *world, struct world_node *node);

#endif
