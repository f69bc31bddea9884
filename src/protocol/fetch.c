// SPDX-License-Identifier: Apache-2.0
#include "fetch.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct fetch_request_replica_state
static const struct field fetch_request_replica_state_fields[] = {
    FIELD(replica_id,    "replicaId",    15, 18, INT32, DEFAULT(-1)),
    FIELD(replica_epoch, "replicaEpoch", 15, 18, INT64, DEFAULT(-1)),
};
#undef OWNER
const struct shape fetch_request_replica_state_shape = SHAPE(fetch_request_replica_state);

#define OWNER struct fetch_request_partition
static const struct field fetch_request_partition_fields[] = {
    FIELD(partition,            "partition",           4, 18, INT32),
    FIELD(current_leader_epoch, "currentLeaderEpoch",  9, 18, INT32, DEFAULT(-1), IGNORABLE),
    FIELD(fetch_offset,         "fetchOffset",         4, 18, INT64),
    FIELD(last_fetched_epoch,   "lastFetchedEpoch",   12, 18, INT32, DEFAULT(-1)),
    FIELD(log_start_offset,     "logStartOffset",      5, 18, INT64, DEFAULT(-1), IGNORABLE),
    FIELD(partition_max_bytes,  "partitionMaxBytes",   4, 18, INT32),
    FIELD(replica_directory_id, "replicaDirectoryId", 17, 18, UUID, TAGGED(0, 17, 18), IGNORABLE),
    FIELD(high_watermark,       "highWatermark",      18, 18, INT64, TAGGED(1, 18, 18), DEFAULT(INT64_MAX), IGNORABLE),
};
#undef OWNER
const struct shape fetch_request_partition_shape = SHAPE(fetch_request_partition);

#define OWNER struct fetch_request_topic
static const struct field fetch_request_topic_fields[] = {
    FIELD(  topic,      "topic",       4, 12, STRING, IGNORABLE),
    FIELD(  topic_id,   "topicId",    13, 18, UUID, IGNORABLE),
    STRUCTS(partitions, "partitions",  4, 18, fetch_request_partition),
};
#undef OWNER
const struct shape fetch_request_topic_shape = SHAPE(fetch_request_topic);

#define OWNER struct fetch_request_forgotten_topic
static const struct field fetch_request_forgotten_topic_fields[] = {
    FIELD(topic,      "topic",       7, 12, STRING, IGNORABLE),
    FIELD(topic_id,   "topicId",    13, 18, UUID, IGNORABLE),
    ARRAY(partitions, "partitions",  7, 18, INT32),
};
#undef OWNER
const struct shape fetch_request_forgotten_topic_shape = SHAPE(fetch_request_forgotten_topic);

#define OWNER struct fetch_request
static const struct field fetch_request_fields[] = {
    FIELD(  cluster_id,            "clusterId",           12, 18, STRING, NULLABLE(12, 18), TAGGED(0, 12, 18), DEFAULT_NULL, IGNORABLE),
    FIELD(  replica_id,            "replicaId",            4, 14, INT32, DEFAULT(-1)),
    STRUCT( replica_state,         "replicaState",        15, 18, fetch_request_replica_state, TAGGED(1, 15, 18)),
    FIELD(  max_wait_ms,           "maxWaitMs",            4, 18, INT32),
    FIELD(  min_bytes,             "minBytes",             4, 18, INT32),
    FIELD(  max_bytes,             "maxBytes",             4, 18, INT32, DEFAULT(INT32_MAX), IGNORABLE),
    FIELD(  isolation_level,       "isolationLevel",       4, 18, INT8, IGNORABLE),
    FIELD(  session_id,            "sessionId",            7, 18, INT32, IGNORABLE),
    FIELD(  session_epoch,         "sessionEpoch",         7, 18, INT32, DEFAULT(-1), IGNORABLE),
    STRUCTS(topics,                "topics",               4, 18, fetch_request_topic),
    STRUCTS(forgotten_topics_data, "forgottenTopicsData",  7, 18, fetch_request_forgotten_topic),
    FIELD(  rack_id,               "rackId",              11, 18, STRING, IGNORABLE),
};
#undef OWNER
const struct message_shape fetch_request_shape =
    MESSAGE(fetch_request, "FetchRequest", 4, 18, 12);

#define OWNER struct fetch_response_diverging_epoch
static const struct field fetch_response_diverging_epoch_fields[] = {
    FIELD(epoch,      "epoch",     12, 18, INT32, DEFAULT(-1)),
    FIELD(end_offset, "endOffset", 12, 18, INT64, DEFAULT(-1)),
};
#undef OWNER
const struct shape fetch_response_diverging_epoch_shape = SHAPE(fetch_response_diverging_epoch);

#define OWNER struct fetch_response_snapshot_id
static const struct field fetch_response_snapshot_id_fields[] = {
    FIELD(end_offset, "endOffset", 12, 18, INT64, DEFAULT(-1)),
    FIELD(epoch,      "epoch",     12, 18, INT32, DEFAULT(-1)),
};
#undef OWNER
const struct shape fetch_response_snapshot_id_shape = SHAPE(fetch_response_snapshot_id);

#define OWNER struct fetch_response_aborted_transaction
static const struct field fetch_response_aborted_transaction_fields[] = {
    FIELD(producer_id,  "producerId",  4, 18, INT64),
    FIELD(first_offset, "firstOffset", 4, 18, INT64),
};
#undef OWNER
const struct shape fetch_response_aborted_transaction_shape =
    SHAPE(fetch_response_aborted_transaction);

#define OWNER struct fetch_response_partition
static const struct field fetch_response_partition_fields[] = {
    FIELD(  partition_index,        "partitionIndex",        4, 18, INT32),
    FIELD(  error_code,             "errorCode",             4, 18, INT16),
    FIELD(  high_watermark,         "highWatermark",         4, 18, INT64),
    FIELD(  last_stable_offset,     "lastStableOffset",      4, 18, INT64, DEFAULT(-1), IGNORABLE),
    FIELD(  log_start_offset,       "logStartOffset",        5, 18, INT64, DEFAULT(-1), IGNORABLE),
    STRUCT( diverging_epoch,        "divergingEpoch",       12, 18, fetch_response_diverging_epoch, TAGGED(0, 12, 18)),
    STRUCT( current_leader,         "currentLeader",        12, 18, leader_id_and_epoch, TAGGED(1, 12, 18)),
    STRUCT( snapshot_id,            "snapshotId",           12, 18, fetch_response_snapshot_id, TAGGED(2, 12, 18)),
    STRUCTS(aborted_transactions,   "abortedTransactions",   4, 18, fetch_response_aborted_transaction, NULLABLE(4, 18), IGNORABLE),
    FIELD(  preferred_read_replica, "preferredReadReplica", 11, 18, INT32, DEFAULT(-1)),
    FIELD(  records,                "records",               4, 18, RECORDS, NULLABLE(4, 18)),
};
#undef OWNER
const struct shape fetch_response_partition_shape = SHAPE(fetch_response_partition);

#define OWNER struct fetch_response_topic
static const struct field fetch_response_topic_fields[] = {
    FIELD(  topic,      "topic",       4, 12, STRING, IGNORABLE),
    FIELD(  topic_id,   "topicId",    13, 18, UUID, IGNORABLE),
    STRUCTS(partitions, "partitions",  4, 18, fetch_response_partition),
};
#undef OWNER
const struct shape fetch_response_topic_shape = SHAPE(fetch_response_topic);

#define OWNER struct fetch_response
static const struct field fetch_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs",  4, 18, INT32, IGNORABLE),
    FIELD(  error_code,       "errorCode",       7, 18, INT16, IGNORABLE),
    FIELD(  session_id,       "sessionId",       7, 18, INT32),
    STRUCTS(responses,        "responses",       4, 18, fetch_response_topic),
    STRUCTS(node_endpoints,   "nodeEndpoints",  16, 18, node_endpoint, TAGGED(0, 16, 18)),
};
#undef OWNER
const struct message_shape fetch_response_shape =
    MESSAGE(fetch_response, "FetchResponse", 4, 18, 12);
