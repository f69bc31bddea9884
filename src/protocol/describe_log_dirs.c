// SPDX-License-Identifier: Apache-2.0
#include "describe_log_dirs.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct describe_log_dirs_request_topic
static const struct field describe_log_dirs_request_topic_fields[] = {
    FIELD(topic,      "topic",      1, 5, STRING),
    ARRAY(partitions, "partitions", 1, 5, INT32),
};
#undef OWNER
const struct shape describe_log_dirs_request_topic_shape = SHAPE(describe_log_dirs_request_topic);

#define OWNER struct describe_log_dirs_request
static const struct field describe_log_dirs_request_fields[] = {
    STRUCTS(topics, "topics", 1, 5, describe_log_dirs_request_topic, NULLABLE(1, 5)),
};
#undef OWNER
const struct message_shape describe_log_dirs_request_shape =
    MESSAGE(describe_log_dirs_request, "DescribeLogDirsRequest", 1, 5, 2);

#define OWNER struct describe_log_dirs_response_partition
static const struct field describe_log_dirs_response_partition_fields[] = {
    FIELD(partition_index, "partitionIndex", 1, 5, INT32),
    FIELD(partition_size,  "partitionSize",  1, 5, INT64),
    FIELD(offset_lag,      "offsetLag",      1, 5, INT64),
    FIELD(is_future_key,   "isFutureKey",    1, 5, BOOL),
};
#undef OWNER
const struct shape describe_log_dirs_response_partition_shape = SHAPE(describe_log_dirs_response_partition);

#define OWNER struct describe_log_dirs_response_topic
static const struct field describe_log_dirs_response_topic_fields[] = {
    FIELD(  name,       "name",       1, 5, STRING),
    STRUCTS(partitions, "partitions", 1, 5, describe_log_dirs_response_partition),
};
#undef OWNER
const struct shape describe_log_dirs_response_topic_shape = SHAPE(describe_log_dirs_response_topic);

#define OWNER struct describe_log_dirs_response_result
static const struct field describe_log_dirs_response_result_fields[] = {
    FIELD(  error_code,   "errorCode",   1, 5, INT16),
    FIELD(  log_dir,      "logDir",      1, 5, STRING),
    STRUCTS(topics,       "topics",      1, 5, describe_log_dirs_response_topic),
    FIELD(  total_bytes,  "totalBytes",  4, 5, INT64, DEFAULT(-1), IGNORABLE),
    FIELD(  usable_bytes, "usableBytes", 4, 5, INT64, DEFAULT(-1), IGNORABLE),
    FIELD(  is_cordoned,  "isCordoned",  5, 5, BOOL, IGNORABLE),
};
#undef OWNER
const struct shape describe_log_dirs_response_result_shape = SHAPE(describe_log_dirs_response_result);

#define OWNER struct describe_log_dirs_response
static const struct field describe_log_dirs_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 1, 5, INT32),
    FIELD(  error_code,       "errorCode",      3, 5, INT16, IGNORABLE),
    STRUCTS(results,          "results",        1, 5, describe_log_dirs_response_result),
};
#undef OWNER
const struct message_shape describe_log_dirs_response_shape =
    MESSAGE(describe_log_dirs_response, "DescribeLogDirsResponse", 1, 5, 2);
