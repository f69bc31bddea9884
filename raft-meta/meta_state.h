// SPDX-License-Identifier: Apache-2.0
/* What the cluster agreed on, as meta_apply changes it. A copy is cheap and shares what did not
 * change (meta_view.h); everything in it is a value that is never changed in place.
 *
 * One thread changes a state; copies belong to whoever has them. */

#ifndef META_STATE_H
#define META_STATE_H

#include <stdint.h>

#include "meta_command.h"
#include "meta_resources.h"
#include "meta_settings.h"
#include "meta_view.h"
#include "shared_table.h"

struct broker_list; /* Counted by reference. */

struct meta_state {
    int64_t index;                                     /* Of the last entry applied. */
    int64_t term;                                      /* Of that entry. */
    char cluster_id[META_CLUSTER_ID_SIZE];             /* "": none yet. */
    struct broker_list *brokers;                       /* NULL: none. */
    struct meta_broker_settings_list *broker_settings; /* NULL: none. */
    struct meta_resources resources;                   /* Groups and the like with settings. */
    struct shared_table by_name;
    struct shared_table by_id;
    unsigned topic_count;
    uint64_t partition_count;
    int64_t next_producer_id;
    uint64_t hash_key[2]; /* Of this process: names come from clients. */
};

void meta_state_init(struct meta_state *state, const uint64_t hash_key[2]);
void meta_state_copy(struct meta_state *copy, const struct meta_state *state);
void meta_state_close(struct meta_state *state);

unsigned meta_state_broker_count(const struct meta_state *state);
const struct meta_broker *meta_state_broker_at(const struct meta_state *state, unsigned index);
const struct meta_broker *meta_state_broker(const struct meta_state *state, int32_t id);

/* Borrowed, NULL: there is none. */
struct meta_topic *meta_state_topic(const struct meta_state *state, struct str name);
struct meta_topic *meta_state_topic_by_id(const struct meta_state *state, const struct uuid *id);

/* A topic whose name is `name` or differs from it only in . and _, which metrics cannot tell
 * apart. */
struct meta_topic *meta_state_topic_like(const struct meta_state *state, struct str name);

const struct meta_topic *meta_state_next_topic(const struct meta_state *state,
                                               struct meta_topic_cursor *cursor);

/* Adds, replaces (same id and name) or removes. 0 or ERR_NO_MEMORY: the state is useless then. */
int meta_state_change_topic(struct meta_state *state, const struct meta_topic *before,
                            struct meta_topic *after);

/* Adds or replaces the broker of that id; copies it. 0 or ERR_NO_MEMORY. */
int meta_state_put_broker(struct meta_state *state, const struct meta_broker *broker);

/* The settings of that broker are these from now on; copies them. 0 or ERR_NO_MEMORY. */
int meta_state_put_broker_settings(struct meta_state *state,
                                   const struct meta_broker_settings *settings);

/* One piece of memory with a copy of all that `topic` points to, and one reference; NULL: no
 * memory. */
struct meta_topic *meta_topic_copy(const struct meta_topic *topic);

/* A view of the state as it is now, with one reference; NULL: no memory. */
struct meta_view *meta_view_create(const struct meta_state *state, int32_t controller,
                                   uint64_t version);

#endif
