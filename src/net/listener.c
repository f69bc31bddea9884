// SPDX-License-Identifier: Apache-2.0
#include "listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"

/* A free port of the first address may be taken on the second: then others are tried. */
#define FREE_PORT_TRIES 16

/* "" listens on this: IPv6, and IPv4 with it. */
static const struct sockaddr_in6 all_addresses = { .sin6_family = AF_INET6 };
static const struct sockaddr_in all_ipv4_addresses = { .sin_family = AF_INET };

static void address_set_port(struct sockaddr_storage *address, uint16_t port)
{
    /* The port has the same place in both families. */
    ((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
}

/* A socket that listens on `address`, or -1 with errno. */
static int socket_listen(const struct sockaddr_storage *address, socklen_t length,
                         const struct listener_wish *wish)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const int on = 1, off = 0;
    bool is_fine = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0;
    if (is_fine && address->ss_family == AF_INET6)
        is_fine = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0;
    /* Before listen(): the window's scale is agreed on in the handshake. */
    if (is_fine && wish->receive_buffer_bytes > 0)
        is_fine = setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wish->receive_buffer_bytes,
                             sizeof wish->receive_buffer_bytes) == 0;
    is_fine = is_fine && bind(fd, (const struct sockaddr *)address, length) == 0 &&
              listen(fd, wish->backlog_size) == 0;
    if (is_fine) return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static uint16_t socket_port(int fd)
{
    struct sockaddr_storage address = { 0 };
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return 0;
    return ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port);
}

static int listener_add(struct listener *listener, const struct sockaddr *address, socklen_t length,
                        const struct listener_wish *wish, uint16_t *port)
{
    struct sockaddr_storage with_port = { 0 };
    if (listener->socket_count == LISTENER_SOCKETS_MAX || length > sizeof with_port) return 0;
    memcpy(&with_port, address, length);
    address_set_port(&with_port, *port);
    int fd = socket_listen(&with_port, length, wish);
    if (fd < 0) return errno;
    listener->sockets[listener->socket_count++].fd = fd;
    if (*port == 0) *port = socket_port(fd);
    return 0;
}

/* Listens on all of `addresses`. Those that this machine does not have (::1 where IPv6 is off) are
 * passed over if there is another. Returns an errno. */
static int listener_add_all(struct listener *listener, const struct addrinfo *addresses,
                            const struct listener_wish *wish, uint16_t *port)
{
    int missing = 0;
    for (; addresses != NULL; addresses = addresses->ai_next) {
        if (addresses->ai_family != AF_INET && addresses->ai_family != AF_INET6) continue;
        int failure = listener_add(listener, addresses->ai_addr, addresses->ai_addrlen, wish, port);
        if (failure == EADDRNOTAVAIL || failure == EAFNOSUPPORT)
            missing = failure;
        else if (failure != 0)
            return failure;
    }
    if (listener->socket_count > 0) return 0;
    return missing != 0 ? missing : EADDRNOTAVAIL;
}

static int listener_add_everywhere(struct listener *listener, const struct listener_wish *wish,
                                   uint16_t *port)
{
    int failure = listener_add(listener, (const struct sockaddr *)&all_addresses,
                               sizeof all_addresses, wish, port);
    if (failure == EAFNOSUPPORT || failure == EADDRNOTAVAIL)
        failure = listener_add(listener, (const struct sockaddr *)&all_ipv4_addresses,
                               sizeof all_ipv4_addresses, wish, port);
    return failure;
}

static int listener_bind(struct listener *listener, const struct addrinfo *addresses,
                         const struct listener_wish *wish, uint16_t *bound_port, char *why,
                         size_t why_size)
{
    int failure = EADDRINUSE;
    uint16_t port = wish->port;
    for (unsigned try = 0; try < FREE_PORT_TRIES && failure == EADDRINUSE; try++) {
        if (try > 0 && wish->port != 0) break;
        port = wish->port;
        listener_stop(listener);
        failure = addresses == NULL ? listener_add_everywhere(listener, wish, &port)
                                    : listener_add_all(listener, addresses, wish, &port);
    }
    if (failure == 0) {
        *bound_port = port;
        return 0;
    }
    listener_stop(listener);
    snprintf(why, why_size, "cannot listen on %.80s:%u: %.80s", wish->host, wish->port,
             strerror(failure));
    return failure == ENOMEM || failure == ENOBUFS ? ERR_NO_MEMORY : ERR_IO;
}

int listener_open(struct listener **listener, const struct listener_wish *wish,
                  uint16_t *bound_port, char *why, size_t why_size)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    struct addrinfo *addresses = NULL;
    struct listener *fresh = mem_zalloc(sizeof *fresh);
    int err = fresh == NULL ? ERR_NO_MEMORY : 0;
    if (err != 0) snprintf(why, why_size, "out of memory");
    if (err == 0 && wish->host[0] != '\0') {
        int failure = getaddrinfo(wish->host, NULL, &hints, &addresses);
        if (failure != 0) {
            snprintf(why, why_size, "cannot resolve the host %.80s: %.80s", wish->host,
                     gai_strerror(failure));
            err = failure == EAI_MEMORY ? ERR_NO_MEMORY : ERR_USAGE;
        }
    }
    if (err == 0) err = listener_bind(fresh, addresses, wish, bound_port, why, why_size);
    if (addresses != NULL) freeaddrinfo(addresses);
    if (err == 0)
        *listener = fresh;
    else
        mem_free(fresh);
    return err;
}

void listener_stop(struct listener *listener)
{
    for (unsigned i = 0; i < listener->socket_count; i++)
        close(listener->sockets[i].fd);
    listener->socket_count = 0;
}
