// SPDX-License-Identifier: Apache-2.0
/* How much may one request of a client ask for? Counted as Kafka counts, which refuses all of a request
 * that is too large: a few bytes can name a great many partitions. */

#ifndef REQUEST_SIZE_H
#define REQUEST_SIZE_H

#include <stdbool.h>

#include "meta_quorum.h"
#include "meta_state.h"

/* Partitions of one request; and records that Kafka would write for its topics. */
#define REQUEST_SIZE_MAX 10000

/* Are there too many partitions in these topics, whatever else is wrong with them? One that has an error
 * already does not count. */
bool request_size_creates_too_many(const struct meta_create_topic *items, unsigned count,
                                   int32_t default_partitions);

/* The same of those that known topics are to have more. */
bool request_size_adds_too_many(const struct meta_state *state,
                                const struct meta_add_partitions *items, unsigned count);

/* The records that Kafka would write for a new topic: it, its settings and its partitions. */
unsigned request_size_records(const struct meta_topic *topic);

#endif
