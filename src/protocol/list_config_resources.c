// SPDX-License-Identifier: Apache-2.0
#include "list_config_resources.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct list_config_resources_request
static const struct field list_config_resources_request_fields[] = {
    ARRAY(resource_types, "resourceTypes", 1, 1, INT8),
};
#undef OWNER
const struct message_shape list_config_resources_request_shape =
    MESSAGE(list_config_resources_request, "ListConfigResourcesRequest", 0, 1, 0);

#define OWNER struct list_config_resources_response_resource
static const struct field list_config_resources_response_resource_fields[] = {
    FIELD(resource_name, "resourceName", 0, 1, STRING),
    FIELD(resource_type, "resourceType", 1, 1, INT8, DEFAULT(16), IGNORABLE),
};
#undef OWNER
const struct shape list_config_resources_response_resource_shape = SHAPE(list_config_resources_response_resource);

#define OWNER struct list_config_resources_response
static const struct field list_config_resources_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs",  0, 1, INT32),
    FIELD(  error_code,       "errorCode",       0, 1, INT16),
    STRUCTS(config_resources, "configResources", 0, 1, list_config_resources_response_resource),
};
#undef OWNER
const struct message_shape list_config_resources_response_shape =
    MESSAGE(list_config_resources_response, "ListConfigResourcesResponse", 0, 1, 0);
