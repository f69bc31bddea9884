// SPDX-License-Identifier: Apache-2.0
/* ListConfigResources (key 74, KIP-1142): what has settings. Version 0 is of client metrics alone. */

#ifndef PROTOCOL_LIST_CONFIG_RESOURCES_H
#define PROTOCOL_LIST_CONFIG_RESOURCES_H

#include "codec.h"

struct list_config_resources_request {
    ARRAY_OF(int8_t) resource_types;
};

struct list_config_resources_response_resource {
    struct str resource_name;
    int8_t resource_type;
};

struct list_config_resources_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    ARRAY_OF(struct list_config_resources_response_resource) config_resources;
};

extern const struct shape list_config_resources_response_resource_shape;
extern const struct message_shape list_config_resources_request_shape,
    list_config_resources_response_shape;

#endif
