// SPDX-License-Identifier: Apache-2.0
#include "topic_config.h"

void topic_config_resolve(const struct meta_topic *topic, const struct topic_config_base *base,
                          struct topic_settings *settings)
{
    struct topic_setting_row row;
    topic_settings_defaults(settings);
    for (unsigned i = 0; topic_settings_row(i, &row); i++) {
        enum config_source source;
        const char *value = topic_config_value(&row, topic, base, &source);
        if (source != CONFIG_SOURCE_DEFAULT)
            (void)topic_settings_set(settings, str_from(row.name), str_from(value));
    }
}

static const char *find(const char *name, const struct meta_setting *pairs, unsigned count)
{
    return name == NULL ? NULL : meta_setting_find(pairs, count, str_from(name));
}

static const char *find_set(const char *name, const struct meta_broker_settings *set)
{
    const char *value = set == NULL ? NULL : find(name, set->settings, set->count);
    /* A broker may say any number below 0 for no limit, a topic only this one. */
    bool is_unlimited = value != NULL && value[0] == '-' && strcmp(name, "log.retention.ms") == 0;
    return is_unlimited ? "-1" : value;
}

const char *topic_config_value(const struct topic_setting_row *row, const struct meta_topic *topic,
                               const struct topic_config_base *base, enum config_source *source)
{
    const char *value = find(row->name, topic->settings, topic->setting_count);
    *source = CONFIG_SOURCE_TOPIC;
    if (value == NULL) {
        value = find_set(row->broker_synonym, base->layers.own);
        *source = CONFIG_SOURCE_DYNAMIC_BROKER;
    }
    if (value == NULL) {
        value = find_set(row->broker_synonym, base->layers.all);
        *source = CONFIG_SOURCE_DYNAMIC_DEFAULT;
    }
    if (value == NULL) {
        value = find(row->name, base->defaults, base->default_count);
        *source = CONFIG_SOURCE_STATIC;
    }
    if (value == NULL) {
        value = row->default_value;
        *source = CONFIG_SOURCE_DEFAULT;
    }
    return value;
}
