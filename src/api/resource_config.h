// SPDX-License-Identifier: Apache-2.0
/* What settings groups and subscriptions to clients' metrics have: a table for each, and what is checked of
 * any of them. They are kept in the quorum (meta_view_resource()), as texts. */

#ifndef API_RESOURCE_CONFIG_H
#define API_RESOURCE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker_config.h"
#include "bytes.h"
#include "meta_view.h"

struct resource_config_row {
    const char *name;
    enum config_type type;
    const char *default_value; /* NULL: the first item of the broker's setting. */
    int64_t least;             /* Of a number. */
    const char *broker;        /* Which setting of a broker gives the default; NULL: none. */
    const char *broker_least;  /* Which says how small a value may be, and */
    const char *broker_most;   /* … how large; NULL: none does. */
    bool (*is_legal)(struct str value); /* Of a text; NULL: any is. */
    const char *legal;                  /* Which texts are, for a sentence. */
    bool is_hidden; /* Told only where it is set, and as it was: Kafka's own, for its tests. */
    const char *meaning;
};

/* Ascending by name. */
struct resource_config {
    const struct resource_config_row *rows;
    unsigned count;
};

extern const struct resource_config group_config, client_metrics_config;

/* NULL: there is none. */
const struct resource_config_row *resource_config_find(const struct resource_config *config,
                                                       struct str name);

/* Is every value of its type and range? 0, or ERR_INVALID_CONFIG with a sentence. All names are known. */
int resource_config_check_values(const struct resource_config *config,
                                 const struct meta_setting *settings, unsigned count, char *why,
                                 size_t why_size);

/* The next item of a list, without white around it; empty ones, too. False: that was the last. The list
 * begins as what is left of it, and must have an item. */
bool resource_config_next_item(struct str *rest, struct str *item);

/* May a resource have these, as struct meta_alter_settings asks? `broker_config` is a struct broker_config;
 * what it was started with counts. Any thread. */
int group_config_check(const void *broker_config, const struct meta_setting *settings,
                       unsigned count, char *why, size_t why_size);
int client_metrics_config_check(const void *broker_config, const struct meta_setting *settings,
                                unsigned count, char *why, size_t why_size);

/* What a group has that says nothing itself: the layers of the broker's setting, or else the default. Fills
 * `synonyms`, at least one, the one that counts first; the count. */
unsigned group_config_defaults(const struct resource_config_row *row,
                               const struct broker_config *broker_config,
                               struct broker_config_layers layers,
                               struct config_synonym synonyms[CONFIG_SYNONYMS_MAX]);

#endif
