// SPDX-License-Identifier: Apache-2.0
#include "broker_config.h"

#include <stdlib.h>

#define NAMES_MAX 3

const struct broker_config_row *broker_config_find(const struct broker_config *config,
                                                   struct str name)
{
    for (unsigned i = 0; i < config->count; i++)
        if (str_equals_text(name, config->rows[i].name)) return &config->rows[i];
    return NULL;
}

struct broker_config_layers broker_config_layers(const struct meta_view *view, int32_t broker)
{
    return (struct broker_config_layers){
        .own = meta_view_broker_settings(view, broker),
        .all = meta_view_broker_settings(view, META_EVERY_BROKER),
    };
}

const char *meta_setting_find(const struct meta_setting *settings, unsigned count, struct str name)
{
    for (unsigned i = 0; i < count; i++)
        if (str_equals_text(name, settings[i].name)) return settings[i].value;
    return NULL;
}

static const char *value_in(const struct meta_broker_settings *set, const char *name)
{
    return set == NULL ? NULL : meta_setting_find(set->settings, set->count, str_from(name));
}

const char *broker_config_changed(struct broker_config_layers layers, const char *name)
{
    const char *value = value_in(layers.own, name);
    return value != NULL ? value : value_in(layers.all, name);
}

/* Names for one thing; the finer wins. */
static const char *const families[][NAMES_MAX] = {
    { "log.retention.ms", "log.retention.minutes", "log.retention.hours" },
    { "log.roll.ms", "log.roll.hours", NULL },
    { "log.roll.jitter.ms", "log.roll.jitter.hours", NULL },
};
static const char *const flush_family[NAMES_MAX] = { "log.flush.interval.ms",
                                                     "log.flush.scheduler.interval.ms", NULL };

static void family_of(const char *name, const char *names[NAMES_MAX])
{
    names[0] = name;
    names[1] = names[2] = NULL;
    /* Not so the other way round: the scheduler's interval stands for itself. */
    if (strcmp(name, flush_family[0]) == 0) memcpy(names, flush_family, sizeof flush_family);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (unsigned j = 0; j < NAMES_MAX; j++)
            if (families[i][j] != NULL && strcmp(name, families[i][j]) == 0)
                memcpy(names, families[i], sizeof families[i]);
}

static const char *layer_value(const struct broker_config *config,
                               struct broker_config_layers layers, enum config_source source,
                               const char *name)
{
    const struct broker_config_row *row = broker_config_find(config, str_from(name));
    const struct meta_broker_settings *set = NULL;
    switch (source) {
    case CONFIG_SOURCE_DYNAMIC_BROKER: set = layers.own; break;
    case CONFIG_SOURCE_DYNAMIC_DEFAULT: set = layers.all; break;
    case CONFIG_SOURCE_STATIC: return row == NULL ? NULL : row->said;
    case CONFIG_SOURCE_DEFAULT: return row == NULL ? NULL : row->default_value;
    case CONFIG_SOURCE_TOPIC:
    case CONFIG_SOURCE_CLIENT_METRICS:
    case CONFIG_SOURCE_GROUP: break;
    }
    return value_in(set, name);
}

unsigned broker_config_synonyms(const struct broker_config *config,
                                struct broker_config_layers layers, const char *name,
                                struct config_synonym synonyms[CONFIG_SYNONYMS_MAX])
{
    const char *names[NAMES_MAX];
    unsigned count = 0;
    bool is_named = false;
    family_of(name, names);
    for (int source = CONFIG_SOURCE_DYNAMIC_BROKER; source <= CONFIG_SOURCE_DEFAULT; source++) {
        for (unsigned i = 0; i < NAMES_MAX && names[i] != NULL; i++) {
            const char *value = layer_value(config, layers, (enum config_source)source, names[i]);
            if (value == NULL) continue;
            is_named = is_named || strcmp(names[i], name) == 0;
            if (is_named)
                synonyms[count++] = (struct config_synonym){ names[i], value,
                                                             (enum config_source)source };
        }
    }
    return count;
}

static bool is_set(const struct meta_broker_settings *set, const char *name)
{
    return value_in(set, name) != NULL;
}

bool broker_config_is_hidden(struct broker_config_layers layers, const char *name)
{
    const char *names[NAMES_MAX];
    bool others = false;
    family_of(name, names);
    for (unsigned i = 0; i < NAMES_MAX && names[i] != NULL; i++) {
        bool is_this = strcmp(names[i], name) == 0;
        bool is_changed = is_set(layers.own, names[i]) || is_set(layers.all, names[i]);
        if (is_this && is_changed) return false;
        others = others || is_changed;
    }
    return others;
}
