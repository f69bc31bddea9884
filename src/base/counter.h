// SPDX-License-Identifier: Apache-2.0
/* A number that one thread counts up and any thread may read. It costs no locked instruction and no lock, so
 * each loop has its own, and who wants to know adds them up. */

#ifndef BASE_COUNTER_H
#define BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

struct counter {
    _Atomic uint64_t value;
};

/* On the thread that the counter belongs to. */
static inline void counter_add(struct counter *counter, uint64_t more)
{
    uint64_t now = atomic_load_explicit(&counter->value, memory_order_relaxed);
    atomic_store_explicit(&counter->value, now + more, memory_order_relaxed);
}

/* Any thread. */
static inline uint64_t counter_read(const struct counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

#endif
