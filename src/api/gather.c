// SPDX-License-Identifier: Apache-2.0
#include "gather.h"

#include <string.h>

#include "list.h"

void gathering_init(struct gathering *gathering)
{
    repeats_init(&gathering->topics);
    repeats_init(&gathering->parts);
    gathering->topic = NULL;
}

void gathering_close(struct gathering *gathering)
{
    repeats_close(&gathering->topics);
    repeats_close(&gathering->parts);
}

int gather_topic(struct gathering *gathering, bool by_id, const struct uuid *id, struct str name,
                 struct gathered_topic *topic)
{
    const void *key = by_id ? (const void *)id : name.data;
    size_t length = by_id ? sizeof *id : (size_t)name.length;
    *topic = (struct gathered_topic){ .answer = -1 };
    int err = repeats_note(&gathering->topics, key, length, &topic->repeat);
    if (err == 0) gathering->topic = LIST_OWNER(topic->repeat.first, struct gathered_topic, repeat);
    return err;
}

int gather_part(struct gathering *gathering, int32_t index, struct gathered_part *part)
{
    /* Padding would be part of the key. */
    uint8_t key[sizeof gathering->topic + sizeof index];
    memcpy(key, &gathering->topic, sizeof gathering->topic);
    memcpy(key + sizeof gathering->topic, &index, sizeof index);
    part->topic = gathering->topic;
    int err = repeats_note(&gathering->parts, key, sizeof key, &part->repeat);
    if (err == 0 && part->repeat.is_first) part->topic->part_count++;
    return err;
}

int32_t gather_places(struct gathered_topic *topics, int32_t count)
{
    int32_t answered = 0;
    unsigned next = 0;
    for (int32_t i = 0; i < count; i++) {
        topics[i].answer = topics[i].part_count > 0 ? answered++ : -1;
        topics[i].begin = topics[i].next = next;
        next += topics[i].part_count;
    }
    return answered;
}

unsigned gather_take_place(struct gathered_part *part)
{
    return part->topic->next++;
}
