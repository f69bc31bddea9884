// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "config_resource.h"
#include "error.h"
#include "handlers.h"

#define TYPES_SINCE 1 /* Before this version it is asked for client metrics alone. */

struct listing {
    struct call *call;
    struct list_config_resources_response_resource *resources;
    int32_t count;
};

/* No types: all. 0, or ERR_UNSUPPORTED_VERSION for one that nobody knows. */
static int wanted_types(const struct list_config_resources_request *request, unsigned *types)
{
    const unsigned known = CONFIG_RESOURCE_TOPIC | CONFIG_RESOURCE_BROKER |
                           CONFIG_RESOURCE_BROKER_LOGGER | CONFIG_RESOURCE_CLIENT_METRICS |
                           CONFIG_RESOURCE_GROUP;
    *types = request->resource_types.count > 0 ? 0 : known;
    for (int32_t i = 0; i < request->resource_types.count; i++) {
        int8_t type = request->resource_types.items[i];
        if (type <= 0 || (type & (type - 1)) != 0 || ((unsigned)type & known) == 0)
            return ERR_UNSUPPORTED_VERSION;
        *types |= (unsigned)type;
    }
    return 0;
}

static void list(struct listing *listing, enum config_resource_type type, struct str name)
{
    listing->resources[listing->count++] = (struct list_config_resources_response_resource){
        .resource_name = name,
        .resource_type = (int8_t)type,
    };
}

/* Each broker that is known has settings, and loggers for who asks. */
static int list_brokers(struct listing *listing, const struct meta_view *view, unsigned types)
{
    for (unsigned i = 0; i < meta_view_broker_count(view); i++) {
        char text[16];
        struct str name;
        snprintf(text, sizeof text, "%" PRId32, meta_view_broker_at(view, i)->id);
        if (arena_str(&listing->call->arena, str_from(text), &name) != 0) return ERR_NO_MEMORY;
        if (types & CONFIG_RESOURCE_BROKER_LOGGER)
            list(listing, CONFIG_RESOURCE_BROKER_LOGGER, name);
        if (types & CONFIG_RESOURCE_BROKER) list(listing, CONFIG_RESOURCE_BROKER, name);
    }
    return 0;
}

/* Whose names and types a request asks for. */
static void list_resources(struct listing *listing, const struct meta_view *view, unsigned types)
{
    struct meta_resource_cursor cursor = { 0, 0 };
    const struct meta_resource *resource;
    while ((resource = meta_view_next_resource(view, &cursor)) != NULL)
        if (types & (unsigned)resource->type)
            list(listing, (enum config_resource_type)resource->type, str_from(resource->name));
}

void handle_list_config_resources(struct api_loop *loop, struct call *call,
                                  struct list_config_resources_request *request)
{
    struct list_config_resources_response response;
    message_defaults(&list_config_resources_response_shape, &response);
    struct listing listing = { .call = call };
    const struct meta_topic *topic;
    unsigned types = CONFIG_RESOURCE_CLIENT_METRICS;
    int err = call->api_version < TYPES_SINCE ? 0 : wanted_types(request, &types);
    size_t most = meta_view_topic_count(loop->view) + 2 * meta_view_broker_count(loop->view) +
                  meta_view_resource_count(loop->view);
    listing.resources = call_alloc(call, most + 1, sizeof *listing.resources);
    if (listing.resources == NULL) return;
    if (err == 0 && list_brokers(&listing, loop->view, types) != 0) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    if (err == 0) list_resources(&listing, loop->view, types);
    struct meta_topic_cursor cursor = { 0, 0 };
    while (err == 0 && (types & CONFIG_RESOURCE_TOPIC) &&
           (topic = meta_view_next_topic(loop->view, &cursor)) != NULL)
        list(&listing, CONFIG_RESOURCE_TOPIC, str_from(topic->name));
    response.error_code = error_kafka_code(err);
    response.config_resources.items = listing.resources;
    response.config_resources.count = listing.count;
    api_reply(call, &list_config_resources_response_shape, &response);
}
