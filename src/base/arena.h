// SPDX-License-Identifier: Apache-2.0
/* Memory that dies all at once: whatever is decoded or built for one request.
 *
 * Not shared between threads. The first block lies inside the struct's owner if given. */

#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "bytes.h"

struct arena_block;
struct arena_adopted;

struct arena {
    struct arena_block *blocks;    /* Newest first. */
    struct arena_adopted *adopted; /* Foreign memory that dies with the arena. */
    char *at, *end;                /* Free part of the newest block, or of the initial buffer. */
    size_t used;                   /* Bytes taken from the heap so far, adopted ones included. */
    size_t limit;                  /* arena_alloc() returns NULL beyond this; SIZE_MAX: no limit. */
};

/* Starts an empty arena. `initial` (may be NULL) is memory of the caller's that is used first. */
void arena_init(struct arena *arena, void *initial, size_t initial_size, size_t limit);

/* Aligned for any type; NULL when out of memory or above the limit. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);
void *arena_calloc(struct arena *arena, size_t count, size_t size); /* NULL if it overflows. */

/* Copies of what is given, NULL on failure. arena_str keeps null as null and adds a NUL behind. */
void *arena_dup(struct arena *arena, const void *data, size_t size);
int arena_str(struct arena *arena, struct str from, struct str *to); /* 0 or ERR_NO_MEMORY */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Calls release(owner) when the arena dies, the last adopted first, before any of its memory goes.
 * `size` counts as used. 0 or ERR_NO_MEMORY, also above the limit (then nothing was adopted). */
int arena_adopt(struct arena *arena, void *owner, size_t size, void (*release)(void *owner));

/* Frees everything; the arena may be initialised again. */
void arena_close(struct arena *arena);

#endif
