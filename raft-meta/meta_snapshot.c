// SPDX-License-Identifier: Apache-2.0
#include "meta_snapshot.h"

#include "crc32c.h"
#include "cursor.h"
#include "error.h"
#include "meta_command.h"
#include "meta_entry.h"
#include "topic_settings.h"

#define SNAPSHOT_VERSION 1
#define CRC_AT           8
#define CRC_FROM         12

static const char magic[4] = { 'S', 'L', 'S', 'N' };

/* ---- encode ---- */

/* A length, then what `command` comes to. */
static void put_command(const struct meta_command *command, struct buffer *out)
{
    size_t at = out->length;
    buffer_i32(out, 0);
    meta_command_encode(command, out);
    if (!out->failed) store_i32(out->data + at, (int32_t)(out->length - at - 4));
}

static void put_topic(const struct meta_topic *topic, struct buffer *out)
{
    struct meta_command command = { .kind = META_TOPIC_CREATED };
    command.as.topic_created.topic = *topic;
    put_command(&command, out);
}

static void put_broker(const struct meta_broker *broker, struct buffer *out)
{
    struct meta_command command = { .kind = META_REGISTER_BROKER };
    command.as.register_broker.broker = *broker;
    command.as.register_broker.page_cache_survived = true; /* Its epochs are raised already. */
    buffer_i64(out, broker->incarnation);
    put_command(&command, out);
}

/* `command` with the change that sets these; `change` is the place for it inside of the command. */
static void put_settings(struct meta_command *command, struct meta_settings_change *change,
                         const struct meta_setting *settings, unsigned count, struct buffer *out)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    struct meta_setting_change *changes = arena_calloc(&arena, count, sizeof *changes);
    for (unsigned i = 0; changes != NULL && i < count; i++)
        changes[i] = (struct meta_setting_change){ .name = settings[i].name,
                                                   .op = META_SETTING_SET,
                                                   .value = settings[i].value };
    *change = (struct meta_settings_change){ .changes = changes, .count = count };
    buffer_i64(out, 0);
    if (changes == NULL)
        out->failed = true;
    else
        put_command(command, out);
    arena_close(&arena);
}

static void put_broker_settings(const struct meta_broker_settings *settings, struct buffer *out)
{
    struct meta_command command = { .kind = META_BROKER_SETTINGS_CHANGED };
    command.as.broker_settings_changed.broker = settings->broker;
    put_settings(&command, &command.as.broker_settings_changed.change, settings->settings,
                 settings->count, out);
}

static void put_resource(const struct meta_resource *resource, struct buffer *out)
{
    struct meta_command command = { .kind = META_RESOURCE_SETTINGS_CHANGED };
    command.as.resource_settings_changed.type = resource->type;
    command.as.resource_settings_changed.name = resource->name;
    put_settings(&command, &command.as.resource_settings_changed.change, resource->settings,
                 resource->setting_count, out);
}

static void put_state(const struct meta_state *state, struct buffer *out)
{
    struct meta_topic_cursor cursor = { 0, 0 };
    struct meta_resource_cursor resource_cursor = { 0, 0 };
    const struct meta_topic *topic;
    const struct meta_resource *resource;
    unsigned broker_count = meta_state_broker_count(state);
    bool has_cluster = state->cluster_id[0] != '\0';
    buffer_i64(out, state->next_producer_id);
    unsigned settings_count = meta_broker_settings_count(state->broker_settings);
    buffer_i32(out, (int32_t)(broker_count + settings_count + state->resources.count +
                              state->topic_count + (has_cluster ? 1 : 0)));
    if (has_cluster) {
        struct meta_command command = { .kind = META_BOOTSTRAP };
        command.as.bootstrap.cluster_id = str_from(state->cluster_id);
        buffer_i64(out, 0);
        put_command(&command, out);
    }
    for (unsigned i = 0; i < broker_count; i++)
        put_broker(meta_state_broker_at(state, i), out);
    for (unsigned i = 0; i < settings_count; i++)
        put_broker_settings(meta_broker_settings_at(state->broker_settings, i), out);
    while ((resource = meta_resources_next(&state->resources, &resource_cursor)) != NULL)
        put_resource(resource, out);
    while ((topic = meta_state_next_topic(state, &cursor)) != NULL) {
        buffer_i64(out, 0);
        put_topic(topic, out);
    }
}

void meta_snapshot_encode(const struct meta_core_snapshot *at, const struct meta_state *state,
                          const struct meta_changes *gone, struct buffer *out)
{
    size_t start = out->length;
    buffer_put(out, magic, sizeof magic);
    buffer_i16(out, SNAPSHOT_VERSION);
    buffer_i16(out, 0);
    buffer_i32(out, 0);
    buffer_i64(out, at->index);
    buffer_i64(out, at->term);
    buffer_i64(out, at->members_index);
    buffer_i32(out, at->members.length);
    buffer_put(out, at->members.data, (size_t)at->members.length);
    put_state(state, out);
    buffer_i32(out, (int32_t)gone->count);
    for (unsigned i = 0; i < gone->count; i++)
        put_topic(gone->items[i].before, out);
    if (out->failed) return;
    uint8_t *image = out->data + start;
    store_i32(image + CRC_AT, (int32_t)crc32c(image + CRC_FROM, out->length - start - CRC_FROM));
}

/* ---- decode ---- */

static struct bytes take_bytes(struct cursor *in)
{
    int32_t length = cursor_i32(in);
    const uint8_t *data = in->bad || length < 0 ? NULL : cursor_take(in, (size_t)length);
    if (data == NULL) in->bad = true;
    return data == NULL ? BYTES_NULL : (struct bytes){ data, length };
}

static int take_head(struct cursor *in, struct meta_core_snapshot *at)
{
    struct meta_members members;
    const uint8_t *found = cursor_take(in, sizeof magic);
    int16_t version = cursor_i16(in);
    cursor_i16(in);
    uint32_t crc = cursor_u32(in);
    if (in->bad || memcmp(found, magic, sizeof magic) != 0 ||
        crc != crc32c(in->at, cursor_left(in)))
        return ERR_CORRUPT_MESSAGE;
    if (version != SNAPSHOT_VERSION) return ERR_UNSUPPORTED_VERSION;
    at->index = cursor_i64(in);
    at->term = cursor_i64(in);
    at->members_index = cursor_i64(in);
    at->members = take_bytes(in);
    if (in->bad || at->index < 1 || at->term < 1 || at->term > META_MAX_TERM ||
        at->index > META_MAX_INDEX || at->members_index < 1 || at->members_index > at->index ||
        meta_members_decode(&members, at->members) != 0)
        return ERR_CORRUPT_MESSAGE;
    return 0;
}

/* One command, which must do what it says. */
static int take_command(struct cursor *in, struct meta_state *state)
{
    struct meta_outcome outcome;
    int64_t index = cursor_i64(in);
    struct meta_entry entry = {
        .term = 1,
        .type = META_ENTRY_COMMAND,
        .payload = take_bytes(in),
    };
    if (in->bad || index < 0 || index > META_MAX_INDEX) return ERR_CORRUPT_MESSAGE;
    int err = meta_apply(state, index, &entry, NULL, &outcome);
    if (err != 0) return err == ERR_MALFORMED ? ERR_CORRUPT_MESSAGE : err;
    if (outcome.err != 0) err = ERR_CORRUPT_MESSAGE;
    meta_outcome_close(&outcome);
    return err;
}

static int take_gone(struct cursor *in, struct meta_changes *gone)
{
    struct meta_command command;
    struct arena arena;
    struct bytes payload = take_bytes(in);
    if (in->bad) return ERR_CORRUPT_MESSAGE;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    int err = meta_command_decode(&command, payload, &arena);
    if (err == ERR_MALFORMED || (err == 0 && command.kind != META_TOPIC_CREATED))
        err = ERR_CORRUPT_MESSAGE;
    /* Its name becomes part of a path. */
    if (err == 0 && !topic_name_is_legal(str_from(command.as.topic_created.topic.name)))
        err = ERR_CORRUPT_MESSAGE;
    struct meta_topic *topic = err == 0 ? meta_topic_copy(&command.as.topic_created.topic) : NULL;
    arena_close(&arena);
    if (err != 0) return err;
    if (topic == NULL) return ERR_NO_MEMORY;
    err = meta_changes_add(gone, topic, NULL);
    meta_topic_unref(topic);
    return err;
}

int meta_snapshot_decode(struct bytes image, struct meta_core_snapshot *at,
                         struct meta_state *state, struct meta_changes *gone)
{
    if (image.length < 0) return ERR_CORRUPT_MESSAGE;
    struct cursor in = cursor_over(image.data, (size_t)image.length);
    int err = take_head(&in, at);
    if (err != 0) return err;
    int64_t next_producer_id = cursor_i64(&in);
    int32_t count = cursor_i32(&in);
    if (in.bad || next_producer_id < 0 || count < 0) return ERR_CORRUPT_MESSAGE;
    for (int32_t i = 0; err == 0 && i < count; i++)
        err = take_command(&in, state);
    int32_t gone_count = err == 0 ? cursor_i32(&in) : 0;
    for (int32_t i = 0; err == 0 && i < gone_count; i++)
        err = take_gone(&in, gone);
    if (err == 0 && (in.bad || gone_count < 0 || cursor_left(&in) != 0)) err = ERR_CORRUPT_MESSAGE;
    if (err != 0) return err;
    state->index = at->index;
    state->term = at->term;
    state->next_producer_id = next_producer_id;
    return 0;
}
