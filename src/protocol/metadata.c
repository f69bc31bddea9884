// SPDX-License-Identifier: Apache-2.0
#include "metadata.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct metadata_request_topic
static const struct field metadata_request_topic_fields[] = {
    FIELD(topic_id, "topicId", 10, 13, UUID, IGNORABLE),
    FIELD(name,     "name",     0, 13, STRING, NULLABLE(10, 13)),
};
#undef OWNER
const struct shape metadata_request_topic_shape = SHAPE(metadata_request_topic);

#define OWNER struct metadata_request
static const struct field metadata_request_fields[] = {
    STRUCTS(topics,                                "topics",                             0, 13, metadata_request_topic, NULLABLE(1, 13)),
    FIELD(  allow_auto_topic_creation,             "allowAutoTopicCreation",             4, 13, BOOL, DEFAULT(true)),
    FIELD(  include_cluster_authorized_operations, "includeClusterAuthorizedOperations", 8, 10, BOOL),
    FIELD(  include_topic_authorized_operations,   "includeTopicAuthorizedOperations",   8, 13, BOOL),
};
#undef OWNER
const struct message_shape metadata_request_shape =
    MESSAGE(metadata_request, "MetadataRequest", 0, 13, 9);

#define OWNER struct metadata_response_broker
static const struct field metadata_response_broker_fields[] = {
    FIELD(node_id, "nodeId", 0, 13, INT32),
    FIELD(host,    "host",   0, 13, STRING),
    FIELD(port,    "port",   0, 13, INT32),
    FIELD(rack,    "rack",   1, 13, STRING, NULLABLE(1, 13), DEFAULT_NULL, IGNORABLE),
};
#undef OWNER
const struct shape metadata_response_broker_shape = SHAPE(metadata_response_broker);

#define OWNER struct metadata_response_partition
static const struct field metadata_response_partition_fields[] = {
    FIELD(error_code,       "errorCode",       0, 13, INT16),
    FIELD(partition_index,  "partitionIndex",  0, 13, INT32),
    FIELD(leader_id,        "leaderId",        0, 13, INT32),
    FIELD(leader_epoch,     "leaderEpoch",     7, 13, INT32, DEFAULT(-1), IGNORABLE),
    ARRAY(replica_nodes,    "replicaNodes",    0, 13, INT32),
    ARRAY(isr_nodes,        "isrNodes",        0, 13, INT32),
    ARRAY(offline_replicas, "offlineReplicas", 5, 13, INT32, IGNORABLE),
};
#undef OWNER
const struct shape metadata_response_partition_shape = SHAPE(metadata_response_partition);

#define OWNER struct metadata_response_topic
static const struct field metadata_response_topic_fields[] = {
    FIELD(  error_code,                  "errorCode",                  0, 13, INT16),
    FIELD(  name,                        "name",                       0, 13, STRING, NULLABLE(12, 13)),
    FIELD(  topic_id,                    "topicId",                   10, 13, UUID, IGNORABLE),
    FIELD(  is_internal,                 "isInternal",                 1, 13, BOOL, IGNORABLE),
    STRUCTS(partitions,                  "partitions",                 0, 13, metadata_response_partition),
    FIELD(  topic_authorized_operations, "topicAuthorizedOperations",  8, 13, INT32, DEFAULT(INT32_MIN)),
};
#undef OWNER
const struct shape metadata_response_topic_shape = SHAPE(metadata_response_topic);

#define OWNER struct metadata_response
static const struct field metadata_response_fields[] = {
    FIELD(  throttle_time_ms,              "throttleTimeMs",               3, 13, INT32, IGNORABLE),
    STRUCTS(brokers,                       "brokers",                      0, 13, metadata_response_broker),
    FIELD(  cluster_id,                    "clusterId",                    2, 13, STRING, NULLABLE(2, 13), DEFAULT_NULL, IGNORABLE),
    FIELD(  controller_id,                 "controllerId",                 1, 13, INT32, DEFAULT(-1), IGNORABLE),
    STRUCTS(topics,                        "topics",                       0, 13, metadata_response_topic),
    FIELD(  cluster_authorized_operations, "clusterAuthorizedOperations",  8, 10, INT32, DEFAULT(INT32_MIN)),
    FIELD(  error_code,                    "errorCode",                   13, 13, INT16, IGNORABLE),
};
#undef OWNER
const struct message_shape metadata_response_shape =
    MESSAGE(metadata_response, "MetadataResponse", 0, 13, 9);
