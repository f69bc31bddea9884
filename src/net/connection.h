// SPDX-License-Identifier: Apache-2.0
/* One client: its socket, what has come from it (inbox) and what it is owed (outbox).
 *
 *                 connection_start            connection_end, call_refuse
 *    arriving ---------------------> open -------------------------------> ending
 *        |                             |                                      | all replies sent
 *        |                             | connection_close                     | (outbox_flush)
 *        +---------------------------> closed <-------------------------------+
 *
 *  (1) A closed connection lives on as long as a call, a message or its poll handle points to it.
 *  (2) An ending one reads nothing more, sends what it owes and closes.
 *  (3) It is closed from the loop's own callbacks only, never inside a burst. */

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
    unsigned references;
    bool is_closed;
    bool is_ending;
    bool has_peer_ended; /* Seen while we were not reading. */
    uint8_t watched;     /* What uv_poll watches for (UV_…). */
    uint8_t read_waits_for;
    struct transport transport;
    uv_poll_t poll;
    struct message arrival;
    struct timer idle;
    int64_t active_ms; /* When bytes last moved. */
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

/* connection_close() with a line in the trace. */
void connection_fail(struct connection *connection, const char *why);

/* By (2), with a line in the trace. Allowed inside a burst. */
void connection_end(struct connection *connection, const char *why);

/* Does whatever can be done now: writes, hands over what was held, and watches for the rest. */
void connection_go_on(struct connection *connection);

/* Bytes moved. */
void connection_touch(struct connection *connection);

/* An IPv4 address in its mapped form reads as what it is. */
void connection_print_address(const struct in6_addr *address, char text[INET6_ADDRSTRLEN]);

#endif
