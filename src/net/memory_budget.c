// SPDX-License-Identifier: Apache-2.0
#include "memory_budget.h"

#include <assert.h>

#include "error.h"

static bool pool_fits(const struct memory_pool *pool, uint64_t bytes)
{
    return pool->used <= pool->size && bytes <= pool->size - pool->used;
}

static bool anybody_waits(const struct memory_budget *budget)
{
    for (unsigned share = 0; share < MEMORY_SHARES; share++)
        if (!list_is_empty(&budget->pools[share].waiting)) return true;
    return false;
}

/* What a read brings that nobody asked for is charged to the usual share, then to the rest. If it begins a frame that
 * has to wait it is held as long; so nobody may wait yet. */
static bool has_room_to_read(const struct memory_budget *budget)
{
    return !anybody_waits(budget) &&
           (pool_fits(&budget->pools[MEMORY_USUAL], budget->tight_below) ||
            pool_fits(&budget->pools[MEMORY_LARGE], budget->tight_below));
}

static void budget_changed(struct memory_budget *budget)
{
    bool is_tight = !has_room_to_read(budget);
    if (is_tight != memory_budget_is_tight(budget))
        atomic_store_explicit(&budget->is_tight, is_tight, memory_order_relaxed);
}

static void budget_count(struct memory_budget *budget, struct memory_grant grant)
{
    budget->pools[grant.share].used += grant.bytes;
}

/* By (2): where a frame of this size gets its bytes now, if anywhere. Its elders were asked before. */
static bool budget_find(const struct memory_budget *budget, uint64_t bytes, enum memory_share own,
                        struct memory_grant *grant)
{
    const struct memory_pool *large = &budget->pools[MEMORY_LARGE];
    for (enum memory_share share = own; share < MEMORY_LARGE; share++) {
        const struct memory_pool *pool = &budget->pools[share];
        if (share != own && !list_is_empty(&pool->waiting)) return false;
        if (!pool_fits(pool, bytes)) continue;
        *grant = (struct memory_grant){ bytes, share };
        return true;
    }
    if (own != MEMORY_LARGE && !list_is_empty(&large->waiting)) return false;
    uint64_t counted = bytes < large->size ? bytes : large->size; /* (3) */
    bool is_alone = large->used == budget->beside;                /* (5) */
    if (!is_alone && !pool_fits(large, counted)) return false;
    *grant = (struct memory_grant){ counted, MEMORY_LARGE };
    return true;
}

static void pool_init(struct memory_pool *pool, uint64_t size)
{
    pool->size = size;
    pool->used = 0;
    list_init(&pool->waiting);
    atomic_init(&pool->waiting_count, 0);
}

int memory_budget_open(struct memory_budget *budget, uint64_t total_bytes, uint64_t tight_below)
{
    if (pthread_mutex_init(&budget->lock, NULL) != 0) return ERR_NO_MEMORY;
    uint64_t small = total_bytes / MEMORY_SMALL_SHARE, usual = total_bytes / MEMORY_USUAL_SHARE;
    pool_init(&budget->pools[MEMORY_SMALL], small);
    pool_init(&budget->pools[MEMORY_USUAL], usual);
    pool_init(&budget->pools[MEMORY_LARGE], total_bytes - small - usual);
    budget->waiting_bytes = budget->beside = 0;
    budget->tight_below = tight_below;
    atomic_init(&budget->is_tight, false);
    budget_changed(budget);
    return 0;
}

void memory_budget_close(struct memory_budget *budget)
{
    for (unsigned share = 0; share < MEMORY_SHARES; share++)
        assert(list_is_empty(&budget->pools[share].waiting));
    pthread_mutex_destroy(&budget->lock);
}

void memory_wait_init(struct memory_wait *wait, struct loop *loop,
                      void (*granted)(struct message *message))
{
    *wait = (struct memory_wait){ .loop = loop };
    list_init(&wait->node);
    message_init(&wait->granted, granted);
}

bool memory_budget_take(struct memory_budget *budget, uint64_t bytes, enum memory_share share,
                        struct memory_wait *wait)
{
    pthread_mutex_lock(&budget->lock);
    struct memory_pool *pool = &budget->pools[share];
    bool is_granted = list_is_empty(&pool->waiting) &&
                      budget_find(budget, bytes, share, &wait->grant);
    if (is_granted) {
        budget_count(budget, wait->grant);
    } else {
        wait->grant = (struct memory_grant){ bytes, share };
        wait->is_queued = true;
        wait->beside = 0;
        list_push_back(&pool->waiting, &wait->node);
        budget->waiting_bytes += bytes;
        atomic_fetch_add_explicit(&pool->waiting_count, 1, memory_order_relaxed);
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
    atomic_fetch_sub_explicit(&budget->pools[wait->grant.share].waiting_count, 1,
                              memory_order_relaxed);
}

static void budget_wake(struct memory_budget *budget, enum memory_share share)
{
    struct memory_pool *pool = &budget->pools[share];
    while (!list_is_empty(&pool->waiting)) {
        struct memory_wait *wait = LIST_OWNER(pool->waiting.next, struct memory_wait, node);
        struct memory_grant grant;
        if (!budget_find(budget, wait->grant.bytes, share, &grant)) return;
        budget_leave_line(budget, wait);
        wait->grant = grant;
        budget_count(budget, grant);
        loop_post(wait->loop, &wait->granted); /* From here on the wait may be gone. */
    }
}

/* The large line first: (2) lets smaller ones take from the large pool only once it is empty. */
static void budget_wake_all(struct memory_budget *budget)
{
    budget_wake(budget, MEMORY_LARGE);
    budget_wake(budget, MEMORY_USUAL);
    budget_wake(budget, MEMORY_SMALL);
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
                               const struct memory_grant *charged)
{
    uint64_t bytes = charged->share == MEMORY_LARGE ? charged->bytes : 0;
    pthread_mutex_lock(&budget->lock);
    if (wait->is_queued) {
        budget->beside += bytes - wait->beside;
        wait->beside = bytes;
        budget_wake_all(
            budget); /* Others may have given back all they had before this was known. */
    }
    pthread_mutex_unlock(&budget->lock);
}

void memory_budget_charge(struct memory_budget *budget, uint64_t bytes, enum memory_share share,
                          struct memory_grant *grant)
{
    pthread_mutex_lock(&budget->lock);
    bool fits = bytes <= budget->pools[MEMORY_LARGE].size &&
                budget_find(budget, bytes, share, grant);
    if (!fits) *grant = (struct memory_grant){ bytes, MEMORY_LARGE };
    budget_count(budget, *grant);
    budget_changed(budget);
    pthread_mutex_unlock(&budget->lock);
}

void memory_budget_give_back(struct memory_budget *budget, struct memory_grant *grant)
{
    if (grant->bytes == 0) return;
    pthread_mutex_lock(&budget->lock);
    struct memory_pool *pool = &budget->pools[grant->share];
    assert(pool->used >= grant->bytes);
    pool->used -= grant->bytes;
    grant->bytes = 0;
    budget_wake_all(budget);
    pthread_mutex_unlock(&budget->lock);
}

void memory_budget_usage(struct memory_budget *budget, uint64_t *reserved, uint64_t *waiting)
{
    pthread_mutex_lock(&budget->lock);
    *reserved = 0;
    for (unsigned share = 0; share < MEMORY_SHARES; share++)
        *reserved += budget->pools[share].used;
    *waiting = budget->waiting_bytes;
    pthread_mutex_unlock(&budget->lock);
}
