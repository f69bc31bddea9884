// SPDX-License-Identifier: Apache-2.0
/* OffsetForLeaderEpoch (key 23): where the records of a leader epoch end (KIP-101, KIP-320). */

#ifndef PROTOCOL_OFFSET_FOR_LEADER_EPOCH_H
#define PROTOCOL_OFFSET_FOR_LEADER_EPOCH_H

#include "codec.h"

struct offset_for_leader_epoch_request_partition {
    int32_t partition;
    int32_t current_leader_epoch;
    int32_t leader_epoch;
};

struct offset_for_leader_epoch_request_topic {
    struct str topic;
    ARRAY_OF(struct offset_for_leader_epoch_request_partition) partitions;
};

struct offset_for_leader_epoch_request {
    int32_t replica_id;
    ARRAY_OF(struct offset_for_leader_epoch_request_topic) topics;
};

struct offset_for_leader_epoch_response_partition {
    int16_t error_code;
    int32_t partition;
    int32_t leader_epoch;
    int64_t end_offset;
};

struct offset_for_leader_epoch_response_topic {
    struct str topic;
    ARRAY_OF(struct offset_for_leader_epoch_response_partition) partitions;
};

struct offset_for_leader_epoch_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct offset_for_leader_epoch_response_topic) topics;
};

extern const struct shape offset_for_leader_epoch_request_partition_shape;
extern const struct shape offset_for_leader_epoch_request_topic_shape;
extern const struct shape offset_for_leader_epoch_response_partition_shape;
extern const struct shape offset_for_leader_epoch_response_topic_shape;
extern const struct message_shape offset_for_leader_epoch_request_shape,
    offset_for_leader_epoch_response_shape;

#endif
