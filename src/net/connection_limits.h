// SPDX-License-Identifier: Apache-2.0
/* How many connections there may be, in total and from one address. Any thread. */

#ifndef NET_CONNECTION_LIMITS_H
#define NET_CONNECTION_LIMITS_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "map.h"

struct address_count;

struct connection_limits {
    pthread_mutex_t lock;
    struct map addresses; /* in6_addr -> struct address_count */
    int64_t max_total;
    int64_t max_per_address;
    int64_t open;
    bool is_awaited; /* Somebody waits for room. */
};

int connection_limits_open(struct connection_limits *limits, int32_t max_total,
                           int32_t max_per_address);
void connection_limits_close(struct connection_limits *limits);

/* Other limits from now on; who is there stays. True: there is room again and somebody waits for it. */
bool connection_limits_change(struct connection_limits *limits, int32_t max_total,
                              int32_t max_per_address);

/* Is there room for one more in total? If not, connection_limits_leave() will tell. */
bool connection_limits_has_room(struct connection_limits *limits);

/* Counts a connection from `address` (an IPv4 one mapped into IPv6). 0, ERR_LIMIT (too many from
 * there) or ERR_NO_MEMORY. */
int connection_limits_enter(struct connection_limits *limits, const struct in6_addr *address,
                            struct address_count **count);

/* True: there is room again and somebody waits for it. */
bool connection_limits_leave(struct connection_limits *limits, struct address_count *count);

int64_t connection_limits_max_total(struct connection_limits *limits);
int64_t connection_limits_count(struct connection_limits *limits);

#endif
