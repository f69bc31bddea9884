// SPDX-License-Identifier: Apache-2.0
/* The settings that a topic really has: its own, else the broker's, else the default. */

#ifndef API_TOPIC_CONFIG_H
#define API_TOPIC_CONFIG_H

#include "meta_view.h"
#include "topic_settings.h"

/* `defaults` are the broker's. Every pair was checked before; what is not legal is passed over. */
void topic_config_resolve(const struct meta_topic *topic, const struct meta_setting *defaults,
                          unsigned default_count, struct topic_settings *settings);

/* ConfigSource of DescribeConfigs and CreateTopics. */
enum config_source {
    CONFIG_SOURCE_TOPIC = 1,
    CONFIG_SOURCE_BROKER = 4,
    CONFIG_SOURCE_DEFAULT = 5,
};

/* The value of one setting as text, and where it comes from. */
const char *topic_config_value(const struct topic_setting_row *row, const struct meta_topic *topic,
                               const struct meta_setting *defaults, unsigned default_count,
                               enum config_source *source);

#endif
