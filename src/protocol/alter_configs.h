// SPDX-License-Identifier: Apache-2.0
/* AlterConfigs (key 33): all settings of a resource at once; those that are not named are gone. */

#ifndef PROTOCOL_ALTER_CONFIGS_H
#define PROTOCOL_ALTER_CONFIGS_H

#include "codec.h"

struct alter_configs_request_config {
    struct str name;
    struct str value;
};

struct alter_configs_request_resource {
    int8_t resource_type;
    struct str resource_name;
    ARRAY_OF(struct alter_configs_request_config) configs;
};

struct alter_configs_request {
    ARRAY_OF(struct alter_configs_request_resource) resources;
    bool validate_only;
};

struct alter_configs_response_resource {
    int16_t error_code;
    struct str error_message;
    int8_t resource_type;
    struct str resource_name;
};

struct alter_configs_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct alter_configs_response_resource) responses;
};

extern const struct shape alter_configs_request_config_shape;
extern const struct shape alter_configs_request_resource_shape;
extern const struct shape alter_configs_response_resource_shape;
extern const struct message_shape alter_configs_request_shape, alter_configs_response_shape;

#endif
