// SPDX-License-Identifier: Apache-2.0
#include "describe_producers.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct describe_producers_request_topic
static const struct field describe_producers_request_topic_fields[] = {
    FIELD(name,              "name",             0, 0, STRING),
    ARRAY(partition_indexes, "partitionIndexes", 0, 0, INT32),
};
#undef OWNER
const struct shape describe_producers_request_topic_shape = SHAPE(describe_producers_request_topic);

#define OWNER struct describe_producers_request
static const struct field describe_producers_request_fields[] = {
    STRUCTS(topics, "topics", 0, 0, describe_producers_request_topic),
};
#undef OWNER
const struct message_shape describe_producers_request_shape =
    MESSAGE(describe_producers_request, "DescribeProducersRequest", 0, 0, 0);

#define OWNER struct describe_producers_response_producer
static const struct field describe_producers_response_producer_fields[] = {
    FIELD(producer_id,              "producerId",            0, 0, INT64),
    FIELD(producer_epoch,           "producerEpoch",         0, 0, INT32),
    FIELD(last_sequence,            "lastSequence",          0, 0, INT32, DEFAULT(-1)),
    FIELD(last_timestamp,           "lastTimestamp",         0, 0, INT64, DEFAULT(-1)),
    FIELD(coordinator_epoch,        "coordinatorEpoch",      0, 0, INT32),
    FIELD(current_txn_start_offset, "currentTxnStartOffset", 0, 0, INT64, DEFAULT(-1)),
};
#undef OWNER
const struct shape describe_producers_response_producer_shape = SHAPE(describe_producers_response_producer);

#define OWNER struct describe_producers_response_partition
static const struct field describe_producers_response_partition_fields[] = {
    FIELD(  partition_index,  "partitionIndex",  0, 0, INT32),
    FIELD(  error_code,       "errorCode",       0, 0, INT16),
    FIELD(  error_message,    "errorMessage",    0, 0, STRING, NULLABLE(0, 0), DEFAULT_NULL),
    STRUCTS(active_producers, "activeProducers", 0, 0, describe_producers_response_producer),
};
#undef OWNER
const struct shape describe_producers_response_partition_shape = SHAPE(describe_producers_response_partition);

#define OWNER struct describe_producers_response_topic
static const struct field describe_producers_response_topic_fields[] = {
    FIELD(  name,       "name",       0, 0, STRING),
    STRUCTS(partitions, "partitions", 0, 0, describe_producers_response_partition),
};
#undef OWNER
const struct shape describe_producers_response_topic_shape = SHAPE(describe_producers_response_topic);

#define OWNER struct describe_producers_response
static const struct field describe_producers_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 0, 0, INT32),
    STRUCTS(topics,           "topics",         0, 0, describe_producers_response_topic),
};
#undef OWNER
const struct message_shape describe_producers_response_shape =
    MESSAGE(describe_producers_response, "DescribeProducersResponse", 0, 0, 0);
