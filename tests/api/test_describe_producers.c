// SPDX-License-Identifier: Apache-2.0
/* What DescribeProducers promises to clients (KIP-664). */

#include "api_calls.h"

#define T INT64_C(1700000000000)

static struct describe_producers_response_partition describe(struct test_client *client,
                                                             struct str topic, int32_t partition)
{
    struct describe_producers_request request = describe_producers_request_empty();
    make_array(client, &describe_producers_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = topic;
    make_array_of_one(client, &request.topics.items[0].partition_indexes, partition);
    struct describe_producers_response response;
    client_call(client, DESCRIBE_PRODUCERS, 0, &request, &response);
    assert_int_equal(response.topics.count, 1);
    assert_true(str_equal(response.topics.items[0].name, topic));
    assert_int_equal(response.topics.items[0].partitions.count, 1);
    assert_int_equal(response.topics.items[0].partitions.items[0].partition_index, partition);
    return response.topics.items[0].partitions.items[0];
}

static void produce_as(struct test_client *client, struct topic topic, int64_t id, int16_t epoch,
                       int32_t sequence, int32_t count)
{
    produce(client, topic, 0,
            batch_build(&client->arena, (struct batch){ .first_timestamp = T + sequence,
                                                        .timestamp_step = 10,
                                                        .record_count = count,
                                                        .is_idempotent = true,
                                                        .producer_id = id,
                                                        .producer_epoch = epoch,
                                                        .base_sequence = sequence }));
}

TEST(a_partition_that_nobody_writes_to_has_no_producers)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 2); /* Without producer id. */
    struct describe_producers_response_partition answer = describe(client, topic.name, 0);
    assert_int_equal(answer.error_code, 0);
    assert_true(str_is_null(answer.error_message));
    assert_int_equal(answer.active_producers.count, 0);
    client_close(client);
}

TEST(producers_are_told_as_they_wrote_last)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    int64_t ids[] = { producer_id_new(client), producer_id_new(client) };
    produce_as(client, topic, ids[0], 0, 0, 3);
    produce_as(client, topic, ids[0], 0, 3, 4);
    produce_as(client, topic, ids[1], 5, 0, 1);
    struct describe_producers_response_partition answer = describe(client, topic.name, 0);
    assert_int_equal(answer.error_code, 0);
    assert_int_equal(answer.active_producers.count, 2);
    for (int32_t i = 0; i < 2; i++) {
        const struct describe_producers_response_producer *told = &answer.active_producers.items[i];
        bool is_first = told->producer_id == ids[0];
        assert_true(is_first || told->producer_id == ids[1]);
        assert_int_equal(told->producer_epoch, is_first ? 0 : 5);
        assert_int_equal(told->last_sequence, is_first ? 6 : 0);
        assert_int_equal(told->last_timestamp, is_first ? T + 33 : T);
        assert_int_equal(told->coordinator_epoch, -1);
        assert_int_equal(told->current_txn_start_offset, -1);
    }
    client_close(client);
}

TEST(what_does_not_exist_has_no_producers)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct str names[] = { topic_name_new(), topic.name, topic.name };
    static const int32_t partitions[] = { 0, 1, -1 };
    for (int i = 0; i < 3; i++) {
        struct describe_producers_response_partition answer = describe(client, names[i],
                                                                       partitions[i]);
        assert_int_equal(answer.error_code, 3);
        assert_true(str_is_null(answer.error_message) == (i > 0));
        assert_int_equal(answer.active_producers.count, 0);
    }
    client_close(client);
}

TEST(a_request_about_no_producers_is_answered)
{
    struct test_client *client = client_open(shared_broker_port());
    struct describe_producers_request request = describe_producers_request_empty();
    struct describe_producers_response response;
    client_call(client, DESCRIBE_PRODUCERS, 0, &request, &response);
    assert_int_equal(response.topics.count, 0);
    client_close(client);
}

TEST(producers_are_known_after_a_restart)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    int64_t id = producer_id_new(client);
    /* Now: who was not heard of for long is forgotten. */
    produce(
        client, topic, 0,
        batch_build(&client->arena,
                    (struct batch){ .is_idempotent = true, .producer_id = id, .record_count = 3 }));
    for (int i = 0; i < 2; i++) {
        client_close(client);
        if (i == 0)
            test_broker_kill(&broker);
        else
            test_broker_stop(&broker);
        test_broker_start(&broker);
        client = client_open(broker.port);
        await_topic(client, topic.name, 1);
        struct describe_producers_response_partition answer = describe(client, topic.name, 0);
        assert_int_equal(answer.active_producers.count, 1);
        assert_int_equal(answer.active_producers.items[0].producer_id, id);
        assert_int_equal(answer.active_producers.items[0].last_sequence, 2);
        assert_true(answer.active_producers.items[0].last_timestamp > T);
    }
    client_close(client);
    test_broker_stop(&broker);
}
