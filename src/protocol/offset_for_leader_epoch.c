// SPDX-License-Identifier: Apache-2.0
#include "offset_for_leader_epoch.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct offset_for_leader_epoch_request_partition
static const struct field offset_for_leader_epoch_request_partition_fields[] = {
    FIELD(partition,            "partition",          2, 4, INT32),
    FIELD(current_leader_epoch, "currentLeaderEpoch", 2, 4, INT32, DEFAULT(-1), IGNORABLE),
    FIELD(leader_epoch,         "leaderEpoch",        2, 4, INT32),
};
#undef OWNER
const struct shape offset_for_leader_epoch_request_partition_shape = SHAPE(offset_for_leader_epoch_request_partition);

#define OWNER struct offset_for_leader_epoch_request_topic
static const struct field offset_for_leader_epoch_request_topic_fields[] = {
    FIELD(  topic,      "topic",      2, 4, STRING),
    STRUCTS(partitions, "partitions", 2, 4, offset_for_leader_epoch_request_partition),
};
#undef OWNER
const struct shape offset_for_leader_epoch_request_topic_shape = SHAPE(offset_for_leader_epoch_request_topic);

#define OWNER struct offset_for_leader_epoch_request
static const struct field offset_for_leader_epoch_request_fields[] = {
    FIELD(  replica_id, "replicaId", 3, 4, INT32, DEFAULT(-2), IGNORABLE),
    STRUCTS(topics,     "topics",    2, 4, offset_for_leader_epoch_request_topic),
};
#undef OWNER
const struct message_shape offset_for_leader_epoch_request_shape =
    MESSAGE(offset_for_leader_epoch_request, "OffsetForLeaderEpochRequest", 2, 4, 4);

#define OWNER struct offset_for_leader_epoch_response_partition
static const struct field offset_for_leader_epoch_response_partition_fields[] = {
    FIELD(error_code,   "errorCode",   2, 4, INT16),
    FIELD(partition,    "partition",   2, 4, INT32),
    FIELD(leader_epoch, "leaderEpoch", 2, 4, INT32, DEFAULT(-1), IGNORABLE),
    FIELD(end_offset,   "endOffset",   2, 4, INT64, DEFAULT(-1)),
};
#undef OWNER
const struct shape offset_for_leader_epoch_response_partition_shape = SHAPE(offset_for_leader_epoch_response_partition);

#define OWNER struct offset_for_leader_epoch_response_topic
static const struct field offset_for_leader_epoch_response_topic_fields[] = {
    FIELD(  topic,      "topic",      2, 4, STRING),
    STRUCTS(partitions, "partitions", 2, 4, offset_for_leader_epoch_response_partition),
};
#undef OWNER
const struct shape offset_for_leader_epoch_response_topic_shape = SHAPE(offset_for_leader_epoch_response_topic);

#define OWNER struct offset_for_leader_epoch_response
static const struct field offset_for_leader_epoch_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 2, 4, INT32, IGNORABLE),
    STRUCTS(topics,           "topics",         2, 4, offset_for_leader_epoch_response_topic),
};
#undef OWNER
const struct message_shape offset_for_leader_epoch_response_shape =
    MESSAGE(offset_for_leader_epoch_response, "OffsetForLeaderEpochResponse", 2, 4, 4);
