// SPDX-License-Identifier: Apache-2.0
/* The bytes of a connection on their way through its socket: in the clear, or enciphered.
 *
 *  (1) The descriptor is non-blocking. Nothing here waits.
 *  (2) A read may have to write first and the other way round (a TLS handshake or key update): the
 *      result says what to wait for, and the same call is then made again.
 *  (3) A write that is made again may come with other addresses and more bytes, never with other
 *      bytes in front.
 *  (4) After a finish there are no more writes; reading goes on. A write that was to be made again
 *      is given up by it. */

#ifndef NET_TRANSPORT_H
#define NET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* What read, write and sendfile return instead of a number of bytes, and finish instead of 0. */
enum {
    TRANSPORT_WANT_READ = -1,  /* Again once the descriptor is readable. */
    TRANSPORT_WANT_WRITE = -2, /* Again once the descriptor is writable. */
    TRANSPORT_BROKEN = -3,     /* The connection is over. */
    TRANSPORT_FILE_FAILED = -4 /* sendfile: the file could not be read. */
};

struct transport {
    const struct transport_kind *kind;
    int fd;
    void *state; /* The kind's own. */
};

struct transport_kind {
    /* Prepares `state`. 0 or ERR_NO_MEMORY; after a failure close is not called. */
    int (*open)(struct transport *transport);

    /* 0: the peer has ended its side. */
    ssize_t (*read)(struct transport *transport, const struct iovec *pieces, int count);

    /* `more`: further bytes follow at once, so a short packet may wait for them. */
    ssize_t (*write)(struct transport *transport, const struct iovec *pieces, int count, bool more);

    /* Sends a piece of a file without bringing it into our memory. 0: the file ends before
     * `offset`. NULL if this kind has to see the bytes. */
    ssize_t (*sendfile)(struct transport *transport, int file, off_t offset, size_t length);

    /* Are there bytes that a read would give although the descriptor is not readable? */
    bool (*has_buffered)(const struct transport *transport);

    /* Tells the peer that this was all, behind everything that was written (TCP: FIN; TLS: its
     * close_notify first). 0 when that is on its way; once. */
    int (*finish)(struct transport *transport);

    /* Gives up `state` and the descriptor. */
    void (*close)(struct transport *transport);
};

/* TCP as it is. */
extern const struct transport_kind transport_plain;

/* Takes the descriptor; on failure it stays the caller's. 0 or ERR_NO_MEMORY. */
int transport_open(struct transport *transport, const struct transport_kind *kind, int fd);

static inline ssize_t transport_read(struct transport *transport, const struct iovec *pieces,
                                     int count)
{
    return transport->kind->read(transport, pieces, count);
}

static inline ssize_t transport_write(struct transport *transport, const struct iovec *pieces,
                                      int count, bool more)
{
    return transport->kind->write(transport, pieces, count, more);
}

static inline int transport_finish(struct transport *transport)
{
    return transport->kind->finish(transport);
}

static inline void transport_close(struct transport *transport)
{
    transport->kind->close(transport);
}

#endif
