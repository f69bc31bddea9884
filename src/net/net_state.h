// SPDX-License-Identifier: Apache-2.0
/* What hangs together below net.h: the loops, the limits that they share, and who accepts. */

#ifndef NET_NET_STATE_H
#define NET_NET_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "acceptor.h"
#include "connection_limits.h"
#include "memory_budget.h"
#include "net.h"
#include "net_loop.h"

struct net {
    struct net_config config; /* With the defaults filled in. */
    struct memory_budget budget;
    struct connection_limits limits;
    struct net_loop **loops;       /* NET_LOOPS_MAX places. */
    atomic_uint loop_count;        /* Opened so far; what is below never changes again. */
    atomic_uint loops_in_use;      /* The first ones: they get new connections. */
    atomic_size_t unsent_per_loop; /* outbox.h (5) */
    struct acceptor acceptor;
    _Atomic uint64_t connections_accepted, connections_refused;
};

#endif
