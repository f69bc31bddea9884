// SPDX-License-Identifier: Apache-2.0
/* A quorum of metadata nodes in virtual time, by seed: what the files of this folder share.
 *
 *    world_run      one seed from beginning to end: picks what happens next, until all is settled
 *    world_node     a node: meta_node as the product has it, on a disk that loses power
 *    world_network  what is on its way between nodes
 *    world_clients  commands for whoever leads, and what was promised about them
 *    world_members  who takes part changes
 *    world_nemesis  what goes wrong
 *    world_oracle   what must never happen (DESIGN 15)
 *    world_control  what is done wrong on purpose, so that the oracle is seen to find it
 *
 *  (1) One thread; time moves only from one event to the next. The same seed gives the same run.
 *  (2) The first promise that is broken is remembered with a sentence, and the run ends. */

#ifndef META_WORLD_H
#define META_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "world_clients.h"
#include "world_control.h"
#include "world_members.h"
#include "world_nemesis.h"
#include "world_network.h"
#include "world_node.h"
#include "world_oracle.h"
#include "world_options.h"

#define WORLD_ELECTION_MS  300
#define WORLD_HEARTBEAT_MS 40
#define WORLD_FOLDER       "/data" /* On each disk. */
#define WORLD_CLUSTER_ID   "aaaaaaaaaaaaaaaaaaaaaw"

struct world {
    struct world_options options;
    uint64_t seed;
    uint64_t chance;
    struct clock clock;
    int64_t now_ms;
    bool is_quiet;       /* The chaos is over. */
    unsigned node_count; /* The voters of the first hour come first. */
    struct world_node nodes[WORLD_NODES];
    struct world_network network;
    struct world_clients clients;
    struct world_nemesis nemesis;
    struct world_members members;
    struct world_oracle oracle;
    struct world_counts counts;
    bool has_failed;
    char failure[400];
};

/* One run. True: all promises were kept. What happened is in `counts`, and why it failed in `why`. */
bool world_run(const struct world_options *options, uint64_t seed, struct world_counts *counts,
               char *why, size_t why_size);

/* Chance, from the seed alone. */
uint64_t world_random(struct world *world);
uint64_t world_below(struct world *world, uint64_t limit); /* 0 to limit - 1. */
bool world_percent(struct world *world, unsigned percent);

/* Of those that believe to lead the one with the highest term; NULL: nobody does. */
struct world_node *world_leader(struct world *world);

/* A promise is broken. */
void world_fail(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line for who watches (-v). */
void world_tell(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
