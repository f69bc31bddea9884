// SPDX-License-Identifier: Apache-2.0
/* How many connections there may be, in total and from one address, and how fast they may come. Any
 * thread. */

#ifndef NET_CONNECTION_LIMITS_H
#define NET_CONNECTION_LIMITS_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "address_limits.h"
#include "map.h"
#include "net.h"

struct address_count;

struct connection_limits {
    pthread_mutex_t lock;
    struct map addresses; /* in6_addr -> struct address_count */
    int32_t max_total;
    int32_t max_per_address;
    struct address_limits exceptions; /* Addresses with a limit of their own. */
    int32_t max_per_second;
    int64_t due_ns; /* When the next one would come if all came at that rate. */
    int64_t open;
    bool is_awaited; /* Somebody waits for room. */
};

/* 0, ERR_NO_MEMORY, or ERR_USAGE: the exceptions are not legal. */
int connection_limits_open(struct connection_limits *limits, const struct net_limits *wanted);
void connection_limits_close(struct connection_limits *limits);

/* Other limits from now on; who is there stays. What connection_limits_open() returns; after a failure
 * nothing has changed. */
int connection_limits_change(struct connection_limits *limits, const struct net_limits *wanted);

/* Is there room for one more in total? If not, connection_limits_leave() will tell. */
bool connection_limits_has_room(struct connection_limits *limits);

/* How long the next one must wait so that they do not come too fast, in milliseconds; 0: not at all.
 * A second's worth may come at once. */
int64_t connection_limits_delay_ms(struct connection_limits *limits, int64_t now_ms);

/* Counts a connection from `address` (an IPv4 one mapped into IPv6). 0, ERR_LIMIT (too many from
 * there) or ERR_NO_MEMORY. */
int connection_limits_enter(struct connection_limits *limits, const struct in6_addr *address,
                            int64_t now_ms, struct address_count **count);

/* True: there is room again and somebody waits for it. */
bool connection_limits_leave(struct connection_limits *limits, struct address_count *count);

int32_t connection_limits_max_total(struct connection_limits *limits);
int32_t connection_limits_max_per_second(struct connection_limits *limits);
int64_t connection_limits_count(struct connection_limits *limits);

#endif
