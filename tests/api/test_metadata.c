// SPDX-License-Identifier: Apache-2.0
/* What Metadata promises to clients. */

#include <stdio.h>
#include <string.h>

#include "api_calls.h"
#include "clock.h"

#define NOT_ASKED INT32_MIN

static void check_brokers_of(const struct metadata_response *response, int16_t version)
{
    assert_in_version(version, response->brokers.count, 1);
    const struct metadata_response_broker *broker = &response->brokers.items[0];
    assert_true(str_equals_text(broker->host, "127.0.0.1"));
    assert_in_version(version, broker->port, shared_broker_port());
    assert_true(str_is_null(broker->rack));
    if (version >= 1) assert_in_version(version, response->controller_id, broker->node_id);
    if (version >= 2) assert_true(response->cluster_id.length > 0);
    assert_in_version(version, response->error_code, 0);
}

static void check_brokers(const struct metadata_response *response, int16_t version)
{
    check_brokers_of(response, version);
    assert_in_version(version, response->cluster_authorized_operations, NOT_ASKED);
}

static void check_partition(const struct metadata_response_partition *partition, int32_t node,
                            int32_t index, int16_t version)
{
    assert_in_version(version, partition->error_code, 0);
    assert_in_version(version, partition->partition_index, index);
    assert_in_version(version, partition->leader_id, node);
    if (version >= 7) assert_true(partition->leader_epoch >= 0);
    assert_in_version(version, partition->replica_nodes.count, 1);
    assert_in_version(version, partition->replica_nodes.items[0], node);
    assert_in_version(version, partition->isr_nodes.count, 1);
    assert_in_version(version, partition->isr_nodes.items[0], node);
    assert_in_version(version, partition->offline_replicas.count, 0);
}

TEST(every_version_names_broker_topic_and_leaders)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    for (int16_t version = 0; version <= METADATA_NEWEST; version++) {
        struct metadata_request request = metadata_request_empty();
        make_array(client, &metadata_request_topic_shape, 1, &request.topics);
        request.topics.items[0].name = topic.name;
        struct metadata_response response;
        client_call(client, METADATA, version, &request, &response);
        check_brokers(&response, version);
        assert_in_version(version, response.topics.count, 1);
        struct metadata_response_topic *answer = &response.topics.items[0];
        assert_in_version(version, answer->error_code, 0);
        assert_true(str_equal(answer->name, topic.name));
        assert_in_version(version, answer->is_internal, false);
        assert_in_version(version, answer->topic_authorized_operations, NOT_ASKED);
        if (version >= 10) assert_false(uuid_is_zero(&answer->topic_id)); /* KIP-516 */
        assert_in_version(version, answer->partitions.count, 3);
        for (int32_t i = 0; i < 3; i++)
            check_partition(&answer->partitions.items[i], response.brokers.items[0].node_id, i,
                            version);
    }
    client_close(client);
}

static bool names_topic(const struct metadata_response *response, struct str name)
{
    for (int32_t i = 0; i < response->topics.count; i++)
        if (str_equal(response->topics.items[i].name, name)) return true;
    return false;
}

TEST(null_means_all_topics_and_an_empty_list_means_none)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (int16_t version = 1; version <= METADATA_NEWEST; version++) {
        struct metadata_request request = metadata_request_empty();
        struct metadata_response response;
        request.topics.count = -1;
        client_call(client, METADATA, version, &request, &response);
        assert_true(names_topic(&response, topic.name));

        request.topics.count = 0;
        client_call(client, METADATA, version, &request, &response);
        assert_in_version(version, response.topics.count, 0);
        assert_in_version(version, response.brokers.count, 1);
    }
    client_close(client);
}

static void ask_for_all(struct test_client *client, int16_t version, bool with_operations,
                        struct metadata_response *response)
{
    struct metadata_request request = metadata_request_empty();
    request.topics.count = version == 0 ? 0 : -1;
    if (version >= 8) request.include_topic_authorized_operations = with_operations;
    if (version >= 8 && version <= 10)
        request.include_cluster_authorized_operations = with_operations;
    client_call(client, METADATA, version, &request, response);
}

static struct metadata_response_topic topic_in(const struct metadata_response *response,
                                               struct str name)
{
    for (int32_t i = 0; i < response->topics.count; i++)
        if (str_equal(response->topics.items[i].name, name)) return response->topics.items[i];
    fail_msg("the topic is not told");
    return (struct metadata_response_topic){ 0 };
}

/* Such an answer is encoded once and kept: it must be that of the version and of the moment, and have what was
 * asked for. */
TEST(all_topics_of_a_large_cluster_are_told_as_they_are_now_in_every_version)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic large = topic_new(client, 600);
    for (int16_t version = 0; version <= METADATA_NEWEST; version++) {
        struct topic added = topic_new(client, 2);
        struct metadata_response response;
        for (int i = 0; i < 4; i++) {
            bool with_operations = i % 2 == 1;
            ask_for_all(client, version, with_operations, &response);
            check_brokers_of(&response, version);
            struct metadata_response_topic answer = topic_in(&response, large.name);
            assert_in_version(version, answer.partitions.count, 600);
            check_partition(&answer.partitions.items[599], response.brokers.items[0].node_id, 599,
                            version);
            assert_in_version(version, topic_in(&response, added.name).partitions.count, 2);
            if (version >= 8)
                assert_in_version(version, answer.topic_authorized_operations != NOT_ASKED,
                                  with_operations);
            if (version >= 8 && version <= 10)
                assert_in_version(version, response.cluster_authorized_operations != NOT_ASKED,
                                  with_operations);
        }
        topic_delete(client, added);
        ask_for_all(client, version, false, &response);
        assert_false(names_topic(&response, added.name));
    }
    topic_delete(client, large);
    client_close(client);
}

TEST(in_version_0_an_empty_list_means_all_topics)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct metadata_request request = metadata_request_empty();
    request.topics.count = 0;
    struct metadata_response response;
    client_call(client, METADATA, 0, &request, &response);
    assert_true(names_topic(&response, topic.name));
    client_close(client);
}

/* The quorum creates in the order in which it was asked: what comes behind is there, so is `name`, if it was
 * asked for. */
static void assert_was_not_created(struct test_client *client, struct str name)
{
    topic_new(client, 1);
    assert_int_equal(metadata_of(client, METADATA_NEWEST, name, NULL, false).error_code, 3);
}

TEST(an_unknown_topic_is_not_created_unless_the_request_allows_it)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str name = topic_name_new();
    for (int round = 0; round < 3; round++) {
        for (int16_t version = 4; version <= METADATA_NEWEST; version++) {
            struct metadata_response_topic answer = metadata_of(client, version, name, NULL, false);
            assert_in_version(version, answer.error_code, 3);
            assert_true(str_equal(answer.name, name));
            assert_in_version(version, answer.partitions.count, 0);
            assert_true(uuid_is_zero(&answer.topic_id));
        }
    }
    assert_was_not_created(client, name);
    client_close(client);
}

static void await_auto_created(struct test_client *client, int16_t version, struct str name)
{
    int64_t deadline_us = clock_monotonic_us(clock_real()) + 30 * INT64_C(1000000);
    struct metadata_response_topic answer = metadata_of(client, version, name, NULL, true);
    if (answer.error_code != 3 && answer.error_code != 5)
        fail_msg("version %d: the first answer is %d", version, answer.error_code);
    while (answer.error_code != 0) {
        if (clock_monotonic_us(clock_real()) > deadline_us)
            fail_msg("version %d: still %d", version, answer.error_code);
        answer = metadata_of(client, version, name, NULL, true);
    }
    assert_in_version(version, answer.partitions.count, 1);
}

/* Clients retry 3 and 5 alike, and go on as soon as it is 0. */
TEST(an_unknown_topic_is_created_when_the_request_allows_it)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 0; version <= METADATA_NEWEST; version++)
        await_auto_created(client, version, topic_name_new());
    client_close(client);
}

TEST(a_topic_created_by_asking_for_it_takes_records)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str name = topic_name_new();
    await_auto_created(client, 9, name);
    struct topic topic = await_topic(client, name, 1);
    produce_some(client, topic, 0, 2);
    assert_int_equal(end_offset(client, topic, 0), 2);
    client_close(client);
}

/* Setting: auto.create.topics.enable */
TEST(with_auto_creation_off_an_unknown_topic_stays_unknown)
{
    static const char *const settings[] = { "auto.create.topics.enable=false", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    for (int round = 0; round < 3; round++)
        assert_int_equal(
            metadata_of(client, METADATA_NEWEST, STR_LITERAL("nobody"), NULL, true).error_code, 3);
    assert_was_not_created(client, STR_LITERAL("nobody"));
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: num.partitions */
TEST(auto_created_topics_have_as_many_partitions_as_the_broker_says)
{
    static const char *const settings[] = { "num.partitions=4", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct metadata_response_topic answer;
    do {
        answer = metadata_of(client, METADATA_NEWEST, STR_LITERAL("wide"), NULL, true);
    } while (answer.error_code == 3 || answer.error_code == 5);
    assert_int_equal(answer.error_code, 0);
    assert_int_equal(answer.partitions.count, 4);
    client_close(client);
    test_broker_stop(&broker);
}

TEST(a_name_that_is_not_legal_is_refused_and_not_created)
{
    static char too_long[251];
    memset(too_long, 'x', sizeof too_long - 1);
    const char *const names[] = {
        "", ".", "..", "a/b", "a b", "a\nb", "\xc3\xa9", "a:b", too_long
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int allow = 0; allow <= 1; allow++) {
            struct metadata_response_topic answer = metadata_of(
                client, METADATA_NEWEST, str_from(names[i]), NULL, allow != 0);
            if (answer.error_code != 17) fail_msg("\"%s\": %d", names[i], answer.error_code);
            assert_true(str_equals_text(answer.name, names[i]));
        }
    }
    client_close(client);
}

TEST(a_topic_is_found_by_its_id)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    for (int16_t version = 12; version <= METADATA_NEWEST; version++) {
        struct metadata_response_topic answer = metadata_of(client, version, STR_NULL, &topic.id,
                                                            false);
        assert_in_version(version, answer.error_code, 0);
        assert_true(str_equal(answer.name, topic.name));
        assert_in_version(version, answer.partitions.count, 2);
    }
    client_close(client);
}

TEST(an_id_that_nobody_has_is_unknown)
{
    struct test_client *client = client_open(shared_broker_port());
    const struct uuid id = { { 1, 2, 3, 4, 5, 6, 7, 8 } };
    for (int16_t version = 12; version <= METADATA_NEWEST; version++) {
        struct metadata_response_topic answer = metadata_of(client, version, STR_NULL, &id, true);
        assert_in_version(version, answer.error_code, 100);
        assert_true(uuid_equal(&answer.topic_id, &id));
        assert_true(str_is_null(answer.name));
    }
    client_close(client);
}

/* KIP-516. */
TEST(a_topic_that_is_created_again_has_another_id)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 3);
    topic_delete(client, topic);
    while (topic_exists(client, topic.name)) {}

    struct create_topics_request request = create_request(client, topic.name);
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code, 0);
    struct topic again = await_topic(client, topic.name, 1);
    assert_false(uuid_is_zero(&again.id));
    assert_false(uuid_equal(&again.id, &topic.id));
    int16_t error = metadata_of(client, METADATA_NEWEST, STR_NULL, &topic.id, false).error_code;
    assert_int_equal(error, 100);

    assert_int_equal(end_offset(client, again, 0), 0);
    client_close(client);
}

/* Clients that see a zero where others have an id go back to names, or mix topics up. */
TEST(every_topic_of_the_list_has_an_id_of_its_own_however_it_was_made)
{
    struct test_client *client = client_open(shared_broker_port());
    topic_new(client, 1);
    await_auto_created(client, METADATA_NEWEST, topic_name_new());
    for (int16_t version = 10; version <= METADATA_NEWEST; version++) {
        struct metadata_request request = metadata_request_empty();
        struct metadata_response response;
        request.topics.count = -1;
        client_call(client, METADATA, version, &request, &response);
        assert_true(response.topics.count >= 2);
        for (int32_t i = 0; i < response.topics.count; i++) {
            assert_false(uuid_is_zero(&response.topics.items[i].topic_id));
            for (int32_t k = 0; k < i; k++)
                assert_false(uuid_equal(&response.topics.items[i].topic_id,
                                        &response.topics.items[k].topic_id));
        }
    }
    client_close(client);
}

/* KIP-516: who knows only the old one must not read or write the new one. */
TEST(the_id_of_a_topic_that_was_deleted_and_created_again_is_good_for_nothing)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic old = topic_new(client, 1);
    produce_some(client, old, 0, 3);
    topic_delete(client, old);
    while (topic_exists(client, old.name)) {}
    struct create_topics_request request = create_request(client, old.name);
    assert_int_equal(create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code, 0);
    struct topic again = await_topic(client, old.name, 1);
    for (int16_t version = 13; version <= FETCH_NEWEST; version++) {
        struct fetch_request to_fetch = fetch_request(client, old, 0, 0);
        assert_in_version(version, fetch_with(client, version, &to_fetch).error_code, 100);
    }
    struct records batch = batch_build(&client->arena, (struct batch){ 0 });
    assert_int_equal(produce_to(client, PRODUCE_NEWEST, old, 0, -1, batch).error_code, 100);
    assert_int_equal(end_offset(client, again, 0), 0);
    produce_some(client, again, 0, 1);
    client_close(client);
}

TEST(a_topic_that_is_asked_for_twice_is_answered_once)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct metadata_request request = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 2, &request.topics);
    request.topics.items[0].name = topic.name;
    request.topics.items[1].name = topic.name;
    struct metadata_response response;
    client_call(client, METADATA, METADATA_NEWEST, &request, &response);
    assert_int_equal(response.topics.count, 1);
    client_close(client);
}

TEST(known_and_unknown_topics_are_answered_beside_each_other)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct metadata_request request = metadata_request_empty();
    request.allow_auto_topic_creation = false;
    make_array(client, &metadata_request_topic_shape, 3, &request.topics);
    request.topics.items[0].name = topic_name_new();
    request.topics.items[1].name = topic.name;
    request.topics.items[2].name = STR_LITERAL("a/b");
    struct metadata_response response;
    client_call(client, METADATA, METADATA_NEWEST, &request, &response);
    assert_int_equal(response.topics.count, 3);
    for (int32_t i = 0; i < 3; i++) {
        struct metadata_response_topic *answer = &response.topics.items[i];
        if (str_equal(answer->name, topic.name))
            assert_int_equal(answer->error_code, 0);
        else if (str_equals_text(answer->name, "a/b"))
            assert_int_equal(answer->error_code, 17);
        else
            assert_int_equal(answer->error_code, 3);
    }
    client_close(client);
}

/* Without an authorizer everything is allowed: what Kafka answers, a bit per operation. */
TEST(operations_are_told_when_they_are_asked_for)
{
    enum { ON_TOPIC = 0x0df8, ON_CLUSTER = 0x1fa0 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (int16_t version = 8; version <= METADATA_NEWEST; version++) {
        struct metadata_request request = metadata_request_empty();
        make_array(client, &metadata_request_topic_shape, 1, &request.topics);
        request.topics.items[0].name = topic.name;
        request.include_topic_authorized_operations = true;
        request.include_cluster_authorized_operations = version <= 10;
        struct metadata_response response;
        client_call(client, METADATA, version, &request, &response);
        assert_in_version(version, response.topics.items[0].topic_authorized_operations, ON_TOPIC);
        assert_in_version(version, response.cluster_authorized_operations,
                          version <= 10 ? ON_CLUSTER : NOT_ASKED);
    }
    client_close(client);
}

TEST(operations_on_a_topic_that_is_not_there_are_told_as_well)
{
    enum { ON_TOPIC = 0x0df8 };
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 8; version <= METADATA_NEWEST; version++) {
        struct metadata_request request = metadata_request_empty();
        make_array(client, &metadata_request_topic_shape, 1, &request.topics);
        request.topics.items[0].name = topic_name_new();
        request.include_topic_authorized_operations = true;
        request.allow_auto_topic_creation = false;
        struct metadata_response response;
        client_call(client, METADATA, version, &request, &response);
        assert_in_version(version, response.topics.items[0].error_code, 3);
        assert_in_version(version, response.topics.items[0].topic_authorized_operations, ON_TOPIC);
    }
    client_close(client);
}

TEST(topics_of_the_brokers_own_are_told_as_such_before_they_are_there)
{
    static const char *const names[] = { "__consumer_offsets", "__transaction_state",
                                         "__share_group_state" };
    if (shared_broker_is_foreign()) skip(); /* It may have them. */
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(
            metadata_of(client, METADATA_NEWEST, str_from(names[i]), NULL, false).is_internal);
    client_close(client);
}

TEST(where_one_topic_is_asked_for_by_id_names_do_not_count)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic by_id = topic_new(client, 1), by_name = topic_new(client, 1);
    struct metadata_request_topic topics[] = { { .name = by_name.name },
                                               { .name = by_name.name, .topic_id = by_id.id } };
    struct metadata_request request = metadata_request_empty();
    request.topics.items = topics;
    request.topics.count = 2;
    for (int16_t version = 12; version <= METADATA_NEWEST; version++) {
        struct metadata_response response;
        client_call(client, METADATA, version, &request, &response);
        assert_in_version(version, response.topics.count, 1);
        assert_true(str_equal(response.topics.items[0].name, by_id.name));
    }
    client_close(client);
}

TEST(what_cannot_be_asked_is_refused_without_a_word_about_the_cluster)
{
    struct test_client *client = client_open(shared_broker_port());
    struct metadata_request_topic wanted = { .name = STR_LITERAL("x"), .topic_id = { { 1 } } };
    struct metadata_request request = metadata_request_empty();
    request.topics.items = &wanted;
    request.topics.count = 1;
    for (int16_t version = 10; version <= 11; version++) {
        struct metadata_response response;
        client_call(client, METADATA, version, &request, &response);
        assert_in_version(version, response.topics.items[0].error_code, 42);
        assert_in_version(version, response.brokers.count, 0);
        assert_in_version(version, response.controller_id, -1);
        assert_true(str_is_null(response.cluster_id));
    }
    client_close(client);
}

TEST(a_hundred_partitions_are_all_told_in_order)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 100);
    struct metadata_response_topic answer = metadata_of(client, METADATA_NEWEST, topic.name, NULL,
                                                        false);
    assert_int_equal(answer.partitions.count, 100);
    for (int32_t i = 0; i < 100; i++)
        assert_int_equal(answer.partitions.items[i].partition_index, i);
    client_close(client);
}
