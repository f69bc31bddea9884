// SPDX-License-Identifier: Apache-2.0
#include "alter_settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "topic_settings.h"
#include "trace.h"

static int refuse(struct meta_alter_settings *wanted, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(struct meta_alter_settings *wanted, int err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wanted->why, sizeof wanted->why, format, arguments);
    va_end(arguments);
    wanted->err = err;
    return err;
}

static int no_memory(struct meta_alter_settings *wanted)
{
    return refuse(wanted, ERR_NO_MEMORY, "%s", error_text(ERR_NO_MEMORY));
}

static bool row_of(struct str name, struct topic_setting_row *row)
{
    for (unsigned i = 0; topic_settings_row(i, row); i++)
        if (str_equals_text(name, row->name)) return true;
    return false;
}

/* A list that a topic's change of it begins with; NULL: it is no list. */
static const char *list_of_topic(struct str name)
{
    struct topic_setting_row row;
    bool is_list = row_of(name, &row) && strcmp(row.type, "list") == 0;
    return is_list ? row.default_value : NULL;
}

static int take_change(struct meta_alter_settings *wanted, const struct meta_wanted_change *from,
                       struct arena *arena, struct meta_setting_change *to)
{
    struct str name, value = STR_NULL;
    if (arena_str(arena, from->name, &name) != 0 ||
        (!str_is_null(from->value) && arena_str(arena, from->value, &value) != 0))
        return no_memory(wanted);
    *to = (struct meta_setting_change){ .name = name.data, .op = from->op };
    if (from->op == META_SETTING_DELETE) return 0;
    to->value = value.data;
    if (from->op == META_SETTING_SET) return 0;
    to->list = wanted->owner == META_SETTINGS_OF_TOPIC ? list_of_topic(from->name) : from->list;
    if (to->list != NULL) return 0;
    char shown[64];
    return refuse(wanted, ERR_INVALID_CONFIG,
                  "%s is not a list: nothing can be added to it or taken from it.",
                  trace_escape(shown, sizeof shown, from->name));
}

static int take_changes(struct meta_alter_settings *wanted, struct arena *arena,
                        struct meta_settings_change *change)
{
    struct meta_setting_change *changes = arena_calloc(arena, wanted->change_count + 1u,
                                                       sizeof *changes);
    if (changes == NULL) return no_memory(wanted);
    for (unsigned i = 0; i < wanted->change_count; i++) {
        int err = take_change(wanted, &wanted->changes[i], arena, &changes[i]);
        if (err != 0) return err;
    }
    *change = (struct meta_settings_change){ .replaces = wanted->replaces,
                                             .changes = changes,
                                             .count = wanted->change_count };
    return 0;
}

static int64_t lag(const struct meta_setting *settings, unsigned count, const char *name,
                   int64_t otherwise)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(settings[i].name, name) == 0) return strtoll(settings[i].value, NULL, 10);
    return otherwise;
}

int alter_settings_fit(const struct meta_setting *settings, unsigned count, char *why,
                       size_t why_size)
{
    int64_t least = lag(settings, count, "min.compaction.lag.ms", 0);
    int64_t most = lag(settings, count, "max.compaction.lag.ms", INT64_MAX);
    if (least <= most) return 0;
    snprintf(why, why_size, "min.compaction.lag.ms is more than max.compaction.lag.ms.");
    return ERR_INVALID_CONFIG;
}

/* Every setting that the topic would have. One that is there already is checked again, as Kafka does. */
static int check_result(struct meta_alter_settings *wanted, const struct meta_topic *topic,
                        const struct meta_settings_change *change, struct arena *arena)
{
    static const struct meta_topic nothing;
    struct meta_setting *settings;
    unsigned count;
    if (topic == NULL) topic = &nothing;
    if (meta_settings_apply(topic->settings, topic->setting_count, change, arena, &settings,
                            &count) != 0)
        return no_memory(wanted);
    for (unsigned i = 0; i < count; i++) {
        char why[META_WHY_SIZE];
        int err = topic_settings_check(str_from(settings[i].name), str_from(settings[i].value), why,
                                       sizeof why);
        if (err != 0) return refuse(wanted, err, "%s", why);
    }
    char why[META_WHY_SIZE];
    int err = alter_settings_fit(settings, count, why, sizeof why);
    return err == 0 ? 0 : refuse(wanted, err, "%s", why);
}

static int alter_topic(const struct controller *controller, struct meta_alter_settings *wanted,
                       struct arena *arena, struct meta_command *command)
{
    struct meta_settings_change change;
    const struct meta_topic *topic = meta_state_topic(controller->state, wanted->name);
    int err = take_changes(wanted, arena, &change);
    if (err == 0) err = check_result(wanted, topic, &change, arena);
    if (err != 0) return err;
    if (topic == NULL) {
        char shown[64];
        return refuse(wanted, ERR_UNKNOWN_TOPIC_OR_PARTITION, "There is no topic '%s'.",
                      trace_escape(shown, sizeof shown, wanted->name));
    }
    *command = (struct meta_command){ .kind = META_TOPIC_SETTINGS_CHANGED,
                                      .as.topic_settings_changed = { topic->id, change } };
    return 0;
}

/* As with a topic, also what was set before is checked again: it may have been legal with the settings
 * that brokers had then. */
static int alter_resource(const struct controller *controller, struct meta_alter_settings *wanted,
                          struct arena *arena, struct meta_command *command)
{
    static const struct meta_resource nothing;
    struct meta_settings_change change;
    struct meta_setting *settings;
    struct str name;
    unsigned count;
    char why[META_WHY_SIZE];
    int err = take_changes(wanted, arena, &change);
    if (err != 0) return err;
    const struct meta_resource *resource = meta_resources_find(&controller->state->resources,
                                                               wanted->resource_type, wanted->name);
    if (resource == NULL) resource = &nothing;
    if (arena_str(arena, wanted->name, &name) != 0 ||
        meta_settings_apply(resource->settings, resource->setting_count, &change, arena, &settings,
                            &count) != 0)
        return no_memory(wanted);
    err = wanted->check(wanted->check_context, settings, count, why, sizeof why);
    if (err != 0) return refuse(wanted, err, "%s", why);
    *command = (struct meta_command){ .kind = META_RESOURCE_SETTINGS_CHANGED,
                                      .as.resource_settings_changed = { wanted->resource_type,
                                                                        name.data, change } };
    return 0;
}

static int alter_broker(struct meta_alter_settings *wanted, struct arena *arena,
                        struct meta_command *command)
{
    struct meta_settings_change change;
    int err = take_changes(wanted, arena, &change);
    if (err == 0)
        *command = (struct meta_command){ .kind = META_BROKER_SETTINGS_CHANGED,
                                          .as.broker_settings_changed = { wanted->broker,
                                                                          change } };
    return err;
}

int controller_alter_settings(const struct controller *controller,
                              struct meta_alter_settings *wanted, struct arena *arena,
                              struct meta_command *command)
{
    wanted->err = 0;
    wanted->why[0] = '\0';
    switch (wanted->owner) {
    case META_SETTINGS_OF_TOPIC: return alter_topic(controller, wanted, arena, command);
    case META_SETTINGS_OF_RESOURCE: return alter_resource(controller, wanted, arena, command);
    case META_SETTINGS_OF_BROKER: break;
    }
    return alter_broker(wanted, arena, command);
}
