// SPDX-License-Identifier: Apache-2.0
/* DeleteTopics (key 20): by name up to version 5, by name or id in 6. */

#ifndef PROTOCOL_DELETE_TOPICS_H
#define PROTOCOL_DELETE_TOPICS_H

#include "codec.h"

struct delete_topics_request_topic {
    struct str name;
    struct uuid topic_id;
};

struct delete_topics_request {
    ARRAY_OF(struct delete_topics_request_topic) topics;
    ARRAY_OF(struct str) topic_names;
    int32_t timeout_ms;
};

struct delete_topics_response_topic {
    struct str name;
    struct uuid topic_id;
    int16_t error_code;
    struct str error_message;
};

struct delete_topics_response {
    int32_t throttle_time_ms;
    ARRAY_OF(struct delete_topics_response_topic) responses;
};

extern const struct shape delete_topics_request_topic_shape;
extern const struct shape delete_topics_response_topic_shape;
extern const struct message_shape delete_topics_request_shape, delete_topics_response_shape;

#endif
