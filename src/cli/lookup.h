// SPDX-License-Identifier: Apache-2.0
/* What produce and consume must know of a topic before librdkafka is let loose on it.
 *
 * librdkafka retries for minutes where a person wants to read at once that nobody listens there, or
 * that the name is mistyped. */

#ifndef CLI_LOOKUP_H
#define CLI_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* The number of partitions of `topic`. If `create`, a broker that creates topics by itself may, and is
 * waited for. Complains on failure. Returns 0 or an error. */
int lookup_partitions(const struct common_settings *common, const char *topic, bool create,
                      int32_t *partitions);

#endif
