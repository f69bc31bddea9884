// SPDX-License-Identifier: Apache-2.0
#include "delete_topics.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct delete_topics_request_topic
static const struct field delete_topics_request_topic_fields[] = {
    FIELD(name,     "name",    6, 6, STRING, NULLABLE(6, 6), DEFAULT_NULL),
    FIELD(topic_id, "topicId", 6, 6, UUID),
};
#undef OWNER
const struct shape delete_topics_request_topic_shape = SHAPE(delete_topics_request_topic);

#define OWNER struct delete_topics_request
static const struct field delete_topics_request_fields[] = {
    STRUCTS(topics,      "topics",     6, 6, delete_topics_request_topic),
    ARRAY(  topic_names, "topicNames", 1, 5, STRING, IGNORABLE),
    FIELD(  timeout_ms,  "timeoutMs",  1, 6, INT32),
};
#undef OWNER
const struct message_shape delete_topics_request_shape =
    MESSAGE(delete_topics_request, "DeleteTopicsRequest", 1, 6, 4);

#define OWNER struct delete_topics_response_topic
static const struct field delete_topics_response_topic_fields[] = {
    FIELD(name,          "name",         1, 6, STRING, NULLABLE(6, 6)),
    FIELD(topic_id,      "topicId",      6, 6, UUID, IGNORABLE),
    FIELD(error_code,    "errorCode",    1, 6, INT16),
    FIELD(error_message, "errorMessage", 5, 6, STRING, NULLABLE(5, 6), DEFAULT_NULL, IGNORABLE),
};
#undef OWNER
const struct shape delete_topics_response_topic_shape = SHAPE(delete_topics_response_topic);

#define OWNER struct delete_topics_response
static const struct field delete_topics_response_fields[] = {
    FIELD(  throttle_time_ms, "throttleTimeMs", 1, 6, INT32, IGNORABLE),
    STRUCTS(responses,        "responses",      1, 6, delete_topics_response_topic),
};
#undef OWNER
const struct message_shape delete_topics_response_shape =
    MESSAGE(delete_topics_response, "DeleteTopicsResponse", 1, 6, 4);
