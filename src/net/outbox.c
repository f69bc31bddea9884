// SPDX-License-Identifier: Apache-2.0
#include "outbox.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call_box.h"
#include "connection.h"
#include "net_state.h"

/* More bytes of replies than this, and nothing more is handed over. */
#define REPLY_BYTES_MAX (1024u * 1024)

/* What one connection may send in a turn before the others get theirs. */
#define TURN_BYTES (1024u * 1024)

/* DESIGN 3.2. */
#define SENDFILE_PIECE_BYTES (256u * 1024)

/* What a job brings in at once: enough that a consumer far behind is not slowed down by
 * hand-overs. */
#define WARM_BYTES       (1024u * 1024)
#define WARM_CHUNK_BYTES (64u * 1024)

#define SMALL_REPLY_BYTES (64 * 1024)

/* Pieces of memory up to this length are cheaper to copy than to point at. */
#define GATHER_COPY_BYTES 2048u
#define GATHER_PIECES     64

/* Why gathering came to its end. */
enum gather_end {
    GATHER_IDLE,     /* Nothing more is ready. */
    GATHER_FULL,     /* As much as one write takes. */
    GATHER_SENDFILE, /* A slice comes next that leaves by sendfile. */
    GATHER_COLD,     /* A slice comes next that is not in the page cache. */
    GATHER_BROKEN    /* A slice comes next that cannot be read. */
};

struct gather {
    struct iovec pieces[GATHER_PIECES];
    int count;
    size_t bytes;
    size_t limit;
    size_t copied; /* Into the loop's write buffer. */
};

void outbox_init(struct outbox *outbox)
{
    list_init(&outbox->calls);
    list_init(&outbox->turn);
}

bool outbox_is_stalled(const struct connection *connection)
{
    const struct outbox *outbox = &connection->outbox;
    const struct net_loop *net_loop = connection->loop;
    bool has_unsent = outbox->call_count > outbox->open_count;
    if (has_unsent && net_loop->unsent_bytes > atomic_load_explicit(&net_loop->net->unsent_per_loop,
                                                                    memory_order_relaxed))
        return true; /* (5) */
    return connection->is_ending || outbox->serial != NULL ||
           outbox->call_count >= connection->loop->net->config.max_calls_per_connection ||
           outbox->reply_bytes > REPLY_BYTES_MAX;
}

/* ---- where in a reply we are ---- */

static struct file_slice *reply_slice(const struct call_box *box,
                                      const struct reply_position *position)
{
    return box->call.reply.splices[position->splice_at].slice;
}

/* The bytes in one piece at `position`: those of a slice, or of memory. 0 at the reply's end. */
static uint64_t reply_piece(const struct call_box *box, const struct reply_position *position,
                            bool *is_slice)
{
    const struct encoder *reply = &box->call.reply;
    uint64_t end = sizeof box->length + reply->bytes.length;
    *is_slice = false;
    if (position->splice_at < reply->splice_count) {
        end = sizeof box->length + reply->splices[position->splice_at].at;
        if (position->memory_sent == end) {
            *is_slice = true;
            return reply_slice(box, position)->length - position->slice_sent;
        }
    }
    if (position->memory_sent < sizeof box->length)
        return sizeof box->length - position->memory_sent;
    return end - position->memory_sent;
}

/* Steps over `count` bytes of the piece at `position`, and over slices that are done. */
static void reply_step(const struct call_box *box, struct reply_position *position, bool is_slice,
                       uint64_t count)
{
    if (is_slice)
        position->slice_sent += count;
    else
        position->memory_sent += count;

    const struct encoder *reply = &box->call.reply;
    while (position->splice_at < reply->splice_count &&
           position->memory_sent == sizeof box->length + reply->splices[position->splice_at].at &&
           position->slice_sent == reply_slice(box, position)->length) {
        position->splice_at++;
        position->slice_sent = position->slice_warm_to = 0;
    }
}

static const uint8_t *reply_memory(const struct call_box *box,
                                   const struct reply_position *position)
{
    size_t sent = position->memory_sent;
    return sent < sizeof box->length ? box->length + sent
                                     : box->call.reply.bytes.data + (sent - sizeof box->length);
}

/* NULL: it is in a file. */
static const uint8_t *reply_slice_memory(const struct call_box *box,
                                         const struct reply_position *position)
{
    const struct file_slice *slice = reply_slice(box, position);
    return slice->memory == NULL ? NULL : slice->memory + position->slice_sent;
}

/* `count` bytes have left: finishes the calls whose replies are whole. */
static void outbox_sent(struct connection *connection, uint64_t count)
{
    struct list *calls = &connection->outbox.calls;
    counter_add(&connection->loop->bytes_out, count);
    connection->loop->turn_bytes += count;
    connection_touch(connection);
    while (count > 0) {
        struct call_box *box = call_box_at(calls->next);
        bool is_slice;
        uint64_t step = reply_piece(box, &box->position, &is_slice);
        if (step > count) step = count;
        reply_step(box, &box->position, is_slice, step);
        count -= step;
        if (reply_piece(box, &box->position, &is_slice) == 0) call_box_finish(box);
    }
}

/* ---- gathering ---- */

static void gather_point(struct gather *gather, const void *data, size_t length)
{
    gather->pieces[gather->count++] = (struct iovec){ (void *)data, length };
    gather->bytes += length;
}

/* `length` bytes have been put behind the others in the write buffer: part of the last piece, if
 * that ended there. */
static void gather_copied(struct gather *gather, uint8_t *buffer, size_t length)
{
    uint8_t *at = buffer + gather->copied;
    struct iovec *last = gather->count > 0 ? &gather->pieces[gather->count - 1] : NULL;
    gather->copied += length;
    if (last != NULL && (uint8_t *)last->iov_base + last->iov_len == at) {
        last->iov_len += length;
        gather->bytes += length;
    } else {
        gather_point(gather, at, length);
    }
}

static size_t gather_room(const struct gather *gather)
{
    size_t left = gather->limit - gather->bytes;
    size_t buffer = WRITE_BUFFER_BYTES - gather->copied;
    return left < buffer ? left : buffer;
}

static size_t gather_memory(struct gather *gather, uint8_t *buffer, const uint8_t *data,
                            uint64_t length)
{
    if (length > gather->limit - gather->bytes) length = gather->limit - gather->bytes;
    if (length > GATHER_COPY_BYTES) {
        gather_point(gather, data, length);
        return length;
    }
    if (length > gather_room(gather)) length = gather_room(gather);
    memcpy(buffer + gather->copied, data, length);
    gather_copied(gather, buffer, length);
    return length;
}

/* Reads a piece of a slice into the write buffer, if it is in the page cache. */
static enum gather_end gather_slice(struct gather *gather, uint8_t *buffer,
                                    const struct file_slice *slice,
                                    const struct reply_position *position, size_t *got)
{
    uint64_t rest = slice->length - position->slice_sent;
    size_t length = gather_room(gather);
    if (length == 0) return GATHER_FULL;
    if (rest < length) length = rest;
    bool is_warm = position->slice_sent < position->slice_warm_to;
    if (is_warm && position->slice_warm_to - position->slice_sent < length)
        length = position->slice_warm_to - position->slice_sent;

    struct iovec piece = { buffer + gather->copied, length };
    ssize_t count;
    do
        count = preadv2(slice->fd, &piece, 1, slice->offset + (off_t)position->slice_sent,
                        is_warm ? 0 : RWF_NOWAIT);
    while (count < 0 && errno == EINTR);
    /* A file system that cannot tell without waiting is asked by a job. */
    if (count < 0 && (errno == EAGAIN || errno == EOPNOTSUPP)) return GATHER_COLD;
    if (count <= 0) return GATHER_BROKEN;
    gather_copied(gather, buffer, (size_t)count);
    *got = (size_t)count;
    return GATHER_IDLE;
}

static bool outbox_uses_sendfile(const struct connection *connection,
                                 const struct file_slice *slice)
{
    return slice->memory == NULL &&
           slice->length >= connection->loop->net->config.sendfile_from_bytes &&
           connection->transport.kind->sendfile != NULL;
}

/* Collects one reply's pieces. GATHER_IDLE: all of it. */
static enum gather_end gather_reply(struct gather *gather, struct connection *connection,
                                    const struct call_box *box)
{
    uint8_t *buffer = connection->loop->write_buffer;
    struct reply_position position = box->position;
    bool is_slice;
    uint64_t length;
    while ((length = reply_piece(box, &position, &is_slice)) > 0) {
        size_t count = 0;
        if (gather->count == GATHER_PIECES || gather->bytes == gather->limit) return GATHER_FULL;
        const uint8_t *memory = is_slice ? reply_slice_memory(box, &position)
                                         : reply_memory(box, &position);
        if (memory != NULL) {
            count = gather_memory(gather, buffer, memory, length);
            if (count == 0) return GATHER_FULL;
        } else {
            const struct file_slice *slice = reply_slice(box, &position);
            if (outbox_uses_sendfile(connection, slice)) return GATHER_SENDFILE;
            enum gather_end end = gather_slice(gather, buffer, slice, &position, &count);
            if (end != GATHER_IDLE) return end;
        }
        reply_step(box, &position, is_slice, count);
    }
    return GATHER_IDLE;
}

static enum gather_end outbox_gather(struct connection *connection, struct gather *gather)
{
    struct list *calls = &connection->outbox.calls;
    for (struct list *node = calls->next; node != calls; node = node->next) {
        const struct call_box *box = call_box_at(node);
        if (box->call.state != CALL_READY) return GATHER_IDLE;
        enum gather_end end = gather_reply(gather, connection, box);
        if (end != GATHER_IDLE) return end;
    }
    return GATHER_IDLE;
}

/* ---- slices ---- */

/* On a thread of the disk pool. */
static void outbox_warm(struct job *job)
{
    struct call_box *box = LIST_OWNER(job, struct call_box, warm);
    const struct file_slice *slice = reply_slice(box, &box->position);
    uint8_t scratch[WARM_CHUNK_BYTES];
    uint64_t at = box->warm_from;
    posix_fadvise(slice->fd, slice->offset + (off_t)at, (off_t)(box->warm_to - at),
                  POSIX_FADV_WILLNEED);
    while (at < box->warm_to) {
        uint64_t rest = box->warm_to - at;
        ssize_t got = pread(slice->fd, scratch, rest < sizeof scratch ? rest : sizeof scratch,
                            slice->offset + (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            box->warm_error = got < 0 ? errno : ENODATA;
            break;
        }
        at += (uint64_t)got;
    }
    loop_post(box->call.loop->base, &box->warmed);
}

static void outbox_warmed(struct message *message)
{
    struct call_box *box = LIST_OWNER(message, struct call_box, warmed);
    struct connection *connection = box->call.connection;
    box->is_warming = false;
    if (connection == NULL) {
        call_box_finish(box); /* The connection has closed meanwhile. */
        return;
    }
    if (box->warm_error != 0) {
        connection_fail(connection, strerror(box->warm_error));
        return;
    }
    box->position.slice_warm_to = box->warm_to;
    net_loop_mark_dirty(connection->loop, connection);
}

/* The front's slice is not in the page cache where it goes on: has a job bring it in. */
static void outbox_start_warming(struct connection *connection, struct call_box *box)
{
    const struct file_slice *slice = reply_slice(box, &box->position);
    uint64_t rest = slice->length - box->position.slice_sent;
    box->warm_from = box->position.slice_sent;
    box->warm_to = box->warm_from + (rest < WARM_BYTES ? rest : WARM_BYTES);
    box->warm_error = 0;
    box->is_warming = true;
    message_init(&box->warmed, outbox_warmed);
    job_init(&box->warm, outbox_warm);
    box->warm.is_urgent = true;
    executor_submit(connection->loop->net->config.disk, &box->warm);
}

static bool slice_has_byte(const struct file_slice *slice, uint64_t at)
{
    uint8_t byte;
    struct iovec piece = { &byte, 1 };
    return preadv2(slice->fd, &piece, 1, slice->offset + (off_t)at, RWF_NOWAIT) >= 0;
}

/* Is the next piece in the page cache? Its two ends are asked (0.5 µs each): the kernel reads
 * ahead and evicts in runs of pages, so a hole that shows at neither end is rare, and then costs
 * one wait. */
static bool slice_is_warm(const struct file_slice *slice, struct reply_position *position,
                          size_t length)
{
    uint64_t from = position->slice_sent, to = from + length;
    if (to <= position->slice_warm_to) return true;
    if (!slice_has_byte(slice, from) || !slice_has_byte(slice, to - 1)) return false;
    position->slice_warm_to = to;
    return true;
}

/* Sends the next piece of the front's slice. Returns as the transport does; 0 also while it is
 * warmed. */
static ssize_t outbox_send_slice(struct connection *connection, size_t left, size_t *asked)
{
    struct call_box *box = call_box_at(connection->outbox.calls.next);
    const struct file_slice *slice = reply_slice(box, &box->position);
    uint64_t sent = box->position.slice_sent, length = slice->length - sent;
    if (length > SENDFILE_PIECE_BYTES) length = SENDFILE_PIECE_BYTES;
    if (length > left) length = left;
    *asked = length;
    if (!slice_is_warm(slice, &box->position, length)) {
        /* What is left of it that is warm is not worth a piece of its own. */
        outbox_start_warming(connection, box);
        return 0;
    }
    ssize_t count = connection->transport.kind->sendfile(&connection->transport, slice->fd,
                                                         slice->offset + (off_t)sent, length);
    /* Asked for a byte or more, a file gives one or has been cut. */
    return count == 0 ? TRANSPORT_FILE_FAILED : count;
}

/* ---- writing ---- */

/* False: the socket takes no more for now, or the connection is gone. */
static bool outbox_result(struct connection *connection, ssize_t result, uint64_t asked)
{
    struct outbox *outbox = &connection->outbox;
    if (result == TRANSPORT_FILE_FAILED) {
        connection_fail(connection, "a slice of a log file could not be read");
    } else if (result == TRANSPORT_BROKEN) {
        connection_close(connection);
    } else if (result == TRANSPORT_WANT_READ) {
        outbox->waits_for = UV_READABLE;
    } else if (result == TRANSPORT_WANT_WRITE) {
        outbox->waits_for = UV_WRITABLE;
    } else {
        outbox_sent(connection, (uint64_t)result);
        if ((uint64_t)result == asked) return true;
        outbox->waits_for = UV_WRITABLE; /* Asking again would say EAGAIN. */
    }
    return false;
}

/* One write. False: no more for now. */
static bool outbox_write(struct connection *connection, size_t *left)
{
    struct gather gather;
    gather.count = 0;
    gather.bytes = gather.copied = 0;
    gather.limit = *left;
    enum gather_end end = outbox_gather(connection, &gather);
    if (gather.bytes > 0) {
        ssize_t result = transport_write(&connection->transport, gather.pieces, gather.count,
                                         end == GATHER_SENDFILE);
        *left -= gather.bytes;
        return outbox_result(connection, result, gather.bytes) && end != GATHER_IDLE;
    }
    switch (end) {
    case GATHER_SENDFILE: {
        size_t asked = 0;
        ssize_t result = outbox_send_slice(connection, *left, &asked);
        if (result == 0) return false;
        *left -= asked;
        return outbox_result(connection, result, asked);
    }
    case GATHER_COLD:
        outbox_start_warming(connection, call_box_at(connection->outbox.calls.next));
        return false;
    case GATHER_BROKEN:
        connection_fail(connection, "a slice of a log file could not be read");
        break;
    case GATHER_IDLE:
    case GATHER_FULL: break;
    }
    return false;
}

/* Is the front one that cannot be sent from, now or ever? */
static bool outbox_is_blocked(const struct connection *connection)
{
    const struct outbox *outbox = &connection->outbox;
    if (outbox->waits_for != 0 || list_is_empty(&outbox->calls)) return true;
    const struct call_box *front = call_box_at(outbox->calls.next);
    return front->call.state != CALL_READY || front->is_warming;
}

/* Others come first: the loop has sent enough in this turn, and this is not little. */
static bool outbox_waits_for_turn(struct connection *connection)
{
    struct net_loop *net_loop = connection->loop;
    const struct call_box *front = call_box_at(connection->outbox.calls.next);
    if (net_loop->turn_bytes < LOOP_TURN_BYTES || load_i32(front->length) <= SMALL_REPLY_BYTES)
        return false;
    if (list_is_empty(&connection->outbox.turn))
        list_push_back(&net_loop->waiting_senders, &connection->outbox.turn);
    return true;
}

void outbox_flush(struct connection *connection)
{
    struct outbox *outbox = &connection->outbox;
    size_t left = TURN_BYTES;
    bool goes_on = true;
    if (!connection->is_closed && !outbox_is_blocked(connection) &&
        outbox_waits_for_turn(connection))
        return;
    list_remove(&outbox->turn);
    while (goes_on && !connection->is_closed && !outbox_is_blocked(connection)) {
        if (left == 0) {
            /* Others first. The socket is writable, so the loop comes back at once. */
            outbox->waits_for = UV_WRITABLE;
            return;
        }
        goes_on = outbox_write(connection, &left);
    }
    if (connection->is_closed || !connection->is_ending) return;
    if (list_is_empty(&outbox->calls) ||
        call_box_at(outbox->calls.next)->call.state == CALL_REFUSED)
        connection_linger(connection);
}

/* Once, by call.h (5). */
static void outbox_tell(struct call *call)
{
    void (*abandoned)(struct call *) = call->abandoned;
    call->abandoned = NULL;
    if (abandoned != NULL) abandoned(call);
}

void outbox_tell_open(struct connection *connection)
{
    struct list *calls = &connection->outbox.calls;
    struct list told; /* Goes through the line: any call may end others, which then leave it. */
    list_push_front(calls, &told);
    while (told.next != calls) {
        struct list *node = told.next;
        list_remove(&told);
        list_push_front(node, &told);
        struct call *call = &call_box_at(node)->call;
        if (call->state == CALL_OPEN) outbox_tell(call);
    }
    list_remove(&told);
}

void outbox_abandon(struct connection *connection)
{
    struct list *node, open;
    struct list *calls = &connection->outbox.calls;
    list_init(&open);
    while ((node = list_pop_front(calls)) != NULL) {
        struct call_box *box = call_box_at(node);
        box->call.connection = NULL;
        if (box->call.state == CALL_OPEN)
            list_push_back(&open, node);
        else if (!box->is_warming) /* Otherwise outbox_warmed() finishes it. */
            call_box_finish(box);
    }
    list_remove(&connection->outbox.turn);
    connection->outbox.serial = NULL;
    connection->outbox.call_count = connection->outbox.open_count = 0;
    /* Any of them may end others, which then leave this list. */
    while ((node = list_pop_front(&open)) != NULL)
        outbox_tell(&call_box_at(node)->call);
}
