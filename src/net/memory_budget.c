// SPDX-License-Identifier: Apache-2.0
#include "memory_budget.h"

#include <assert.h>

#include "error.h"

static void pool_init(struct memory_pool *pool, uint64_t size)
{
    *pool = (struct memory_pool){ .size = size };
    list_init(&pool->waiting);
}

int memory_budget_open(struct memory_budget *budget, uint64_t total_bytes, uint64_t tight_below)
{
    if (pthread_mutex_init(&budget->lock, NULL) != 0) return ERR_NO_MEMORY;
    pool_init(&budget->small, total_bytes / MEMORY_SMALL_SHARE);
    pool_init(&budget->large, total_bytes - budget->small.size);
    budget->waiting_bytes = budget->beside = 0;
    budget->tight_below = tight_below;
    atomic_init(&budget->is_tight, budget->large.size < tight_below);
    atomic_init(&budget->waiting_count, 0);
    return 0;
}

void memory_budget_close(struct memory_budget *budget)
{
    assert(list_is_empty(&budget->small.waiting) && list_is_empty(&budget->large.waiting));
    pthread_mutex_destroy(&budget->lock);
}

void memory_wait_init(struct memory_wait *wait, struct loop *loop,
                      void (*granted)(struct message *message))
{
    *wait = (struct memory_wait){ .loop = loop };
    list_init(&wait->node);
    message_init(&wait->granted, granted);
}

static bool pool_fits(const struct memory_pool *pool, uint64_t bytes)
{
    return pool->used <= pool->size && bytes <= pool->size - pool->used;
}

static void budget_changed(struct memory_budget *budget)
{
    const struct memory_pool *large = &budget->large;
    bool is_tight = !list_is_empty(&large->waiting) || !list_is_empty(&budget->small.waiting) ||
                    !pool_fits(large, budget->tight_below);
    if (is_tight != memory_budget_is_tight(budget))
        atomic_store_explicit(&budget->is_tight, is_tight, memory_order_relaxed);
}

static void budget_count(struct memory_budget *budget, struct memory_grant grant)
{
    struct memory_pool *pool = grant.is_small_share ? &budget->small : &budget->large;
    pool->used += grant.bytes;
}

/* Where a frame of this size gets its bytes now, if anywhere. Its elders were asked before. */
static bool budget_find(const struct memory_budget *budget, uint64_t bytes, bool is_small,
                        struct memory_grant *grant)
{
    if (is_small && pool_fits(&budget->small, bytes)) {
        *grant = (struct memory_grant){ bytes, true };
        return true;
    }
    if (is_small && !list_is_empty(&budget->large.waiting)) return false;       /* (2) */
    uint64_t counted = bytes < budget->large.size ? bytes : budget->large.size; /* (3) */
    bool is_alone = budget->large.used == budget->beside;                       /* (5) */
    if (!is_alone && !pool_fits(&budget->large, counted)) return false;
    *grant = (struct memory_grant){ counted, false };
    return true;
}

bool memory_budget_take(struct memory_budget *budget, uint64_t bytes, bool is_small,
                        struct memory_wait *wait)
{
    pthread_mutex_lock(&budget->lock);
    struct memory_pool *pool = is_small ? &budget->small : &budget->large;
    bool is_granted = list_is_empty(&pool->waiting) &&
                      budget_find(budget, bytes, is_small, &wait->grant);
    if (is_granted) {
        budget_count(budget, wait->grant);
    } else {
        wait->grant = (struct memory_grant){ bytes, is_small };
        wait->is_queued = true;
        wait->beside = 0;
        list_push_back(&pool->waiting, &wait->node);
        budget->waiting_bytes += bytes;
        atomic_fetch_add_explicit(&budget->waiting_count, 1, memory_order_relaxed);
    }
    budget_changed(budget);
    pthread_mutex_unlock(&budget->lock);
    return is_granted;
}

static void budget_leave_line(struct memory_budget *budget, struct memory_wait *wait)
{
    list_remove(&wait->node);
    wait->is_queued = false;
    budget->waiting_bytes -= wait->grant.bytes;
    budget->beside -= wait->beside;
    atomic_fetch_sub_explicit(&budget->waiting_count, 1, memory_order_relaxed);
}

static void budget_wake(struct memory_budget *budget, struct memory_pool *pool, bool is_small)
{
    while (!list_is_empty(&pool->waiting)) {
        struct memory_wait *wait = LIST_OWNER(pool->waiting.next, struct memory_wait, node);
        struct memory_grant grant;
        if (!budget_find(budget, wait->grant.bytes, is_small, &grant)) return;
        budget_leave_line(budget, wait);
        wait->grant = grant;
        budget_count(budget, grant);
        loop_post(wait->loop, &wait->granted); /* From here on the wait may be gone. */
    }
}

/* The large line first: (2) lets small ones take from the large pool only once it is empty. */
static void budget_wake_all(struct memory_budget *budget)
{
    budget_wake(budget, &budget->large, false);
    budget_wake(budget, &budget->small, true);
    budget_changed(budget);
}

bool memory_budget_cancel(struct memory_budget *budget, struct memory_wait *wait)
{
    pthread_mutex_lock(&budget->lock);
    bool was_queued = wait->is_queued;
    if (was_queued) {
        budget_leave_line(budget, wait);
        budget_wake_all(budget); /* Those behind it may fit. */
    }
    pthread_mutex_unlock(&budget->lock);
    return was_queued;
}

void memory_budget_note_beside(struct memory_budget *budget, struct memory_wait *wait,
                               uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    if (wait->is_queued) {
        budget->beside += bytes - wait->beside;
        wait->beside = bytes;
        budget_wake_all(
            budget); /* Others may have given back all they had before this was known. */
    }
    pthread_mutex_unlock(&budget->lock);
}

void memory_budget_charge(struct memory_budget *budget, uint64_t bytes, bool is_small,
                          struct memory_grant *grant)
{
    pthread_mutex_lock(&budget->lock);
    bool fits = bytes <= budget->large.size && budget_find(budget, bytes, is_small, grant);
    if (!fits) *grant = (struct memory_grant){ bytes, false };
    budget_count(budget, *grant);
    budget_changed(budget);
    pthread_mutex_unlock(&budget->lock);
}

void memory_budget_give_back(struct memory_budget *budget, struct memory_grant *grant)
{
    if (grant->bytes == 0) return;
    pthread_mutex_lock(&budget->lock);
    struct memory_pool *pool = grant->is_small_share ? &budget->small : &budget->large;
    assert(pool->used >= grant->bytes);
    pool->used -= grant->bytes;
    grant->bytes = 0;
    budget_wake_all(budget);
    pthread_mutex_unlock(&budget->lock);
}

void memory_budget_usage(struct memory_budget *budget, uint64_t *reserved, uint64_t *waiting)
{
    pthread_mutex_lock(&budget->lock);
    *reserved = budget->small.used + budget->large.used;
    *waiting = budget->waiting_bytes;
    pthread_mutex_unlock(&budget->lock);
}
