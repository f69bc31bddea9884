// SPDX-License-Identifier: Apache-2.0
/* DescribeCluster (key 60): who is in the cluster, and where. */

#ifndef PROTOCOL_DESCRIBE_CLUSTER_H
#define PROTOCOL_DESCRIBE_CLUSTER_H

#include "codec.h"

struct describe_cluster_request {
    bool include_cluster_authorized_operations;
    int8_t endpoint_type;
    bool include_fenced_brokers;
};

struct describe_cluster_response_broker {
    int32_t broker_id;
    struct str host;
    int32_t port;
    struct str rack;
    bool is_fenced;
};

struct describe_cluster_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    struct str error_message;
    int8_t endpoint_type;
    struct str cluster_id;
    int32_t controller_id;
    ARRAY_OF(struct describe_cluster_response_broker) brokers;
    int32_t cluster_authorized_operations;
};

extern const struct shape describe_cluster_response_broker_shape;
extern const struct message_shape describe_cluster_request_shape, describe_cluster_response_shape;

#endif
