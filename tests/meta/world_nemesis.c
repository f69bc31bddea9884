// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include "error.h"

#define FULL_DISK_ROOM 4096 /* Left on a disk that is called full. */

void world_nemesis_open(struct world *world)
{
    world->nemesis = (struct world_nemesis){
        .next_ms = world->now_ms + (int64_t)world_below(world, 1500),
        .pause_ms = 100 + (unsigned)world_below(world, 900),
        .death_percent = (unsigned)world_below(world, 30),
    };
}

static struct world_node *any_node(struct world *world)
{
    return &world->nodes[world_below(world, world->node_count)];
}

/* ---- the network ---- */

static void isolate(struct world *world, const struct world_node *node)
{
    static const char *const names[] = { "is alone", "hears and is not heard",
                                         "is heard and deaf" };
    unsigned kind = world_percent(world, 60) ? 0 : 1 + (unsigned)world_below(world, 2);
    world_tell(world, "node %u %s", node->id, names[kind]);
    for (unsigned other = 0; other < world->node_count; other++) {
        if (kind != 2) world_network_cut(world, node->id, other);
        if (kind != 1) world_network_cut(world, other, node->id);
    }
}

static void split(struct world *world)
{
    uint64_t sides = world_below(world, (uint64_t)1 << world->node_count);
    world_tell(world, "the network falls apart: %x", (unsigned)sides);
    for (unsigned from = 0; from < world->node_count; from++)
        for (unsigned to = 0; to < world->node_count; to++)
            if ((sides >> from & 1) != (sides >> to & 1)) world_network_cut(world, from, to);
}

static void cut_some(struct world *world)
{
    for (int i = 0; i < 3; i++)
        world_network_cut(world, any_node(world)->id, any_node(world)->id);
}

/* ---- nodes and disks ---- */

static void strike(struct world *world, struct world_node *node)
{
    static const enum world_death deaths[] = { WORLD_KILL, WORLD_POWER, WORLD_POWER, WORLD_STOP };
    if (!world_node_is_up(node)) return;
    world_node_die(node, deaths[world_below(world, 4)]);
    world_node_look(node);
}

/* In the middle of what it will be doing then. */
static void strike_later(struct world *world, struct world_node *node)
{
    if (!world_node_is_up(node)) return;
    if (world_percent(world, 50))
        node->sends_left = 1 + (unsigned)world_below(world, 20);
    else
        fs_sim_cut_power_at(node->disk, 1 + (long)world_below(world, 20));
}

static void strike_after_append(struct world *world, struct world_node *leader)
{
    world_clients_act(world);
    strike(world, leader);
}

static void strike_many(struct world *world)
{
    for (unsigned id = 0; id < world->node_count; id++)
        if (world_percent(world, 40)) strike(world, &world->nodes[id]);
}

static void fill_disk(struct world *world, struct world_node *node)
{
    bool is_full = world_percent(world, 60);
    world_tell(world, "node %u: %s", node->id,
               is_full ? "the disk is full" : "there is room again");
    node->is_disk_full = is_full;
    fs_sim_set_total_bytes(node->disk,
                           is_full ? fs_sim_used_bytes(node->disk) + FULL_DISK_ROOM : 0);
}

/* No more sync fails. One that did may not have been heard of yet. */
static void mend_syncs(struct world_node *node)
{
    node->sync_has_failed = node->sync_has_failed || fs_sim_has_failed(node->disk);
    fs_sim_fail(node->disk, NULL);
}

/* The process ends of it (DESIGN 7.1), and begins again on what the page cache shows. */
static void fail_syncs(struct world *world, struct world_node *node)
{
    struct fs_sim_fault fault = {
        .calls = FS_SIM_SYNC,
        .suffix = world_percent(world, 70) ? ".log" : NULL,
        .nth = 1 + (long)world_below(world, 6),
        .error = ERR_IO,
    };
    if (!world_node_is_up(node)) return;
    world_tell(world, "node %u: a sync will fail", node->id);
    mend_syncs(node);
    fs_sim_fail(node->disk, &fault);
}

void world_nemesis_starting(struct world *world, struct world_node *node)
{
    if (!world->is_quiet && world_percent(world, world->nemesis.death_percent))
        fs_sim_cut_power_at(node->disk, 1 + (long)world_below(world, 30));
}

void world_nemesis_died(struct world *world, struct world_node *node)
{
    (void)world;
    fs_sim_cut_power_at(node->disk, 0);
    mend_syncs(node);
}

/* ---- strokes ---- */

void world_nemesis_act(struct world *world)
{
    struct world_node *leader = world_leader(world);
    world->nemesis.next_ms = world->now_ms + 20 +
                             (int64_t)world_below(world, world->nemesis.pause_ms);
    switch (world_below(world, 17)) {
    case 0:
    case 1:
    case 2:
        if (leader != NULL) isolate(world, leader);
        break;
    case 3:
    case 4: split(world); break;
    case 5:
        if (world_percent(world, 40))
            cut_some(world);
        else
            isolate(world, any_node(world));
        break;
    case 6:
    case 7: world_network_heal(world); break;
    case 8:
        if (leader != NULL) strike_after_append(world, leader);
        break;
    case 9: strike(world, any_node(world)); break;
    case 10: any_node(world)->slow_ms = (int64_t)world_below(world, 300); break;
    case 11:
        if (leader != NULL) strike_later(world, leader);
        break;
    case 12: strike_later(world, any_node(world)); break;
    case 13: world_network_reset(world, any_node(world)->id, any_node(world)->id); break;
    case 14: strike_many(world); break;
    case 15: world_members_transfer(world); break;
    case 16:
        if (!world->options.has_disk_trouble) break;
        if (world_percent(world, 50))
            fill_disk(world, any_node(world));
        else
            fail_syncs(world, any_node(world));
        break;
    }
}

void world_nemesis_end(struct world *world)
{
    world_tell(world, "all is mended");
    world_network_heal(world);
    for (unsigned id = 0; id < world->node_count; id++) {
        struct world_node *node = &world->nodes[id];
        node->slow_ms = 0;
        node->sends_left = 0;
        fs_sim_cut_power_at(node->disk, 0);
        mend_syncs(node);
        fs_sim_set_total_bytes(node->disk, 0);
        node->is_disk_full = false;
        if (node->meta == NULL && !node->is_out_for_good && node->restart_ms > world->now_ms + 20)
            node->restart_ms = world->now_ms + 20;
    }
}
