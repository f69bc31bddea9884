// SPDX-License-Identifier: Apache-2.0
/* From replies to bytes, in the order of the calls (DESIGN 2.5).
 *
 *  (1) The line holds every call from hand-over until its reply is sent. Only its front is sent
 *      from.
 *  (2) Replies that are ready leave together: small pieces are gathered in the loop's write
 *      buffer, larger ones are pointed at, all in one system call.
 *  (3) File slices leave by sendfile, or, below the configured length, through the write buffer
 *      with the bytes around them. Either way only what is in the page cache is touched; the
 *      rest is brought in by the disk pool first (DESIGN 2.2). Slices of memory are pointed at.
 *  (4) Too many calls, too many bytes of replies, or a serial call stall the connection: nothing
 *      more is handed over until that is over.
 *  (5) So does any reply that is ready but not sent, while those of all the loop's connections take
 *      too much memory together: clients that ask and do not read cost one reply each then. */

#ifndef NET_OUTBOX_H
#define NET_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"

struct call_box;
struct connection;

/* Once a loop has sent so much in a turn, what is large waits for the next turn, in the order in which it came
 * to that; what is small leaves at once. */
#define LOOP_TURN_BYTES (2u * 1024 * 1024)

struct outbox {
    struct list calls; /* struct call, oldest first. */
    struct list turn;  /* The loop's, while it waits for a turn in which there is room. */
    uint32_t call_count;
    uint32_t open_count;     /* Not ended yet. */
    uint64_t reply_bytes;    /* Of ended ones, without slices. */
    struct call_box *serial; /* Nothing may overtake it. */
    int waits_for; /* What the socket must be (UV_…) before more can be written; 0: nothing. */
};

void outbox_init(struct outbox *outbox);

/* Writes what is ready and fits. May close the connection, and lets an ending one linger. */
void outbox_flush(struct connection *connection);

/* Nothing more can be sent: ended calls go, open ones are told. */
void outbox_abandon(struct connection *connection);

/* Open calls are told that nobody wants to wait for them any longer; their replies still leave. */
void outbox_tell_open(struct connection *connection);

/* (4) */
bool outbox_is_stalled(const struct connection *connection);

#endif
