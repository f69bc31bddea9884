// SPDX-License-Identifier: Apache-2.0
/* One place where clients come in: a host and a port, and the sockets that listen there. */

#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct acceptor;

/* A name may have several addresses; more than this many are not listened on. */
#define LISTENER_SOCKETS_MAX 8

struct listener_socket {
    int fd;
    uv_poll_t poll; /* The acceptor's, on its loop. */
    struct acceptor *acceptor;
    unsigned listener;
};

struct listener {
    struct listener_socket sockets[LISTENER_SOCKETS_MAX];
    unsigned socket_count;
};

struct listener_wish {
    const char *host;             /* A name, an address, or "" for all addresses of the machine. */
    uint16_t port;                /* 0: a free one, the same for all addresses. */
    int32_t receive_buffer_bytes; /* -1: the system's default. Inherited by connections. */
    int32_t backlog_size;         /* At least 1; the kernel bounds it by net.core.somaxconn. */
};

/* Blocks while names are resolved. `why` gets a sentence on failure. 0, ERR_USAGE (no such host),
 * ERR_IO, ERR_NO_MEMORY. */
int listener_open(struct listener **listener, const struct listener_wish *wish,
                  uint16_t *bound_port, char *why, size_t why_size);

/* Closes the sockets. */
void listener_stop(struct listener *listener);

#endif
