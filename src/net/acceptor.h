// SPDX-License-Identifier: Apache-2.0
/* Takes connections in from all listeners and gives each to the loop with the fewest.
 *
 *                acceptor_start               acceptor_stop
 *    stopped ---------------------> accepting -------------> stopped for good
 *                                    |     ^
 *     no room (acceptor_has_room),   |     | acceptor_wake, or after a while
 *     too fast (acceptor_is_due),    |     |
 *     no descriptor or memory left   v     |
 *                                    pausing
 *
 * Lives on the first loop; everything is called there, except acceptor_wake(). */

#ifndef NET_ACCEPTOR_H
#define NET_ACCEPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "listener.h"
#include "loop.h"
#include "trace_limit.h"

struct net;

struct acceptor {
    struct net *net;
    struct loop *loop;
    struct listener **listeners;
    unsigned listener_count;
    bool is_accepting; /* Or pausing. */
    bool is_stopped;
    struct timer
        pause; /* Set while there is no descriptor or memory for another one, or they come */
               /* too fast. */
    struct message wake;
    uint64_t next_id;
    struct trace_limit no_resources, no_room, too_fast, too_many_from_address;
};

void acceptor_init(struct acceptor *acceptor, struct net *net, struct loop *loop);

/* Adds a listener before the start. `*index` is its place. 0 or ERR_NO_MEMORY. */
int acceptor_add(struct acceptor *acceptor, struct listener *listener, unsigned *index);

void acceptor_start(struct acceptor *acceptor);
void acceptor_stop(struct acceptor *acceptor);  /* Closes the listeners' sockets. Twice is fine. */
void acceptor_close(struct acceptor *acceptor); /* Frees; stopped before, and its loop is gone. */

/* There is room for connections again, or the limits are others. Any thread. */
void acceptor_wake(struct acceptor *acceptor);

#endif
