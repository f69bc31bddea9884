// SPDX-License-Identifier: Apache-2.0
#include "describe_topic_partitions.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct describe_topic_partitions_request_topic
static const struct field describe_topic_partitions_request_topic_fields[] = {
    FIELD(name, "name", 0, 0, STRING),
};
#undef OWNER
const struct shape describe_topic_partitions_request_topic_shape = SHAPE(describe_topic_partitions_request_topic);

#define OWNER struct describe_topic_partitions_request_cursor
static const struct field describe_topic_partitions_request_cursor_fields[] = {
    FIELD(topic_name,      "topicName",      0, 0, STRING),
    FIELD(partition_index, "partitionIndex", 0, 0, INT32),
};
#undef OWNER
const struct shape describe_topic_partitions_request_cursor_shape = SHAPE(describe_topic_partitions_request_cursor);

#define OWNER struct describe_topic_partitions_request
static const struct field describe_topic_partitions_request_fields[] = {
    STRUCTS(topics,                   "topics",                 0, 0, describe_topic_partitions_request_topic),
    FIELD(  response_partition_limit, "responsePartitionLimit", 0, 0, INT32, DEFAULT(2000)),
    STRUCT( cursor,                   "cursor",                 0, 0, describe_topic_partitions_request_cursor, NULLABLE(0, 0), .is_optional_struct = true),
};
#undef OWNER
const struct message_shape describe_topic_partitions_request_shape =
    MESSAGE(describe_topic_partitions_request, "DescribeTopicPartitionsRequest", 0, 0, 0);

#define OWNER struct describe_topic_partitions_response_partition
static const struct field describe_topic_partitions_response_partition_fields[] = {
    FIELD(error_code,               "errorCode",              0, 0, INT16),
    FIELD(partition_index,          "partitionIndex",         0, 0, INT32),
    FIELD(leader_id,                "leaderId",               0, 0, INT32),
    FIELD(leader_epoch,             "leaderEpoch",            0, 0, INT32, DEFAULT(-1), IGNORABLE),
    ARRAY(replica_nodes,            "replicaNodes",           0, 0, INT32),
    ARRAY(isr_nodes,                "isrNodes",               0, 0, INT32),
    ARRAY(eligible_leader_replicas, "eligibleLeaderReplicas", 0, 0, INT32, NULLABLE(0, 0), DEFAULT_NULL),
    ARRAY(last_known_elr,           "lastKnownElr",           0, 0, INT32, NULLABLE(0, 0), DEFAULT_NULL),
    ARRAY(offline_replicas,         "offlineReplicas",        0, 0, INT32, IGNORABLE),
};
#undef OWNER
const struct shape describe_topic_partitions_response_partition_shape = SHAPE(describe_topic_partitions_response_partition);

#define OWNER struct describe_topic_partitions_response_topic
static const struct field describe_topic_partitions_response_topic_fields[] = {
    FIELD(  error_code,                  "errorCode",                 0, 0, INT16),
    FIELD(  name,                        "name",                      0, 0, STRING, NULLABLE(0, 0)),
    FIELD(  topic_id,                    "topicId",                   0, 0, UUID, IGNORABLE),
    FIELD(  is_internal,                 "isInternal",                0, 0, BOOL, IGNORABLE),
    STRUCTS(partitions,                  "partitions",                0, 0, describe_topic_partitions_response_partition),
    FIELD(  topic_authorized_operations, "topicAuthorizedOperations", 0, 0, INT32, DEFAULT(INT32_MIN)),
};
#undef OWNER
const struct shape describe_topic_partitions_response_topic_shape = SHAPE(describe_topic_partitions_response_topic);

#define OWNER struct describe_topic_partitions_response_cursor
static const struct field describe_topic_partitions_response_cursor_fields[] = {
    FIELD(topic_name,      "topicName",      0, 0, STRING),
    FIELD(partition_index, "partitionIndex", 0, 0, INT32),
};
#undef OWNER
const struct shape describe_topic_partitions_response_cursor_shape = SHAPE(describe_topic_partitions_response_cursor);

#define OWNER struct describe_topic_partitions_response
static const struct field describe_topic_partitions_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 0, 0, INT32, IGNORABLE),
    STRUCTS(topics,           "topics",         0, 0, describe_topic_partitions_response_topic),
    STRUCT( next_cursor,      "nextCursor",     0, 0, describe_topic_partitions_response_cursor, NULLABLE(0, 0), .is_optional_struct = true),
};
#undef OWNER
const struct message_shape describe_topic_partitions_response_shape =
    MESSAGE(describe_topic_partitions_response, "DescribeTopicPartitionsResponse", 0, 0, 0);
