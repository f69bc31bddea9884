// SPDX-License-Identifier: Apache-2.0
#include "connection_limits.h"

#include <assert.h>

#include "alloc.h"
#include "error.h"

struct address_count {
    struct in6_addr address;
    int64_t open;
};

static int read_exceptions(struct address_limits *exceptions, const struct net_limits *wanted)
{
    char why[128]; /* Whoever has the text from an operator has told it. */
    return address_limits_open(exceptions, wanted->per_ip_overrides, why, sizeof why);
}

int connection_limits_open(struct connection_limits *limits, const struct net_limits *wanted)
{
    *limits = (struct connection_limits){
        .max_total = wanted->max_connections,
        .max_per_address = wanted->max_connections_per_ip,
        .max_per_second = wanted->max_connections_per_second,
    };
    int err = read_exceptions(&limits->exceptions, wanted);
    if (err != 0) return err;
    if (pthread_mutex_init(&limits->lock, NULL) != 0) {
        address_limits_close(&limits->exceptions);
        return ERR_NO_MEMORY;
    }
    map_init(&limits->addresses);
    return 0;
}

void connection_limits_close(struct connection_limits *limits)
{
    assert(limits->open == 0);
    map_close(&limits->addresses);
    address_limits_close(&limits->exceptions);
    pthread_mutex_destroy(&limits->lock);
}

/* Under the lock. */
static bool limits_wake(struct connection_limits *limits)
{
    bool wakes = limits->is_awaited && limits->open < limits->max_total;
    if (wakes) limits->is_awaited = false;
    return wakes;
}

int connection_limits_change(struct connection_limits *limits, const struct net_limits *wanted)
{
    struct address_limits exceptions;
    int err = read_exceptions(&exceptions, wanted);
    if (err != 0) return err;
    pthread_mutex_lock(&limits->lock);
    struct address_limits before = limits->exceptions;
    limits->exceptions = exceptions;
    limits->max_total = wanted->max_connections;
    limits->max_per_address = wanted->max_connections_per_ip;
    if (limits->max_per_second != wanted->max_connections_per_second) {
        limits->max_per_second = wanted->max_connections_per_second;
        limits->due_ns = 0; /* Nobody waits for what another rate would have asked. */
    }
    limits->is_awaited = false; /* Who waits is woken by the caller. */
    pthread_mutex_unlock(&limits->lock);
    address_limits_close(&before);
    return 0;
}

bool connection_limits_has_room(struct connection_limits *limits)
{
    pthread_mutex_lock(&limits->lock);
    bool has_room = limits->open < limits->max_total;
    limits->is_awaited = !has_room;
    pthread_mutex_unlock(&limits->lock);
    return has_room;
}

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS 1000000

/* A rate of 0 lets nobody in; it is looked at again in so long. */
#define LONGEST_DELAY_MS 1000

int64_t connection_limits_delay_ms(struct connection_limits *limits, int64_t now_ms)
{
    pthread_mutex_lock(&limits->lock);
    int32_t per_second = limits->max_per_second;
    int64_t due_ns = limits->due_ns;
    pthread_mutex_unlock(&limits->lock);
    if (per_second == 0) return LONGEST_DELAY_MS;
    int64_t wait_ns = due_ns - (now_ms * NS_PER_MS + NS_PER_S - NS_PER_S / per_second);
    int64_t wait_ms = wait_ns <= 0 ? 0 : (wait_ns + NS_PER_MS - 1) / NS_PER_MS;
    return wait_ms < LONGEST_DELAY_MS ? wait_ms : LONGEST_DELAY_MS;
}

/* Under the lock. */
static void limits_note_arrival(struct connection_limits *limits, int64_t now_ms)
{
    int64_t now_ns = now_ms * NS_PER_MS;
    if (limits->max_per_second == 0) return; /* Changed since it was let in. */
    if (limits->due_ns < now_ns) limits->due_ns = now_ns;
    limits->due_ns += NS_PER_S / limits->max_per_second;
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
                            int64_t now_ms, struct address_count **count)
{
    struct address_count *found = NULL;
    pthread_mutex_lock(&limits->lock);
    limits_note_arrival(limits, now_ms);
    int32_t most = address_limits_find(&limits->exceptions, address, limits->max_per_address);
    int err = limits_find(limits, address, &found);
    if (err == 0 && found->open >= most) {
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

int32_t connection_limits_max_total(struct connection_limits *limits)
{
    pthread_mutex_lock(&limits->lock);
    int32_t most = limits->max_total;
    pthread_mutex_unlock(&limits->lock);
    return most;
}

int32_t connection_limits_max_per_second(struct connection_limits *limits)
{
    pthread_mutex_lock(&limits->lock);
    int32_t most = limits->max_per_second;
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
