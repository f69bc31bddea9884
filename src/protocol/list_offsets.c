// SPDX-License-Identifier: Apache-2.0
#include "list_offsets.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct list_offsets_request_partition
static const struct field list_offsets_request_partition_fields[] = {
    FIELD(partition_index,      "partitionIndex",     1, 11, INT32),
    FIELD(current_leader_epoch, "currentLeaderEpoch", 4, 11, INT32, DEFAULT(-1), IGNORABLE),
    FIELD(timestamp,            "timestamp",          1, 11, INT64),
};
#undef OWNER
const struct shape list_offsets_request_partition_shape = SHAPE(list_offsets_request_partition);

#define OWNER struct list_offsets_request_topic
static const struct field list_offsets_request_topic_fields[] = {
    FIELD(  name,       "name",       1, 11, STRING),
    STRUCTS(partitions, "partitions", 1, 11, list_offsets_request_partition),
};
#undef OWNER
const struct shape list_offsets_request_topic_shape = SHAPE(list_offsets_request_topic);

#define OWNER struct list_offsets_request
static const struct field list_offsets_request_fields[] = {
    FIELD(  replica_id,      "replicaId",       1, 11, INT32),
    FIELD(  isolation_level, "isolationLevel",  2, 11, INT8),
    STRUCTS(topics,          "topics",          1, 11, list_offsets_request_topic),
    FIELD(  timeout_ms,      "timeoutMs",      10, 11, INT32, IGNORABLE),
};
#undef OWNER
const struct message_shape list_offsets_request_shape =
    MESSAGE(list_offsets_request, "ListOffsetsRequest", 1, 11, 6);

#define OWNER struct list_offsets_response_partition
static const struct field list_offsets_response_partition_fields[] = {
    FIELD(partition_index, "partitionIndex", 1, 11, INT32),
    FIELD(error_code,      "errorCode",      1, 11, INT16),
    FIELD(timestamp,       "timestamp",      1, 11, INT64, DEFAULT(-1)),
    FIELD(offset,          "offset",         1, 11, INT64, DEFAULT(-1)),
    FIELD(leader_epoch,    "leaderEpoch",    4, 11, INT32, DEFAULT(-1)),
};
#undef OWNER
const struct shape list_offsets_response_partition_shape = SHAPE(list_offsets_response_partition);

#define OWNER struct list_offsets_response_topic
static const struct field list_offsets_response_topic_fields[] = {
    FIELD(  name,       "name",       1, 11, STRING),
    STRUCTS(partitions, "partitions", 1, 11, list_offsets_response_partition),
};
#undef OWNER
const struct shape list_offsets_response_topic_shape = SHAPE(list_offsets_response_topic);

#define OWNER struct list_offsets_response
static const struct field list_offsets_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 2, 11, INT32, IGNORABLE),
    STRUCTS(topics,           "topics",         1, 11, list_offsets_response_topic),
};
#undef OWNER
const struct message_shape list_offsets_response_shape =
    MESSAGE(list_offsets_response, "ListOffsetsResponse", 1, 11, 6);
