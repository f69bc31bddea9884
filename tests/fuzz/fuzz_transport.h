// SPDX-License-Identifier: Apache-2.0
/* A client of the net layer inside of this process: no port, and bytes that come and go in pieces of any
 * size.
 *
 *  (1) What a transport may do, it does by chance: it gives and takes few bytes, says that it must wait
 *      although it need not (never twice running), and keeps bytes aside as TLS does.
 *  (2) What transport.h (3) promises a transport is checked. */

#ifndef TESTS_FUZZ_TRANSPORT_H
#define TESTS_FUZZ_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "net.h"
#include "transport.h"

enum fuzz_transport {
    FUZZ_TRANSPORT_PLAIN,
    FUZZ_TRANSPORT_PIECES,  /* (1), */
    FUZZ_TRANSPORT_SEES_ALL /* and files do not leave without it. */
};

/* Chance of the connections that are made from now on comes from `seed`. */
const struct transport_kind *fuzz_transport(enum fuzz_transport which, uint64_t seed);

/* Lets a client in, as if it came from that port, and returns its end; -1: the limit of connections, or of
 * memory. */
int fuzz_join(struct net *net, uint16_t port);

#endif
