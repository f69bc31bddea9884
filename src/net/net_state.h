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
    struct net_loop **loops;
    unsigned loop_count; /* Opened so far. */
    struct acceptor acceptor;
    _Atomic uint64_t connections_accepted, connections_refused;
};

#endif
