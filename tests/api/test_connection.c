// SPDX-License-Identifier: Apache-2.0
/* What a connection promises, whatever is sent over it. */

#include <string.h>
#include <sys/socket.h>

#include "api_calls.h"
#include "vectors.h"

static void assert_answers(struct test_client *client)
{
    struct metadata_request request = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 0, &request.topics);
    struct metadata_response response;
    client_call(client, METADATA, METADATA_NEWEST, &request, &response);
    assert_int_equal(response.brokers.count, 1);
}

/* A frame with a header (client id null) and `body`; a flexible header ends with its empty tags. */
static void send_frame(struct test_client *client, int16_t key, int16_t version,
                       bool has_flexible_header, const void *body, size_t length)
{
    struct buffer frame;
    buffer_init(&frame);
    buffer_i32(&frame, (int32_t)(10 + has_flexible_header + length));
    buffer_i16(&frame, key);
    buffer_i16(&frame, version);
    buffer_i32(&frame, ++client->sent);
    buffer_i16(&frame, -1);
    if (has_flexible_header) buffer_uvarint(&frame, 0);
    buffer_put(&frame, body, length);
    client_send_bytes(client, frame.data, frame.length);
    buffer_close(&frame);
}

/* Sends it on a connection of its own, which must be closed, while another one goes on. */
static void assert_closes_for(int16_t key, int16_t version, bool has_flexible_header,
                              const void *body, size_t length)
{
    struct test_client *other = client_open(shared_broker_port());
    struct test_client *client = client_open(shared_broker_port());
    send_frame(client, key, version, has_flexible_header, body, length);
    assert_broker_closes(client);
    assert_answers(other);
    client_close(client);
    client_close(other);
}

static void assert_closes_for_bytes(const void *data, size_t length)
{
    struct test_client *other = client_open(shared_broker_port());
    struct test_client *client = client_open(shared_broker_port());
    client_send_bytes(client, data, length);
    assert_broker_closes(client);
    assert_answers(other);
    client_close(client);
    client_close(other);
}

/* DESIGN 3.3. */
TEST(an_unknown_api_closes_the_connection_and_no_other)
{
    assert_closes_for(9999, 0, false, "", 0);
    assert_closes_for(-1, 0, false, "", 0);
    assert_closes_for(4, 0, false, "", 0); /* LeaderAndIsr, gone since Kafka 4. */
    assert_closes_for(INT16_MAX, INT16_MAX, true, "", 0);
}

/* DESIGN 3.3. Produce is told from 0 and served from 3. */
TEST(a_version_that_is_not_served_closes_the_connection)
{
    static const struct {
        int16_t key, version;
    } refused[] = {
        { PRODUCE, 0 },       { PRODUCE, 1 },       { PRODUCE, 2 },          { PRODUCE, 14 },
        { FETCH, 3 },         { FETCH, 19 },        { LIST_OFFSETS, 0 },     { LIST_OFFSETS, 12 },
        { METADATA, 14 },     { METADATA, -1 },     { CREATE_TOPICS, 1 },    { CREATE_TOPICS, 8 },
        { DELETE_TOPICS, 0 }, { DELETE_TOPICS, 7 }, { INIT_PRODUCER_ID, 7 },
    };
    static const uint8_t zeros[32];
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_closes_for(refused[i].key, refused[i].version, refused[i].version > 9, zeros,
                          sizeof zeros);
}

/* Kafka has a version 6 of InitProducerId that it tells nobody about. */
TEST(a_version_that_is_unstable_is_not_served)
{
    if (shared_broker_is_foreign()) skip();
    static const uint8_t zeros[32];
    assert_closes_for(INIT_PRODUCER_ID, 6, true, zeros, sizeof zeros);
}

static void closes_unless_accepted(const struct vector *vector)
{
    if (vector->api == NULL || vector->shape != vector->api->request) return;
    if (json_is_true(json_object_get(vector->json, "accepted"))) return;
    /* The decoder's own tests name the vector; here it is shown beside the failure. */
    print_message("             %s\n", vector->label);
    assert_closes_for(vector->api->key, vector->version,
                      message_is_flexible(vector->shape, vector->version), vector->data,
                      vector->length);
}

TEST(a_body_that_kafka_refuses_closes_the_connection)
{
    vectors_each("wire/malformed.jsonl", closes_unless_accepted);
}

TEST(a_frame_with_an_impossible_length_closes_the_connection)
{
    static const uint8_t negative[] = { 0xff, 0xff, 0xff, 0xff, 0, 18, 0, 0, 0, 0, 0, 1 };
    static const uint8_t smallest[] = { 0x80, 0, 0, 0, 0, 18, 0, 0, 0, 0, 0, 1 };
    static const uint8_t too_large[] = { 0x7f, 0xff, 0xff, 0xff, 0, 18, 0, 0, 0, 0, 0, 1 };
    assert_closes_for_bytes(negative, sizeof negative);
    assert_closes_for_bytes(smallest, sizeof smallest);
    assert_closes_for_bytes(too_large, sizeof too_large);
}

TEST(a_frame_too_short_for_a_header_closes_the_connection)
{
    static const uint8_t empty[] = { 0, 0, 0, 0 };
    static const uint8_t key_only[] = { 0, 0, 0, 2, 0, 18 };
    static const uint8_t no_client_id[] = { 0, 0, 0, 8, 0, 18, 0, 0, 0, 0, 0, 1 };
    static const uint8_t client_id_cut[] = { 0, 0, 0, 12, 0, 18, 0, 0, 0, 0, 0, 1, 0, 9, 'a', 'b' };
    assert_closes_for_bytes(empty, sizeof empty);
    assert_closes_for_bytes(key_only, sizeof key_only);
    assert_closes_for_bytes(no_client_id, sizeof no_client_id);
    assert_closes_for_bytes(client_id_cut, sizeof client_id_cut);
}

TEST(bytes_that_are_no_kafka_close_the_connection)
{
    static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const uint8_t tls[] = { 0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 1, 2, 3, 4, 5, 6, 7 };
    assert_closes_for_bytes(http, sizeof http - 1);
    assert_closes_for_bytes(tls, sizeof tls);
}

/* A request costs by its elements: two bytes each must not keep the loop for seconds. */
TEST(a_request_with_more_elements_than_anybody_needs_closes_the_connection)
{
    if (shared_broker_is_foreign()) skip();
    enum { MOST = 1 << 18 };
    struct buffer body;
    buffer_init(&body);
    buffer_i32(&body, MOST + 1);
    for (int i = 0; i <= MOST; i++)
        buffer_i16(&body, 0);
    assert_closes_for(METADATA, 1, false, body.data, body.length);

    store_i32(body.data, MOST);
    struct test_client *client = client_open(shared_broker_port());
    send_frame(client, METADATA, 1, false, body.data, body.length);
    struct metadata_response response;
    client_receive(client, METADATA, 1, &response);
    assert_int_equal(response.topics.count, 1);
    client_close(client);
    buffer_close(&body);
}

TEST(bytes_after_a_body_are_ignored)
{
    struct test_client *client = client_open(shared_broker_port());
    static const uint8_t no_topics_and_more[] = { 0, 0, 0, 0, 1, 2, 3 };
    send_frame(client, METADATA, 1, false, no_topics_and_more, sizeof no_topics_and_more);
    struct metadata_response response;
    client_receive(client, METADATA, 1, &response);
    assert_int_equal(response.topics.count, 0);
    client_close(client);
}

TEST(a_request_may_come_byte_by_byte)
{
    struct test_client *client = client_open(shared_broker_port());
    struct metadata_request request = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 0, &request.topics);
    struct buffer frame;
    buffer_init(&frame);
    client_encode(client, METADATA, METADATA_NEWEST, &request, &frame);
    client_encode(client, METADATA, METADATA_NEWEST, &request, &frame);
    for (size_t i = 0; i < frame.length; i++)
        client_send_bytes(client, frame.data + i, 1);
    struct metadata_response response;
    client_receive(client, METADATA, METADATA_NEWEST, &response);
    client_receive(client, METADATA, METADATA_NEWEST, &response);
    assert_int_equal(response.brokers.count, 1);
    buffer_close(&frame);
    client_close(client);
}

/* DESIGN 2.5. */
TEST(requests_of_all_kinds_in_one_write_are_answered_in_order)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct produce_request to_produce = produce_request(
        client, topic, 0, batch_build(&client->arena, (struct batch){ 0 }));
    struct fetch_request to_fetch = fetch_request(client, topic, 0, 0);
    struct metadata_request to_ask = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 0, &to_ask.topics);

    enum { ROUNDS = 20 };
    struct buffer frames;
    buffer_init(&frames);
    for (int i = 0; i < ROUNDS; i++) {
        client_encode(client, METADATA, 9, &to_ask, &frames);
        client_encode(client, PRODUCE, 9, &to_produce, &frames);
        client_encode(client, FETCH, 12, &to_fetch, &frames);
    }
    client_send_bytes(client, frames.data, frames.length);
    buffer_close(&frames);

    for (int i = 0; i < ROUNDS; i++) { /* client_receive() compares the correlation ids. */
        struct metadata_response asked;
        struct produce_response produced;
        struct fetch_response fetched;
        client_receive(client, METADATA, 9, &asked);
        client_receive(client, PRODUCE, 9, &produced);
        client_receive(client, FETCH, 12, &fetched);
        assert_int_equal(produced.responses.items[0].partition_responses.items[0].base_offset, i);
        struct fetch_response_partition answer = only_partition(&fetched);
        assert_int_equal(answer.error_code, 0);
        assert_int_equal(records_batch_count(answer.records), i + 1);
    }
    client_close(client);
}

TEST(an_answer_waits_for_the_one_before_it)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct fetch_request to_fetch = fetch_request(client, topic, 0, 0);
    to_fetch.max_wait_ms = 10 * 60 * 1000;
    to_fetch.min_bytes = 1;
    struct metadata_request to_ask = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 0, &to_ask.topics);
    client_send(client, FETCH, FETCH_NEWEST, &to_fetch);
    client_send(client, METADATA, METADATA_NEWEST, &to_ask);

    struct test_client *producer = client_open(shared_broker_port());
    produce_some(producer, topic, 0, 1);
    client_close(producer);

    struct fetch_response fetched;
    struct metadata_response asked;
    client_receive(client, FETCH, FETCH_NEWEST, &fetched);
    client_receive(client, METADATA, METADATA_NEWEST, &asked);
    assert_int_equal(records_batch_count(only_partition(&fetched).records), 1);
    client_close(client);
}

/* All that it takes is memory; nobody else must notice. */
TEST(clients_that_vanish_with_work_under_way_harm_nobody)
{
    struct test_client *other = client_open(shared_broker_port());
    struct topic topic = topic_new(other, 1);
    for (int i = 0; i < 20; i++) {
        struct test_client *client = client_open(shared_broker_port());
        struct fetch_request to_fetch = fetch_request(client, topic, 0, 0);
        to_fetch.max_wait_ms = 10 * 60 * 1000;
        to_fetch.min_bytes = INT32_MAX;
        client_send(client, FETCH, FETCH_NEWEST, &to_fetch);
        if (i % 2 == 0) client_send_bytes(client, "\0\0\1\0\0\1", 6); /* Part of a frame. */
        if (i % 3 == 0) {                                             /* Vanish with a reset. */
            struct linger linger = { .l_onoff = 1 };
            setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        }
        client_close(client);
    }
    produce_some(other, topic, 0, 1);
    assert_int_equal(end_offset(other, topic, 0), 1);
    client_close(other);
}
