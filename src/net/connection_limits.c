// SPDX-License-Identifier: Apache-2.0
#include "connection_limits.h"

#include <assert.h>

#include "alloc.h"
#include "error.h"

struct address_count {
    struct in6_addr address;
    int64_t open;
};

int connection_limits_open(struct connection_limits *limits, int32_t max_total,
                           int32_t max_per_address)
{
    if (pthread_mutex_init(&limits->lock, NULL) != 0) return ERR_NO_MEMORY;
    map_init(&limits->addresses);
    limits->max_total = max_total;
    limits->max_per_address = max_per_address;
    limits->open = 0;
    limits->is_awaited = false;
    return 0;
}

void connection_limits_close(struct connection_limits *limits)
{
    assert(limits->open == 0);
    map_close(&limits->addresses);
    pthread_mutex_destroy(&limits->lock);
}

/* Under the lock. */
static bool limits_wake(struct connection_limits *limits)
{
    bool wakes = limits->is_awaited && limits->open < limits->max_total;
    if (wakes) limits->is_awaited = false;
    return wakes;
}

bool connection_limits_change(struct connection_limits *limits, int32_t max_total,
                              int32_t max_per_address)
{
    pthread_mutex_lock(&limits->lock);
    limits->max_total = max_total;
    limits->max_per_address = max_per_address;
    bool wakes = limits_wake(limits);
    pthread_mutex_unlock(&limits->lock);
    return wakes;
}

bool connection_limits_has_room(struct connection_limits *limits)
{
    pthread_mutex_lock(&limits->lock);
    bool has_room = limits->open < limits->max_total;
    limits->is_awaited = !has_room;
    pthread_mutex_unlock(&limits->lock);
    return has_room;
}

/* The entry of `address`, made if it was not there. 0 or ERR_NO_MEMORY. */
static int limits_find(struct connection_limits *limits, const struct in6_addr *address,
                       struct address_count **count)
{
    struct address_count *found = map_get(&limits->addresses, address, sizeof *address);
    int err = 0;
    if (found == NULL) {
        found = mem_zalloc(sizeof *found);
        if (found == NULL) return ERR_NO_MEMORY;
        found->address = *address;
        err = map_put(&limits->addresses, address, sizeof *address, found, NULL);
    }
    if (err == 0)
        *count = found;
    else
        mem_free(found);
    return err;
}

static void limits_forget_empty(struct connection_limits *limits, struct address_count *count)
{
    if (count->open > 0) return;
    map_remove(&limits->addresses, &count->address, sizeof count->address);
    mem_free(count);
}

int connection_limits_enter(struct connection_limits *limits, const struct in6_addr *address,
                            struct address_count **count)
{
    struct address_count *found = NULL;
    pthread_mutex_lock(&limits->lock);
    int err = limits_find(limits, address, &found);
    if (err == 0 && found->open >= limits->max_per_address) {
        err = ERR_LIMIT;
        limits_forget_empty(limits, found); /* A limit of 0 leaves nobody there. */
    }
    if (err == 0) {
        found->open++;
        limits->open++;
        *count = found;
    }
    pthread_mutex_unlock(&limits->lock);
    return err;
}

bool connection_limits_leave(struct connection_limits *limits, struct address_count *count)
{
    pthread_mutex_lock(&limits->lock);
    count->open--;
    limits->open--;
    limits_forget_empty(limits, count);
    bool wakes = limits_wake(limits);
    pthread_mutex_unlock(&limits->lock);
    return wakes;
}

int64_t connection_limits_max_total(struct connection_limits *limits)
{
    pthread_mutex_lock(&limits->lock);
    int64_t most = limits->max_total;
    pthread_mutex_unlock(&limits->lock);
    return most;
}

int64_t connection_limits_count(struct connection_limits *limits)
{
    pthread_mutex_lock(&limits->lock);
    int64_t open = limits->open;
    pthread_mutex_unlock(&limits->lock);
    return open;
}
