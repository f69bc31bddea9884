// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "alloc.h"
#include "crc32c.h"
#include "error.h"
#include "fs_fault.h"
#include "meta_snapshot.h"

static const uint64_t hash_key[2] = { 3, 4 };

static struct buffer members_bytes;

static struct meta_core_snapshot point_at(int64_t index)
{
    struct meta_members members = { .count = 1 };
    members.members[0] = (struct meta_member){ .node_id = 1,
                                               .role = META_VOTER,
                                               .address = STR_LITERAL("") };
    buffer_close(&members_bytes);
    buffer_init(&members_bytes);
    meta_members_encode(&members, &members_bytes);
    return (struct meta_core_snapshot){
        .index = index,
        .term = 5,
        .members_index = 1,
        .members = { members_bytes.data, (int32_t)members_bytes.length },
    };
}

static void apply(struct meta_state *state, const struct meta_command *command)
{
    struct meta_outcome outcome;
    struct buffer bytes;
    buffer_init(&bytes);
    meta_command_encode(command, &bytes);
    struct meta_entry entry = { 5, META_ENTRY_COMMAND, { bytes.data, (int32_t)bytes.length } };
    assert_int_equal(meta_apply(state, state->index + 1, &entry, NULL, &outcome), 0);
    assert_int_equal(outcome.err, 0);
    meta_outcome_close(&outcome);
    buffer_close(&bytes);
}

static struct meta_topic topic_of(const char *name, uint8_t id)
{
    static const int32_t brokers[] = { 1, 2 };
    static const struct meta_partition partitions[] = {
        { .leader = 1, .leader_epoch = 7, .partition_epoch = 9, brokers, 2, brokers, 1 },
        { .leader = 2, .leader_epoch = 0, .partition_epoch = 0, brokers, 2, brokers, 2 },
    };
    static const struct meta_setting settings[] = { { "retention.ms", "1000" } };
    return (struct meta_topic){
        .id = { { id, 1 } },
        .name = name,
        .partition_count = 2,
        .partitions = partitions,
        .settings = settings,
        .setting_count = 1,
    };
}

static void fill(struct meta_state *state)
{
    static const struct meta_endpoint endpoints[] = { { "PLAINTEXT", "host", 9092 } };
    struct meta_command bootstrap = { .kind = META_BOOTSTRAP };
    bootstrap.as.bootstrap.cluster_id = STR_LITERAL("some-cluster");
    meta_state_init(state, hash_key);
    apply(state, &bootstrap);
    for (int32_t id = 1; id <= 2; id++) {
        struct meta_command registration = { .kind = META_REGISTER_BROKER };
        registration.as.register_broker.broker = (struct meta_broker){
            .id = id,
            .rack = id == 1 ? NULL : "rack",
            .fenced = id == 2,
            .endpoints = endpoints,
            .endpoint_count = 1,
        };
        apply(state, &registration);
    }
    for (uint8_t i = 1; i <= 3; i++) {
        char name[8] = { 't', (char)('0' + i) };
        struct meta_command created = { .kind = META_TOPIC_CREATED };
        created.as.topic_created.topic = topic_of(name, i);
        apply(state, &created);
    }
    struct meta_setting_change set[] = { { "a", META_SETTING_SET, "1", NULL },
                                         { "b", META_SETTING_SET, "2", NULL } };
    struct meta_command settings = { .kind = META_BROKER_SETTINGS_CHANGED };
    settings.as.broker_settings_changed = (struct meta_broker_settings_changed){
        META_EVERY_BROKER, { .changes = set, .count = 2 }
    };
    apply(state, &settings);
    struct meta_command group = { .kind = META_RESOURCE_SETTINGS_CHANGED };
    group.as.resource_settings_changed = (struct meta_resource_settings_changed){
        META_RESOURCE_GROUP, "g", { .changes = set, .count = 2 }
    };
    apply(state, &group);
    struct meta_command ids = { .kind = META_PRODUCER_IDS_TAKEN };
    ids.as.producer_ids_taken = (struct meta_producer_ids_taken){ 1, 1000 };
    apply(state, &ids);
}

/* A snapshot of that, in which topic "gone" is listed as deleted. */
static void make_image(struct buffer *image)
{
    struct meta_state state;
    struct meta_changes gone;
    struct meta_topic topic = topic_of("gone", 9);
    struct meta_topic *copy = meta_topic_copy(&topic);
    meta_changes_init(&gone);
    assert_int_equal(meta_changes_add(&gone, copy, NULL), 0);
    meta_topic_unref(copy);
    fill(&state);
    struct meta_core_snapshot at = point_at(state.index);
    buffer_init(image);
    meta_snapshot_encode(&at, &state, &gone, image);
    assert_false(image->failed);
    meta_state_close(&state);
    meta_changes_close(&gone);
}

static struct bytes bytes_of(const struct buffer *buffer)
{
    return (struct bytes){ buffer->data, (int32_t)buffer->length };
}

/* Decodes and throws away. */
static int decoded(struct bytes image)
{
    struct meta_core_snapshot at;
    struct meta_state state;
    struct meta_changes gone;
    meta_state_init(&state, hash_key);
    meta_changes_init(&gone);
    int err = meta_snapshot_decode(image, &at, &state, &gone);
    meta_state_close(&state);
    meta_changes_close(&gone);
    return err;
}

TEST(a_snapshot_brings_back_the_state)
{
    struct buffer image, again;
    struct meta_core_snapshot at;
    struct meta_state state;
    struct meta_changes gone;
    make_image(&image);
    meta_state_init(&state, hash_key);
    meta_changes_init(&gone);
    assert_int_equal(meta_snapshot_decode(bytes_of(&image), &at, &state, &gone), 0);
    assert_int_equal(at.index, 9);
    assert_int_equal(at.term, 5);
    assert_int_equal(state.index, 9);
    assert_int_equal(state.topic_count, 3);
    assert_int_equal(state.partition_count, 6);
    assert_int_equal(state.next_producer_id, 1000);
    assert_string_equal(state.cluster_id, "some-cluster");
    assert_int_equal(meta_state_broker(&state, 2)->incarnation, 3);
    assert_true(meta_state_broker(&state, 2)->fenced);
    const struct meta_topic *topic = meta_state_topic(&state, STR_LITERAL("t2"));
    assert_int_equal(topic->partitions[0].leader_epoch, 7);
    assert_int_equal(topic->partitions[0].isr_count, 1);
    assert_string_equal(topic->settings[0].value, "1000");
    const struct meta_broker_settings *settings = meta_broker_settings_find(state.broker_settings,
                                                                            META_EVERY_BROKER);
    assert_int_equal(settings->count, 2);
    assert_string_equal(settings->settings[1].value, "2");
    const struct meta_resource *group = meta_resources_find(&state.resources, META_RESOURCE_GROUP,
                                                            STR_LITERAL("g"));
    assert_int_equal(group->setting_count, 2);
    assert_string_equal(group->settings[1].value, "2");
    assert_int_equal(state.resources.count, 1);
    assert_int_equal(gone.count, 1);
    assert_string_equal(gone.items[0].before->name, "gone");

    buffer_init(&again);
    meta_snapshot_encode(&at, &state, &gone, &again);
    assert_int_equal(again.length, image.length);
    assert_memory_equal(again.data, image.data, image.length);
    buffer_close(&again);
    meta_state_close(&state);
    meta_changes_close(&gone);
    buffer_close(&image);
}

TEST(a_snapshot_that_ends_early_or_has_a_wrong_byte_is_refused)
{
    struct buffer image;
    make_image(&image);
    for (size_t length = 0; length < image.length; length++) {
        uint8_t *cut = mem_dup(image.data, length); /* So that a read behind it shows. */
        assert_int_equal(decoded((struct bytes){ cut, (int32_t)length }), ERR_CORRUPT_MESSAGE);
        mem_free(cut);
    }
    for (size_t at = 0; at < image.length; at++) {
        if (at == 6 || at == 7) continue; /* Nobody looks at them. */
        image.data[at] ^= 0x10;
        assert_int_not_equal(decoded(bytes_of(&image)), 0);
        image.data[at] ^= 0x10;
    }
    assert_int_equal(decoded(bytes_of(&image)), 0);
    assert_int_equal(decoded(BYTES_NULL), ERR_CORRUPT_MESSAGE);
    buffer_close(&image);
}

static uint64_t chance(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

/* With a CRC that fits: whoever made it may have wanted to. */
TEST(no_byte_of_a_snapshot_is_believed)
{
    uint64_t seed = test_seed();
    struct buffer image;
    make_image(&image);
    uint8_t *bytes = mem_alloc(image.length);
    unsigned refused = 0;
    for (int round = 0; round < 20000; round++) {
        size_t length = chance(&seed, 4) == 0 ? 12 + chance(&seed, image.length - 12)
                                              : image.length;
        memcpy(bytes, image.data, length);
        for (uint64_t i = 1 + chance(&seed, 4); i > 0; i--)
            bytes[12 + chance(&seed, length - 12 + 1) % (length - 12 + (length == 12))] =
                (uint8_t)(chance(&seed, 3) == 0 ? 0xff : chance(&seed, 256));
        store_i32(bytes + 8, (int32_t)crc32c(bytes + 12, length - 12));
        if (decoded((struct bytes){ bytes, (int32_t)length }) != 0) refused++;
    }
    assert_true(refused > 10000);
    mem_free(bytes);
    buffer_close(&image);
}

TEST(lack_of_memory_is_an_answer)
{
    struct buffer image;
    make_image(&image);
    int err = ERR_NO_MEMORY;
    for (long nth = 1; err != 0; nth++) {
        mem_fail_at(nth);
        err = decoded(bytes_of(&image));
        mem_fail_at(0);
        assert_true(err == 0 || err == ERR_NO_MEMORY);
    }
    buffer_close(&image);
}

/* ---- files ---- */

static struct bytes text_bytes(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, (int32_t)strlen(text) };
}

TEST(the_newest_two_files_are_kept)
{
    int64_t indexes[META_SNAPSHOTS_KEPT];
    unsigned count = 0;
    struct bytes image;
    struct fs *fs = fs_posix();
    const char *folder = test_folder();
    for (int64_t index = 8; index < 12; index++)
        assert_int_equal(meta_snapshot_write(fs, folder, index, text_bytes("x")), 0);
    assert_int_equal(meta_snapshot_prune(fs, folder, META_SNAPSHOTS_KEPT), 0);
    assert_int_equal(meta_snapshot_list(fs, folder, indexes, META_SNAPSHOTS_KEPT, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(indexes[0], 11);
    assert_int_equal(indexes[1], 10);
    assert_int_equal(meta_snapshot_read(fs, folder, 9, &image), ERR_NOT_FOUND);

    /* One that comes in two steps is found only after the second. */
    assert_int_equal(meta_snapshot_write_ahead(fs, folder, text_bytes("ahead")), 0);
    assert_int_equal(meta_snapshot_list(fs, folder, indexes, META_SNAPSHOTS_KEPT, &count), 0);
    assert_int_equal(indexes[0], 11);
    assert_int_equal(meta_snapshot_put_in_place(fs, folder, 20), 0);
    assert_int_equal(meta_snapshot_read(fs, folder, 20, &image), 0);
    assert_int_equal(image.length, 5);
    mem_free((void *)image.data);
    assert_int_equal(meta_snapshot_write_ahead(fs, folder, text_bytes("left behind")), 0);
    assert_int_equal(meta_snapshot_sweep(fs, folder), 0);
    assert_int_equal(meta_snapshot_put_in_place(fs, folder, 21), ERR_NOT_FOUND);
    assert_int_equal(meta_snapshot_prune(fs, folder, 1), 0);
    assert_int_equal(meta_snapshot_list(fs, folder, indexes, META_SNAPSHOTS_KEPT, &count), 0);
    assert_int_equal(count, 1);
}
