// SPDX-License-Identifier: Apache-2.0
#include "create_topics.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct create_topics_request_assignment
static const struct field create_topics_request_assignment_fields[] = {
    FIELD(partition_index, "partitionIndex", 2, 7, INT32),
    ARRAY(broker_ids,      "brokerIds",      2, 7, INT32),
};
#undef OWNER
const struct shape create_topics_request_assignment_shape = SHAPE(create_topics_request_assignment);

#define OWNER struct create_topics_request_config
static const struct field create_topics_request_config_fields[] = {
    FIELD(name,  "name",  2, 7, STRING),
    FIELD(value, "value", 2, 7, STRING, NULLABLE(2, 7)),
};
#undef OWNER
const struct shape create_topics_request_config_shape = SHAPE(create_topics_request_config);

#define OWNER struct create_topics_request_topic
static const struct field create_topics_request_topic_fields[] = {
    FIELD(  name,               "name",              2, 7, STRING),
    FIELD(  num_partitions,     "numPartitions",     2, 7, INT32),
    FIELD(  replication_factor, "replicationFactor", 2, 7, INT16),
    STRUCTS(assignments,        "assignments",       2, 7, create_topics_request_assignment),
    STRUCTS(configs,            "configs",           2, 7, create_topics_request_config),
};
#undef OWNER
const struct shape create_topics_request_topic_shape = SHAPE(create_topics_request_topic);

#define OWNER struct create_topics_request
static const struct field create_topics_request_fields[] = {
    STRUCTS(topics,        "topics",       2, 7, create_topics_request_topic),
    FIELD(  timeout_ms,    "timeoutMs",    2, 7, INT32, DEFAULT(60000)),
    FIELD(  validate_only, "validateOnly", 2, 7, BOOL),
};
#undef OWNER
const struct message_shape create_topics_request_shape =
    MESSAGE(create_topics_request, "CreateTopicsRequest", 2, 7, 5);

#define OWNER struct create_topics_response_config
static const struct field create_topics_response_config_fields[] = {
    FIELD(name,          "name",         5, 7, STRING),
    FIELD(value,         "value",        5, 7, STRING, NULLABLE(5, 7)),
    FIELD(read_only,     "readOnly",     5, 7, BOOL),
    FIELD(config_source, "configSource", 5, 7, INT8, DEFAULT(-1), IGNORABLE),
    FIELD(is_sensitive,  "isSensitive",  5, 7, BOOL),
};
#undef OWNER
const struct shape create_topics_response_config_shape = SHAPE(create_topics_response_config);

#define OWNER struct create_topics_response_topic
static const struct field create_topics_response_topic_fields[] = {
    FIELD(  name,                    "name",                 2, 7, STRING),
    FIELD(  topic_id,                "topicId",              7, 7, UUID, IGNORABLE),
    FIELD(  error_code,              "errorCode",            2, 7, INT16),
    FIELD(  error_message,           "errorMessage",         2, 7, STRING, NULLABLE(2, 7), IGNORABLE),
    FIELD(  topic_config_error_code, "topicConfigErrorCode", 5, 7, INT16, TAGGED(0, 5, 7), IGNORABLE),
    FIELD(  num_partitions,          "numPartitions",        5, 7, INT32, DEFAULT(-1), IGNORABLE),
    FIELD(  replication_factor,      "replicationFactor",    5, 7, INT16, DEFAULT(-1), IGNORABLE),
    STRUCTS(configs,                 "configs",              5, 7, create_topics_response_config, NULLABLE(5, 7), IGNORABLE),
};
#undef OWNER
const struct shape create_topics_response_topic_shape = SHAPE(create_topics_response_topic);

#define OWNER struct create_topics_response
static const struct field create_topics_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 2, 7, INT32, IGNORABLE),
    STRUCTS(topics,           "topics",         2, 7, create_topics_response_topic),
};
#undef OWNER
const struct message_shape create_topics_response_shape =
    MESSAGE(create_topics_response, "CreateTopicsResponse", 2, 7, 5);
