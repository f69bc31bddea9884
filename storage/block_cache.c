// SPDX-License-Identifier: Apache-2.0
/* A table of blocks with chained hashing; who must go is the next in turn that was not used since its
 * last turn. */

#include "block_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "alloc.h"
#include "error.h"

#define NONE UINT32_MAX

struct block {
    uint64_t id;
    uint32_t number;
    uint32_t length;
    uint32_t next; /* Of the same bucket. */
    bool was_used;
    uint8_t *data;
};

struct block_cache {
    _Atomic uint64_t last_id;
    pthread_mutex_t lock; /* For all that follows. */
    uint32_t limit;
    uint32_t count;
    uint32_t hand;
    uint32_t *buckets; /* As many as blocks. */
    struct block *blocks;
};

int block_cache_open(struct block_cache **cache, uint32_t limit)
{
    struct block_cache *opened = mem_zalloc(sizeof *opened);

    if (opened == NULL) return ERR_NO_MEMORY;
    opened->limit = limit;
    opened->buckets = mem_alloc(limit * sizeof *opened->buckets);
    opened->blocks = mem_calloc(limit, sizeof *opened->blocks);
    pthread_mutex_init(&opened->lock, NULL);
    if (opened->buckets == NULL || opened->blocks == NULL) {
        block_cache_close(opened);
        return ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < limit; i++)
        opened->buckets[i] = NONE;
    *cache = opened;
    return 0;
}

void block_cache_close(struct block_cache *cache)
{
    if (cache == NULL) return;
    for (uint32_t i = 0; i < cache->count; i++)
        mem_free(cache->blocks[i].data);
    mem_free(cache->blocks);
    mem_free(cache->buckets);
    pthread_mutex_destroy(&cache->lock);
    mem_free(cache);
}

uint64_t block_cache_new_id(struct block_cache *cache)
{
    return atomic_fetch_add_explicit(&cache->last_id, 1, memory_order_relaxed) + 1;
}

uint32_t block_cache_count(struct block_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint32_t count = cache->count;
    pthread_mutex_unlock(&cache->lock);
    return count;
}

/* Where the chain of a block begins. */
static uint32_t *bucket_of(struct block_cache *cache, uint64_t id, uint32_t number)
{
    uint64_t mixed = (id ^ ((uint64_t)number << 40)) * UINT64_C(0x9e3779b97f4a7c15);

    return &cache->buckets[(mixed >> 32) % cache->limit];
}

static struct block *find(struct block_cache *cache, uint64_t id, uint32_t number)
{
    for (uint32_t i = *bucket_of(cache, id, number); i != NONE; i = cache->blocks[i].next) {
        struct block *block = &cache->blocks[i];
        if (block->id == id && block->number == number) return block;
    }
    return NULL;
}

bool block_cache_get(struct block_cache *cache, uint64_t id, uint32_t number, size_t from,
                     size_t length, void *to)
{
    pthread_mutex_lock(&cache->lock);
    struct block *block = find(cache, id, number);
    bool is_here = block != NULL && from + length <= block->length;
    if (is_here) {
        memcpy(to, block->data + from, length);
        block->was_used = true;
    }
    pthread_mutex_unlock(&cache->lock);
    return is_here;
}

static void unchain(struct block_cache *cache, uint32_t index)
{
    struct block *block = &cache->blocks[index];
    uint32_t *link = bucket_of(cache, block->id, block->number);

    while (*link != index)
        link = &cache->blocks[*link].next;
    *link = block->next;
}

/* A block to fill, in no chain; NONE without memory. */
static uint32_t take_block(struct block_cache *cache)
{
    if (cache->count < cache->limit) {
        uint8_t *data = mem_alloc(INDEX_BLOCK_BYTES);
        if (data != NULL) {
            cache->blocks[cache->count].data = data;
            return cache->count++;
        }
    }
    if (cache->count == 0) return NONE;
    do {
        cache->hand = cache->hand + 1 < cache->count ? cache->hand + 1 : 0;
        struct block *block = &cache->blocks[cache->hand];
        if (!block->was_used) break;
        block->was_used = false;
    } while (true);
    unchain(cache, cache->hand);
    return cache->hand;
}

void block_cache_put(struct block_cache *cache, uint64_t id, uint32_t number, const void *data,
                     size_t length)
{
    pthread_mutex_lock(&cache->lock);
    struct block *block = find(cache, id, number);
    if (block == NULL) {
        uint32_t index = take_block(cache);
        if (index != NONE) {
            uint32_t *bucket = bucket_of(cache, id, number);
            block = &cache->blocks[index];
            block->id = id;
            block->number = number;
            block->length = 0;
            block->was_used = false; /* Not before somebody comes back to it. */
            block->next = *bucket;
            *bucket = index;
        }
    }
    if (block != NULL && length >= block->length) {
        memcpy(block->data, data, length);
        block->length = (uint32_t)length;
    }
    pthread_mutex_unlock(&cache->lock);
}
