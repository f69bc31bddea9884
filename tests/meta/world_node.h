// SPDX-License-Identifier: Apache-2.0
/* A node: meta_node as the product has it, on a disk of its own that loses power.
 *
 *    down --world_node_start--> up --world_node_die--> dying --world_node_bury--> down, until restart_ms
 *
 *  (1) A node may die in the middle of what it does. It then still runs to the end of the step, on a
 *      disk that refuses everything, and nothing of what it says counts; then it is buried. */

#ifndef META_WORLD_NODE_H
#define META_WORLD_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "fs_sim.h"
#include "meta_node.h"

#define WORLD_WORK 8 /* Jobs, or messages from them, at a time. */

struct world;

enum world_death {
    WORLD_KILL,  /* The process; the page cache survives. */
    WORLD_POWER, /* The machine. */
    WORLD_STOP,  /* In order. */
};

/* A job, or its way back. */
struct world_work {
    void *what;
    int64_t due_ms;
};

struct world_works {
    struct world_work items[WORLD_WORK];
    unsigned count;
};

struct world_node {
    struct world *world;
    unsigned id;
    struct fs_sim *disk;
    struct data_dir *dir;
    struct meta_node *meta; /* NULL: down. */
    struct meta_node_owner owner;
    struct executor executor;
    struct mailbox mailbox;
    struct world_works jobs; /* Done in order. */
    struct world_works mail;

    unsigned life;
    bool is_dying;
    enum world_death death;
    unsigned sends_left; /* Dies before it sends one more than that; 0: does not. */
    int64_t restart_ms;
    int64_t slow_ms; /* Of its disk, for each fsync. */
    bool is_disk_full;
    bool sync_has_failed; /* In this life, and is no longer to fail. */
    bool is_out_for_good;
    bool is_registered; /* In this life. */
};

void world_node_open(struct world *world, unsigned id);
void world_node_close(struct world_node *node);

void world_node_start(struct world_node *node);
bool world_node_is_up(const struct world_node *node); /* And not dying. */

/* Now; or, where it is asked from inside of the node, as soon as the step ends. */
void world_node_die(struct world_node *node, enum world_death death);

/* After every event: buries it if it is dying, its disk is off or it has failed. */
void world_node_look(struct world_node *node);

/* When it has something to do by itself; INT64_MAX: never. */
int64_t world_node_due_ms(const struct world_node *node);
void world_node_act(struct world_node *node);

void world_node_receive(struct world_node *node, const struct meta_message *message);

bool world_node_leads(const struct world_node *node);

/* A leader's commands. False: it does not lead any more, or died of it. */
bool world_node_submit(struct world_node *node, struct meta_entry *entries, unsigned count,
                       int64_t *first_index);

#endif
