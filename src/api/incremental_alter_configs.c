// SPDX-License-Identifier: Apache-2.0
#include "config_change.h"
#include "error.h"
#include "handlers.h"

static void reply(struct config_changes *changes)
{
    struct call *call = changes->call;
    struct incremental_alter_configs_response response;
    message_defaults(&incremental_alter_configs_response_shape, &response);
    response.responses.items = call_alloc(call, changes->count + 1u,
                                          sizeof *response.responses.items);
    if (response.responses.items == NULL) return;
    response.responses.count = (int32_t)changes->count;
    for (unsigned i = 0; i < changes->count; i++)
        response.responses.items[i] = (struct incremental_alter_configs_response_resource){
            .error_code = error_kafka_code(changes->items[i].err),
            .error_message = changes->items[i].why,
            .resource_type = changes->items[i].resource_type,
            .resource_name = changes->items[i].resource_name,
        };
    api_reply(call, &incremental_alter_configs_response_shape, &response);
}

static int convert(struct call *call,
                   const struct incremental_alter_configs_request_resource *resource,
                   struct config_change *item)
{
    int err = config_change_init(item, call, resource->resource_type, resource->resource_name,
                                 resource->configs.count);
    if (err != 0) return err;
    for (unsigned i = 0; i < item->change_count; i++) {
        const struct incremental_alter_configs_request_config *config = &resource->configs.items[i];
        item->changes[i].name = config->name;
        item->changes[i].value = config->value;
        if (config->config_operation < META_SETTING_SET ||
            config->config_operation > META_SETTING_SUBTRACT)
            item->unknown_operation = config->config_operation;
        else
            item->changes[i].op = config->config_operation;
    }
    return 0;
}

void handle_incremental_alter_configs(struct api_loop *loop, struct call *call,
                                      struct incremental_alter_configs_request *request)
{
    int err = 0;
    struct config_changes *changes = config_changes_new(call, request->resources.count,
                                                        request->validate_only, reply);
    if (changes == NULL) return;
    for (unsigned i = 0; err == 0 && i < changes->count; i++)
        err = convert(call, &request->resources.items[i], &changes->items[i]);
    if (err != 0)
        call_refuse(call, error_text(err));
    else
        config_changes_run(loop, changes);
}
