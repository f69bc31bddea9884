// SPDX-License-Identifier: Apache-2.0
/* Topics whose acknowledgements wait for the disk (DESIGN 4.6). */

#include "api_calls.h"

/* Nothing but flush.* begins a flush. */
static const char *const no_housekeeping[] = { "sluice.flush.interval.ms=600000", NULL };

static struct topic flushed_topic(struct test_client *client, const char *name, const char *value)
{
    struct topic_setting settings[] = { { name, value }, { NULL, NULL } };
    return topic_new_with(client, 1, settings);
}

static int64_t produce_acked(struct test_client *client, struct topic topic, int16_t acks)
{
    struct records records = batch_build(&client->arena, (struct batch){ .record_count = 3 });
    struct produce_response_partition answer = produce_to(client, PRODUCE_NEWEST, topic, 0, acks,
                                                          records);
    assert_int_equal(answer.error_code, 0);
    return answer.base_offset;
}

TEST(records_of_flushed_topics_are_acknowledged_and_read)
{
    static const char *const ways[][2] = {
        { "flush.messages", "1" },
        { "flush.messages", "2" },
        { "flush.ms", "0" },
        { "flush.ms", "20" },
    };
    struct test_broker broker;
    test_broker_open(&broker, no_housekeeping);
    struct test_client *client = client_open(broker.port);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct topic topic = flushed_topic(client, ways[i][0], ways[i][1]);
        assert_int_equal(produce_acked(client, topic, 1), 0);
        assert_int_equal(produce_acked(client, topic, -1), 3);
        assert_int_equal(end_offset(client, topic, 0), 6);
        struct fetch_response_partition answer = fetch(client, topic, 0, 0);
        assert_int_equal(answer.high_watermark, 6);
        assert_int_equal(records_batch_count(answer.records), 2);
    }
    client_close(client);
    test_broker_stop(&broker);
}

TEST(many_requests_in_flight_are_all_acknowledged_in_order)
{
    enum { REQUESTS = 200 };
    struct test_broker broker;
    test_broker_open(&broker, no_housekeeping);
    struct test_client *client = client_open(broker.port);
    struct topic topic = flushed_topic(client, "flush.messages", "1");
    for (int i = 0; i < REQUESTS; i++) {
        struct records records = batch_build(&client->arena, (struct batch){ .record_count = 1 });
        struct produce_request request = produce_request(client, topic, 0, records);
        request.acks = i % 2 == 0 ? 1 : -1;
        client_send(client, PRODUCE, PRODUCE_NEWEST, &request);
    }
    for (int i = 0; i < REQUESTS; i++) {
        struct produce_response response;
        client_receive(client, PRODUCE, PRODUCE_NEWEST, &response);
        struct produce_response_partition *answer =
            &response.responses.items[0].partition_responses.items[0];
        assert_int_equal(answer->error_code, 0);
        assert_int_equal(answer->base_offset, i);
    }
    client_close(client);
    test_broker_stop(&broker);
}

TEST(whose_flush_does_not_come_in_time_gets_7_and_nobody_sees_the_records)
{
    struct test_broker broker;
    test_broker_open(&broker, no_housekeeping);
    struct test_client *client = client_open(broker.port);
    struct topic topic = flushed_topic(client, "flush.messages", "1000");
    for (int16_t acks = -1; acks <= 1; acks += 2) {
        struct records records = batch_build(&client->arena, (struct batch){ .record_count = 1 });
        struct produce_request request = produce_request(client, topic, 0, records);
        request.acks = acks;
        request.timeout_ms = 50;
        struct produce_response response;
        client_call(client, PRODUCE, PRODUCE_NEWEST, &request, &response);
        assert_int_equal(response.responses.items[0].partition_responses.items[0].error_code, 7);
    }
    assert_int_equal(end_offset(client, topic, 0), 0);
    struct fetch_response_partition answer = fetch(client, topic, 0, 0);
    assert_int_equal(answer.error_code, 0);
    assert_int_equal(answer.high_watermark, 0);
    assert_int_equal(records_batch_count(answer.records), 0);
    client_close(client);
    test_broker_stop(&broker);
}

TEST(a_stop_acknowledges_what_waits_for_the_disk)
{
    struct test_broker broker;
    test_broker_open(&broker, no_housekeeping);
    struct test_client *client = client_open(broker.port);
    struct topic topic = flushed_topic(client, "flush.messages", "1000");
    struct records records = batch_build(&client->arena, (struct batch){ .record_count = 1 });
    struct produce_request request = produce_request(client, topic, 0, records);
    request.acks = 1;
    request.timeout_ms = 600000;
    client_send(client, PRODUCE, PRODUCE_NEWEST, &request);

    test_broker_ask_to_stop(&broker);
    struct produce_response response; /* None if the broker stopped before it read the request. */
    if (client_receive_unless_closed(client, PRODUCE, PRODUCE_NEWEST, &response))
        assert_int_equal(response.responses.items[0].partition_responses.items[0].error_code, 0);
    test_broker_wait(&broker);
    client_close(client);
}
