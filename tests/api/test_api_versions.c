// SPDX-License-Identifier: Apache-2.0
/* What ApiVersions promises to clients. */

#include "api_calls.h"
#include "wire_shapes.h"

/* What Kafka 4.4 tells of the APIs that we serve; Produce from 0 although nobody accepts 0
 * (docs/compatibility.md). */
static const struct api_versions_response_api_key kafka_ranges[] = {
    { 0, 0, 13 }, { 1, 4, 18 }, { 2, 1, 11 }, { 3, 0, 13 }, { 18, 0, 5 },
    { 19, 2, 7 }, { 20, 1, 6 }, { 21, 0, 2 }, { 22, 0, 5 }, { 23, 2, 4 },
    { 35, 1, 5 }, { 37, 0, 3 }, { 60, 0, 2 }, { 61, 0, 0 }, { 75, 0, 0 },
};
#define RANGES (int)(sizeof kafka_ranges / sizeof kafka_ranges[0])

static struct api_versions_request api_versions_request(void)
{
    struct api_versions_request request;
    message_defaults(&api_versions_request_shape, &request);
    request.client_software_name = STR_LITERAL("sluice-test");
    request.client_software_version = STR_LITERAL("1.0");
    return request;
}

static struct api_versions_response api_versions(struct test_client *client, int16_t version,
                                                 const struct api_versions_request *request)
{
    struct api_versions_response response;
    client_call(client, API_VERSIONS, version, request, &response);
    return response;
}

static const struct api_versions_response_api_key *find_key(
    const struct api_versions_response *response, int16_t key)
{
    const struct api_versions_response_api_key *found = NULL;
    for (int32_t i = 0; i < response->api_keys.count; i++) {
        if (response->api_keys.items[i].api_key != key) continue;
        if (found != NULL) fail_msg("API %d is listed twice", key);
        found = &response->api_keys.items[i];
    }
    if (found == NULL) fail_msg("API %d is not listed", key);
    return found;
}

TEST(every_version_lists_every_api_with_its_versions)
{
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request = api_versions_request();
    for (int16_t version = 0; version <= API_VERSIONS_NEWEST; version++) {
        struct api_versions_response response = api_versions(client, version, &request);
        assert_in_version(version, response.error_code, 0);
        for (int i = 0; i < RANGES; i++) {
            const struct api_versions_response_api_key *told = find_key(&response,
                                                                        kafka_ranges[i].api_key);
            assert_in_version(version, told->min_version, kafka_ranges[i].min_version);
            assert_in_version(version, told->max_version, kafka_ranges[i].max_version);
        }
    }
    client_close(client);
}

TEST(nothing_is_listed_that_is_not_served)
{
    if (shared_broker_is_foreign()) skip();
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request = api_versions_request();
    struct api_versions_response response = api_versions(client, 0, &request);
    for (int32_t i = 0; i < response.api_keys.count; i++) {
        const struct api_versions_response_api_key *told = &response.api_keys.items[i];
        const struct wire_api *api = wire_api_by_key(told->api_key);
        if (api == NULL) fail_msg("API %d is listed", told->api_key);
        assert_int_equal(told->max_version, api->request->versions.last);
    }
    client_close(client);
}

static void send_unknown_version(struct test_client *client, int16_t version)
{
    uint8_t request[] = {
        0, 0,   0,   23, 0,   18,  0, 0, 0, 0, 0, 0, 0, 4, 't', 'e', 's', 't', 0, /* header v2 */
        3, 'a', 'b', 3,  '1', '0', 0, 0,
    };
    store_i16(request + 6, version);
    store_i32(request + 8, ++client->sent);
    client_send_bytes(client, request, sizeof request);
}

/* KIP-511: closing the connection instead is what every client carries a workaround for. The client asks
 * again in a version that it was told. */
TEST(an_unknown_version_is_answered_in_version_0_and_the_connection_goes_on)
{
    static const int16_t unknown[] = { API_VERSIONS_NEWEST + 1, 99, 1000, INT16_MAX };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        send_unknown_version(client, unknown[i]);
        struct api_versions_response response;
        client_receive(client, API_VERSIONS, 0, &response);
        assert_int_equal(response.error_code, 35);
        assert_int_equal(response.api_keys.count, 1);
        assert_int_equal(response.api_keys.items[0].api_key, 18);
        assert_int_equal(response.api_keys.items[0].min_version, 0);
        assert_int_equal(response.api_keys.items[0].max_version, API_VERSIONS_NEWEST);

        struct api_versions_request next = api_versions_request();
        for (int16_t version = 0; version <= API_VERSIONS_NEWEST; version++)
            assert_in_version(version, api_versions(client, version, &next).error_code, 0);
    }
    client_close(client);
}

/* KIP-511: the client cannot know yet that headers may have tags. Behind the correlation id comes the
 * body at once, which has a compact array from version 3 on. */
TEST(the_header_of_the_answer_never_has_tags)
{
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request = api_versions_request();
    for (int16_t version = 0; version <= API_VERSIONS_NEWEST; version++) {
        client_send(client, API_VERSIONS, version, &request);
        struct bytes frame = client_receive_frame(client);
        struct cursor in = cursor_over(frame.data, (size_t)frame.length);
        assert_in_version(version, cursor_i32(&in), client->sent);
        assert_in_version(version, cursor_i16(&in), 0);
        int64_t count = version < 3 ? cursor_i32(&in) : (int64_t)cursor_uvarint(&in) - 1;
        assert_true(count >= RANGES);
        assert_in_version(version, cursor_i16(&in), 0); /* The first key: Produce. */
    }
    client_close(client);
}

/* Who answers: a version 5 request may name the broker that it means. */
static void learn_who_answers(struct test_client *client, struct api_versions_request *request)
{
    struct metadata_request none = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 0, &none.topics);
    struct metadata_response metadata;
    client_call(client, METADATA, METADATA_NEWEST, &none, &metadata);
    *request = api_versions_request();
    request->cluster_id = metadata.cluster_id;
    request->node_id = metadata.brokers.items[0].node_id;
}

TEST(a_client_that_reached_the_broker_it_meant_is_answered)
{
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request;
    learn_who_answers(client, &request);
    assert_int_equal(api_versions(client, 5, &request).error_code, 0);
    client_close(client);
}

TEST(a_client_that_reached_another_broker_must_bootstrap_again)
{
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request;
    learn_who_answers(client, &request);
    request.node_id += 77;
    assert_int_equal(api_versions(client, 5, &request).error_code, 129);
    learn_who_answers(client, &request);
    request.cluster_id = STR_LITERAL("another-cluster");
    assert_int_equal(api_versions(client, 5, &request).error_code, 129);
    client_close(client);
}

/* As Kafka 4.4: cluster and node go together. */
TEST(half_of_what_names_a_broker_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request;
    learn_who_answers(client, &request);
    request.node_id = -1;
    assert_int_equal(api_versions(client, 5, &request).error_code, 42);
    learn_who_answers(client, &request);
    request.cluster_id = STR_NULL;
    assert_int_equal(api_versions(client, 5, &request).error_code, 42);
    client_close(client);
}

TEST(a_client_name_that_is_not_legal_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request = api_versions_request();
    request.client_software_name = STR_LITERAL("-no-");
    assert_int_equal(api_versions(client, 3, &request).error_code, 42);
    request = api_versions_request();
    request.client_software_version = STR_LITERAL("1 0");
    assert_int_equal(api_versions(client, 3, &request).error_code, 42);
    client_close(client);
}

/* Clients before version 4 cannot read a supported feature whose minimum is 0. */
TEST(version_3_leaves_out_features_that_begin_at_0)
{
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request = api_versions_request();
    struct api_versions_response response = api_versions(client, 3, &request);
    for (int32_t i = 0; i < response.supported_features.count; i++)
        assert_true(response.supported_features.items[i].min_version > 0);
    client_close(client);
}

/* DESIGN 7.3: a client switches protocols on when it sees these. */
TEST(no_feature_is_finalised_that_does_not_work_yet)
{
    if (shared_broker_is_foreign()) skip();
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request = api_versions_request();
    struct api_versions_response response = api_versions(client, 4, &request);
    for (int32_t i = 0; i < response.finalized_features.count; i++) {
        struct api_versions_response_finalized_feature *feature =
            &response.finalized_features.items[i];
        assert_false(str_equals_text(feature->name, "transaction.version"));
        assert_false(str_equals_text(feature->name, "group.version"));
        assert_false(str_equals_text(feature->name, "share.version"));
        assert_false(str_equals_text(feature->name, "streams.version"));
        assert_false(str_equals_text(feature->name, "eligible.leader.replicas.version"));
    }
    client_close(client);
}
