// SPDX-License-Identifier: Apache-2.0
/* What holds through kill -9 and through a polite stop. */

#include <poll.h>
#include <sys/socket.h>

#include "api_calls.h"

/* Appends `count` batches of different sizes; they are what `sent` holds afterwards. */
static void append_different(struct test_client *client, struct topic topic, int32_t partition,
                             struct records *sent, int count)
{
    for (int i = 0; i < count; i++) {
        sent[i] = batch_build(&client->arena, (struct batch){ .record_count = 1 + i % 7,
                                                              .value_bytes = 1 + 613 * (i % 40),
                                                              .is_keyed = true });
        produce(client, topic, partition, sent[i]);
    }
}

static void assert_log_holds(struct test_client *client, struct topic topic, int32_t partition,
                             const struct records *sent, int count)
{
    int64_t offset = 0;
    struct fetch_response_partition answer = fetch(client, topic, partition, 0);
    assert_int_equal(answer.error_code, 0);
    assert_int_equal(records_batch_count(answer.records), count);
    for (int i = 0; i < count; i++) {
        struct records batch = records_batch(answer.records, i);
        assert_int_equal(batch_base_offset(batch), offset);
        assert_same_batch(batch, sent[i]);
        offset = batch_last_offset(batch) + 1;
    }
    assert_int_equal(end_offset(client, topic, partition), offset);
}

enum { KILL, STOP, WAYS };

static void end_broker(struct test_broker *broker, int way)
{
    if (way == KILL)
        test_broker_kill(broker);
    else
        test_broker_stop(broker);
}

TEST(acknowledged_records_are_the_same_bytes_after_a_restart)
{
    enum { BATCHES = 100, ROUNDS = 4 };
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *clients[ROUNDS + 1]; /* Closed at the end: what was sent is theirs. */
    clients[0] = client_open(broker.port);
    struct topic topic = topic_new(clients[0], 3);
    static struct records sent[BATCHES * (ROUNDS + 1)];
    append_different(clients[0], topic, 2, sent, BATCHES);
    for (int round = 1; round <= ROUNDS; round++) {
        end_broker(&broker, round % WAYS);
        test_broker_start(&broker);
        clients[round] = client_open(broker.port);
        for (int32_t i = 0; i < 3; i++)
            await_partition(clients[round], topic, i);
        assert_log_holds(clients[round], topic, 2, sent, round * BATCHES);
        assert_int_equal(end_offset(clients[round], topic, 0), 0);
        append_different(clients[round], topic, 2, sent + round * BATCHES, BATCHES);
    }
    for (int i = 0; i <= ROUNDS; i++)
        client_close(clients[i]);
    test_broker_stop(&broker);
}

/* DESIGN 7.5: "unknown topic" makes a producer drop its records. */
TEST(a_restarted_broker_never_says_that_a_topic_is_unknown)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 50);
    produce_some(client, topic, 7, 1);
    client_close(client);
    for (int round = 0; round < 6; round++) {
        end_broker(&broker, round % WAYS);
        test_broker_start(&broker); /* Returns with the first connection that is accepted. */
        client = client_open(broker.port);
        struct metadata_response_topic seen = metadata_of(client, METADATA_NEWEST, topic.name, NULL,
                                                          true);
        assert_int_equal(seen.error_code, 0);
        assert_true(uuid_equal(&seen.topic_id, &topic.id));
        assert_int_equal(seen.partitions.count, 50);
        for (int32_t i = 0; i < 50; i++)
            assert_int_equal(seen.partitions.items[i].error_code, 0);
        struct records batch = batch_build(&client->arena, (struct batch){ 0 });
        struct produce_response_partition produced = produce_to(client, PRODUCE_NEWEST, topic, 7,
                                                                -1, batch);
        assert_int_equal(produced.error_code, 0);
        assert_int_equal(produced.base_offset, round + 1);
        client_close(client);
    }
    test_broker_stop(&broker);
}

/* A partition that is not open yet may say so, but only in words that consumers know: Java's throws an
 * IllegalStateException at any other, 5 among them. */
TEST(a_fetch_right_after_a_restart_is_answered_with_what_consumers_retry)
{
    enum { PARTITIONS = 40 };
    static const int16_t known[] = { 0, 6, 9, 56, 78 };
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, PARTITIONS);
    for (int32_t i = 0; i < PARTITIONS; i++)
        produce_some(client, topic, i, 5);
    client_close(client);
    for (int round = 0; round < 4; round++) {
        end_broker(&broker, round % WAYS);
        test_broker_start(&broker);
        client = client_open(broker.port);
        for (int32_t i = PARTITIONS - 1; i >= 0; i--) {
            int16_t error = fetch(client, topic, i, 0).error_code;
            bool is_known = false;
            for (size_t j = 0; j < sizeof known / sizeof known[0]; j++)
                is_known |= error == known[j];
            if (!is_known) fail_msg("error %d", error);
        }
        client_close(client);
    }
    test_broker_stop(&broker);
}

/* ---- producers; their batches: test_idempotence.c ---- */

TEST(producer_ids_are_never_given_twice)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    int64_t last = -1;
    for (int round = 0; round < 6; round++) {
        struct test_client *client = client_open(broker.port);
        for (int i = 0; i < 3; i++) {
            int64_t producer_id = producer_id_new(client);
            assert_true(producer_id > last);
            last = producer_id;
        }
        client_close(client);
        end_broker(&broker, round % WAYS);
        test_broker_start(&broker);
    }
    test_broker_stop(&broker);
}

/* ---- topics ---- */

TEST(topics_and_their_settings_survive_and_deleted_ones_do_not)
{
    static const struct topic_setting settings[] = { { "max.message.bytes", "1000" },
                                                     { NULL, NULL } };
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic kept = topic_new_with(client, 2, settings);
    struct topic gone = topic_new(client, 2);
    produce_some(client, gone, 0, 5);
    topic_delete(client, gone);
    client_close(client);
    for (int round = 0; round < 4; round++) {
        end_broker(&broker, round % WAYS);
        test_broker_start(&broker);
        client = client_open(broker.port);
        struct metadata_response_topic seen = metadata_of(client, METADATA_NEWEST, kept.name, NULL,
                                                          false);
        assert_int_equal(seen.error_code, 0);
        assert_true(uuid_equal(&seen.topic_id, &kept.id));
        assert_int_equal(seen.partitions.count, 2);
        struct records large = batch_build(&client->arena, (struct batch){ .value_bytes = 1000 });
        assert_int_equal(produce_to(client, 9, kept, 0, -1, large).error_code, 10);
        assert_false(topic_exists(client, gone.name));
        client_close(client);
    }

    client = client_open(broker.port);
    struct create_topics_request request = create_request(client, gone.name);
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code, 0);
    gone = await_topic(client, gone.name, 1);
    assert_int_equal(end_offset(client, gone, 0), 0);
    client_close(client);
    test_broker_stop(&broker);
}

/* KIP-320. */
TEST(leader_epochs_never_go_back_and_old_ones_are_fenced)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    int32_t last = -1;
    for (int round = 0; round < 5; round++) {
        struct metadata_response_topic seen = metadata_of(client, METADATA_NEWEST, topic.name, NULL,
                                                          false);
        assert_int_equal(seen.error_code, 0);
        int32_t epoch = seen.partitions.items[0].leader_epoch;
        assert_true(epoch >= last);
        last = epoch;
        produce_some(client, topic, 0, 1);
        if (epoch > 0) {
            struct fetch_request request = fetch_request(client, topic, 0, 0);
            request.topics.items[0].partitions.items[0].current_leader_epoch = epoch - 1;
            assert_int_equal(fetch_with(client, FETCH_NEWEST, &request).error_code, 74);
        }
        client_close(client);
        end_broker(&broker, round % WAYS);
        test_broker_start(&broker);
        client = client_open(broker.port);
    }
    client_close(client);
    test_broker_stop(&broker);
}

/* ---- at work ---- */

/* The oracle is one sentence: what was acknowledged is readable. */
TEST(a_kill_in_the_middle_of_work_loses_nothing_that_was_acknowledged)
{
    enum { ROUNDS = 5, REQUESTS = 300 };
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *keeper = client_open(broker.port);
    struct topic topic = topic_new(keeper, 1);
    int64_t acknowledged = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct test_client *client = client_open(broker.port);
        struct records batch = batch_build(&client->arena, (struct batch){ .value_bytes = 3000 });
        struct produce_request request = produce_request(client, topic, 0, batch);
        request.acks = round % 2 == 0 ? 1 : -1;
        for (int i = 0; i < REQUESTS; i++)
            client_send(client, PRODUCE, 9, &request);
        int answers = 1 + (int)(test_seed() + (uint64_t)round * 97) % REQUESTS;
        for (int i = 0; i < answers; i++) {
            struct produce_response response;
            client_receive(client, PRODUCE, 9, &response);
            struct produce_response_partition *answer =
                &response.responses.items[0].partition_responses.items[0];
            assert_int_equal(answer->error_code, 0);
            acknowledged = answer->base_offset + 1;
        }
        test_broker_kill(&broker);
        client_close(client);
        test_broker_start(&broker);

        client = client_open(broker.port);
        await_partition(client, topic, 0);
        int64_t end = end_offset(client, topic, 0);
        assert_true(end >= acknowledged);
        struct fetch_response_partition answer = fetch(client, topic, 0, 0);
        assert_int_equal(answer.error_code, 0);
        int32_t count = records_batch_count(answer.records);
        assert_int_equal(count, end);
        for (int32_t i = 0; i < count; i++)
            assert_int_equal(batch_base_offset(records_batch(answer.records, i)), i);
        acknowledged = end;
        client_close(client);
    }
    client_close(keeper);
    test_broker_stop(&broker);
}

/* A service manager may change its mind. */
TEST(a_broker_may_be_stopped_politely_while_it_starts)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    test_broker_stop(&broker);
    for (int pause_ms = 0; pause_ms < 30; pause_ms += 2) {
        test_broker_launch(&broker);
        test_broker_await_output(&broker);
        poll(NULL, 0, pause_ms);
        test_broker_stop(&broker);
    }
}

TEST(a_polite_stop_does_not_wait_for_fetches_that_wait)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    struct fetch_request request = fetch_request(client, topic, 0, 0);
    request.max_wait_ms = INT32_MAX;
    request.min_bytes = 1;
    client_send(client, FETCH, FETCH_NEWEST, &request);
    struct test_client *idle = client_open(broker.port);
    assert_true(topic_exists(idle, topic.name));
    test_broker_stop(&broker);
    client_close(idle);
    client_close(client);
}

/* A fetch that is held back by a produce begins only when that has ended. By then its client may be
 * gone, and nobody would end its wait. */
TEST(a_polite_stop_does_not_wait_for_fetches_of_clients_that_have_gone)
{
    static const struct topic_setting small_segments[] = { { "segment.bytes", "1048576" },
                                                           { NULL, NULL } };
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new_with(client, 2, small_segments);
    /* Each begins a segment, for which the append goes to the pool. */
    struct records batch = batch_build(&client->arena, (struct batch){ .value_bytes = 900000 });
    for (int i = 0; i < 100; i++) {
        struct test_client *leaver = client_open(broker.port);
        struct produce_request produce = produce_request(leaver, topic, 0, batch);
        struct fetch_request fetch = fetch_request(leaver, topic, 1, 0);
        fetch.max_wait_ms = INT32_MAX;
        fetch.min_bytes = 1;
        struct buffer frames;
        buffer_init(&frames);
        client_encode(leaver, PRODUCE, PRODUCE_NEWEST, &produce, &frames);
        client_encode(leaver, FETCH, FETCH_NEWEST, &fetch, &frames);
        client_send_bytes(leaver, frames.data, frames.length);
        buffer_close(&frames);
        struct linger reset = { 1, 0 };
        setsockopt(leaver->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        poll(NULL, 0, i % 5);
        client_close(leaver);
    }
    assert_true(topic_exists(client, topic.name));
    test_broker_stop(&broker);
    client_close(client);
}

/* Whoever got an answer finds its records; the others may not know. */
TEST(a_polite_stop_in_the_middle_of_work_loses_nothing_that_was_acknowledged)
{
    enum { REQUESTS = 400 };
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    struct records batch = batch_build(&client->arena, (struct batch){ .value_bytes = 2000 });
    struct produce_request request = produce_request(client, topic, 0, batch);
    for (int i = 0; i < REQUESTS; i++)
        client_send(client, PRODUCE, 9, &request);
    struct produce_response response;
    client_receive(client, PRODUCE, 9, &response);
    test_broker_ask_to_stop(&broker);
    int64_t acknowledged = 1;
    while (client_receive_unless_closed(client, PRODUCE, 9, &response)) {
        struct produce_response_partition *answer =
            &response.responses.items[0].partition_responses.items[0];
        if (answer->error_code == 0) acknowledged = answer->base_offset + 1;
    }
    test_broker_wait(&broker);
    test_broker_start(&broker);

    struct test_client *next = client_open(broker.port);
    await_partition(next, topic, 0);
    int64_t end = end_offset(next, topic, 0);
    assert_true(end >= acknowledged && end <= REQUESTS);
    assert_int_equal(records_batch_count(fetch(next, topic, 0, 0).records), end);
    client_close(next);
    client_close(client);
    test_broker_stop(&broker);
}
