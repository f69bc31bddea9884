// SPDX-License-Identifier: Apache-2.0
/* Golden bytes: files with one JSON object per line, the bytes in `hex`, the values in `fields`.
 *
 * What is wrong ends the test with the vector's name, so nothing here returns an error. */

#ifndef TESTS_VECTORS_H
#define TESTS_VECTORS_H

#include <jansson.h>

#include "wire_shapes.h"

struct vector {
    const json_t *json;
    char label[128];
    const char *test_case;
    int16_t version;                   /* -1 if the line has none. */
    const struct wire_api *api;        /* NULL if the line has none. */
    const struct message_shape *shape; /* The same. */
    const json_t *fields;              /* May be NULL. */
    const uint8_t *data;               /* In a heap block of exactly this size. */
    size_t length;
};

/* Calls check() for each line of a file under tests/. */
void vectors_each(const char *file, void (*check)(const struct vector *vector));

/* Ends the test, with the vector's label in front of the message. */
void vector_fail(const struct vector *vector, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* An integer or a string of the vector's line. */
int64_t vector_integer(const struct vector *vector, const char *key);
const char *vector_text(const struct vector *vector, const char *key);

/* In a heap block of exactly their size, so that a sanitizer sees each read past the end. */
uint8_t *exact_copy(const void *data, size_t length);
uint8_t *bytes_from_hex(const char *hex, size_t *length);

/* ---- a message's values ---- */

/* Sets every field of `message` from the vector's fields. A field of the version that is not among
 * them is an error, unless it is tagged and `is_brief` says that defaults are left out there. */
void vector_message(const struct vector *vector, bool is_brief, struct arena *arena, void *message);

/* Compares field by field, by the table, those of other versions too. */
void assert_same_message(const struct vector *vector, const void *message, const void *expected);

#endif
