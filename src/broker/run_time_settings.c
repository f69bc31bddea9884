// SPDX-License-Identifier: Apache-2.0
#include "run_time_settings.h"

#include <stdlib.h>

#define MAX_CONNECTIONS        "max.connections"
#define MAX_CONNECTIONS_PER_IP "max.connections.per.ip"
#define CLEANER_BACKOFF        "log.cleaner.backoff.ms"
#define CLEANER_RATE           "log.cleaner.io.max.bytes.per.second"

static const char *const names[] = { MAX_CONNECTIONS, MAX_CONNECTIONS_PER_IP, CLEANER_BACKOFF,
                                     CLEANER_RATE };

bool run_time_settings_has(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

bool run_time_settings_takes(const char *name, const char *value)
{
    return strcmp(name, CLEANER_RATE) != 0 || strtod(value, NULL) > 0;
}

/* As text; it was checked before it was granted. */
static const char *value_of(const struct run_time_settings *settings,
                            struct broker_config_layers layers, const char *name)
{
    const char *value = NULL;
    if (layers.own != NULL)
        value = meta_setting_find(layers.own->settings, layers.own->count, str_from(name));
    if (value == NULL && layers.all != NULL)
        value = meta_setting_find(layers.all->settings, layers.all->count, str_from(name));
    return value != NULL ? value : broker_config_find(settings->config, str_from(name))->value;
}

static int64_t number_of(const struct run_time_settings *settings,
                         struct broker_config_layers layers, const char *name)
{
    return strtoll(value_of(settings, layers, name), NULL, 10);
}

void run_time_settings_apply(const struct run_time_settings *settings, const struct meta_view *view)
{
    struct broker_config_layers layers = broker_config_layers(view, settings->node_id);
    net_set_max_connections(settings->net, (int32_t)number_of(settings, layers, MAX_CONNECTIONS),
                            (int32_t)number_of(settings, layers, MAX_CONNECTIONS_PER_IP));
    partition_set_pace_cleaner(settings->partitions, number_of(settings, layers, CLEANER_BACKOFF),
                               strtod(value_of(settings, layers, CLEANER_RATE), NULL));
}
