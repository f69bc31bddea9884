// SPDX-License-Identifier: Apache-2.0
/* CreatePartitions (key 37): more partitions for topics that there are. */

#ifndef PROTOCOL_CREATE_PARTITIONS_H
#define PROTOCOL_CREATE_PARTITIONS_H

#include "codec.h"

struct create_partitions_request_assignment {
    ARRAY_OF(int32_t) broker_ids;
};

struct create_partitions_request_topic {
    struct str name;
    int32_t count;
    ARRAY_OF(struct create_partitions_request_assignment) assignments;
};

struct create_partitions_request {
    ARRAY_OF(struct create_partitions_request_topic) topics;
    int32_t timeout_ms;
    bool validate_only;
};

struct create_partitions_response_topic {
    struct str name;
    int16_t error_code;
    struct str error_message;
};

struct create_partitions_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct create_partitions_response_topic) results;
};

extern const struct shape create_partitions_request_assignment_shape;
extern const struct shape create_partitions_request_topic_shape;
extern const struct shape create_partitions_response_topic_shape;
extern const struct message_shape create_partitions_request_shape, create_partitions_response_shape;

#endif
