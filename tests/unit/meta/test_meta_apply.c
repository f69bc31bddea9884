// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "meta_fixture.h"

TEST(a_created_topic_is_found_by_name_and_by_id)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    brokers_join(&state, 1);
    assert_int_equal(topic_create(&state, "orders", 5, 3, NULL), 0);
    struct uuid id = id_of(5);
    const struct meta_topic *topic = meta_state_topic(&state, STR_LITERAL("orders"));
    assert_non_null(topic);
    assert_ptr_equal(topic, meta_state_topic_by_id(&state, &id));
    assert_int_equal(state.topic_count, 1);
    assert_int_equal(state.partition_count, 3);
    assert_null(meta_state_topic(&state, STR_LITERAL("order")));
    meta_state_close(&state);
}

TEST(a_command_that_came_too_late_changes_nothing_and_says_why)
{
    struct meta_state state;
    struct meta_changes changes;
    meta_state_init(&state, fixture_hash_key);
    meta_changes_init(&changes);
    brokers_join(&state, 1);
    assert_int_equal(topic_create(&state, "a.b", 1, 1, NULL), 0);
    assert_int_equal(topic_create(&state, "a.b", 2, 1, &changes), ERR_TOPIC_ALREADY_EXISTS);
    assert_int_equal(topic_create(&state, "a_b", 3, 1, &changes), ERR_INVALID_TOPIC);
    assert_int_equal(topic_create(&state, "c", 1, 1, &changes), ERR_INCONSISTENT_TOPIC_ID);
    assert_int_equal(topic_create(&state, "../c", 4, 1, &changes), ERR_INVALID_TOPIC);
    assert_int_equal(topic_create(&state, "c", 5, 0, &changes), ERR_INVALID_PARTITIONS);
    assert_int_equal(topic_delete(&state, 9, &changes), ERR_UNKNOWN_TOPIC_ID);
    assert_int_equal(changes.count, 0);
    assert_int_equal(state.topic_count, 1);
    meta_changes_close(&changes);
    meta_state_close(&state);
}

TEST(changes_tell_before_and_after)
{
    struct meta_state state;
    struct meta_changes changes;
    meta_state_init(&state, fixture_hash_key);
    meta_changes_init(&changes);
    brokers_join(&state, 1);
    assert_int_equal(topic_create(&state, "a", 1, 1, &changes), 0);
    assert_int_equal(topic_delete(&state, 1, &changes), 0);
    assert_int_equal(changes.count, 2);
    assert_null(changes.items[0].before);
    assert_string_equal(changes.items[0].after->name, "a");
    assert_string_equal(changes.items[1].before->name, "a");
    assert_null(changes.items[1].after);
    assert_int_equal(state.topic_count, 0);
    assert_int_equal(state.partition_count, 0);
    meta_changes_close(&changes);
    meta_state_close(&state);
}

TEST(producer_id_blocks_follow_each_other)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    struct meta_command command = { .kind = META_PRODUCER_IDS_TAKEN,
                                    .as.producer_ids_taken = { 1, 1000 } };
    assert_int_equal(apply(&state, &command, NULL), 0);
    assert_int_equal(state.next_producer_id, 1000);
    assert_int_equal(apply(&state, &command, NULL), 0);
    assert_int_equal(state.next_producer_id, 2000);
    state.next_producer_id = INT64_MAX - 999;
    assert_int_equal(apply(&state, &command, NULL), ERR_LIMIT);
    assert_int_equal(state.next_producer_id, INT64_MAX - 999);
    meta_state_close(&state);
}

TEST(a_cluster_has_one_id_for_good)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    struct meta_command command = { .kind = META_BOOTSTRAP,
                                    .as.bootstrap = { STR_LITERAL("first") } };
    assert_int_equal(apply(&state, &command, NULL), 0);
    command.as.bootstrap.cluster_id = STR_LITERAL("second");
    assert_int_equal(apply(&state, &command, NULL), ERR_INCONSISTENT_CLUSTER_ID);
    assert_string_equal(state.cluster_id, "first");
    meta_state_close(&state);
}

static void register_again(struct meta_state *state, bool page_cache_survived,
                           struct meta_changes *changes)
{
    struct meta_command command = {
        .kind = META_REGISTER_BROKER,
        .as.register_broker = { .broker = { .id = 1 }, .page_cache_survived = page_cache_survived },
    };
    assert_int_equal(apply(state, &command, changes), 0);
}

TEST(a_broker_that_may_have_lost_records_leads_on_in_a_new_epoch)
{
    struct meta_state state;
    struct meta_changes changes;
    meta_state_init(&state, fixture_hash_key);
    meta_changes_init(&changes);
    brokers_join(&state, 2);
    assert_int_equal(topic_create(&state, "a", 1, 2, NULL), 0);

    int64_t before = meta_state_broker(&state, 1)->incarnation;
    register_again(&state, true, &changes);
    assert_true(meta_state_broker(&state, 1)->incarnation > before);
    assert_int_equal(changes.count, 0);

    register_again(&state, false, &changes);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.items[0].before->partitions[1].leader_epoch, 0);
    assert_int_equal(changes.items[0].after->partitions[1].leader_epoch, 1);
    assert_int_equal(changes.items[0].after->partitions[1].partition_epoch, 1);
    assert_ptr_equal(meta_state_topic(&state, STR_LITERAL("a")), changes.items[0].after);
    assert_int_equal(meta_state_broker_count(&state), 2);
    meta_changes_close(&changes);
    meta_state_close(&state);
}

TEST(what_nobody_understands_stops_the_node)
{
    static const uint8_t unknown[] = { 0, 77, 0, 1, 1, 2, 3 };
    static const uint8_t broken[] = { 0, 4, 0, 1, 1, 2, 3 };
    struct meta_state state;
    struct meta_outcome outcome;
    meta_state_init(&state, fixture_hash_key);
    struct meta_entry entry = { 1, META_ENTRY_COMMAND, { unknown, sizeof unknown } };
    assert_int_equal(meta_apply(&state, 1, &entry, NULL, &outcome), ERR_UNSUPPORTED_VERSION);
    entry.payload = (struct bytes){ broken, sizeof broken };
    assert_int_equal(meta_apply(&state, 1, &entry, NULL, &outcome), ERR_MALFORMED);
    meta_state_close(&state);
}

/* A log of all kinds of commands, good and bad, from a seed. */
static void apply_by_seed(struct meta_state *state, uint64_t seed)
{
    brokers_join(state, 3);
    for (int i = 0; i < 2000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t number = (uint32_t)(seed >> 33) % 300;
        char name[32];
        snprintf(name, sizeof name, "topic-%u", number);
        switch (seed >> 61) {
        case 0: topic_delete(state, number, NULL); break;
        case 1: register_again(state, seed >> 20 & 1, NULL); break;
        default: topic_create(state, name, number, 1 + number % 4, NULL);
        }
    }
}

TEST(the_same_commands_give_the_same_state)
{
    static const uint64_t other_key[2] = { 77, 78 };
    struct meta_state first, second;
    meta_state_init(&first, fixture_hash_key);
    meta_state_init(&second, other_key); /* Whatever the hash: another node has another key. */
    apply_by_seed(&first, test_seed());
    apply_by_seed(&second, test_seed());

    assert_int_equal(first.index, second.index);
    assert_int_equal(first.topic_count, second.topic_count);
    assert_int_equal(first.partition_count, second.partition_count);
    assert_true(first.topic_count > 50);
    struct meta_topic_cursor cursor = { 0, 0 };
    const struct meta_topic *topic;
    unsigned walked = 0;
    while ((topic = meta_state_next_topic(&first, &cursor)) != NULL) {
        const struct meta_topic *other = meta_state_topic(&second, str_from(topic->name));
        assert_non_null(other);
        assert_true(uuid_equal(&topic->id, &other->id));
        assert_int_equal(topic->partition_count, other->partition_count);
        for (unsigned i = 0; i < topic->partition_count; i++)
            assert_int_equal(topic->partitions[i].leader_epoch, other->partitions[i].leader_epoch);
        walked++;
    }
    assert_int_equal(walked, first.topic_count);
    meta_state_close(&first);
    meta_state_close(&second);
}

TEST(apply_without_memory_says_so_and_leaks_nothing)
{
    struct meta_command command = {
        .kind = META_REGISTER_BROKER,
        .as.register_broker = { .broker = { .id = 1 } },
    };
    struct buffer bytes;
    buffer_init(&bytes);
    meta_command_encode(&command, &bytes);
    struct meta_entry entry = { 1, META_ENTRY_COMMAND, bytes_in(&bytes) };
    int failures = 0;
    for (int nth = 1;; nth++) {
        struct meta_state state;
        struct meta_changes changes;
        struct meta_outcome outcome;
        meta_state_init(&state, fixture_hash_key);
        meta_changes_init(&changes);
        brokers_join(&state, 1);
        topic_create(&state, "a", 1, 100, NULL);
        mem_fail_at(nth);
        int err = meta_apply(&state, state.index + 1, &entry, &changes, &outcome);
        mem_fail_at(0);
        meta_outcome_close(&outcome);
        meta_changes_close(&changes);
        meta_state_close(&state);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
        failures++;
    }
    assert_true(failures >= 5);
    buffer_close(&bytes);
}

/* ---- more partitions ---- */

static int add_partitions(struct meta_state *state, uint32_t number, int32_t first, unsigned count,
                          bool is_by_hand, struct meta_changes *changes)
{
    static const int32_t broker = 1;
    struct meta_partition partitions[8];
    assert_true(count <= 8);
    for (unsigned i = 0; i < count; i++)
        partitions[i] = (struct meta_partition){ 1, first + (int32_t)i, 0, &broker, 1, &broker, 1 };
    struct meta_command command = { .kind = META_PARTITIONS_ADDED,
                                    .as.partitions_added = { .topic_id = id_of(number),
                                                             .first = first,
                                                             .is_by_hand = is_by_hand,
                                                             .partitions = partitions,
                                                             .count = count } };
    return apply(state, &command, changes);
}

TEST(added_partitions_stand_behind_those_that_were_there)
{
    struct meta_state state;
    struct meta_changes changes;
    meta_state_init(&state, fixture_hash_key);
    meta_changes_init(&changes);
    brokers_join(&state, 1);
    assert_int_equal(topic_create(&state, "a", 1, 2, NULL), 0);
    assert_int_equal(add_partitions(&state, 1, 2, 3, true, &changes), 0);
    const struct meta_topic *topic = meta_state_topic(&state, STR_LITERAL("a"));
    assert_int_equal(topic->partition_count, 5);
    assert_int_equal(state.partition_count, 5);
    assert_int_equal(topic->partitions[1].leader_epoch, 0);
    assert_int_equal(topic->partitions[2].leader_epoch, 2); /* The fixture's mark. */
    assert_int_equal(topic->partitions[4].leader_epoch, 4);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.items[0].before->partition_count, 2);
    assert_int_equal(changes.items[0].after->partition_count, 5);
    meta_changes_close(&changes);
    meta_state_close(&state);
}

/* Two clients asked at once, for 4 and for 6 partitions. */
TEST(of_partitions_added_twice_the_first_ones_count)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    brokers_join(&state, 1);
    assert_int_equal(topic_create(&state, "a", 1, 2, NULL), 0);
    assert_int_equal(add_partitions(&state, 1, 2, 2, false, NULL), 0);
    assert_int_equal(add_partitions(&state, 1, 2, 4, true, NULL), ERR_INVALID_REPLICA_ASSIGNMENT);
    assert_int_equal(add_partitions(&state, 1, 2, 4, false, NULL), 0);
    assert_int_equal(meta_state_topic(&state, STR_LITERAL("a"))->partition_count, 6);
    assert_int_equal(add_partitions(&state, 1, 2, 4, false, NULL), ERR_INVALID_PARTITIONS);
    assert_int_equal(add_partitions(&state, 1, 2, 1, false, NULL), ERR_INVALID_PARTITIONS);
    assert_int_equal(add_partitions(&state, 1, 7, 1, false, NULL), ERR_INVALID_PARTITIONS);
    assert_int_equal(add_partitions(&state, 9, 2, 1, false, NULL), ERR_UNKNOWN_TOPIC_ID);
    assert_int_equal(meta_state_topic(&state, STR_LITERAL("a"))->partition_count, 6);
    meta_state_close(&state);
}
