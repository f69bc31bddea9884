// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include "alloc.h"
#include "error.h"
#include "meta_wire.h"

struct world_message {
    struct list node;
    int64_t due_ms;
    struct buffer frame; /* As it would be on a connection. */
};

/* ---- messages ---- */

static void message_free(struct world_message *sent)
{
    buffer_close(&sent->frame);
    mem_free(sent);
}

static struct world_message *message_new(const struct meta_message *message)
{
    struct world_message *sent = mem_zalloc(sizeof *sent);
    buffer_init(&sent->frame);
    meta_wire_encode(message, &sent->frame);
    return sent;
}

static void message_deliver(struct world *world, unsigned to, const struct world_message *sent)
{
    struct meta_message message;
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    struct bytes frame = { sent->frame.data, (int32_t)sent->frame.length };
    int err = meta_wire_decode(&message, frame, &arena);
    if (err == 0)
        world_node_receive(&world->nodes[to], &message);
    else
        world_fail(world, "a frame for node %u cannot be read: %s", to, error_name(err));
    arena_close(&arena);
}

/* ---- links ---- */

static void link_drop_all(struct world_link *link)
{
    struct list *node;
    while ((node = list_pop_front(&link->messages)) != NULL)
        message_free(LIST_OWNER(node, struct world_message, node));
}

int64_t world_link_due_ms(const struct world_link *link)
{
    if (list_is_empty(&link->messages)) return INT64_MAX;
    return LIST_OWNER(link->messages.next, struct world_message, node)->due_ms;
}

void world_network_open(struct world *world)
{
    for (unsigned from = 0; from < WORLD_NODES; from++)
        for (unsigned to = 0; to < WORLD_NODES; to++)
            list_init(&world->network.links[from][to].messages);
    world->network.slow_percent = (unsigned)world_below(world, 15);
}

void world_network_close(struct world *world)
{
    for (unsigned from = 0; from < WORLD_NODES; from++)
        for (unsigned to = 0; to < WORLD_NODES; to++)
            link_drop_all(&world->network.links[from][to]);
}

void world_network_send(struct world *world, const struct meta_message *message)
{
    struct world_link *link = &world->network.links[message->from][message->to];
    world->counts.messages++;
    if (link->is_cut) return;
    struct world_message *sent = message_new(message);
    sent->due_ms = world->now_ms + 1 + (int64_t)world_below(world, 6);
    if (!world->is_quiet && world_percent(world, world->network.slow_percent))
        sent->due_ms += (int64_t)world_below(world, 60);
    if (sent->due_ms < link->last_due_ms) sent->due_ms = link->last_due_ms; /* In order. */
    link->last_due_ms = sent->due_ms;
    list_push_back(&link->messages, &sent->node);
}

void world_network_deliver(struct world *world, unsigned from, unsigned to)
{
    struct world_link *link = &world->network.links[from][to];
    struct list *first = list_pop_front(&link->messages);
    if (first == NULL) return;
    struct world_message *sent = LIST_OWNER(first, struct world_message, node);
    if (!link->is_cut) message_deliver(world, to, sent);
    message_free(sent);
}

void world_network_reset(struct world *world, unsigned one, unsigned other)
{
    link_drop_all(&world->network.links[one][other]);
    link_drop_all(&world->network.links[other][one]);
}

void world_network_reset_node(struct world *world, unsigned id)
{
    for (unsigned other = 0; other < world->node_count; other++)
        if (other != id) world_network_reset(world, id, other);
}

/* TCP does not forget what it has not delivered while nothing gets through, but here it does: whoever
 * waits that long connects anew. */
void world_network_cut(struct world *world, unsigned from, unsigned to)
{
    world->network.links[from][to].is_cut = true;
}

void world_network_heal(struct world *world)
{
    for (unsigned from = 0; from < world->node_count; from++)
        for (unsigned to = 0; to < world->node_count; to++) {
            world->network.links[from][to].is_cut = false;
            if (from < to) world_network_reset(world, from, to);
        }
}
