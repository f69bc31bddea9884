// SPDX-License-Identifier: Apache-2.0
#include "transport.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

int transport_open(struct transport *transport, const struct transport_kind *kind, int fd)
{
    *transport = (struct transport){ .kind = kind, .fd = fd };
    return kind->open(transport);
}

static int plain_open(struct transport *transport)
{
    (void)transport;
    return 0;
}

static ssize_t plain_read(struct transport *transport, const struct iovec *pieces, int count)
{
    ssize_t got;
    do
        got = count == 1 ? read(transport->fd, pieces[0].iov_base, pieces[0].iov_len)
                         : readv(transport->fd, pieces, count);
    while (got < 0 && errno == EINTR);
    if (got >= 0) return got;
    return errno == EAGAIN ? TRANSPORT_WANT_READ : TRANSPORT_BROKEN;
}

static ssize_t plain_write(struct transport *transport, const struct iovec *pieces, int count,
                           bool more)
{
    /* sendmsg and not writev: only here can MSG_NOSIGNAL and MSG_MORE be said. */
    struct msghdr header = { .msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)count };
    ssize_t sent;
    do
        sent = sendmsg(transport->fd, &header, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    while (sent < 0 && errno == EINTR);
    if (sent >= 0) return sent;
    return errno == EAGAIN ? TRANSPORT_WANT_WRITE : TRANSPORT_BROKEN;
}

static ssize_t plain_sendfile(struct transport *transport, int file, off_t offset, size_t length)
{
    ssize_t sent;
    do
        sent = sendfile(transport->fd, file, &offset, length);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0) return sent;
    if (errno == EAGAIN) return TRANSPORT_WANT_WRITE;
    /* What a socket never says of itself; EPIPE, ECONNRESET, ETIMEDOUT … are the peer's. */
    bool is_files = errno == EIO || errno == EINVAL || errno == EBADF || errno == ESPIPE ||
                    errno == EOVERFLOW;
    return is_files ? TRANSPORT_FILE_FAILED : TRANSPORT_BROKEN;
}

static bool plain_has_buffered(const struct transport *transport)
{
    (void)transport;
    return false;
}

static int plain_finish(struct transport *transport)
{
    return shutdown(transport->fd, SHUT_WR) == 0 ? 0 : TRANSPORT_BROKEN;
}

static void plain_close(struct transport *transport)
{
    close(transport->fd);
    transport->fd = -1;
}

const struct transport_kind transport_plain = {
    .open = plain_open,
    .read = plain_read,
    .write = plain_write,
    .sendfile = plain_sendfile,
    .has_buffered = plain_has_buffered,
    .finish = plain_finish,
    .close = plain_close,
};
