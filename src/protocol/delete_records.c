// SPDX-License-Identifier: Apache-2.0
#include "delete_records.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct delete_records_request_partition
static const struct field delete_records_request_partition_fields[] = {
    FIELD(partition_index, "partitionIndex", 0, 2, INT32),
    FIELD(offset,          "offset",         0, 2, INT64),
};
#undef OWNER
const struct shape delete_records_request_partition_shape = SHAPE(delete_records_request_partition);

#define OWNER struct delete_records_request_topic
static const struct field delete_records_request_topic_fields[] = {
    FIELD(  name,       "name",       0, 2, STRING),
    STRUCTS(partitions, "partitions", 0, 2, delete_records_request_partition),
};
#undef OWNER
const struct shape delete_records_request_topic_shape = SHAPE(delete_records_request_topic);

#define OWNER struct delete_records_request
static const struct field delete_records_request_fields[] = {
    STRUCTS(topics,     "topics",    0, 2, delete_records_request_topic),
    FIELD(  timeout_ms, "timeoutMs", 0, 2, INT32),
};
#undef OWNER
const struct message_shape delete_records_request_shape =
    MESSAGE(delete_records_request, "DeleteRecordsRequest", 0, 2, 2);

#define OWNER struct delete_records_response_partition
static const struct field delete_records_response_partition_fields[] = {
    FIELD(partition_index, "partitionIndex", 0, 2, INT32),
    FIELD(low_watermark,   "lowWatermark",   0, 2, INT64),
    FIELD(error_code,      "errorCode",      0, 2, INT16),
};
#undef OWNER
const struct shape delete_records_response_partition_shape = SHAPE(delete_records_response_partition);

#define OWNER struct delete_records_response_topic
static const struct field delete_records_response_topic_fields[] = {
    FIELD(  name,       "name",       0, 2, STRING),
    STRUCTS(partitions, "partitions", 0, 2, delete_records_response_partition),
};
#undef OWNER
const struct shape delete_records_response_topic_shape = SHAPE(delete_records_response_topic);

#define OWNER struct delete_records_response
static const struct field delete_records_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 0, 2, INT32),
    STRUCTS(topics,           "topics",         0, 2, delete_records_response_topic),
};
#undef OWNER
const struct message_shape delete_records_response_shape =
    MESSAGE(delete_records_response, "DeleteRecordsResponse", 0, 2, 2);
