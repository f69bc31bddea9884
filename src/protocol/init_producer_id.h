// SPDX-License-Identifier: Apache-2.0
/* InitProducerId (key 22): the identity of an idempotent or transactional producer. */

#ifndef PROTOCOL_INIT_PRODUCER_ID_H
#define PROTOCOL_INIT_PRODUCER_ID_H

#include "codec.h"

struct init_producer_id_request {
    struct str transactional_id;
    int32_t transaction_timeout_ms;
    int64_t producer_id;
    int16_t producer_epoch;
};

struct init_producer_id_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    int64_t producer_id;
    int16_t producer_epoch;
};

extern const struct message_shape init_producer_id_request_shape, init_producer_id_response_shape;

#endif
