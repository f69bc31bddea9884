// SPDX-License-Identifier: Apache-2.0
#include "dirty_window.h"

bool dirty_window_add(struct dirty_window *window, int64_t bytes)
{
    int64_t unsynced = atomic_fetch_add(&window->unsynced, bytes) + bytes;
    return window->limit > 0 && unsynced > window->limit / 2 &&
           !atomic_exchange(&window->is_told, true);
}

void dirty_window_remove(struct dirty_window *window, int64_t bytes)
{
    int64_t unsynced = atomic_fetch_sub(&window->unsynced, bytes) - bytes;
    if (unsynced <= window->limit / 2) atomic_store(&window->is_told, false);
}

bool dirty_window_is_full(const struct dirty_window *window)
{
    return window->limit > 0 &&
           atomic_load_explicit(&window->unsynced, memory_order_relaxed) > window->limit;
}
