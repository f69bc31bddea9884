// SPDX-License-Identifier: Apache-2.0
/* What Produce promises to producers. */

#include <string.h>

#include "api_calls.h"

#define OLDEST 3

static struct records one_record(struct test_client *client)
{
    return batch_build(&client->arena, (struct batch){ 0 });
}

TEST(every_version_appends_and_says_where)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        for (int16_t acks = -1; acks <= 1; acks += 2) {
            int64_t expected = end_offset(client, topic, 0);
            struct records batch = batch_build(&client->arena, (struct batch){ .record_count = 3 });
            struct produce_response_partition answer = produce_to(client, version, topic, 0, acks,
                                                                  batch);
            assert_in_version(version, answer.error_code, 0);
            assert_in_version(version, answer.base_offset, expected);
            assert_in_version(version, answer.log_append_time_ms, -1);
            if (version >= 5) assert_in_version(version, answer.log_start_offset, 0);
            assert_in_version(version, answer.record_errors.count, 0);
            assert_true(str_is_null(answer.error_message));
            assert_in_version(version, answer.current_leader.leader_id, -1);
            assert_in_version(version, end_offset(client, topic, 0), expected + 3);
        }
    }
    client_close(client);
}

TEST(the_append_time_is_told_where_the_topic_uses_it)
{
    static const struct topic_setting settings[] = { { "message.timestamp.type", "LogAppendTime" },
                                                     { NULL, NULL } };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new_with(client, 1, settings);
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        struct records batch = batch_build(&client->arena, (struct batch){ .first_timestamp = 5 });
        int64_t expected = end_offset(client, topic, 0);
        struct produce_response_partition answer = produce_to(client, version, topic, 0, -1, batch);
        assert_in_version(version, answer.error_code, 0);
        assert_true(answer.log_append_time_ms > 5);
        struct fetch_response_partition fetched = fetch(client, topic, 0, expected);
        assert_in_version(version, batch_max_timestamp(fetched.records), answer.log_append_time_ms);
        assert_in_version(version, batch_attributes(fetched.records), 0x08);
        assert_in_version(version, batch_base_timestamp(fetched.records), 5);
        struct list_offsets_response_partition found = list_offset(
            client, LIST_OFFSETS_NEWEST, topic, 0, answer.log_append_time_ms);
        assert_true(found.timestamp >= answer.log_append_time_ms);
    }
    client_close(client);
}

TEST(records_for_what_does_not_exist_are_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct topic unknown = { .name = topic_name_new(), .id = { { 7, 7, 7, 7 } } };
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        for (int16_t acks = -1; acks <= 1; acks += 2) {
            struct produce_response_partition answer = produce_to(client, version, unknown, 0, acks,
                                                                  one_record(client));
            assert_in_version(version, answer.error_code, version < TOPIC_IDS_IN_PRODUCE ? 3 : 100);
            assert_in_version(version, answer.base_offset, -1);
            answer = produce_to(client, version, topic, 1, acks, one_record(client));
            assert_in_version(version, answer.error_code, 3);
            assert_in_version(version, answer.base_offset, -1);
            answer = produce_to(client, version, topic, -1, acks, one_record(client));
            assert_in_version(version, answer.error_code, 3);
        }
    }
    assert_false(topic_exists(client, unknown.name)); /* Only Metadata creates topics. */
    assert_int_equal(end_offset(client, topic, 0), 1);
    client_close(client);
}

TEST(acks_that_nobody_defined_are_refused)
{
    static const int16_t refused[] = { 2, -2, 3, INT16_MAX, INT16_MIN };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
            struct produce_response_partition answer = produce_to(client, version, topic, 0,
                                                                  refused[i], one_record(client));
            assert_in_version(version, answer.error_code, 21);
            assert_in_version(version, answer.base_offset, -1);
        }
    }
    assert_int_equal(end_offset(client, topic, 0), 0);
    client_close(client);
}

/* ---- acks=0 ---- */

static void produce_acks_0(struct test_client *client, struct topic topic, struct records records)
{
    struct produce_request request = produce_request(client, topic, 0, records);
    request.acks = 0;
    client_send(client, PRODUCE, PRODUCE_NEWEST, &request);
    client_expect_no_reply(client);
}

TEST(acks_0_gets_no_answer_and_is_appended)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    for (int i = 0; i < 10; i++)
        produce_acks_0(client, topic, one_record(client));
    /* The next answer on this connection is that of the next request. */
    assert_int_equal(produce(client, topic, 0, one_record(client)), 11);
    client_close(client);
}

/* The only way to tell the client that something is wrong. */
TEST(acks_0_with_an_error_closes_the_connection)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct records spoiled = one_record(client);
    ((uint8_t *)(uintptr_t)spoiled.data)[spoiled.length - 1] ^= 1;
    produce_acks_0(client, topic, spoiled);
    assert_broker_closes(client);
    client_close(client);

    client = client_open(shared_broker_port());
    topic.id = (struct uuid){ { 7, 7, 7, 7 } };
    produce_acks_0(client, topic, one_record(client));
    assert_broker_closes(client);
    client_close(client);
}

/* ---- batches that are refused ---- */

/* Nothing of it is appended. */
static void assert_batch_refused(struct test_client *client, struct topic topic,
                                 struct records records, int16_t error)
{
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        struct produce_response_partition answer = produce_to(client, version, topic, 0, -1,
                                                              records);
        assert_in_version(version, answer.error_code, error);
        assert_in_version(version, answer.base_offset, -1);
    }
    assert_int_equal(end_offset(client, topic, 0), 1);
}

TEST(a_batch_whose_crc_does_not_match_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct records whole = batch_build(&client->arena, (struct batch){ .record_count = 2 });
    static const int32_t places[] = { 17, 21, 30, 40, 57, 61, 70 };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct records spoiled = records_copy(&client->arena, whole);
        ((uint8_t *)(uintptr_t)spoiled.data)[places[i]] ^= 0x40;
        if (places[i] == 57) continue; /* The count: 87 or 2, as it is found. */
        assert_batch_refused(client, topic, spoiled, 2);
    }
    client_close(client);
}

TEST(a_batch_larger_than_the_topic_allows_is_refused)
{
    static const struct topic_setting settings[] = { { "max.message.bytes", "1000" },
                                                     { NULL, NULL } };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new_with(client, 1, settings);
    produce_some(client, topic, 0, 1);
    struct records large = batch_build(&client->arena, (struct batch){ .value_bytes = 1000 });
    assert_batch_refused(client, topic, large, 10);

    int32_t around = large.length - 1000; /* The limit counts the whole batch. */
    struct records fits = batch_build(&client->arena,
                                      (struct batch){ .value_bytes = 1000 - around });
    assert_int_equal(fits.length, 1000);
    assert_int_equal(produce(client, topic, 0, fits), 1);
    client_close(client);
}

TEST(a_batch_larger_than_the_default_allows_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct records large = batch_build(&client->arena, (struct batch){ .value_bytes = 1048588 });
    struct produce_response_partition answer = produce_to(client, PRODUCE_NEWEST, topic, 0, -1,
                                                          large);
    assert_int_equal(answer.error_code, 10);

    struct records fits = batch_build(&client->arena, (struct batch){ .value_bytes = 1048000 });
    assert_int_equal(produce(client, topic, 0, fits), 1);
    client_close(client);
}

TEST(two_batches_in_one_place_are_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct records one = one_record(client);
    uint8_t *two = client_alloc(client, 2, (size_t)one.length);
    memcpy(two, one.data, (size_t)one.length);
    memcpy(two + one.length, one.data, (size_t)one.length);
    assert_batch_refused(client, topic, (struct records){ two, 2 * one.length, NULL }, 87);
    client_close(client);
}

TEST(no_batch_at_all_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    assert_batch_refused(client, topic, (struct records){ (const uint8_t *)"", 0, NULL }, 87);
    client_close(client);
}

/* Kafka meets null with an error that it did not expect; whichever, it is an answer. */
TEST(null_in_place_of_a_batch_is_refused)
{
    if (shared_broker_is_foreign()) skip();
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    assert_batch_refused(client, topic, (struct records){ NULL, -1, NULL }, 87);
    client_close(client);
}

/* Until transactions work. */
TEST(transactional_batches_are_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct records batch = batch_build(&client->arena,
                                       (struct batch){ .is_idempotent = true,
                                                       .producer_id = producer_id_new(client),
                                                       .attributes = BATCH_TRANSACTIONAL });
    assert_batch_refused(client, topic, batch, 53); /* The request names no transactional id. */

    struct produce_request request = produce_request(client, topic, 0, batch);
    request.transactional_id = STR_LITERAL("transfers");
    struct produce_response response;
    client_call(client, PRODUCE, PRODUCE_NEWEST, &request, &response);
    assert_int_equal(response.responses.items[0].partition_responses.items[0].error_code, 48);
    assert_int_equal(end_offset(client, topic, 0), 1);
    client_close(client);
}

TEST(of_a_partition_that_is_named_again_the_last_batch_is_appended)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct produce_request request = produce_request(
        client, topic, 0, batch_build(&client->arena, (struct batch){ .record_count = 2 }));
    struct produce_request_partition parts[2] = {
        request.topic_data.items[0].partition_data.items[0]
    };
    parts[1] = parts[0];
    parts[1].records = batch_build(&client->arena, (struct batch){ .record_count = 5 });
    request.topic_data.items[0].partition_data.items = parts;
    request.topic_data.items[0].partition_data.count = 2;
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        struct produce_response response;
        client_call(client, PRODUCE, version, &request, &response);
        assert_in_version(version, response.responses.count, 1);
        assert_in_version(version, response.responses.items[0].partition_responses.count, 1);
        assert_in_version(version,
                          response.responses.items[0].partition_responses.items[0].error_code, 0);
        assert_in_version(version, end_offset(client, topic, 0), 5 * (version - OLDEST + 1));
    }
    client_close(client);
}

TEST(a_topic_that_is_named_again_is_answered_once_with_all_its_partitions)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    struct produce_request request = produce_request(
        client, topic, 0, batch_build(&client->arena, (struct batch){ .record_count = 2 }));
    struct produce_request_topic topics[2] = { request.topic_data.items[0],
                                               request.topic_data.items[0] };
    struct produce_request_partition other = topics[0].partition_data.items[0];
    other.index = 1;
    topics[1].partition_data.items = &other;
    request.topic_data.items = topics;
    request.topic_data.count = 2;
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        struct produce_response response;
        client_call(client, PRODUCE, version, &request, &response);
        assert_in_version(version, response.responses.count, 1);
        const struct produce_response_topic *answer = &response.responses.items[0];
        assert_in_version(version, answer->partition_responses.count, 2);
        for (int32_t index = 0; index < 2; index++) {
            assert_in_version(version, answer->partition_responses.items[index].index, index);
            assert_in_version(version, answer->partition_responses.items[index].error_code, 0);
            assert_in_version(version, end_offset(client, topic, index),
                              2 * (version - OLDEST + 1));
        }
    }
    client_close(client);
}

TEST(a_topic_without_partitions_is_not_answered)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct produce_request request = produce_request(client, topic, 0,
                                                     (struct records){ NULL, -1, NULL });
    request.topic_data.items[0].partition_data.count = 0;
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        struct produce_response response;
        client_call(client, PRODUCE, version, &request, &response);
        assert_in_version(version, response.responses.count, 0);
    }
    client_close(client);
}

TEST(who_is_refused_by_the_log_is_told_where_it_begins)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct batch batch = { .is_idempotent = true, .producer_id = producer_id_new(client) };
    struct records first = batch_build(&client->arena, batch);
    batch.base_sequence = 9;
    struct records gap = batch_build(&client->arena, batch);
    assert_int_equal(produce_to(client, PRODUCE_NEWEST, topic, 0, -1, first).error_code, 0);
    struct produce_response_partition answer = produce_to(client, PRODUCE_NEWEST, topic, 0, -1,
                                                          gap);
    assert_int_equal(answer.error_code, 45);
    assert_int_equal(answer.log_start_offset, 0);

    struct records spoiled = records_copy(&client->arena, first);
    ((uint8_t *)(uintptr_t)spoiled.data)[65] ^= 1;
    answer = produce_to(client, PRODUCE_NEWEST, topic, 0, -1, spoiled);
    assert_int_equal(answer.error_code, 2);
    assert_int_equal(answer.log_start_offset, -1);

    answer = produce_to(client, PRODUCE_NEWEST, topic, 0, -1, first);
    assert_int_equal(answer.error_code, 0); /* A repeat is told its own time. */
    assert_int_equal(answer.log_append_time_ms, batch_max_timestamp(first));
    client_close(client);
}

/* A client bug seen often: milliseconds taken for seconds or the other way round. */
TEST(records_from_the_far_future_are_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    int64_t now_ms = batch_base_timestamp(one_record(client));
    struct records batch = batch_build(
        &client->arena, (struct batch){ .first_timestamp = now_ms + 2 * 3600 * 1000 });
    assert_batch_refused(client, topic, batch, 32);
    client_close(client);
}

TEST(all_records_at_fault_are_named)
{
    enum { RECORDS = 20000 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct records batch = batch_build(
        &client->arena,
        (struct batch){ .record_count = RECORDS, .first_timestamp = INT64_C(4000000000000) });
    for (int16_t version = 8; version <= PRODUCE_NEWEST; version += 5) {
        struct produce_response_partition answer = produce_to(client, version, topic, 0, -1, batch);
        assert_in_version(version, answer.error_code, 32);
        assert_in_version(version, answer.record_errors.count, RECORDS);
        for (int32_t i = 0; i < RECORDS; i++)
            assert_in_version(version, answer.record_errors.items[i].batch_index, i);
    }
    client_close(client);
}

TEST(the_records_at_fault_are_named_and_no_others)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    int64_t now_ms = batch_base_timestamp(one_record(client));
    struct records batch = batch_build(&client->arena,
                                       (struct batch){ .record_count = 3,
                                                       .first_timestamp = now_ms,
                                                       .timestamp_step = 2 * 3600 * 1000 });
    for (int16_t version = 8; version <= PRODUCE_NEWEST; version++) {
        struct produce_response_partition answer = produce_to(client, version, topic, 0, -1, batch);
        assert_in_version(version, answer.error_code, 32);
        assert_in_version(version, answer.record_errors.count, 2);
        assert_in_version(version, answer.record_errors.items[0].batch_index, 1);
        assert_in_version(version, answer.record_errors.items[1].batch_index, 2);
        assert_true(answer.error_message.length > 0);
    }
    client_close(client);
}

/* ---- many at once ---- */

TEST(what_is_wrong_in_one_partition_does_not_touch_the_others)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    for (int32_t i = 0; i < 3; i++)
        produce_some(client, topic, i, 1);
    struct produce_request request = produce_request(client, topic, 0, one_record(client));
    struct produce_request_topic *data = &request.topic_data.items[0];
    make_array(client, &produce_request_partition_shape, 4, &data->partition_data);
    for (int32_t i = 0; i < 4; i++) {
        data->partition_data.items[i].index = i; /* There is no 3. */
        data->partition_data.items[i].records = one_record(client);
    }
    struct records *spoiled = &data->partition_data.items[1].records;
    ((uint8_t *)(uintptr_t)spoiled->data)[spoiled->length - 1] ^= 1;

    struct produce_response response;
    client_call(client, PRODUCE, PRODUCE_NEWEST, &request, &response);
    assert_int_equal(response.responses.items[0].partition_responses.count, 4);
    static const int16_t errors[] = { 0, 2, 0, 3 };
    for (int32_t i = 0; i < 4; i++) {
        struct produce_response_partition *answer =
            &response.responses.items[0].partition_responses.items[i];
        assert_int_equal(answer->error_code, errors[answer->index]);
        if (answer->index < 3)
            assert_int_equal(end_offset(client, topic, answer->index),
                             errors[answer->index] == 0 ? 2 : 1);
    }
    client_close(client);
}

TEST(a_hundred_partitions_of_two_topics_go_into_one_request)
{
    enum { EACH = 50 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topics[] = { topic_new(client, EACH), topic_new(client, EACH) };
    produce_some(client, topics[1], EACH - 1, 1);
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version += 10) {
        struct produce_request request = produce_request(client, topics[0], 0, one_record(client));
        make_array(client, &produce_request_topic_shape, 2, &request.topic_data);
        for (int t = 0; t < 2; t++) {
            struct produce_request_topic *data = &request.topic_data.items[t];
            data->name = topics[t].name;
            data->topic_id = topics[t].id;
            make_array(client, &produce_request_partition_shape, EACH, &data->partition_data);
            for (int32_t i = 0; i < EACH; i++) {
                data->partition_data.items[i].index = i;
                data->partition_data.items[i].records = one_record(client);
            }
        }
        request.acks = -1;
        struct produce_response response;
        client_call(client, PRODUCE, version, &request, &response);
        assert_in_version(version, response.responses.count, 2);
        for (int t = 0; t < 2; t++) {
            assert_in_version(version, response.responses.items[t].partition_responses.count, EACH);
            for (int32_t i = 0; i < EACH; i++) {
                struct produce_response_partition *answer =
                    &response.responses.items[t].partition_responses.items[i];
                assert_in_version(version, answer->error_code, 0);
                assert_true(answer->base_offset >= 0);
            }
        }
    }
    assert_int_equal(end_offset(client, topics[0], EACH / 2), 2);
    client_close(client);
}

TEST(two_hundred_requests_in_one_write_get_consecutive_offsets)
{
    enum { REQUESTS = 200, RECORDS = 3 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct records first = one_record(client);
    produce(client, topic, 0, first);
    struct buffer frames;
    buffer_init(&frames);
    for (int i = 0; i < REQUESTS; i++) {
        struct records batch = batch_build(&client->arena,
                                           (struct batch){ .record_count = RECORDS });
        struct produce_request request = produce_request(client, topic, 0, batch);
        client_encode(client, PRODUCE, 9, &request, &frames);
    }
    client_send_bytes(client, frames.data, frames.length);
    buffer_close(&frames);
    for (int i = 0; i < REQUESTS; i++) {
        struct produce_response response;
        client_receive(client, PRODUCE, 9, &response);
        struct produce_response_partition *answer =
            &response.responses.items[0].partition_responses.items[0];
        assert_int_equal(answer->error_code, 0);
        assert_int_equal(answer->base_offset, 1 + i * RECORDS);
    }
    assert_int_equal(end_offset(client, topic, 0), 1 + REQUESTS * RECORDS);
    client_close(client);
}

/* In a burst, a refused batch must leave no hole and no trace. */
TEST(a_bad_batch_among_pipelined_good_ones_is_the_only_one_refused)
{
    enum { REQUESTS = 60 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct buffer frames;
    buffer_init(&frames);
    for (int i = 0; i < REQUESTS; i++) {
        struct records batch = one_record(client);
        if (i % 3 == 1) ((uint8_t *)(uintptr_t)batch.data)[batch.length - 1] ^= 1;
        struct produce_request request = produce_request(client, topic, 0, batch);
        client_encode(client, PRODUCE, 9, &request, &frames);
    }
    client_send_bytes(client, frames.data, frames.length);
    buffer_close(&frames);
    int64_t expected = 1;
    for (int i = 0; i < REQUESTS; i++) {
        struct produce_response response;
        client_receive(client, PRODUCE, 9, &response);
        struct produce_response_partition *answer =
            &response.responses.items[0].partition_responses.items[0];
        assert_int_equal(answer->error_code, i % 3 == 1 ? 2 : 0);
        assert_int_equal(answer->base_offset, i % 3 == 1 ? -1 : expected++);
    }
    assert_int_equal(end_offset(client, topic, 0), expected);
    client_close(client);
}

TEST(a_fetch_behind_a_produce_sees_its_records)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    for (int64_t i = 1; i <= 50; i++) {
        struct produce_request to_produce = produce_request(client, topic, 0, one_record(client));
        to_produce.acks = i % 2 == 0 ? -1 : 1;
        struct fetch_request to_fetch = fetch_request(client, topic, 0, i);
        struct buffer frames;
        buffer_init(&frames);
        client_encode(client, PRODUCE, PRODUCE_NEWEST, &to_produce, &frames);
        client_encode(client, FETCH, FETCH_NEWEST, &to_fetch, &frames);
        client_send_bytes(client, frames.data, frames.length);
        buffer_close(&frames);
        struct produce_response produced;
        struct fetch_response fetched;
        client_receive(client, PRODUCE, PRODUCE_NEWEST, &produced);
        client_receive(client, FETCH, FETCH_NEWEST, &fetched);
        struct fetch_response_partition answer = only_partition(&fetched);
        assert_int_equal(records_batch_count(answer.records), 1);
        assert_int_equal(batch_base_offset(answer.records), i);
    }
    client_close(client);
}

TEST(several_producers_share_a_partition_without_gap_or_repeat)
{
    enum { PRODUCERS = 8, ROUNDS = 25 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct test_client *producers[PRODUCERS];
    for (int p = 0; p < PRODUCERS; p++) {
        producers[p] = client_open(shared_broker_port());
        for (int i = 0; i < ROUNDS; i++) {
            struct produce_request request = produce_request(producers[p], topic, 0,
                                                             one_record(producers[p]));
            client_send(producers[p], PRODUCE, PRODUCE_NEWEST, &request);
        }
    }
    static bool is_taken[1 + PRODUCERS * ROUNDS];
    for (int p = 0; p < PRODUCERS; p++) {
        int64_t last = 0;
        for (int i = 0; i < ROUNDS; i++) {
            struct produce_response response;
            client_receive(producers[p], PRODUCE, PRODUCE_NEWEST, &response);
            int64_t offset = response.responses.items[0].partition_responses.items[0].base_offset;
            assert_true(offset > last && offset <= PRODUCERS * ROUNDS);
            assert_false(is_taken[offset]);
            is_taken[offset] = true;
            last = offset;
        }
        client_close(producers[p]);
    }
    client_close(client);
}

TEST(a_request_for_no_partitions_is_answered_with_none)
{
    struct test_client *client = client_open(shared_broker_port());
    struct produce_request request = produce_request_empty();
    request.acks = -1;
    request.topic_data.count = 0;
    for (int16_t version = OLDEST; version <= PRODUCE_NEWEST; version++) {
        struct produce_response response;
        client_call(client, PRODUCE, version, &request, &response);
        assert_in_version(version, response.responses.count, 0);
    }
    client_close(client);
}
