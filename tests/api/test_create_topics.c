// SPDX-License-Identifier: Apache-2.0
/* What CreateTopics promises to clients. */

#include <stdio.h>
#include <string.h>

#include "api_calls.h"
#include "clock.h"

TEST(every_version_creates_a_topic)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 2; version <= CREATE_TOPICS_NEWEST; version++) {
        struct create_topics_request request = create_request(client, topic_name_new());
        request.topics.items[0].num_partitions = 3;
        struct create_topics_response_topic answer = create_topic(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_true(str_equal(answer.name, request.topics.items[0].name));
        assert_true(str_is_null(answer.error_message));
        if (version >= 5) {
            assert_in_version(version, answer.num_partitions, 3);
            assert_in_version(version, answer.replication_factor, 1);
            assert_in_version(version, answer.topic_config_error_code, 0);
            assert_true(answer.configs.count > 0);
        }
        struct metadata_response_topic seen;
        do {
            seen = metadata_of(client, METADATA_NEWEST, answer.name, NULL, false);
        } while (seen.error_code == 3 && shared_broker_is_foreign());
        assert_in_version(version, seen.error_code, 0);
        assert_in_version(version, seen.partitions.count, 3);
        if (version >= 7) assert_true(uuid_equal(&answer.topic_id, &seen.topic_id));
    }
    client_close(client);
}

/* Kafka lets clients see a topic a little before it takes records; here the answer means that it does. */
TEST(a_created_topic_takes_records_at_once)
{
    if (shared_broker_is_foreign()) skip();
    struct test_client *client = client_open(shared_broker_port());
    for (int round = 0; round < 20; round++) {
        struct topic topic = { .name = topic_name_new(), .partition_count = 1 };
        struct create_topics_request request = create_request(client, topic.name);
        struct create_topics_response_topic answer = create_topic(client, CREATE_TOPICS_NEWEST,
                                                                  &request);
        assert_int_equal(answer.error_code, 0);
        topic.id = answer.topic_id;
        struct records batch = batch_build(&client->arena, (struct batch){ 0 });
        struct produce_response_partition produced = produce_to(client, PRODUCE_NEWEST, topic, 0,
                                                                -1, batch);
        assert_int_equal(produced.error_code, 0);
        assert_int_equal(produced.base_offset, 0);
    }
    client_close(client);
}

/* KIP-464. */
TEST(minus_one_means_what_the_broker_says)
{
    static const char *const settings[] = { "num.partitions=5", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    for (int16_t version = 4; version <= CREATE_TOPICS_NEWEST; version++) {
        struct create_topics_request request = create_request(client, topic_name_new());
        request.topics.items[0].num_partitions = -1;
        request.topics.items[0].replication_factor = -1;
        struct create_topics_response_topic answer = create_topic(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        struct metadata_response_topic seen = metadata_of(client, METADATA_NEWEST, answer.name,
                                                          NULL, false);
        assert_in_version(version, seen.partitions.count, 5);
        if (version < 5) continue;
        assert_in_version(version, answer.num_partitions, 5);
        assert_in_version(version, answer.replication_factor, 1);
    }
    client_close(client);
    test_broker_stop(&broker);
}

/* Sends the request in every version, really and to validate only: the same error each time, with a
 * sentence, and no topic. */
static void assert_refused(struct test_client *client, struct create_topics_request request,
                           int16_t error)
{
    struct str name = request.topics.items[0].name;
    for (int16_t version = 2; version <= CREATE_TOPICS_NEWEST; version++) {
        for (int only = 0; only <= 1; only++) {
            request.validate_only = only != 0;
            struct create_topics_response_topic answer = create_topic(client, version, &request);
            assert_in_version(version, answer.error_code, error);
            assert_true(str_equal(answer.name, name));
            assert_true(answer.error_message.length > 0);
            assert_true(uuid_is_zero(&answer.topic_id));
        }
    }
    if (error != 36) assert_false(topic_exists(client, name));
}

TEST(a_topic_that_exists_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    assert_refused(client, create_request(client, topic.name), 36);
    client_close(client);
}

TEST(partition_counts_that_make_no_sense_are_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    static const int32_t counts[] = { 0, -2, INT32_MIN };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct create_topics_request request = create_request(client, topic_name_new());
        request.topics.items[0].num_partitions = counts[i];
        assert_refused(client, request, 37);
    }
    client_close(client);
}

/* A count that would need more memory than there is must be refused too, whatever the code. */
TEST(a_partition_count_beyond_all_measure_is_refused)
{
    if (shared_broker_is_foreign()) skip();
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request request = create_request(client, topic_name_new());
    request.topics.items[0].num_partitions = INT32_MAX;
    assert_int_not_equal(create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code, 0);
    assert_false(topic_exists(client, request.topics.items[0].name));
    client_close(client);
}

TEST(replication_factors_that_cannot_be_kept_are_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    static const int16_t factors[] = { 0, -2, 2, 3, INT16_MAX };
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        struct create_topics_request request = create_request(client, topic_name_new());
        request.topics.items[0].replication_factor = factors[i];
        assert_refused(client, request, 38);
    }
    client_close(client);
}

TEST(a_topic_name_that_is_not_legal_is_refused)
{
    static char too_long[251];
    memset(too_long, 'x', sizeof too_long - 1);
    const char *const names[] = { "",    ".",    "..",       "a/b",   "../../etc",
                                  "a b", "a\nb", "\xc3\xa9", too_long };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct create_topics_request request = create_request(client, str_from(names[i]));
        for (int16_t version = 2; version <= CREATE_TOPICS_NEWEST; version++)
            assert_in_version(version, create_topic(client, version, &request).error_code, 17);
    }
    client_close(client);
}

TEST(the_longest_legal_name_is_taken)
{
    static char longest[250];
    memset(longest, 'y', sizeof longest - 1);
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request request = create_request(client, str_from(longest));
    int16_t error = create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code;
    if (shared_broker_is_foreign() && error == 36) error = 0; /* From an earlier run. */
    assert_int_equal(error, 0);
    struct topic topic = { .name = request.topics.items[0].name };
    topic.id = metadata_of(client, METADATA_NEWEST, topic.name, NULL, false).topic_id;
    produce_some(client, topic, 0, 1);
    client_close(client);
}

/* Metrics of Kafka's write both as _, so the two would collide. */
TEST(names_that_differ_only_by_dot_and_underscore_do_not_go_together)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str name = topic_name_new();
    char *dotted = client_alloc(client, 1, (size_t)name.length + 3);
    char *scored = client_alloc(client, 1, (size_t)name.length + 3);
    memcpy(dotted, name.data, (size_t)name.length);
    memcpy(scored, name.data, (size_t)name.length);
    strcat(dotted, ".x");
    strcat(scored, "_x");
    struct create_topics_request first = create_request(client, str_from(dotted));
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &first).error_code, 0);
    assert_refused(client, create_request(client, str_from(scored)), 17);
    client_close(client);
}

/* ---- replicas placed by the client ---- */

struct placement {
    int32_t partition;
    int32_t brokers[3];
    int32_t broker_count;
};

static int32_t node_id(struct test_client *client)
{
    struct metadata_request request = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 0, &request.topics);
    struct metadata_response response;
    client_call(client, METADATA, METADATA_NEWEST, &request, &response);
    return response.brokers.items[0].node_id;
}

/* In `placements`, broker 0 stands for the broker that there is. */
static struct create_topics_request placed(struct test_client *client, int32_t node,
                                           const struct placement *placements, int32_t count)
{
    struct create_topics_request request = create_request(client, topic_name_new());
    struct create_topics_request_topic *topic = &request.topics.items[0];
    topic->num_partitions = -1;
    topic->replication_factor = -1;
    make_array(client, &create_topics_request_assignment_shape, count, &topic->assignments);
    for (int32_t i = 0; i < count; i++) {
        struct create_topics_request_assignment *assignment = &topic->assignments.items[i];
        assignment->partition_index = placements[i].partition;
        assignment->broker_ids.count = placements[i].broker_count;
        assignment->broker_ids.items = client_alloc(client, 3, sizeof(int32_t));
        for (int32_t j = 0; j < placements[i].broker_count; j++)
            assignment->broker_ids.items[j] = placements[i].brokers[j] == 0
                                                  ? node
                                                  : placements[i].brokers[j];
    }
    return request;
}

TEST(replicas_may_be_placed_by_the_client)
{
    struct test_client *client = client_open(shared_broker_port());
    int32_t node = node_id(client);
    static const struct placement placements[] = { { 1, { 0 }, 1 },
                                                   { 0, { 0 }, 1 },
                                                   { 2, { 0 }, 1 } };
    for (int16_t version = 2; version <= CREATE_TOPICS_NEWEST; version++) {
        struct create_topics_request request = placed(client, node, placements, 3);
        struct create_topics_response_topic answer = create_topic(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        if (version < 5) continue;
        assert_in_version(version, answer.num_partitions, 3);
        assert_in_version(version, answer.replication_factor, 1);
    }
    client_close(client);
}

TEST(placements_that_cannot_be_kept_are_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    int32_t node = node_id(client);
    static const struct {
        struct placement placements[2];
        int32_t count;
    } refused[] = {
        { { { 0, { 0 }, 1 }, { 2, { 0 }, 1 } }, 2 },       /* Partition 1 is left out. */
        { { { 1, { 0 }, 1 } }, 1 },                        /* Does not begin at 0. */
        { { { 0, { 0 }, 1 }, { 0, { 0 }, 1 } }, 2 },       /* The same partition twice. */
        { { { -1, { 0 }, 1 } }, 1 },                       /* No partition. */
        { { { 0, { 4242 }, 1 } }, 1 },                     /* No such broker. */
        { { { 0, { 0, 0 }, 2 } }, 1 },                     /* The same broker twice. */
        { { { 0, { 0 }, 0 } }, 1 },                        /* On no broker. */
        { { { 0, { 0 }, 1 }, { 1, { 0, 4242 }, 2 } }, 2 }, /* More here than there. */
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_refused(client, placed(client, node, refused[i].placements, refused[i].count), 39);
    client_close(client);
}

TEST(placements_and_counts_do_not_go_together)
{
    struct test_client *client = client_open(shared_broker_port());
    static const struct placement placements[] = { { 0, { 0 }, 1 } };
    struct create_topics_request request = placed(client, node_id(client), placements, 1);
    request.topics.items[0].num_partitions = 1;
    assert_refused(client, request, 42);
    request.topics.items[0].num_partitions = -1;
    request.topics.items[0].replication_factor = 1;
    assert_refused(client, request, 42);
    client_close(client);
}

/* ---- the request as a whole ---- */

TEST(validating_only_answers_the_same_and_creates_nothing)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 2; version <= CREATE_TOPICS_NEWEST; version++) {
        struct create_topics_request request = create_request(client, topic_name_new());
        request.validate_only = true;
        request.topics.items[0].num_partitions = 7;
        for (int round = 0; round < 2; round++) {
            struct create_topics_response_topic answer = create_topic(client, version, &request);
            assert_in_version(version, answer.error_code, 0);
            if (version >= 5) assert_in_version(version, answer.num_partitions, 7);
        }
        assert_false(topic_exists(client, request.topics.items[0].name));
    }
    client_close(client);
}

TEST(good_and_bad_topics_of_one_request_are_answered_each)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request request = create_request(client, topic_name_new());
    make_array(client, &create_topics_request_topic_shape, 3, &request.topics);
    struct str good = topic_name_new(), bad = topic_name_new();
    request.topics.items[0].name = good;
    request.topics.items[1].name = bad;
    request.topics.items[2].name = STR_LITERAL("a/b");
    for (int i = 0; i < 3; i++) {
        request.topics.items[i].num_partitions = i == 1 ? 0 : 1;
        request.topics.items[i].replication_factor = 1;
    }
    struct create_topics_response response;
    client_call(client, CREATE_TOPICS, CREATE_TOPICS_NEWEST, &request, &response);
    assert_int_equal(response.topics.count, 3);
    for (int32_t i = 0; i < 3; i++) {
        struct create_topics_response_topic *answer = &response.topics.items[i];
        assert_int_equal(answer->error_code, str_equal(answer->name, good)  ? 0
                                             : str_equal(answer->name, bad) ? 37
                                                                            : 17);
    }
    client_close(client);
}

TEST(a_name_that_comes_twice_is_refused_once)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request request = create_request(client, topic_name_new());
    struct str name = request.topics.items[0].name;
    make_array(client, &create_topics_request_topic_shape, 2, &request.topics);
    for (int i = 0; i < 2; i++) {
        request.topics.items[i].name = name;
        request.topics.items[i].num_partitions = 1;
        request.topics.items[i].replication_factor = 1;
    }
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code, 42);
    assert_false(topic_exists(client, name));
    client_close(client);
}

TEST(a_hundred_topics_are_created_by_one_request)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request request = create_request(client, topic_name_new());
    make_array(client, &create_topics_request_topic_shape, 100, &request.topics);
    for (int i = 0; i < 100; i++) {
        request.topics.items[i].name = topic_name_new();
        request.topics.items[i].num_partitions = 2;
        request.topics.items[i].replication_factor = 1;
    }
    struct create_topics_response response;
    client_call(client, CREATE_TOPICS, CREATE_TOPICS_NEWEST, &request, &response);
    assert_int_equal(response.topics.count, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(response.topics.items[i].error_code, 0);
    client_close(client);
}

/* A few bytes may not ask for any number of partitions. As in Kafka: 10,000 of them in all, whatever else
 * is wrong with their topics, and 10,000 topics, settings and partitions of those that are right. */
TEST(a_request_that_asks_for_more_than_ten_thousand_of_all_is_refused_whole)
{
    static const struct {
        int32_t counts[3]; /* 0: no such topic. */
        int32_t settings;  /* Of the first. */
        bool is_repeated;  /* The first is named twice, and what it asks for does not count. */
        int16_t error_code;
    } cases[] = {
        { { 9999 }, 0, false, 0 },        { { 10000 }, 0, false, 44 },
        { { 10001 }, 0, false, 44 },      { { 9997 }, 2, false, 0 },
        { { 9998 }, 2, false, 44 },       { { 5000, 4998 }, 0, false, 0 },
        { { 5000, 4999 }, 0, false, 44 }, { { 1, INT32_MAX, INT32_MAX }, 0, false, 44 },
        { { 8000, 3 }, 0, true, 0 },      { { 1, 10001 }, 0, true, 44 },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct create_topics_request request = create_request(client, topic_name_new());
        make_array(client, &create_topics_request_topic_shape, 4, &request.topics);
        struct create_topics_request_topic *topics = request.topics.items;
        request.topics.count = 0;
        for (int k = 0; k < 3 && cases[i].counts[k] != 0; k++) {
            topics[k].name = topic_name_new();
            topics[k].num_partitions = cases[i].counts[k];
            topics[k].replication_factor = 1;
            request.topics.count++;
        }
        static const char *const names[] = { "retention.ms", "segment.ms" };
        make_array(client, &create_topics_request_config_shape, cases[i].settings,
                   &topics[0].configs);
        for (int k = 0; k < cases[i].settings; k++)
            topics[0].configs.items[k] = (struct create_topics_request_config){ str_from(names[k]),
                                                                                STR_LITERAL("7") };
        if (cases[i].is_repeated) topics[request.topics.count++] = topics[0];
        request.validate_only = cases[i].error_code == 0;
        struct create_topics_response response;
        client_call(client, CREATE_TOPICS, CREATE_TOPICS_NEWEST, &request, &response);
        bool is_told_each = !cases[i].is_repeated || cases[i].error_code != 0;
        assert_int_equal(response.topics.count, request.topics.count - !is_told_each);
        for (int32_t k = 0; k < response.topics.count; k++) {
            bool is_repeated = str_equal(response.topics.items[k].name, topics[0].name) &&
                               cases[i].is_repeated;
            assert_int_equal(response.topics.items[k].error_code,
                             is_repeated && cases[i].error_code == 0 ? 42 : cases[i].error_code);
            assert_false(topic_exists(client, response.topics.items[k].name));
        }
    }
    client_close(client);
}

TEST(partitions_of_topics_that_are_wrong_count_for_the_limit_of_a_request)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic there = topic_new(client, 1);
    struct str wrong[] = { STR_LITERAL("not legal"), there.name };
    for (int16_t version = 2; version <= CREATE_TOPICS_NEWEST; version++) {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            struct create_topics_request request = create_request(client, wrong[i]);
            request.topics.items[0].num_partitions = 10001;
            assert_in_version(version, create_topic(client, version, &request).error_code, 44);
        }
    }
    client_close(client);
}

TEST(who_wants_too_many_partitions_is_told_how_many_and_that_no_setting_changes_it)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request request = create_request(client, topic_name_new());
    request.topics.items[0].num_partitions = 10000; /* And the topic itself. */
    struct str told = create_topic(client, CREATE_TOPICS_NEWEST, &request).error_message;
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)told.length, told.data);
    assert_non_null(strstr(text, "10000 topics, settings and partitions"));
    assert_non_null(strstr(text, "no setting changes"));
    client_close(client);
}

/* Making the folders takes a while; who creates another topic does not wait for them. */
TEST(a_topic_is_created_at_once_beside_one_of_thousands_of_partitions)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct create_topics_request request = create_request(client, topic_name_new());
    request.topics.items[0].num_partitions = 5000;
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code, 0);
    int64_t began_us = clock_monotonic_us(clock_real());
    struct create_topics_request other = create_request(client, topic_name_new());
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &other).error_code, 0);
    assert_in_range(clock_monotonic_us(clock_real()) - began_us, 0, 1000000);
    client_close(client);
    test_broker_kill(&broker);
}

TEST(a_request_for_no_topics_is_answered_with_none)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request request = create_request(client, topic_name_new());
    request.topics.count = 0;
    for (int16_t version = 2; version <= CREATE_TOPICS_NEWEST; version++) {
        struct create_topics_response response;
        client_call(client, CREATE_TOPICS, version, &request, &response);
        assert_in_version(version, response.topics.count, 0);
    }
    client_close(client);
}
