// SPDX-License-Identifier: Apache-2.0
/* When a Fetch waits, what wakes it, and when it does not wait. Clients give up much earlier, so an
 * answer to a fetch that would wait for ten minutes means that it was woken. */

#include "api_calls.h"

#define TEN_MINUTES_MS (10 * 60 * 1000)

static struct fetch_request waiting_fetch(struct test_client *client, struct topic topic,
                                          int64_t offset, int32_t min_bytes)
{
    struct fetch_request request = fetch_request(client, topic, 0, offset);
    request.max_wait_ms = TEN_MINUTES_MS;
    request.min_bytes = min_bytes;
    return request;
}

static struct fetch_response_partition receive_fetch(struct test_client *client, int16_t version)
{
    struct fetch_response response;
    client_receive(client, FETCH, version, &response);
    return only_partition(&response);
}

/* Whatever it answers shows that the broker has read what was sent before on other connections, or
 * nearly so: enough to let a fetch begin to wait. */
static void let_the_broker_read(void)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int i = 0; i < 5; i++)
        topic_exists(client, topic_name_new());
    client_close(client);
}

TEST(records_wake_a_fetch_that_waits_for_them)
{
    struct test_client *client = client_open(shared_broker_port());
    struct test_client *producer = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (int16_t version = 4; version <= FETCH_NEWEST; version++) {
        int64_t end = end_offset(producer, topic, 0);
        struct fetch_request request = waiting_fetch(client, topic, end, 1);
        client_send(client, FETCH, version, &request);
        let_the_broker_read();
        produce_some(producer, topic, 0, 1);
        struct fetch_response_partition answer = receive_fetch(client, version);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, records_batch_count(answer.records), 1);
        assert_in_version(version, batch_base_offset(answer.records), end);
    }
    client_close(producer);
    client_close(client);
}

TEST(a_fetch_that_waits_for_more_is_not_woken_by_less)
{
    struct test_client *client = client_open(shared_broker_port());
    struct test_client *producer = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct records batch = batch_build(&producer->arena, (struct batch){ .value_bytes = 100 });
    struct fetch_request request = waiting_fetch(client, topic, 0, 10 * batch.length);
    client_send(client, FETCH, FETCH_NEWEST, &request);
    for (int i = 0; i < 10; i++) {
        let_the_broker_read();
        produce(producer, topic, 0, batch);
    }
    struct fetch_response_partition answer = receive_fetch(client, FETCH_NEWEST);
    assert_int_equal(records_batch_count(answer.records), 10);
    client_close(producer);
    client_close(client);
}

/* What came and was not enough does not end its deadline. */
TEST(a_fetch_that_was_woken_by_less_answers_at_its_deadline)
{
    struct test_client *client = client_open(shared_broker_port());
    struct test_client *producer = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct fetch_request request = waiting_fetch(client, topic, 0, 1 << 20);
    request.max_wait_ms = 300;
    client_send(client, FETCH, FETCH_NEWEST, &request);
    for (int i = 0; i < 2; i++) {
        let_the_broker_read();
        produce_some(producer, topic, 0, 1);
    }
    struct fetch_response_partition answer = receive_fetch(client, FETCH_NEWEST);
    assert_int_equal(records_batch_count(answer.records), 2);
    client_close(producer);
    client_close(client);
}

TEST(the_bytes_of_several_partitions_count_together)
{
    struct test_client *client = client_open(shared_broker_port());
    struct test_client *producer = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    struct records batch = batch_build(&producer->arena, (struct batch){ .value_bytes = 100 });
    struct fetch_request request = waiting_fetch(client, topic, 0, 2 * batch.length);
    make_array(client, &fetch_request_partition_shape, 2, &request.topics.items[0].partitions);
    for (int32_t i = 0; i < 2; i++) {
        request.topics.items[0].partitions.items[i].partition = i;
        request.topics.items[0].partitions.items[i].partition_max_bytes = 1 << 20;
    }
    client_send(client, FETCH, FETCH_NEWEST, &request);
    for (int32_t i = 0; i < 2; i++) {
        let_the_broker_read();
        produce(producer, topic, i, batch);
    }
    struct fetch_response response;
    client_receive(client, FETCH, FETCH_NEWEST, &response);
    for (int32_t i = 0; i < 2; i++)
        assert_int_equal(
            records_batch_count(response.responses.items[0].partitions.items[i].records), 1);
    client_close(producer);
    client_close(client);
}

TEST(a_fetch_that_nothing_wakes_answers_at_its_deadline)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    for (int16_t version = 4; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topic, 0, 1);
        request.max_wait_ms = 30;
        request.min_bytes = 1;
        struct fetch_response_partition answer = fetch_with(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, answer.high_watermark, 1);
        assert_in_version(version, answer.records.length, 0);
    }
    client_close(client);
}

/* What is there is given at the deadline, although it is less than was asked for. */
TEST(at_its_deadline_a_fetch_gives_what_there_is)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 2);
    struct fetch_request request = fetch_request(client, topic, 0, 0);
    request.max_wait_ms = 50;
    request.min_bytes = 1 << 20;
    struct fetch_response_partition answer = fetch_with(client, FETCH_NEWEST, &request);
    assert_int_equal(records_batch_count(answer.records), 2);
    client_close(client);
}

TEST(a_fetch_does_not_wait_if_enough_is_there)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 2);
    struct fetch_request request = waiting_fetch(client, topic, 1, 1);
    struct fetch_response_partition answer = fetch_with(client, FETCH_NEWEST, &request);
    assert_int_equal(records_batch_count(answer.records), 1);
    client_close(client);
}

TEST(a_fetch_does_not_wait_if_nothing_is_asked_for)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct fetch_request request = waiting_fetch(client, topic, 0, 0);
    assert_int_equal(fetch_with(client, FETCH_NEWEST, &request).records.length, 0);

    request.topics.count = 0;
    request.min_bytes = 1;
    struct fetch_response response;
    client_call(client, FETCH, FETCH_NEWEST, &request, &response);
    assert_int_equal(response.error_code, 0);
    assert_int_equal(response.responses.count, 0);
    client_close(client);
}

TEST(a_fetch_does_not_wait_if_it_has_an_error_to_tell)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct fetch_request request = waiting_fetch(client, topic, 5, 1);
    assert_int_equal(fetch_with(client, FETCH_NEWEST, &request).error_code, 1);
    struct topic unknown = { .name = topic_name_new(), .id = { { 7, 7, 7, 7 } } };
    request = waiting_fetch(client, unknown, 0, 1);
    assert_int_equal(fetch_with(client, 12, &request).error_code, 3);
    assert_int_equal(fetch_with(client, 13, &request).error_code, 100);
    client_close(client);
}

TEST(one_batch_wakes_everybody_who_waits_for_it)
{
    enum { CONSUMERS = 50 };
    struct test_client *producer = client_open(shared_broker_port());
    struct topic topic = topic_new(producer, 1);
    struct test_client *consumers[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++) {
        consumers[i] = client_open(shared_broker_port());
        struct fetch_request request = waiting_fetch(consumers[i], topic, 0, 1);
        client_send(consumers[i], FETCH, FETCH_NEWEST, &request);
    }
    let_the_broker_read();
    produce_some(producer, topic, 0, 1);
    for (int i = 0; i < CONSUMERS; i++) {
        struct fetch_response_partition answer = receive_fetch(consumers[i], FETCH_NEWEST);
        assert_int_equal(records_batch_count(answer.records), 1);
        client_close(consumers[i]);
    }
    client_close(producer);
}

/* A producer and a consumer in step: each record is there before the next is sent. */
TEST(no_wake_is_lost_however_close_the_two_come)
{
    enum { ROUNDS = 500 };
    struct test_client *client = client_open(shared_broker_port());
    struct test_client *producer = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct produce_request to_produce = produce_request(
        producer, topic, 0, batch_build(&producer->arena, (struct batch){ 0 }));
    for (int64_t i = 0; i < ROUNDS; i++) {
        struct fetch_request request = waiting_fetch(client, topic, i, 1);
        struct produce_response produced;
        if (i % 2 == 0) client_send(client, FETCH, 12, &request);
        client_send(producer, PRODUCE, 9, &to_produce);
        if (i % 2 == 1) client_send(client, FETCH, 12, &request);
        client_receive(producer, PRODUCE, 9, &produced);
        struct fetch_response_partition answer = receive_fetch(client, 12);
        assert_int_equal(answer.error_code, 0);
        assert_int_equal(batch_base_offset(answer.records), i);
    }
    client_close(producer);
    client_close(client);
}

TEST(deleting_a_topic_ends_the_fetches_that_wait_for_it)
{
    struct test_client *client = client_open(shared_broker_port());
    struct test_client *other = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct fetch_request request = waiting_fetch(client, topic, 1, 1);
    client_send(client, FETCH, FETCH_NEWEST, &request);
    let_the_broker_read();
    topic_delete(other, topic);
    int16_t error = receive_fetch(client, FETCH_NEWEST).error_code;
    if (error != 3 && error != 6 && error != 100) fail_msg("error %d", error);
    client_close(other);
    client_close(client);
}
