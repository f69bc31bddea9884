// SPDX-License-Identifier: Apache-2.0
/* DescribeTopicPartitions (key 75): topics by name, piece by piece (KIP-966). */

#ifndef PROTOCOL_DESCRIBE_TOPIC_PARTITIONS_H
#define PROTOCOL_DESCRIBE_TOPIC_PARTITIONS_H

#include "codec.h"

struct describe_topic_partitions_request_topic {
    struct str name;
};

struct describe_topic_partitions_request_cursor {
    struct str topic_name;
    int32_t partition_index;
};

struct describe_topic_partitions_request {
    ARRAY_OF(struct describe_topic_partitions_request_topic) topics;
    int32_t response_partition_limit;
    struct describe_topic_partitions_request_cursor *cursor;
};

struct describe_topic_partitions_response_partition {
    int16_t error_code;
    int32_t partition_index;
    int32_t leader_id;
    int32_t leader_epoch;
    ARRAY_OF(int32_t) replica_nodes;
    ARRAY_OF(int32_t) isr_nodes;
    ARRAY_OF(int32_t) eligible_leader_replicas;
    ARRAY_OF(int32_t) last_known_elr;
    ARRAY_OF(int32_t) offline_replicas;
};

struct describe_topic_partitions_response_topic {
    int16_t error_code;
    struct str name;
    struct uuid topic_id;
    bool is_internal;
    ARRAY_OF(struct describe_topic_partitions_response_partition) partitions;
    int32_t topic_authorized_operations;
};

struct describe_topic_partitions_response_cursor {
    struct str topic_name;
    int32_t partition_index;
};

struct describe_topic_partitions_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct describe_topic_partitions_response_topic) topics;
    struct describe_topic_partitions_response_cursor *next_cursor;
};

extern const struct shape describe_topic_partitions_request_topic_shape;
extern const struct shape describe_topic_partitions_request_cursor_shape;
extern const struct shape describe_topic_partitions_response_partition_shape;
extern const struct shape describe_topic_partitions_response_topic_shape;
extern const struct shape describe_topic_partitions_response_cursor_shape;
extern const struct message_shape describe_topic_partitions_request_shape,
    describe_topic_partitions_response_shape;

#endif
