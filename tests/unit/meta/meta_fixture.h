// SPDX-License-Identifier: Apache-2.0
/* What the tests of raft-meta share: a state, and commands for it in one line each. */

#ifndef META_FIXTURE_H
#define META_FIXTURE_H

#include "meta_apply.h"
#include "meta_command.h"
#include "meta_state.h"

extern const uint64_t fixture_hash_key[2];

/* An id that is made of a number. */
struct uuid id_of(uint32_t number);

struct bytes bytes_in(const struct buffer *buffer);

/* Applies one command as the next entry; fails the test if it cannot be. Returns the outcome's
 * err. */
int apply(struct meta_state *state, const struct meta_command *command,
          struct meta_changes *changes);

/* Registers brokers 1 to `count`. */
void brokers_join(struct meta_state *state, int count);

/* A topic of `partitions` partitions on broker 1 alone, with id_of(number). */
int topic_create(struct meta_state *state, const char *name, uint32_t number, unsigned partitions,
                 struct meta_changes *changes);
int topic_delete(struct meta_state *state, uint32_t number, struct meta_changes *changes);

#endif
