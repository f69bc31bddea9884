// SPDX-License-Identifier: Apache-2.0
/* A hash map from byte strings to pointers. Keys are copied. Not shared between threads.
 *
 * The hash is keyed with a random seed (SipHash), since keys come from clients. */

#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry;

struct map {
    struct map_entry **buckets;
    size_t bucket_count; /* A power of two, or 0. */
    size_t count;
};

void map_init(struct map *map);
void map_close(struct map *map); /* Forgets the values; they are the caller's. */

void *map_get(const struct map *map, const void *key, size_t key_length); /* NULL: not there */

/* 0, or ERR_NO_MEMORY with the map as it was. `*old` (may be NULL) gets the value replaced or NULL. */
int map_put(struct map *map, const void *key, size_t key_length, void *value, void **old);

void *map_remove(struct map *map, const void *key, size_t key_length); /* NULL: was not there */

/* Walks all entries in no order: start with *position = 0; false at the end. The map may not grow
 * meanwhile; removing the entry just returned is allowed. */
struct map_cursor {
    size_t bucket;
    struct map_entry *entry;
};
bool map_next(const struct map *map, struct map_cursor *cursor, const void **key,
              size_t *key_length, void **value);

/* The seed of the hash; tests set it to make walks repeatable. */
void map_seed(uint64_t seed);

#endif
