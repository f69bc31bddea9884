// SPDX-License-Identifier: Apache-2.0
/* CreateTopics (key 19): new topics, with replicas placed by us or by the client. */

#ifndef PROTOCOL_CREATE_TOPICS_H
#define PROTOCOL_CREATE_TOPICS_H

#include "codec.h"

struct create_topics_request_assignment {
    int32_t partition_index;
    ARRAY_OF(int32_t) broker_ids;
};

struct create_topics_request_config {
    struct str name;
    struct str value;
};

struct create_topics_request_topic {
    struct str name;
    int32_t num_partitions;
    int16_t replication_factor;
    ARRAY_OF(struct create_topics_request_assignment) assignments;
    ARRAY_OF(struct create_topics_request_config) configs;
};

struct create_topics_request {
    ARRAY_OF(struct create_topics_request_topic) topics;
    int32_t timeout_ms;
    bool validate_only;
};

struct create_topics_response_config {
    struct str name;
    struct str value;
    bool read_only;
    int8_t config_source;
    bool is_sensitive;
};

struct create_topics_response_topic {
    struct str name;
    struct uuid topic_id;
    int16_t error_code;
    struct str error_message;
    int16_t topic_config_error_code;
    int32_t num_partitions;
    int16_t replication_factor;
    ARRAY_OF(struct create_topics_response_config) configs;
};

struct create_topics_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct create_topics_response_topic) topics;
};

extern const struct shape create_topics_request_assignment_shape;
extern const struct shape create_topics_request_config_shape;
extern const struct shape create_topics_request_topic_shape;
extern const struct shape create_topics_response_config_shape;
extern const struct shape create_topics_response_topic_shape;
extern const struct message_shape create_topics_request_shape, create_topics_response_shape;

#endif
