// SPDX-License-Identifier: Apache-2.0
/* Shows settings of topics, brokers, groups and client metrics, and where their values come from. */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "buffer.h"
#include "commands.h"
#include "config_owner.h"
#include "error.h"
#include "output.h"

struct get_settings {
    struct config_owner_settings owner;
    bool only_own, with_synonyms, with_explanations;
};

static int compare_configs(const void *a, const void *b)
{
    return str_compare(((const struct describe_configs_response_config *)a)->name,
                       ((const struct describe_configs_response_config *)b)->name);
}

static bool is_shown(const struct get_settings *settings, const struct config_owner *owner,
                     const struct describe_configs_response_config *config)
{
    return !settings->only_own || settings_is_own(owner->type, owner->name, config);
}

static struct str shown_value(const struct describe_configs_response_config *config)
{
    if (config->is_sensitive) return STR_LITERAL("(secret)");
    return config->value.length < 0 ? STR_LITERAL("(none)") : config->value;
}

/* "broker log.retention.ms=1, default log.retention.hours=168": where the value would come from
 * instead, the nearest first. */
static void synonyms_cell(struct table *table,
                          const struct describe_configs_response_config *config)
{
    struct buffer text;
    if (config->synonyms.count <= 0) {
        table_text(table, STR_LITERAL("(none)"));
        return;
    }
    buffer_init(&text);
    for (int32_t i = 0; i < config->synonyms.count; i++) {
        const struct describe_configs_response_synonym *synonym = &config->synonyms.items[i];
        const char *source = settings_source_name(synonym->source);
        if (i > 0) buffer_put(&text, ", ", 2);
        buffer_put(&text, source, strlen(source));
        buffer_put(&text, " ", 1);
        if (synonym->name.length > 0)
            buffer_put(&text, synonym->name.data, (size_t)synonym->name.length);
        buffer_put(&text, "=", 1);
        if (synonym->value.length > 0)
            buffer_put(&text, synonym->value.data, (size_t)synonym->value.length);
    }
    if (text.failed) table->failed = true;
    table_text(table, (struct str){ (const char *)text.data, (int32_t)text.length });
    buffer_close(&text);
}

static int print_configs(const struct get_settings *settings, const struct config_owner *owner,
                         const struct describe_configs_response_result *result)
{
    static const char *const headings[] = { "SETTING", "VALUE", "SOURCE", "SYNONYMS" };
    struct table table;
    table_init(&table, headings, settings->with_synonyms ? 4 : 3, isatty(STDOUT_FILENO));
    for (int32_t i = 0; i < result->configs.count; i++) {
        const struct describe_configs_response_config *config = &result->configs.items[i];
        if (!is_shown(settings, owner, config)) continue;
        table_text(&table, config->name);
        table_text(&table, shown_value(config));
        table_text(&table, str_from(settings_source_name(config->config_source)));
        if (settings->with_synonyms) synonyms_cell(&table, config);
    }
    int err = table_print(&table, stdout);
    table_close(&table);
    return err;
}

static const char *type_name(int8_t type)
{
    static const char *const names[] = { "unknown", "boolean", "string", "int",   "short",
                                         "long",    "double",  "list",   "class", "password" };
    return type >= 0 && (size_t)type < sizeof names / sizeof *names ? names[type] : names[0];
}

/* A paragraph for each: a table would be too wide. */
static void print_explanations(const struct get_settings *settings,
                               const struct config_owner *owner,
                               const struct describe_configs_response_result *result)
{
    for (int32_t i = 0; i < result->configs.count; i++) {
        const struct describe_configs_response_config *config = &result->configs.items[i];
        if (!is_shown(settings, owner, config)) continue;
        output_text("", config->name);
        output_text("=", shown_value(config));
        printf("  (%s, %s%s)\n", type_name(config->config_type),
               settings_source_name(config->config_source), config->read_only ? ", read-only" : "");
        if (config->documentation.length > 0) {
            output_text("    ", config->documentation);
            putchar('\n');
        }
    }
}

static json_t *json_of_synonyms(const struct describe_configs_response_config *config)
{
    json_t *array = json_array();
    for (int32_t i = 0; i < config->synonyms.count; i++) {
        const struct describe_configs_response_synonym *from = &config->synonyms.items[i];
        json_t *object = json_object();
        if (json_array_append_new(array, object) != 0 ||
            json_set_bytes(object, "name", from->name.data, from->name.length) != 0 ||
            json_set_bytes(object, "value", from->value.data, from->value.length) != 0 ||
            json_object_set_new(object, "source",
                                json_string(settings_source_name(from->source))) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *json_of_config(const struct describe_configs_response_config *config,
                              bool with_explanations)
{
    json_t *object = json_object();
    int failed = json_set_bytes(object, "name", config->name.data, config->name.length);
    failed |= json_set_bytes(object, "value", config->value.data, config->value.length);
    failed |= json_object_set_new(object, "source",
                                  json_string(settings_source_name(config->config_source)));
    failed |= json_object_set_new(object, "type", json_string(type_name(config->config_type)));
    failed |= json_object_set_new(object, "read_only", json_boolean(config->read_only));
    failed |= json_object_set_new(object, "secret", json_boolean(config->is_sensitive));
    failed |= json_object_set_new(object, "synonyms", json_of_synonyms(config));
    if (with_explanations)
        failed |= json_set_bytes(object, "meaning", config->documentation.data,
                                 config->documentation.length);
    if (failed == 0) return object;
    json_decref(object);
    return NULL;
}

static int print_configs_json(const struct get_settings *settings, const struct config_owner *owner,
                              const struct describe_configs_response_result *result)
{
    json_t *array = json_array();
    for (int32_t i = 0; i < result->configs.count; i++) {
        const struct describe_configs_response_config *config = &result->configs.items[i];
        if (!is_shown(settings, owner, config)) continue;
        if (json_array_append_new(array, json_of_config(config, settings->with_explanations)) !=
            0) {
            json_decref(array);
            return ERR_NO_MEMORY;
        }
    }
    return json_print(array, true, stdout);
}

/* A broker leaves out what it does not know. */
static enum status complain_of_missing(const struct config_owner *owner,
                                       const struct operands *names,
                                       const struct describe_configs_response_result *result)
{
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < names->count; i++) {
        bool is_found = false;
        for (int32_t at = 0; at < result->configs.count && !is_found; at++)
            is_found = str_equals_text(result->configs.items[at].name, names->items[i]);
        if (is_found) continue;
        output_complain("%s%s has no setting '%s'", owner->kind, owner->text, names->items[i]);
        status = STATUS_FAILED;
    }
    return status;
}

static enum status show_result(const struct get_settings *settings,
                               const struct config_owner *owner, const struct operands *names,
                               const struct describe_configs_response *response, int *err)
{
    if (response->results.count != 1) {
        *err = ERR_MALFORMED;
        return STATUS_FAILED;
    }
    const struct describe_configs_response_result *result = &response->results.items[0];
    if (result->error_code != 0) {
        config_owner_complain(owner, "settings cannot be shown", result->error_code,
                              result->error_message);
        return STATUS_FAILED;
    }
    if (result->configs.count > 1)
        qsort(result->configs.items, (size_t)result->configs.count, sizeof result->configs.items[0],
              compare_configs);
    if (settings->owner.common.as_json)
        *err = print_configs_json(settings, owner, result);
    else if (settings->with_explanations)
        print_explanations(settings, owner, result);
    else
        *err = print_configs(settings, owner, result);
    if (output_finish() != 0) return STATUS_FAILED;
    return complain_of_missing(owner, names, result);
}

static enum status run_get(const void *given, const struct operands *operands)
{
    const struct get_settings *settings = given;
    struct config_owner owner;
    if (config_owner_find(&settings->owner, &owner) != STATUS_OK) return STATUS_USAGE;
    struct talk talk;
    struct describe_configs_response response;
    enum status status = STATUS_FAILED;
    int err = config_owner_open(&talk, &settings->owner.common, &owner);
    if (err == 0)
        err = settings_ask(&talk, owner.type, &owner.name, 1, operands, settings->with_explanations,
                           &response);
    if (err == 0) status = show_result(settings, &owner, operands, &response, &err);
    return talk_close(&talk, err) == STATUS_OK ? status : STATUS_FAILED;
}

/* clang-format off */
static const struct option_row get_options[] = {
    CONFIG_OWNER_OPTIONS,
    { "own", 'o', OPTION_FLAG, offsetof(struct get_settings, only_own), 0, 0,
      NULL, "only what was set here, no defaults" },
    { "synonyms", 's', OPTION_FLAG, offsetof(struct get_settings, with_synonyms), 0, 0,
      NULL, "where else a value could come from, the nearest first" },
    { "explain", 'e', OPTION_FLAG, offsetof(struct get_settings, with_explanations), 0, 0,
      NULL, "the type and meaning of each" },
};
/* clang-format on */

#define SOURCES                                                                                    \
    "A value's source is topic, group or client-metrics (set for it), broker or brokers (set at\n" \
    "run time, for one or for all), file (the broker's properties, command line or "               \
    "environment),\n"                                                                              \
    "or default.\n"

const struct command config_get_command = {
    .name = "config get",
    .operands = "[SETTING…]",
    .most_operands = UINT_MAX,
    .summary = "Show settings of a topic, broker or group: all, or those named",
    .about = SOURCES,
    .example = "  sluice config get --topic orders retention.ms --synonyms\n"
               "  sluice config get --broker 1 --own\n"
               "  sluice config get --group payments --own\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = get_options,
    .option_count = sizeof get_options / sizeof get_options[0],
    .settings_size = sizeof(struct get_settings),
    .run = run_get,
};
