// SPDX-License-Identifier: Apache-2.0
#include "produce.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct produce_request_partition
static const struct field produce_request_partition_fields[] = {
    FIELD(index,   "index",   3, 13, INT32),
    FIELD(records, "records", 3, 13, RECORDS, NULLABLE(3, 13)),
};
#undef OWNER
const struct shape produce_request_partition_shape = SHAPE(produce_request_partition);

#define OWNER struct produce_request_topic
static const struct field produce_request_topic_fields[] = {
    FIELD(  name,           "name",           3, 12, STRING, IGNORABLE),
    FIELD(  topic_id,       "topicId",       13, 13, UUID, IGNORABLE),
    STRUCTS(partition_data, "partitionData",  3, 13, produce_request_partition),
};
#undef OWNER
const struct shape produce_request_topic_shape = SHAPE(produce_request_topic);

#define OWNER struct produce_request
static const struct field produce_request_fields[] = {
    FIELD(  transactional_id, "transactionalId", 3, 13, STRING, NULLABLE(3, 13), DEFAULT_NULL),
    FIELD(  acks,             "acks",            3, 13, INT16),
    FIELD(  timeout_ms,       "timeoutMs",       3, 13, INT32),
    STRUCTS(topic_data,       "topicData",       3, 13, produce_request_topic),
};
#undef OWNER
const struct message_shape produce_request_shape =
    MESSAGE(produce_request, "ProduceRequest", 3, 13, 9);

#define OWNER struct produce_response_record_error
static const struct field produce_response_record_error_fields[] = {
    FIELD(batch_index,               "batchIndex",             8, 13, INT32),
    FIELD(batch_index_error_message, "batchIndexErrorMessage", 8, 13, STRING, NULLABLE(8, 13), DEFAULT_NULL),
};
#undef OWNER
const struct shape produce_response_record_error_shape = SHAPE(produce_response_record_error);

#define OWNER struct produce_response_partition
static const struct field produce_response_partition_fields[] = {
    FIELD(  index,              "index",            3, 13, INT32),
    FIELD(  error_code,         "errorCode",        3, 13, INT16),
    FIELD(  base_offset,        "baseOffset",       3, 13, INT64),
    FIELD(  log_append_time_ms, "logAppendTimeMs",  3, 13, INT64, DEFAULT(-1), IGNORABLE),
    FIELD(  log_start_offset,   "logStartOffset",   5, 13, INT64, DEFAULT(-1), IGNORABLE),
    STRUCTS(record_errors,      "recordErrors",     8, 13, produce_response_record_error, IGNORABLE),
    FIELD(  error_message,      "errorMessage",     8, 13, STRING, NULLABLE(8, 13), DEFAULT_NULL, IGNORABLE),
    STRUCT( current_leader,     "currentLeader",   10, 13, leader_id_and_epoch, TAGGED(0, 10, 13)),
};
#undef OWNER
const struct shape produce_response_partition_shape = SHAPE(produce_response_partition);

#define OWNER struct produce_response_topic
static const struct field produce_response_topic_fields[] = {
    FIELD(  name,                "name",                3, 12, STRING, IGNORABLE),
    FIELD(  topic_id,            "topicId",            13, 13, UUID, IGNORABLE),
    STRUCTS(partition_responses, "partitionResponses",  3, 13, produce_response_partition),
};
#undef OWNER
const struct shape produce_response_topic_shape = SHAPE(produce_response_topic);

#define OWNER struct produce_response
static const struct field produce_response_fields[] = {
    STRUCTS(responses,        "responses",       3, 13, produce_response_topic),
    FIELD(  throttle_time_ms, "throttleTimeMs",  3, 13, INT32, IGNORABLE),
    STRUCTS(node_endpoints,   "nodeEndpoints",  10, 13, node_endpoint, TAGGED(0, 10, 13)),
};
#undef OWNER
const struct message_shape produce_response_shape =
    MESSAGE(produce_response, "ProduceResponse", 3, 13, 9);
