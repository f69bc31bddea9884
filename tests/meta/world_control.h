// SPDX-License-Identifier: Apache-2.0
/* What is done wrong on purpose, so that the oracle is seen to find it (docs/testing.md). */

#ifndef META_WORLD_CONTROL_H
#define META_WORLD_CONTROL_H

struct world_node;

void world_control_disk(struct world_node *node); /* A new disk. */
void world_control_starting(
    struct world_node *node); /* After a crash, before its files are opened. */

#endif
