// SPDX-License-Identifier: Apache-2.0
/* A request's fields by chance, from the table that says which there are: mostly what a client would say
 * of the few topics that a fuzzed broker has, sometimes anything. */

#ifndef TESTS_FUZZ_FIELDS_H
#define TESTS_FUZZ_FIELDS_H

#include "arena.h"
#include "codec.h"

/* The topics that an input begins with. */
#define FUZZ_TOPICS 3
extern const char *const fuzz_topics[FUZZ_TOPICS];

/* Fills every field that `version` has, the others are at their defaults. */
void fuzz_fill(const struct message_shape *shape, int16_t version, struct arena *arena,
               void *message);

/* Record batches as producers send them, mostly one and mostly good. */
struct records fuzz_records(struct arena *arena);

#endif
