// SPDX-License-Identifier: Apache-2.0
/* DescribeConfigs (key 32): settings, where each comes from, and what it means (from version 3). */

#ifndef PROTOCOL_DESCRIBE_CONFIGS_H
#define PROTOCOL_DESCRIBE_CONFIGS_H

#include "codec.h"

struct describe_configs_request_resource {
    int8_t resource_type;
    struct str resource_name;
    ARRAY_OF(struct str) configuration_keys;
};

struct describe_configs_request {
    ARRAY_OF(struct describe_configs_request_resource) resources;
    bool include_synonyms;
    bool include_documentation;
};

struct describe_configs_response_synonym {
    struct str name;
    struct str value;
    int8_t source;
};

struct describe_configs_response_config {
    struct str name;
    struct str value;
    bool read_only;
    int8_t config_source;
    bool is_sensitive;
    ARRAY_OF(struct describe_configs_response_synonym) synonyms;
    int8_t config_type;
    struct str documentation;
};

struct describe_configs_response_result {
    int16_t error_code;
    struct str error_message;
    int8_t resource_type;
    struct str resource_name;
    ARRAY_OF(struct describe_configs_response_config) configs;
};

struct describe_configs_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct describe_configs_response_result) results;
};

extern const struct shape describe_configs_request_resource_shape;
extern const struct shape describe_configs_response_synonym_shape;
extern const struct shape describe_configs_response_config_shape;
extern const struct shape describe_configs_response_result_shape;
extern const struct message_shape describe_configs_request_shape, describe_configs_response_shape;

#endif
