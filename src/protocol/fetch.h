// SPDX-License-Identifier: Apache-2.0
/* Fetch (key 1): record batches on their way to consumers and followers. */

#ifndef PROTOCOL_FETCH_H
#define PROTOCOL_FETCH_H

#include "codec.h"
#include "leader_hint.h"

struct fetch_request_replica_state {
    int32_t replica_id;
    int64_t replica_epoch;
};

struct fetch_request_partition {
    int32_t partition;
    int32_t current_leader_epoch;
    int64_t fetch_offset;
    int32_t last_fetched_epoch;
    int64_t log_start_offset;
    int32_t partition_max_bytes;
    struct uuid replica_directory_id;
    int64_t high_watermark;
};

struct fetch_request_topic {
    struct str topic;
    struct uuid topic_id;
    ARRAY_OF(struct fetch_request_partition) partitions;
};

struct fetch_request_forgotten_topic {
    struct str topic;
    struct uuid topic_id;
    ARRAY_OF(int32_t) partitions;
};

struct fetch_request {
    struct str cluster_id;
    int32_t replica_id;
    struct fetch_request_replica_state replica_state;
    int32_t max_wait_ms;
    int32_t min_bytes;
    int32_t max_bytes;
    int8_t isolation_level;
    int32_t session_id;
    int32_t session_epoch;
    ARRAY_OF(struct fetch_request_topic) topics;
    ARRAY_OF(struct fetch_request_forgotten_topic) forgotten_topics_data;
    struct str rack_id;
};

struct fetch_response_diverging_epoch {
    int32_t epoch;
    int64_t end_offset;
};

struct fetch_response_snapshot_id {
    int64_t end_offset;
    int32_t epoch;
};

struct fetch_response_aborted_transaction {
    int64_t producer_id;
    int64_t first_offset;
};

struct fetch_response_partition {
    int32_t partition_index;
    int16_t error_code;
    int64_t high_watermark;
    int64_t last_stable_offset;
    int64_t log_start_offset;
    struct fetch_response_diverging_epoch diverging_epoch;
    struct leader_id_and_epoch current_leader;
    struct fetch_response_snapshot_id snapshot_id;
    ARRAY_OF(struct fetch_response_aborted_transaction) aborted_transactions;
    int32_t preferred_read_replica;
    struct records records;
};

struct fetch_response_topic {
    struct str topic;
    struct uuid topic_id;
    ARRAY_OF(struct fetch_response_partition) partitions;
};

struct fetch_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    int32_t session_id;
    ARRAY_OF(struct fetch_response_topic) responses;
    ARRAY_OF(struct node_endpoint) node_endpoints;
};

extern const struct shape fetch_request_replica_state_shape;
extern const struct shape fetch_request_partition_shape;
extern const struct shape fetch_request_topic_shape;
extern const struct shape fetch_request_forgotten_topic_shape;
extern const struct shape fetch_response_diverging_epoch_shape;
extern const struct shape fetch_response_snapshot_id_shape;
extern const struct shape fetch_response_aborted_transaction_shape;
extern const struct shape fetch_response_partition_shape;
extern const struct shape fetch_response_topic_shape;
extern const struct message_shape fetch_request_shape, fetch_response_shape;

#endif
