// SPDX-License-Identifier: Apache-2.0
/* How much a Fetch returns: never so little that a consumer is stuck, never more than it asked for. */

#include "api_calls.h"

#define OLDEST 4

/* KIP-74: otherwise a consumer whose limit is too low would be stuck for ever. */
TEST(the_first_batch_is_whole_whatever_the_limits)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct records sent = batch_build(&client->arena, (struct batch){ .value_bytes = 200000 });
    produce(client, topic, 0, sent);
    produce_some(client, topic, 0, 1);
    static const int32_t limits[] = { 0, 1, 61, 1000 };
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
            struct fetch_request request = fetch_request(client, topic, 0, 0);
            request.max_bytes = limits[i];
            request.topics.items[0].partitions.items[0].partition_max_bytes = limits[i];
            struct fetch_response_partition answer = fetch_with(client, version, &request);
            assert_in_version(version, records_batch_count(answer.records), 1);
            assert_same_batch(answer.records, sent);
        }
    }
    client_close(client);
}

TEST(with_a_tiny_limit_the_first_partition_with_data_gets_one_batch_and_the_others_none)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    produce_some(client, topic, 1, 2);
    produce_some(client, topic, 2, 2);
    static const struct {
        int32_t order[3], first;
    } rows[] = { { { 0, 1, 2 }, 1 }, { { 2, 0, 1 }, 2 }, { { 1, 2, 0 }, 1 } };
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
            struct fetch_request request = fetch_partitions(client, topic, rows[row].order, 3);
            request.max_bytes = 1;
            struct fetch_response response;
            client_call(client, FETCH, version, &request, &response);
            assert_in_version(version, response.responses.count, 1);
            assert_in_version(version, response.responses.items[0].partitions.count, 3);
            for (int32_t i = 0; i < 3; i++) {
                struct fetch_response_partition *answer =
                    &response.responses.items[0].partitions.items[i];
                assert_in_version(version, answer->error_code, 0);
                assert_in_version(version, records_batch_count(answer->records),
                                  answer->partition_index == rows[row].first ? 1 : 0);
            }
        }
    }
    client_close(client);
}

TEST(a_partition_gives_no_more_than_its_own_limit)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct records sent = batch_build(&client->arena, (struct batch){ .value_bytes = 1000 });
    for (int i = 0; i < 10; i++)
        produce(client, topic, 0, sent);
    for (int32_t fit = 1; fit <= 10; fit++) {
        struct fetch_request request = fetch_request(client, topic, 0, 0);
        request.topics.items[0].partitions.items[0].partition_max_bytes = fit * sent.length;
        struct fetch_response_partition answer = fetch_with(client, FETCH_NEWEST, &request);
        assert_int_equal(records_batch_count(answer.records), fit);
    }
    client_close(client);
}

/* A batch that is cut at the end is legal, and of no use to anybody. */
TEST(no_batch_is_cut_at_the_end)
{
    if (shared_broker_is_foreign()) skip();
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct records sent = batch_build(&client->arena, (struct batch){ .value_bytes = 1000 });
    for (int i = 0; i < 10; i++)
        produce(client, topic, 0, sent);
    for (int32_t more = 1; more < sent.length; more += 97) {
        struct fetch_request request = fetch_request(client, topic, 0, 3);
        request.topics.items[0].partitions.items[0].partition_max_bytes = 2 * sent.length + more;
        struct fetch_response_partition answer = fetch_with(client, FETCH_NEWEST, &request);
        assert_int_equal(records_batch_count(answer.records), 2);
        assert_int_equal(batch_base_offset(answer.records), 3);
    }
    client_close(client);
}

TEST(the_limit_of_the_request_holds_for_all_partitions_together)
{
    enum { PARTITIONS = 5 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, PARTITIONS);
    struct records sent = batch_build(&client->arena, (struct batch){ .value_bytes = 10000 });
    static const int32_t all[PARTITIONS] = { 4, 3, 2, 1, 0 };
    for (int32_t i = 0; i < PARTITIONS; i++)
        produce(client, topic, i, sent);
    struct fetch_request request = fetch_partitions(client, topic, all, PARTITIONS);
    request.max_bytes = 3 * sent.length;
    struct fetch_response response;
    client_call(client, FETCH, FETCH_NEWEST, &request, &response);
    assert_int_equal(response.responses.items[0].partitions.count, PARTITIONS);
    for (int32_t i = 0; i < PARTITIONS; i++) {
        struct fetch_response_partition *answer = &response.responses.items[0].partitions.items[i];
        assert_int_equal(answer->error_code, 0);
        assert_int_equal(records_batch_count(answer->records),
                         answer->partition_index >= 2 ? 1 : 0);
    }
    client_close(client);
}

/* Two topics of three partitions, in one request: of the first topic the empty one comes first. */
static struct fetch_request fetch_two_topics(struct test_client *client, struct topic first,
                                             struct topic second)
{
    static const int32_t of_first[] = { 0, 2, 1 }, of_second[] = { 1, 0, 2 };
    struct fetch_request request = fetch_partitions(client, first, of_first, 3);
    struct fetch_request rest = fetch_partitions(client, second, of_second, 3);
    struct fetch_request_topic topics[] = { request.topics.items[0], rest.topics.items[0] };
    make_array(client, &fetch_request_topic_shape, 2, &request.topics);
    request.topics.items[0] = topics[0];
    request.topics.items[1] = topics[1];
    return request;
}

/* Nothing but the first batch of partition 2 of the first topic. */
static void assert_only_the_first_data(const struct fetch_response *response, int16_t version,
                                       struct records sent)
{
    assert_in_version(version, response->responses.count, 2);
    for (int t = 0; t < 2; t++) {
        const struct fetch_response_topic *topic = &response->responses.items[t];
        assert_in_version(version, topic->partitions.count, 3);
        for (int32_t i = 0; i < 3; i++) {
            const struct fetch_response_partition *answer = &topic->partitions.items[i];
            bool has_data = t == 0 && answer->partition_index == 2;
            assert_in_version(version, answer->error_code, 0);
            assert_in_version(version, records_batch_count(answer->records), has_data ? 1 : 0);
            if (has_data) assert_same_batch(answer->records, sent);
        }
    }
}

/* KIP-74, over the whole request: whichever limit is too small, one batch comes, and only one. */
TEST(limits_of_a_byte_give_one_whole_batch_of_the_first_partition_that_has_data)
{
    static const struct {
        int32_t of_request, of_partition;
    } limits[] = { { 1, 1 }, { 0, 0 }, { 1, 1 << 20 }, { 1 << 20, 1 }, { 1 << 20, 0 } };
    struct test_client *client = client_open(shared_broker_port());
    struct topic first = topic_new(client, 3), second = topic_new(client, 3);
    struct records sent = batch_build(&client->arena, (struct batch){ .value_bytes = 70000 });
    for (int32_t i = 0; i < 3; i++) {
        if (i > 0) produce(client, first, i, sent);
        produce(client, second, i, sent);
    }
    struct fetch_request request = fetch_two_topics(client, first, second);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
            struct fetch_response response;
            request.max_bytes = limits[i].of_request;
            for (int t = 0; t < 2; t++)
                for (int32_t k = 0; k < request.topics.items[t].partitions.count; k++)
                    request.topics.items[t].partitions.items[k].partition_max_bytes =
                        limits[i].of_partition;
            client_call(client, FETCH, version, &request, &response);
            assert_only_the_first_data(&response, version, sent);
        }
    }
    client_close(client);
}

/* As a consumer does whose limits are too small for anything that is there. */
TEST(with_limits_of_a_byte_a_log_is_read_to_its_end)
{
    enum { BATCHES = 12 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct records sent[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        sent[i] = batch_build(&client->arena, (struct batch){ .record_count = 1 + i % 3,
                                                              .value_bytes = 1 + 30000 * (i % 4) });
        produce(client, topic, 0, sent[i]);
    }
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        int64_t offset = 0;
        for (int i = 0; i < BATCHES; i++) {
            struct fetch_request request = fetch_request(client, topic, 0, offset);
            request.max_bytes = 1;
            request.topics.items[0].partitions.items[0].partition_max_bytes = 1;
            request.max_wait_ms = INT32_MAX; /* There is something: nothing is waited for. */
            request.min_bytes = 1;
            struct fetch_response_partition answer = fetch_with(client, version, &request);
            assert_in_version(version, records_batch_count(answer.records), 1);
            assert_same_batch(answer.records, sent[i]);
            offset = batch_last_offset(answer.records) + 1;
        }
        assert_in_version(version, offset, end_offset(client, topic, 0));
    }
    client_close(client);
}
