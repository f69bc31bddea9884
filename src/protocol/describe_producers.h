// SPDX-License-Identifier: Apache-2.0
/* DescribeProducers (key 61): who writes to a partition as an idempotent producer (KIP-664). */

#ifndef PROTOCOL_DESCRIBE_PRODUCERS_H
#define PROTOCOL_DESCRIBE_PRODUCERS_H

#include "codec.h"

struct describe_producers_request_topic {
    struct str name;
    ARRAY_OF(int32_t) partition_indexes;
};

struct describe_producers_request {
    ARRAY_OF(struct describe_producers_request_topic) topics;
};

struct describe_producers_response_producer {
    int64_t producer_id;
    int32_t producer_epoch;
    int32_t last_sequence;
    int64_t last_timestamp;
    int32_t coordinator_epoch;
    int64_t current_txn_start_offset;
};

struct describe_producers_response_partition {
    int32_t partition_index;
    int16_t error_code;
    struct str error_message;
    ARRAY_OF(struct describe_producers_response_producer) active_producers;
};

struct describe_producers_response_topic {
    struct str name;
    ARRAY_OF(struct describe_producers_response_partition) partitions;
};

struct describe_producers_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct describe_producers_response_topic) topics;
};

extern const struct shape describe_producers_request_topic_shape;
extern const struct shape describe_producers_response_producer_shape;
extern const struct shape describe_producers_response_partition_shape;
extern const struct shape describe_producers_response_topic_shape;
extern const struct message_shape describe_producers_request_shape,
    describe_producers_response_shape;

#endif
