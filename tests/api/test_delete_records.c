// SPDX-License-Identifier: Apache-2.0
/* What DeleteRecords promises to clients. */

#include "api_calls.h"

#define HIGH_WATERMARK (-1)
#define EARLIEST       (-2)

static struct delete_records_request delete_request(struct test_client *client, struct str name,
                                                    int32_t partition, int64_t offset)
{
    struct delete_records_request request = delete_records_request_empty();
    request.timeout_ms = 30000;
    make_array(client, &delete_records_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = name;
    make_array(client, &delete_records_request_partition_shape, 1,
               &request.topics.items[0].partitions);
    request.topics.items[0].partitions.items[0].partition_index = partition;
    request.topics.items[0].partitions.items[0].offset = offset;
    return request;
}

static struct delete_records_response_partition delete_before(struct test_client *client,
                                                              int16_t version, struct str name,
                                                              int32_t partition, int64_t offset)
{
    struct delete_records_request request = delete_request(client, name, partition, offset);
    struct delete_records_response response;
    client_call(client, DELETE_RECORDS, version, &request, &response);
    assert_in_version(version, response.topics.count, 1);
    assert_true(str_equal(response.topics.items[0].name, name));
    assert_in_version(version, response.topics.items[0].partitions.count, 1);
    assert_in_version(version, response.topics.items[0].partitions.items[0].partition_index,
                      partition);
    return response.topics.items[0].partitions.items[0];
}

static void assert_error(struct test_client *client, struct str name, int32_t partition,
                         int64_t offset, int16_t error)
{
    for (int16_t version = 0; version <= DELETE_RECORDS_NEWEST; version++) {
        struct delete_records_response_partition answer = delete_before(client, version, name,
                                                                        partition, offset);
        assert_in_version(version, answer.error_code, error);
        assert_in_version(version, answer.low_watermark, -1);
    }
}

static int64_t start_offset(struct test_client *client, struct topic topic)
{
    return list_offset(client, LIST_OFFSETS_NEWEST, topic, 0, EARLIEST).offset;
}

TEST(every_version_moves_the_start)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 0; version <= DELETE_RECORDS_NEWEST; version++) {
        struct topic topic = topic_new(client, 1);
        produce_some(client, topic, 0, 5);
        struct delete_records_response_partition answer = delete_before(client, version, topic.name,
                                                                        0, 3);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, answer.low_watermark, 3);
        assert_in_version(version, start_offset(client, topic), 3);
        assert_in_version(version, end_offset(client, topic, 0), 5);
        assert_in_version(version, fetch(client, topic, 0, 2).error_code, 1);
        struct fetch_response_partition read = fetch(client, topic, 0, 3);
        assert_in_version(version, read.error_code, 0);
        assert_in_version(version, read.log_start_offset, 3);
        assert_true(read.records.length > 0);
    }
    client_close(client);
}

TEST(minus_one_deletes_all_that_consumers_can_see)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 0; version <= DELETE_RECORDS_NEWEST; version++) {
        struct topic topic = topic_new(client, 1);
        produce_some(client, topic, 0, 4);
        struct delete_records_response_partition answer = delete_before(client, version, topic.name,
                                                                        0, HIGH_WATERMARK);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, answer.low_watermark, 4);
        assert_in_version(version, start_offset(client, topic), 4);
        produce_some(client, topic, 0, 1);
        assert_in_version(version, end_offset(client, topic, 0), 5);
        assert_true(fetch(client, topic, 0, 4).records.length > 0);
    }
    client_close(client);
}

/* As in Kafka: what was deleted is in the active segment still, and its newest time is told. */
TEST(deleted_records_of_the_active_segment_still_count_for_the_newest_time)
{
    static const struct topic_setting kept[] = { { "retention.ms", "-1" }, { NULL, NULL } };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new_with(client, 1, kept);
    static const int64_t times[] = { 5000, 9000, 7000 };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        produce(client, topic, 0,
                batch_build(&client->arena, (struct batch){ .first_timestamp = times[i] }));
    static const int64_t starts[] = { 2, HIGH_WATERMARK };
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        assert_int_equal(delete_before(client, 2, topic.name, 0, starts[i]).error_code, 0);
        struct list_offsets_response_partition newest = list_offset(client, LIST_OFFSETS_NEWEST,
                                                                    topic, 0, -3);
        assert_int_equal(newest.error_code, 0);
        assert_int_equal(newest.offset, 1);
        assert_int_equal(newest.timestamp, 9000);
    }
    assert_int_equal(list_offset(client, LIST_OFFSETS_NEWEST, topic, 0, 0).offset, -1);
    client_close(client);
}

TEST(the_start_never_goes_back)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 5);
    assert_int_equal(delete_before(client, 2, topic.name, 0, 4).low_watermark, 4);
    struct delete_records_response_partition answer = delete_before(client, 2, topic.name, 0, 2);
    assert_int_equal(answer.error_code, 0);
    assert_int_equal(answer.low_watermark, 4);
    assert_int_equal(delete_before(client, 2, topic.name, 0, 0).low_watermark, 4);
    assert_int_equal(start_offset(client, topic), 4);
    client_close(client);
}

TEST(an_empty_partition_has_nothing_to_delete)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct delete_records_response_partition answer = delete_before(client, 2, topic.name, 0, 0);
    assert_int_equal(answer.error_code, 0);
    assert_int_equal(answer.low_watermark, 0);
    answer = delete_before(client, 2, topic.name, 0, HIGH_WATERMARK);
    assert_int_equal(answer.error_code, 0);
    assert_int_equal(answer.low_watermark, 0);
    client_close(client);
}

TEST(an_offset_that_is_not_there_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 3);
    assert_error(client, topic.name, 0, 4, 1);
    assert_error(client, topic.name, 0, INT64_MAX, 1);
    assert_error(client, topic.name, 0, -2, 1);
    assert_error(client, topic.name, 0, INT64_MIN, 1);
    assert_int_equal(start_offset(client, topic), 0);
    client_close(client);
}

TEST(records_of_what_does_not_exist_cannot_be_deleted)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    assert_error(client, topic_name_new(), 0, 0, 3);
    assert_error(client, STR_LITERAL(""), 0, 0, 3);
    assert_error(client, topic.name, 2, 0, 3);
    assert_error(client, topic.name, -1, 0, 3);
    client_close(client);
}

/* What compaction keeps is the last value of a key, and not for offsets to decide. */
TEST(of_a_compacted_topic_nothing_is_deleted)
{
    struct test_client *client = client_open(shared_broker_port());
    static const struct topic_setting compact[] = { { "cleanup.policy", "compact" },
                                                    { NULL, NULL } };
    static const struct topic_setting both[] = { { "cleanup.policy", "compact,delete" },
                                                 { NULL, NULL } };
    struct topic topic;
    if (!topic_try_new_with(client, 1, compact, &topic)) skip();
    assert_error(client, topic.name, 0, 0, 44);
    assert_error(client, topic.name, 0, 7, 44);
    topic = topic_new_with(client, 1, both);
    assert_int_equal(delete_before(client, 2, topic.name, 0, 0).error_code, 0);
    client_close(client);
}

/* The last one counts. */
TEST(a_partition_that_is_named_twice_is_answered_once)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 5);
    struct delete_records_request request = delete_request(client, topic.name, 0, 4);
    make_array(client, &delete_records_request_partition_shape, 2,
               &request.topics.items[0].partitions);
    request.topics.items[0].partitions.items[0].offset = 4;
    request.topics.items[0].partitions.items[1].offset = 2;
    struct delete_records_response response;
    client_call(client, DELETE_RECORDS, 2, &request, &response);
    assert_int_equal(response.topics.count, 1);
    assert_int_equal(response.topics.items[0].partitions.count, 1);
    assert_int_equal(response.topics.items[0].partitions.items[0].low_watermark, 2);
    client_close(client);
}

TEST(deletions_are_answered_each)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    static const int64_t offsets[] = { 1, 9, HIGH_WATERMARK };
    static const int16_t errors[] = { 0, 1, 0 };
    static const int64_t starts[] = { 1, -1, 2 };
    for (int32_t i = 0; i < 3; i++)
        produce_some(client, topic, i, 2);
    struct delete_records_request request = delete_request(client, topic.name, 0, 0);
    make_array(client, &delete_records_request_partition_shape, 3,
               &request.topics.items[0].partitions);
    for (int32_t i = 0; i < 3; i++) {
        request.topics.items[0].partitions.items[i].partition_index = i;
        request.topics.items[0].partitions.items[i].offset = offsets[i];
    }
    struct delete_records_response response;
    client_call(client, DELETE_RECORDS, 2, &request, &response);
    assert_int_equal(response.topics.count, 1);
    assert_int_equal(response.topics.items[0].partitions.count, 3);
    for (int32_t i = 0; i < 3; i++) {
        const struct delete_records_response_partition *answer =
            &response.topics.items[0].partitions.items[i];
        assert_true(answer->partition_index >= 0 && answer->partition_index < 3);
        assert_int_equal(answer->error_code, errors[answer->partition_index]);
        assert_int_equal(answer->low_watermark, starts[answer->partition_index]);
    }
    client_close(client);
}

TEST(a_request_to_delete_nothing_is_answered)
{
    struct test_client *client = client_open(shared_broker_port());
    struct delete_records_request request = delete_records_request_empty();
    for (int16_t version = 0; version <= DELETE_RECORDS_NEWEST; version++) {
        struct delete_records_response response;
        client_call(client, DELETE_RECORDS, version, &request, &response);
        assert_in_version(version, response.topics.count, 0);
    }
    client_close(client);
}

TEST(deleted_records_stay_deleted_across_a_kill_and_a_stop)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 9);
    for (int64_t offset = 3; offset <= 6; offset += 3) {
        assert_int_equal(delete_before(client, 2, topic.name, 0, offset).low_watermark, offset);
        client_close(client);
        if (offset == 3)
            test_broker_kill(&broker);
        else
            test_broker_stop(&broker);
        test_broker_start(&broker);
        client = client_open(broker.port);
        topic = await_topic(client, topic.name, 1);
        assert_int_equal(start_offset(client, topic), offset);
        assert_int_equal(end_offset(client, topic, 0), 9);
        assert_int_equal(fetch(client, topic, 0, offset - 1).error_code, 1);
    }
    client_close(client);
    test_broker_stop(&broker);
}
