// SPDX-License-Identifier: Apache-2.0
/* DeleteRecords (key 21): logs begin later. */

#ifndef PROTOCOL_DELETE_RECORDS_H
#define PROTOCOL_DELETE_RECORDS_H

#include "codec.h"

struct delete_records_request_partition {
    int32_t partition_index;
    int64_t offset;
};

struct delete_records_request_topic {
    struct str name;
    ARRAY_OF(struct delete_records_request_partition) partitions;
};

struct delete_records_request {
    ARRAY_OF(struct delete_records_request_topic) topics;
    int32_t timeout_ms;
};

struct delete_records_response_partition {
    int32_t partition_index;
    int64_t low_watermark;
    int16_t error_code;
};

struct delete_records_response_topic {
    struct str name;
    ARRAY_OF(struct delete_records_response_partition) partitions;
};

struct delete_records_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct delete_records_response_topic) topics;
};

extern const struct shape delete_records_request_partition_shape;
extern const struct shape delete_records_request_topic_shape;
extern const struct shape delete_records_response_partition_shape;
extern const struct shape delete_records_response_topic_shape;
extern const struct message_shape delete_records_request_shape, delete_records_response_shape;

#endif
