// SPDX-License-Identifier: Apache-2.0
/* Chains in a table that doubles when there are more entries than buckets and never shrinks. */

#include "map.h"

#include <endian.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/types.h>

#include "alloc.h"
#include "error.h"

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
    ssize_t length = getrandom(seed.key, sizeof seed.key, 0);
    if (length == (ssize_t)sizeof seed.key) return;
    /* A kernel without getrandom() gave the process 16 random bytes when it started. */
    const void *start = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (start != NULL) memcpy(seed.key, start, sizeof seed.key);
}

void map_seed(uint64_t value)
{
    pthread_once(&seed.once, seed_from_system); /* So that it does not come later and win. */
    seed.key[0] = value;
    seed.key[1] = ~value;
}

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson, Bernstein): one round per word, three at the end. */
static uint64_t map_hash(const void *key, size_t key_length)
{
    pthread_once(&seed.once, seed_from_system);
    uint64_t v[4] = { seed.key[0] ^ 0x736f6d6570736575, seed.key[1] ^ 0x646f72616e646f6d,
                      seed.key[0] ^ 0x6c7967656e657261, seed.key[1] ^ 0x7465646279746573 };
    const unsigned char *at = key;
    size_t left = key_length;
    for (;;) {
        bool is_last = left < sizeof(uint64_t);
        uint64_t word = 0;
        if (left > 0) memcpy(&word, at, is_last ? left : sizeof word);
        word = le64toh(word);
        if (is_last) word |= (uint64_t)key_length << 56;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
        if (is_last) break;
        at += sizeof word;
        left -= sizeof word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
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
