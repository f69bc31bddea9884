// SPDX-License-Identifier: Apache-2.0
/* How much of one disk's data is written and not synced, and how much may be (DESIGN 4.6).
 *
 * Above its own limit the kernel makes whoever writes wait, for seconds and on the loop. So we stay below
 * it: at half a window all that is dirty is flushed at once instead of at the next interval, and beyond
 * a whole one appends go through the pool, where each syncs what its partition has before it writes
 * more. All calls from any thread. */

#ifndef PARTITION_DIRTY_WINDOW_H
#define PARTITION_DIRTY_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dirty_window {
    int64_t limit; /* Bytes; 0: none. */
    _Atomic int64_t unsynced;
    atomic_bool is_told; /* Somebody was, since it was less than half full. */
};

static inline void dirty_window_init(struct dirty_window *window, int64_t limit)
{
    window->limit = limit;
    atomic_init(&window->unsynced, 0);
    atomic_init(&window->is_told, false);
}

/* So much was written. True, once, if it is half full now: what is dirty should be flushed. */
bool dirty_window_add(struct dirty_window *window, int64_t bytes);

/* So much of it was synced, or is nobody's any more. */
void dirty_window_remove(struct dirty_window *window, int64_t bytes);

bool dirty_window_is_full(const struct dirty_window *window);

#endif
