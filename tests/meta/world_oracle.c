// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "arena.h"
#include "buffer.h"
#include "error.h"

#define STATE_EVERY  16
#define NEARLY_LEVEL 6 /* The change itself is one. */

void world_oracle_open(struct world *world)
{
    world->oracle = (struct world_oracle){ .capacity = 1024 };
    world->oracle.committed = mem_calloc(1024, sizeof *world->oracle.committed);
    world->oracle.nodes = mem_calloc(WORLD_NODES, sizeof *world->oracle.nodes);
}

void world_oracle_close(struct world *world)
{
    mem_free(world->oracle.committed);
    mem_free(world->oracle.nodes);
}

static struct world_oracle_node *known_of(struct world *world, const struct world_node *node)
{
    return &world->oracle.nodes[node->id];
}

/* ---- hashes ---- */

/* Eight bytes at a time; it need not withstand anybody. */
uint64_t world_oracle_hash(uint64_t hash, const void *data, size_t length)
{
    const uint8_t *at = data;
    hash ^= length * 0x9e3779b97f4a7c15u;
    for (; length > 0;) {
        uint64_t word = 0;
        size_t taken = length < sizeof word ? length : sizeof word;
        memcpy(&word, at, taken);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
        at += taken;
        length -= taken;
    }
    return hash;
}

static uint64_t hash_entry(uint64_t hash, int64_t index, const struct meta_entry *entry)
{
    int64_t numbers[] = { index, entry->term, (int64_t)entry->type };
    hash = world_oracle_hash(hash, numbers, sizeof numbers);
    if (entry->payload.length <= 0) return hash;
    return world_oracle_hash(hash, entry->payload.data, (size_t)entry->payload.length);
}

static uint64_t hash_command(const struct meta_command *command)
{
    struct buffer bytes;
    buffer_init(&bytes);
    meta_command_encode(command, &bytes);
    uint64_t hash = world_oracle_hash(1, bytes.data, bytes.length);
    buffer_close(&bytes);
    return hash;
}

static uint64_t hash_settings(uint64_t hash, const struct meta_setting *settings, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hash = world_oracle_hash(hash, settings[i].name, strlen(settings[i].name) + 1);
        hash = world_oracle_hash(hash, settings[i].value, strlen(settings[i].value) + 1);
    }
    return hash;
}

static uint64_t hash_resources(const struct meta_resources *resources)
{
    struct meta_resource_cursor cursor = { 0, 0 };
    const struct meta_resource *resource;
    uint64_t sum = 0;
    while ((resource = meta_resources_next(resources, &cursor)) != NULL) {
        uint64_t hash = world_oracle_hash((uint64_t)resource->type, resource->name,
                                          strlen(resource->name) + 1);
        sum += hash_settings(hash, resource->settings, resource->setting_count);
    }
    return sum;
}

/* The order in which a state gives its topics and resources is its own (each process has another hash
 * key). */
static uint64_t hash_state(const struct meta_state *state)
{
    struct meta_topic_cursor cursor = { 0, 0 };
    const struct meta_topic *topic;
    int64_t numbers[] = { state->index, state->term, state->next_producer_id,
                          (int64_t)state->topic_count, (int64_t)state->partition_count };
    uint64_t unordered = hash_resources(&state->resources);
    uint64_t hash = world_oracle_hash(1, numbers, sizeof numbers);
    hash = world_oracle_hash(hash, state->cluster_id, strlen(state->cluster_id));
    for (unsigned i = 0; i < meta_state_broker_count(state); i++) {
        const struct meta_broker *broker = meta_state_broker_at(state, i);
        struct meta_command command = { .kind = META_REGISTER_BROKER,
                                        .as.register_broker.broker = *broker };
        uint64_t parts[] = { hash_command(&command), (uint64_t)broker->incarnation };
        hash = world_oracle_hash(hash, parts, sizeof parts);
    }
    for (unsigned i = 0; i < meta_broker_settings_count(state->broker_settings); i++) {
        const struct meta_broker_settings *of = meta_broker_settings_at(state->broker_settings, i);
        hash = world_oracle_hash(hash, &of->broker, sizeof of->broker);
        hash = hash_settings(hash, of->settings, of->count);
    }
    while ((topic = meta_state_next_topic(state, &cursor)) != NULL) {
        struct meta_command command = { .kind = META_TOPIC_CREATED,
                                        .as.topic_created.topic = *topic };
        unordered += hash_command(&command);
    }
    return world_oracle_hash(hash, &unordered, sizeof unordered);
}

/* ---- applied ---- */

void world_oracle_started(struct world *world, struct world_node *node)
{
    struct world_oracle_node *known = known_of(world, node);
    known->prefix_hash = 0;
    known->applied_index = 0;
    known->asked_term = 0;
}

static struct world_committed *committed_at(struct world *world, int64_t index)
{
    struct world_oracle *oracle = &world->oracle;
    if (index >= oracle->capacity) {
        oracle->capacity *= 2;
        oracle->committed = mem_realloc(oracle->committed,
                                        (size_t)oracle->capacity * sizeof *oracle->committed);
    }
    return &oracle->committed[index];
}

static void check_state(struct world *world, struct world_node *node, int64_t index, bool is_first)
{
    struct world_committed *committed = committed_at(world, index);
    uint64_t hash = hash_state(meta_node_state(node->meta));
    if (is_first)
        committed->state_hash = hash;
    else if (committed->state_hash != hash)
        world_fail(world, "node %u: another state at index %" PRId64, node->id, index);
}

/* By (1), (4), (5). */
void world_oracle_applied(struct world *world, struct world_node *node, int64_t index,
                          const struct meta_entry *entry)
{
    struct world_oracle *oracle = &world->oracle;
    struct world_oracle_node *known = known_of(world, node);
    if (index != known->applied_index + 1)
        world_fail(world, "node %u applies %" PRId64 " after %" PRId64, node->id, index,
                   known->applied_index);
    known->applied_index = index;
    known->prefix_hash = hash_entry(known->prefix_hash, index, entry);
    struct world_committed *committed = committed_at(world, index);
    bool is_first = index > oracle->last_index;
    if (is_first && index != oracle->last_index + 1)
        world_fail(world, "node %u: index %" PRId64 " is committed before %" PRId64, node->id,
                   index, oracle->last_index + 1);
    if (is_first) {
        oracle->last_index = index;
        *committed = (struct world_committed){
            .prefix_hash = known->prefix_hash,
            .term = entry->term,
            .committed_in = meta_core_term(meta_node_core(node->meta)),
        };
        world->counts.commits++;
    } else if (committed->prefix_hash != known->prefix_hash) {
        world_fail(world,
                   "node %u applies another entry or past at index %" PRId64 ": term %" PRId64
                   ", first committed with term %" PRId64,
                   node->id, index, entry->term, committed->term);
    }
    if (index % STATE_EVERY == 0) check_state(world, node, index, is_first);
}

/* By (1), (4), (5): from now on its past is the one that was committed, and its state has to lead to the
 * same as everybody's. */
void world_oracle_restored(struct world *world, struct world_node *node)
{
    struct world_oracle_node *known = known_of(world, node);
    int64_t index = meta_node_state(node->meta)->index;
    if (index > world->oracle.last_index)
        world_fail(world, "node %u: a snapshot at index %" PRId64 ", which nobody committed",
                   node->id, index);
    if (index < known->applied_index)
        world_fail(world, "node %u: a snapshot at index %" PRId64 " after %" PRId64, node->id,
                   index, known->applied_index);
    if (world->has_failed) return;
    known->applied_index = index;
    known->prefix_hash = committed_at(world, index)->prefix_hash;
    world->counts.restored++;
    if (index % STATE_EVERY == 0) check_state(world, node, index, false);
}

/* ---- terms, votes, leaders ---- */

static bool check_term(struct world *world, struct world_node *node)
{
    struct world_oracle_node *known = known_of(world, node);
    int64_t term = meta_core_term(meta_node_core(node->meta));
    if (term < known->term)
        world_fail(world, "node %u: term %" PRId64 " after term %" PRId64, node->id, term,
                   known->term);
    if (term >= WORLD_TERMS) world_fail(world, "node %u: terms run away: %" PRId64, node->id, term);
    if (world->has_failed) return false;
    known->term = term;
    return true;
}

static void note_vote(struct world *world, struct world_node *node, int64_t term, int32_t candidate)
{
    if (term < 0 || term >= WORLD_TERMS) return;
    int32_t *vote = &known_of(world, node)->votes[term];
    if (*vote != 0 && *vote != candidate + 1)
        world_fail(world, "node %u votes for node %d and node %d in term %" PRId64, node->id,
                   *vote - 1, candidate, term);
    *vote = candidate + 1;
}

/* By (6). */
static void check_candidate(struct world *world, struct world_node *node,
                            const struct meta_message *message)
{
    struct world_oracle_node *known = known_of(world, node);
    if (message->as.vote.is_pre_vote) {
        if (message->term > known->asked_term) known->asked_term = message->term;
    } else if (message->term > known->asked_term && !message->as.vote.disrupt_leader) {
        world_fail(world, "node %u is a candidate in term %" PRId64 " and did not ask first",
                   node->id, message->term);
    }
}

/* By (3) and (4): what others may have seen counts. */
void world_oracle_sent(struct world *world, struct world_node *node,
                       const struct meta_message *message)
{
    if (!check_term(world, node)) return;
    if (meta_message_check(message) != 0)
        world_fail(world, "node %u sends what makes no sense", node->id);
    if (message->type == META_MESSAGE_VOTE) check_candidate(world, node, message);
    if (message->type == META_MESSAGE_VOTE && !message->as.vote.is_pre_vote)
        note_vote(world, node, message->term, message->as.vote.candidate);
    if (message->type == META_MESSAGE_VOTE_RESULT && message->as.vote_result.is_granted &&
        !message->as.vote_result.is_pre_vote)
        note_vote(world, node, message->term, message->to);
}

/* By (2). What it has applied itself was compared then. */
static void check_complete(struct world *world, struct world_node *node, int64_t term)
{
    int64_t index = known_of(world, node)->applied_index + 1;
    for (; index <= world->oracle.last_index && !world->has_failed; index++) {
        struct meta_entry entry = { 0 };
        struct arena arena;
        const struct world_committed *committed = committed_at(world, index);
        if (committed->committed_in >= term) continue;
        arena_init(&arena, NULL, 0, SIZE_MAX);
        int err = meta_node_read(node->meta, index, 1, &entry, &arena);
        if (err != 0 || entry.term != committed->term)
            world_fail(world,
                       "node %u is elected in term %" PRId64 " without the entry at %" PRId64
                       " that was committed with term %" PRId64 " (it has term %" PRId64 ")",
                       node->id, term, index, committed->term, err != 0 ? -1 : entry.term);
        arena_close(&arena);
    }
}

void world_oracle_role_changed(struct world *world, struct world_node *node)
{
    static const char *const names[] = { "follows", "is a candidate", "leads" };
    const struct meta_core *core = meta_node_core(node->meta);
    enum meta_core_role role = meta_core_role(core);
    int64_t term = meta_core_term(core);
    world_tell(world, "node %u %s, term %" PRId64 ", leader %d, last %" PRId64 ", applied %" PRId64,
               node->id, names[role], term, meta_core_leader(core), meta_core_last_index(core),
               meta_core_applied_index(core));
    if (!check_term(world, node) || role != META_LEADER) return;
    int32_t *leader = &world->oracle.leaders[term];
    if (*leader == (int32_t)node->id + 1) return;
    if (*leader != 0)
        world_fail(world, "node %d and node %u lead in term %" PRId64, *leader - 1, node->id, term);
    *leader = (int32_t)node->id + 1;
    world->counts.elections++;
    check_complete(world, node, term);
}

/* By (9). */
static bool may_be_for_space(const struct world *world, const struct world_node *node, int err)
{
    return world->options.has_disk_trouble && node->is_disk_full &&
           (err == ERR_NO_SPACE || err == ERR_KAFKA_STORAGE_ERROR);
}

void world_oracle_failed(struct world *world, struct world_node *node, int err, const char *why)
{
    world_tell(world, "node %u fails: %s", node->id, why);
    if (may_be_for_space(world, node, err))
        world->counts.full++;
    else if (node->sync_has_failed || fs_sim_has_failed(node->disk))
        world->counts.failed_syncs++;
    else
        world_fail(world, "node %u fails: %s: %s", node->id, error_name(err), why);
}

void world_oracle_refused(struct world *world, struct world_node *node, int err, const char *why)
{
    if (may_be_for_space(world, node, err)) {
        world->counts.full++;
    } else if (node->sync_has_failed || fs_sim_has_failed(node->disk)) {
        world->counts.failed_syncs++;
    } else if (world->options.control != WORLD_CONTROL_NONE && err == ERR_CORRUPT_MESSAGE) {
        node->is_out_for_good = true; /* It has seen what was done to it; do the others? */
    } else {
        world_fail(world, "node %u does not start: %s: %s", node->id, error_name(err), why);
    }
}

/* By (8). */
void world_oracle_changed(struct world *world, struct world_node *leader,
                          const struct meta_members *before, const struct meta_members *after)
{
    const struct meta_core *core = meta_node_core(leader->meta);
    const struct meta_member *self = meta_members_find(after, (int32_t)leader->id);
    unsigned level = 0, voters = meta_members_voter_count(after);
    for (unsigned i = 0; i < after->count; i++)
        if (after->members[i].role == META_VOTER &&
            meta_core_match_index(core, after->members[i].node_id) + NEARLY_LEVEL >=
                meta_core_last_index(core))
            level++;
    if (self == NULL || self->role != META_VOTER)
        world_fail(world, "node %u leads, and takes its own vote away", leader->id);
    if (voters < 3 && meta_members_voter_count(before) >= 3)
        world_fail(world, "node %u leaves only %u voters", leader->id, voters);
    if (level <= voters / 2)
        world_fail(world, "node %u changes members while %u of %u voters are level", leader->id,
                   level, voters);
}

/* By (7): the core says so. */
void world_oracle_line(struct world *world, const char *line)
{
    if (strstr(line, "commit index went back") != NULL) world_fail(world, "%s", line);
}

/* ---- the end ---- */

static bool is_level(struct world *world, struct world_node *node, struct world_node *leader,
                     char *why, size_t why_size)
{
    const struct world_oracle_node *known = known_of(world, node);
    int64_t last_index = world->oracle.last_index;
    if (node->is_out_for_good) return true;
    if (!world_node_is_up(node)) {
        snprintf(why, why_size, "node %u is down", node->id);
        return false;
    }
    if (known->applied_index != last_index) {
        snprintf(why, why_size, "node %u has applied %" PRId64 " of %" PRId64, node->id,
                 known->applied_index, last_index);
        return false;
    }
    if (hash_state(meta_node_state(node->meta)) != hash_state(meta_node_state(leader->meta)))
        world_fail(world, "node %u and node %u have other states at %" PRId64, node->id, leader->id,
                   last_index);
    return true;
}

bool world_oracle_all_equal(struct world *world, char *why, size_t why_size)
{
    struct meta_members members;
    struct world_node *leader = world_leader(world);
    if (leader == NULL) {
        snprintf(why, why_size, "nobody leads");
        return false;
    }
    if (!meta_core_members(meta_node_core(leader->meta), &members)) return false;
    for (unsigned i = 0; i < members.count; i++)
        if (!is_level(world, &world->nodes[members.members[i].node_id], leader, why, why_size))
            return false;
    return true;
}
