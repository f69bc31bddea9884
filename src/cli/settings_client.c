// SPDX-License-Identifier: Apache-2.0
#include "settings_client.h"

#include "error.h"
#include "output.h"

/* What IncrementalAlterConfigs calls an operation. */
#define OPERATION_SET    0
#define OPERATION_DELETE 1

/* What DescribeConfigs calls a source. */
enum {
    FROM_TOPIC = 1,
    FROM_BROKER = 2,
    FROM_ALL_BROKERS = 3,
    FROM_FILE = 4,
    FROM_DEFAULT = 5,
    FROM_LOGGER = 6,
    FROM_CLIENT_METRICS = 7,
    FROM_GROUP = 8,
};

static int name_keys(struct talk *talk, const struct operands *keys,
                     struct describe_configs_request_resource *resource)
{
    resource->configuration_keys.count = -1; /* all */
    if (keys == NULL || keys->count == 0) return 0;
    resource->configuration_keys.items = arena_calloc(&talk->arena, keys->count,
                                                      sizeof *resource->configuration_keys.items);
    if (resource->configuration_keys.items == NULL) return ERR_NO_MEMORY;
    resource->configuration_keys.count = (int32_t)keys->count;
    for (unsigned i = 0; i < keys->count; i++)
        resource->configuration_keys.items[i] = str_from(keys->items[i]);
    return 0;
}

int settings_ask(struct talk *talk, enum settings_owner type, const struct str *names,
                 int32_t count, const struct operands *keys, bool with_documentation,
                 struct describe_configs_response *response)
{
    struct describe_configs_request request;
    int16_t version = 0;
    message_defaults(&describe_configs_request_shape, &request);
    int err = admin_client_version(&talk->client, &admin_describe_configs, &version);
    if (err == 0)
        err = array_make(&describe_configs_request_resource_shape, count, &talk->arena,
                         &request.resources);
    for (int32_t i = 0; err == 0 && i < count; i++) {
        request.resources.items[i].resource_type = (int8_t)type;
        request.resources.items[i].resource_name = names[i];
        err = name_keys(talk, keys, &request.resources.items[i]);
    }
    request.include_synonyms = true;
    request.include_documentation = with_documentation && version >= 3;
    if (err == 0) err = talk_ask_in(talk, &admin_describe_configs, version, &request, response);
    return err;
}

int settings_change_parse(const char *pair, const char *option, struct settings_change *change)
{
    size_t name_length = 0;
    const char *value;
    if (text_split_pair(pair, &name_length, &value) != 0) {
        output_complain("%s takes NAME=VALUE, not '%s'", option, pair);
        return ERR_USAGE;
    }
    *change = (struct settings_change){ { pair, (int32_t)name_length }, value };
    return 0;
}

int settings_alter(struct talk *talk, enum settings_owner type, struct str name,
                   const struct settings_change *changes, unsigned count, bool dry_run,
                   struct incremental_alter_configs_response_resource *answer)
{
    struct incremental_alter_configs_request request;
    struct incremental_alter_configs_response response;
    message_defaults(&incremental_alter_configs_request_shape, &request);
    request.validate_only = dry_run;
    int err = array_make(&incremental_alter_configs_request_resource_shape, 1, &talk->arena,
                         &request.resources);
    if (err != 0) return err;
    struct incremental_alter_configs_request_resource *resource = &request.resources.items[0];
    resource->resource_type = (int8_t)type;
    resource->resource_name = name;
    err = array_make(&incremental_alter_configs_request_config_shape, (int32_t)count, &talk->arena,
                     &resource->configs);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        resource->configs.items[i].name = changes[i].name;
        resource->configs.items[i].value = str_from(changes[i].value);
        resource->configs.items[i].config_operation = changes[i].value == NULL ? OPERATION_DELETE
                                                                               : OPERATION_SET;
    }
    if (err == 0) err = talk_ask(talk, &admin_incremental_alter_configs, &request, &response);
    if (err != 0) return err;
    if (response.responses.count != 1) return ERR_MALFORMED;
    *answer = response.responses.items[0];
    return 0;
}

const char *settings_source_name(int8_t source)
{
    switch (source) {
    case FROM_TOPIC: return "topic";
    case FROM_BROKER: return "broker";
    case FROM_ALL_BROKERS: return "brokers";
    case FROM_FILE: return "file";
    case FROM_DEFAULT: return "default";
    case FROM_LOGGER: return "logger";
    case FROM_CLIENT_METRICS: return "client-metrics";
    case FROM_GROUP: return "group";
    default: return "unknown";
    }
}

bool settings_is_own(enum settings_owner type, struct str owner,
                     const struct describe_configs_response_config *config)
{
    if (type == SETTINGS_OF_TOPIC) return config->config_source == FROM_TOPIC;
    if (type == SETTINGS_OF_GROUP) return config->config_source == FROM_GROUP;
    if (type == SETTINGS_OF_CLIENT_METRICS) return config->config_source == FROM_CLIENT_METRICS;
    if (owner.length <= 0) return config->config_source == FROM_ALL_BROKERS;
    return config->config_source != FROM_DEFAULT;
}
