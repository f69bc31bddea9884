// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include <arpa/inet.h>
#include <assert.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "net_state.h"
#include "trace.h"

/* A client that always has more to say is read from this often before the others get their turn. */
#define READ_ROUNDS 4

/* How long the peer may take to close its side, once it has been told that this was all. */
#define LINGER_MS 500

/* When the loop closes, a peer that takes no bytes of its replies is waited for so long. */
#define STUCK_MS 500

/* Whoever sends rubbish again and again must not fill the disk with lines about it: so many of one kind in a
 * while, of each loop. */
#define FAILURE_LINES    10
#define FAILURE_WHILE_MS 60000

void connection_hold(struct connection *connection)
{
    connection->references++;
}

void connection_release(struct connection *connection)
{
    assert(connection->references > 0);
    if (--connection->references > 0) return;
    atomic_fetch_sub_explicit(&connection->loop->connections_kept, 1, memory_order_relaxed);
    mem_free(connection);
}

void connection_touch(struct connection *connection)
{
    connection->active_ms = loop_now_ms(connection->loop->base);
}

void connection_print_address(const struct in6_addr *address, char text[INET6_ADDRSTRLEN])
{
    if (IN6_IS_ADDR_V4MAPPED(address))
        inet_ntop(AF_INET, &address->s6_addr[12], text, INET6_ADDRSTRLEN);
    else
        inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
}

/* ---- closing ---- */

static void connection_watch(struct connection *connection);
static void connection_on_poll(uv_poll_t *poll, int status, int events);

static void connection_gone(uv_handle_t *poll)
{
    connection_release(poll->data);
}

/* The counts say so before anybody can see that the socket is closed. */
static void connection_leave(struct connection *connection)
{
    struct net *net = connection->loop->net;
    atomic_fetch_sub_explicit(&connection->loop->connections_open, 1, memory_order_relaxed);
    if (connection_limits_leave(&net->limits, connection->address)) acceptor_wake(&net->acceptor);
}

void connection_close(struct connection *connection)
{
    struct net_loop *net_loop = connection->loop;
    if (connection->is_closed) return;
    assert(net_loop->bursting == NULL);
    connection->is_closed = true;
    timer_cancel(net_loop->base, &connection->patience);
    list_remove(&connection->node);
    list_remove(&connection->dirty);
    list_remove(&connection->turn);
    inbox_drop(connection);
    uv_close((uv_handle_t *)&connection->poll, connection_gone);
    connection_leave(connection);
    transport_close(&connection->transport);
    outbox_abandon(connection);
}

bool connection_may_tell(const struct connection *connection, const char *why, uint64_t *left_out)
{
    struct net_loop *net_loop = connection->loop;
    return trace_limit_allows(trace_kind(&net_loop->failures, why), FAILURE_LINES, FAILURE_WHILE_MS,
                              loop_now_ms(net_loop->base), left_out);
}

static void connection_trace(const struct connection *connection, const char *why)
{
    char others[TRACE_LEFT_OUT_BYTES];
    uint64_t left_out;
    if (!connection_may_tell(connection, why, &left_out)) return;
    trace(TRACE_WARN, "net", "conn=%llu peer=%s:%u: closed: %s%s",
          (unsigned long long)connection->id, connection->peer, connection->peer_port, why,
          trace_left_out(others, left_out));
}

void connection_fail(struct connection *connection, const char *why)
{
    if (connection->is_closed) return;
    connection_trace(connection, why);
    connection_close(connection);
}

void connection_end(struct connection *connection, const char *why)
{
    if (connection->is_closed || connection->is_ending) return;
    connection_trace(connection, why);
    connection->is_ending = true;
    net_loop_mark_dirty(connection->loop, connection);
}

/* Does what connection.h (3) says with what has come. */
static void connection_discard(struct connection *connection)
{
    struct net_loop *net_loop = connection->loop;
    struct iovec scratch = { net_loop->read_buffer, READ_BUFFER_BYTES };
    for (unsigned round = 0; round < READ_ROUNDS; round++) {
        ssize_t got = transport_read(&connection->transport, &scratch, 1);
        if (got == 0 || got == TRANSPORT_BROKEN) {
            connection_close(connection);
            return;
        }
        connection->read_waits_for = got == TRANSPORT_WANT_WRITE ? UV_WRITABLE : UV_READABLE;
        if (got < 0) return;
        counter_add(&net_loop->bytes_in, (uint64_t)got);
    }
}

void connection_linger(struct connection *connection)
{
    struct outbox *outbox = &connection->outbox;
    if (connection->is_closed) return;
    if (!connection->is_lingering) {
        connection->is_ending = connection->is_lingering = true;
        inbox_drop(connection);
        outbox_abandon(connection);
        outbox->waits_for = 0;
        timer_set(connection->loop->base, &connection->patience, LINGER_MS);
    }
    if (connection->is_finished || outbox->waits_for != 0) return;
    int result = transport_finish(&connection->transport);
    connection->is_finished = result == 0;
    if (result == TRANSPORT_WANT_READ) outbox->waits_for = UV_READABLE;
    if (result == TRANSPORT_WANT_WRITE) outbox->waits_for = UV_WRITABLE;
    if (result == TRANSPORT_BROKEN) connection_close(connection);
}

void connection_dismiss(struct connection *connection)
{
    struct net_loop *net_loop = connection->loop;
    if (connection->is_closed || connection->is_lingering) return;
    connection->is_ending = true;
    inbox_drop(connection);
    connection_touch(connection);
    timer_set(net_loop->base, &connection->patience, STUCK_MS);
    outbox_tell_open(connection);
    net_loop_mark_dirty(net_loop, connection);
}

/* Dismissed, and not done yet: is it stuck, is its time up? */
static void connection_look_at_farewell(struct connection *connection)
{
    struct net_loop *net_loop = connection->loop;
    int64_t now_ms = loop_now_ms(net_loop->base);
    int64_t left_ms = net_loop->closing_until_ms - now_ms;
    int64_t stuck_ms = connection->outbox.waits_for == 0 ? 0 : now_ms - connection->active_ms;
    if (stuck_ms >= STUCK_MS) {
        connection_close(connection);
    } else if (left_ms <= 0) {
        connection_linger(connection);
        connection_watch(connection);
    } else {
        int64_t look_ms = STUCK_MS - stuck_ms;
        timer_set(net_loop->base, &connection->patience, look_ms < left_ms ? look_ms : left_ms);
    }
}

/* Costs a request nothing but connection_touch(): the timer finds out when it fires. */
static void connection_look_at_idle(struct connection *connection)
{
    struct net_loop *net_loop = connection->loop;
    int64_t idle_ms = net_loop->net->config.idle_ms;
    int64_t left_ms = connection->active_ms + idle_ms - loop_now_ms(net_loop->base);
    /* A client that waits for us is not idle. */
    bool is_owed = connection->outbox.open_count > 0 || connection->inbox.is_waiting;
    if (left_ms > 0 || is_owed)
        timer_set(net_loop->base, &connection->patience, left_ms > 0 ? left_ms : idle_ms);
    else
        connection_close(connection);
}

static void connection_on_patience(struct timer *timer)
{
    struct connection *connection = LIST_OWNER(timer, struct connection, patience);
    connection_hold(connection);
    if (connection->is_lingering)
        connection_close(connection);
    else if (connection->loop->is_closing)
        connection_look_at_farewell(connection);
    else
        connection_look_at_idle(connection);
    connection_release(connection);
}

/* ---- reading ---- */

/* Hands over what is whole in `data`, in bursts, as long as nothing stalls. Returns how much of
 * it is done with; the connection may have closed. */
static size_t connection_deliver(struct connection *connection, const uint8_t *data, size_t length)
{
    struct net_loop *net_loop = connection->loop;
    struct net_server *server = net_loop->net->config.server;
    size_t at = 0;
    bool goes_on = true;
    net_loop_begin_turn(net_loop);
    while (goes_on) {
        uint32_t calls_before = net_loop->calls_begun;
        net_loop->burst++;
        net_loop->bursting = connection;
        at += inbox_hand_over(connection, data + at, length - at);
        uint32_t calls = net_loop->calls_begun - calls_before;
        if (calls > 0 && server->burst_end != NULL) server->burst_end(server, net_loop);
        net_loop->bursting = NULL;
        counter_add(&net_loop->frames, calls);

        /* DESIGN 2.3: all that is ready leaves with one write; that may make room for more. */
        outbox_flush(connection);
        goes_on = at < length && !connection->is_closed && !connection->is_ending &&
                  !connection->inbox.is_waiting && !outbox_is_stalled(connection) &&
                  !net_loop_turn_is_over(net_loop);
    }
    return at;
}

static void connection_took(struct connection *connection, size_t got)
{
    struct net_loop *net_loop = connection->loop;
    counter_add(&net_loop->bytes_in, got);
    connection_touch(connection);
    size_t length = inbox_took(connection, got);
    size_t done = connection_deliver(connection, net_loop->read_buffer, length);
    if (connection->is_closed || connection->is_ending || done == length) return;
    if (!inbox_hold(connection, net_loop->read_buffer + done, length - done))
        connection_fail(connection, "no memory for a request");
}

static void connection_read(struct connection *connection)
{
    for (unsigned round = 0; round < READ_ROUNDS && inbox_may_read(connection); round++) {
        struct iovec pieces[2];
        int count = inbox_plan_read(connection, pieces);
        size_t asked = pieces[0].iov_len + (count > 1 ? pieces[1].iov_len : 0);
        ssize_t got = transport_read(&connection->transport, pieces, count);
        connection->read_waits_for = got == TRANSPORT_WANT_WRITE ? UV_WRITABLE : UV_READABLE;
        if (got == 0 || got == TRANSPORT_BROKEN) {
            /* As Kafka: who has closed its side is gone, and what it is owed with it. */
            connection_close(connection);
            return;
        }
        if (got < 0) return;
        connection_took(connection, (size_t)got);
        /* A short read has emptied the socket. */
        if ((size_t)got < asked &&
            (connection->is_closed ||
             !connection->transport.kind->has_buffered(&connection->transport)))
            return;
    }
}

/* ---- the loop's callbacks ---- */

static void connection_watch(struct connection *connection)
{
    if (connection->is_closed) return;
    int events = connection->outbox.waits_for;
    if (connection->is_lingering || inbox_may_read(connection)) {
        events |= connection->read_waits_for;
        /* Bytes that the transport has already make no socket readable. */
        if (connection->transport.kind->has_buffered(&connection->transport)) events |= UV_WRITABLE;
    } else if (!connection->has_peer_ended) {
        events |= UV_DISCONNECT; /* Otherwise a dead client that we do not read from goes unseen. */
    }
    if (events == connection->watched) return; /* Each change costs system calls. */
    connection->watched = (uint8_t)events;
    if (events == 0)
        uv_poll_stop(&connection->poll);
    else
        uv_poll_start(&connection->poll, events, connection_on_poll);
}

void connection_go_on(struct connection *connection)
{
    struct inbox *inbox = &connection->inbox;
    outbox_flush(connection);
    while (inbox_can_go_on(connection)) {
        if (net_loop_turn_is_over(connection->loop)) {
            net_loop_put_off(connection->loop, connection);
            break;
        }
        size_t length = inbox->held_length - inbox->held_at;
        size_t done = connection_deliver(connection, inbox->held + inbox->held_at, length);
        if (!connection->is_closed && !connection->is_ending) inbox_held_done(connection, done);
    }
    if (connection->is_ending && !connection->is_closed) inbox_drop(connection);
    connection_watch(connection);
}

/* The peer has ended its side while we do not read. There may be requests of its before that
 * end, which are still served in their turn (produces with acks=0); but none of its calls need wait for anything
 * any more, and others need what they hold. An ending connection reads nothing more, and one whose frame will
 * never be whole need not wait for its memory. */
static void connection_peer_ended(struct connection *connection)
{
    connection->has_peer_ended = true;
    if (connection->is_ending || (connection->inbox.is_waiting && inbox_is_hopeless(connection)))
        connection_close(connection);
    else
        outbox_tell_open(connection);
}

static void connection_on_poll(uv_poll_t *poll, int status, int events)
{
    struct connection *connection = poll->data;
    struct outbox *outbox = &connection->outbox;
    connection_hold(connection);
    if (status < 0) {
        connection->watched = 0; /* libuv has stopped. */
        /* A reset. What came before it can still be read, and reading tells the end. */
        if (!inbox_may_read(connection)) connection_close(connection);
        events = UV_READABLE | UV_WRITABLE;
    } else if ((events & UV_DISCONNECT) != 0 && !inbox_may_read(connection)) {
        connection_peer_ended(connection);
    }
    if (!connection->is_closed && (events & outbox->waits_for) != 0) {
        outbox->waits_for = 0;
        outbox_flush(connection);
    }
    bool has_buffered = !connection->is_closed &&
                        connection->transport.kind->has_buffered(&connection->transport);
    if (!connection->is_closed && ((events & connection->read_waits_for) != 0 || has_buffered)) {
        if (connection->is_lingering)
            connection_discard(connection);
        else
            connection_read(connection);
    }
    if (!connection->is_closed) connection_go_on(connection);
    connection_release(connection);
}

/* ---- opening ---- */

static void connection_start(struct message *message)
{
    struct connection *connection = LIST_OWNER(message, struct connection, arrival);
    struct net_loop *net_loop = connection->loop;
    struct uv_loop_s *uv = loop_uv(net_loop->base);
    if (net_loop->is_closing ||
        uv_poll_init(uv, &connection->poll, connection->transport.fd) != 0) {
        connection->is_closed = true;
        connection_leave(connection);
        transport_close(&connection->transport);
        connection_release(connection);
        return;
    }
    connection->poll.data = connection;
    list_push_back(&net_loop->connections, &connection->node);
    connection_touch(connection);
    int64_t idle_ms = net_loop->net->config.idle_ms;
    if (idle_ms >= 0) timer_set(net_loop->base, &connection->patience, idle_ms);
    connection_watch(connection);
}

int connection_open(struct net_loop *net_loop, int fd, uint64_t id, unsigned listener,
                    const struct in6_addr *address, uint16_t port, struct address_count *count)
{
    struct connection *connection = mem_zalloc(sizeof *connection);
    if (connection == NULL) return ERR_NO_MEMORY;
    int err = transport_open(&connection->transport, net_loop->net->config.transport, fd);
    if (err != 0) {
        mem_free(connection);
        return err;
    }
    connection->loop = net_loop;
    connection->references = 1; /* The poll handle's. */
    connection->id = id;
    connection->listener = listener;
    connection->peer_port = port;
    connection->address = count;
    connection->read_waits_for = UV_READABLE;
    connection_print_address(address, connection->peer);
    list_init(&connection->node);
    list_init(&connection->dirty);
    list_init(&connection->turn);
    timer_init(&connection->patience, connection_on_patience);
    inbox_init(connection);
    outbox_init(&connection->outbox);
    message_init(&connection->arrival, connection_start);
    atomic_fetch_add_explicit(&net_loop->connections_open, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&net_loop->connections_kept, 1, memory_order_relaxed);
    loop_post(net_loop->base, &connection->arrival);
    return 0;
}
