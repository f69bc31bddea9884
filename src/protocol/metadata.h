// SPDX-License-Identifier: Apache-2.0
/* Metadata (key 3): brokers, topics and who leads what. */

#ifndef PROTOCOL_METADATA_H
#define PROTOCOL_METADATA_H

#include "codec.h"

struct metadata_request_topic {
    struct uuid topic_id;
    struct str name;
};

struct metadata_request {
    ARRAY_OF(struct metadata_request_topic) topics;
    bool allow_auto_topic_creation;
    bool include_cluster_authorized_operations;
    bool include_topic_authorized_operations;
};

struct metadata_response_broker {
    int32_t node_id;
    struct str host;
    int32_t port;
    struct str rack;
};

struct metadata_response_partition {
    int16_t error_code;
    int32_t partition_index;
    int32_t leader_id;
    int32_t leader_epoch;
    ARRAY_OF(int32_t) replica_nodes;
    ARRAY_OF(int32_t) isr_nodes;
    ARRAY_OF(int32_t) offline_replicas;
};

struct metadata_response_topic {
    int16_t error_code;
    struct str name;
    struct uuid topic_id;
    bool is_internal;
    ARRAY_OF(struct metadata_response_partition) partitions;
    int32_t topic_authorized_operations;
};

struct metadata_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct metadata_response_broker) brokers;
    struct str cluster_id;
    int32_t controller_id;
    ARRAY_OF(struct metadata_response_topic) topics;
    int32_t cluster_authorized_operations;
    int16_t error_code;
};

extern const struct shape metadata_request_topic_shape;
extern const struct shape metadata_response_broker_shape;
extern const struct shape metadata_response_partition_shape;
extern const struct shape metadata_response_topic_shape;
extern const struct message_shape metadata_request_shape, metadata_response_shape;

#endif
