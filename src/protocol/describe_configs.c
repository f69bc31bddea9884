// SPDX-License-Identifier: Apache-2.0
#include "describe_configs.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct describe_configs_request_resource
static const struct field describe_configs_request_resource_fields[] = {
    FIELD(resource_type,      "resourceType",      1, 4, INT8),
    FIELD(resource_name,      "resourceName",      1, 4, STRING),
    ARRAY(configuration_keys, "configurationKeys", 1, 4, STRING, NULLABLE(1, 4)),
};
#undef OWNER
const struct shape describe_configs_request_resource_shape = SHAPE(describe_configs_request_resource);

#define OWNER struct describe_configs_request
static const struct field describe_configs_request_fields[] = {
    STRUCTS(resources,             "resources",            1, 4, describe_configs_request_resource),
    FIELD(  include_synonyms,      "includeSynonyms",      1, 4, BOOL),
    FIELD(  include_documentation, "includeDocumentation", 3, 4, BOOL),
};
#undef OWNER
const struct message_shape describe_configs_request_shape =
    MESSAGE(describe_configs_request, "DescribeConfigsRequest", 1, 4, 4);

#define OWNER struct describe_configs_response_synonym
static const struct field describe_configs_response_synonym_fields[] = {
    FIELD(name,   "name",   1, 4, STRING),
    FIELD(value,  "value",  1, 4, STRING, NULLABLE(1, 4)),
    FIELD(source, "source", 1, 4, INT8),
};
#undef OWNER
const struct shape describe_configs_response_synonym_shape = SHAPE(describe_configs_response_synonym);

#define OWNER struct describe_configs_response_config
static const struct field describe_configs_response_config_fields[] = {
    FIELD(  name,          "name",          1, 4, STRING),
    FIELD(  value,         "value",         1, 4, STRING, NULLABLE(1, 4)),
    FIELD(  read_only,     "readOnly",      1, 4, BOOL),
    FIELD(  config_source, "configSource",  1, 4, INT8, DEFAULT(-1), IGNORABLE),
    FIELD(  is_sensitive,  "isSensitive",   1, 4, BOOL),
    STRUCTS(synonyms,      "synonyms",      1, 4, describe_configs_response_synonym, IGNORABLE),
    FIELD(  config_type,   "configType",    3, 4, INT8, IGNORABLE),
    FIELD(  documentation, "documentation", 3, 4, STRING, NULLABLE(3, 4), IGNORABLE),
};
#undef OWNER
const struct shape describe_configs_response_config_shape = SHAPE(describe_configs_response_config);

#define OWNER struct describe_configs_response_result
static const struct field describe_configs_response_result_fields[] = {
    FIELD(  error_code,    "errorCode",    1, 4, INT16),
    FIELD(  error_message, "errorMessage", 1, 4, STRING, NULLABLE(1, 4)),
    FIELD(  resource_type, "resourceType", 1, 4, INT8),
    FIELD(  resource_name, "resourceName", 1, 4, STRING),
    STRUCTS(configs,       "configs",      1, 4, describe_configs_response_config),
};
#undef OWNER
const struct shape describe_configs_response_result_shape = SHAPE(describe_configs_response_result);

#define OWNER struct describe_configs_response
static const struct field describe_configs_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 1, 4, INT32),
    STRUCTS(results,          "results",        1, 4, describe_configs_response_result),
};
#undef OWNER
const struct message_shape describe_configs_response_shape =
    MESSAGE(describe_configs_response, "DescribeConfigsResponse", 1, 4, 4);
