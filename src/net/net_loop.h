// SPDX-License-Identifier: Apache-2.0
/* What a loop has for all of its connections: buffers, spare calls, who is to be written to.
 *
 *  (1) Everything is touched on the loop's thread, except the counters, which others may read,
 *      and `connections_open`, which the acceptor counts up.
 *  (2) A burst is what is handed over between two burst_end() of the server. While it lasts,
 *      nothing is written and no connection is closed, so frames may be borrowed from the read
 *      buffer.
 *  (3) A connection whose call ended outside of its own burst is dirty. All dirty ones are
 *      written to once, just before the loop waits: many ends in one turn leave with one write
 *      each.
 *  (4) A turn hands over requests for some milliseconds. A connection that has more of them by then keeps
 *      them and goes on in the next, in its turn; one that was just read from has one handed over in any case.
 *      Otherwise a few hundred clients that pipeline what is long in the making would keep all others
 *      waiting for their sum.
 *  (5) A closing loop takes leave of all connections at the same time. Calls and slow peers have
 *      2 s for replies, of which a peer may be stuck for 0.5 s at most; then there are 0.5 s for
 *      the peer to close its side. Who is idle is gone as soon as the peer closes. */

#ifndef NET_NET_LOOP_H
#define NET_NET_LOOP_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "counter.h"
#include "frame_pool.h"
#include "list.h"
#include "loop.h"
#include "trace_limit.h"

struct call_box;
struct connection;
struct net;

/* The most that is taken from a socket without having asked the memory budget. */
#define READ_BUFFER_BYTES (256u * 1024)
/* Small pieces of replies are gathered here, so that a burst's answers are one piece. */
#define WRITE_BUFFER_BYTES (256u * 1024)

struct net_loop {
    struct net *net;
    struct loop *base;
    unsigned index;
    bool has_thread;
    void *context; /* The server's. */
    uint8_t *read_buffer;
    uint8_t *write_buffer;
    struct frame_pool frame_pool;

    struct list connections; /* Open ones. */
    struct list dirty;       /* By (3). */
    uv_prepare_t before_wait;
    uint64_t turn_bytes; /* Sent since the last wait. */
    struct list
        waiting_senders; /* Connections by outbox.turn: their next bytes are too many for this turn. */
    struct list waiting_readers; /* By (4); of connections' `turn`. */
    int64_t turn_began_us; /* When the first request of this turn was handed over; -1: none was. */
    struct message again;

    struct list incomplete; /* Connections with a frame of their own that is not whole. */
    struct timer progress;  /* Looks at them while there are any. */

    struct list spare_calls;
    unsigned spare_call_count;
    unsigned call_count;   /* In use. */
    uint32_t calls_begun;  /* Wraps; for differences. */
    uint64_t unsent_bytes; /* Of replies that are ready: see outbox.h (5). */
    bool had_many_unsent;  /* Since the heap was trimmed. */
    struct timer trim;

    struct connection *bursting;   /* Whose burst it is; NULL outside of one. */
    struct call_box *handing_over; /* Whose call the server is looking at. */
    uint64_t burst;                /* Counts bursts: borrowed frames are good for theirs only. */

    bool is_closing;
    int64_t closing_until_ms; /* By (5), when no reply is waited for any longer. */
    bool is_gone_told;
    sem_t gone; /* Posted when a closing loop has no connection and no call left. */

    atomic_uint connections_open; /* From accept to close, for the choice of a loop. */
    atomic_uint connections_kept; /* Until the last call lets go of them. */
    struct counter frames, bytes_in, bytes_out;
    struct trace_kinds failures;     /* Lines about why connections were closed, */
    struct trace_limit memory_short; /* and that requests wait for memory. */
};

/* 0, ERR_NO_MEMORY or ERR_IO. */
int net_loop_open(struct net_loop **net_loop, struct net *net, unsigned index);

/* Takes leave of all connections, by (5); `gone` is posted once all of them are closed and every
 * call has ended. On the loop. */
void net_loop_close_connections(struct net_loop *net_loop);

/* Joins the thread and frees. NULL is fine. */
void net_loop_close(struct net_loop *net_loop);

/* Has the loop run something and waits for that, unless it is the caller's own or has no thread. */
void net_loop_errand(struct net_loop *net_loop, void (*run)(struct net_loop *net_loop, void *with),
                     void *with);

/* (3) Being dirty twice is fine. */
void net_loop_mark_dirty(struct net_loop *net_loop, struct connection *connection);

/* A reply of so many bytes is ready. */
void net_loop_count_unsent(struct net_loop *net_loop, uint64_t bytes);

/* By (4). Requests are about to be handed over; is their time up? */
void net_loop_begin_turn(struct net_loop *net_loop);
bool net_loop_turn_is_over(const struct net_loop *net_loop);
void net_loop_put_off(struct net_loop *net_loop, struct connection *connection);

/* A request has to wait for memory. */
void net_loop_tell_waiting(struct net_loop *net_loop);

/* A frame has begun that is not whole: see that it goes on. */
void net_loop_watch_progress(struct net_loop *net_loop);

#endif
