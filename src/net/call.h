// SPDX-License-Identifier: Apache-2.0
/* One request on its way through the broker, and its reply.
 *
 *  (1) A call belongs to the loop of its connection; everything here runs on that loop's thread.
 *  (2) `frame` is valid until the burst ends (net.h: the server's burst_end() has
 *      returned). Whoever needs it longer calls call_keep_frame() before
 *      decoding.
 *  (3) Every call ends with exactly one of call_reply(), call_end_silently() and call_refuse(),
 *      inside the handler or at any later time; then it, its arena and its slices are gone.
 *  (4) Replies leave in the order in which the calls came, whatever ends first (DESIGN 2.5).
 *  (5) The connection may close while a call is suspended: the call stays valid until it is
 *      ended, and its reply then goes nowhere. So that a long wait can end early, `abandoned` (if
 *      set) is called, once: then, when the peer ends its side while nobody reads from it, or when
 *      net_close() begins. In those cases the connection is still there, and a reply that comes
 *      soon still leaves. */

#ifndef NET_CALL_H
#define NET_CALL_H

#include "arena.h"
#include "bytes.h"
#include "codec.h"
#include "list.h"

struct connection;
struct net_loop;

struct call {
    struct list node;              /* The connection's. */
    struct connection *connection; /* The net layer's; NULL once it has closed. */
    struct net_loop *loop;
    struct bytes frame;   /* Header and body of the request, without the length. */
    struct arena arena;   /* For what is decoded or built for it; 64 MiB at most. */
    struct encoder reply; /* Header and body of the reply; net puts the length in front. */
    bool is_serial;   /* Set by the handler: no later frame of this connection is handed over before
                      * this call has ended (an admin request whose effect the next expects). */
    int64_t begun_us; /* The handler's own: when it came; 0 until it is handed over. */
    int32_t may_wait_ms; /* The handler's own: so long it waits because the client asks it to. */
    void *context;       /* The handler's own. */
    void (*abandoned)(struct call *call); /* May be NULL, and is once called; see (5). */
    int16_t api_key, api_version;         /* Set by the handler, for traces. */
    int32_t correlation_id;
    struct str client_id;
    uint64_t frame_reserved; /* The net layer's: bytes held in the memory budget. */
    uint8_t state;           /* The net layer's. */
};

/* The bytes of the frame stay valid until the call ends, at call->frame, which may move: decode
 * after this. Within the call's own burst only, by (2). Returns 0 or ERR_NO_MEMORY. */
int call_keep_frame(struct call *call);

/* Do the frame's bytes stay valid until the call ends, without more ado? So it is with large frames, which
 * have memory of their own. */
bool call_frame_is_kept(const struct call *call);

/* Gives the frame's bytes back to the memory budget while the call waits; `frame` and everything
 * decoded from it must not be touched any more (produces that wait for replicas, DESIGN 2.4). */
void call_release_frame(struct call *call);

/* The reply is in call->reply. By (3) the call is gone for the caller, the reply's slices may
 * lie in its arena all the same: the arena lives until they are sent. Slices spliced into it are
 * released once they are sent or dropped. If the encoder's buffer failed, the connection is
 * closed instead. */
void call_reply(struct call *call);

/* Ends the call without any reply (produce with acks=0). */
void call_end_silently(struct call *call);

/* Ends the call and closes the connection, earlier replies first, with one line in the trace that
 * says `why`. */
void call_refuse(struct call *call, const char *why);

/* Writes who asked what, for a line about it: `conn=7 peer=10.0.0.9:51334 api=0 v9 corr=4 client=app`. Nothing
 * of the client is in it that is not escaped. Returns `text`. */
#define CALL_DESCRIPTION_BYTES 256
const char *call_describe(const struct call *call, char text[CALL_DESCRIPTION_BYTES]);

/* Which listener the client came in on (index into the server's listeners). */
unsigned call_listener(const struct call *call);

/* The client's address as text without its port, an IPv4 one always as such, for traces and
 * answers. Valid as long as the call, also after its connection has closed. */
const char *call_peer(const struct call *call);

#endif
