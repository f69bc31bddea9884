// SPDX-License-Identifier: Apache-2.0
#include "metadata_watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "error.h"
#include "topic_config.h"
#include "trace.h"

static bool hosts(const struct metadata_watch *watch, const struct meta_partition *partition)
{
    for (unsigned i = 0; i < partition->replica_count; i++)
        if (partition->replicas[i] == watch->node_id) return true;
    return false;
}

static struct partition_role role_of(const struct metadata_watch *watch,
                                     const struct meta_partition *partition)
{
    return (struct partition_role){
        .is_leader = partition->leader == watch->node_id,
        .leader = partition->leader,
        .leader_epoch = partition->leader_epoch,
        .replica_count = (int32_t)partition->replica_count,
        .isr_count = (int32_t)partition->isr_count,
    };
}

static void update_partition(struct metadata_watch *watch, const struct meta_topic *topic,
                             int32_t index, const struct topic_settings *settings)
{
    struct partition_role role = role_of(watch, &topic->partitions[index]);
    struct partition *known = partition_set_find(watch->partitions, &topic->id, index);
    if (known != NULL) {
        partition_set_role(known, &role, settings);
        partition_unref(known);
        return;
    }
    int err = partition_set_add(watch->partitions, topic->name, index, &topic->id, settings, &role);
    if (err != 0)
        trace(TRACE_ERROR, "broker", "%s-%" PRId32 ": cannot be hosted here: %s", topic->name,
              index, error_text(err));
}

static void resolve(const struct metadata_watch *watch, const struct meta_view *view,
                    const struct meta_topic *topic, struct topic_settings *settings)
{
    struct topic_config_base base = { watch->topic_defaults, watch->topic_default_count,
                                      broker_config_layers(view, watch->node_id) };
    topic_config_resolve(topic, &base, settings);
}

static void apply_change(struct metadata_watch *watch, const struct meta_view *view,
                         const struct meta_change *change)
{
    const struct meta_topic *before = change->before, *after = change->after;
    for (unsigned i = 0; before != NULL && i < before->partition_count; i++) {
        bool stays = after != NULL && i < after->partition_count &&
                     hosts(watch, &after->partitions[i]);
        if (hosts(watch, &before->partitions[i]) && !stays)
            partition_set_remove(watch->partitions, &before->id, (int32_t)i);
    }
    if (after == NULL) return;
    struct topic_settings settings;
    resolve(watch, view, after, &settings);
    for (unsigned i = 0; i < after->partition_count; i++)
        if (hosts(watch, &after->partitions[i]))
            update_partition(watch, after, (int32_t)i, &settings);
}

static void changed(struct meta_watcher *watcher, struct meta_view *view,
                    const struct meta_change *changes, unsigned change_count)
{
    struct metadata_watch *watch = LIST_OWNER(watcher, struct metadata_watch, watcher);
    for (unsigned i = 0; i < change_count; i++)
        apply_change(watch, view, &changes[i]);
}

/* Every topic may have other settings now. */
static void settings_changed(struct meta_watcher *watcher, struct meta_view *view)
{
    struct metadata_watch *watch = LIST_OWNER(watcher, struct metadata_watch, watcher);
    struct meta_topic_cursor cursor = { 0, 0 };
    const struct meta_topic *topic;
    watch->settings_changed(watch, view);
    while ((topic = meta_view_next_topic(view, &cursor)) != NULL) {
        struct topic_settings settings;
        resolve(watch, view, topic, &settings);
        for (unsigned i = 0; i < topic->partition_count; i++) {
            struct partition *known = partition_set_find(watch->partitions, &topic->id, (int32_t)i);
            if (known == NULL) continue; /* Not here, or told of next. */
            struct partition_role role = role_of(watch, &topic->partitions[i]);
            partition_set_role(known, &role, &settings);
            partition_unref(known);
        }
    }
}

static void was_deleted(struct meta_watcher *watcher, const struct meta_topic *topic)
{
    struct metadata_watch *watch = LIST_OWNER(watcher, struct metadata_watch, watcher);
    for (unsigned i = 0; i < topic->partition_count; i++)
        partition_set_give_up(watch->partitions, topic->name, (int32_t)i, &topic->id);
}

static void deliver_ready(struct message *message)
{
    struct metadata_watch *watch = LIST_OWNER(message, struct metadata_watch, message);
    watch->ready(watch);
}

static void ready(struct meta_watcher *watcher)
{
    struct metadata_watch *watch = LIST_OWNER(watcher, struct metadata_watch, watcher);
    loop_post(watch->loop, &watch->message);
}

static void fatal(struct meta_watcher *watcher, int err, const char *sentence)
{
    (void)watcher;
    trace(TRACE_ERROR, "broker", "the process ends: %s (%s)", sentence, error_text(err));
    _exit(EXIT_METADATA_FAILED);
}

void metadata_watch_init(struct metadata_watch *watch)
{
    watch->watcher.changed = changed;
    watch->watcher.was_deleted = was_deleted;
    watch->watcher.settings_changed = settings_changed;
    watch->watcher.ready = ready;
    watch->watcher.fatal = fatal;
    message_init(&watch->message, deliver_ready);
}
