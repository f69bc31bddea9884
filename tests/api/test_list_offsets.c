// SPDX-License-Identifier: Apache-2.0
/* What ListOffsets promises to consumers. */

#include <string.h>

#include "api_calls.h"
#include "vectors.h"

#define LATEST            -1
#define EARLIEST          -2
#define MAX_TIMESTAMP     -3
#define EARLIEST_LOCAL    -4
#define LATEST_TIERED     -5
#define EARLIEST_PENDING  -6
#define WITH_LEADER_EPOCH 4
#define T                 INT64_C(1700000000000)

static void assert_offset(struct test_client *client, int16_t version, struct topic topic,
                          int64_t asked, int64_t timestamp, int64_t offset)
{
    struct list_offsets_response_partition answer = list_offset(client, version, topic, 0, asked);
    assert_in_version(version, answer.error_code, 0);
    assert_in_version(version, answer.timestamp, timestamp);
    assert_in_version(version, answer.offset, offset);
    if (version >= WITH_LEADER_EPOCH && offset >= 0 && answer.leader_epoch < 0)
        fail_msg("version %d: offset %lld for %lld has no leader epoch", version, (long long)offset,
                 (long long)asked);
}

/* Offsets 0 to 9: batches of 1, 3 and 6 records, 1 s apart, from T on. */
static struct topic topic_with_times(struct test_client *client)
{
    struct topic topic = topic_new(client, 1);
    static const int32_t counts[] = { 1, 3, 6 };
    int64_t timestamp = T;
    for (int i = 0; i < 3; i++) {
        produce(client, topic, 0,
                batch_build(&client->arena, (struct batch){ .first_timestamp = timestamp,
                                                            .timestamp_step = 1000,
                                                            .record_count = counts[i] }));
        timestamp += counts[i] * 1000;
    }
    return topic;
}

TEST(every_version_tells_begin_and_end)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_with_times(client), empty = topic_new(client, 1);
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        assert_offset(client, version, topic, LATEST, -1, 10);
        assert_offset(client, version, topic, EARLIEST, -1, 0);
        assert_offset(client, version, empty, LATEST, -1, 0);
        assert_offset(client, version, empty, EARLIEST, -1, 0);
    }
    client_close(client);
}

TEST(a_timestamp_finds_the_first_record_that_is_not_older)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_with_times(client);
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        assert_offset(client, version, topic, 0, T, 0);
        assert_offset(client, version, topic, T - 1, T, 0);
        for (int64_t i = 0; i < 10; i++)
            assert_offset(client, version, topic, T + i * 1000, T + i * 1000, i);
        for (int64_t i = 1; i < 10; i++)
            assert_offset(client, version, topic, T + i * 1000 - 500, T + i * 1000, i);
        assert_offset(client, version, topic, T + 9001, -1, -1);
        assert_offset(client, version, topic, INT64_MAX, -1, -1);
    }
    client_close(client);
}

TEST(an_empty_log_has_no_record_at_any_time)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        assert_offset(client, version, topic, 0, -1, -1);
        assert_offset(client, version, topic, T, -1, -1);
        if (version >= 7) assert_offset(client, version, topic, MAX_TIMESTAMP, -1, -1);
    }
    client_close(client);
}

/* Timestamps come from many clients' clocks: the first in the order of the log counts. */
TEST(timestamps_that_go_back_do_not_hide_a_record)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    static const int64_t first[] = { T + 5000, T, T + 9000, T + 2000 };
    for (int i = 0; i < 4; i++)
        produce(client, topic, 0,
                batch_build(&client->arena, (struct batch){ .first_timestamp = first[i] }));
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        assert_offset(client, version, topic, T, T + 5000, 0);
        assert_offset(client, version, topic, T + 5001, T + 9000, 2);
        assert_offset(client, version, topic, T + 9001, -1, -1);
        if (version >= 7) assert_offset(client, version, topic, MAX_TIMESTAMP, T + 9000, 2);
    }
    client_close(client);
}

TEST(within_a_batch_timestamps_may_go_back_too)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce(client, topic, 0,
            batch_build(&client->arena, (struct batch){ .first_timestamp = T + 4000,
                                                        .timestamp_step = -1000,
                                                        .record_count = 4 }));
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        assert_offset(client, version, topic, T, T + 4000, 0);
        assert_offset(client, version, topic, T + 3500, T + 4000, 0);
        if (version >= 7) assert_offset(client, version, topic, MAX_TIMESTAMP, T + 4000, 0);
    }
    client_close(client);
}

static struct test_client *vector_client;
static int compressed_seen;

/* k1, k2, k3 at 0, 5 and 9 ms behind the base timestamp, in each codec. */
static void find_in_compressed(const struct vector *vector)
{
    static const char prefix[] = "create-time-";
    if (strncmp(vector->test_case, prefix, sizeof prefix - 1) != 0) return;
    if (strcmp(vector_text(vector, "origin"), "producer") != 0) return;
    if (json_object_size(json_object_get(vector->json, "config")) != 0) return;
    struct topic topic = topic_new(vector_client, 1);
    struct records records = { vector->data, (int32_t)vector->length, NULL };
    produce(vector_client, topic, 0, records);
    int64_t base = batch_base_timestamp(records);
    assert_offset(vector_client, LIST_OFFSETS_NEWEST, topic, base + 1, base + 5, 1);
    assert_offset(vector_client, LIST_OFFSETS_NEWEST, topic, base + 6, base + 9, 2);
    assert_offset(vector_client, LIST_OFFSETS_NEWEST, topic, base + 10, -1, -1);
    assert_offset(vector_client, LIST_OFFSETS_NEWEST, topic, MAX_TIMESTAMP, base + 9, 2);
    compressed_seen++;
}

TEST(records_are_found_by_time_within_compressed_batches)
{
    compressed_seen = 0;
    vector_client = client_open(shared_broker_port());
    vectors_each("data/append.jsonl", find_in_compressed);
    client_close(vector_client);
    assert_int_equal(compressed_seen, 5);
}

static void assert_error(struct test_client *client, int16_t version, struct topic topic,
                         int64_t asked, int16_t error)
{
    struct list_offsets_response_partition answer = list_offset(client, version, topic, 0, asked);
    assert_in_version(version, answer.error_code, error);
    assert_in_version(version, answer.timestamp, -1);
    assert_in_version(version, answer.offset, -1);
}

TEST(special_timestamps_are_served_from_their_version_on)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_with_times(client);
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        if (version >= 7)
            assert_offset(client, version, topic, MAX_TIMESTAMP, T + 9000, 9);
        else
            assert_error(client, version, topic, MAX_TIMESTAMP, 35);
        if (version >= 8)
            assert_offset(client, version, topic, EARLIEST_LOCAL, -1, 0);
        else
            assert_error(client, version, topic, EARLIEST_LOCAL, 35);
        if (version >= 9)
            assert_offset(client, version, topic, LATEST_TIERED, -1, -1);
        else
            assert_error(client, version, topic, LATEST_TIERED, 35);
        if (version >= 11)
            assert_offset(client, version, topic, EARLIEST_PENDING, -1, -1);
        else
            assert_error(client, version, topic, EARLIEST_PENDING, 35);
        assert_error(client, version, topic, -7, 35);
        assert_error(client, version, topic, INT64_MIN, 35);
    }
    client_close(client);
}

/* A request for `count` partitions, to be changed. */
static struct list_offsets_request request_for(struct test_client *client, struct topic topic,
                                               int32_t count)
{
    struct list_offsets_request request = list_offsets_request_empty();
    request.replica_id = -1;
    make_array(client, &list_offsets_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = topic.name;
    make_array(client, &list_offsets_request_partition_shape, count,
               &request.topics.items[0].partitions);
    for (int32_t i = 0; i < count; i++) {
        request.topics.items[0].partitions.items[i].partition_index = i;
        request.topics.items[0].partitions.items[i].timestamp = LATEST;
    }
    return request;
}

TEST(both_isolation_levels_see_the_same_end_without_transactions)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_with_times(client);
    struct list_offsets_request request = request_for(client, topic, 1);
    request.isolation_level = 1;
    for (int16_t version = 2; version <= LIST_OFFSETS_NEWEST; version++) {
        struct list_offsets_response response;
        client_call(client, LIST_OFFSETS, version, &request, &response);
        assert_in_version(version, response.topics.items[0].partitions.items[0].offset, 10);
    }
    client_close(client);
}

TEST(offsets_of_what_does_not_exist_are_unknown)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct topic unknown = { .name = topic_name_new() };
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        assert_error(client, version, unknown, LATEST, 3);
        struct list_offsets_response_partition answer = list_offset(client, version, topic, 1,
                                                                    EARLIEST);
        assert_in_version(version, answer.error_code, 3);
        answer = list_offset(client, version, topic, -1, 0);
        assert_in_version(version, answer.error_code, 3);
    }
    assert_false(topic_exists(client, unknown.name));
    client_close(client);
}

TEST(a_leader_epoch_must_be_the_current_one_here_too)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    int32_t epoch = leader_epoch_of(client, topic.name);
    struct list_offsets_request request = request_for(client, topic, 1);
    int32_t *current = &request.topics.items[0].partitions.items[0].current_leader_epoch;
    for (int16_t version = WITH_LEADER_EPOCH; version <= LIST_OFFSETS_NEWEST; version++) {
        struct list_offsets_response response;
        for (int32_t ahead = 0; ahead <= 1; ahead++) {
            *current = epoch + ahead;
            client_call(client, LIST_OFFSETS, version, &request, &response);
            int16_t error = response.topics.items[0].partitions.items[0].error_code;
            assert_in_version(version, error, ahead == 0 ? 0 : 75);
        }
    }
    client_close(client);
}

TEST(a_partition_that_is_asked_for_twice_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    produce_some(client, topic, 1, 1);
    struct list_offsets_request request = request_for(client, topic, 3);
    request.topics.items[0].partitions.items[2].partition_index = 0;
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        struct list_offsets_response response;
        client_call(client, LIST_OFFSETS, version, &request, &response);
        int seen = 0;
        for (int32_t i = 0; i < response.topics.items[0].partitions.count; i++) {
            struct list_offsets_response_partition *answer =
                &response.topics.items[0].partitions.items[i];
            assert_in_version(version, answer->error_code, answer->partition_index == 0 ? 42 : 0);
            seen |= 1 << answer->partition_index;
        }
        assert_in_version(version, seen, 3);
        assert_in_version(version, response.topics.items[0].partitions.count, 2);
    }
    client_close(client);
}

TEST(elements_of_one_topic_are_answered_as_one_and_empty_ones_not_at_all)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2), other = topic_new(client, 1);
    struct list_offsets_request request = request_for(client, topic, 1);
    struct list_offsets_request_topic elements[3] = {
        request.topics.items[0],
        { .name = other.name },
        request_for(client, topic, 1).topics.items[0]
    };
    elements[2].partitions.items[0].partition_index = 1;
    request.topics.items = elements;
    request.topics.count = 3;
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        struct list_offsets_response response;
        client_call(client, LIST_OFFSETS, version, &request, &response);
        assert_in_version(version, response.topics.count, 1);
        assert_true(str_equal(response.topics.items[0].name, topic.name));
        assert_in_version(version, response.topics.items[0].partitions.count, 2);
    }
    client_close(client);
}

TEST(a_leader_epoch_below_all_is_an_old_one)
{
    struct test_client *client = client_open(shared_broker_port());
    struct list_offsets_request request = request_for(client, topic_new(client, 1), 1);
    request.topics.items[0].partitions.items[0].current_leader_epoch = -2;
    for (int16_t version = WITH_LEADER_EPOCH; version <= LIST_OFFSETS_NEWEST; version++) {
        struct list_offsets_response response;
        client_call(client, LIST_OFFSETS, version, &request, &response);
        assert_in_version(version, response.topics.items[0].partitions.items[0].error_code, 74);
    }
    client_close(client);
}

TEST(a_hundred_partitions_are_asked_for_by_one_request)
{
    enum { PARTITIONS = 100 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, PARTITIONS);
    for (int32_t i = 0; i < PARTITIONS; i += 3)
        produce_some(client, topic, i, 1);
    struct list_offsets_request request = request_for(client, topic, PARTITIONS);
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        struct list_offsets_response response;
        client_call(client, LIST_OFFSETS, version, &request, &response);
        assert_in_version(version, response.topics.count, 1);
        assert_in_version(version, response.topics.items[0].partitions.count, PARTITIONS);
        bool is_answered[PARTITIONS] = { false };
        for (int32_t i = 0; i < PARTITIONS; i++) {
            struct list_offsets_response_partition *answer =
                &response.topics.items[0].partitions.items[i];
            int32_t index = answer->partition_index;
            assert_true(index >= 0 && index < PARTITIONS && !is_answered[index]);
            is_answered[index] = true;
            assert_in_version(version, answer->error_code, 0);
            assert_in_version(version, answer->offset, index % 3 == 0 ? 1 : 0);
        }
    }
    client_close(client);
}

/* As in Kafka: no secret is in them, and what a follower may do is not asked here. */
TEST(offsets_are_told_to_whoever_says_to_be_a_replica)
{
    static const int32_t replicas[] = { -1, -2, -3, 0, 1, 7 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_with_times(client);
    for (size_t i = 0; i < sizeof replicas / sizeof replicas[0]; i++) {
        struct list_offsets_request request = request_for(client, topic, 1);
        request.replica_id = replicas[i];
        request.isolation_level = 1;
        request.topics.items[0].partitions.items[0].current_leader_epoch = -1;
        struct list_offsets_response response;
        client_call(client, LIST_OFFSETS, LIST_OFFSETS_NEWEST, &request, &response);
        assert_int_equal(response.topics.items[0].partitions.items[0].error_code, 0);
        assert_int_equal(response.topics.items[0].partitions.items[0].offset, 10);
    }
    client_close(client);
}

TEST(a_request_for_no_topics_of_offsets_is_answered_with_none)
{
    struct test_client *client = client_open(shared_broker_port());
    struct list_offsets_request request = list_offsets_request_empty();
    request.replica_id = -1;
    for (int16_t version = 1; version <= LIST_OFFSETS_NEWEST; version++) {
        struct list_offsets_response response;
        client_call(client, LIST_OFFSETS, version, &request, &response);
        assert_in_version(version, response.topics.count, 0);
    }
    client_close(client);
}
