// SPDX-License-Identifier: Apache-2.0
#include "alter_configs.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct alter_configs_request_config
static const struct field alter_configs_request_config_fields[] = {
    FIELD(name,  "name",  0, 2, STRING),
    FIELD(value, "value", 0, 2, STRING, NULLABLE(0, 2)),
};
#undef OWNER
const struct shape alter_configs_request_config_shape = SHAPE(alter_configs_request_config);

#define OWNER struct alter_configs_request_resource
static const struct field alter_configs_request_resource_fields[] = {
    FIELD(  resource_type, "resourceType", 0, 2, INT8),
    FIELD(  resource_name, "resourceName", 0, 2, STRING),
    STRUCTS(configs,       "configs",      0, 2, alter_configs_request_config),
};
#undef OWNER
const struct shape alter_configs_request_resource_shape = SHAPE(alter_configs_request_resource);

#define OWNER struct alter_configs_request
static const struct field alter_configs_request_fields[] = {
    STRUCTS(resources,     "resources",    0, 2, alter_configs_request_resource),
    FIELD(  validate_only, "validateOnly", 0, 2, BOOL),
};
#undef OWNER
const struct message_shape alter_configs_request_shape =
    MESSAGE(alter_configs_request, "AlterConfigsRequest", 0, 2, 2);

#define OWNER struct alter_configs_response_resource
static const struct field alter_configs_response_resource_fields[] = {
    FIELD(error_code,    "errorCode",    0, 2, INT16),
    FIELD(error_message, "errorMessage", 0, 2, STRING, NULLABLE(0, 2)),
    FIELD(resource_type, "resourceType", 0, 2, INT8),
    FIELD(resource_name, "resourceName", 0, 2, STRING),
};
#undef OWNER
const struct shape alter_configs_response_resource_shape = SHAPE(alter_configs_response_resource);

#define OWNER struct alter_configs_response
static const struct field alter_configs_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 0, 2, INT32),
    STRUCTS(responses,        "responses",      0, 2, alter_configs_response_resource),
};
#undef OWNER
const struct message_shape alter_configs_response_shape =
    MESSAGE(alter_configs_response, "AlterConfigsResponse", 0, 2, 2);
