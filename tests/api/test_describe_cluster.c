// SPDX-License-Identifier: Apache-2.0
/* What DescribeCluster promises to clients. */

#include "api_calls.h"

#define WITH_ENDPOINT_TYPE 1 /* From this version on. */

static struct describe_cluster_response describe(struct test_client *client, int16_t version,
                                                 const struct describe_cluster_request *request)
{
    struct describe_cluster_response response;
    client_call(client, DESCRIBE_CLUSTER, version, request, &response);
    return response;
}

static struct metadata_response metadata(struct test_client *client)
{
    struct metadata_request none = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 0, &none.topics);
    struct metadata_response response;
    client_call(client, METADATA, METADATA_NEWEST, &none, &response);
    return response;
}

TEST(every_version_tells_what_metadata_tells_of_the_cluster)
{
    struct test_client *client = client_open(shared_broker_port());
    struct metadata_response told = metadata(client);
    for (int16_t version = 0; version <= DESCRIBE_CLUSTER_NEWEST; version++) {
        struct describe_cluster_request request = describe_cluster_request_empty();
        struct describe_cluster_response answer = describe(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_true(str_is_null(answer.error_message));
        assert_in_version(version, answer.endpoint_type, 1);
        assert_true(str_equal(answer.cluster_id, told.cluster_id));
        assert_in_version(version, answer.controller_id, told.controller_id);
        assert_in_version(version, answer.brokers.count, told.brokers.count);
        const struct describe_cluster_response_broker *broker = &answer.brokers.items[0];
        assert_in_version(version, broker->broker_id, told.brokers.items[0].node_id);
        assert_true(str_equal(broker->host, told.brokers.items[0].host));
        assert_in_version(version, broker->port, told.brokers.items[0].port);
        assert_true(str_is_null(broker->rack));
        assert_false(broker->is_fenced);
        assert_in_version(version, answer.cluster_authorized_operations, INT32_MIN);
    }
    client_close(client);
}

TEST(operations_on_the_cluster_are_told_to_who_asks)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 0; version <= DESCRIBE_CLUSTER_NEWEST; version++) {
        struct describe_cluster_request request = describe_cluster_request_empty();
        request.include_cluster_authorized_operations = true;
        struct describe_cluster_response answer = describe(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, answer.cluster_authorized_operations, 8096);
    }
    client_close(client);
}

TEST(fenced_brokers_are_asked_for_and_a_live_one_is_none)
{
    struct test_client *client = client_open(shared_broker_port());
    struct describe_cluster_request request = describe_cluster_request_empty();
    request.include_fenced_brokers = true;
    struct describe_cluster_response answer = describe(client, 2, &request);
    assert_int_equal(answer.error_code, 0);
    assert_int_equal(answer.brokers.count, metadata(client).brokers.count);
    assert_false(answer.brokers.items[0].is_fenced);
    client_close(client);
}

/* KIP-919: and then nothing is told of the cluster. */
TEST(a_request_for_another_type_of_endpoint_is_refused)
{
    static const struct {
        int8_t type;
        int16_t error;
    } cases[] = { { 2, 114 }, { 0, 115 }, { 3, 115 }, { -1, 115 }, { 127, 115 } };
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = WITH_ENDPOINT_TYPE; version <= DESCRIBE_CLUSTER_NEWEST; version++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct describe_cluster_request request = describe_cluster_request_empty();
            request.endpoint_type = cases[i].type;
            struct describe_cluster_response answer = describe(client, version, &request);
            assert_in_version(version, answer.error_code, cases[i].error);
            assert_false(str_is_null(answer.error_message));
            assert_in_version(version, answer.endpoint_type, 1);
            assert_in_version(version, answer.cluster_id.length, 0);
            assert_in_version(version, answer.controller_id, -1);
            assert_in_version(version, answer.brokers.count, 0);
        }
    }
    client_close(client);
}
