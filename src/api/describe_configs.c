// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "config_resource.h"
#include "config_value.h"
#include "error.h"
#include "handlers.h"
#include "meta_settings.h"
#include "resource_config.h"
#include "topic_config.h"

#define TOPIC_SETTINGS_MAX 64 /* More than there are. */

/* One resource of a request. */
struct description {
    struct api_loop *loop;
    struct call *call;
    const struct describe_configs_request *request;
    const struct describe_configs_request_resource *resource;
    struct describe_configs_response_result *result;
    struct broker_config_layers layers;
    bool has_failed; /* Out of memory. */
};

static void refuse(struct description *description, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void refuse(struct description *description, int err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct str why = config_resource_sentence(&description->call->arena, format, arguments);
    va_end(arguments);
    description->result->error_code = error_kafka_code(err);
    description->result->error_message = why;
}

/* No keys, or none named: all. */
static bool is_wanted(const struct description *description, const char *name)
{
    const struct describe_configs_request_resource *resource = description->resource;
    if (resource->configuration_keys.count <= 0) return true;
    for (int32_t i = 0; i < resource->configuration_keys.count; i++)
        if (str_equals_text(resource->configuration_keys.items[i], name)) return true;
    return false;
}

static void put_synonyms(struct description *description,
                         struct describe_configs_response_config *config,
                         const struct config_synonym *synonyms, unsigned count)
{
    config->config_source = count > 0 ? (int8_t)synonyms[0].source : CONFIG_SOURCE_DEFAULT;
    if (!description->request->include_synonyms || count == 0) return;
    config->synonyms.items = arena_calloc(&description->call->arena, count,
                                          sizeof *config->synonyms.items);
    if (config->synonyms.items == NULL) {
        description->has_failed = true;
        return;
    }
    config->synonyms.count = (int32_t)count;
    for (unsigned i = 0; i < count; i++)
        config->synonyms.items[i] = (struct describe_configs_response_synonym){
            .name = str_from(synonyms[i].name),
            .value = config->is_sensitive ? STR_NULL : str_from(synonyms[i].value),
            .source = (int8_t)synonyms[i].source,
        };
}

/* ---- topics ---- */

static enum config_type topic_type(const char *type)
{
    static const struct {
        const char *name;
        enum config_type type;
    } types[] = { { "boolean", CONFIG_TYPE_BOOLEAN }, { "string", CONFIG_TYPE_STRING },
                  { "int", CONFIG_TYPE_INT },         { "long", CONFIG_TYPE_LONG },
                  { "double", CONFIG_TYPE_DOUBLE },   { "list", CONFIG_TYPE_LIST } };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, type) == 0) return types[i].type;
    return CONFIG_TYPE_STRING;
}

static void describe_setting(struct description *description, const struct meta_topic *topic,
                             const struct topic_setting_row *row,
                             struct describe_configs_response_config *config)
{
    const struct api_options *options = &description->loop->api->options;
    struct topic_config_base base = { options->topic_defaults, options->topic_default_count,
                                      description->layers };
    struct config_synonym synonyms[1 + CONFIG_SYNONYMS_MAX];
    enum config_source source;
    unsigned count = 0;
    const char *value = topic_config_value(row, topic, &base, &source);
    value = config_value_text(topic_type(row->type), value, &description->call->arena);
    if (value == NULL) {
        description->has_failed = true;
        return;
    }
    if (source == CONFIG_SOURCE_TOPIC)
        synonyms[count++] = (struct config_synonym){ row->name, value, source };
    if (row->broker_synonym != NULL)
        count += broker_config_synonyms(options->broker_config, description->layers,
                                        row->broker_synonym, synonyms + count);
    config->name = str_from(row->name);
    config->value = str_from(value);
    config->config_type = (int8_t)topic_type(row->type);
    config->documentation = description->request->include_documentation
                                ? str_from(topic_settings_meaning(row->name))
                                : STR_NULL;
    put_synonyms(description, config, synonyms, count);
}

static void describe_topic(struct description *description)
{
    struct str name = description->resource->resource_name;
    if (!topic_name_is_legal(name)) {
        refuse(description, ERR_INVALID_TOPIC, "%s", error_text(ERR_INVALID_TOPIC));
        return;
    }
    const struct meta_topic *topic = meta_view_topic(description->loop->view, name);
    if (topic == NULL) {
        refuse(description, ERR_UNKNOWN_TOPIC_OR_PARTITION, "%s", "");
        return;
    }
    struct describe_configs_response_config *configs = arena_calloc(
        &description->call->arena, TOPIC_SETTINGS_MAX, sizeof *configs);
    struct topic_setting_row row;
    int32_t count = 0;
    description->has_failed = configs == NULL;
    for (unsigned i = 0; configs != NULL && i < TOPIC_SETTINGS_MAX && topic_settings_row(i, &row);
         i++)
        if (is_wanted(description, row.name))
            describe_setting(description, topic, &row, &configs[count++]);
    description->result->configs.items = configs;
    description->result->configs.count = count;
}

/* ---- brokers ---- */

/* Of what was set for all brokers only that is told, and only as such. */
static unsigned keep_default_layer(struct config_synonym *synonyms, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++)
        if (synonyms[i].source == CONFIG_SOURCE_DYNAMIC_DEFAULT) synonyms[kept++] = synonyms[i];
    return kept;
}

static void describe_row(struct description *description, const struct broker_config_row *row,
                         bool is_every, struct describe_configs_response_config *config)
{
    struct config_synonym synonyms[CONFIG_SYNONYMS_MAX];
    unsigned count = broker_config_synonyms(description->loop->api->options.broker_config,
                                            description->layers, row->name, synonyms);
    if (is_every) count = keep_default_layer(synonyms, count);
    bool is_set = count > 0 && synonyms[0].source <= CONFIG_SOURCE_DYNAMIC_DEFAULT;
    const char *value = is_set ? synonyms[0].value
                        : broker_config_is_hidden(description->layers, row->name)
                            ? row->default_value
                            : row->value;
    const char *told = config_value_text(row->type, value, &description->call->arena);
    description->has_failed = description->has_failed || (value != NULL && told == NULL);
    config->name = str_from(row->name);
    config->is_sensitive = row->type == CONFIG_TYPE_PASSWORD;
    config->value = config->is_sensitive ? STR_NULL : str_from(told);
    config->read_only = !row->is_dynamic;
    config->config_type = (int8_t)row->type;
    config->documentation = description->request->include_documentation
                                ? str_from(row->documentation)
                                : STR_NULL;
    put_synonyms(description, config, synonyms, count);
}

static void describe_rows(struct description *description, bool is_every)
{
    const struct broker_config *broker = description->loop->api->options.broker_config;
    const struct meta_broker_settings *all = description->layers.all;
    struct describe_configs_response_config *configs = arena_calloc(
        &description->call->arena, broker->count + 1u, sizeof *configs);
    int32_t count = 0;
    description->has_failed = configs == NULL;
    for (unsigned i = 0; configs != NULL && i < broker->count; i++) {
        const struct broker_config_row *row = &broker->rows[i];
        if (!row->is_told || !is_wanted(description, row->name)) continue;
        if (is_every && (all == NULL ||
                         meta_setting_find(all->settings, all->count, str_from(row->name)) == NULL))
            continue;
        describe_row(description, row, is_every, &configs[count++]);
    }
    description->result->configs.items = configs;
    description->result->configs.count = count;
}

static void describe_broker(struct description *description)
{
    struct str name = description->resource->resource_name;
    int32_t node_id = description->loop->api->options.node_id, broker;
    if (name.length == 0) {
        describe_rows(description, true);
    } else if (!config_resource_broker(name, &broker)) {
        refuse(description, ERR_INVALID_REQUEST, "A broker is named by its id, which is a number.");
    } else if (broker != node_id) {
        refuse(description, ERR_INVALID_REQUEST,
               "This is broker %" PRId32 "; the settings of broker %" PRId32
               " are told by that one.",
               node_id, broker);
    } else {
        describe_rows(description, false);
    }
}

/* There are no loggers whose level could be told. */
static void describe_loggers(struct description *description)
{
    int32_t broker;
    if (!config_resource_broker(description->resource->resource_name, &broker) ||
        broker != description->loop->api->options.node_id)
        refuse(description, ERR_INVALID_REQUEST,
               "The loggers of this broker are those of %" PRId32 ".",
               description->loop->api->options.node_id);
}

/* ---- groups and subscriptions to clients' metrics ---- */

/* Which text is told of a value. */
static const char *resource_text(struct description *description,
                                 const struct resource_config_row *row, const char *value)
{
    if (row->is_hidden) return value;
    const char *told = config_value_text(row->type, value, &description->call->arena);
    description->has_failed = description->has_failed || (value != NULL && told == NULL);
    return told;
}

/* Of a broker's list what a group uses of it: the first. */
static struct str default_text(struct description *description,
                               const struct resource_config_row *row, const char *value)
{
    struct str rest = str_from(value), first = STR_NULL;
    if (row->default_value == NULL && resource_config_next_item(&rest, &first)) return first;
    return str_from(resource_text(description, row, value));
}

/* Where a group's value comes from; of a subscription's only whether it was set. */
static void describe_resource_row(struct description *description,
                                  const struct resource_config_row *row, const char *own,
                                  bool is_group, struct describe_configs_response_config *config)
{
    const struct broker_config *broker = description->loop->api->options.broker_config;
    struct config_synonym synonyms[1 + CONFIG_SYNONYMS_MAX];
    unsigned count = 0;
    config->value = str_from(row->default_value);
    if (own != NULL) {
        enum config_source source = is_group ? CONFIG_SOURCE_GROUP : CONFIG_SOURCE_CLIENT_METRICS;
        const char *told = resource_text(description, row, own);
        config->value = str_from(told);
        synonyms[count++] = (struct config_synonym){ row->name, told, source };
    }
    if (is_group) {
        struct config_synonym *defaults = synonyms + count;
        count += group_config_defaults(row, broker, description->layers, defaults);
        if (own == NULL) config->value = default_text(description, row, defaults[0].value);
    }
    config->name = str_from(row->name);
    config->config_type = (int8_t)row->type;
    config->documentation = description->request->include_documentation ? str_from(row->meaning)
                                                                        : STR_NULL;
    put_synonyms(description, config, synonyms, count);
}

/* One that nobody has set anything of has defaults all the same. */
static void describe_resource(struct description *description, enum meta_resource_type type)
{
    bool is_group = type == META_RESOURCE_GROUP;
    const struct resource_config *of_type = is_group ? &group_config : &client_metrics_config;
    struct str name = description->resource->resource_name;
    if (name.length == 0) {
        refuse(description, ERR_INVALID_REQUEST, "%s",
               is_group ? "A group has a name." : "A subscription has a name.");
        return;
    }
    const struct meta_resource *resource = meta_view_resource(description->loop->view, type, name);
    struct describe_configs_response_config *configs = arena_calloc(
        &description->call->arena, of_type->count, sizeof *configs);
    int32_t count = 0;
    description->has_failed = configs == NULL;
    for (unsigned i = 0; configs != NULL && i < of_type->count; i++) {
        const struct resource_config_row *row = &of_type->rows[i];
        const char *own = resource == NULL
                              ? NULL
                              : meta_setting_find(resource->settings, resource->setting_count,
                                                  str_from(row->name));
        if ((row->is_hidden && own == NULL) || !is_wanted(description, row->name)) continue;
        describe_resource_row(description, row, own, is_group, &configs[count++]);
    }
    description->result->configs.items = configs;
    description->result->configs.count = count;
}

/* ---- all ---- */

static void describe(struct description *description)
{
    const struct describe_configs_request_resource *resource = description->resource;
    struct describe_configs_response_result *result = description->result;
    result->resource_type = resource->resource_type;
    result->resource_name = resource->resource_name;
    result->error_message = STR_LITERAL(""); /* Kafka's: not null. */
    switch (resource->resource_type) {
    case CONFIG_RESOURCE_TOPIC: describe_topic(description); break;
    case CONFIG_RESOURCE_BROKER: describe_broker(description); break;
    case CONFIG_RESOURCE_BROKER_LOGGER: describe_loggers(description); break;
    case CONFIG_RESOURCE_CLIENT_METRICS:
        describe_resource(description, META_RESOURCE_CLIENT_METRICS);
        break;
    case CONFIG_RESOURCE_GROUP: describe_resource(description, META_RESOURCE_GROUP); break;
    default:
        refuse(description, ERR_INVALID_REQUEST, "There is no resource of type %d here.",
               resource->resource_type);
    }
}

void handle_describe_configs(struct api_loop *loop, struct call *call,
                             struct describe_configs_request *request)
{
    struct describe_configs_response response;
    message_defaults(&describe_configs_response_shape, &response);
    response.results.items = call_alloc(call, (size_t)request->resources.count + 1,
                                        sizeof *response.results.items);
    if (response.results.items == NULL) return;
    response.results.count = request->resources.count;
    for (int32_t i = 0; i < request->resources.count; i++) {
        struct description description = {
            .loop = loop,
            .call = call,
            .request = request,
            .resource = &request->resources.items[i],
            .result = &response.results.items[i],
            .layers = broker_config_layers(loop->view, loop->api->options.node_id),
        };
        describe(&description);
        if (description.has_failed) {
            call_refuse(call, error_text(ERR_NO_MEMORY));
            return;
        }
    }
    api_reply(call, &describe_configs_response_shape, &response);
}
