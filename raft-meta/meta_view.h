// SPDX-License-Identifier: Apache-2.0
/* What the cluster agreed on, as everybody else reads it: immutable, reference-counted, any thread.
 *
 *  (1) A view never changes. A change makes a new one that shares everything untouched with the
 *      old: its cost is that of the topic that changed, not of the cluster (DESIGN 7.4).
 *  (2) Whoever holds a view may use all that hangs from it until it gives its reference back; a
 *      topic may also be held by itself. */

#ifndef META_VIEW_H
#define META_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "uuid.h"

struct meta_view;

struct meta_endpoint {
    const char *listener; /* Name of the listener, "PLAINTEXT". */
    const char *host;     /* What clients are told. */
    uint16_t port;
};

struct meta_broker {
    int32_t id;
    int64_t incarnation; /* Raft index of its registration: grows with every start. */
    const char *rack;    /* NULL: none. */
    bool fenced;
    const struct meta_endpoint *endpoints;
    unsigned endpoint_count;
};

struct meta_partition {
    int32_t leader; /* Broker id; -1: none. */
    int32_t leader_epoch;
    int32_t partition_epoch;
    const int32_t *replicas; /* The first is the preferred leader. */
    unsigned replica_count;
    const int32_t *isr;
    unsigned isr_count;
};

struct meta_setting {
    const char *name;
    const char *value;
};

/* Set at run time on one broker, or on all. */
struct meta_broker_settings {
    int32_t broker; /* META_EVERY_BROKER: of those that say nothing themselves. */
    unsigned count;
    const struct meta_setting *settings; /* Ascending by name; at least one. */
};
#define META_EVERY_BROKER (-1)

/* What has settings, but is nothing else that is agreed on. Numbers as in DescribeConfigs. */
enum meta_resource_type {
    META_RESOURCE_CLIENT_METRICS = 16, /* A subscription (KIP-714). */
    META_RESOURCE_GROUP = 32,          /* Of any kind, whether it has members or not (KIP-848). */
};

struct meta_resource {
    enum meta_resource_type type;
    const char *name;                    /* At least one character. */
    const struct meta_setting *settings; /* Ascending by name; at least one. */
    unsigned setting_count;
};

struct meta_topic {
    struct uuid id;
    const char *name;
    unsigned partition_count;
    const struct meta_partition *partitions;
    const struct meta_setting *settings; /* Set on the topic itself, ascending by name. */
    unsigned setting_count;
};

struct meta_view *meta_view_ref(struct meta_view *view);
void meta_view_unref(struct meta_view *view); /* NULL is fine. */

struct meta_topic *meta_topic_ref(const struct meta_topic *topic);
void meta_topic_unref(struct meta_topic *topic); /* NULL is fine. */

/* Grows with each that this node publishes. */
uint64_t meta_view_version(const struct meta_view *view);

int64_t meta_view_index(const struct meta_view *view);          /* Raft index applied last. */
const char *meta_view_cluster_id(const struct meta_view *view); /* 22 characters; "" if none yet. */
int32_t meta_view_controller(const struct meta_view *view); /* Broker id of the raft leader, -1. */

unsigned meta_view_broker_count(const struct meta_view *view);
const struct meta_broker *meta_view_broker_at(const struct meta_view *view, unsigned index);
const struct meta_broker *meta_view_broker(const struct meta_view *view, int32_t id); /* or NULL */

/* Of one broker, or META_EVERY_BROKER; NULL: none. */
const struct meta_broker_settings *meta_view_broker_settings(const struct meta_view *view,
                                                             int32_t broker);

/* NULL: it has no settings. */
const struct meta_resource *meta_view_resource(const struct meta_view *view,
                                               enum meta_resource_type type, struct str name);

/* Walks all that have settings, in any order, each once; as meta_view_next_topic(). */
struct meta_resource_cursor {
    unsigned bucket, position;
};
unsigned meta_view_resource_count(const struct meta_view *view);
const struct meta_resource *meta_view_next_resource(const struct meta_view *view,
                                                    struct meta_resource_cursor *cursor);

unsigned meta_view_topic_count(const struct meta_view *view);
uint64_t meta_view_partition_count(const struct meta_view *view);
const struct meta_topic *meta_view_topic(const struct meta_view *view, struct str name);
const struct meta_topic *meta_view_topic_by_id(const struct meta_view *view, const struct uuid *id);

/* Walks all topics, in any order, each once.
 * `for (struct meta_topic_cursor at = { 0 }; (topic = meta_view_next_topic(view, &at)) !=
 * NULL;)` */
struct meta_topic_cursor {
    unsigned bucket, position;
};
const struct meta_topic *meta_view_next_topic(const struct meta_view *view,
                                              struct meta_topic_cursor *cursor);

/* What one step changed. Exactly one of before and after is NULL for a created or deleted topic. */
struct meta_change {
    struct meta_topic *before;
    struct meta_topic *after;
};

#endif
