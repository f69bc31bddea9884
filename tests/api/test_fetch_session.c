// SPDX-License-Identifier: Apache-2.0
/* Fetch sessions (KIP-227). */

#include <string.h>

#include "api_calls.h"

#define OLDEST 7

/* A request within a session, or for one, that names no partition yet. */
static struct fetch_request session_request(int32_t id, int32_t epoch)
{
    struct fetch_request request = fetch_request_empty();
    request.max_bytes = 50 << 20;
    request.session_id = id;
    request.session_epoch = epoch;
    return request;
}

static void ask_for(struct test_client *client, struct fetch_request *request, struct topic topic,
                    int32_t partition_count, int64_t offset)
{
    make_array(client, &fetch_request_topic_shape, 1, &request->topics);
    struct fetch_request_topic *wanted = &request->topics.items[0];
    wanted->topic = topic.name;
    wanted->topic_id = topic.id;
    make_array(client, &fetch_request_partition_shape, partition_count, &wanted->partitions);
    for (int32_t i = 0; i < partition_count; i++) {
        wanted->partitions.items[i].partition = i;
        wanted->partitions.items[i].fetch_offset = offset;
        wanted->partitions.items[i].partition_max_bytes = 50 << 20;
    }
}

static void forget(struct test_client *client, struct fetch_request *request, struct topic topic,
                   int32_t partition)
{
    make_array(client, &fetch_request_forgotten_topic_shape, 1, &request->forgotten_topics_data);
    struct fetch_request_forgotten_topic *forgotten = &request->forgotten_topics_data.items[0];
    forgotten->topic = topic.name;
    forgotten->topic_id = topic.id;
    make_array_of_one(client, &forgotten->partitions, partition);
}

static struct fetch_response answer_to(struct test_client *client, int16_t version,
                                       const struct fetch_request *request)
{
    struct fetch_response response;
    client_call(client, FETCH, version, request, &response);
    return response;
}

/* The next request of a session that changes nothing. */
static struct fetch_response go_on(struct test_client *client, int16_t version, int32_t id,
                                   int32_t epoch)
{
    struct fetch_request request = session_request(id, epoch);
    return answer_to(client, version, &request);
}

/* Opens a session of all partitions, from their beginning. */
static int32_t open_session(struct test_client *client, int16_t version, struct topic topic)
{
    struct fetch_request request = session_request(0, 0);
    ask_for(client, &request, topic, topic.partition_count, 0);
    struct fetch_response response = answer_to(client, version, &request);
    assert_in_version(version, response.error_code, 0);
    assert_in_version(version, response.responses.count, 1);
    assert_in_version(version, response.responses.items[0].partitions.count, topic.partition_count);
    assert_in_version(version, response.session_id > 0, true);
    return response.session_id;
}

static void assert_error(int16_t version, struct fetch_response response, int16_t error)
{
    assert_in_version(version, response.error_code, error);
    assert_in_version(version, response.session_id, 0);
    assert_in_version(version, response.responses.count, 0);
}

static struct fetch_response_partition only_news(int16_t version, struct fetch_response response)
{
    assert_in_version(version, response.error_code, 0);
    assert_in_version(version, response.responses.count, 1);
    assert_in_version(version, response.responses.items[0].partitions.count, 1);
    return response.responses.items[0].partitions.items[0];
}

TEST(within_a_session_only_what_changed_is_told)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct topic topic = topic_new(client, 3);
        for (int32_t i = 0; i < 3; i++)
            await_partition(client, topic, i);
        int32_t id = open_session(client, version, topic);
        struct fetch_response response = go_on(client, version, id, 1);
        assert_in_version(version, response.error_code, 0);
        assert_in_version(version, response.session_id, id);
        assert_in_version(version, response.responses.count, 0);

        produce_some(client, topic, 1, 1);
        response = go_on(client, version, id, 2);
        assert_in_version(version, response.session_id, id);
        struct fetch_response_partition news = only_news(version, response);
        assert_in_version(version, news.partition_index, 1);
        assert_in_version(version, news.high_watermark, 1);
        assert_in_version(version, records_batch_count(news.records), 1);
        if (version < TOPIC_IDS_IN_FETCH)
            assert_true(str_equal(response.responses.items[0].topic, topic.name));
        else
            assert_true(uuid_equal(&response.responses.items[0].topic_id, &topic.id));

        /* Whoever has read them moves on; where it stands is no news. */
        struct fetch_request request = session_request(id, 3);
        ask_for(client, &request, topic, 3, 1);
        request.topics.items[0].partitions.items[0].fetch_offset = 0;
        request.topics.items[0].partitions.items[2].fetch_offset = 0;
        response = answer_to(client, version, &request);
        assert_in_version(version, response.error_code, 0);
        assert_in_version(version, response.responses.count, 0);
    }
    client_close(client);
}

TEST(records_are_told_until_the_consumer_moves_on)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    produce_some(client, topic, 0, 1);
    produce_some(client, topic, 1, 1);
    int32_t id = open_session(client, FETCH_NEWEST, topic);
    for (int32_t epoch = 1; epoch < 4; epoch++) {
        struct fetch_response response = go_on(client, FETCH_NEWEST, id, epoch);
        assert_int_equal(response.responses.count, 1);
        assert_int_equal(response.responses.items[0].partitions.count, 2);
    }
    client_close(client);
}

TEST(a_forgotten_partition_is_not_told_any_more_and_one_may_be_added)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct topic topic = topic_new(client, 2), other = topic_new(client, 1);
        for (int32_t i = 0; i < 2; i++)
            produce_some(client, topic, i, 1);
        produce_some(client, other, 0, 1);
        int32_t id = open_session(client, version, topic);
        struct fetch_request request = session_request(id, 1);
        forget(client, &request, topic, 0);
        struct fetch_response_partition news = only_news(version,
                                                         answer_to(client, version, &request));
        assert_in_version(version, news.partition_index, 1);

        request = session_request(id, 2);
        ask_for(client, &request, other, 1, 0);
        forget(client, &request, topic, 1);
        struct fetch_response response = answer_to(client, version, &request);
        only_news(version, response);
        if (version < TOPIC_IDS_IN_FETCH)
            assert_true(str_equal(response.responses.items[0].topic, other.name));
        else
            assert_true(uuid_equal(&response.responses.items[0].topic_id, &other.id));
    }
    client_close(client);
}

TEST(a_session_of_nothing_is_over)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct topic topic = topic_new(client, 1);
        int32_t id = open_session(client, version, topic);
        struct fetch_request request = session_request(id, 1);
        forget(client, &request, topic, 0);
        assert_error(version, answer_to(client, version, &request), 0);
        assert_error(version, go_on(client, version, id, 2), 70);
    }
    client_close(client);
}

TEST(an_epoch_that_is_not_the_next_is_refused_and_harms_nobody)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        int32_t id = open_session(client, version, topic);
        assert_error(version, go_on(client, version, id, 2), 71);
        assert_error(version, go_on(client, version, id, -5), 71);
        assert_error(version, go_on(client, version, id, INT32_MAX), 71);
        assert_in_version(version, go_on(client, version, id, 1).error_code, 0);
        assert_error(version, go_on(client, version, id, 1), 71);
        assert_in_version(version, go_on(client, version, id, 2).error_code, 0);
    }
    client_close(client);
}

TEST(a_session_has_names_or_ids_not_both)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    int32_t id = open_session(client, 12, topic);
    assert_error(13, go_on(client, 13, id, 1), 106);
    assert_int_equal(go_on(client, 12, id, 1).error_code, 0);
    id = open_session(client, 13, topic);
    assert_error(12, go_on(client, 12, id, 1), 106);
    assert_int_equal(go_on(client, FETCH_NEWEST, id, 1).error_code, 0);
    client_close(client);
}

TEST(a_request_in_full_ends_the_session_that_it_names)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        int32_t first = open_session(client, version, topic);
        struct fetch_request request = session_request(first, 0);
        ask_for(client, &request, topic, 1, 0);
        struct fetch_response response = answer_to(client, version, &request);
        only_news(version, response);
        int32_t second = response.session_id;
        assert_in_version(version, second > 0 && second != first, true);
        assert_error(version, go_on(client, version, first, 1), 70);

        request.session_id = second;
        request.session_epoch = -1;
        response = answer_to(client, version, &request);
        only_news(version, response);
        assert_in_version(version, response.session_id, 0);
        assert_error(version, go_on(client, version, second, 1), 70);
    }
    client_close(client);
}

TEST(a_session_goes_on_over_another_connection)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    int32_t id = open_session(client, FETCH_NEWEST, topic);
    for (int32_t epoch = 1; epoch < 20; epoch++) {
        struct test_client *other = client_open(shared_broker_port());
        produce_some(other, topic, 1, 1);
        struct fetch_response_partition news = only_news(FETCH_NEWEST,
                                                         go_on(other, FETCH_NEWEST, id, epoch));
        assert_int_equal(news.partition_index, 1);
        assert_int_equal(news.high_watermark, epoch);
        client_close(other);
    }
    client_close(client);
}

TEST(errors_are_told_each_time)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    await_partition(client, topic, 0);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = session_request(0, 0);
        ask_for(client, &request, topic, 2, 0); /* There is no second one. */
        struct fetch_response response = answer_to(client, version, &request);
        int32_t id = response.session_id;
        assert_in_version(version, id > 0, true);
        for (int32_t epoch = 1; epoch < 3; epoch++) {
            struct fetch_response_partition news = only_news(version,
                                                             go_on(client, version, id, epoch));
            assert_in_version(version, news.partition_index, 1);
            assert_in_version(version, news.error_code, 3);
        }
        request = session_request(id, 3);
        ask_for(client, &request, topic, 1, 99);
        forget(client, &request, topic, 1);
        assert_in_version(version,
                          only_news(version, answer_to(client, version, &request)).error_code, 1);
        request = session_request(id, 4);
        ask_for(client, &request, topic, 1, 0);
        /* The error has gone, which is news. */
        assert_in_version(version,
                          only_news(version, answer_to(client, version, &request)).error_code, 0);
        assert_in_version(version, go_on(client, version, id, 5).responses.count, 0);
    }
    client_close(client);
}

/* By then the session knows the name of an id. */
TEST(a_topic_that_is_deleted_is_told_within_its_session)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct topic topic = topic_new(client, 1);
        await_partition(client, topic, 0);
        int32_t id = open_session(client, version, topic);
        topic_delete(client, topic);
        int32_t epoch = 1;
        struct fetch_response response;
        do /* Kafka takes a moment, and may give other errors meanwhile. */
            response = go_on(client, version, id, epoch++);
        while (shared_broker_is_foreign() && epoch < 20000 &&
               (response.responses.count == 0 || only_news(version, response).error_code != 3));
        assert_in_version(version, only_news(version, response).error_code, 3);
        response = go_on(client, version, id, epoch);
        assert_in_version(version, only_news(version, response).error_code, 3);
    }
    client_close(client);
}

TEST(a_topic_that_nobody_knows_may_be_in_a_session)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic unknown = { topic_name_new(), { { 9, 9, 9, 9, 9 } }, 1 };
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        int32_t id = open_session(client, version, unknown);
        for (int32_t epoch = 1; epoch < 3; epoch++)
            assert_in_version(version,
                              only_news(version, go_on(client, version, id, epoch)).error_code,
                              version < TOPIC_IDS_IN_FETCH ? 3 : 100);
    }
    client_close(client);
}

TEST(records_wake_a_request_that_waits_within_a_session)
{
    struct test_client *client = client_open(shared_broker_port());
    struct test_client *producer = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    for (int32_t i = 0; i < 3; i++)
        await_partition(client, topic, i);
    int32_t id = open_session(client, FETCH_NEWEST, topic);
    struct fetch_request request = session_request(id, 1);
    request.max_wait_ms = 30000;
    request.min_bytes = 1;
    client_send(client, FETCH, FETCH_NEWEST, &request);
    produce_some(producer, topic, 2, 1);
    struct fetch_response response;
    client_receive(client, FETCH, FETCH_NEWEST, &response);
    assert_int_equal(only_news(FETCH_NEWEST, response).partition_index, 2);
    client_close(producer);
    client_close(client);
}

/* The consumer gave the first one up and asked again: the late answer must not be taken for the new one. */
TEST(a_request_that_was_overtaken_within_its_session_is_refused)
{
    struct test_client *slow = client_open(shared_broker_port());
    struct test_client *fast = client_open(shared_broker_port());
    struct topic topic = topic_new(fast, 1);
    await_partition(fast, topic, 0);
    int32_t id = open_session(fast, FETCH_NEWEST, topic);
    struct fetch_request request = session_request(id, 1);
    request.max_wait_ms = 30000;
    request.min_bytes = 1;
    client_send(slow, FETCH, FETCH_NEWEST, &request);
    while (go_on(fast, FETCH_NEWEST, id, 2).error_code != 0)
        continue; /* Until the other has come. */
    produce_some(fast, topic, 0, 1);
    struct fetch_response response;
    client_receive(slow, FETCH, FETCH_NEWEST, &response);
    assert_int_equal(response.error_code, 71);
    assert_int_equal(response.responses.count, 0);
    assert_int_equal(response.session_id, id);
    only_news(FETCH_NEWEST, go_on(fast, FETCH_NEWEST, id, 3));
    client_close(slow);
    client_close(fast);
}

/* A partition that gave records goes behind the others, or a busy one would starve them. */
TEST(partitions_of_a_session_take_turns)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    for (int32_t i = 0; i < 3; i++)
        produce_some(client, topic, i, 1);
    struct fetch_request request = session_request(0, 0);
    ask_for(client, &request, topic, 3, 0);
    request.max_bytes = 1;
    struct fetch_response response = answer_to(client, FETCH_NEWEST, &request);
    unsigned seen = 0;
    for (int32_t epoch = 1; epoch <= 3; epoch++) {
        request = session_request(response.session_id, epoch);
        request.max_bytes = 1;
        struct fetch_response next = answer_to(client, FETCH_NEWEST, &request);
        struct fetch_response_partition news = only_news(FETCH_NEWEST, next);
        assert_int_equal(records_batch_count(news.records), 1);
        seen |= 1U << news.partition_index;
    }
    assert_int_equal(seen, 7);
    client_close(client);
}

TEST(a_session_may_be_opened_with_nothing_in_it)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct fetch_request request = session_request(0, 0);
    struct fetch_response response = answer_to(client, FETCH_NEWEST, &request);
    assert_int_equal(response.error_code, 0);
    assert_true(response.session_id > 0);
    request = session_request(response.session_id, 1);
    ask_for(client, &request, topic, 1, 0);
    only_news(FETCH_NEWEST, answer_to(client, FETCH_NEWEST, &request));
    client_close(client);
}

/* Setting: max.incremental.fetch.session.cache.slots */
TEST(who_finds_no_slot_is_answered_in_full)
{
    static const char *const settings[] = { "max.incremental.fetch.session.cache.slots=2", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    int32_t first = open_session(client, FETCH_NEWEST, topic);
    int32_t second = open_session(client, FETCH_NEWEST, topic);
    assert_int_not_equal(first, second);
    struct fetch_request request = session_request(0, 0);
    ask_for(client, &request, topic, 1, 0);
    struct fetch_response response = answer_to(client, FETCH_NEWEST, &request);
    only_news(FETCH_NEWEST, response);
    assert_int_equal(response.session_id, 0);

    request.session_id = first; /* Whoever gives one up has a slot. */
    response = answer_to(client, FETCH_NEWEST, &request);
    assert_true(response.session_id > 0);
    client_close(client);
    test_broker_stop(&broker);
}
