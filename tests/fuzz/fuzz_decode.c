// SPDX-License-Identifier: Apache-2.0
/* One fuzz input: the first two bytes choose a message and a version, the rest is decoded. What was
 * decoded must encode, and decode again to what encodes to the same bytes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "field_macros.h"
#include "fuzz_decode.h"
#include "wire_shapes.h"

/* As a broker would limit it: a message may not make us take many times its size. One input in eight gets
 * less. */
#define LIMIT(length)       (64 * 1024 + 64 * (length))
#define SHORT_LIMIT         1200
#define IS_SHORT_OF(chosen) (((chosen)&0xe0) == 0xe0)

/* The kinds of fields that no message of ours has yet. */
struct rest {
    int32_t number;
};
struct rare {
    double share;
    struct bytes seal;
    struct rest *mascot, *guest;
};

/* clang-format off */
#define OWNER struct rest
static const struct field rest_fields[] = {
    FIELD(number, "number", 0, 1, INT32),
};
#undef OWNER
static const struct shape rest_shape = SHAPE(rest);
#define OWNER struct rare
static const struct field rare_fields[] = {
    FIELD(  share,   "share",   0, 1, FLOAT64),
    FIELD(  seal,    "seal",    0, 1, BYTES, NULLABLE(1, 1)),
    STRUCT( mascot,  "mascot",  0, 1, rest, NULLABLE(1, 1), .is_optional_struct = true),
    STRUCT( guest,   "guest",   1, 1, rest, TAGGED(7, 1, 1), NULLABLE(1, 1),
            .is_optional_struct = true),
};
#undef OWNER
static const struct message_shape rare_shape = MESSAGE(rare, "Rare", 0, 1, 1);
/* clang-format on */

static bool same_bytes(const struct buffer *left, const struct buffer *right)
{
    return left->length == right->length &&
           (left->length == 0 || memcmp(left->data, right->data, left->length) == 0);
}

static void require(bool holds, const char *what, const struct message_shape *shape,
                    int16_t version)
{
    if (holds) return;
    fprintf(stderr, "fuzz_decode: %s v%d: %s\n", shape->name, version, what);
    abort();
}

/* Decodes into a struct that has garbage in it, so that a field that decoding leaves out shows. */
static int fuzz_recode(const struct message_shape *shape, int16_t version, const uint8_t *data,
                       size_t length, bool is_short, struct encoder *out)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, is_short ? SHORT_LIMIT : LIMIT(length));
    struct cursor in = cursor_over(data, length);
    void *message = malloc(shape->shape.size);
    if (message == NULL) abort();
    memset(message, 0xa5, shape->shape.size);

    int err = message_decode(shape, version, &in, &arena, message);
    require(err == 0 || err == ERR_MALFORMED, "decoding met another error", shape, version);
    if (err == 0)
        require(message_encode(shape, version, message, out) == 0,
                "what was decoded does not encode", shape, version);
    free(message);
    arena_close(&arena);
    return err;
}

void fuzz_choose(uint8_t choice[2], unsigned api, bool is_request, int16_t version)
{
    const struct message_shape *shape = is_request ? wire_apis[api].request
                                                   : wire_apis[api].response;
    choice[0] = (uint8_t)(api * 2 + (is_request ? 0 : 1));
    choice[1] = (uint8_t)(version - shape->versions.first);
}

size_t fuzz_rare(uint8_t *input, bool is_whole)
{
    struct rest rest = { 7 };
    struct rare rare = { .share = 0.5, .seal = { (const uint8_t *)"seal", 4 }, .mascot = &rest };
    struct encoder out;
    if (is_whole) rare.guest = &rest;
    encoder_init(&out);
    require(message_encode(&rare_shape, is_whole, &rare, &out) == 0, "it does not encode",
            &rare_shape, is_whole);
    input[0] = (uint8_t)(2 * wire_api_count);
    input[1] = is_whole;
    memcpy(input + 2, out.bytes.data, out.bytes.length);
    size_t length = 2 + out.bytes.length;
    encoder_close(&out);
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (length < 2) return 0;
    unsigned choice = data[0] % (2 * wire_api_count + 1);
    const struct wire_api *api = choice == 2 * wire_api_count ? NULL : &wire_apis[choice / 2];
    const struct message_shape *shape = api == NULL       ? &rare_shape
                                        : choice % 2 == 0 ? api->request
                                                          : api->response;
    int version_count = shape->versions.last - shape->versions.first + 1;
    int16_t version = (int16_t)(shape->versions.first + data[1] % version_count);

    struct encoder first, second;
    encoder_init(&first);
    encoder_init(&second);
    if (fuzz_recode(shape, version, data + 2, length - 2, IS_SHORT_OF(data[1]), &first) == 0) {
        int err = fuzz_recode(shape, version, first.bytes.data, first.bytes.length, false, &second);
        require(err == 0, "what was encoded does not decode", shape, version);
        require(same_bytes(&first.bytes, &second.bytes),
                "the second encoding differs from the first", shape, version);
    }
    encoder_close(&first);
    encoder_close(&second);
    return 0;
}
