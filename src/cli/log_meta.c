// SPDX-License-Identifier: Apache-2.0
#include "log_meta.h"

#include "error.h"
#include "meta_batch.h"
#include "meta_command.h"
#include "meta_members.h"
#include "meta_snapshot.h"
#include "meta_vote.h"

/* What one entry may make us take: it is itself no longer than META_ENTRY_MAX_SIZE. */
#define ARENA_LIMIT ((size_t)1 << 30)

static json_t *json_of_id(const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];
    uuid_print(id, text);
    return json_string(text);
}

/* Null: none, or no text (then its bytes do not matter). */
static json_t *json_of_text(const char *text)
{
    json_t *value = text == NULL ? NULL : json_string(text);
    return value == NULL ? json_null() : value;
}

static json_t *json_of_brokers(const int32_t *brokers, unsigned count)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, json_integer(brokers[i]));
    return list;
}

/* ---- commands: one function for each row of the table in meta_command.h ---- */

static void show_bootstrap(json_t *object, const struct meta_bootstrap *command)
{
    json_t *id = json_stringn(command->cluster_id.data, (size_t)command->cluster_id.length);
    json_object_set_new(object, "cluster_id", id == NULL ? json_null() : id);
}

static void show_register_broker(json_t *object, const struct meta_register_broker *command)
{
    const struct meta_broker *broker = &command->broker;
    json_object_set_new(object, "broker", json_integer(broker->id));
    json_object_set_new(object, "rack", json_of_text(broker->rack));
    json_object_set_new(object, "fenced", json_boolean(broker->fenced));
    json_object_set_new(object, "page_cache_survived", json_boolean(command->page_cache_survived));
    json_object_set_new(object, "directory_id", json_of_id(&command->directory_id));
    json_t *endpoints = json_array();
    for (unsigned i = 0; i < broker->endpoint_count; i++) {
        const struct meta_endpoint *endpoint = &broker->endpoints[i];
        json_t *item = json_object();
        json_object_set_new(item, "listener", json_of_text(endpoint->listener));
        json_object_set_new(item, "host", json_of_text(endpoint->host));
        json_object_set_new(item, "port", json_integer(endpoint->port));
        json_array_append_new(endpoints, item);
    }
    json_object_set_new(object, "endpoints", endpoints);
}

static json_t *json_of_partitions(const struct meta_partition *all, unsigned count)
{
    json_t *partitions = json_array();
    for (unsigned i = 0; i < count; i++) {
        const struct meta_partition *partition = &all[i];
        json_t *item = json_object();
        json_object_set_new(item, "leader", json_integer(partition->leader));
        json_object_set_new(item, "leader_epoch", json_integer(partition->leader_epoch));
        json_object_set_new(item, "partition_epoch", json_integer(partition->partition_epoch));
        json_object_set_new(item, "replicas",
                            json_of_brokers(partition->replicas, partition->replica_count));
        json_object_set_new(item, "isr", json_of_brokers(partition->isr, partition->isr_count));
        json_array_append_new(partitions, item);
    }
    return partitions;
}

static void show_topic_created(json_t *object, const struct meta_topic_created *command)
{
    const struct meta_topic *topic = &command->topic;
    json_object_set_new(object, "topic", json_of_text(topic->name));
    json_object_set_new(object, "topic_id", json_of_id(&topic->id));
    json_object_set_new(object, "partitions",
                        json_of_partitions(topic->partitions, topic->partition_count));
    json_t *settings = json_object();
    for (unsigned i = 0; i < topic->setting_count; i++)
        json_object_set_new(settings, topic->settings[i].name,
                            json_of_text(topic->settings[i].value));
    json_object_set_new(object, "settings", settings);
}

static void show_topic_deleted(json_t *object, const struct meta_topic_deleted *command)
{
    json_object_set_new(object, "topic_id", json_of_id(&command->id));
}

static void show_producer_ids_taken(json_t *object, const struct meta_producer_ids_taken *command)
{
    json_object_set_new(object, "broker", json_integer(command->broker));
    json_object_set_new(object, "count", json_integer(command->count));
}

static void show_partitions_added(json_t *object, const struct meta_partitions_added *command)
{
    json_object_set_new(object, "topic_id", json_of_id(&command->topic_id));
    json_object_set_new(object, "first", json_integer(command->first));
    json_object_set_new(object, "is_by_hand", json_boolean(command->is_by_hand));
    json_object_set_new(object, "partitions",
                        json_of_partitions(command->partitions, command->count));
}

static json_t *json_of_settings_change(const struct meta_settings_change *change)
{
    static const char *const ops[] = { "set", "delete", "append", "subtract" };
    json_t *list = json_array();
    for (unsigned i = 0; i < change->count; i++) {
        const struct meta_setting_change *one = &change->changes[i];
        json_t *item = json_object();
        json_object_set_new(item, "name", json_of_text(one->name));
        json_object_set_new(item, "op", json_string(ops[one->op]));
        json_object_set_new(item, "value", json_of_text(one->value));
        if (one->list != NULL) json_object_set_new(item, "list", json_of_text(one->list));
        json_array_append_new(list, item);
    }
    return list;
}

static void show_topic_settings_changed(json_t *object,
                                        const struct meta_topic_settings_changed *command)
{
    json_object_set_new(object, "topic_id", json_of_id(&command->id));
    json_object_set_new(object, "replaces", json_boolean(command->change.replaces));
    json_object_set_new(object, "changes", json_of_settings_change(&command->change));
}

static void show_broker_settings_changed(json_t *object,
                                         const struct meta_broker_settings_changed *command)
{
    json_object_set_new(object, "broker", json_integer(command->broker));
    json_object_set_new(object, "replaces", json_boolean(command->change.replaces));
    json_object_set_new(object, "changes", json_of_settings_change(&command->change));
}

static const char *resource_type_name(enum meta_resource_type type)
{
    return type == META_RESOURCE_GROUP ? "group" : "client-metrics";
}

static void show_resource_settings_changed(json_t *object,
                                           const struct meta_resource_settings_changed *command)
{
    json_object_set_new(object, "type", json_string(resource_type_name(command->type)));
    json_object_set_new(object, "name", json_of_text(command->name));
    json_object_set_new(object, "replaces", json_boolean(command->change.replaces));
    json_object_set_new(object, "changes", json_of_settings_change(&command->change));
}

static int show_command(struct log_output *output, struct bytes payload)
{
    struct meta_command command;
    struct arena arena;
    char memory[4096];
    arena_init(&arena, memory, sizeof memory, ARENA_LIMIT);
    int err = meta_command_decode(&command, payload, &arena);
    if (err == 0 && output != NULL) {
        json_t *content = json_object();
        log_output_number(output, "version", load_i16(payload.data + 2));
        switch (command.kind) {
#define SHOW_COMMAND(number, newest, name, stem)   \
    case name:                                     \
        log_output_text(output, "command", #stem); \
        show_##stem(content, &command.as.stem);    \
        break;
            META_COMMAND_TABLE(SHOW_COMMAND)
#undef SHOW_COMMAND
        }
        log_output_json(output, "content", content);
    }
    arena_close(&arena);
    return err;
}

/* ---- the other entries ---- */

static int show_members(struct log_output *output, struct bytes payload)
{
    struct meta_members members;
    int err = meta_members_decode(&members, payload);
    if (err != 0 || output == NULL) return err;
    json_t *list = json_array();
    for (unsigned i = 0; i < members.count; i++) {
        const struct meta_member *member = &members.members[i];
        json_t *item = json_object();
        json_t *address = json_stringn(member->address.data, (size_t)member->address.length);
        json_object_set_new(item, "node_id", json_integer(member->node_id));
        json_object_set_new(item, "votes", json_boolean(member->role == META_VOTER));
        json_object_set_new(item, "directory_id", json_of_id(&member->directory_id));
        json_object_set_new(item, "address", address == NULL ? json_null() : address);
        json_array_append_new(list, item);
    }
    log_output_json(output, "members", list);
    return 0;
}

static void show_type(struct log_output *output, const char *type)
{
    if (output != NULL) log_output_text(output, "entry", type);
}

int log_meta_entry(struct log_output *output, const struct record_batch *batch,
                   const struct record *record)
{
    struct meta_entry entry;
    int err = meta_batch_read_record(batch, record, &entry);
    if (err != 0) return err;
    switch (entry.type) {
    case META_ENTRY_COMMAND:
        show_type(output, "command");
        err = show_command(output, entry.payload);
        break;
    case META_ENTRY_BARRIER:
        show_type(output, "barrier");
        err = entry.payload.length > 0 ? ERR_CORRUPT_MESSAGE : 0;
        break;
    case META_ENTRY_MEMBERS:
        show_type(output, "members");
        err = show_members(output, entry.payload);
        break;
    default: return ERR_UNSUPPORTED_VERSION;
    }
    return err == ERR_MALFORMED ? ERR_CORRUPT_MESSAGE : err;
}

/* ---- snapshots ---- */

static void show_topic(struct log_output *output, const char *kind, const struct meta_topic *topic)
{
    struct meta_topic_created command = { *topic };
    json_t *content = json_object();
    log_output_begin(output, kind);
    show_topic_created(content, &command);
    log_output_json(output, "content", content);
    log_output_end(output);
}

static void show_snapshot(struct log_output *output, const struct meta_core_snapshot *at,
                          const struct meta_state *state, const struct meta_changes *gone)
{
    struct meta_topic_cursor cursor = { 0, 0 };
    const struct meta_topic *topic;
    log_output_begin(output, "metadata");
    log_output_number(output, "index", at->index);
    log_output_number(output, "term", at->term);
    log_output_number(output, "members_index", at->members_index);
    log_output_text(output, "cluster_id", state->cluster_id);
    log_output_number(output, "next_producer_id", state->next_producer_id);
    log_output_number(output, "brokers", meta_state_broker_count(state));
    log_output_number(output, "topics", state->topic_count);
    if (show_members(output, at->members) != 0) log_output_text(output, "members", "unreadable");
    log_output_end(output);
    for (unsigned i = 0; i < meta_state_broker_count(state); i++) {
        struct meta_register_broker command = { .broker = *meta_state_broker_at(state, i) };
        json_t *content = json_object();
        log_output_begin(output, "broker");
        log_output_number(output, "incarnation", command.broker.incarnation);
        show_register_broker(content, &command);
        log_output_json(output, "content", content);
        log_output_end(output);
    }
    while ((topic = meta_state_next_topic(state, &cursor)) != NULL)
        show_topic(output, "topic", topic);
    for (unsigned i = 0; i < gone->count; i++)
        show_topic(output, "gone", gone->items[i].before);
}

int log_meta_snapshot(struct log_output *output, const void *data, size_t length)
{
    static const uint64_t hash_key[2] = { 0x736e6170, 0x73686f74 }; /* One file, no rivals. */
    struct meta_core_snapshot at;
    struct meta_state state;
    struct meta_changes gone;
    if (length > INT32_MAX) return ERR_CORRUPT_MESSAGE;
    meta_state_init(&state, hash_key);
    meta_changes_init(&gone);
    int err = meta_snapshot_decode((struct bytes){ data, (int32_t)length }, &at, &state, &gone);
    if (err == 0 && output != NULL) show_snapshot(output, &at, &state, &gone);
    meta_changes_close(&gone);
    meta_state_close(&state);
    return err;
}

/* ---- quorum-state ---- */

bool log_meta_vote(struct log_output *output, const void *data, size_t length)
{
    bool all = true;
    for (size_t i = 0; i < META_VOTE_COPIES; i++) {
        size_t at = i * META_VOTE_COPY_SPACING;
        struct meta_vote_copy copy;
        if (i == 2 && length <= at) break; /* A file of before the third. */
        bool is_whole = length >= at + META_VOTE_COPY_SIZE &&
                        meta_vote_read_copy(&copy, (int)i, (const uint8_t *)data + at);
        all = all && is_whole;
        log_output_begin(output, "vote");
        log_output_number(output, "position", (int64_t)at);
        log_output_truth(output, "whole", is_whole);
        if (is_whole) {
            log_output_number(output, "sequence", copy.sequence);
            log_output_number(output, "term", copy.term);
            log_output_number(output, "voted_for", copy.voted_for);
            log_output_number(output, "persisted_index", copy.persisted_index);
        }
        log_output_end(output);
    }
    return all;
}
