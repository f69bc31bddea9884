// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "header.h"
#include "runner.h"
#include "vectors.h"

static int64_t field_integer(const struct vector *vector, const char *name)
{
    const json_t *value = json_object_get(vector->fields, name);
    if (!json_is_integer(value)) vector_fail(vector, "no number %s", name);
    return json_integer_value(value);
}

static struct request_header listed_request(const struct vector *vector)
{
    const json_t *client_id = json_object_get(vector->fields, "clientId");
    return (struct request_header){
        .api_key = (int16_t)field_integer(vector, "requestApiKey"),
        .api_version = (int16_t)field_integer(vector, "requestApiVersion"),
        .correlation_id = (int32_t)field_integer(vector, "correlationId"),
        .client_id = { json_string_value(client_id),
                       json_is_null(client_id) ? -1 : (int32_t)json_string_length(client_id) },
    };
}

static bool is_request(const struct vector *vector)
{
    return strcmp(vector_text(vector, "header"), "request") == 0;
}

static int decode_any(const struct vector *vector, struct cursor *in)
{
    struct request_header request;
    struct response_header response;
    return is_request(vector) ? request_header_decode(vector->version, in, &request)
                              : response_header_decode(vector->version, in, &response);
}

static void check_header(const struct vector *vector)
{
    struct cursor in = cursor_over(vector->data, vector->length);
    struct buffer out;
    buffer_init(&out);
    if (is_request(vector)) {
        struct request_header header, listed = listed_request(vector);
        assert_int_equal(request_header_decode(vector->version, &in, &header), 0);
        assert_int_equal(header.api_key, listed.api_key);
        assert_int_equal(header.api_version, listed.api_version);
        assert_int_equal(header.correlation_id, listed.correlation_id);
        assert_true(str_equal(header.client_id, listed.client_id));
        assert_int_equal(request_header_encode(vector->version, &listed, &out), 0);
    } else {
        struct response_header header;
        struct response_header listed = { (int32_t)field_integer(vector, "correlationId") };
        assert_int_equal(response_header_decode(vector->version, &in, &header), 0);
        assert_int_equal(header.correlation_id, listed.correlation_id);
        assert_int_equal(response_header_encode(vector->version, &listed, &out), 0);
    }
    assert_int_equal(cursor_left(&in), 0);
    if (strcmp(vector->test_case, "unknown-tags") != 0) {
        assert_int_equal(out.length, vector->length);
        assert_memory_equal(out.data, vector->data, vector->length);
    }
    buffer_close(&out);

    for (size_t length = 0; length < vector->length; length++) {
        uint8_t *prefix = exact_copy(vector->data, length);
        struct cursor cut = cursor_over(prefix, length);
        if (decode_any(vector, &cut) != ERR_MALFORMED)
            vector_fail(vector, "the first %zu bytes are taken", length);
        free(prefix);
    }
}

TEST(headers_are_read_and_written_as_kafka_does_and_refused_when_cut)
{
    vectors_each("wire/headers.jsonl", check_header);
}

/* Kafka's header reader refuses keys that it does not know; ours leaves that to the dispatcher. */
static bool is_for_dispatch(const struct vector *vector)
{
    static const char *const cases[] = { "unknown-key", "negative-key", "removed-key" };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(vector->test_case, cases[i]) == 0) return true;
    }
    return false;
}

static void check_odd_header(const struct vector *vector)
{
    if (strcmp(vector_text(vector, "kind"), "request-header") != 0 || is_for_dispatch(vector))
        return;
    struct cursor in = cursor_over(vector->data, vector->length);
    int16_t key = 0, version = 0;
    struct request_header header;
    int err = request_header_peek(&in, &key, &version);
    if (err == 0) {
        const struct wire_api *api = wire_api_by_key(key);
        if (api == NULL) vector_fail(vector, "key %d is not in wire_apis", key);
        int16_t header_version = request_header_version(version, api->request->flexible_from);
        err = request_header_decode(header_version, &in, &header);
        if (err == 0) assert_int_equal(header_version, vector_integer(vector, "headerVersion"));
    }
    bool is_accepted = json_is_true(json_object_get(vector->json, "accepted"));
    if ((err == 0) != is_accepted) vector_fail(vector, "gave %s", error_name(err));
    if (err != 0) return;

    struct request_header listed = listed_request(vector);
    assert_int_equal(cursor_left(&in), vector_integer(vector, "bytesLeft"));
    assert_int_equal(header.api_key, listed.api_key);
    assert_int_equal(header.api_version, listed.api_version);
    assert_int_equal(header.correlation_id, listed.correlation_id);
    /* Kafka reports a null client id as "". */
    if (!str_is_null(header.client_id)) assert_true(str_equal(header.client_id, listed.client_id));
}

TEST(odd_request_headers_are_taken_or_refused_as_kafka_does)
{
    vectors_each("wire/malformed.jsonl", check_odd_header);
}

TEST(an_api_versions_response_has_the_oldest_header_in_every_version)
{
    for (int16_t version = 0; version < 100; version++)
        assert_int_equal(response_header_version(API_KEY_OF_API_VERSIONS, version, 3), 0);
}

TEST(a_client_id_that_no_int16_can_measure_is_not_written)
{
    struct request_header header = { .client_id = { "", INT16_MAX + 1 } };
    struct buffer out;
    buffer_init(&out);
    assert_int_equal(request_header_encode(2, &header, &out), ERR_MALFORMED);
    buffer_close(&out);
}
