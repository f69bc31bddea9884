// SPDX-License-Identifier: Apache-2.0
#include "init_producer_id.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct init_producer_id_request
static const struct field init_producer_id_request_fields[] = {
    FIELD(transactional_id,       "transactionalId",      0, 5, STRING, NULLABLE(0, 5)),
    FIELD(transaction_timeout_ms, "transactionTimeoutMs", 0, 5, INT32),
    FIELD(producer_id,            "producerId",           3, 5, INT64, DEFAULT(-1)),
    FIELD(producer_epoch,         "producerEpoch",        3, 5, INT16, DEFAULT(-1)),
};
#undef OWNER
const struct message_shape init_producer_id_request_shape =
    MESSAGE(init_producer_id_request, "InitProducerIdRequest", 0, 5, 2);

#define OWNER struct init_producer_id_response
static const struct field init_producer_id_response_fields[] = {
    FIELD(throttle_time_ms, "throttleTimeMs", 0, 5, INT32, IGNORABLE),
    FIELD(error_code,       "errorCode",      0, 5, INT16),
    FIELD(producer_id,      "producerId",     0, 5, INT64, DEFAULT(-1)),
    FIELD(producer_epoch,   "producerEpoch",  0, 5, INT16),
};
#undef OWNER
const struct message_shape init_producer_id_response_shape =
    MESSAGE(init_producer_id_response, "InitProducerIdResponse", 0, 5, 2);
