// SPDX-License-Identifier: Apache-2.0
#include "topic_config.h"

static void set_all(struct topic_settings *settings, const struct meta_setting *pairs,
                    unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)topic_settings_set(settings, str_from(pairs[i].name), str_from(pairs[i].value));
}

void topic_config_resolve(const struct meta_topic *topic, const struct meta_setting *defaults,
                          unsigned default_count, struct topic_settings *settings)
{
    topic_settings_defaults(settings);
    set_all(settings, defaults, default_count);
    set_all(settings, topic->settings, topic->setting_count);
}

static const char *find(const char *name, const struct meta_setting *pairs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(pairs[i].name, name) == 0) return pairs[i].value;
    return NULL;
}

const char *topic_config_value(const struct topic_setting_row *row, const struct meta_topic *topic,
                               const struct meta_setting *defaults, unsigned default_count,
                               enum config_source *source)
{
    const char *value = find(row->name, topic->settings, topic->setting_count);
    *source = CONFIG_SOURCE_TOPIC;
    if (value == NULL) {
        value = find(row->name, defaults, default_count);
        *source = CONFIG_SOURCE_BROKER;
    }
    if (value == NULL) {
        value = row->default_value;
        *source = CONFIG_SOURCE_DEFAULT;
    }
    return value;
}
