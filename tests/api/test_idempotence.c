// SPDX-License-Identifier: Apache-2.0
/* What idempotent producers can rely on: a repeat is answered as the first time and appended once. What
 * Kafka answers to rows of batches: test_produce_vectors.c. */

#include "api_calls.h"
#include "clock.h"

#define PATIENCE_US (60 * INT64_C(1000000))

static struct records sequence(struct test_client *client, int64_t producer_id, int16_t epoch,
                               int32_t first)
{
    return batch_build(&client->arena, (struct batch){ .is_idempotent = true,
                                                       .producer_id = producer_id,
                                                       .producer_epoch = epoch,
                                                       .base_sequence = first,
                                                       .record_count = 2 });
}

static int16_t error_of(struct test_client *client, struct topic topic, struct records batch)
{
    return produce_to(client, PRODUCE_NEWEST, topic, 0, -1, batch).error_code;
}

/* DESIGN 5.4. Seven batches of two records: offsets and sequences are equal. */
TEST(the_last_five_batches_of_a_producer_are_known_after_kill)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    int64_t producer_id = producer_id_new(client);
    for (int32_t first = 0; first < 14; first += 2)
        assert_int_equal(produce(client, topic, 0, sequence(client, producer_id, 3, first)), first);
    client_close(client);
    test_broker_kill(&broker);
    test_broker_start(&broker);

    client = client_open(broker.port);
    for (int32_t first = 4; first < 14; first += 2)
        assert_int_equal(produce(client, topic, 0, sequence(client, producer_id, 3, first)), first);
    assert_int_equal(end_offset(client, topic, 0), 14);
    int16_t error = error_of(client, topic, sequence(client, producer_id, 3, 2));
    if (error != 45 && error != 46) fail_msg("the sixth last: %d", error);
    assert_int_equal(error_of(client, topic, sequence(client, producer_id, 3, 16)), 45);
    assert_int_equal(error_of(client, topic, sequence(client, producer_id, 2, 14)), 47);
    assert_int_equal(produce(client, topic, 0, sequence(client, producer_id, 3, 14)), 14);
    client_close(client);
    test_broker_stop(&broker);
}

/* DESIGN 5.4: a snapshot in Kafka's format has room for the newest batch. */
TEST(the_newest_batch_of_a_producer_is_known_after_a_polite_stop)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    int64_t producer_id = producer_id_new(client);
    for (int32_t first = 0; first < 6; first += 2)
        produce(client, topic, 0, sequence(client, producer_id, 0, first));
    client_close(client);
    for (int round = 0; round < 3; round++) {
        test_broker_stop(&broker);
        test_broker_start(&broker);
        client = client_open(broker.port);
        assert_int_equal(produce(client, topic, 0, sequence(client, producer_id, 0, 4)), 4);
        assert_int_equal(end_offset(client, topic, 0), 6);
        assert_int_equal(error_of(client, topic, sequence(client, producer_id, 0, 8)), 45);
        client_close(client);
    }
    test_broker_stop(&broker);
}

/* Twice five batches of two records around the largest number; offsets count on. */
TEST(sequences_go_on_at_zero_behind_the_largest_number_also_across_a_kill)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    for (int32_t inside = 0; inside <= 1; inside++) { /* Between two batches, and within one. */
        static const int32_t behind[] = { 0, 2, 4 };
        struct test_client *client = client_open(broker.port);
        struct topic topic = topic_new(client, 1);
        int64_t id = producer_id_new(client);
        int32_t last = INT32_MAX - 1 + inside;
        assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, last - 2)), 0);
        assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, last)), 2);
        for (int32_t i = 0; i < 3; i++)
            assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, behind[i] + inside)),
                             4 + 2 * i);
        client_close(client);
        test_broker_kill(&broker);
        test_broker_start(&broker);

        client = client_open(broker.port);
        await_partition(client, topic, 0);
        assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, last - 2)), 0);
        assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, last)), 2);
        for (int32_t i = 0; i < 3; i++)
            assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, behind[i] + inside)),
                             4 + 2 * i);
        assert_int_equal(end_offset(client, topic, 0), 10);
        assert_int_equal(error_of(client, topic, sequence(client, id, 0, 7 + inside)), 45);
        assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, 6 + inside)), 10);
        client_close(client);
    }
    test_broker_stop(&broker);
}

TEST(a_new_epoch_begins_at_zero_also_after_a_kill_or_a_polite_stop)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    int64_t id = producer_id_new(client);
    int64_t end = 2;
    produce(client, topic, 0, sequence(client, id, 0, 0));
    for (int16_t epoch = 1; epoch <= 4; epoch++) {
        client_close(client);
        if (epoch % 2 == 0)
            test_broker_stop(&broker);
        else
            test_broker_kill(&broker);
        test_broker_start(&broker);
        client = client_open(broker.port);
        await_partition(client, topic, 0);
        assert_int_equal(error_of(client, topic, sequence(client, id, epoch, 2)), 45);
        assert_int_equal(produce(client, topic, 0, sequence(client, id, epoch, 0)), end);
        assert_int_equal(error_of(client, topic, sequence(client, id, epoch - 1, 2)), 47);
        end += 2;
        assert_int_equal(end_offset(client, topic, 0), end);
    }
    client_close(client);
    test_broker_stop(&broker);
}

TEST(each_partition_has_sequences_of_its_own)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    int64_t id = producer_id_new(client);
    for (int round = 0; round < 2; round++) { /* The second time all are repeats. */
        for (int32_t first = 0; first < 6; first += 2)
            for (int32_t partition = 0; partition < 3; partition++)
                assert_int_equal(produce(client, topic, partition, sequence(client, id, 0, first)),
                                 first);
    }
    for (int32_t partition = 0; partition < 3; partition++)
        assert_int_equal(end_offset(client, topic, partition), 6);
    client_close(client);
}

/* As after a connection that broke: all that was in flight is sent again, at once. */
TEST(five_batches_in_flight_may_be_sent_again_in_one_write)
{
    enum { BATCHES = 5 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    int64_t id = producer_id_new(client);
    produce(client, topic, 0, sequence(client, id, 0, 0));
    for (int round = 0; round < 3; round++) {
        struct buffer frames;
        buffer_init(&frames);
        for (int32_t i = 0; i < BATCHES; i++) {
            struct records batch = sequence(client, id, 0, 2 + 2 * i);
            struct produce_request request = produce_request(client, topic, 0, batch);
            client_encode(client, PRODUCE, PRODUCE_NEWEST, &request, &frames);
        }
        client_send_bytes(client, frames.data, frames.length);
        buffer_close(&frames);
        for (int32_t i = 0; i < BATCHES; i++) {
            struct produce_response response;
            client_receive(client, PRODUCE, PRODUCE_NEWEST, &response);
            struct produce_response_partition *answer =
                &response.responses.items[0].partition_responses.items[0];
            assert_int_equal(answer->error_code, 0);
            assert_int_equal(answer->base_offset, 2 + 2 * i);
        }
        assert_int_equal(end_offset(client, topic, 0), 2 + 2 * BATCHES);
    }
    client_close(client);
}

/* ---- who was idle */

static int32_t producer_count(struct test_client *client, struct topic topic)
{
    struct describe_producers_request request = describe_producers_request_empty();
    make_array(client, &describe_producers_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = topic.name;
    make_array_of_one(client, &request.topics.items[0].partition_indexes, 0);
    struct describe_producers_response response;
    client_call(client, DESCRIBE_PRODUCERS, DESCRIBE_PRODUCERS_NEWEST, &request, &response);
    assert_int_equal(response.topics.items[0].partitions.items[0].error_code, 0);
    return response.topics.items[0].partitions.items[0].active_producers.count;
}

static void await_forgotten(struct test_client *client, struct topic topic)
{
    int64_t deadline_us = clock_monotonic_us(clock_real()) + PATIENCE_US;
    while (producer_count(client, topic) > 0)
        if (clock_monotonic_us(clock_real()) > deadline_us) fail_msg("it is not forgotten");
}

/* Its id is as good as ever; only what it sent last is forgotten, so any sequence is the next. */
TEST(a_producer_that_was_idle_for_too_long_goes_on_where_it_was)
{
    static const char *const forget_soon[] = { "producer.id.expiration.ms=1",
                                               "producer.id.expiration.check.interval.ms=1", NULL };
    struct test_broker broker;
    test_broker_open(&broker, forget_soon);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    int64_t id = producer_id_new(client);
    produce(client, topic, 0, sequence(client, id, 0, 0));
    int32_t next = 2;
    for (int round = 0; round < 5; round++) {
        await_forgotten(client, topic);
        if (round == 2) next = 1000; /* What is missing was acknowledged by nobody here. */
        int64_t end = end_offset(client, topic, 0);
        assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, next)), end);
        next += 2;
    }
    client_close(client);
    test_broker_stop(&broker);
}

/* Looked at every millisecond, and transactional ids go at once: nobody is forgotten before a day. */
TEST(plain_producers_are_not_forgotten_with_transactional_ids)
{
    enum { LOOKS = 300 };
    static const char *const settings[] = { "transactional.id.expiration.ms=1",
                                            "producer.id.expiration.check.interval.ms=1", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    int64_t id = producer_id_new(client);
    produce(client, topic, 0, sequence(client, id, 0, 0));
    for (int i = 0; i < LOOKS; i++)
        assert_int_equal(producer_count(client, topic), 1);
    assert_int_equal(error_of(client, topic, sequence(client, id, 0, 6)), 45);
    assert_int_equal(produce(client, topic, 0, sequence(client, id, 0, 0)), 0); /* A repeat. */
    client_close(client);
    test_broker_stop(&broker);
}
