// SPDX-License-Identifier: Apache-2.0
#include "frame_pool.h"

#include "alloc.h"

/* Below this, malloc has its own lists of warm memory. */
#define FRAME_KEEP_FROM_BYTES (64u * 1024)
/* Frames of one client differ by a few bytes: rounding makes them fit each other's memory. */
#define FRAME_ROUND_BYTES (64u * 1024)
/* Per loop; eight of the largest produce requests of a client with default settings. */
#define FRAME_KEPT_BYTES_MAX (8u * 1024 * 1024)
/* An idle broker gives the memory back. */
#define FRAME_TRIM_AFTER_MS 5000

struct frame_memory {
    struct frame_memory *next;
    size_t capacity;
    max_align_t data[];
};

static struct frame_memory *frame_memory_of(uint8_t *data)
{
    return (struct frame_memory *)(void *)(data - offsetof(struct frame_memory, data));
}

static void frame_pool_free_all(struct frame_pool *pool)
{
    while (pool->kept != NULL) {
        struct frame_memory *memory = pool->kept;
        pool->kept = memory->next;
        mem_free(memory);
    }
    pool->kept_bytes = 0;
}

static void frame_pool_trim(struct timer *timer)
{
    struct frame_pool *pool = LIST_OWNER(timer, struct frame_pool, trim);
    if (!pool->was_used) {
        frame_pool_free_all(pool);
        return;
    }
    pool->was_used = false;
    timer_set(pool->loop, &pool->trim, FRAME_TRIM_AFTER_MS);
}

void frame_pool_init(struct frame_pool *pool, struct loop *loop)
{
    *pool = (struct frame_pool){ .loop = loop };
    timer_init(&pool->trim, frame_pool_trim);
}

void frame_pool_close(struct frame_pool *pool)
{
    timer_cancel(pool->loop, &pool->trim);
    frame_pool_free_all(pool);
}

uint8_t *frame_pool_take(struct frame_pool *pool, size_t size)
{
    size_t capacity = size;
    if (size >= FRAME_KEEP_FROM_BYTES) {
        pool->was_used = true;
        capacity = (size + FRAME_ROUND_BYTES - 1) / FRAME_ROUND_BYTES * FRAME_ROUND_BYTES;
        for (struct frame_memory **at = &pool->kept; *at != NULL; at = &(*at)->next) {
            struct frame_memory *memory = *at;
            /* Not in one that is much too large: the budget counts the frame only. */
            if (memory->capacity < capacity || memory->capacity / 2 > capacity) continue;
            *at = memory->next;
            pool->kept_bytes -= memory->capacity;
            return (uint8_t *)memory->data;
        }
    }
    struct frame_memory *memory = mem_alloc(sizeof *memory + capacity);
    if (memory == NULL) return NULL;
    memory->capacity = capacity;
    return (uint8_t *)memory->data;
}

void frame_pool_give_back(struct frame_pool *pool, uint8_t *data)
{
    if (data == NULL) return;
    struct frame_memory *memory = frame_memory_of(data);
    if (memory->capacity < FRAME_KEEP_FROM_BYTES || memory->capacity > FRAME_KEPT_BYTES_MAX ||
        pool->kept_bytes > FRAME_KEPT_BYTES_MAX - memory->capacity) {
        mem_free(memory);
        return;
    }
    memory->next = pool->kept;
    pool->kept = memory;
    pool->kept_bytes += memory->capacity;
    if (!timer_is_set(&pool->trim)) timer_set(pool->loop, &pool->trim, FRAME_TRIM_AFTER_MS);
}
