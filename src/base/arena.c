// SPDX-License-Identifier: Apache-2.0
/* Blocks are filled from front to back.
 *
 *  (1) `at` is a multiple of ARENA_ALIGN.
 *  (2) Each new block is twice the size of the one before, between the two bounds below, so that a
 *      small request costs one small block and a large one few.
 *  (3) What does not fit in such a block gets one of its own, put behind the one being filled, whose
 *      free part is not lost.
 *  (4) `used` never grows above `limit`. */

#include "arena.h"

#include <stdarg.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"

#define ARENA_ALIGN             16
#define ARENA_FIRST_BLOCK_BYTES (4u * 1024)
#define ARENA_LAST_BLOCK_BYTES  (256u * 1024)

struct arena_block {
    struct arena_block *next;
    size_t growth_bytes; /* By (2): how large the newest block was meant to be. */
};

_Static_assert(sizeof(struct arena_block) % ARENA_ALIGN == 0, "what follows must be aligned");

struct arena_adopted {
    struct arena_adopted *next;
    void *owner;
    void (*release)(void *owner);
};

void arena_init(struct arena *arena, void *initial, size_t initial_size, size_t limit)
{
    *arena = (struct arena){ .limit = limit };
    size_t skipped = -(uintptr_t)initial & (ARENA_ALIGN - 1);
    if (initial != NULL && initial_size > skipped) {
        arena->at = (char *)initial + skipped;
        arena->end = (char *)initial + initial_size;
    }
}

static size_t arena_next_block_bytes(const struct arena *arena)
{
    if (arena->blocks == NULL) return ARENA_FIRST_BLOCK_BYTES;
    size_t bytes = arena->blocks->growth_bytes * 2;
    return bytes < ARENA_LAST_BLOCK_BYTES ? bytes : ARENA_LAST_BLOCK_BYTES;
}

/* Room for `size` bytes, a multiple of ARENA_ALIGN, out of a new block. */
static void *arena_alloc_block(struct arena *arena, size_t size)
{
    size_t left = arena->limit - arena->used;
    size_t needed = sizeof(struct arena_block) + size;
    if (needed < size || needed > left) return NULL;

    size_t growth = arena_next_block_bytes(arena);
    bool is_shared = needed <= growth;
    size_t bytes = !is_shared ? needed : growth < left ? growth : left; /* (4) */
    struct arena_block *block = mem_alloc(bytes);
    if (block == NULL) return NULL;
    arena->used += bytes;
    block->growth_bytes = growth;

    char *memory = (char *)(block + 1);
    if (is_shared) {
        arena->at = memory + size;
        arena->end = (char *)block + bytes;
    }
    if (is_shared || arena->blocks == NULL) {
        block->next = arena->blocks;
        arena->blocks = block;
    } else {
        block->next = arena->blocks->next; /* (3) */
        arena->blocks->next = block;
        arena->blocks->growth_bytes = growth;
    }
    return memory;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t rounded = (size + (size == 0) + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (rounded < size) return NULL;
    if (arena->at == NULL || rounded > (size_t)(arena->end - arena->at))
        return arena_alloc_block(arena, rounded);
    void *memory = arena->at;
    arena->at += rounded;
    return memory;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *memory = arena_alloc(arena, size);
    if (memory != NULL) memset(memory, 0, size);
    return memory;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    size_t product;
    return __builtin_mul_overflow(count, size, &product) ? NULL : arena_zalloc(arena, product);
}

void *arena_dup(struct arena *arena, const void *data, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (copy != NULL && size > 0) memcpy(copy, data, size);
    return copy;
}

int arena_str(struct arena *arena, struct str from, struct str *to)
{
    if (str_is_null(from)) {
        *to = STR_NULL;
        return 0;
    }
    size_t length = (size_t)from.length;
    char *copy = arena_alloc(arena, length + 1);
    if (copy == NULL) return ERR_NO_MEMORY;
    if (length > 0) memcpy(copy, from.data, length);
    copy[length] = '\0';
    *to = (struct str){ copy, from.length };
    return 0;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
    if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

int arena_adopt(struct arena *arena, void *owner, size_t size, void (*release)(void *owner))
{
    struct arena_adopted *adopted = arena_alloc(arena, sizeof *adopted);
    if (adopted == NULL || size > arena->limit - arena->used) return ERR_NO_MEMORY;
    *adopted = (struct arena_adopted){ arena->adopted, owner, release };
    arena->adopted = adopted;
    arena->used += size;
    return 0;
}

void arena_close(struct arena *arena)
{
    /* Before the blocks, in which the owners may lie themselves. */
    while (arena->adopted != NULL) {
        struct arena_adopted *adopted = arena->adopted;
        arena->adopted = adopted->next;
        adopted->release(adopted->owner);
    }
    while (arena->blocks != NULL) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->next;
        mem_free(block);
    }
    arena_init(arena, NULL, 0, arena->limit);
}
