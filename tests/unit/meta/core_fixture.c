// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "core_fixture.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

static struct cores *current; /* One at a time. */

static struct core_node *node_of(struct meta_core_io *io)
{
    return (struct core_node *)(void *)((char *)io - offsetof(struct core_node, io));
}

/* ---- what the core orders ---- */

static int store_vote(struct meta_core_io *io, int64_t term, int32_t voted_for)
{
    struct core_node *node = node_of(io);
    assert_true(term >= node->term);
    if (term == node->term && node->voted_for != META_NOBODY)
        assert_int_equal(voted_for, node->voted_for);
    node->term = term;
    node->voted_for = voted_for;
    return 0;
}

/* Members outlive the call that brought them. Other payloads are the tests' own. */
static struct bytes keep_members(struct bytes payload)
{
    static uint8_t kept[64][CORE_MEMBERS_BYTES];
    static unsigned next;
    uint8_t *copy = kept[next++ % 64];
    assert_true((size_t)payload.length <= sizeof kept[0]);
    memcpy(copy, payload.data, (size_t)payload.length);
    return (struct bytes){ copy, payload.length };
}

static int append(struct meta_core_io *io, uint64_t write, int64_t first_index,
                  const struct meta_entry *entries, unsigned count)
{
    struct core_node *node = node_of(io);
    assert_true(first_index >= node->first_index && first_index <= node->last_index + 1);
    assert_true(first_index + count - node->first_index <= CORE_ENTRIES);
    for (unsigned i = 0; i < count; i++) {
        struct meta_entry *entry = &node->log[first_index - node->first_index + i];
        *entry = entries[i];
        if (entry->type == META_ENTRY_MEMBERS) entry->payload = keep_members(entry->payload);
    }
    node->last_index = first_index + count - 1;
    node->newest_write = write;
    return 0;
}

static int read_entries(struct meta_core_io *io, int64_t first_index, unsigned count,
                        struct meta_entry *entries, struct arena *arena)
{
    struct core_node *node = node_of(io);
    (void)arena;
    if (first_index < node->first_index || first_index + count - 1 > node->last_index)
        return ERR_NOT_FOUND;
    memcpy(entries, &node->log[first_index - node->first_index], count * sizeof *entries);
    return 0;
}

/* The copy points to what it brought along. */
static void message_settle(struct core_message *message)
{
    if (message->message.type == META_MESSAGE_APPEND)
        message->message.as.append.entries = message->entries;
    if (message->message.type == META_MESSAGE_SNAPSHOT)
        message->message.as.snapshot.members.data = message->members;
}

static void send_message(struct meta_core_io *io, const struct meta_message *message)
{
    (void)io;
    assert_int_equal(meta_message_check(message), 0); /* Ours always make sense. */
    assert_true(current->queued < sizeof current->queue / sizeof current->queue[0]);
    struct core_message *queued = &current->queue[current->queued++];
    queued->message = *message;
    if (message->type == META_MESSAGE_SNAPSHOT)
        memcpy(queued->members, message->as.snapshot.members.data,
               (size_t)message->as.snapshot.members.length);
    message_settle(queued);
    if (message->type != META_MESSAGE_APPEND) return;
    assert_true(message->as.append.entry_count <= CORE_ENTRIES);
    if (message->as.append.entry_count > 0)
        memcpy(queued->entries, message->as.append.entries,
               message->as.append.entry_count * sizeof queued->entries[0]);
}

static void keep_snapshot(struct core_node *node, const struct meta_core_snapshot *snapshot)
{
    assert_true((size_t)snapshot->members.length <= sizeof node->snapshot_members);
    memcpy(node->snapshot_members, snapshot->members.data, (size_t)snapshot->members.length);
    node->snapshot = *snapshot;
    node->snapshot.members.data = node->snapshot_members;
}

/* Held back until cores_finish_install(). */
static int install(struct meta_core_io *io, const struct meta_message *snapshot)
{
    struct core_node *node = node_of(io);
    assert_true(meta_core_is_installing(node->core));
    keep_snapshot(node, &(struct meta_core_snapshot){
                            .index = snapshot->as.snapshot.index,
                            .term = snapshot->as.snapshot.last_term,
                            .members_index = snapshot->as.snapshot.members_index,
                            .members = snapshot->as.snapshot.members,
                        });
    node->first_index = snapshot->as.snapshot.index + 1;
    node->last_index = snapshot->as.snapshot.index;
    node->installs++;
    return 0;
}

static int apply_entry(struct meta_core_io *io, int64_t index, const struct meta_entry *entry)
{
    struct core_node *node = node_of(io);
    assert_int_equal(index, meta_core_applied_index(node->core) + 1);
    assert_int_equal(entry->term, node->log[index - node->first_index].term);
    node->applied++;
    return 0;
}

static void role_changed(struct meta_core_io *io)
{
    node_of(io)->role_changes++;
}

/* ---- nodes ---- */

struct bytes cores_members(unsigned count, unsigned voters)
{
    static uint8_t payloads[CORE_NODES + 1][CORE_NODES + 1][CORE_MEMBERS_BYTES];
    struct meta_members members = { .count = count };
    struct buffer bytes;
    for (unsigned i = 0; i < count; i++)
        members.members[i] = (struct meta_member){
            .node_id = (int32_t)i,
            .role = i < voters ? META_VOTER : META_STANDBY,
            .address = STR_LITERAL(""),
        };
    buffer_init(&bytes);
    meta_members_encode(&members, &bytes);
    assert_true(bytes.length <= sizeof payloads[0][0]);
    memcpy(payloads[count][voters], bytes.data, bytes.length);
    struct bytes payload = { payloads[count][voters], (int32_t)bytes.length };
    buffer_close(&bytes);
    return payload;
}

void cores_start(struct cores *cores, int32_t id)
{
    struct core_node *node = &cores->nodes[id];
    struct meta_core_options options = {
        .node_id = id,
        .election_timeout_ms = CORE_ELECTION_MS,
        .heartbeat_ms = CORE_HEARTBEAT_MS,
        .seed = (uint32_t)(id + 1),
        .directory_id = node->directory_id,
        .rules_off = cores->rules_off,
    };
    struct meta_members members;
    struct meta_core_stored stored = {
        .snapshot_index = node->snapshot.index,
        .snapshot_term = node->snapshot.term,
        .snapshot_members_index = node->snapshot.members_index,
        .snapshot_members = &members,
        .term = node->term,
        .voted_for = node->voted_for,
        .first_index = node->first_index,
        .last_index = node->last_index,
    };
    if (node->snapshot.index > 0)
        assert_int_equal(meta_members_decode(&members, node->snapshot.members), 0);
    node->applied = 0;
    assert_int_equal(meta_core_open(&node->core, &options, &node->io), 0);
    assert_int_equal(meta_core_start(node->core, cores->now_ms, &stored), 0);
}

void cores_crash(struct cores *cores, int32_t id)
{
    meta_core_close(cores->nodes[id].core);
    cores->nodes[id].core = NULL;
}

void cores_take_snapshot(struct cores *cores, int32_t id, int64_t first_index)
{
    struct core_node *node = &cores->nodes[id];
    struct meta_core_snapshot point;
    assert_true(meta_core_snapshot_point(node->core, &point));
    keep_snapshot(node, &point);
    assert_int_equal(
        meta_core_snapshot_taken(node->core, cores->now_ms, &node->snapshot, first_index), 0);
    int64_t cut = first_index - node->first_index;
    memmove(node->log, node->log + cut, (size_t)(CORE_ENTRIES - cut) * sizeof node->log[0]);
    node->first_index = first_index;
}

void cores_finish_install(struct cores *cores, int32_t id)
{
    struct core_node *node = &cores->nodes[id];
    assert_int_equal(meta_core_snapshot_installed(node->core, cores->now_ms), 0);
}

void cores_open(struct cores *cores, unsigned count, unsigned voters)
{
    uint32_t rules_off = cores->rules_off;
    memset(cores, 0, sizeof *cores);
    cores->rules_off = rules_off;
    current = cores;
    cores->count = count;
    cores->now_ms = 1000;
    for (unsigned i = 0; i < count; i++) {
        struct core_node *node = &cores->nodes[i];
        *node = (struct core_node){
            .io = { store_vote, append, read_entries, send_message, install, apply_entry,
                    role_changed },
            .id = (int32_t)i,
            .term = 1,
            .voted_for = META_NOBODY,
            .first_index = 1,
            .last_index = 1,
            .log = { { 1, META_ENTRY_MEMBERS, cores_members(count, voters) } },
        };
        cores_start(cores, (int32_t)i);
    }
}

void cores_close(struct cores *cores)
{
    for (unsigned i = 0; i < cores->count; i++)
        cores_crash(cores, (int32_t)i);
}

/* ---- what happens to them ---- */

void cores_persist(struct cores *cores, int32_t id)
{
    struct core_node *node = &cores->nodes[id];
    assert_int_equal(meta_core_persisted(node->core, cores->now_ms, node->newest_write), 0);
}

void cores_deliver(struct cores *cores, const struct meta_message *message)
{
    struct core_node *node = &cores->nodes[message->to];
    if (message->to >= (int32_t)cores->count || node->core == NULL) return;
    assert_int_equal(meta_core_receive(node->core, cores->now_ms, message), 0);
}

void cores_settle(struct cores *cores)
{
    bool moved = true;
    while (moved) {
        moved = false;
        while (cores->queued > 0) {
            struct core_message first = cores->queue[0];
            message_settle(&first);
            memmove(cores->queue, cores->queue + 1, --cores->queued * sizeof cores->queue[0]);
            for (unsigned i = 0; i < cores->queued; i++)
                message_settle(&cores->queue[i]);
            cores_deliver(cores, &first.message);
            moved = true;
        }
        for (unsigned i = 0; i < cores->count; i++) {
            struct meta_core *core = cores->nodes[i].core;
            if (core == NULL) continue;
            cores_persist(cores, (int32_t)i);
            if (meta_core_is_installing(core) && !cores->installs_by_hand)
                cores_finish_install(cores, (int32_t)i);
        }
        if (cores->queued > 0) moved = true;
    }
}

void cores_drop_all(struct cores *cores)
{
    cores->queued = 0;
}

void cores_tick(struct cores *cores, int32_t id)
{
    struct core_node *node = &cores->nodes[id];
    int64_t deadline_ms = meta_core_deadline_ms(node->core);
    if (deadline_ms > cores->now_ms && deadline_ms != INT64_MAX) cores->now_ms = deadline_ms;
    assert_int_equal(meta_core_tick(node->core, cores->now_ms), 0);
}

void cores_elect(struct cores *cores, int32_t id)
{
    struct core_node *node = &cores->nodes[id];
    cores->now_ms += 10 * CORE_ELECTION_MS; /* Nobody has heard of anybody. */
    for (int attempt = 0; attempt < 10 && meta_core_role(node->core) != META_LEADER; attempt++) {
        cores_tick(cores, id);
        cores_settle(cores);
    }
    assert_int_equal(meta_core_role(node->core), META_LEADER);
}

int64_t cores_submit(struct cores *cores, int32_t id)
{
    static const uint8_t payload[] = "command";
    struct meta_entry entry = { .payload = { payload, sizeof payload } };
    int64_t index = -1;
    assert_int_equal(meta_core_submit(cores->nodes[id].core, cores->now_ms, &entry, 1, &index), 0);
    return index;
}

const struct meta_message *cores_sent(const struct cores *cores, int32_t id,
                                      enum meta_message_type type)
{
    for (unsigned i = cores->queued; i > 0; i--) {
        const struct meta_message *message = &cores->queue[i - 1].message;
        if (message->from != id) continue;
        assert_int_equal(message->type, type);
        return message;
    }
    fail_msg("node %d has sent nothing", id);
    return NULL;
}

unsigned cores_sent_count(const struct cores *cores, int32_t id, enum meta_message_type type)
{
    unsigned count = 0;
    for (unsigned i = 0; i < cores->queued; i++)
        if (cores->queue[i].message.from == id && cores->queue[i].message.type == type) count++;
    return count;
}
