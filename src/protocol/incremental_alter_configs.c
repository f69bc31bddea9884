// SPDX-License-Identifier: Apache-2.0
#include "incremental_alter_configs.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct incremental_alter_configs_request_config
static const struct field incremental_alter_configs_request_config_fields[] = {
    FIELD(name,             "name",            0, 1, STRING),
    FIELD(config_operation, "configOperation", 0, 1, INT8),
    FIELD(value,            "value",           0, 1, STRING, NULLABLE(0, 1)),
};
#undef OWNER
const struct shape incremental_alter_configs_request_config_shape = SHAPE(incremental_alter_configs_request_config);

#define OWNER struct incremental_alter_configs_request_resource
static const struct field incremental_alter_configs_request_resource_fields[] = {
    FIELD(  resource_type, "resourceType", 0, 1, INT8),
    FIELD(  resource_name, "resourceName", 0, 1, STRING),
    STRUCTS(configs,       "configs",      0, 1, incremental_alter_configs_request_config),
};
#undef OWNER
const struct shape incremental_alter_configs_request_resource_shape = SHAPE(incremental_alter_configs_request_resource);

#define OWNER struct incremental_alter_configs_request
static const struct field incremental_alter_configs_request_fields[] = {
    STRUCTS(resources,     "resources",    0, 1, incremental_alter_configs_request_resource),
    FIELD(  validate_only, "validateOnly", 0, 1, BOOL),
};
#undef OWNER
const struct message_shape incremental_alter_configs_request_shape =
    MESSAGE(incremental_alter_configs_request, "IncrementalAlterConfigsRequest", 0, 1, 1);

#define OWNER struct incremental_alter_configs_response_resource
static const struct field incremental_alter_configs_response_resource_fields[] = {
    FIELD(error_code,    "errorCode",    0, 1, INT16),
    FIELD(error_message, "errorMessage", 0, 1, STRING, NULLABLE(0, 1)),
    FIELD(resource_type, "resourceType", 0, 1, INT8),
    FIELD(resource_name, "resourceName", 0, 1, STRING),
};
#undef OWNER
const struct shape incremental_alter_configs_response_resource_shape = SHAPE(incremental_alter_configs_response_resource);

#define OWNER struct incremental_alter_configs_response
static const struct field incremental_alter_configs_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 0, 1, INT32),
    STRUCTS(responses,        "responses",      0, 1, incremental_alter_configs_response_resource),
};
#undef OWNER
const struct message_shape incremental_alter_configs_response_shape =
    MESSAGE(incremental_alter_configs_response, "IncrementalAlterConfigsResponse", 0, 1, 1);
