// SPDX-License-Identifier: Apache-2.0
#include "acceptor.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "connection.h"
#include "error.h"
#include "net_state.h"
#include "trace.h"

/* Taken from one socket before the loop's other work. */
#define ACCEPT_BURST 64

/* Without descriptors or memory the next accept would fail, too; the clients wait in the
 * backlog. */
#define PAUSE_MS 100

#define RARE_LINE_MS 10000

static void acceptor_on_poll(uv_poll_t *poll, int status, int events);

/* True: show a line now; it stands for `*count`. */
static bool rare_line_is_due(struct trace_limit *limit, struct loop *loop, uint64_t *count)
{
    if (!trace_limit_allows(limit, 1, RARE_LINE_MS, loop_now_ms(loop), count)) return false;
    ++*count;
    return true;
}

static void acceptor_watch(struct acceptor *acceptor, bool is_watching)
{
    for (unsigned i = 0; i < acceptor->listener_count; i++) {
        struct listener *listener = acceptor->listeners[i];
        for (unsigned k = 0; k < listener->socket_count; k++) {
            uv_poll_t *poll = &listener->sockets[k].poll;
            if (is_watching)
                uv_poll_start(poll, UV_READABLE, acceptor_on_poll);
            else
                uv_poll_stop(poll);
        }
    }
}

static void acceptor_go_on(struct acceptor *acceptor)
{
    if (acceptor->is_accepting) acceptor_watch(acceptor, true);
}

static void acceptor_pause_over(struct timer *timer)
{
    acceptor_go_on(LIST_OWNER(timer, struct acceptor, pause));
}

static void acceptor_woken(struct message *message)
{
    struct acceptor *acceptor = LIST_OWNER(message, struct acceptor, wake);
    timer_cancel(acceptor->loop, &acceptor->pause);
    acceptor_go_on(acceptor);
}

void acceptor_wake(struct acceptor *acceptor)
{
    loop_post(acceptor->loop, &acceptor->wake);
}

static void acceptor_pause(struct acceptor *acceptor, const char *why)
{
    uint64_t count;
    if (rare_line_is_due(&acceptor->no_resources, acceptor->loop, &count))
        trace(TRACE_WARN, "net", "cannot accept connections for a moment: %s (%llu times)", why,
              (unsigned long long)count);
    acceptor_watch(acceptor, false);
    timer_set(acceptor->loop, &acceptor->pause, PAUSE_MS);
}

/* Above the total limit clients wait in the backlog: we do not drop (DESIGN 2.4). */
static bool acceptor_has_room(struct acceptor *acceptor)
{
    uint64_t count;
    if (connection_limits_has_room(&acceptor->net->limits)) return true;
    acceptor_watch(acceptor, false);
    if (rare_line_is_due(&acceptor->no_room, acceptor->loop, &count))
        trace(TRACE_WARN, "net",
              "%" PRId32 " connections are open, the limit: others wait (%llu times)",
              connection_limits_max_total(&acceptor->net->limits), (unsigned long long)count);
    return false;
}

/* Those that come too fast wait in the backlog, too. */
static bool acceptor_is_due(struct acceptor *acceptor)
{
    struct connection_limits *limits = &acceptor->net->limits;
    uint64_t count;
    int64_t wait_ms = connection_limits_delay_ms(limits, loop_now_ms(acceptor->loop));
    if (wait_ms == 0) return true;
    acceptor_watch(acceptor, false);
    timer_set(acceptor->loop, &acceptor->pause, wait_ms);
    if (rare_line_is_due(&acceptor->too_fast, acceptor->loop, &count))
        trace(TRACE_WARN, "net",
              "more than %" PRId32 " connections a second, the limit: others wait (%llu times)",
              connection_limits_max_per_second(limits), (unsigned long long)count);
    return false;
}

/* ---- one connection ---- */

static void address_of(const struct sockaddr_storage *from, struct in6_addr *address,
                       uint16_t *port)
{
    if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)from;
        *address = six->sin6_addr;
        *port = ntohs(six->sin6_port);
        return;
    }
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)from;
    *address = address_from_ipv4(four->sin_addr);
    *port = ntohs(four->sin_port);
}

static void set_options(const struct net_config *config, int fd)
{
    /* None of them is worth a connection if it fails. */
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (config->send_buffer_bytes > 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &config->send_buffer_bytes,
                   sizeof config->send_buffer_bytes);
}

static struct net_loop *least_loaded(const struct net *net)
{
    struct net_loop *best = net->loops[0];
    unsigned count = atomic_load_explicit(&net->loops_in_use, memory_order_acquire);
    for (unsigned i = 1; i < count; i++)
        if (atomic_load_explicit(&net->loops[i]->connections_open, memory_order_relaxed) <
            atomic_load_explicit(&best->connections_open, memory_order_relaxed))
            best = net->loops[i];
    return best;
}

static void acceptor_refuse(struct acceptor *acceptor, const struct in6_addr *address, int err)
{
    char text[INET6_ADDRSTRLEN];
    uint64_t count;
    atomic_fetch_add_explicit(&acceptor->net->connections_refused, 1, memory_order_relaxed);
    if (!rare_line_is_due(&acceptor->too_many_from_address, acceptor->loop, &count)) return;
    connection_print_address(address, text);
    trace(TRACE_WARN, "net", "refused a connection from %s: %s (%llu since the last such line)",
          text, err == ERR_LIMIT ? "there are too many from that address" : error_text(err),
          (unsigned long long)count);
}

static void acceptor_take(struct acceptor *acceptor, unsigned listener, int fd,
                          const struct sockaddr_storage *from)
{
    struct net *net = acceptor->net;
    struct address_count *count = NULL;
    struct in6_addr address;
    uint16_t port;
    address_of(from, &address, &port);
    int err = connection_limits_enter(&net->limits, &address, loop_now_ms(acceptor->loop), &count);
    if (err == 0) {
        set_options(&net->config, fd);
        err = connection_open(least_loaded(net), fd, ++acceptor->next_id, listener, &address, port,
                              count);
        if (err != 0) connection_limits_leave(&net->limits, count);
    }
    if (err == 0) {
        atomic_fetch_add_explicit(&net->connections_accepted, 1, memory_order_relaxed);
    } else {
        acceptor_refuse(acceptor, &address, err);
        close(fd); /* KIP-402 for the address's limit: at once. */
    }
}

static bool is_out_of_resources(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void acceptor_on_poll(uv_poll_t *poll, int status, int events)
{
    struct listener_socket *socket = poll->data;
    struct acceptor *acceptor = socket->acceptor;
    (void)events;
    if (status < 0) { /* libuv has stopped watching this one. */
        acceptor_pause(acceptor, uv_strerror(status));
        return;
    }
    for (unsigned i = 0; i < ACCEPT_BURST; i++) {
        if (!acceptor_has_room(acceptor) || !acceptor_is_due(acceptor)) return;
        struct sockaddr_storage from = { 0 };
        socklen_t length = sizeof from;
        int fd = accept4(socket->fd, (struct sockaddr *)&from, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            acceptor_take(acceptor, socket->listener, fd, &from);
        } else if (errno == EAGAIN) {
            return;
        } else if (is_out_of_resources(errno)) {
            acceptor_pause(acceptor, strerror(errno));
            return;
        } /* Anything else was that one connection's: accept(2) passes on its network errors. */
    }
}

/* ---- life ---- */

void acceptor_init(struct acceptor *acceptor, struct net *net, struct loop *loop)
{
    *acceptor = (struct acceptor){ .net = net, .loop = loop };
    timer_init(&acceptor->pause, acceptor_pause_over);
    message_init(&acceptor->wake, acceptor_woken);
}

int acceptor_add(struct acceptor *acceptor, struct listener *listener, unsigned *index)
{
    size_t count = acceptor->listener_count;
    struct listener **more = mem_realloc(acceptor->listeners,
                                         (count + 1) * sizeof *acceptor->listeners);
    if (more == NULL) return ERR_NO_MEMORY;
    acceptor->listeners = more;
    more[count] = listener;
    for (unsigned k = 0; k < listener->socket_count; k++) {
        listener->sockets[k].acceptor = acceptor;
        listener->sockets[k].listener = (unsigned)count;
    }
    acceptor->listener_count++;
    *index = (unsigned)count;
    return 0;
}

void acceptor_start(struct acceptor *acceptor)
{
    if (acceptor->is_accepting || acceptor->is_stopped) return;
    acceptor->is_accepting = true;
    for (unsigned i = 0; i < acceptor->listener_count; i++) {
        struct listener *listener = acceptor->listeners[i];
        for (unsigned k = 0; k < listener->socket_count; k++) {
            struct listener_socket *socket = &listener->sockets[k];
            uv_poll_init(loop_uv(acceptor->loop), &socket->poll, socket->fd);
            socket->poll.data = socket;
        }
    }
    acceptor_watch(acceptor, true);
}

void acceptor_stop(struct acceptor *acceptor)
{
    if (acceptor->is_stopped) return;
    acceptor->is_stopped = true;
    timer_cancel(acceptor->loop, &acceptor->pause);
    for (unsigned i = 0; i < acceptor->listener_count; i++) {
        struct listener *listener = acceptor->listeners[i];
        for (unsigned k = 0; acceptor->is_accepting && k < listener->socket_count; k++)
            uv_close((uv_handle_t *)&listener->sockets[k].poll, NULL);
        listener_stop(listener);
    }
    acceptor->is_accepting = false;
}

void acceptor_close(struct acceptor *acceptor)
{
    for (unsigned i = 0; i < acceptor->listener_count; i++)
        mem_free(acceptor->listeners[i]);
    mem_free(acceptor->listeners);
}
