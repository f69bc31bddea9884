// SPDX-License-Identifier: Apache-2.0
#include "fuzz_transport.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "fuzz.h"
#include "net_state.h"

#define ASIDE_BYTES 16384
#define FRONT_BYTES 16

/* What a connection's transport knows. */
struct pieces {
    uint64_t chance;
    bool has_waited_to_read, has_waited_to_write; /* The last time. */
    bool keeps_aside;
    size_t aside_at, aside_length;
    uint8_t aside[ASIDE_BYTES];
    /* What stood in front of a write that is to be made again. */
    uint8_t front[FRONT_BYTES];
    size_t front_length;
};

static uint64_t next_seed;

/* ---- chance: not fuzz.h's, which belongs to the making of inputs ---- */

static size_t roll(struct pieces *pieces, size_t bound)
{
    pieces->chance = pieces->chance * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((pieces->chance >> 33) % bound);
}

/* Mostly all of it, otherwise little or some. */
static size_t piece_of(struct pieces *pieces, size_t length)
{
    if (length == 0 || roll(pieces, 3) == 0) return length;
    return 1 + roll(pieces, length < 5 || roll(pieces, 2) == 0 ? length : 5);
}

static bool waits(struct pieces *pieces, bool *has_waited)
{
    *has_waited = !*has_waited && roll(pieces, 4) == 0;
    return *has_waited;
}

/* ---- the transport ---- */

static int pieces_open(struct transport *transport)
{
    struct pieces *pieces = calloc(1, sizeof *pieces);
    if (pieces == NULL) abort();
    pieces->chance = next_seed++;
    pieces->keeps_aside = roll(pieces, 2) == 0;
    transport->state = pieces;
    return 0;
}

/* A read into two pieces, of which the second may get nothing. */
static int cut_pieces(const struct iovec *from, int count, size_t length, struct iovec to[2])
{
    int used = 0;
    for (int i = 0; i < count && length > 0; i++) {
        size_t part = from[i].iov_len < length ? from[i].iov_len : length;
        to[used++] = (struct iovec){ from[i].iov_base, part };
        length -= part;
    }
    return used;
}

static size_t take_aside(struct pieces *pieces, const struct iovec *to, int count)
{
    size_t taken = 0;
    for (int i = 0; i < count; i++) {
        memcpy(to[i].iov_base, pieces->aside + pieces->aside_at, to[i].iov_len);
        pieces->aside_at += to[i].iov_len;
        taken += to[i].iov_len;
    }
    return taken;
}

static ssize_t pieces_read(struct transport *transport, const struct iovec *into, int count)
{
    struct pieces *pieces = transport->state;
    struct iovec cut[2];
    size_t room = into[0].iov_len + (count > 1 ? into[1].iov_len : 0);
    if (waits(pieces, &pieces->has_waited_to_read)) return TRANSPORT_WANT_READ;
    if (!pieces->keeps_aside)
        return transport_plain.read(transport, cut,
                                    cut_pieces(into, count, piece_of(pieces, room), cut));
    size_t left = pieces->aside_length - pieces->aside_at;
    if (left == 0) {
        struct iovec aside = { pieces->aside, 1 + roll(pieces, ASIDE_BYTES) };
        ssize_t got = transport_plain.read(transport, &aside, 1);
        if (got <= 0) return got;
        pieces->aside_at = 0;
        left = pieces->aside_length = (size_t)got;
    }
    size_t length = piece_of(pieces, room < left ? room : left);
    return (ssize_t)take_aside(pieces, cut, cut_pieces(into, count, length, cut));
}

/* The first bytes of what is to be written. */
static size_t front_of(const struct iovec *from, int count, uint8_t front[FRONT_BYTES])
{
    size_t length = 0;
    for (int i = 0; i < count && length < FRONT_BYTES; i++) {
        size_t room = FRONT_BYTES - length;
        size_t part = from[i].iov_len < room ? from[i].iov_len : room;
        memcpy(front + length, from[i].iov_base, part);
        length += part;
    }
    return length;
}

static ssize_t pieces_write(struct transport *transport, const struct iovec *from, int count,
                            bool more)
{
    struct pieces *pieces = transport->state;
    uint8_t front[FRONT_BYTES];
    size_t front_length = front_of(from, count, front);
    fuzz_promise(front_length >= pieces->front_length &&
                     memcmp(front, pieces->front, pieces->front_length) == 0,
                 "a write that is made again begins with the same bytes");
    pieces->front_length = 0;
    if (waits(pieces, &pieces->has_waited_to_write)) {
        memcpy(pieces->front, front, front_length);
        pieces->front_length = front_length;
        return TRANSPORT_WANT_WRITE;
    }
    struct iovec first = { from[0].iov_base, piece_of(pieces, from[0].iov_len) };
    if (first.iov_len < from[0].iov_len) return transport_plain.write(transport, &first, 1, more);
    return transport_plain.write(transport, from, count, more);
}

static ssize_t pieces_sendfile(struct transport *transport, int file, off_t offset, size_t length)
{
    struct pieces *pieces = transport->state;
    if (waits(pieces, &pieces->has_waited_to_write)) return TRANSPORT_WANT_WRITE;
    return transport_plain.sendfile(transport, file, offset, piece_of(pieces, length));
}

static bool pieces_has_buffered(const struct transport *transport)
{
    const struct pieces *pieces = transport->state;
    return pieces->aside_at < pieces->aside_length;
}

static int pieces_finish(struct transport *transport)
{
    struct pieces *pieces = transport->state;
    if (waits(pieces, &pieces->has_waited_to_write)) return TRANSPORT_WANT_WRITE;
    return transport_plain.finish(transport);
}

static void pieces_close(struct transport *transport)
{
    free(transport->state);
    transport_plain.close(transport);
}

const struct transport_kind *fuzz_transport(enum fuzz_transport which, uint64_t seed)
{
    static const struct transport_kind in_pieces = {
        pieces_open,         pieces_read,   pieces_write, pieces_sendfile,
        pieces_has_buffered, pieces_finish, pieces_close,
    };
    static const struct transport_kind sees_all = {
        pieces_open,         pieces_read,   pieces_write, NULL,
        pieces_has_buffered, pieces_finish, pieces_close,
    };
    next_seed = seed;
    if (which == FUZZ_TRANSPORT_PLAIN) return &transport_plain;
    return which == FUZZ_TRANSPORT_PIECES ? &in_pieces : &sees_all;
}

/* ---- coming in ---- */

int fuzz_join(struct net *net, uint16_t port)
{
    int ends[2];
    struct in6_addr address = IN6ADDR_LOOPBACK_INIT;
    struct address_count *count;
    if (connection_limits_enter(&net->limits, &address, 0, &count) != 0) return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) abort();
    if (connection_open(net->loops[0], ends[0], port, 0, &address, port, count) == 0)
        return ends[1];
    connection_limits_leave(&net->limits, count);
    close(ends[0]);
    close(ends[1]);
    return -1;
}
