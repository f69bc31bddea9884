// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <inttypes.h>
#include <stdio.h>

#include "arena.h"
#include "buffer.h"
#include "controller.h"

#define TOPIC_NAMES 60 /* Few, so that some are there already. */

void world_clients_open(struct world *world)
{
    world->clients = (struct world_clients){ .pause_ms = 10 + (unsigned)world_below(world, 60) };
    world->clients.next_ms = world->now_ms + 500;
}

/* ---- commands ---- */

static void topic_name(struct world *world, char name[32])
{
    snprintf(name, 32, "topic-%u", (unsigned)world_below(world, TOPIC_NAMES));
}

static bool make_topic(struct world *world, const struct controller *controller,
                       struct buffer *bytes)
{
    char name[32];
    struct arena arena;
    struct uuid id;
    uint64_t halves[2] = { world_random(world), world_random(world) };
    unsigned brokers = meta_state_broker_count(controller->state);
    struct meta_create_topic wanted = {
        .partition_count = 1 + (int32_t)world_below(world, 6),
        .replication_factor = brokers == 0 ? 1 : (int16_t)(1 + world_below(world, brokers)),
    };
    struct meta_command command = { .kind = META_TOPIC_CREATED };
    topic_name(world, name);
    wanted.name = str_from(name);
    memcpy(id.bytes, halves, sizeof id.bytes);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    int err = controller_create_topic(controller, &wanted, &id, &arena,
                                      &command.as.topic_created.topic);
    if (err == 0) meta_command_encode(&command, bytes);
    arena_close(&arena);
    return err == 0;
}

static bool delete_topic(struct world *world, const struct controller *controller,
                         struct buffer *bytes)
{
    char name[32];
    const struct meta_topic *topic = NULL;
    struct meta_delete_topic wanted = { 0 };
    topic_name(world, name);
    wanted.name = str_from(name);
    if (controller_delete_topic(controller, &wanted, &topic) != 0) return false;
    struct meta_command command = { .kind = META_TOPIC_DELETED, .as.topic_deleted = { topic->id } };
    meta_command_encode(&command, bytes);
    return true;
}

static bool grow_topic(struct world *world, const struct controller *controller,
                       struct buffer *bytes)
{
    char name[32];
    struct arena arena;
    struct meta_command command = { .kind = META_PARTITIONS_ADDED };
    topic_name(world, name);
    struct meta_add_partitions wanted = { .name = str_from(name),
                                          .count = 2 + (int32_t)world_below(world, 10) };
    arena_init(&arena, NULL, 0, SIZE_MAX);
    int err = controller_add_partitions(controller, &wanted, &arena, &command.as.partitions_added);
    if (err == 0) meta_command_encode(&command, bytes);
    arena_close(&arena);
    return err == 0;
}

static void take_producer_ids(struct world *world, struct buffer *bytes)
{
    struct meta_command command = {
        .kind = META_PRODUCER_IDS_TAKEN,
        .as.producer_ids_taken = { (int32_t)world_below(world, world->node_count), 1000 },
    };
    meta_command_encode(&command, bytes);
}

/* What the brokers say themselves: the cluster's id at first, and that one begins a life. */
static bool introduce(struct world *world, const struct controller *controller,
                      struct buffer *bytes)
{
    struct meta_endpoint endpoint = { "PLAINTEXT", "localhost", 9092 };
    struct meta_command command = { .kind = META_BOOTSTRAP };
    if (controller->state->cluster_id[0] == '\0') {
        command.as.bootstrap.cluster_id = str_from(WORLD_CLUSTER_ID);
        meta_command_encode(&command, bytes);
        return true;
    }
    struct world_node *node = &world->nodes[world_below(world, world->node_count)];
    if (!world_node_is_up(node) || node->is_registered) return false;
    node->is_registered = true;
    command = (struct meta_command){
        .kind = META_REGISTER_BROKER,
        .as.register_broker.broker = { .id = (int32_t)node->id,
                                       .endpoints = &endpoint,
                                       .endpoint_count = 1 },
    };
    meta_command_encode(&command, bytes);
    return true;
}

/* The next command, as the controller on this node sees the world; false: nothing to be said. */
static bool next_command(struct world *world, struct world_node *node, struct buffer *bytes)
{
    struct controller controller = {
        .state = meta_node_state(node->meta),
        .node_id = (int32_t)node->id,
        .default_partitions = 1,
        .default_replication_factor = 1,
    };
    if (introduce(world, &controller, bytes)) return true;
    uint64_t kind = world_below(world, 12);
    if (kind < 5) return make_topic(world, &controller, bytes);
    if (kind < 8) return delete_topic(world, &controller, bytes);
    if (kind < 10) return grow_topic(world, &controller, bytes);
    take_producer_ids(world, bytes);
    return true;
}

/* ---- submit, and be told ---- */

static void wait_for(struct world *world, const struct world_node *node, int64_t index,
                     const struct meta_entry *entry)
{
    struct world_clients *clients = &world->clients;
    clients->waiting[clients->next_waiting++ % WORLD_WAITING] = (struct world_waiting){
        .node = node->id,
        .life = node->life,
        .index = index,
        .term = entry->term,
        .payload_hash = world_oracle_hash(0, entry->payload.data, (size_t)entry->payload.length),
    };
}

static void submit(struct world *world, struct world_node *node, unsigned count)
{
    struct buffer bytes[4];
    struct meta_entry entries[4];
    unsigned made = 0;
    int64_t first_index = 0;
    for (unsigned i = 0; i < count; i++) {
        buffer_init(&bytes[made]);
        if (!next_command(world, node, &bytes[made])) continue;
        entries[made] = (struct meta_entry){
            .payload = { bytes[made].data, (int32_t)bytes[made].length },
        };
        made++;
    }
    if (made > 0 && world_node_submit(node, entries, made, &first_index))
        for (unsigned i = 0; i < made; i++)
            wait_for(world, node, first_index + i, &entries[i]);
    for (unsigned i = 0; i < made; i++)
        buffer_close(&bytes[i]);
}

void world_clients_act(struct world *world)
{
    struct world_clients *clients = &world->clients;
    clients->next_ms = world->now_ms + 3 + (int64_t)world_below(world, clients->pause_ms);
    for (unsigned id = 0; id < world->node_count; id++) {
        struct world_node *node = &world->nodes[id];
        /* meta_quorum asks the same before it lets a request in. */
        if (!world_node_leads(node) || !meta_core_is_caught_up(meta_node_core(node->meta)))
            continue;
        if (world_percent(world, 70)) submit(world, node, 1 + (unsigned)world_below(world, 3));
        world_node_look(node);
    }
}

bool world_clients_probe(struct world *world)
{
    world->clients.is_probing = true;
    if (!world->clients.is_probe_told) world_clients_act(world);
    return world->clients.is_probe_told;
}

void world_clients_applied(struct world *world, struct world_node *node, int64_t index,
                           const struct meta_entry *entry, const struct meta_outcome *outcome)
{
    (void)outcome;
    if (!world_node_leads(node)) return; /* Those who wait were told that it no longer leads. */
    int64_t term = meta_core_term(meta_node_core(node->meta));
    for (unsigned i = 0; i < WORLD_WAITING; i++) {
        struct world_waiting *waiting = &world->clients.waiting[i];
        if (waiting->index != index || waiting->node != node->id || waiting->life != node->life ||
            waiting->term != term)
            continue;
        if (waiting->payload_hash !=
            world_oracle_hash(0, entry->payload.data, (size_t)entry->payload.length))
            world_fail(world, "node %u: a client is told of another command at index %" PRId64,
                       node->id, index);
        waiting->index = 0;
        world->counts.told++;
        if (world->clients.is_probing) world->clients.is_probe_told = true;
    }
}
