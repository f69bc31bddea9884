// SPDX-License-Identifier: Apache-2.0
/* ListOffsets (key 2): from a timestamp to an offset. */

#ifndef PROTOCOL_LIST_OFFSETS_H
#define PROTOCOL_LIST_OFFSETS_H

#include "codec.h"

struct list_offsets_request_partition {
    int32_t partition_index;
    int32_t current_leader_epoch;
    int64_t timestamp;
};

struct list_offsets_request_topic {
    struct str name;
    ARRAY_OF(struct list_offsets_request_partition) partitions;
};

struct list_offsets_request {
    int32_t replica_id;
    int8_t isolation_level;
    ARRAY_OF(struct list_offsets_request_topic) topics;
    int32_t timeout_ms;
};

struct list_offsets_response_partition {
    int32_t partition_index;
    int16_t error_code;
    int64_t timestamp;
    int64_t offset;
    int32_t leader_epoch;
};

struct list_offsets_response_topic {
    struct str name;
    ARRAY_OF(struct list_offsets_response_partition) partitions;
};

struct list_offsets_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct list_offsets_response_topic) topics;
};

extern const struct shape list_offsets_request_partition_shape;
extern const struct shape list_offsets_request_topic_shape;
extern const struct shape list_offsets_response_partition_shape;
extern const struct shape list_offsets_response_topic_shape;
extern const struct message_shape list_offsets_request_shape, list_offsets_response_shape;

#endif
