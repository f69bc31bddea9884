// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "trace.h"

#define CHAOS_MS  8000  /* And up to as much again. */
#define SETTLE_MS 30000 /* After that it counts as stuck. */
#define HOLD_MS   3000
#define LOOK_MS   100 /* At the end, between two looks at whether all is settled. */

/* ---- chance, lines ---- */

uint64_t world_random(struct world *world)
{
    uint64_t word = world->chance += 0x9e3779b97f4a7c15u; /* splitmix64 */
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

uint64_t world_below(struct world *world, uint64_t limit)
{
    return limit == 0 ? 0 : (world_random(world) >> 16) % limit;
}

bool world_percent(struct world *world, unsigned percent)
{
    return world_below(world, 100) < percent;
}

void world_tell(struct world *world, const char *format, ...)
{
    va_list arguments;
    if (!world->options.is_verbose) return;
    va_start(arguments, format);
    printf("%7" PRId64 " ", world->now_ms);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

void world_fail(struct world *world, const char *format, ...)
{
    va_list arguments;
    if (world->has_failed) return;
    world->has_failed = true;
    int length = snprintf(world->failure, sizeof world->failure,
                          "at %" PRId64 " ms: ", world->now_ms);
    va_start(arguments, format);
    vsnprintf(world->failure + length, sizeof world->failure - (size_t)length, format, arguments);
    va_end(arguments);
    world_tell(world, "BROKEN %s", world->failure);
}

struct world_node *world_leader(struct world *world)
{
    struct world_node *found = NULL;
    int64_t found_term = 0;
    for (unsigned id = 0; id < world->node_count; id++) {
        struct world_node *node = &world->nodes[id];
        if (!world_node_leads(node)) continue;
        int64_t term = meta_core_term(meta_node_core(node->meta));
        if (term <= found_term) continue;
        found = node;
        found_term = term;
    }
    return found;
}

/* ---- time ---- */

static int64_t clock_wall(struct clock *clock)
{
    return 1700000000000 + LIST_OWNER(clock, struct world, clock)->now_ms;
}

static int64_t clock_monotonic(struct clock *clock)
{
    return LIST_OWNER(clock, struct world, clock)->now_ms * 1000;
}

/* Of several that are due first any may come first. */
struct next_event {
    int64_t due_ms;
    unsigned ties;
    enum { NEXT_NODE, NEXT_MESSAGE, NEXT_CLIENTS, NEXT_MEMBERS, NEXT_NEMESIS } kind;
    unsigned from, to;
};

static void next_offer(struct world *world, struct next_event *next, int64_t due_ms, int kind,
                       unsigned from, unsigned to)
{
    if (due_ms < world->now_ms) due_ms = world->now_ms;
    if (due_ms > next->due_ms || due_ms == INT64_MAX) return;
    if (due_ms == next->due_ms && world_below(world, ++next->ties) != 0) return;
    unsigned ties = due_ms == next->due_ms ? next->ties : 1;
    *next = (struct next_event){ .due_ms = due_ms, .ties = ties, .from = from, .to = to };
    next->kind = kind;
}

static struct next_event next_event(struct world *world)
{
    struct next_event next = { .due_ms = INT64_MAX };
    for (unsigned id = 0; id < world->node_count; id++)
        next_offer(world, &next, world_node_due_ms(&world->nodes[id]), NEXT_NODE, id, id);
    for (unsigned from = 0; from < world->node_count; from++)
        for (unsigned to = 0; to < world->node_count; to++)
            next_offer(world, &next, world_link_due_ms(&world->network.links[from][to]),
                       NEXT_MESSAGE, from, to);
    next_offer(world, &next, world->clients.next_ms, NEXT_CLIENTS, 0, 0);
    next_offer(world, &next, world->members.next_ms, NEXT_MEMBERS, 0, 0);
    next_offer(world, &next, world->nemesis.next_ms, NEXT_NEMESIS, 0, 0);
    return next;
}

static void step(struct world *world, const struct next_event *next)
{
    world->now_ms = next->due_ms;
    switch (next->kind) {
    case NEXT_NODE: world_node_act(&world->nodes[next->to]); break;
    case NEXT_MESSAGE: world_network_deliver(world, next->from, next->to); break;
    case NEXT_CLIENTS: world_clients_act(world); break;
    case NEXT_MEMBERS: world_members_act(world); break;
    case NEXT_NEMESIS: world_nemesis_act(world); break;
    }
    if (next->kind == NEXT_NODE || next->kind == NEXT_MESSAGE)
        world_node_look(&world->nodes[next->to]);
    else
        for (unsigned id = 0; id < world->node_count; id++)
            world_node_look(&world->nodes[id]);
}

static void run_until(struct world *world, int64_t end_ms)
{
    while (!world->has_failed) {
        struct next_event next = next_event(world);
        if (next.due_ms > end_ms) break;
        step(world, &next);
    }
    world->now_ms = end_ms;
}

static bool some_are_out(const struct world *world)
{
    for (unsigned id = 0; id < world->node_count; id++)
        if (world->nodes[id].is_out_for_good) return true;
    return false;
}

/* Whoever leads then goes on, also if nodes that were removed do not know it. */
static void hold(struct world *world)
{
    const struct world_node *leader = world_leader(world);
    int64_t term = meta_core_term(meta_node_core(leader->meta));
    run_until(world, world->now_ms + HOLD_MS);
    if (world->has_failed) return;
    if (world_leader(world) != leader || meta_core_term(meta_node_core(leader->meta)) != term)
        world_fail(world, "node %u does not keep the lead of term %" PRId64 ", with nothing wrong",
                   leader->id, term);
}

/* A leader, a new write, everybody level. */
static void settle(struct world *world)
{
    char why[200] = "";
    int64_t end_ms = world->now_ms + SETTLE_MS;
    bool is_told = false, is_settled = false;
    world->is_quiet = true;
    world->clients.next_ms = world->members.next_ms = world->nemesis.next_ms = INT64_MAX;
    world_nemesis_end(world);
    while (!world->has_failed && !is_settled) {
        run_until(world, world->now_ms + LOOK_MS);
        if (!is_told) is_told = world_clients_probe(world);
        world->clients.next_ms = INT64_MAX;
        if (!is_told)
            snprintf(why, sizeof why, "no new write was committed");
        else
            is_settled = world_oracle_all_equal(world, why, sizeof why);
        if (world->now_ms <= end_ms) continue;
        if (some_are_out(world)) break; /* They may be too many. */
        if (!is_settled)
            world_fail(world, "stuck %d s after everything was mended: %s", SETTLE_MS / 1000, why);
    }
    if (is_settled && !world->has_failed) hold(world);
}

static void take_line(void *context, const char *line)
{
    struct world *world = context;
    if (world->options.is_verbose) fprintf(stderr, "%s\n", line);
    world_oracle_line(world, line);
}

bool world_run(const struct world_options *options, uint64_t seed, struct world_counts *counts,
               char *why, size_t why_size)
{
    struct world *world = mem_zalloc(sizeof *world);
    world->options = *options;
    world->seed = world->chance = seed;
    world->clock = (struct clock){ clock_wall, clock_monotonic };
    world->now_ms = 1000;
    world->node_count = options->nodes + options->joiners;
    trace_set_sink(take_line, world);
    world_oracle_open(world);
    world_network_open(world);
    world_clients_open(world);
    world_nemesis_open(world);
    world_members_open(world);
    for (unsigned id = 0; id < world->node_count; id++)
        world_node_open(world, id);
    run_until(world, world->now_ms + CHAOS_MS + (int64_t)world_below(world, CHAOS_MS));
    if (!world->has_failed) settle(world);
    for (unsigned id = 0; id < world->node_count; id++)
        world_node_close(&world->nodes[id]);
    world_network_close(world);
    world_oracle_close(world);
    trace_set_sink(NULL, NULL);
    bool was_kept = !world->has_failed;
    *counts = world->counts;
    snprintf(why, why_size, "%s", world->failure);
    mem_free(world);
    return was_kept;
}
