// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <inttypes.h>
#include <string.h>

#include "error.h"

#define NEARLY 20 /* A stand-by is promoted when it is so many entries behind, or less. */

void world_members_open(struct world *world)
{
    bool changes = world->node_count > world->options.nodes;
    world->members = (struct world_members){
        .next_ms = changes ? world->now_ms + 1000 : INT64_MAX,
        .pause_ms = 50 + (unsigned)world_below(world, 700),
    };
}

static void remove_member(struct meta_members *members, const struct meta_member *member)
{
    unsigned position = (unsigned)(member - members->members);
    members->count--;
    memmove(&members->members[position], &members->members[position + 1],
            (members->count - position) * sizeof members->members[0]);
}

static void add_standby(struct meta_members *members, int32_t node_id)
{
    unsigned position = 0;
    while (position < members->count && members->members[position].node_id < node_id)
        position++;
    memmove(&members->members[position + 1], &members->members[position],
            (members->count - position) * sizeof members->members[0]);
    members->members[position] = (struct meta_member){
        .node_id = node_id,
        .role = META_STANDBY,
        .address = STR_LITERAL(""),
    };
    members->count++;
}

/* One step for one node. False: nothing to be done. */
static bool change_one(struct world *world, const struct meta_core *core,
                       struct meta_members *members, int32_t node_id)
{
    struct meta_member *member = (struct meta_member *)meta_members_find(members, node_id);
    bool is_early = world->options.grows && meta_members_voter_count(members) < 3;
    if (member == NULL) {
        add_standby(members, node_id);
        return true;
    }
    if (member->role == META_VOTER) {
        if (is_early || world_percent(world, 60)) return false;
        member->role = META_STANDBY;
        return true;
    }
    if (is_early || world_percent(world, 65)) {
        member->role = META_VOTER;
        return meta_core_match_index(core, node_id) + NEARLY >= meta_core_last_index(core);
    }
    remove_member(members, member);
    return true;
}

static void change(struct world *world, struct world_node *leader)
{
    const struct meta_core *core = meta_node_core(leader->meta);
    struct meta_members members, before;
    int64_t index = 0;
    if (!meta_core_members(core, &before)) return;
    /* As a product's leader does: the disks first. */
    if (!meta_core_learned_members(core, &members)) {
        members = before;
        int32_t node_id = (int32_t)world_below(world, world->node_count);
        if (!change_one(world, core, &members, node_id)) return;
        if (node_id == (int32_t)leader->id && (world->options.rules_off & META_RULE_R7B) == 0) {
            world_members_transfer(world);
            return;
        }
    }
    int err = meta_node_change_members(leader->meta, &members, &index);
    if (err == 0) {
        world->counts.changes++;
        if (world_node_leads(leader)) world_oracle_changed(world, leader, &before, &members);
        world_tell(world, "node %u: other members at %" PRId64 ": %u, voters %u", leader->id, index,
                   members.count, meta_members_voter_count(&members));
    } else if (err != ERR_BUSY && err != ERR_INVALID_REQUEST && err != ERR_NOT_CONTROLLER &&
               world_node_is_up(leader) && meta_node_failed(leader->meta) == 0) {
        world_fail(world, "node %u: members cannot be changed: %s", leader->id, error_name(err));
    }
}

void world_members_act(struct world *world)
{
    struct world_node *leader = world_leader(world);
    world->members.next_ms = world->now_ms + 50 +
                             (int64_t)world_below(world, world->members.pause_ms);
    if (leader != NULL) change(world, leader);
}

void world_members_transfer(struct world *world)
{
    struct world_node *leader = world_leader(world);
    int32_t to = world_percent(world, 50) ? META_NOBODY
                                          : (int32_t)world_below(world, world->node_count);
    if (leader != NULL && meta_node_transfer(leader->meta, to) == 0)
        world_tell(world, "node %u hands over to node %d", leader->id, to);
}
