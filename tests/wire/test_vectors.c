// SPDX-License-Identifier: Apache-2.0
/* The bytes that Kafka's own classes write and read are the bytes that we write and read. */

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "header.h"
#include "runner.h"
#include "vectors.h"

/* By codec.h (4), what decoding allocates is a small multiple of what came in. */
static struct arena arena_for(size_t length)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, 64 * 1024 + 64 * length);
    return arena;
}

static void *new_message(const struct vector *vector, struct arena *arena)
{
    void *message = arena_zalloc(arena, vector->shape->shape.size);
    assert_non_null(message);
    return message;
}

static bool is_served(const struct vector *vector)
{
    if (vector->api == NULL) vector_fail(vector, "the API is not in wire_apis");
    return versions_hold(vector->shape->versions, vector->version);
}

static void check_decoding(const struct vector *vector)
{
    assert_true(is_served(vector));
    struct arena arena = arena_for(vector->length), expected_arena = arena_for(SIZE_MAX / 256);
    void *message = new_message(vector, &arena);
    void *expected = new_message(vector, &expected_arena);
    vector_message(vector, false, &expected_arena, expected);

    struct cursor in = cursor_over(vector->data, vector->length);
    int err = message_decode(vector->shape, vector->version, &in, &arena, message);
    if (err != 0) vector_fail(vector, "refused with %s", error_name(err));
    if (cursor_left(&in) != 0) vector_fail(vector, "%zu bytes left", cursor_left(&in));
    assert_same_message(vector, message, expected);
    arena_close(&arena);
    arena_close(&expected_arena);
}

static void check_encoding(const struct vector *vector)
{
    if (strcmp(vector->test_case, "unknown-tags") == 0)
        return; /* Nobody can write what nobody knows. */
    struct arena arena = arena_for(SIZE_MAX / 256);
    void *message = new_message(vector, &arena);
    vector_message(vector, false, &arena, message);

    struct encoder encoder;
    encoder_init(&encoder);
    int err = message_encode(vector->shape, vector->version, message, &encoder);
    if (err != 0) vector_fail(vector, "not written: %s", error_name(err));
    if (encoder.bytes.length != vector->length)
        vector_fail(vector, "%zu bytes, not %zu", encoder.bytes.length, vector->length);
    if (vector->length > 0 && memcmp(encoder.bytes.data, vector->data, vector->length) != 0)
        vector_fail(vector, "other bytes");
    encoder_close(&encoder);
    arena_close(&arena);
}

static void check_prefixes(const struct vector *vector)
{
    struct arena arena = arena_for(vector->length);
    void *message = malloc(vector->shape->shape.size);
    for (size_t length = 0; length < vector->length; length++) {
        uint8_t *prefix = exact_copy(vector->data, length);
        struct cursor in = cursor_over(prefix, length);
        int err = message_decode(vector->shape, vector->version, &in, &arena, message);
        if (err != ERR_MALFORMED)
            vector_fail(vector, "the first %zu bytes gave %s", length, error_name(err));
        arena_close(&arena);
        free(prefix);
    }
    free(message);
}

static void each_message(void (*check)(const struct vector *vector))
{
    for (unsigned i = 0; i < wire_api_count; i++)
        vectors_each(wire_apis[i].file, check);
}

TEST(every_message_is_read_as_kafka_reads_it)
{
    each_message(check_decoding);
}

TEST(every_message_is_written_as_kafka_writes_it)
{
    each_message(check_encoding);
}

TEST(every_message_that_ends_early_is_refused)
{
    each_message(check_prefixes);
}

static void check_defaults(const struct vector *vector)
{
    if (strcmp(vector->test_case, "default") != 0) return;
    struct arena arena = arena_for(0);
    void *message = new_message(vector, &arena);
    void *expected = new_message(vector, &arena);
    message_defaults(vector->shape, message);
    vector_message(vector, false, &arena, expected);
    assert_same_message(vector, message, expected);
    arena_close(&arena);
}

TEST(every_message_has_the_defaults_that_it_has_in_kafka)
{
    each_message(check_defaults);
}

/* ---- what the vectors cover ---- */

#define VERSIONS_MAX 64
static unsigned seen[VERSIONS_MAX]; /* Vectors per version of the message being counted. */
static const struct message_shape *counted;

static void count_version(const struct vector *vector)
{
    if (vector->shape == counted) seen[vector->version]++;
}

TEST(every_served_version_has_vectors)
{
    for (unsigned i = 0; i < 2 * wire_api_count; i++) {
        const struct wire_api *api = &wire_apis[i / 2];
        counted = i % 2 == 0 ? api->request : api->response;
        assert_true(counted->versions.first >= 0 && counted->versions.last < VERSIONS_MAX);
        memset(seen, 0, sizeof seen);
        vectors_each(api->file, count_version);
        for (int16_t version = 0; version < VERSIONS_MAX; version++) {
            if ((seen[version] > 0) != versions_hold(counted->versions, version))
                fail_msg("%s v%d: %u vectors", counted->name, version, seen[version]);
        }
    }
}

/* ---- the tables ---- */

static void assert_sound_shape(const struct shape *shape)
{
    int last_tag = -1;
    for (unsigned i = 0; i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        assert_true(field->present.first <= field->present.last);
        assert_true(field->offset < shape->size);
        assert_true(i == 0 || field->offset > shape->fields[i - 1].offset);
        assert_true((field->type == FIELD_STRUCT) == (field->shape != NULL));
        if (field->tagged.first <= field->tagged.last) {
            assert_true(field->tag > last_tag); /* The encoder counts on it. */
            last_tag = field->tag;
        }
        if (field->shape != NULL) assert_sound_shape(field->shape);
    }
}

TEST(the_tables_are_sound)
{
    for (unsigned i = 0; i < wire_api_count; i++) {
        assert_sound_shape(&wire_apis[i].request->shape);
        assert_sound_shape(&wire_apis[i].response->shape);
    }
}

/* ---- frames ---- */

static int16_t frame_header_version(const struct vector *vector)
{
    int16_t flexible_from = vector->shape->flexible_from;
    if (vector->shape == vector->api->request)
        return request_header_version(vector->version, flexible_from);
    return response_header_version(vector->api->key, vector->version, flexible_from);
}

static void check_frame_header(const struct vector *vector, struct cursor *in)
{
    int16_t header_version = frame_header_version(vector);
    assert_int_equal(header_version, vector_integer(vector, "headerVersion"));
    int64_t correlation_id = vector_integer(vector, "correlationId");
    struct request_header request;
    struct response_header response;
    if (vector->shape == vector->api->response) {
        assert_int_equal(response_header_decode(header_version, in, &response), 0);
        assert_int_equal(response.correlation_id, correlation_id);
        return;
    }
    assert_int_equal(request_header_decode(header_version, in, &request), 0);
    assert_int_equal(request.api_key, vector->api->key);
    assert_int_equal(request.api_version, vector->version);
    assert_int_equal(request.correlation_id, correlation_id);
    assert_true(str_equals_text(request.client_id, vector_text(vector, "clientId")));
}

static void check_frame(const struct vector *vector)
{
    struct cursor in = cursor_over(vector->data, vector->length);
    assert_int_equal(cursor_i32(&in), vector->length - 4);
    check_frame_header(vector, &in);

    struct arena arena = arena_for(SIZE_MAX / 256);
    void *message = new_message(vector, &arena);
    void *expected = new_message(vector, &arena);
    vector_message(vector, false, &arena, expected);
    assert_int_equal(message_decode(vector->shape, vector->version, &in, &arena, message), 0);
    assert_int_equal(cursor_left(&in), 0);
    assert_same_message(vector, message, expected);
    arena_close(&arena);
}

TEST(every_frame_has_the_header_that_goes_with_its_version)
{
    vectors_each("wire/frames.jsonl", check_frame);
}
