// SPDX-License-Identifier: Apache-2.0
#include "meta_command.h"

#include <limits.h>

#include "cursor.h"
#include "error.h"
#include "meta_text.h"

/* A reader of fields: bytes, and where what they describe is put. */
struct command_reader {
    struct cursor in;
    struct arena *arena;
    int err; /* ERR_NO_MEMORY; what does not fit marks the cursor. */
};

/* ---- fields ---- */

static void put_id(struct buffer *out, const struct uuid *id)
{
    buffer_put(out, id->bytes, sizeof id->bytes);
}

static void put_brokers(struct buffer *out, const int32_t *brokers, unsigned count)
{
    buffer_i32(out, (int32_t)count);
    for (unsigned i = 0; i < count; i++)
        buffer_i32(out, brokers[i]);
}

static void put_text(struct buffer *out, const char *text)
{
    meta_text_put(out, str_from(text));
}

static void take_id(struct command_reader *reader, struct uuid *id)
{
    const uint8_t *bytes = cursor_take(&reader->in, sizeof id->bytes);
    if (bytes != NULL) memcpy(id->bytes, bytes, sizeof id->bytes);
}

static bool take_truth(struct command_reader *reader)
{
    int8_t value = cursor_i8(&reader->in);
    if (value != 0 && value != 1) reader->in.bad = true;
    return value == 1;
}

/* At least `low`, or bad. */
static int32_t take_number(struct command_reader *reader, int32_t low)
{
    int32_t value = cursor_i32(&reader->in);
    if (value < low) reader->in.bad = true;
    return value;
}

static const char *take_text(struct command_reader *reader, bool may_be_null)
{
    struct str from = meta_text_take(&reader->in, may_be_null);
    struct str copy = STR_NULL;
    if (reader->in.bad || str_is_null(from)) return may_be_null ? NULL : "";
    if (reader->err == 0) reader->err = arena_str(reader->arena, from, &copy);
    return reader->err == 0 ? copy.data : "";
}

/* An array of elements of which each takes at least `least` bytes: no allocation is larger than the
 * bytes that are there ask for. */
static void *take_array(struct command_reader *reader, size_t least, size_t element_size,
                        unsigned *count)
{
    int32_t wanted = cursor_i32(&reader->in);
    *count = 0;
    if (reader->in.bad || wanted < 0 || (size_t)wanted > cursor_left(&reader->in) / least) {
        reader->in.bad = true;
        return NULL;
    }
    void *elements = arena_calloc(reader->arena, (size_t)wanted, element_size);
    if (elements == NULL && wanted > 0)
        reader->err = ERR_NO_MEMORY;
    else
        *count = (unsigned)wanted;
    return elements;
}

static const int32_t *take_brokers(struct command_reader *reader, unsigned *count)
{
    int32_t *brokers = take_array(reader, sizeof *brokers, sizeof *brokers, count);
    for (unsigned i = 0; i < *count; i++)
        brokers[i] = take_number(reader, 0);
    return brokers;
}

/* ---- bootstrap ---- */

static void encode_bootstrap(const struct meta_bootstrap *bootstrap, struct buffer *out)
{
    meta_text_put(out, bootstrap->cluster_id);
}

static void decode_bootstrap(struct meta_bootstrap *bootstrap, struct command_reader *reader)
{
    bootstrap->cluster_id = meta_text_take(&reader->in, false);
    if (bootstrap->cluster_id.length < 1 || bootstrap->cluster_id.length >= META_CLUSTER_ID_SIZE)
        reader->in.bad = true;
}

/* ---- register_broker ---- */

static void encode_register_broker(const struct meta_register_broker *command, struct buffer *out)
{
    const struct meta_broker *broker = &command->broker;
    buffer_i32(out, broker->id);
    put_text(out, broker->rack);
    buffer_i8(out, broker->fenced);
    buffer_i8(out, command->page_cache_survived);
    put_id(out, &command->directory_id);
    buffer_i32(out, (int32_t)broker->endpoint_count);
    for (unsigned i = 0; i < broker->endpoint_count; i++) {
        put_text(out, broker->endpoints[i].listener);
        put_text(out, broker->endpoints[i].host);
        buffer_i16(out, (int16_t)broker->endpoints[i].port);
    }
}

static void decode_register_broker(struct meta_register_broker *command,
                                   struct command_reader *reader)
{
    struct meta_broker *broker = &command->broker;
    broker->id = take_number(reader, 0);
    broker->rack = take_text(reader, true);
    broker->fenced = take_truth(reader);
    command->page_cache_survived = take_truth(reader);
    take_id(reader, &command->directory_id);
    struct meta_endpoint *endpoints = take_array(reader, 6, sizeof *endpoints,
                                                 &broker->endpoint_count);
    for (unsigned i = 0; i < broker->endpoint_count; i++) {
        endpoints[i].listener = take_text(reader, false);
        endpoints[i].host = take_text(reader, false);
        endpoints[i].port = cursor_u16(&reader->in);
    }
    broker->endpoints = endpoints;
}

/* ---- partitions ---- */

static void put_partitions(struct buffer *out, const struct meta_partition *partitions,
                           unsigned count)
{
    buffer_i32(out, (int32_t)count);
    for (unsigned i = 0; i < count; i++) {
        buffer_i32(out, partitions[i].leader);
        buffer_i32(out, partitions[i].leader_epoch);
        buffer_i32(out, partitions[i].partition_epoch);
        put_brokers(out, partitions[i].replicas, partitions[i].replica_count);
        put_brokers(out, partitions[i].isr, partitions[i].isr_count);
    }
}

static const struct meta_partition *take_partitions(struct command_reader *reader, unsigned *count)
{
    struct meta_partition *partitions = take_array(reader, 20, sizeof *partitions, count);
    for (unsigned i = 0; i < *count && !reader->in.bad && reader->err == 0; i++) {
        partitions[i].leader = take_number(reader, -1);
        partitions[i].leader_epoch = take_number(reader, 0);
        partitions[i].partition_epoch = take_number(reader, 0);
        partitions[i].replicas = take_brokers(reader, &partitions[i].replica_count);
        partitions[i].isr = take_brokers(reader, &partitions[i].isr_count);
    }
    return partitions;
}

/* ---- topic_created ---- */

static void encode_topic_created(const struct meta_topic_created *command, struct buffer *out)
{
    const struct meta_topic *topic = &command->topic;
    put_id(out, &topic->id);
    put_text(out, topic->name);
    put_partitions(out, topic->partitions, topic->partition_count);
    buffer_i32(out, (int32_t)topic->setting_count);
    for (unsigned i = 0; i < topic->setting_count; i++) {
        put_text(out, topic->settings[i].name);
        put_text(out, topic->settings[i].value);
    }
}

static void decode_topic_created(struct meta_topic_created *command, struct command_reader *reader)
{
    struct meta_topic *topic = &command->topic;
    take_id(reader, &topic->id);
    topic->name = take_text(reader, false);
    topic->partitions = take_partitions(reader, &topic->partition_count);
    struct meta_setting *settings = take_array(reader, 4, sizeof *settings, &topic->setting_count);
    for (unsigned i = 0; i < topic->setting_count; i++) {
        settings[i].name = take_text(reader, false);
        settings[i].value = take_text(reader, false);
    }
    topic->settings = settings;
}

/* ---- topic_deleted, producer_ids_taken ---- */

static void encode_topic_deleted(const struct meta_topic_deleted *command, struct buffer *out)
{
    put_id(out, &command->id);
}

static void decode_topic_deleted(struct meta_topic_deleted *command, struct command_reader *reader)
{
    take_id(reader, &command->id);
}

static void encode_producer_ids_taken(const struct meta_producer_ids_taken *command,
                                      struct buffer *out)
{
    buffer_i32(out, command->broker);
    buffer_i32(out, command->count);
}

static void decode_producer_ids_taken(struct meta_producer_ids_taken *command,
                                      struct command_reader *reader)
{
    command->broker = take_number(reader, 0);
    command->count = take_number(reader, 1);
}

/* ---- partitions_added ---- */

static void encode_partitions_added(const struct meta_partitions_added *command, struct buffer *out)
{
    put_id(out, &command->topic_id);
    buffer_i32(out, command->first);
    buffer_i8(out, command->is_by_hand);
    put_partitions(out, command->partitions, command->count);
}

static void decode_partitions_added(struct meta_partitions_added *command,
                                    struct command_reader *reader)
{
    take_id(reader, &command->topic_id);
    command->first = take_number(reader, 1);
    command->is_by_hand = take_truth(reader);
    command->partitions = take_partitions(reader, &command->count);
}

/* ---- topic_settings_changed, broker_settings_changed, resource_settings_changed ---- */

static void put_settings_change(struct buffer *out, const struct meta_settings_change *change)
{
    buffer_i8(out, change->replaces);
    buffer_i32(out, (int32_t)change->count);
    for (unsigned i = 0; i < change->count; i++) {
        put_text(out, change->changes[i].name);
        buffer_i8(out, (int8_t)change->changes[i].op);
        put_text(out, change->changes[i].value);
        put_text(out, change->changes[i].list);
    }
}

static void take_settings_change(struct command_reader *reader, struct meta_settings_change *change)
{
    change->replaces = take_truth(reader);
    struct meta_setting_change *changes = take_array(reader, 7, sizeof *changes, &change->count);
    for (unsigned i = 0; i < change->count; i++) {
        changes[i].name = take_text(reader, false);
        int8_t op = cursor_i8(&reader->in);
        changes[i].value = take_text(reader, op == META_SETTING_DELETE);
        changes[i].list = take_text(reader, true);
        if (op < META_SETTING_SET || op > META_SETTING_SUBTRACT) reader->in.bad = true;
        changes[i].op = op;
    }
    change->changes = changes;
}

static void encode_topic_settings_changed(const struct meta_topic_settings_changed *command,
                                          struct buffer *out)
{
    put_id(out, &command->id);
    put_settings_change(out, &command->change);
}

static void decode_topic_settings_changed(struct meta_topic_settings_changed *command,
                                          struct command_reader *reader)
{
    take_id(reader, &command->id);
    take_settings_change(reader, &command->change);
}

static void encode_broker_settings_changed(const struct meta_broker_settings_changed *command,
                                           struct buffer *out)
{
    buffer_i32(out, command->broker);
    put_settings_change(out, &command->change);
}

static void decode_broker_settings_changed(struct meta_broker_settings_changed *command,
                                           struct command_reader *reader)
{
    command->broker = take_number(reader, META_EVERY_BROKER);
    take_settings_change(reader, &command->change);
}

static void encode_resource_settings_changed(const struct meta_resource_settings_changed *command,
                                             struct buffer *out)
{
    buffer_i8(out, (int8_t)command->type);
    put_text(out, command->name);
    put_settings_change(out, &command->change);
}

static void decode_resource_settings_changed(struct meta_resource_settings_changed *command,
                                             struct command_reader *reader)
{
    int8_t type = cursor_i8(&reader->in);
    if (type == META_RESOURCE_GROUP || type == META_RESOURCE_CLIENT_METRICS)
        command->type = type;
    else
        reader->in.bad = true;
    command->name = take_text(reader, false);
    if (command->name[0] == '\0') reader->in.bad = true;
    take_settings_change(reader, &command->change);
}

/* ---- all ---- */

void meta_command_encode(const struct meta_command *command, struct buffer *out)
{
    buffer_i16(out, (int16_t)command->kind);
    switch (command->kind) {
#define META_COMMAND_ENCODE(kind, version, name, stem) \
    case name:                                         \
        buffer_i16(out, version);                      \
        encode_##stem(&command->as.stem, out);         \
        break;
        META_COMMAND_TABLE(META_COMMAND_ENCODE)
#undef META_COMMAND_ENCODE
    }
}

int meta_command_decode(struct meta_command *command, struct bytes payload, struct arena *arena)
{
    if (payload.length < 4) return ERR_MALFORMED;
    struct command_reader reader = { .arena = arena };
    struct meta_command found;
    memset(&found, 0, sizeof found);
    reader.in = cursor_over(payload.data, (size_t)payload.length);
    int16_t kind = cursor_i16(&reader.in);
    int16_t version = cursor_i16(&reader.in);
    switch (kind) {
#define META_COMMAND_DECODE(number, newest, name, stem)                      \
    case number:                                                             \
        if (version < 1 || version > newest) return ERR_UNSUPPORTED_VERSION; \
        found.kind = name;                                                   \
        decode_##stem(&found.as.stem, &reader);                              \
        break;
        META_COMMAND_TABLE(META_COMMAND_DECODE)
#undef META_COMMAND_DECODE
    default: return ERR_UNSUPPORTED_VERSION;
    }
    if (reader.err != 0) return reader.err;
    if (reader.in.bad || cursor_left(&reader.in) != 0) return ERR_MALFORMED;
    *command = found;
    return 0;
}
