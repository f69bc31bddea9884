// SPDX-License-Identifier: Apache-2.0
/* Bodies that no encoder writes are taken or refused as Kafka does, with the exceptions below. */

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "runner.h"
#include "vectors.h"

static bool is_one_of(const struct vector *vector, const char *const *cases)
{
    for (; *cases != NULL; cases++) {
        if (strcmp(vector->test_case, *cases) == 0) return true;
    }
    return false;
}

/* Kafka takes these and we do not: the size of a known tag must be what its value takes, otherwise
 * one of the two is wrong, and what follows would be read from the wrong place. */
static const char *const refused_by_us[] = { "known-tag-size-too-small", "known-tag-size-too-large",
                                             NULL };

/* Kafka replaces what is not UTF-8 by U+FFFD; we pass text on as it came. */
static const char *const read_otherwise[] = { "string-not-utf8", "string-utf8-surrogate", NULL };

/* Kafka keeps tags that it does not know and writes them again; we drop them. */
static const char *const with_unknown_tags[] = { "unknown-tag", "unknown-tags-not-ascending",
                                                 "unknown-tag-twice", NULL };

static void check_encodes_to(const struct vector *vector, const void *message)
{
    const char *listed = vector_text(vector, "encodesTo");
    size_t length;
    uint8_t *data = bytes_from_hex(
        strcmp(listed, "same") == 0 ? vector_text(vector, "hex") : listed, &length);
    struct encoder encoder;
    encoder_init(&encoder);
    assert_int_equal(message_encode(vector->shape, vector->version, message, &encoder), 0);
    if (encoder.bytes.length != length || memcmp(encoder.bytes.data, data, length) != 0)
        vector_fail(vector, "encoded otherwise");
    encoder_close(&encoder);
    free(data);
}

static void check_accepted(const struct vector *vector, const struct cursor *in,
                           struct arena *arena, const void *message)
{
    assert_int_equal(cursor_left(in), vector_integer(vector, "bytesLeft"));
    if (is_one_of(vector, read_otherwise)) return;
    void *listed = arena_zalloc(arena, vector->shape->shape.size);
    assert_non_null(listed);
    vector_message(vector, true, arena, listed);
    assert_same_message(vector, message, listed);
    if (!is_one_of(vector, with_unknown_tags)) check_encodes_to(vector, message);
}

static void check_body(const struct vector *vector)
{
    if (vector->api == NULL) return; /* A header. */
    struct arena arena;
    arena_init(&arena, NULL, 0, 64 * 1024);
    void *message = arena_zalloc(&arena, vector->shape->shape.size);
    assert_non_null(message);
    struct cursor in = cursor_over(vector->data, vector->length);
    int err = message_decode(vector->shape, vector->version, &in, &arena, message);
    bool is_accepted = json_is_true(json_object_get(vector->json, "accepted")) &&
                       !is_one_of(vector, refused_by_us);
    if (err != (is_accepted ? 0 : ERR_MALFORMED)) vector_fail(vector, "gave %s", error_name(err));
    if (err == 0) check_accepted(vector, &in, &arena, message);
    arena_close(&arena);
}

TEST(bodies_that_no_encoder_writes_are_taken_or_refused_as_listed)
{
    vectors_each("wire/malformed.jsonl", check_body);
}
