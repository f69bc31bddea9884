// SPDX-License-Identifier: Apache-2.0
/* A topic and everything it points to, in one piece of memory: first the arrays, then the texts. */

#include <stdatomic.h>

#include "alloc.h"
#include "meta_state.h"

struct owned_topic {
    atomic_uint refs;
    struct meta_topic topic;
    struct meta_partition partitions[];
};

static struct owned_topic *owned_topic_of(const struct meta_topic *topic)
{
    return (struct owned_topic *)(void *)((char *)(uintptr_t)topic -
                                          offsetof(struct owned_topic, topic));
}

/* Where the parts of the copy go. */
struct topic_layout {
    struct meta_setting *settings;
    int32_t *brokers;
    char *text;
};

static size_t topic_size(const struct meta_topic *topic)
{
    size_t size = sizeof(struct owned_topic);
    size += topic->partition_count * sizeof(struct meta_partition);
    size += topic->setting_count * sizeof(struct meta_setting);
    for (unsigned i = 0; i < topic->partition_count; i++)
        size += (topic->partitions[i].replica_count + topic->partitions[i].isr_count) *
                sizeof(int32_t);
    size += strlen(topic->name) + 1;
    for (unsigned i = 0; i < topic->setting_count; i++)
        size += strlen(topic->settings[i].name) + strlen(topic->settings[i].value) + 2;
    return size;
}

static const int32_t *copy_brokers(struct topic_layout *layout, const int32_t *brokers,
                                   unsigned count)
{
    int32_t *copy = layout->brokers;
    if (count > 0) memcpy(copy, brokers, count * sizeof *copy);
    layout->brokers += count;
    return copy;
}

static const char *copy_text(struct topic_layout *layout, const char *text)
{
    char *copy = layout->text;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    layout->text += size;
    return copy;
}

struct meta_topic *meta_topic_copy(const struct meta_topic *topic)
{
    struct owned_topic *owned = mem_alloc(topic_size(topic));
    if (owned == NULL) return NULL;
    atomic_init(&owned->refs, 1);
    owned->topic = *topic;
    owned->topic.partitions = owned->partitions;

    struct topic_layout layout;
    layout.settings = (struct meta_setting *)(void *)(owned->partitions + topic->partition_count);
    layout.brokers = (int32_t *)(void *)(layout.settings + topic->setting_count);
    owned->topic.settings = layout.settings;
    for (unsigned i = 0; i < topic->partition_count; i++) {
        struct meta_partition *partition = &owned->partitions[i];
        *partition = topic->partitions[i];
        partition->replicas = copy_brokers(&layout, partition->replicas, partition->replica_count);
        partition->isr = copy_brokers(&layout, partition->isr, partition->isr_count);
    }
    layout.text = (char *)layout.brokers;
    owned->topic.name = copy_text(&layout, topic->name);
    for (unsigned i = 0; i < topic->setting_count; i++) {
        layout.settings[i].name = copy_text(&layout, topic->settings[i].name);
        layout.settings[i].value = copy_text(&layout, topic->settings[i].value);
    }
    return &owned->topic;
}

struct meta_topic *meta_topic_ref(const struct meta_topic *topic)
{
    struct owned_topic *owned = owned_topic_of(topic);
    atomic_fetch_add_explicit(&owned->refs, 1, memory_order_relaxed);
    return &owned->topic;
}

void meta_topic_unref(struct meta_topic *topic)
{
    if (topic == NULL) return;
    struct owned_topic *owned = owned_topic_of(topic);
    if (atomic_fetch_sub_explicit(&owned->refs, 1, memory_order_acq_rel) == 1) mem_free(owned);
}
