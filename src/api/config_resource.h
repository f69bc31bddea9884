// SPDX-License-Identifier: Apache-2.0
/* What settings belong to, as requests name it. */

#ifndef API_CONFIG_RESOURCE_H
#define API_CONFIG_RESOURCE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "bytes.h"

enum config_resource_type {
    CONFIG_RESOURCE_TOPIC = 2,
    CONFIG_RESOURCE_BROKER = 4,
    CONFIG_RESOURCE_BROKER_LOGGER = 8,
    CONFIG_RESOURCE_CLIENT_METRICS = 16,
    CONFIG_RESOURCE_GROUP = 32,
};

/* The id that names a broker; false: it is none. */
bool config_resource_broker(struct str name, int32_t *broker);

/* A sentence for an answer, in the arena; null if there is no memory. */
struct str config_resource_sentence(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
