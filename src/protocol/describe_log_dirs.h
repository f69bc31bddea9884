// SPDX-License-Identifier: Apache-2.0
/* DescribeLogDirs (key 35): data folders, and how much of them each partition takes. */

#ifndef PROTOCOL_DESCRIBE_LOG_DIRS_H
#define PROTOCOL_DESCRIBE_LOG_DIRS_H

#include "codec.h"

struct describe_log_dirs_request_topic {
    struct str topic;
    ARRAY_OF(int32_t) partitions;
};

struct describe_log_dirs_request {
    ARRAY_OF(struct describe_log_dirs_request_topic) topics;
};

struct describe_log_dirs_response_partition {
    int32_t partition_index;
    int64_t partition_size;
    int64_t offset_lag;
    bool is_future_key;
};

struct describe_log_dirs_response_topic {
    struct str name;
    ARRAY_OF(struct describe_log_dirs_response_partition) partitions;
};

struct describe_log_dirs_response_result {
    int16_t error_code;
    struct str log_dir;
    ARRAY_OF(struct describe_log_dirs_response_topic) topics;
    int64_t total_bytes;
    int64_t usable_bytes;
    bool is_cordoned;
};

struct describe_log_dirs_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    ARRAY_OF(struct describe_log_dirs_response_result) results;
};

extern const struct shape describe_log_dirs_request_topic_shape;
extern const struct shape describe_log_dirs_response_partition_shape;
extern const struct shape describe_log_dirs_response_topic_shape;
extern const struct shape describe_log_dirs_response_result_shape;
extern const struct message_shape describe_log_dirs_request_shape, describe_log_dirs_response_shape;

#endif
