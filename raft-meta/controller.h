// SPDX-License-Identifier: Apache-2.0
/* May a request be granted, and which command grants it? Looks only at its arguments. */

#ifndef CONTROLLER_H
#define CONTROLLER_H

#include "arena.h"
#include "meta_quorum.h"
#include "meta_state.h"

/* More in one topic would make a command too large for one entry of the log. */
#define CONTROLLER_MAX_PARTITIONS 100000
#define CONTROLLER_MAX_REPLICAS   1000000 /* Partitions times replication factor. */

struct controller {
    const struct meta_state *state;
    int32_t node_id; /* Ours. */
    int32_t default_partitions;
    int16_t default_replication_factor;
};

/* Gives items whose name occurs more than once the error for it (42), the others 0. 0 or
 * ERR_NO_MEMORY. */
int controller_mark_repeated(struct meta_create_topic *items, unsigned count);

/* Checks one item and fills in the topic that it asks for, with `id`; memory comes from the arena.
 * The answer is wanted->err and wanted->why, in the order in which Kafka checks. Returns
 * wanted->err. */
int controller_create_topic(const struct controller *controller, struct meta_create_topic *wanted,
                            const struct uuid *id, struct arena *arena, struct meta_topic *topic);

/* Checks one item and fills in the command for it; memory comes from the arena. The answer is wanted->err
 * and wanted->why, in the order in which Kafka checks. Returns wanted->err. */
int controller_add_partitions(const struct controller *controller,
                              struct meta_add_partitions *wanted, struct arena *arena,
                              struct meta_partitions_added *command);

/* Finds the topic that an item names; sets and returns wanted->err. The topic is borrowed from the
 * state. */
int controller_delete_topic(const struct controller *controller, struct meta_delete_topic *wanted,
                            const struct meta_topic **topic);

#endif
