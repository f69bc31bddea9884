// SPDX-License-Identifier: Apache-2.0
/* How the settings of a topic or of a broker are changed: a list of changes makes another list of
 * them. The controller tries it before it grants, every node does it when it applies. */

#ifndef META_SETTINGS_H
#define META_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "bytes.h"
#include "meta_view.h"

/* KIP-339; as in IncrementalAlterConfigs. */
enum meta_setting_op {
    META_SETTING_SET = 0,
    META_SETTING_DELETE = 1,
    META_SETTING_APPEND = 2,   /* Items of a list that it does not have yet. */
    META_SETTING_SUBTRACT = 3, /* Items of a list. */
};

struct meta_setting_change {
    const char *name;
    enum meta_setting_op op;
    const char *value; /* NULL when one is deleted. */
    const char *list;  /* What append and subtract begin with where nothing is set; else NULL. */
};

struct meta_settings_change {
    bool replaces;                             /* All that was set before is gone (AlterConfigs). */
    const struct meta_setting_change *changes; /* Each name once. */
    unsigned count;
};

/* Settings ascending by name, from others that are. Texts of the result live in the arena or where they
 * came from. 0 or ERR_NO_MEMORY. */
int meta_settings_apply(const struct meta_setting *before, unsigned before_count,
                        const struct meta_settings_change *change, struct arena *arena,
                        struct meta_setting **after, unsigned *after_count);

/* A list as it is told: each item once, no white around them. NULL: no memory. */
const char *meta_settings_list(const char *text, struct arena *arena);

/* ---- the settings of brokers, of all that have some ---- */

struct meta_broker_settings_list; /* Counted by reference; never changed in place. */

void meta_broker_settings_ref(struct meta_broker_settings_list *list); /* NULL is fine. */
void meta_broker_settings_unref(struct meta_broker_settings_list *list);

unsigned meta_broker_settings_count(const struct meta_broker_settings_list *list);
const struct meta_broker_settings *meta_broker_settings_at(
    const struct meta_broker_settings_list *list, unsigned index);
const struct meta_broker_settings *meta_broker_settings_find(
    const struct meta_broker_settings_list *list, int32_t broker);

/* Another list with these settings for that broker (none: without it). 0 or ERR_NO_MEMORY. */
int meta_broker_settings_replace(const struct meta_broker_settings_list *list,
                                 const struct meta_broker_settings *settings,
                                 struct meta_broker_settings_list **result);

#endif
