// SPDX-License-Identifier: Apache-2.0
/* Chains in a table that doubles when there are more entries than buckets and never shrinks. */

#include "map.h"

#include <pthread.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "siphash.h"

#define MAP_FIRST_BUCKETS 8

struct map_entry {
    struct map_entry *next; /* In its bucket. */
    uint64_t hash;
    void *value;
    size_t key_length;
    unsigned char key[];
};

/* One key for all maps of the process: nobody outside may predict which keys collide. */
static struct {
    pthread_once_t once;
    uint64_t key[2];
} seed = { .once = PTHREAD_ONCE_INIT };

static void seed_from_system(void)
{
    siphash_random_key(seed.key);
}

void map_seed(uint64_t value)
{
    pthread_once(&seed.once, seed_from_system); /* So that it does not come later and win. */
    seed.key[0] = value;
    seed.key[1] = ~value;
}

static uint64_t map_hash(const void *key, size_t key_length)
{
    pthread_once(&seed.once, seed_from_system);
    return siphash_64(seed.key, key, key_length);
}

void map_init(struct map *map)
{
    *map = (struct map){ 0 };
}

void map_close(struct map *map)
{
    for (size_t i = 0; i < map->bucket_count; i++) {
        while (map->buckets[i] != NULL) {
            struct map_entry *entry = map->buckets[i];
            map->buckets[i] = entry->next;
            mem_free(entry);
        }
    }
    mem_free(map->buckets);
    map_init(map);
}

/* Where the pointer to the entry with `key` is, or the NULL where its chain ends. NULL without
 * buckets. */
static struct map_entry **map_find(const struct map *map, uint64_t hash, const void *key,
                                   size_t key_length)
{
    if (map->bucket_count == 0) return NULL;
    struct map_entry **link = &map->buckets[hash & (map->bucket_count - 1)];
    for (; *link != NULL; link = &(*link)->next) {
        const struct map_entry *entry = *link;
        if (entry->hash == hash && entry->key_length == key_length &&
            (key_length == 0 || memcmp(entry->key, key, key_length) == 0))
            break;
    }
    return link;
}

static int map_grow(struct map *map)
{
    size_t bucket_count = map->bucket_count == 0 ? MAP_FIRST_BUCKETS : map->bucket_count * 2;
    struct map_entry **buckets = mem_calloc(bucket_count, sizeof *buckets);
    if (buckets == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < map->bucket_count; i++) {
        while (map->buckets[i] != NULL) {
            struct map_entry *entry = map->buckets[i];
            map->buckets[i] = entry->next;
            struct map_entry **bucket = &buckets[entry->hash & (bucket_count - 1)];
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    mem_free(map->buckets);
    map->buckets = buckets;
    map->bucket_count = bucket_count;
    return 0;
}

void *map_get(const struct map *map, const void *key, size_t key_length)
{
    if (map->count == 0) return NULL;
    struct map_entry **link = map_find(map, map_hash(key, key_length), key, key_length);
    return *link == NULL ? NULL : (*link)->value;
}

/* A new entry, not in the map yet. */
static int map_entry_open(struct map_entry **entry, uint64_t hash, const void *key,
                          size_t key_length, void *value)
{
    size_t size;
    struct map_entry *fresh = NULL;
    if (!__builtin_add_overflow(sizeof *fresh, key_length, &size)) fresh = mem_alloc(size);
    if (fresh == NULL) return ERR_NO_MEMORY;
    *fresh = (struct map_entry){ .hash = hash, .value = value, .key_length = key_length };
    if (key_length > 0) memcpy(fresh->key, key, key_length);
    *entry = fresh;
    return 0;
}

int map_put(struct map *map, const void *key, size_t key_length, void *value, void **old)
{
    uint64_t hash = map_hash(key, key_length);
    struct map_entry **link = map_find(map, hash, key, key_length);
    void *replaced = NULL;
    if (link != NULL && *link != NULL) {
        replaced = (*link)->value;
        (*link)->value = value;
    } else {
        struct map_entry *entry = NULL;
        int err = map_entry_open(&entry, hash, key, key_length, value);
        if (err == 0 && map->count >= map->bucket_count) err = map_grow(map);
        if (err != 0) {
            mem_free(entry);
            return err;
        }
        struct map_entry **bucket = &map->buckets[hash & (map->bucket_count - 1)];
        entry->next = *bucket;
        *bucket = entry;
        map->count++;
    }
    if (old != NULL) *old = replaced;
    return 0;
}

void *map_remove(struct map *map, const void *key, size_t key_length)
{
    struct map_entry **link = NULL;
    if (map->count > 0) link = map_find(map, map_hash(key, key_length), key, key_length);
    if (link == NULL || *link == NULL) return NULL;
    struct map_entry *entry = *link;
    void *value = entry->value;
    *link = entry->next;
    map->count--;
    mem_free(entry);
    return value;
}

bool map_next(const struct map *map, struct map_cursor *cursor, const void **key,
              size_t *key_length, void **value)
{
    /* The cursor holds the entry that comes next, so the one just returned may go. */
    struct map_entry *entry = cursor->entry;
    while (entry == NULL && cursor->bucket < map->bucket_count)
        entry = map->buckets[cursor->bucket++];
    if (entry == NULL) return false;
    cursor->entry = entry->next;
    if (key != NULL) *key = entry->key;
    if (key_length != NULL) *key_length = entry->key_length;
    if (value != NULL) *value = entry->value;
    return true;
}
