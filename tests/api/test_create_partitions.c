// SPDX-License-Identifier: Apache-2.0
/* What CreatePartitions promises to clients. */

#include "api_calls.h"

#define NOBODY 4242 /* A broker that is not there. */

static struct create_partitions_request grow_request(struct test_client *client, struct str name,
                                                     int32_t count)
{
    struct create_partitions_request request = create_partitions_request_empty();
    request.timeout_ms = 30000;
    make_array(client, &create_partitions_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = name;
    request.topics.items[0].count = count;
    request.topics.items[0].assignments.count = -1;
    return request;
}

static struct create_partitions_response_topic grow(struct test_client *client, int16_t version,
                                                    const struct create_partitions_request *request)
{
    struct create_partitions_response response;
    client_call(client, CREATE_PARTITIONS, version, request, &response);
    assert_in_version(version, response.results.count, 1);
    assert_true(str_equal(response.results.items[0].name, request->topics.items[0].name));
    return response.results.items[0];
}

static void assert_refused(struct test_client *client,
                           const struct create_partitions_request *request, int16_t error)
{
    for (int16_t version = 0; version <= CREATE_PARTITIONS_NEWEST; version++) {
        struct create_partitions_response_topic answer = grow(client, version, request);
        assert_in_version(version, answer.error_code, error);
        assert_true(str_is_null(answer.error_message) == (error == 3));
    }
}

static int32_t partition_count(struct test_client *client, struct topic topic)
{
    return metadata_of(client, METADATA_NEWEST, topic.name, NULL, false).partitions.count;
}

static int32_t node_id(struct test_client *client)
{
    struct metadata_request none = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 0, &none.topics);
    struct metadata_response response;
    client_call(client, METADATA, METADATA_NEWEST, &none, &response);
    return response.brokers.items[0].node_id;
}

TEST(every_version_adds_partitions_that_can_be_used)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 3);
    for (int16_t version = 0; version <= CREATE_PARTITIONS_NEWEST; version++) {
        int32_t count = 2 * version + 3;
        struct create_partitions_request request = grow_request(client, topic.name, count);
        struct create_partitions_response_topic answer = grow(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_true(str_is_null(answer.error_message));
        struct topic grown = await_topic(client, topic.name, count);
        assert_true(uuid_equal(&grown.id, &topic.id));
        produce_some(client, grown, count - 1, 1);
        assert_in_version(version, end_offset(client, grown, count - 1), 1);
        assert_in_version(version, end_offset(client, grown, count - 2), 0);
        assert_in_version(version, end_offset(client, grown, 0), 3);
    }
    client_close(client);
}

TEST(new_partitions_are_told_like_the_old_ones)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    struct create_partitions_request request = grow_request(client, topic.name, 5);
    assert_int_equal(grow(client, CREATE_PARTITIONS_NEWEST, &request).error_code, 0);
    await_topic(client, topic.name, 5);
    struct metadata_response_topic told = metadata_of(client, METADATA_NEWEST, topic.name, NULL,
                                                      false);
    for (int32_t i = 0; i < 5; i++) {
        const struct metadata_response_partition *partition = &told.partitions.items[i];
        assert_int_equal(partition->leader_id, told.partitions.items[0].leader_id);
        assert_int_equal(partition->leader_epoch, 0);
        assert_int_equal(partition->replica_nodes.count, 1);
        assert_int_equal(partition->isr_nodes.count, 1);
        assert_int_equal(partition->offline_replicas.count, 0);
    }
    client_close(client);
}

TEST(a_count_that_is_no_increase_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    static const int32_t counts[] = { 3, 2, 1, 0, -1, INT32_MIN };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct create_partitions_request request = grow_request(client, topic.name, counts[i]);
        assert_refused(client, &request, 37);
    }
    assert_int_equal(partition_count(client, topic), 3);
    client_close(client);
}

TEST(a_topic_that_does_not_exist_gets_no_partitions)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_partitions_request request = grow_request(client, topic_name_new(), 2);
    assert_refused(client, &request, 3);
    request.topics.items[0].name = STR_LITERAL("no such name");
    assert_refused(client, &request, 3);
    request.topics.items[0].name = STR_LITERAL("");
    assert_refused(client, &request, 3);
    client_close(client);
}

TEST(to_validate_is_not_to_add)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct create_partitions_request request = grow_request(client, topic.name, 4);
    request.validate_only = true;
    for (int16_t version = 0; version <= CREATE_PARTITIONS_NEWEST; version++) {
        assert_in_version(version, grow(client, version, &request).error_code, 0);
        assert_in_version(version, partition_count(client, topic), 1);
    }
    request.topics.items[0].count = 1;
    assert_refused(client, &request, 37);
    client_close(client);
}

/* `counts[i]` brokers for the i-th new partition, of which NOBODY stands for one that is not there. */
static void place(struct test_client *client, struct create_partitions_request *request,
                  int32_t partitions, const int32_t *brokers, const int32_t *counts)
{
    struct create_partitions_request_topic *topic = &request->topics.items[0];
    make_array(client, &create_partitions_request_assignment_shape, partitions,
               &topic->assignments);
    for (int32_t i = 0; i < partitions; i++) {
        topic->assignments.items[i].broker_ids.items = client_alloc(client, 4, sizeof(int32_t));
        topic->assignments.items[i].broker_ids.count = counts[i];
        for (int32_t k = 0; k < counts[i]; k++)
            topic->assignments.items[i].broker_ids.items[k] = *brokers++;
    }
}

TEST(new_partitions_may_be_placed_by_the_client)
{
    struct test_client *client = client_open(shared_broker_port());
    int32_t node = node_id(client);
    struct topic topic = topic_new(client, 1);
    for (int16_t version = 0; version <= CREATE_PARTITIONS_NEWEST; version++) {
        int32_t count = 2 * version + 3;
        struct create_partitions_request request = grow_request(client, topic.name, count);
        place(client, &request, 2, (int32_t[]){ node, node }, (int32_t[]){ 1, 1 });
        assert_in_version(version, grow(client, version, &request).error_code, 0);
        await_topic(client, topic.name, count);
    }
    client_close(client);
}

TEST(placements_of_new_partitions_that_cannot_be_kept_are_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    int32_t node = node_id(client);
    struct topic topic = topic_new(client, 1);
    struct {
        int32_t partitions;
        int32_t brokers[4], counts[3];
    } cases[] = {
        { 0, { 0 }, { 0 } },                             /* For none. */
        { 1, { node }, { 1 } },                          /* For one of two. */
        { 3, { node, node, node }, { 1, 1, 1 } },        /* For one too many. */
        { 2, { node, NOBODY }, { 1, 1 } },               /* No such broker. */
        { 2, { node, -1 }, { 1, 1 } },                   /* No broker at all. */
        { 2, { node }, { 1, 0 } },                       /* On none. */
        { 2, { node, node, node, node }, { 2, 2 } },     /* One broker twice. */
        { 2, { node, NOBODY, node, NOBODY }, { 2, 2 } }, /* Of more replicas than it has. */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct create_partitions_request request = grow_request(client, topic.name, 3);
        place(client, &request, cases[i].partitions, cases[i].brokers, cases[i].counts);
        assert_refused(client, &request, 39);
    }
    assert_int_equal(partition_count(client, topic), 1);
    /* The count is looked at first. */
    struct create_partitions_request request = grow_request(client, topic.name, 1);
    place(client, &request, 1, (int32_t[]){ NOBODY }, (int32_t[]){ 1 });
    assert_refused(client, &request, 37);
    client_close(client);
}

static const struct create_partitions_response_topic *find_answer(
    const struct create_partitions_response *response, struct str name)
{
    const struct create_partitions_response_topic *found = NULL;
    for (int32_t i = 0; i < response->results.count; i++) {
        if (!str_equal(response->results.items[i].name, name)) continue;
        assert_null(found);
        found = &response->results.items[i];
    }
    assert_non_null(found);
    return found;
}

TEST(topics_are_answered_each_and_one_that_is_named_twice_once)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic good = topic_new(client, 1), twice = topic_new(client, 1);
    struct str missing = topic_name_new();
    struct str names[] = { twice.name, good.name, missing, twice.name };
    for (int16_t version = 0; version <= CREATE_PARTITIONS_NEWEST; version++) {
        struct create_partitions_request request = grow_request(client, good.name, version + 2);
        make_array(client, &create_partitions_request_topic_shape, 4, &request.topics);
        for (int i = 0; i < 4; i++) {
            request.topics.items[i].name = names[i];
            request.topics.items[i].count = version + 2 + i;
            request.topics.items[i].assignments.count = -1;
        }
        struct create_partitions_response response;
        client_call(client, CREATE_PARTITIONS, version, &request, &response);
        assert_in_version(version, response.results.count, 3);
        assert_in_version(version, find_answer(&response, twice.name)->error_code, 42);
        assert_in_version(version, find_answer(&response, good.name)->error_code, 0);
        assert_in_version(version, find_answer(&response, missing)->error_code, 3);
    }
    assert_int_equal(partition_count(client, twice), 1);
    client_close(client);
}

/* As in Kafka: all of the request, what is wrong with it in other ways too. */
TEST(a_request_that_asks_for_more_than_ten_thousand_partitions_more_is_refused_whole)
{
    static const struct {
        int32_t counts[3]; /* Of topics with 3, 3 and none. */
        int16_t error_codes[3];
    } cases[] = {
        { { 10003, 2, 5 }, { 0, 37, 3 } },         { { 10004, 4, 5 }, { 44, 44, 44 } },
        { { 2, 10004, 5 }, { 44, 44, 44 } },       { { 5003, 5003, INT32_MAX }, { 0, 0, 3 } },
        { { 5003, 5004, 5 }, { 44, 44, 44 } },     { { INT32_MAX, INT32_MAX, 5 }, { 44, 44, 44 } },
        { { INT32_MIN, 10003, 5 }, { 37, 0, 3 } },
    };
    struct test_client *client = client_open(shared_broker_port());
    struct str names[] = { topic_new(client, 3).name, topic_new(client, 3).name, topic_name_new() };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct create_partitions_request request = grow_request(client, names[0], 1);
        make_array(client, &create_partitions_request_topic_shape, 3, &request.topics);
        for (int k = 0; k < 3; k++) {
            request.topics.items[k].name = names[k];
            request.topics.items[k].count = cases[i].counts[k];
            request.topics.items[k].assignments.count = -1;
        }
        request.validate_only = true;
        struct create_partitions_response response;
        client_call(client, CREATE_PARTITIONS, CREATE_PARTITIONS_NEWEST, &request, &response);
        for (int k = 0; k < 3; k++)
            assert_int_equal(find_answer(&response, names[k])->error_code, cases[i].error_codes[k]);
        assert_int_equal(response.results.count, 3);

        /* Named twice, the second does not count; where all is refused it is told twice. */
        request.topics.items[2] = request.topics.items[1];
        client_call(client, CREATE_PARTITIONS, CREATE_PARTITIONS_NEWEST, &request, &response);
        bool is_refused = cases[i].counts[0] > 10003;
        assert_int_equal(response.results.count, is_refused ? 3 : 2);
        for (int32_t k = 0; k < response.results.count; k++)
            if (str_equal(response.results.items[k].name, names[1]))
                assert_int_equal(response.results.items[k].error_code, is_refused ? 44 : 42);
    }
    client_close(client);
}

TEST(a_request_for_no_topic_gets_no_answer_about_one)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_partitions_request request = create_partitions_request_empty();
    request.timeout_ms = 30000;
    for (int16_t version = 0; version <= CREATE_PARTITIONS_NEWEST; version++) {
        struct create_partitions_response response;
        client_call(client, CREATE_PARTITIONS, version, &request, &response);
        assert_in_version(version, response.results.count, 0);
    }
    client_close(client);
}

TEST(added_partitions_survive_a_restart_and_a_kill)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    for (int32_t count = 3; count <= 5; count += 2) {
        struct create_partitions_request request = grow_request(client, topic.name, count);
        assert_int_equal(grow(client, CREATE_PARTITIONS_NEWEST, &request).error_code, 0);
        await_topic(client, topic.name, count);
        produce_some(client, topic, count - 1, count);
        client_close(client);
        if (count == 3)
            test_broker_stop(&broker);
        else
            test_broker_kill(&broker);
        test_broker_start(&broker);
        client = client_open(broker.port);
        struct topic again = await_topic(client, topic.name, count);
        assert_true(uuid_equal(&again.id, &topic.id));
        assert_int_equal(end_offset(client, again, count - 1), count);
    }
    client_close(client);
    test_broker_stop(&broker);
}
