// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "meta_command.h"
#include "meta_fixture.h"
#include "meta_members.h"

static const int32_t brokers[] = { 3, 1, 2 };
static const struct meta_partition partitions[] = {
    { 3, 4, 5, brokers, 3, brokers, 2 },
    { META_NOBODY, 0, 0, brokers + 1, 1, brokers + 1, 1 },
};
static const struct meta_setting settings[] = { { "cleanup.policy", "compact" },
                                                { "retention.ms", "" } };
static const struct meta_endpoint endpoints[] = { { "INSIDE", "10.0.0.1", 9092 },
                                                  { "OUTSIDE", "broker.example", 65535 } };

static const struct meta_setting_change setting_changes[] = {
    { "cleanup.policy", META_SETTING_APPEND, "compact", "delete" },
    { "retention.ms", META_SETTING_SET, "5", NULL },
    { "segment.ms", META_SETTING_DELETE, NULL, NULL },
};

#define EVERY_KIND 9

/* One of each, with all that it may have. */
static void command_of_each_kind(struct meta_command commands[EVERY_KIND])
{
    memset(commands, 0, EVERY_KIND * sizeof commands[0]);
    commands[0].kind = META_BOOTSTRAP;
    commands[0].as.bootstrap.cluster_id = STR_LITERAL("Kq2vWcVfQnKeHoOgZf3xcA");
    commands[1].kind = META_REGISTER_BROKER;
    commands[1].as.register_broker = (struct meta_register_broker){
        .broker = { .id = 7,
                    .rack = "rack-1",
                    .fenced = true,
                    .endpoints = endpoints,
                    .endpoint_count = 2 },
        .directory_id = id_of(99),
        .page_cache_survived = true,
    };
    commands[2].kind = META_TOPIC_CREATED;
    commands[2].as.topic_created.topic = (struct meta_topic){
        id_of(5), "orders", 2, partitions, settings, 2,
    };
    commands[3].kind = META_TOPIC_DELETED;
    commands[3].as.topic_deleted.id = id_of(6);
    commands[4].kind = META_PRODUCER_IDS_TAKEN;
    commands[4].as.producer_ids_taken = (struct meta_producer_ids_taken){ 7, 1000 };
    commands[7].kind = META_PARTITIONS_ADDED;
    commands[7].as.partitions_added = (struct meta_partitions_added){
        .topic_id = id_of(5), .first = 2, .is_by_hand = true, .partitions = partitions, .count = 2
    };
    commands[5].kind = META_TOPIC_SETTINGS_CHANGED;
    commands[5].as.topic_settings_changed = (struct meta_topic_settings_changed){
        id_of(6), { .replaces = true, .changes = setting_changes, .count = 3 }
    };
    commands[6].kind = META_BROKER_SETTINGS_CHANGED;
    commands[6].as.broker_settings_changed = (struct meta_broker_settings_changed){
        META_EVERY_BROKER, { .changes = setting_changes, .count = 3 }
    };
    commands[8].kind = META_RESOURCE_SETTINGS_CHANGED;
    commands[8].as.resource_settings_changed = (struct meta_resource_settings_changed){
        META_RESOURCE_GROUP, "payments", { .changes = setting_changes, .count = 3 }
    };
}

TEST(every_command_survives_its_bytes)
{
    struct meta_command commands[EVERY_KIND];
    command_of_each_kind(commands);
    for (unsigned i = 0; i < EVERY_KIND; i++) {
        struct buffer first, second;
        struct meta_command decoded;
        struct arena arena;
        buffer_init(&first);
        buffer_init(&second);
        arena_init(&arena, NULL, 0, SIZE_MAX);
        meta_command_encode(&commands[i], &first);
        assert_int_equal(meta_command_decode(&decoded, bytes_in(&first), &arena), 0);
        assert_int_equal(decoded.kind, commands[i].kind);
        meta_command_encode(&decoded, &second);
        assert_int_equal(first.length, second.length);
        assert_memory_equal(first.data, second.data, first.length);
        arena_close(&arena);
        buffer_close(&first);
        buffer_close(&second);
    }
}

TEST(fields_come_back_as_they_were)
{
    struct meta_command commands[EVERY_KIND], decoded;
    struct buffer bytes;
    struct arena arena;
    command_of_each_kind(commands);
    buffer_init(&bytes);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    meta_command_encode(&commands[1], &bytes);
    assert_int_equal(meta_command_decode(&decoded, bytes_in(&bytes), &arena), 0);
    const struct meta_broker *broker = &decoded.as.register_broker.broker;
    assert_int_equal(broker->id, 7);
    assert_string_equal(broker->rack, "rack-1");
    assert_true(broker->fenced);
    assert_string_equal(broker->endpoints[1].host, "broker.example");
    assert_int_equal(broker->endpoints[1].port, 65535);

    bytes.length = 0;
    meta_command_encode(&commands[2], &bytes);
    assert_int_equal(meta_command_decode(&decoded, bytes_in(&bytes), &arena), 0);
    const struct meta_topic *topic = &decoded.as.topic_created.topic;
    assert_string_equal(topic->name, "orders");
    assert_int_equal(topic->partitions[0].leader_epoch, 4);
    assert_memory_equal(topic->partitions[0].replicas, brokers, sizeof brokers);
    assert_int_equal(topic->partitions[1].leader, META_NOBODY);
    assert_string_equal(topic->settings[1].value, "");
    arena_close(&arena);
    buffer_close(&bytes);
}

/* The bytes are given in a piece of memory of their own length, so that a sanitizer sees more. */
static int decode_copy(const uint8_t *data, size_t length)
{
    struct meta_command decoded;
    struct arena arena;
    uint8_t *copy = mem_dup(data, length);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    int err = meta_command_decode(&decoded, (struct bytes){ copy, (int32_t)length }, &arena);
    arena_close(&arena);
    mem_free(copy);
    return err;
}

TEST(a_command_that_is_too_short_or_too_long_is_refused)
{
    struct meta_command commands[EVERY_KIND];
    command_of_each_kind(commands);
    for (unsigned i = 0; i < EVERY_KIND; i++) {
        struct buffer bytes;
        buffer_init(&bytes);
        meta_command_encode(&commands[i], &bytes);
        for (size_t length = 0; length < bytes.length; length++)
            assert_int_equal(decode_copy(bytes.data, length), ERR_MALFORMED);
        buffer_i8(&bytes, 0);
        assert_int_equal(decode_copy(bytes.data, bytes.length), ERR_MALFORMED);
        buffer_close(&bytes);
    }
}

TEST(no_changed_byte_does_harm)
{
    struct meta_command commands[EVERY_KIND];
    command_of_each_kind(commands);
    for (unsigned i = 0; i < EVERY_KIND; i++) {
        struct buffer bytes;
        buffer_init(&bytes);
        meta_command_encode(&commands[i], &bytes);
        for (size_t at = 0; at < bytes.length; at++)
            for (int value = 0; value < 256; value += 5) {
                uint8_t kept = bytes.data[at];
                bytes.data[at] = (uint8_t)value;
                decode_copy(bytes.data, bytes.length);
                bytes.data[at] = kept;
            }
        buffer_close(&bytes);
    }
}

TEST(a_kind_or_version_that_we_do_not_know_is_told_apart)
{
    static const uint8_t unknown_kind[] = { 0, 99, 0, 1 };
    static const uint8_t newer_version[] = { 0, 5, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const uint8_t no_version[] = { 0, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1 };
    assert_int_equal(decode_copy(unknown_kind, sizeof unknown_kind), ERR_UNSUPPORTED_VERSION);
    assert_int_equal(decode_copy(newer_version, sizeof newer_version), ERR_UNSUPPORTED_VERSION);
    assert_int_equal(decode_copy(no_version, sizeof no_version), ERR_UNSUPPORTED_VERSION);
}

TEST(the_bytes_of_a_command_do_not_change)
{
    static const uint8_t expected[] = {
        0,    3, 0,   1,                                     /* topic created, version 1 */
        0x11, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, /* id */
        0,    1, 'a',                                        /* name */
        0,    0, 0,   1,                                     /* partitions */
        0,    0, 0,   3, 0, 0, 0, 4, 0, 0, 0, 5, /* leader, leader epoch, partition epoch */
        0,    0, 0,   2, 0, 0, 0, 3, 0, 0, 0, 1, /* replicas */
        0,    0, 0,   1, 0, 0, 0, 3,             /* isr */
        0,    0, 0,   0,                         /* settings */
    };
    struct meta_partition partition = { 3, 4, 5, brokers, 2, brokers, 1 };
    struct meta_command command = {
        .kind = META_TOPIC_CREATED,
        .as.topic_created.topic = { id_of(5), "a", 1, &partition, NULL, 0 },
    };
    struct buffer bytes;
    buffer_init(&bytes);
    meta_command_encode(&command, &bytes);
    assert_int_equal(bytes.length, sizeof expected);
    assert_memory_equal(bytes.data, expected, sizeof expected);
    buffer_close(&bytes);
}

TEST(the_bytes_of_a_groups_settings_do_not_change)
{
    static const uint8_t expected[] = {
        0,  9, 0,   1,        /* resource settings changed, version 1 */
        32,                   /* a group */
        0,  1, 'g',           /* name */
        1,                    /* replaces */
        0,  0, 0,   1,        /* changes */
        0,  1, 's', 0,        /* name, set */
        0,  1, '5', 255, 255, /* value, no list */
    };
    static const struct meta_setting_change change = { "s", META_SETTING_SET, "5", NULL };
    struct meta_command command = {
        .kind = META_RESOURCE_SETTINGS_CHANGED,
        .as.resource_settings_changed = { META_RESOURCE_GROUP, "g", { true, &change, 1 } },
    };
    struct buffer bytes;
    buffer_init(&bytes);
    meta_command_encode(&command, &bytes);
    assert_int_equal(bytes.length, sizeof expected);
    assert_memory_equal(bytes.data, expected, sizeof expected);
    bytes.data[4] = 8; /* No such type. */
    assert_int_equal(decode_copy(bytes.data, bytes.length), ERR_MALFORMED);
    bytes.data[4] = META_RESOURCE_CLIENT_METRICS;
    assert_int_equal(decode_copy(bytes.data, bytes.length), 0);

    bytes.length = 0;
    command.as.resource_settings_changed.name = "";
    meta_command_encode(&command, &bytes);
    assert_int_equal(decode_copy(bytes.data, bytes.length), ERR_MALFORMED);
    buffer_close(&bytes);
}

TEST(a_count_that_the_bytes_cannot_hold_allocates_nothing)
{
    uint8_t bytes[4 + 16 + 3 + 4] = { 0, 3, 0, 1 };
    struct meta_command decoded;
    struct arena arena;
    bytes[20] = 0, bytes[21] = 1, bytes[22] = 'a';
    store_i32(bytes + 23, 100000000);
    arena_init(&arena, NULL, 0, 4096); /* Anything large would be ERR_NO_MEMORY. */
    assert_int_equal(meta_command_decode(&decoded, (struct bytes){ bytes, sizeof bytes }, &arena),
                     ERR_MALFORMED);
    arena_close(&arena);
}

TEST(members_survive_their_bytes_and_every_truncation_is_refused)
{
    struct meta_members members = { .count = 3 }, decoded;
    struct buffer bytes;
    for (int i = 0; i < 3; i++)
        members.members[i] = (struct meta_member){ i * 2, i == 2 ? META_STANDBY : META_VOTER,
                                                   id_of((uint32_t)i), STR_LITERAL("host:9093") };
    buffer_init(&bytes);
    meta_members_encode(&members, &bytes);
    assert_int_equal(meta_members_decode(&decoded, bytes_in(&bytes)), 0);
    assert_int_equal(decoded.count, 3);
    assert_int_equal(meta_members_voter_count(&decoded), 2);
    assert_true(str_equals_text(meta_members_find(&decoded, 4)->address, "host:9093"));
    assert_null(meta_members_find(&decoded, 3));
    for (size_t length = 0; length < bytes.length; length++) {
        struct bytes cut = { bytes.data, (int32_t)length };
        assert_int_equal(meta_members_decode(&decoded, cut), ERR_MALFORMED);
    }
    store_i32(bytes.data + 3, 3); /* Not ascending any more. */
    assert_int_equal(meta_members_decode(&decoded, bytes_in(&bytes)), ERR_MALFORMED);
    buffer_close(&bytes);
}
