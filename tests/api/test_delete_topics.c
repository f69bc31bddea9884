// SPDX-License-Identifier: Apache-2.0
/* What DeleteTopics promises to clients. */

#include "api_calls.h"

#include <stdio.h>

#define BY_ID 6 /* The version in which topics may be named by id. */

/* By name, in any version. */
static struct delete_topics_request delete_request(struct test_client *client, struct str name)
{
    struct delete_topics_request request = delete_topics_request_empty();
    request.timeout_ms = 30000;
    make_array_of_one(client, &request.topic_names, name);
    return request;
}

static struct delete_topics_request delete_request_6(struct test_client *client, struct str name,
                                                     struct uuid id)
{
    struct delete_topics_request request = delete_topics_request_empty();
    request.timeout_ms = 30000;
    make_array(client, &delete_topics_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = name;
    request.topics.items[0].topic_id = id;
    return request;
}

static struct delete_topics_response_topic delete_by_name(struct test_client *client,
                                                          int16_t version, struct str name)
{
    static const struct uuid none;
    struct delete_topics_request request = version >= BY_ID ? delete_request_6(client, name, none)
                                                            : delete_request(client, name);
    struct delete_topics_response response;
    client_call(client, DELETE_TOPICS, version, &request, &response);
    assert_in_version(version, response.responses.count, 1);
    return response.responses.items[0];
}

static struct delete_topics_response_topic delete_6(struct test_client *client, struct str name,
                                                    struct uuid id)
{
    struct delete_topics_request request = delete_request_6(client, name, id);
    struct delete_topics_response response;
    client_call(client, DELETE_TOPICS, BY_ID, &request, &response);
    assert_int_equal(response.responses.count, 1);
    return response.responses.items[0];
}

static void await_gone(struct test_client *client, struct topic topic)
{
    if (!shared_broker_is_foreign()) {
        assert_false(topic_exists(client, topic.name));
        return;
    }
    while (topic_exists(client, topic.name)) {}
}

TEST(every_version_deletes_by_name)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 1; version <= DELETE_TOPICS_NEWEST; version++) {
        struct topic topic = topic_new(client, 2);
        produce_some(client, topic, 1, 2);
        struct delete_topics_response_topic answer = delete_by_name(client, version, topic.name);
        assert_in_version(version, answer.error_code, 0);
        assert_true(str_equal(answer.name, topic.name));
        if (version >= BY_ID) assert_true(uuid_equal(&answer.topic_id, &topic.id));
        await_gone(client, topic);
    }
    client_close(client);
}

TEST(version_6_deletes_by_id)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct delete_topics_response_topic answer = delete_6(client, STR_NULL, topic.id);
    assert_int_equal(answer.error_code, 0);
    assert_true(str_equal(answer.name, topic.name));
    assert_true(uuid_equal(&answer.topic_id, &topic.id));
    await_gone(client, topic);
    client_close(client);
}

TEST(a_topic_that_does_not_exist_cannot_be_deleted)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 1; version <= DELETE_TOPICS_NEWEST; version++) {
        struct str name = topic_name_new();
        struct delete_topics_response_topic answer = delete_by_name(client, version, name);
        assert_in_version(version, answer.error_code, 3);
        assert_true(str_equal(answer.name, name));
    }
    const struct uuid id = { { 9, 9, 9, 9, 9, 9 } };
    struct delete_topics_response_topic answer = delete_6(client, STR_NULL, id);
    assert_int_equal(answer.error_code, 100);
    assert_true(uuid_equal(&answer.topic_id, &id));
    client_close(client);
}

TEST(a_topic_is_named_by_name_or_by_id_but_not_both)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    static const struct uuid none;
    assert_int_equal(delete_6(client, topic.name, topic.id).error_code, 42);
    assert_int_equal(delete_6(client, STR_NULL, none).error_code, 42);
    assert_true(topic_exists(client, topic.name));
    client_close(client);
}

TEST(a_topic_that_is_named_twice_is_not_deleted)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct delete_topics_request request = delete_request(client, topic.name);
    struct str names[] = { topic.name, topic.name };
    request.topic_names.items = names;
    request.topic_names.count = 2;
    struct delete_topics_response response;
    client_call(client, DELETE_TOPICS, 5, &request, &response);
    for (int32_t i = 0; i < response.responses.count; i++)
        assert_int_equal(response.responses.items[i].error_code, 42);
    assert_true(response.responses.count > 0);
    assert_true(topic_exists(client, topic.name));
    client_close(client);
}

TEST(many_topics_that_are_named_twice_are_answered_each)
{
    enum { TOPICS = 3000, NAME_SIZE = 32 };
    struct test_client *client = client_open(shared_broker_port());
    struct delete_topics_request request = delete_request(client, STR_LITERAL(""));
    struct str *names = client_alloc(client, 2 * TOPICS, sizeof *names);
    for (int i = 0; i < TOPICS; i++) {
        char *name = client_alloc(client, NAME_SIZE, 1);
        snprintf(name, NAME_SIZE, "twice-%d", i);
        names[i] = names[TOPICS + i] = str_from(name);
    }
    request.topic_names.items = names;
    request.topic_names.count = 2 * TOPICS;
    struct delete_topics_response response;
    client_call(client, DELETE_TOPICS, 5, &request, &response);
    for (int32_t i = 0; i < response.responses.count; i++)
        assert_int_equal(response.responses.items[i].error_code, 42);
    assert_true(response.responses.count >= TOPICS);
    client_close(client);
}

TEST(a_topic_that_is_named_by_name_and_by_id_is_refused_once)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct delete_topics_request request = delete_topics_request_empty();
    struct delete_topics_request_topic states[] = { { .name = topic.name },
                                                    { .name = STR_NULL, .topic_id = topic.id } };
    request.topics.items = states;
    request.topics.count = 2;
    request.timeout_ms = 30000;
    struct delete_topics_response response;
    client_call(client, DELETE_TOPICS, DELETE_TOPICS_NEWEST, &request, &response);
    assert_int_equal(response.responses.count, 1);
    assert_int_equal(response.responses.items[0].error_code, 42);
    assert_true(str_equal(response.responses.items[0].name, topic.name));
    assert_true(uuid_equal(&response.responses.items[0].topic_id, &topic.id));
    assert_true(topic_exists(client, topic.name));
    client_close(client);
}

TEST(several_topics_are_answered_each)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topics[] = { topic_new(client, 1), topic_new(client, 1) };
    struct str names[] = { topics[0].name, topic_name_new(), topics[1].name };
    struct delete_topics_request request = delete_request(client, names[0]);
    request.topic_names.items = names;
    request.topic_names.count = 3;
    struct delete_topics_response response;
    client_call(client, DELETE_TOPICS, 5, &request, &response);
    assert_int_equal(response.responses.count, 3);
    for (int32_t i = 0; i < 3; i++) {
        struct delete_topics_response_topic *answer = &response.responses.items[i];
        assert_int_equal(answer->error_code, str_equal(answer->name, names[1]) ? 3 : 0);
    }
    client_close(client);
}

TEST(a_deleted_topic_is_unknown_to_everybody)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    topic_delete(client, topic);
    await_gone(client, topic);

    struct records batch = batch_build(&client->arena, (struct batch){ 0 });
    assert_int_equal(produce_to(client, 12, topic, 0, 1, batch).error_code, 3);
    assert_int_equal(produce_to(client, 13, topic, 0, 1, batch).error_code, 100);
    struct fetch_request request = fetch_request(client, topic, 0, 0);
    assert_int_equal(fetch_with(client, 12, &request).error_code, 3);
    assert_int_equal(fetch_with(client, 13, &request).error_code, 100);
    assert_int_equal(list_offset(client, LIST_OFFSETS_NEWEST, topic, 0, -1).error_code, 3);
    client_close(client);
}

/* Setting: delete.topic.enable */
TEST(with_deletion_off_topics_stay)
{
    static const char *const settings[] = { "delete.topic.enable=false", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    for (int16_t version = 1; version <= DELETE_TOPICS_NEWEST; version++) {
        int16_t error = delete_by_name(client, version, topic.name).error_code;
        assert_in_version(version, error, version < 3 ? 42 : 73);
    }
    assert_true(topic_exists(client, topic.name));
    client_close(client);
    test_broker_stop(&broker);
}
