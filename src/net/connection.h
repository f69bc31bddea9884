// SPDX-License-Identifier: Apache-2.0
/* One client: its socket, what has come from it (inbox) and what it is owed (outbox).
 *
 *                 connection_start          connection_end, call_refuse,
 *                                           connection_dismiss
 *    arriving ---------------------> open -----------------------------> ending
 *        |                             |                                    | connection_linger
 *        | the loop is closing         | connection_close                   | (all replies sent)
 *        +---------------------------> closed <------------------------- lingering
 *                                         the peer's end, or LINGER_MS
 *
 *  (1) A closed connection lives on as long as a call, a message or its poll handle points to it.
 *  (2) An ending one hands over nothing more and sends what it owes.
 *  (3) A lingering one has said that this was all. What still comes is read and thrown away:
 *      closing a socket that holds unread bytes resets it, and a reset destroys replies that the
 *      peer has not read yet (RFC 1122 4.2.2.13, RFC 2525 2.17).
 *  (4) It is closed from the loop's own callbacks only, never inside a burst. */

#ifndef NET_CONNECTION_H
#define NET_CONNECTION_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "inbox.h"
#include "list.h"
#include "loop.h"
#include "outbox.h"
#include "transport.h"

struct address_count;
struct net_loop;

struct connection {
    struct net_loop *loop;
    struct list node;  /* The loop's open ones. */
    struct list dirty; /* The loop's dirty ones. */
    struct list turn;  /* The loop's `waiting_readers`. */
    unsigned references;
    bool is_closed;
    bool is_ending; /* Also while it lingers. */
    bool is_lingering;
    bool is_finished;    /* The transport has told the peer. */
    bool has_peer_ended; /* Seen while we were not reading. */
    uint8_t watched;     /* What uv_poll watches for (UV_…). */
    uint8_t read_waits_for;
    struct transport transport;
    uv_poll_t poll;
    struct message arrival;
    struct timer patience; /* Until it is idle; when it lingers or is dismissed, for its peer. */
    int64_t active_ms;     /* When bytes last moved. */
    struct inbox inbox;
    struct outbox outbox;

    uint64_t id;
    unsigned listener;
    uint16_t peer_port;
    char peer[INET6_ADDRSTRLEN];
    struct address_count *address;
};

/* Takes a connected, non-blocking socket and sends it to `net_loop`, from any thread. On failure
 * the socket stays the caller's. 0 or ERR_NO_MEMORY. */
int connection_open(struct net_loop *net_loop, int fd, uint64_t id, unsigned listener,
                    const struct in6_addr *address, uint16_t port, struct address_count *count);

void connection_hold(struct connection *connection);
void connection_release(struct connection *connection);

/* Now; open calls are told `abandoned`. Twice is fine. */
void connection_close(struct connection *connection);

/* May there be a line about a connection that is closed for that reason? There are not many of one kind in a
 * minute; *left_out: so many like it were not told before. */
bool connection_may_tell(const struct connection *connection, const char *why, uint64_t *left_out);

/* connection_close() with a line in the trace, if there may be one. */
void connection_fail(struct connection *connection, const char *why);

/* By (2), with such a line. Allowed inside a burst. */
void connection_end(struct connection *connection, const char *why);

/* By (2), because the loop closes: its open calls are told `abandoned`, and neither they nor its
 * peer keep it for longer than net_loop.h (4) allows. */
void connection_dismiss(struct connection *connection);

/* By (3). What it still owes is given up. Twice is fine; may close it. */
void connection_linger(struct connection *connection);

/* Does whatever can be done now: writes, hands over what was held, and watches for the rest. */
void connection_go_on(struct connection *connection);

/* Bytes moved. */
void connection_touch(struct connection *connection);

/* An IPv4 address in its mapped form reads as what it is. */
void connection_print_address(const struct in6_addr *address, char text[INET6_ADDRSTRLEN]);

#endif
