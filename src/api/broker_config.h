// SPDX-License-Identifier: Apache-2.0
/* The settings of a broker as clients see them: what the operator said, what was set at run time over
 * it, and what each setting is. */

#ifndef API_BROKER_CONFIG_H
#define API_BROKER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "meta_view.h"

/* ConfigSource of DescribeConfigs and CreateTopics. */
enum config_source {
    CONFIG_SOURCE_TOPIC = 1,
    CONFIG_SOURCE_DYNAMIC_BROKER = 2,
    CONFIG_SOURCE_DYNAMIC_DEFAULT = 3,
    CONFIG_SOURCE_STATIC = 4,
    CONFIG_SOURCE_DEFAULT = 5,
    CONFIG_SOURCE_CLIENT_METRICS = 7,
    CONFIG_SOURCE_GROUP = 8,
};

/* ConfigType of DescribeConfigs. */
enum config_type {
    CONFIG_TYPE_BOOLEAN = 1,
    CONFIG_TYPE_STRING,
    CONFIG_TYPE_INT,
    CONFIG_TYPE_SHORT,
    CONFIG_TYPE_LONG,
    CONFIG_TYPE_DOUBLE,
    CONFIG_TYPE_LIST,
    CONFIG_TYPE_CLASS,
    CONFIG_TYPE_PASSWORD,
};

struct broker_config_row {
    const char *name;
    enum config_type type;
    const char *value;         /* In effect since the start; NULL: none. */
    const char *said;          /* By the operator; NULL: nothing. */
    const char *default_value; /* NULL: none. */
    const char *documentation;
    bool is_dynamic;       /* It can be changed at run time, */
    bool is_of_one_broker; /* but not for all brokers. */
    bool is_told;          /* Clients are told of it. */
};

/* What was set at run time: on this broker, and on all. NULL: nothing. */
struct broker_config_layers {
    const struct meta_broker_settings *own, *all;
};

/* Immutable. The broker makes it; any thread may read it. */
struct broker_config {
    const struct broker_config_row *rows; /* Ascending by name. */
    unsigned count;

    /* May a dynamic one have this value instead of `current` (NULL: none)? 0, or ERR_INVALID_REQUEST
     * with a sentence in `why`. Any thread. */
    int (*check)(const struct broker_config *config, const struct broker_config_row *row,
                 struct str value, const char *current, char *why, size_t why_size);

    /* May what was set at run time be `after` where it was `before`? As above. */
    int (*check_together)(const struct broker_config *config, struct broker_config_layers before,
                          struct broker_config_layers after, char *why, size_t why_size);
};

const struct broker_config_row *broker_config_find(const struct broker_config *config,
                                                   struct str name);

struct broker_config_layers broker_config_layers(const struct meta_view *view, int32_t broker);

/* NULL: it has none of that name. */
const char *meta_setting_find(const struct meta_setting *settings, unsigned count, struct str name);

/* What was set of that name, on this broker or else on all; NULL: what was said at the start counts. */
const char *broker_config_changed(struct broker_config_layers layers, const char *name);

struct config_synonym {
    const char *name;
    const char *value;
    enum config_source source;
};

#define CONFIG_SYNONYMS_MAX 12 /* Three names in four layers. */

/* Where the value of a setting may come from, the one that counts first; KIP-226 has the order. As in
 * Kafka, what stands before the first of the setting's very name is not told. The count. */
unsigned broker_config_synonyms(const struct broker_config *config,
                                struct broker_config_layers layers, const char *name,
                                struct config_synonym synonyms[CONFIG_SYNONYMS_MAX]);

/* Was another name for the same set at run time, and this one not? Then Kafka has forgotten what the
 * operator said of this one. */
bool broker_config_is_hidden(struct broker_config_layers layers, const char *name);

#endif
