// SPDX-License-Identifier: Apache-2.0
/* What idempotent producers can rely on: a repeat is answered as the first time and appended once. What
 * Kafka answers to rows of batches: test_produce_vectors.c. */

#include "api_calls.h"

static struct records sequence(struct test_client *client, int64_t producer_id, int16_t epoch,
                               int32_t first)
{
    return batch_build(&client->arena, (struct batch){ .is_idempotent = true,
                                                       .producer_id = producer_id,
                                                       .producer_epoch = epoch,
                                                       .base_sequence = first,
                                                       .record_count = 2 });
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
    int16_t error =
        produce_to(client, 9, topic, 0, -1, sequence(client, producer_id, 3, 2)).error_code;
    if (error != 45 && error != 46) fail_msg("the sixth last: %d", error);
    error = produce_to(client, 9, topic, 0, -1, sequence(client, producer_id, 3, 16)).error_code;
    assert_int_equal(error, 45);
    error = produce_to(client, 9, topic, 0, -1, sequence(client, producer_id, 2, 14)).error_code;
    assert_int_equal(error, 47);
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
        int16_t error =
            produce_to(client, 9, topic, 0, -1, sequence(client, producer_id, 0, 8)).error_code;
        assert_int_equal(error, 45);
        client_close(client);
    }
    test_broker_stop(&broker);
}
