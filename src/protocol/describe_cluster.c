// SPDX-License-Identifier: Apache-2.0
#include "describe_cluster.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct describe_cluster_request
static const struct field describe_cluster_request_fields[] = {
    FIELD(include_cluster_authorized_operations, "includeClusterAuthorizedOperations", 0, 2, BOOL),
    FIELD(endpoint_type,                         "endpointType",                       1, 2, INT8, DEFAULT(1)),
    FIELD(include_fenced_brokers,                "includeFencedBrokers",               2, 2, BOOL),
};
#undef OWNER
const struct message_shape describe_cluster_request_shape =
    MESSAGE(describe_cluster_request, "DescribeClusterRequest", 0, 2, 0);

#define OWNER struct describe_cluster_response_broker
static const struct field describe_cluster_response_broker_fields[] = {
    FIELD(broker_id, "brokerId", 0, 2, INT32),
    FIELD(host,      "host",     0, 2, STRING),
    FIELD(port,      "port",     0, 2, INT32),
    FIELD(rack,      "rack",     0, 2, STRING, NULLABLE(0, 2), DEFAULT_NULL),
    FIELD(is_fenced, "isFenced", 2, 2, BOOL),
};
#undef OWNER
const struct shape describe_cluster_response_broker_shape = SHAPE(describe_cluster_response_broker);

#define OWNER struct describe_cluster_response
static const struct field describe_cluster_response_fields[] = {
    FIELD(  throttle_time_ms,              "throttleTimeMs",              0, 2, INT32),
    FIELD(  error_code,                    "errorCode",                   0, 2, INT16),
    FIELD(  error_message,                 "errorMessage",                0, 2, STRING, NULLABLE(0, 2), DEFAULT_NULL),
    FIELD(  endpoint_type,                 "endpointType",                1, 2, INT8, DEFAULT(1)),
    FIELD(  cluster_id,                    "clusterId",                   0, 2, STRING),
    FIELD(  controller_id,                 "controllerId",                0, 2, INT32, DEFAULT(-1)),
    STRUCTS(brokers,                       "brokers",                     0, 2, describe_cluster_response_broker),
    FIELD(  cluster_authorized_operations, "clusterAuthorizedOperations", 0, 2, INT32, DEFAULT(INT32_MIN)),
};
#undef OWNER
const struct message_shape describe_cluster_response_shape =
    MESSAGE(describe_cluster_response, "DescribeClusterResponse", 0, 2, 0);
