// SPDX-License-Identifier: Apache-2.0
#include "talk.h"

#include <inttypes.h>
#include <stdio.h>

#include "describe_cluster.h"
#include "error.h"
#include "metadata.h"
#include "output.h"

/* Decoding a reply takes a small multiple of its bytes. */
#define ARENA_LIMIT ((size_t)1024 * 1024 * 1024)

int talk_open(struct talk *talk, const struct common_settings *common)
{
    arena_init(&talk->arena, NULL, 0, ARENA_LIMIT);
    return admin_client_open(&talk->client, common->bootstrap_server, common->timeout_s * 1000);
}

static int connect_at(struct admin_client *client, struct str host, int32_t port,
                      const struct common_settings *common)
{
    char address[300];
    bool is_ipv6 = host.length > 0 && memchr(host.data, ':', (size_t)host.length) != NULL;
    snprintf(address, sizeof address, is_ipv6 ? "[%.*s]:%" PRId32 : "%.*s:%" PRId32, host.length,
             host.length > 0 ? host.data : "", port);
    return admin_client_open(client, address, common->timeout_s * 1000);
}

int talk_open_at(struct talk *talk, struct str host, int32_t port,
                 const struct common_settings *common)
{
    arena_init(&talk->arena, NULL, 0, ARENA_LIMIT);
    return connect_at(&talk->client, host, port, common);
}

int talk_move(struct talk *talk, int32_t node_id, const struct common_settings *common)
{
    struct metadata_request request;
    struct metadata_response response;
    message_defaults(&metadata_request_shape, &request);
    request.allow_auto_topic_creation = false;
    int err = talk_ask(talk, &admin_metadata, &request, &response);
    if (err != 0) return err;
    for (int32_t i = 0; i < response.brokers.count; i++) {
        const struct metadata_response_broker *broker = &response.brokers.items[i];
        if (broker->node_id != node_id) continue;
        admin_client_close(&talk->client);
        err = connect_at(&talk->client, broker->host, broker->port, common);
        if (err != 0)
            snprintf(talk->client.hint, sizeof talk->client.hint,
                     "that is the address which broker %" PRId32
                     " tells of itself, its advertised.listeners",
                     node_id);
        return err;
    }
    snprintf(talk->client.failure, sizeof talk->client.failure,
             "there is no broker %" PRId32 " in this cluster", node_id);
    snprintf(talk->client.hint, sizeof talk->client.hint, "see: sluice cluster");
    return ERR_BROKER_NOT_AVAILABLE;
}

int talk_ask_in(struct talk *talk, const struct admin_api *api, int16_t version,
                const void *request, void *response)
{
    return admin_client_call(&talk->client, api, version, request, &talk->arena, response);
}

int talk_ask(struct talk *talk, const struct admin_api *api, const void *request, void *response)
{
    int16_t version = 0;
    int err = admin_client_version(&talk->client, api, &version);
    return err == 0 ? talk_ask_in(talk, api, version, request, response) : err;
}

enum status talk_close(struct talk *talk, int err)
{
    if (err != 0) {
        output_complain("%s",
                        talk->client.failure[0] != '\0' ? talk->client.failure : error_text(err));
        if (talk->client.hint[0] != '\0') output_hint("%s", talk->client.hint);
    }
    admin_client_close(&talk->client);
    arena_close(&talk->arena);
    return err == 0 ? STATUS_OK : STATUS_FAILED;
}
