// SPDX-License-Identifier: Apache-2.0
/* What OffsetForLeaderEpoch promises to consumers (KIP-320). */

#include "api_calls.h"

#define OLDEST 2

static struct offset_for_leader_epoch_response_partition end_of(struct test_client *client,
                                                                int16_t version, struct str topic,
                                                                int32_t partition, int32_t current,
                                                                int32_t epoch)
{
    struct offset_for_leader_epoch_request request = offset_for_leader_epoch_request_empty();
    request.replica_id = -1;
    make_array(client, &offset_for_leader_epoch_request_topic_shape, 1, &request.topics);
    request.topics.items[0].topic = topic;
    make_array(client, &offset_for_leader_epoch_request_partition_shape, 1,
               &request.topics.items[0].partitions);
    request.topics.items[0].partitions.items[0].partition = partition;
    request.topics.items[0].partitions.items[0].current_leader_epoch = current;
    request.topics.items[0].partitions.items[0].leader_epoch = epoch;
    struct offset_for_leader_epoch_response response;
    if (version < 3) request.replica_id = -2; /* Its default: older versions do not have it. */
    client_call(client, OFFSET_FOR_LEADER_EPOCH, version, &request, &response);
    assert_in_version(version, response.topics.count, 1);
    assert_true(str_equal(response.topics.items[0].topic, topic));
    assert_in_version(version, response.topics.items[0].partitions.count, 1);
    assert_in_version(version, response.topics.items[0].partitions.items[0].partition, partition);
    return response.topics.items[0].partitions.items[0];
}

static void assert_end(struct test_client *client, struct str topic, int32_t partition,
                       int32_t current, int32_t epoch,
                       struct offset_for_leader_epoch_response_partition expected)
{
    for (int16_t version = OLDEST; version <= OFFSET_FOR_LEADER_EPOCH_NEWEST; version++) {
        struct offset_for_leader_epoch_response_partition answer = end_of(
            client, version, topic, partition, current, epoch);
        assert_in_version(version, answer.error_code, expected.error_code);
        assert_in_version(version, answer.leader_epoch, expected.leader_epoch);
        assert_in_version(version, answer.end_offset, expected.end_offset);
    }
}

#define ANSWER(error, epoch, end)                                           \
    (struct offset_for_leader_epoch_response_partition)                     \
    {                                                                       \
        .error_code = (error), .leader_epoch = (epoch), .end_offset = (end) \
    }

TEST(the_epoch_that_goes_on_ends_where_the_log_does)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    assert_end(client, topic.name, 0, -1, 0, ANSWER(0, 0, 0));
    produce_some(client, topic, 0, 3);
    assert_end(client, topic.name, 0, -1, 0, ANSWER(0, 0, 3));
    assert_end(client, topic.name, 0, 0, 0, ANSWER(0, 0, 3));
    client_close(client);
}

TEST(of_no_epoch_and_of_one_to_come_nothing_is_known)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 3);
    assert_end(client, topic.name, 0, -1, -1, ANSWER(0, -1, -1));
    assert_end(client, topic.name, 0, -1, 1, ANSWER(0, -1, -1));
    assert_end(client, topic.name, 0, -1, INT32_MAX, ANSWER(0, -1, -1));
    client_close(client);
}

/* Before the first one that is known: itself, and where that begins. */
TEST(an_epoch_before_the_first_ends_where_the_log_begins)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 3);
    assert_end(client, topic.name, 0, -1, -2, ANSWER(0, -2, 0));
    client_close(client);
}

TEST(who_believes_in_another_leader_is_told)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 3);
    assert_end(client, topic.name, 0, 1, 0, ANSWER(75, -1, -1));
    assert_end(client, topic.name, 0, INT32_MAX, 0, ANSWER(75, -1, -1));
    client_close(client);
}

TEST(what_does_not_exist_has_no_epochs)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    assert_end(client, topic_name_new(), 0, -1, 0, ANSWER(3, -1, -1));
    assert_end(client, topic.name, 1, -1, 0, ANSWER(3, -1, -1));
    assert_end(client, topic.name, -1, -1, 0, ANSWER(3, -1, -1));
    client_close(client);
}

static void delete_below(struct test_client *client, struct str topic, int64_t offset)
{
    struct delete_records_request request = delete_records_request_empty();
    request.timeout_ms = 30000;
    make_array(client, &delete_records_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = topic;
    make_array(client, &delete_records_request_partition_shape, 1,
               &request.topics.items[0].partitions);
    request.topics.items[0].partitions.items[0].offset = offset;
    struct delete_records_response response;
    client_call(client, DELETE_RECORDS, DELETE_RECORDS_NEWEST, &request, &response);
    assert_int_equal(response.topics.items[0].partitions.items[0].error_code, 0);
}

TEST(deleted_records_leave_the_end_of_their_epoch)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 3);
    delete_below(client, topic.name, 2);
    assert_end(client, topic.name, 0, -1, 0, ANSWER(0, 0, 3));
    assert_end(client, topic.name, 0, -1, -2, ANSWER(0, -2, 2));
    client_close(client);
}

/* The log is one that a Kafka wrote: 0 from offset 4 on, 1 from 18, 3 from 23. Ours follows at 45, and
 * behind a kill the next one at 47. */
TEST(every_epoch_of_several_ends_where_the_one_that_followed_it_began)
{
    struct test_broker broker;
    test_broker_prepare_on(&broker, NULL, "data/segment-data");
    test_broker_start(&broker);
    struct test_client *client = client_open(broker.port);
    struct str orders = STR_LITERAL("orders");
    produce_some(client, await_topic(client, orders, 1), 0, 2);
    assert_int_equal(leader_epoch_of(client, orders), 4);
    for (int life = 0; life < 2; life++) {
        int32_t current = leader_epoch_of(client, orders);
        assert_end(client, orders, 0, -1, -1, ANSWER(0, -1, -1)); /* No epoch. */
        assert_end(client, orders, 0, -1, -2, ANSWER(0, -2, 4));  /* Below all: the first begins. */
        assert_end(client, orders, 0, current, 0, ANSWER(0, 0, 18));
        assert_end(client, orders, 0, current, 1, ANSWER(0, 1, 23));
        assert_end(client, orders, 0, current, 2, ANSWER(0, 1, 23)); /* Nobody led in it. */
        assert_end(client, orders, 0, current, 3, ANSWER(0, 3, 45));
        assert_end(client, orders, 0, current, 4, ANSWER(0, 4, 47));
        assert_end(client, orders, 0, current, current, ANSWER(0, current, 47)); /* It goes on. */
        assert_end(client, orders, 0, -1, current + 1, ANSWER(0, -1, -1));       /* To come. */
        assert_end(client, orders, 0, current - 1, 3, ANSWER(74, -1, -1));
        assert_end(client, orders, 0, current + 1, 3, ANSWER(75, -1, -1));
        if (life == 1) break;
        client_close(client);
        test_broker_kill(&broker);
        test_broker_start(&broker);
        client = client_open(broker.port);
        await_topic(client, orders, 1);
    }
    /* Of an epoch whose records are gone only that is known where the log begins. */
    delete_below(client, orders, 20);
    assert_end(client, orders, 0, -1, 0, ANSWER(0, 0, 20));
    assert_end(client, orders, 0, -1, 1, ANSWER(0, 1, 23));
    client_close(client);
    test_broker_stop(&broker);
}

TEST(a_request_for_no_epoch_is_answered)
{
    struct test_client *client = client_open(shared_broker_port());
    struct offset_for_leader_epoch_request request = offset_for_leader_epoch_request_empty();
    for (int16_t version = OLDEST; version <= OFFSET_FOR_LEADER_EPOCH_NEWEST; version++) {
        struct offset_for_leader_epoch_response response;
        client_call(client, OFFSET_FOR_LEADER_EPOCH, version, &request, &response);
        assert_in_version(version, response.topics.count, 0);
    }
    client_close(client);
}
