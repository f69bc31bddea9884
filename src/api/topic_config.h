// SPDX-License-Identifier: Apache-2.0
/* The settings that a topic really has: its own, else what was set on the broker at run time, else the
 * operator's, else the default. */

#ifndef API_TOPIC_CONFIG_H
#define API_TOPIC_CONFIG_H

#include "broker_config.h"
#include "meta_view.h"
#include "topic_settings.h"

/* What a topic gets that says nothing itself. */
struct topic_config_base {
    const struct meta_setting *defaults; /* Of the operator, by the names of a topic's settings. */
    unsigned default_count;
    struct broker_config_layers layers; /* By the names of a broker's settings. */
};

/* Every pair was checked before; what is not legal is passed over. */
void topic_config_resolve(const struct meta_topic *topic, const struct topic_config_base *base,
                          struct topic_settings *settings);

/* The value of one setting as text, and where it comes from. */
const char *topic_config_value(const struct topic_setting_row *row, const struct meta_topic *topic,
                               const struct topic_config_base *base, enum config_source *source);

#endif
