// SPDX-License-Identifier: Apache-2.0
#include "meta_view.h"

#include <stdatomic.h>

#include "alloc.h"
#include "meta_state.h"

struct meta_view {
    atomic_uint refs;
    uint64_t version;
    int32_t controller;
    struct meta_state state;
};

struct meta_view *meta_view_create(const struct meta_state *state, int32_t controller,
                                   uint64_t version)
{
    struct meta_view *view = mem_alloc(sizeof *view);
    if (view == NULL) return NULL;
    atomic_init(&view->refs, 1);
    view->version = version;
    view->controller = controller;
    meta_state_copy(&view->state, state);
    return view;
}

uint64_t meta_view_version(const struct meta_view *view)
{
    return view->version;
}

struct meta_view *meta_view_ref(struct meta_view *view)
{
    atomic_fetch_add_explicit(&view->refs, 1, memory_order_relaxed);
    return view;
}

void meta_view_unref(struct meta_view *view)
{
    if (view == NULL || atomic_fetch_sub_explicit(&view->refs, 1, memory_order_acq_rel) != 1)
        return;
    meta_state_close(&view->state);
    mem_free(view);
}

int64_t meta_view_index(const struct meta_view *view)
{
    return view->state.index;
}

const char *meta_view_cluster_id(const struct meta_view *view)
{
    return view->state.cluster_id;
}

int32_t meta_view_controller(const struct meta_view *view)
{
    return view->controller;
}

unsigned meta_view_broker_count(const struct meta_view *view)
{
    return meta_state_broker_count(&view->state);
}

const struct meta_broker *meta_view_broker_at(const struct meta_view *view, unsigned index)
{
    return meta_state_broker_at(&view->state, index);
}

const struct meta_broker *meta_view_broker(const struct meta_view *view, int32_t id)
{
    return meta_state_broker(&view->state, id);
}

const struct meta_broker_settings *meta_view_broker_settings(const struct meta_view *view,
                                                             int32_t broker)
{
    return meta_broker_settings_find(view->state.broker_settings, broker);
}

const struct meta_resource *meta_view_resource(const struct meta_view *view,
                                               enum meta_resource_type type, struct str name)
{
    return meta_resources_find(&view->state.resources, type, name);
}

unsigned meta_view_resource_count(const struct meta_view *view)
{
    return view->state.resources.count;
}

const struct meta_resource *meta_view_next_resource(const struct meta_view *view,
                                                    struct meta_resource_cursor *cursor)
{
    return meta_resources_next(&view->state.resources, cursor);
}

unsigned meta_view_topic_count(const struct meta_view *view)
{
    return view->state.topic_count;
}

uint64_t meta_view_partition_count(const struct meta_view *view)
{
    return view->state.partition_count;
}

const struct meta_topic *meta_view_topic(const struct meta_view *view, struct str name)
{
    return meta_state_topic(&view->state, name);
}

const struct meta_topic *meta_view_topic_by_id(const struct meta_view *view, const struct uuid *id)
{
    return meta_state_topic_by_id(&view->state, id);
}

const struct meta_topic *meta_view_next_topic(const struct meta_view *view,
                                              struct meta_topic_cursor *cursor)
{
    return meta_state_next_topic(&view->state, cursor);
}
