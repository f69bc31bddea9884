// SPDX-License-Identifier: Apache-2.0
/* What DescribeTopicPartitions promises to clients (KIP-966). */

#include "api_calls.h"

#include <stdio.h>
#include <string.h>

static struct describe_topic_partitions_request describe_request(struct test_client *client,
                                                                 const struct str *names,
                                                                 int32_t count)
{
    struct describe_topic_partitions_request request = describe_topic_partitions_request_empty();
    make_array(client, &describe_topic_partitions_request_topic_shape, count, &request.topics);
    for (int32_t i = 0; i < count; i++)
        request.topics.items[i].name = names[i];
    return request;
}

static void set_cursor(struct test_client *client,
                       struct describe_topic_partitions_request *request, struct str name,
                       int32_t partition)
{
    request->cursor = client_alloc(client, 1, sizeof *request->cursor);
    request->cursor->topic_name = name;
    request->cursor->partition_index = partition;
}

static struct describe_topic_partitions_response describe(
    struct test_client *client, const struct describe_topic_partitions_request *request)
{
    struct describe_topic_partitions_response response;
    client_call(client, DESCRIBE_TOPIC_PARTITIONS, 0, request, &response);
    return response;
}

/* `suffix` orders the names. */
static struct topic named_topic(struct test_client *client, struct str base, char suffix,
                                int32_t partitions)
{
    char *name = client_alloc(client, 100, 1);
    snprintf(name, 100, "%.*s-%c", (int)base.length, base.data, suffix);
    struct create_topics_request request = create_request(client, str_from(name));
    request.topics.items[0].num_partitions = partitions;
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code, 0);
    return await_topic(client, str_from(name), partitions);
}

TEST(a_topic_is_described_as_metadata_tells_it)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    struct describe_topic_partitions_request request = describe_request(client, &topic.name, 1);
    struct describe_topic_partitions_response answer = describe(client, &request);
    assert_int_equal(answer.topics.count, 1);
    assert_null(answer.next_cursor);
    const struct describe_topic_partitions_response_topic *told = &answer.topics.items[0];
    struct metadata_response_topic expected = metadata_of(client, METADATA_NEWEST, topic.name, NULL,
                                                          false);
    assert_int_equal(told->error_code, 0);
    assert_true(str_equal(told->name, topic.name));
    assert_true(uuid_equal(&told->topic_id, &topic.id));
    assert_false(told->is_internal);
    assert_int_equal(told->topic_authorized_operations, 3576);
    assert_int_equal(told->partitions.count, 3);
    for (int32_t i = 0; i < 3; i++) {
        const struct describe_topic_partitions_response_partition *partition =
            &told->partitions.items[i];
        assert_int_equal(partition->error_code, 0);
        assert_int_equal(partition->partition_index, i);
        assert_int_equal(partition->leader_id, expected.partitions.items[0].leader_id);
        assert_int_equal(partition->leader_epoch, 0);
        assert_int_equal(partition->replica_nodes.count, 1);
        assert_int_equal(partition->replica_nodes.items[0], partition->leader_id);
        assert_int_equal(partition->isr_nodes.count, 1);
        assert_int_equal(partition->eligible_leader_replicas.count, 0);
        assert_int_equal(partition->last_known_elr.count, 0);
        assert_int_equal(partition->offline_replicas.count, 0);
    }
    client_close(client);
}

TEST(what_is_no_topic_is_told_as_such)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str names[] = { topic_name_new(), STR_LITERAL("no name"), STR_LITERAL("") };
    static const int16_t errors[] = { 3, 17, 17 };
    for (int i = 0; i < 3; i++) {
        if (i == 2 && shared_broker_is_foreign()) break; /* Kafka fails: -1. */
        struct describe_topic_partitions_request request = describe_request(client, &names[i], 1);
        struct describe_topic_partitions_response answer = describe(client, &request);
        static const struct uuid none;
        assert_int_equal(answer.topics.count, 1);
        assert_true(str_equal(answer.topics.items[0].name, names[i]));
        assert_int_equal(answer.topics.items[0].error_code, errors[i]);
        assert_true(uuid_equal(&answer.topics.items[0].topic_id, &none));
        assert_int_equal(answer.topics.items[0].topic_authorized_operations, 3576);
        assert_null(answer.next_cursor);
    }
    client_close(client);
}

TEST(topics_come_in_the_order_of_their_names_and_once)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str base = topic_name_new();
    struct topic c = named_topic(client, base, 'c', 1), a = named_topic(client, base, 'a', 1);
    struct str names[] = { c.name, topic_name_new(), a.name, c.name, base };
    struct describe_topic_partitions_request request = describe_request(client, names, 5);
    struct describe_topic_partitions_response answer = describe(client, &request);
    assert_int_equal(answer.topics.count, 4);
    for (int32_t i = 1; i < 4; i++) {
        struct str before = answer.topics.items[i - 1].name, name = answer.topics.items[i].name;
        int32_t shorter = before.length < name.length ? before.length : name.length;
        int order = memcmp(before.data, name.data, (size_t)shorter);
        assert_true(order < 0 || (order == 0 && before.length < name.length));
    }
    client_close(client);
}

TEST(a_cursor_leads_through_all_partitions)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str base = topic_name_new();
    struct topic topics[] = { named_topic(client, base, 'a', 3), named_topic(client, base, 'b', 2),
                              named_topic(client, base, 'c', 4) };
    struct str names[] = { topics[2].name, topics[0].name, topics[1].name };
    for (int32_t limit = 1; limit <= 10; limit++) {
        struct describe_topic_partitions_request request = describe_request(client, names, 3);
        request.response_partition_limit = limit;
        int32_t seen = 0, topic = 0, partition = 0;
        for (int round = 0; round < 20; round++) {
            struct describe_topic_partitions_response answer = describe(client, &request);
            int32_t in_this = 0;
            for (int32_t i = 0; i < answer.topics.count; i++) {
                const struct describe_topic_partitions_response_topic *told =
                    &answer.topics.items[i];
                assert_true(str_equal(told->name, topics[topic].name));
                for (int32_t k = 0; k < told->partitions.count; k++) {
                    assert_int_equal(told->partitions.items[k].partition_index, partition++);
                    in_this++;
                }
                if (partition == topics[topic].partition_count) {
                    topic++;
                    partition = 0;
                }
            }
            seen += in_this;
            assert_true(in_this <= limit);
            if (answer.next_cursor == NULL) break;
            assert_int_equal(in_this, limit);
            assert_true(str_equal(answer.next_cursor->topic_name, topics[topic].name));
            assert_int_equal(answer.next_cursor->partition_index, partition);
            set_cursor(client, &request, answer.next_cursor->topic_name,
                       answer.next_cursor->partition_index);
        }
        assert_int_equal(seen, 9);
        assert_int_equal(topic, 3);
    }
    client_close(client);
}

TEST(a_limit_below_one_is_one)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    static const int32_t limits[] = { 0, -1, INT32_MIN };
    for (int i = 0; i < 3; i++) {
        struct describe_topic_partitions_request request = describe_request(client, &topic.name, 1);
        request.response_partition_limit = limits[i];
        struct describe_topic_partitions_response answer = describe(client, &request);
        assert_int_equal(answer.topics.items[0].partitions.count, 1);
        assert_int_equal(answer.next_cursor->partition_index, 1);
    }
    client_close(client);
}

/* Whatever the client asks for. */
TEST(no_answer_has_more_than_two_thousand_partitions)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request create = create_request(client, topic_name_new());
    create.topics.items[0].num_partitions = 2001;
    if (shared_broker_is_foreign()) skip(); /* Kafka would be a while about so many. */
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &create).error_code, 0);
    struct describe_topic_partitions_request request = describe_request(
        client, &create.topics.items[0].name, 1);
    request.response_partition_limit = INT32_MAX;
    struct describe_topic_partitions_response answer = describe(client, &request);
    assert_int_equal(answer.topics.items[0].partitions.count, 2000);
    assert_int_equal(answer.next_cursor->partition_index, 2000);
    client_close(client);
}

static bool is_told(const struct describe_topic_partitions_response *answer, struct str name)
{
    for (int32_t i = 0; i < answer->topics.count; i++)
        if (str_equal(answer->topics.items[i].name, name)) return true;
    return false;
}

TEST(who_names_no_topic_is_told_of_all_from_the_cursor_on)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str base = topic_name_new();
    struct topic a = named_topic(client, base, 'a', 2), b = named_topic(client, base, 'b', 3),
                 c = named_topic(client, base, 'c', 1);
    struct describe_topic_partitions_request request = describe_request(client, NULL, 0);
    set_cursor(client, &request, b.name, 1);
    struct describe_topic_partitions_response answer = describe(client, &request);
    assert_false(is_told(&answer, a.name));
    assert_true(str_equal(answer.topics.items[0].name, b.name));
    assert_int_equal(answer.topics.items[0].partitions.count, 2);
    assert_true(str_equal(answer.topics.items[1].name, c.name));
    assert_int_equal(answer.topics.items[1].partitions.count, 1);
    /* The cursor's topic may be gone by now. */
    set_cursor(client, &request, base, 7);
    request.response_partition_limit = 5;
    answer = describe(client, &request);
    assert_int_equal(answer.topics.count, 2);
    assert_true(str_equal(answer.topics.items[0].name, a.name));
    assert_int_equal(answer.topics.items[0].partitions.count, 2);
    assert_true(str_equal(answer.topics.items[1].name, b.name));
    assert_int_equal(answer.topics.items[1].partitions.count, 3);
    assert_true(str_equal(answer.next_cursor->topic_name, c.name));
    assert_int_equal(answer.next_cursor->partition_index, 0);
    client_close(client);
}

TEST(a_cursor_that_cannot_be_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    struct str names[] = { topic.name, topic_name_new() };
    struct describe_topic_partitions_request request = describe_request(client, names, 2);
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            set_cursor(client, &request, topic.name, -1);
        else
            set_cursor(client, &request, STR_LITERAL("another"), 0);
        struct describe_topic_partitions_response answer = describe(client, &request);
        assert_int_equal(answer.topics.count, 2);
        assert_null(answer.next_cursor);
        for (int32_t k = 0; k < 2; k++) {
            assert_true(str_equal(answer.topics.items[k].name, names[k]));
            assert_int_equal(answer.topics.items[k].error_code, 42);
            assert_int_equal(answer.topics.items[k].partitions.count, 0);
            assert_int_equal(answer.topics.items[k].topic_authorized_operations, INT32_MIN);
        }
    }
    client_close(client);
}

TEST(a_cursor_behind_the_last_partition_leads_on)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    struct describe_topic_partitions_request request = describe_request(client, &topic.name, 1);
    set_cursor(client, &request, topic.name, 9);
    struct describe_topic_partitions_response answer = describe(client, &request);
    assert_int_equal(answer.topics.count, 1);
    assert_int_equal(answer.topics.items[0].error_code, 0);
    assert_int_equal(answer.topics.items[0].partitions.count, 0);
    assert_null(answer.next_cursor);
    client_close(client);
}
