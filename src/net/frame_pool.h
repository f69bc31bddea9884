// SPDX-License-Identifier: Apache-2.0
/* Memory for frames that do not fit into one read.
 *
 * Large ones are kept for a while for the next frame: a fresh page costs more than all that is
 * done with its bytes (DESIGN 13, about 2 CPU-seconds per GB in a virtual machine). Belongs to
 * one loop. */

#ifndef NET_FRAME_POOL_H
#define NET_FRAME_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "loop.h"

struct frame_memory;

struct frame_pool {
    struct loop *loop;
    struct frame_memory *kept; /* Last one given back first. */
    size_t kept_bytes;
    struct timer trim;
    bool was_used; /* Since the trim timer was set. */
};

void frame_pool_init(struct frame_pool *pool, struct loop *loop);
void frame_pool_close(struct frame_pool *pool); /* On the loop, or when it does not run. */

/* NULL when out of memory. Large frames' pages are touched only as they are written, or were
 * before. */
uint8_t *frame_pool_take(struct frame_pool *pool, size_t size);
void frame_pool_give_back(struct frame_pool *pool, uint8_t *data);

#endif
