// SPDX-License-Identifier: Apache-2.0
/* What settings must be beside each other, and what none may become while the broker runs. */

#ifndef BROKER_SETTING_RELATIONS_H
#define BROKER_SETTING_RELATIONS_H

#include <stddef.h>

#include "broker_config.h"

/* A thread of compaction needs more than 1 MB, as in Kafka. */
#define LEAST_KEY_BYTES_OF_THREAD ((INT64_C(1) << 20) + 1)

/* May what was set at run time be `after` where it was `before`? Only what the change moves is looked
 * at, so an old fault does not stand in the way of other changes. 0, or ERR_INVALID_REQUEST with a
 * sentence in `why`. Values are of their type and in their range. Any thread. */
int setting_relations_check(const struct broker_config *config, struct broker_config_layers before,
                            struct broker_config_layers after, char *why, size_t why_size);

#endif
