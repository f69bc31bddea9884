// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "handlers.h"

enum { ENDPOINT_OF_BROKERS = 1, ENDPOINT_OF_CONTROLLERS = 2 };

/* Clients reach brokers here; controllers have no listener for them (KIP-919). */
static int check_endpoint(int8_t type, const char **why)
{
    if (type == ENDPOINT_OF_BROKERS) return 0;
    if (type == ENDPOINT_OF_CONTROLLERS) {
        *why = "The request was meant for a controller's endpoint, and this is a broker's.";
        return ERR_MISMATCHED_ENDPOINT_TYPE;
    }
    *why = "There is no such type of endpoint.";
    return ERR_UNSUPPORTED_ENDPOINT_TYPE;
}

/* False: no memory. */
static bool answer_brokers(struct call *call, bool with_fenced,
                           struct describe_cluster_response *response)
{
    struct meta_view *view = call_loop(call)->view;
    unsigned count = meta_view_broker_count(view);
    struct describe_cluster_response_broker *brokers = arena_calloc(&call->arena, count + 1u,
                                                                    sizeof *brokers);
    int32_t told = 0;
    for (unsigned i = 0; brokers != NULL && i < count; i++) {
        const struct meta_broker *broker = meta_view_broker_at(view, i);
        const struct meta_endpoint *endpoint = api_endpoint(call, broker);
        if (endpoint == NULL || (broker->fenced && !with_fenced)) continue;
        brokers[told++] = (struct describe_cluster_response_broker){
            .broker_id = broker->id,
            .host = str_from(endpoint->host),
            .port = endpoint->port,
            .rack = str_from(broker->rack),
            .is_fenced = broker->fenced,
        };
    }
    response->brokers.items = brokers;
    response->brokers.count = told;
    return brokers != NULL;
}

void handle_describe_cluster(struct api_loop *loop, struct call *call,
                             struct describe_cluster_request *request)
{
    struct describe_cluster_response response;
    const char *why = NULL;
    message_defaults(&describe_cluster_response_shape, &response);
    int err = check_endpoint(request->endpoint_type, &why);
    response.error_code = error_kafka_code(err);
    response.error_message = str_from(why);
    if (err != 0) {
        api_reply(call, &describe_cluster_response_shape, &response);
        return;
    }
    response.cluster_id = str_from(meta_view_cluster_id(loop->view));
    response.controller_id = meta_view_controller(loop->view);
    if (request->include_cluster_authorized_operations)
        response.cluster_authorized_operations = CLUSTER_OPERATIONS;
    if (answer_brokers(call, request->include_fenced_brokers, &response))
        api_reply(call, &describe_cluster_response_shape, &response);
    else
        call_refuse(call, error_text(ERR_NO_MEMORY));
}
