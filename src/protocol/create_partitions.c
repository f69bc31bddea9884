// SPDX-License-Identifier: Apache-2.0
#include "create_partitions.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct create_partitions_request_assignment
static const struct field create_partitions_request_assignment_fields[] = {
    ARRAY(broker_ids, "brokerIds", 0, 3, INT32),
};
#undef OWNER
const struct shape create_partitions_request_assignment_shape = SHAPE(create_partitions_request_assignment);

#define OWNER struct create_partitions_request_topic
static const struct field create_partitions_request_topic_fields[] = {
    FIELD(  name,        "name",        0, 3, STRING),
    FIELD(  count,       "count",       0, 3, INT32),
    STRUCTS(assignments, "assignments", 0, 3, create_partitions_request_assignment, NULLABLE(0, 3)),
};
#undef OWNER
const struct shape create_partitions_request_topic_shape = SHAPE(create_partitions_request_topic);

#define OWNER struct create_partitions_request
static const struct field create_partitions_request_fields[] = {
    STRUCTS(topics,        "topics",       0, 3, create_partitions_request_topic),
    FIELD(  timeout_ms,    "timeoutMs",    0, 3, INT32),
    FIELD(  validate_only, "validateOnly", 0, 3, BOOL),
};
#undef OWNER
const struct message_shape create_partitions_request_shape =
    MESSAGE(create_partitions_request, "CreatePartitionsRequest", 0, 3, 2);

#define OWNER struct create_partitions_response_topic
static const struct field create_partitions_response_topic_fields[] = {
    FIELD(name,          "name",         0, 3, STRING),
    FIELD(error_code,    "errorCode",    0, 3, INT16),
    FIELD(error_message, "errorMessage", 0, 3, STRING, NULLABLE(0, 3), DEFAULT_NULL),
};
#undef OWNER
const struct shape create_partitions_response_topic_shape = SHAPE(create_partitions_response_topic);

#define OWNER struct create_partitions_response
static const struct field create_partitions_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 0, 3, INT32),
    STRUCTS(results,          "results",        0, 3, create_partitions_response_topic),
};
#undef OWNER
const struct message_shape create_partitions_response_shape =
    MESSAGE(create_partitions_response, "CreatePartitionsResponse", 0, 3, 2);
