// SPDX-License-Identifier: Apache-2.0
/* A broker that stores nothing: what a client reaches with it is the most that any broker can show
 * with that client on that machine (DESIGN 13).
 *
 *     null_broker [--port N] [--crc] [--write FILE] [--record-size N] [--batch-bytes N]
 *
 *  (1) Every topic exists and has one partition, which node 0, this process, leads.
 *  (2) A batch that is produced gets the next offset, one count for all topics, and is forgotten.
 *      --crc checks its CRC first; --write also writes it to the end of FILE, one pwrite for each
 *      request: the least that a real broker must do. The file grows as a log must, since pages
 *      that are in memory already cost half as much; it begins anew at WRITE_WRAP bytes.
 *  (3) A fetch gets one batch, built at the start, moved to the offset that was asked for: a log
 *      without end. Its records have --record-size bytes, the batch about --batch-bytes.
 *  (4) One thread, one epoll, plaintext, on 127.0.0.1. Bad frames cost the client its connection. */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "alloc.h"
#include "batch_builder.h"
#include "buffer.h"
#include "clock.h"
#include "cursor.h"
#include "error.h"
#include "header.h"
#include "record_batch.h"

#define READ_BYTES      65536 /* Where the end of a frame is not known yet. */
#define READS_PER_EVENT 16    /* So that one connection does not starve the others. */
#define FLUSH_BYTES     65536
#define FRAME_BYTES_MAX (128 * 1024 * 1024)
#define WRITE_WRAP      (16L * 1024 * 1024 * 1024)
#define RECORDS_PER_LOG 1000000000L /* By which the end of the log is ahead of every fetch. */
#define NO_OFFSET       (-1)
#define OFFSET_EARLIEST (-2)

enum {
    API_PRODUCE = 0,
    API_FETCH = 1,
    API_LIST_OFFSETS = 2,
    API_METADATA = 3,
    API_INIT_PRODUCER_ID = 22
};

struct null_broker {
    uint16_t port;
    bool checks_crc;
    int write_fd; /* -1: none. */
    off_t write_at;
    struct buffer fetch_batch; /* (3) */
    int32_t fetch_records;
    int64_t next_offset;
    int64_t next_producer_id;
    int epoll_fd;
    int listen_fd;
};

struct connection {
    int fd;
    struct buffer in;
    struct buffer out; /* Replies; after the last of them perhaps a tail, which is borrowed. */
    size_t out_sent;
    const uint8_t *tail;
    size_t tail_left;
    bool is_blocked; /* Waits for room to send; reads nothing meanwhile. */
};

/* ---- requests ---------------------------------------------------------------------------------- */

struct supported_api {
    int16_t key, first, last;
};

/* None is flexible but ApiVersions itself. */
static const struct supported_api supported_apis[] = {
    { API_PRODUCE, 3, 7 },
    { API_FETCH, 4, 11 },
    { API_LIST_OFFSETS, 1, 2 },
    { API_METADATA, 1, 4 },
    { API_KEY_OF_API_VERSIONS, 0, 3 },
    { API_INIT_PRODUCER_ID, 0, 1 },
};
#define SUPPORTED_API_COUNT ((int32_t)(sizeof supported_apis / sizeof *supported_apis))

static struct str take_text(struct cursor *in)
{
    int16_t length = cursor_i16(in);
    const uint8_t *data = cursor_take(in, length < 0 ? 0 : (size_t)length);
    return data == NULL ? STR_NULL : (struct str){ (const char *)data, length };
}

static void put_text(struct buffer *out, struct str text)
{
    buffer_i16(out, (int16_t)text.length);
    if (text.length > 0) buffer_put(out, text.data, (size_t)text.length);
}

/* Takes over a count that the answer repeats. */
static int32_t copy_count(struct cursor *in, struct buffer *out)
{
    int32_t count = cursor_i32(in);
    buffer_i32(out, count);
    return count;
}

static void answer_api_versions(int16_t version, struct buffer *out)
{
    bool is_flexible = version >= 3;
    buffer_i16(out, 0);
    if (is_flexible)
        buffer_uvarint(out, SUPPORTED_API_COUNT + 1);
    else
        buffer_i32(out, SUPPORTED_API_COUNT);
    for (int32_t i = 0; i < SUPPORTED_API_COUNT; i++) {
        buffer_i16(out, supported_apis[i].key);
        buffer_i16(out, supported_apis[i].first);
        buffer_i16(out, supported_apis[i].last);
        if (is_flexible) buffer_uvarint(out, 0);
    }
    if (version >= 1) buffer_i32(out, 0);
    if (is_flexible) buffer_uvarint(out, 0);
}

static void put_array_of_node(struct buffer *out)
{
    buffer_i32(out, 1);
    buffer_i32(out, 0);
}

static void answer_metadata(const struct null_broker *broker, int16_t version, struct cursor *in,
                            struct buffer *out)
{
    if (version >= 3) buffer_i32(out, 0); /* throttle time */
    buffer_i32(out, 1);
    buffer_i32(out, 0);
    put_text(out, STR_LITERAL("127.0.0.1"));
    buffer_i32(out, broker->port);
    put_text(out, STR_NULL);                                      /* rack */
    if (version >= 2) put_text(out, STR_LITERAL("null-cluster")); /* cluster id */
    buffer_i32(out, 0);                                           /* controller */
    int32_t topics = cursor_i32(in);
    if (topics < 0) topics = 0; /* All of them: (1) has no list. */
    buffer_i32(out, topics);
    for (; topics > 0 && !in->bad; topics--) {
        buffer_i16(out, 0);
        put_text(out, take_text(in));
        buffer_i8(out, 0); /* not internal */
        buffer_i32(out, 1);
        buffer_i16(out, 0);
        buffer_i32(out, 0); /* partition */
        buffer_i32(out, 0); /* leader */
        put_array_of_node(out);
        put_array_of_node(out);
    }
}

static void answer_list_offsets(const struct null_broker *broker, int16_t version,
                                struct cursor *in, struct buffer *out)
{
    cursor_i32(in); /* replica */
    if (version >= 2) {
        cursor_i8(in); /* isolation level */
        buffer_i32(out, 0);
    }
    for (int32_t topics = copy_count(in, out); topics > 0 && !in->bad; topics--) {
        put_text(out, take_text(in));
        for (int32_t count = copy_count(in, out); count > 0 && !in->bad; count--) {
            buffer_i32(out, cursor_i32(in));
            buffer_i16(out, 0);
            buffer_i64(out, -1); /* timestamp */
            buffer_i64(out, cursor_i64(in) == OFFSET_EARLIEST ? 0 : broker->next_offset);
        }
    }
}

static void answer_init_producer_id(struct null_broker *broker, struct buffer *out)
{
    buffer_i32(out, 0);
    buffer_i16(out, 0);
    buffer_i64(out, broker->next_producer_id++);
    buffer_i16(out, 0);
}

/* Gives the batches of one partition their offsets, in place. Returns an error for the client. */
static enum err take_batches(struct null_broker *broker, uint8_t *data, size_t size,
                             int64_t *base_offset)
{
    *base_offset = broker->next_offset;
    for (size_t at = 0; at < size;) {
        struct record_batch batch;
        if (record_batch_read_header(&batch, data + at, size - at) != 0 || batch.size > size - at ||
            (broker->checks_crc && !record_batch_crc_is_right(&batch)))
            return ERR_CORRUPT_MESSAGE;
        record_batch_set_position(data + at, broker->next_offset, 0);
        broker->next_offset += batch.record_count;
        at += batch.size;
    }
    if (broker->write_fd < 0) return 0;
    if (broker->write_at + (off_t)size > WRITE_WRAP) broker->write_at = 0;
    if (pwrite(broker->write_fd, data, size, broker->write_at) != (ssize_t)size)
        return ERR_KAFKA_STORAGE_ERROR;
    broker->write_at += (off_t)size;
    return 0;
}

/* `*wants_reply` is false for acks=0. */
static void answer_produce(struct null_broker *broker, int16_t version, struct cursor *in,
                           struct buffer *out, bool *wants_reply)
{
    take_text(in); /* transactional id */
    *wants_reply = cursor_i16(in) != 0;
    cursor_i32(in); /* timeout */
    for (int32_t topics = copy_count(in, out); topics > 0 && !in->bad; topics--) {
        put_text(out, take_text(in));
        for (int32_t count = copy_count(in, out); count > 0 && !in->bad; count--) {
            buffer_i32(out, cursor_i32(in));
            int32_t size = cursor_i32(in);
            const uint8_t *data = cursor_take(in, size < 0 ? 0 : (size_t)size);
            int64_t base_offset = NO_OFFSET;
            enum err err = ERR_CORRUPT_MESSAGE;
            if (data != NULL && size > 0) /* The connection's own buffer: not const to us. */
                err = take_batches(broker, (uint8_t *)(uintptr_t)data, (size_t)size, &base_offset);
            buffer_i16(out, (int16_t)error_kafka_code(err));
            buffer_i64(out, base_offset);
            buffer_i64(out, -1);                  /* log append time */
            if (version >= 5) buffer_i64(out, 0); /* log start offset */
        }
    }
    buffer_i32(out, 0); /* throttle time */
}

/* The last partition that is asked for gets the batch, as the tail of the reply; the others nothing. */
static void answer_fetch(struct null_broker *broker, struct connection *connection, int16_t version,
                         struct cursor *in)
{
    struct buffer *out = &connection->out;
    cursor_take(in, 4 + 4 + 4 + 4 + 1); /* replica, wait, least and most bytes, isolation level */
    buffer_i32(out, 0);                 /* throttle time */
    if (version >= 7) {
        cursor_take(in, 4 + 4); /* session */
        buffer_i16(out, 0);
        buffer_i32(out, 0); /* No session: every fetch is whole. */
    }
    for (int32_t topics = copy_count(in, out); topics > 0 && !in->bad; topics--) {
        put_text(out, take_text(in));
        for (int32_t count = copy_count(in, out); count > 0 && !in->bad; count--) {
            buffer_i32(out, cursor_i32(in));
            if (version >= 9) cursor_i32(in); /* leader epoch */
            int64_t offset = cursor_i64(in);
            cursor_take(in, version >= 5 ? 8 + 4 : 4); /* log start, most bytes */
            if (in->bad || offset < 0 || offset > INT64_MAX - RECORDS_PER_LOG) offset = 0;
            buffer_i16(out, 0);
            buffer_i64(out, offset + RECORDS_PER_LOG); /* high watermark */
            buffer_i64(out, offset + RECORDS_PER_LOG); /* last stable offset */
            if (version >= 5) buffer_i64(out, 0);
            buffer_i32(out, -1);                    /* aborted transactions */
            if (version >= 11) buffer_i32(out, -1); /* preferred replica */
            bool is_last = topics == 1 && count == 1;
            buffer_i32(out, is_last ? (int32_t)broker->fetch_batch.length : 0);
            if (!is_last) continue;
            buffer_i64(out, offset - offset % broker->fetch_records); /* the batch's base offset */
            connection->tail = broker->fetch_batch.data + 8;
            connection->tail_left = broker->fetch_batch.length - 8;
        }
    }
}

static bool is_supported(const struct request_header *header)
{
    for (int32_t i = 0; i < SUPPORTED_API_COUNT; i++)
        if (supported_apis[i].key == header->api_key)
            return header->api_version >= supported_apis[i].first &&
                   header->api_version <= supported_apis[i].last;
    return false;
}

/* Appends the reply to one frame. Returns 0, ERR_MALFORMED, ERR_UNSUPPORTED_VERSION, ERR_NO_MEMORY. */
static int answer(struct null_broker *broker, struct connection *connection, const uint8_t *data,
                  size_t size)
{
    struct buffer *out = &connection->out;
    struct cursor in = cursor_over(data, size);
    struct request_header header = { .api_key = cursor_i16(&in),
                                     .api_version = cursor_i16(&in),
                                     .correlation_id = cursor_i32(&in) };
    header.client_id = take_text(&in);
    if (!in.bad && !is_supported(&header)) {
        fprintf(stderr, "null_broker: no answer to API %d, version %d\n", header.api_key,
                header.api_version);
        return ERR_UNSUPPORTED_VERSION;
    }
    size_t start = out->length;
    bool wants_reply = true;
    buffer_i32(out, 0); /* the size, known below */
    buffer_i32(out, header.correlation_id);
    switch (header.api_key) {
    case API_PRODUCE: answer_produce(broker, header.api_version, &in, out, &wants_reply); break;
    case API_FETCH: answer_fetch(broker, connection, header.api_version, &in); break;
    case API_LIST_OFFSETS: answer_list_offsets(broker, header.api_version, &in, out); break;
    case API_METADATA: answer_metadata(broker, header.api_version, &in, out); break;
    case API_INIT_PRODUCER_ID: answer_init_producer_id(broker, out); break;
    default: answer_api_versions(header.api_version, out); break;
    }
    if (in.bad) return ERR_MALFORMED;
    if (out->failed) return ERR_NO_MEMORY;
    store_i32(out->data + start, (int32_t)(out->length - start - 4 + connection->tail_left));
    if (!wants_reply) out->length = start;
    return 0;
}

/* ---- connections ------------------------------------------------------------------------------- */

static void connection_close(struct connection *connection)
{
    close(connection->fd);
    buffer_close(&connection->in);
    buffer_close(&connection->out);
    mem_free(connection);
}

/* Sends what there is, or as much as the socket takes. Returns 0 or ERR_NETWORK. */
static int connection_flush(struct connection *connection)
{
    struct buffer *out = &connection->out;
    connection->is_blocked = false;
    while (connection->out_sent < out->length || connection->tail_left > 0) {
        struct iovec parts[] = {
            { out->data + connection->out_sent, out->length - connection->out_sent },
            { (void *)(uintptr_t)connection->tail, connection->tail_left },
        };
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
        ssize_t sent = sendmsg(connection->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            connection->is_blocked = true;
            return 0;
        }
        if (sent < 0) return ERR_NETWORK;
        size_t of_out = (size_t)sent < parts[0].iov_len ? (size_t)sent : parts[0].iov_len;
        connection->out_sent += of_out;
        connection->tail += (size_t)sent - of_out;
        connection->tail_left -= (size_t)sent - of_out;
    }
    out->length = connection->out_sent = 0;
    return 0;
}

/* Answers all whole frames that are there. Returns 0 or why the connection must go. */
static int connection_answer(struct null_broker *broker, struct connection *connection)
{
    struct buffer *in = &connection->in;
    size_t at = 0;
    int err = 0;
    while (err == 0 && !connection->is_blocked && in->length - at >= 4) {
        int32_t size = load_i32(in->data + at);
        if (size < 0 || size > FRAME_BYTES_MAX) return ERR_MALFORMED;
        if (in->length - at - 4 < (size_t)size) break;
        err = answer(broker, connection, in->data + at + 4, (size_t)size);
        at += 4 + (size_t)size;
        if (err == 0 && (connection->tail_left > 0 || connection->out.length >= FLUSH_BYTES))
            err = connection_flush(connection);
    }
    if (at > 0) memmove(in->data, in->data + at, in->length - at);
    in->length -= at;
    if (err == 0 && !connection->is_blocked) err = connection_flush(connection);
    return err;
}

/* Reads up to the end of a frame whose size is known, so that a long one is never moved. Returns 0,
 * ERR_NEEDS_IO when there was less than was wanted, or why the connection must go. */
static int connection_read(struct connection *connection)
{
    struct buffer *in = &connection->in;
    size_t wanted = READ_BYTES;
    if (in->length >= 4) {
        size_t whole = 4 + (size_t)load_i32(in->data); /* connection_answer() has checked it. */
        if (whole > in->length) wanted = whole - in->length;
    }
    if (!buffer_reserve(in, wanted)) return ERR_NO_MEMORY;
    ssize_t got = read(connection->fd, in->data + in->length, wanted);
    if (got < 0 && errno == EAGAIN) return ERR_NEEDS_IO;
    if (got <= 0) return ERR_NETWORK;
    in->length += (size_t)got;
    return (size_t)got < wanted ? ERR_NEEDS_IO : 0;
}

/* Returns 0 or why the connection must go. */
static int connection_serve(struct null_broker *broker, struct connection *connection)
{
    bool was_blocked = connection->is_blocked;
    int err = 0;
    if (was_blocked) {
        err = connection_flush(connection);
        if (err == 0 && !connection->is_blocked) err = connection_answer(broker, connection);
    }
    for (int i = 0; err == 0 && i < READS_PER_EVENT && !connection->is_blocked; i++) {
        int read_err = connection_read(connection);
        if (read_err != 0 && read_err != ERR_NEEDS_IO) return read_err;
        err = connection_answer(broker, connection);
        if (read_err == ERR_NEEDS_IO) break;
    }
    if (err == 0 && was_blocked != connection->is_blocked) {
        struct epoll_event event = { .events = connection->is_blocked ? EPOLLOUT : EPOLLIN,
                                     .data.ptr = connection };
        if (epoll_ctl(broker->epoll_fd, EPOLL_CTL_MOD, connection->fd, &event) != 0) err = ERR_IO;
    }
    return err;
}

static void accept_connection(struct null_broker *broker)
{
    int on = 1;
    int fd = accept4(broker->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *connection = mem_zalloc(sizeof *connection);
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };
    if (connection == NULL || epoll_ctl(broker->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        close(fd);
        mem_free(connection);
        return;
    }
    connection->fd = fd;
    buffer_init(&connection->in);
    buffer_init(&connection->out);
}

/* ---- the process ------------------------------------------------------------------------------- */

/* (3). Values are half text, half noise, as an honest payload is to whoever compresses it. */
static int build_fetch_batch(struct null_broker *broker, size_t record_size, size_t batch_bytes)
{
    uint8_t *value = mem_alloc(record_size + 1);
    if (value == NULL) return ERR_NO_MEMORY;
    struct batch_builder builder;
    batch_builder_init(&builder);
    int64_t now_ms = clock_wall_ms(clock_real());
    uint32_t noise = 1;
    do {
        for (size_t i = 0; i < record_size; i++) {
            noise = noise * 1664525 + 1013904223;
            value[i] = i % 64 < 32 ? (uint8_t)('a' + i % 26) : (uint8_t)(noise >> 24);
        }
        batch_builder_append(&builder, now_ms, BYTES_NULL,
                             (struct bytes){ value, (int32_t)record_size }, NULL, 0);
    } while (batch_builder_size(&builder) + record_size + 16 < batch_bytes);
    broker->fetch_records = builder.record_count;
    int err = batch_builder_finish(&builder, &broker->fetch_batch);
    batch_builder_close(&builder);
    mem_free(value);
    return err;
}

/* Returns 0 or ERR_IO. */
static int start_listening(struct null_broker *broker)
{
    int on = 1;
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(broker->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };
    broker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    broker->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (broker->epoll_fd < 0 || broker->listen_fd < 0) return ERR_IO;
    setsockopt(broker->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(broker->listen_fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(broker->listen_fd, SOMAXCONN) != 0 ||
        epoll_ctl(broker->epoll_fd, EPOLL_CTL_ADD, broker->listen_fd, &event) != 0)
        return ERR_IO;
    return 0;
}

/* Until a signal ends the process. */
static void run(struct null_broker *broker)
{
    for (;;) {
        struct epoll_event events[64];
        int count = epoll_wait(broker->epoll_fd, events, 64, -1);
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == NULL)
                accept_connection(broker);
            else if (connection_serve(broker, connection) != 0)
                connection_close(connection);
        }
    }
}

static long number_of(const char *text, long most)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || end == text || number < 1 || number > most) {
        fprintf(stderr, "null_broker: a number from 1 to %ld, not '%s'\n", most, text);
        exit(2);
    }
    return number;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "port", required_argument, NULL, 'p' },
        { "crc", no_argument, NULL, 'c' },
        { "write", required_argument, NULL, 'w' },
        { "record-size", required_argument, NULL, 's' },
        { "batch-bytes", required_argument, NULL, 'b' },
        { NULL, 0, NULL, 0 },
    };
    struct null_broker broker = { .port = 9092, .write_fd = -1, .next_producer_id = 1 };
    long record_size = 1024, batch_bytes = 1000000;
    const char *write_path = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p': broker.port = (uint16_t)number_of(optarg, 65535); break;
        case 'c': broker.checks_crc = true; break;
        case 'w': write_path = optarg; break;
        case 's': record_size = number_of(optarg, 16 * 1024 * 1024); break;
        case 'b': batch_bytes = number_of(optarg, 64 * 1024 * 1024); break;
        default: return 2;
        }
    }
    buffer_init(&broker.fetch_batch);
    if (write_path != NULL) {
        broker.write_fd = open(write_path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
        if (broker.write_fd < 0) {
            fprintf(stderr, "null_broker: cannot write %s: %m\n", write_path);
            return 1;
        }
    }
    int err = build_fetch_batch(&broker, (size_t)record_size, (size_t)batch_bytes);
    if (err == 0) err = start_listening(&broker);
    if (err != 0) {
        fprintf(stderr, "null_broker: cannot start: %s (%m)\n", error_text(err));
        return 1;
    }
    run(&broker);
}
