// SPDX-License-Identifier: Apache-2.0
/* The value of a setting as DescribeConfigs tells it. */

#ifndef API_CONFIG_VALUE_H
#define API_CONFIG_VALUE_H

#include "arena.h"
#include "broker_config.h"

/* As Kafka tells what it has read: numbers without a plus or zeros before them, booleans in small letters,
 * lists without white and repetitions. What cannot be read stays as it is. NULL only if `value` is, or if
 * there is no memory; in the arena or `value` itself. */
const char *config_value_text(enum config_type type, const char *value, struct arena *arena);

#endif
