// SPDX-License-Identifier: Apache-2.0
#include "dispatch.h"
#include "error.h"
#include "handlers.h"

#define MAX_ROWS 128

/* From version 5 on a client says whom it means to reach, by cluster and node; 0 if that is us. */
static int check_destination(const struct api_loop *loop,
                             const struct api_versions_request *request)
{
    bool names_cluster = !str_is_null(request->cluster_id);
    bool names_node = request->node_id != -1;
    if (names_cluster != names_node) return ERR_INVALID_REQUEST;
    if (!names_cluster) return 0;
    bool is_us = str_equals_text(request->cluster_id, meta_view_cluster_id(loop->view)) &&
                 request->node_id == loop->api->options.node_id;
    return is_us ? 0 : ERR_REBOOTSTRAP_REQUIRED;
}

/* KIP-511: names and versions of client software are for metrics, so their letters are limited. */
static bool software_name_is_legal(struct str name)
{
    if (name.length <= 0) return false;
    for (int32_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                               (c >= 'A' && c <= 'Z');
        bool is_inner = i > 0 && i < name.length - 1;
        if (!is_alphanumeric && !(is_inner && (c == '.' || c == '-'))) return false;
    }
    return true;
}

void handle_api_versions(struct api_loop *loop, struct call *call,
                         struct api_versions_request *request)
{
    struct api_versions_response response;
    message_defaults(&api_versions_response_shape, &response);
    struct api_versions_response_api_key keys[MAX_ROWS];
    unsigned count;
    const struct api_row *rows = api_rows(&count);
    for (unsigned i = 0; i < count; i++) {
        keys[i].api_key = rows[i].key;
        keys[i].min_version = rows[i].told_first;
        keys[i].max_version = rows[i].last;
    }
    int err = 0;
    if (call->api_version >= 3 && (!software_name_is_legal(request->client_software_name) ||
                                   !software_name_is_legal(request->client_software_version)))
        err = ERR_INVALID_REQUEST;
    if (err == 0) err = check_destination(loop, request);
    response.error_code = error_kafka_code(err);
    if (err == 0) {
        response.api_keys.items = keys;
        response.api_keys.count = (int32_t)count;
    }
    api_reply(call, &api_versions_response_shape, &response);
}

void handle_unknown_api_versions(struct api_loop *loop, struct call *call)
{
    (void)loop;
    const struct api_row *row = api_row(call->api_key);
    struct api_versions_response_api_key own = { row->key, row->told_first, row->last };
    struct api_versions_response response;
    message_defaults(&api_versions_response_shape, &response);
    response.error_code = error_kafka_code(ERR_UNSUPPORTED_VERSION);
    response.api_keys.items = &own;
    response.api_keys.count = 1;
    api_reply_version(call, &api_versions_response_shape, 0, &response);
}
