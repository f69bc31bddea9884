// SPDX-License-Identifier: Apache-2.0
/* Every message that has golden bytes here, for tests and fuzzers to walk over. */

#ifndef TESTS_WIRE_SHAPES_H
#define TESTS_WIRE_SHAPES_H

#include "codec.h"

struct wire_api {
    const char *name; /* As the vectors name it. */
    const char *file; /* Its vectors, under tests/. */
    int16_t key;
    const struct message_shape *request;
    const struct message_shape *response;
};

extern const struct wire_api wire_apis[];
extern const unsigned wire_api_count;

/* NULL if there is none. */
const struct wire_api *wire_api_by_key(int key);

#endif
