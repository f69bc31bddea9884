// SPDX-License-Identifier: Apache-2.0
/* Produce (key 0): record batches on their way to a partition's leader. */

#ifndef PROTOCOL_PRODUCE_H
#define PROTOCOL_PRODUCE_H

#include "codec.h"
#include "leader_hint.h"

struct produce_request_partition {
    int32_t index;
    struct records records;
};

struct produce_request_topic {
    struct str name;
    struct uuid topic_id;
    ARRAY_OF(struct produce_request_partition) partition_data;
};

struct produce_request {
    struct str transactional_id;
    int16_t acks;
    int32_t timeout_ms;
    ARRAY_OF(struct produce_request_topic) topic_data;
};

struct produce_response_record_error {
    int32_t batch_index;
    struct str batch_index_error_message;
};

struct produce_response_partition {
    int32_t index;
    int16_t error_code;
    int64_t base_offset;
    int64_t log_append_time_ms;
    int64_t log_start_offset;
    ARRAY_OF(struct produce_response_record_error) record_errors;
    struct str error_message;
    struct leader_id_and_epoch current_leader;
};

struct produce_response_topic {
    struct str name;
    struct uuid topic_id;
    ARRAY_OF(struct produce_response_partition) partition_responses;
};

struct produce_response {
    ARRAY_OF(struct produce_response_topic) responses;
    int32_t throttle_time_ms;
    ARRAY_OF(struct node_endpoint) node_endpoints;
};

extern const struct shape produce_request_partition_shape;
extern const struct shape produce_request_topic_shape;
extern const struct shape produce_response_record_error_shape;
extern const struct shape produce_response_partition_shape;
extern const struct shape produce_response_topic_shape;
extern const struct message_shape produce_request_shape, produce_response_shape;

#endif
