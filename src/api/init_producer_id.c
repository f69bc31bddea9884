// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "handlers.h"

static void reply(struct call *call, int err, int64_t producer_id)
{
    struct init_producer_id_response response;
    message_defaults(&init_producer_id_response_shape, &response);
    response.error_code = error_kafka_code(err);
    response.producer_id = err == 0 ? producer_id : -1;
    response.producer_epoch = err == 0 ? 0 : -1;
    api_reply(call, &init_producer_id_response_shape, &response);
}

struct init_call {
    struct producer_id_request request;
    struct call *call;
};

static void id_has_come(struct producer_id_request *request)
{
    struct init_call *init = LIST_OWNER(request, struct init_call, request);
    int err = request->err;
    /* The quorum is busy electing or the broker stops: the client may ask again. */
    if (err != 0) err = ERR_COORDINATOR_NOT_AVAILABLE;
    reply(init->call, err, request->producer_id);
}

void handle_init_producer_id(struct api_loop *loop, struct call *call,
                             struct init_producer_id_request *request)
{
    /* Transactional ids are refused until transactions work. KIP-360: id and epoch come together. */
    bool one_without_other = (request->producer_id == -1) != (request->producer_epoch == -1);
    if (!str_is_null(request->transactional_id) || one_without_other) {
        reply(call, ERR_INVALID_REQUEST, -1);
        return;
    }
    struct init_call *init = call_alloc(call, 1, sizeof *init);
    if (init == NULL) return;
    init->call = call;
    init->request.loop = loop->loop;
    init->request.done = id_has_come;
    producer_ids_take(loop->api->options.producer_ids, &init->request);
}
