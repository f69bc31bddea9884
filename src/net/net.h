// SPDX-License-Identifier: Apache-2.0
/* Listeners, loops and connections: bytes in, whole frames out, replies back in order.
 *
 *  (1) A connection lives on one loop from accept to close. New ones go to that of the loops in use
 *      that has the fewest. A loop that is no longer in use keeps those that it has.
 *  (2) One read buffer per loop; a connection has a buffer of its own only while a frame is
 *      incomplete, of exactly that frame's size, reserved in the memory budget before it is
 *      read.
 *  (3) Complete frames of one read are handed over, 32 of them at the most, then burst_end() is called, then
 *      all replies that are ready leave with one write (DESIGN 2.3); then the next frames.
 *  (4) Above a limit we stop reading that socket; we do not drop and do not grow (DESIGN 2.4).
 *  (5) A frame whose length is negative or above max_frame_bytes, or a call_refuse(), closes
 *      that one connection with one line in the trace. */

#ifndef NET_NET_H
#define NET_NET_H

#include <stdint.h>

#include "call.h"
#include "clock.h"
#include "job.h"
#include "loop.h"

struct net;
struct transport_kind;

/* What the layer above does with calls. All on the loop's thread. */
struct net_server {
    /* A loop was made, and has no connection yet: give it its context. On the thread that calls net_open() or
     * net_use_loops(). 0, or why there can be no such loop; may be NULL. */
    int (*open_loop)(struct net_server *server, struct net_loop *loop);
    /* A whole frame has come. End the call now or later (call.h). */
    void (*call)(struct net_server *server, struct call *call);
    /* A burst was handed over: finish what was put off. Called only if there was a
     * frame; may be NULL. */
    void (*burst_end)(struct net_server *server, struct net_loop *loop);
    /* The call has just ended; `is_refused` as by call_refuse(). What is in it is still there, but the frame
     * only as in (2) of call.h. May be NULL. */
    void (*ended)(struct net_server *server, struct call *call, bool is_refused);
};

/* So many loops there may be. */
#define NET_LOOPS_MAX 1024

/* How many connections there may be, and how fast they may come. INT32_MAX: no limit. */
struct net_limits {
    int32_t max_connections;
    int32_t max_connections_per_ip;
    int32_t max_connections_per_second; /* max.connection.creation.rate */
    const char *per_ip_overrides;       /* As in address_limits.h; borrowed for the call. */
};

struct net_config {
    struct net_server *server;
    struct clock *clock;
    struct executor *disk;             /* Where slices that are not in the page cache are warmed. */
    unsigned loop_count;               /* 1 to NET_LOOPS_MAX. */
    int32_t max_frame_bytes;           /* socket.request.max.bytes */
    uint64_t memory_bytes;             /* queued.max.request.bytes: half-read and waiting frames. */
    uint32_t max_calls_per_connection; /* Suspended calls before we stop reading; 0: a default. */
    int64_t idle_ms;                   /* connections.max.idle.ms; negative: never. */
    struct net_limits limits;
    int32_t backlog_size;       /* socket.listen.backlog.size: who waits to be accepted. */
    size_t sendfile_from_bytes; /* Slices at least this long leave by sendfile. */
    int32_t send_buffer_bytes;  /* socket.send.buffer.bytes; -1: the system's default. */
    int32_t receive_buffer_bytes;
    const struct transport_kind *transport; /* transport.h; NULL: TCP as it is. */
};

/* Makes the loops; nothing runs yet. The process ignores SIGPIPE from here on. 0, ERR_NO_MEMORY,
 * ERR_IO, or ERR_USAGE: the overrides are not legal. */
int net_open(struct net **net, const struct net_config *config);

/* Binds and listens, but accepts nobody before net_accept(). `host` is a name, an IPv4 or IPv6
 * address, or "" for all. Port 0 takes a free one. `*index` counts listeners from 0,
 * `*bound_port` is the real port. `why` (at least 200 bytes) gets a sentence on failure. 0,
 * ERR_IO, ERR_USAGE, ERR_NO_MEMORY. */
int net_listen(struct net *net, const char *host, uint16_t port, unsigned *index,
               uint16_t *bound_port, char *why, size_t why_size);

/* Starts the loops' threads without accepting: messages and timers run from here on. */
int net_start(struct net *net);

/* Starts to accept connections. */
void net_accept(struct net *net);

/* Other limits from now on; connections that are there stay. Any thread, once net_start() was called. 0,
 * or ERR_NO_MEMORY or ERR_USAGE, and nothing has changed. */
int net_set_limits(struct net *net, const struct net_limits *limits);

/* New connections go to the first `count` loops (1 to NET_LOOPS_MAX) from now on; those that are missing are
 * made and started. The others keep the connections that they have, and sleep without any: nobody is cut
 * off. One call at a time, between net_start() and net_close(). 0, ERR_NO_MEMORY or ERR_IO: as many as could
 * be made are in use. */
int net_use_loops(struct net *net, unsigned count);

/* Stops accepting and closes the listening sockets. Returns when that is done. */
void net_stop_accepting(struct net *net);

/* Takes leave of all clients, stops and frees. NULL is fine.
 *
 * No more frames are handed over. Suspended calls are told `abandoned` and have 2 s for their
 * replies to leave; a client that takes nothing of them is waited for 0.5 s. Whoever has all that
 * it is owed sees the end of the stream and has 0.5 s to close its side, so that no reset can
 * overtake the replies. After that, only calls that have not ended are waited for. */
void net_close(struct net *net);

/* Any thread. All loops that there are, in use or not; they stay until net_close(). */
unsigned net_loop_count(const struct net *net);
struct net_loop *net_loop_at(struct net *net, unsigned index);

struct loop *net_loop_base(struct net_loop *net_loop); /* The thread with its mailbox and timers. */
unsigned net_loop_index(const struct net_loop *net_loop);
void *net_loop_context(const struct net_loop *net_loop); /* The server's own, per loop. */
void net_loop_set_context(struct net_loop *net_loop, void *context);

struct net_stats {
    uint64_t connections_open, connections_accepted, connections_refused;
    uint64_t frames, bytes_in, bytes_out;
    uint64_t memory_reserved; /* Bytes of the budget in use. */
    uint64_t memory_waiting;  /* Bytes that connections wait for and do not hold. */
};
void net_stats(struct net *net, struct net_stats *stats); /* Any thread; a snapshot. */

struct net_loop_stats {
    uint64_t connections_open, frames, bytes_in, bytes_out;
};
void net_loop_stats(const struct net_loop *net_loop, struct net_loop_stats *stats); /* As above. */

#endif
