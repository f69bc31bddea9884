// SPDX-License-Identifier: Apache-2.0
#include "meta_state.h"

#include <stdatomic.h>

#include "alloc.h"
#include "error.h"

/* Ascending by id, in one piece of memory. */
struct broker_list {
    atomic_uint refs;
    unsigned count;
    struct meta_broker brokers[];
};

/* ---- hashes ---- */

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotate(v[1], 13), v[1] ^= v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16), v[3] ^= v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21), v[3] ^= v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17), v[1] ^= v[2], v[2] = rotate(v[2], 32);
}

static void sip_take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

/* What metrics make of a name; so those that collide there share a bucket here. */
static char plain(char c)
{
    return c == '.' ? '_' : c;
}

/* SipHash-1-3 of the name with _ for every dot. */
static uint64_t name_hash(const struct meta_state *state, struct str name)
{
    uint64_t v[4] = { state->hash_key[0] ^ 0x736f6d6570736575,
                      state->hash_key[1] ^ 0x646f72616e646f6d,
                      state->hash_key[0] ^ 0x6c7967656e657261,
                      state->hash_key[1] ^ 0x7465646279746573 };
    uint64_t word = 0;
    for (int32_t i = 0; i < name.length; i++) {
        word |= (uint64_t)(uint8_t)plain(name.data[i]) << (i % 8 * 8);
        if (i % 8 == 7) {
            sip_take(v, word);
            word = 0;
        }
    }
    sip_take(v, word | (uint64_t)name.length << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The controller made it at random. */
static uint64_t id_hash(const struct uuid *id)
{
    return (uint64_t)load_i64(id->bytes + 8);
}

/* ---- all of it ---- */

static struct broker_list *brokers_ref(struct broker_list *list)
{
    if (list != NULL) atomic_fetch_add_explicit(&list->refs, 1, memory_order_relaxed);
    return list;
}

static void brokers_unref(struct broker_list *list)
{
    if (list != NULL && atomic_fetch_sub_explicit(&list->refs, 1, memory_order_acq_rel) == 1)
        mem_free(list);
}

static void topic_ref(void *topic)
{
    meta_topic_ref(topic);
}

static void topic_unref(void *topic)
{
    meta_topic_unref(topic);
}

static const struct shared_table_counting topic_counting = { topic_ref, topic_unref };

void meta_state_init(struct meta_state *state, const uint64_t hash_key[2])
{
    memset(state, 0, sizeof *state);
    shared_table_init(&state->by_name, &topic_counting);
    shared_table_init(&state->by_id, &topic_counting);
    meta_resources_init(&state->resources, hash_key);
    state->hash_key[0] = hash_key[0];
    state->hash_key[1] = hash_key[1];
}

void meta_state_copy(struct meta_state *copy, const struct meta_state *state)
{
    *copy = *state;
    brokers_ref(copy->brokers);
    meta_broker_settings_ref(copy->broker_settings);
    meta_resources_copy(&copy->resources, &state->resources);
    shared_table_copy(&copy->by_name, &state->by_name);
    shared_table_copy(&copy->by_id, &state->by_id);
}

void meta_state_close(struct meta_state *state)
{
    brokers_unref(state->brokers);
    state->brokers = NULL;
    meta_broker_settings_unref(state->broker_settings);
    state->broker_settings = NULL;
    meta_resources_close(&state->resources);
    shared_table_close(&state->by_name);
    shared_table_close(&state->by_id);
}

/* ---- brokers ---- */

unsigned meta_state_broker_count(const struct meta_state *state)
{
    return state->brokers == NULL ? 0 : state->brokers->count;
}

const struct meta_broker *meta_state_broker_at(const struct meta_state *state, unsigned index)
{
    return &state->brokers->brokers[index];
}

const struct meta_broker *meta_state_broker(const struct meta_state *state, int32_t id)
{
    unsigned low = 0, high = meta_state_broker_count(state);
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        const struct meta_broker *broker = meta_state_broker_at(state, middle);
        if (broker->id == id) return broker;
        if (broker->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static size_t text_size(const char *text)
{
    return text == NULL ? 0 : strlen(text) + 1;
}

static const char *text_copy(char **at, const char *text)
{
    char *copy = *at;
    if (text == NULL) return NULL;
    memcpy(copy, text, text_size(text));
    *at += text_size(text);
    return copy;
}

/* The list that results, as pointers to brokers in their old places. */
static unsigned brokers_merge(const struct meta_state *state, const struct meta_broker *broker,
                              const struct meta_broker **merged)
{
    unsigned count = 0, at = 0, old_count = meta_state_broker_count(state);
    for (; at < old_count && meta_state_broker_at(state, at)->id < broker->id; at++)
        merged[count++] = meta_state_broker_at(state, at);
    merged[count++] = broker;
    if (at < old_count && meta_state_broker_at(state, at)->id == broker->id) at++;
    for (; at < old_count; at++)
        merged[count++] = meta_state_broker_at(state, at);
    return count;
}

static struct broker_list *brokers_copy(const struct meta_broker *const *brokers, unsigned count)
{
    size_t endpoints = 0, texts = 0;
    for (unsigned i = 0; i < count; i++) {
        texts += text_size(brokers[i]->rack);
        endpoints += brokers[i]->endpoint_count;
        for (unsigned j = 0; j < brokers[i]->endpoint_count; j++)
            texts += text_size(brokers[i]->endpoints[j].listener) +
                     text_size(brokers[i]->endpoints[j].host);
    }
    struct broker_list *list = mem_alloc(sizeof *list + count * sizeof list->brokers[0] +
                                         endpoints * sizeof(struct meta_endpoint) + texts);
    if (list == NULL) return NULL;
    atomic_init(&list->refs, 1);
    list->count = count;
    struct meta_endpoint *endpoint = (struct meta_endpoint *)(void *)(list->brokers + count);
    char *text = (char *)(endpoint + endpoints);
    for (unsigned i = 0; i < count; i++) {
        struct meta_broker *broker = &list->brokers[i];
        *broker = *brokers[i];
        broker->rack = text_copy(&text, broker->rack);
        broker->endpoints = endpoint;
        for (unsigned j = 0; j < broker->endpoint_count; j++, endpoint++) {
            *endpoint = brokers[i]->endpoints[j];
            endpoint->listener = text_copy(&text, endpoint->listener);
            endpoint->host = text_copy(&text, endpoint->host);
        }
    }
    return list;
}

int meta_state_put_broker(struct meta_state *state, const struct meta_broker *broker)
{
    const struct meta_broker **merged = mem_calloc(meta_state_broker_count(state) + 1,
                                                   sizeof *merged);
    if (merged == NULL) return ERR_NO_MEMORY;
    struct broker_list *list = brokers_copy(merged, brokers_merge(state, broker, merged));
    mem_free(merged);
    if (list == NULL) return ERR_NO_MEMORY;
    brokers_unref(state->brokers);
    state->brokers = list;
    return 0;
}

int meta_state_put_broker_settings(struct meta_state *state,
                                   const struct meta_broker_settings *settings)
{
    struct meta_broker_settings_list *list;
    int err = meta_broker_settings_replace(state->broker_settings, settings, &list);
    if (err != 0) return err;
    meta_broker_settings_unref(state->broker_settings);
    state->broker_settings = list;
    return 0;
}

/* ---- topics ---- */

struct meta_topic *meta_state_topic(const struct meta_state *state, struct str name)
{
    unsigned count;
    if (name.length <= 0) return NULL;
    void *const *topics = shared_table_bucket(&state->by_name, name_hash(state, name), &count);
    for (unsigned i = 0; i < count; i++) {
        struct meta_topic *topic = topics[i];
        if (str_equals_text(name, topic->name)) return topic;
    }
    return NULL;
}

struct meta_topic *meta_state_topic_like(const struct meta_state *state, struct str name)
{
    unsigned count;
    if (name.length <= 0) return NULL;
    void *const *topics = shared_table_bucket(&state->by_name, name_hash(state, name), &count);
    for (unsigned i = 0; i < count; i++) {
        struct meta_topic *topic = topics[i];
        struct str other = str_from(topic->name);
        int32_t same = 0;
        if (other.length != name.length) continue;
        while (same < name.length && plain(name.data[same]) == plain(other.data[same]))
            same++;
        if (same == name.length) return topic;
    }
    return NULL;
}

struct meta_topic *meta_state_topic_by_id(const struct meta_state *state, const struct uuid *id)
{
    unsigned count;
    void *const *topics = shared_table_bucket(&state->by_id, id_hash(id), &count);
    for (unsigned i = 0; i < count; i++) {
        struct meta_topic *topic = topics[i];
        if (uuid_equal(id, &topic->id)) return topic;
    }
    return NULL;
}

const struct meta_topic *meta_state_next_topic(const struct meta_state *state,
                                               struct meta_topic_cursor *cursor)
{
    return shared_table_next(&state->by_name, &cursor->bucket, &cursor->position);
}

int meta_state_change_topic(struct meta_state *state, const struct meta_topic *before,
                            struct meta_topic *after)
{
    const struct meta_topic *topic = after != NULL ? after : before;
    uint64_t by_name = name_hash(state, str_from(topic->name)), by_id = id_hash(&topic->id);
    int64_t partitions = 0;
    if (before != NULL) partitions -= before->partition_count;
    if (after != NULL) partitions += after->partition_count;
    /* `before` may hang from the first table only: its last use is in the second change. */
    int err = shared_table_change(&state->by_id, by_id, before, after);
    if (err == 0) err = shared_table_change(&state->by_name, by_name, before, after);
    if (err != 0) return err;
    if (before == NULL) state->topic_count++;
    if (after == NULL) state->topic_count--;
    state->partition_count += (uint64_t)partitions;
    return 0;
}
