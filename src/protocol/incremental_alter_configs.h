// SPDX-License-Identifier: Apache-2.0
/* IncrementalAlterConfigs (key 44, KIP-339): single settings of a resource. */

#ifndef PROTOCOL_INCREMENTAL_ALTER_CONFIGS_H
#define PROTOCOL_INCREMENTAL_ALTER_CONFIGS_H

#include "codec.h"

struct incremental_alter_configs_request_config {
    struct str name;
    int8_t config_operation;
    struct str value;
};

struct incremental_alter_configs_request_resource {
    int8_t resource_type;
    struct str resource_name;
    ARRAY_OF(struct incremental_alter_configs_request_config) configs;
};

struct incremental_alter_configs_request {
    ARRAY_OF(struct incremental_alter_configs_request_resource) resources;
    bool validate_only;
};

struct incremental_alter_configs_response_resource {
    int16_t error_code;
    struct str error_message;
    int8_t resource_type;
    struct str resource_name;
};

struct incremental_alter_configs_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct incremental_alter_configs_response_resource) responses;
};

extern const struct shape incremental_alter_configs_request_config_shape;
extern const struct shape incremental_alter_configs_request_resource_shape;
extern const struct shape incremental_alter_configs_response_resource_shape;
extern const struct message_shape incremental_alter_configs_request_shape,
    incremental_alter_configs_response_shape;

#endif
