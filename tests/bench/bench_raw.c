// SPDX-License-Identifier: Apache-2.0
/* A broker seen through one socket, with requests that were built before and no threads: what is
 * measured is the broker and the kernel, not a client library (DESIGN 13).
 *
 * Requests are Produce v7 of one record, which every broker since Kafka 1.0 takes without being
 * asked for its versions first; the reply has everything of interest at a fixed place. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "arena.h"
#include "batch_builder.h"
#include "bench.h"
#include "buffer.h"
#include "clock.h"
#include "codec.h"
#include "error.h"
#include "header.h"
#include "metadata.h"
#include "produce.h"

#define PRODUCE_VERSION  7
#define METADATA_VERSION 4
#define CORRELATION_AT   8 /* In a request: behind size, key and version. */
#define REPLY_BYTES_MAX  65536
#define START_WAIT_NS    INT64_C(60000000000)
#define REPLY_WAIT_S     60

/* ---- a connection ------------------------------------------------------------------------------ */

struct raw {
    int fd;
    int32_t next_correlation_id; /* Of the next reply. */
    size_t have;
    uint8_t data[REPLY_BYTES_MAX]; /* Replies that were not looked at. */
};

static void raw_close(struct raw *raw)
{
    if (raw->fd >= 0) close(raw->fd);
    raw->fd = -1;
}

/* Says nothing on failure: a broker that starts refuses for a while. Returns 0 or ERR_NETWORK. */
static int raw_open(struct raw *raw, const char *bootstrap)
{
    char host[256];
    const char *colon = strrchr(bootstrap, ':');
    raw->fd = -1;
    raw->next_correlation_id = 0;
    raw->have = 0;
    if (colon == NULL || (size_t)(colon - bootstrap) >= sizeof host) return ERR_NETWORK;
    snprintf(host, sizeof host, "%.*s", (int)(colon - bootstrap), bootstrap);
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0) return ERR_NETWORK;
    for (const struct addrinfo *at = found; at != NULL && raw->fd < 0; at = at->ai_next) {
        raw->fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (raw->fd >= 0 && connect(raw->fd, at->ai_addr, at->ai_addrlen) != 0) raw_close(raw);
    }
    freeaddrinfo(found);
    if (raw->fd < 0) return ERR_NETWORK;
    int on = 1;
    struct timeval wait = { .tv_sec = REPLY_WAIT_S };
    setsockopt(raw->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(raw->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    return 0;
}

/* Returns 0 or ERR_NETWORK. */
static int raw_send(struct raw *raw, const uint8_t *data, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(raw->fd, data, length, MSG_NOSIGNAL);
        if (sent <= 0) return ERR_NETWORK;
        data += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* Reads once. Returns 0 or ERR_NETWORK. */
static int raw_receive(struct raw *raw)
{
    ssize_t got = recv(raw->fd, raw->data + raw->have, sizeof raw->data - raw->have, 0);
    if (got <= 0) return ERR_NETWORK;
    raw->have += (size_t)got;
    return 0;
}

/* The whole reply that starts at `at` in the data, with its size in front. Returns 0; ERR_NEEDS_IO
 * if it is not all there; ERR_MALFORMED if it is not the one that is due. */
static int raw_reply_at(struct raw *raw, size_t at, struct cursor *reply)
{
    if (raw->have - at < 4) return ERR_NEEDS_IO;
    int32_t size = load_i32(raw->data + at);
    if (size < 4 || (size_t)size > sizeof raw->data - 4) return ERR_MALFORMED;
    if (raw->have - at - 4 < (size_t)size) return ERR_NEEDS_IO;
    *reply = cursor_over(raw->data + at + 4, (size_t)size);
    return cursor_i32(reply) == raw->next_correlation_id++ ? 0 : ERR_MALFORMED;
}

/* Behind the first `length` bytes everything stays. */
static void raw_drop(struct raw *raw, size_t length)
{
    memmove(raw->data, raw->data + length, raw->have - length);
    raw->have -= length;
}

/* Waits for one reply, which is valid until raw_drop() of all there is. */
static int raw_await(struct raw *raw, struct cursor *reply)
{
    int err = raw_reply_at(raw, 0, reply);
    while (err == ERR_NEEDS_IO) {
        err = raw_receive(raw);
        if (err == 0) err = raw_reply_at(raw, 0, reply);
    }
    return err;
}

/* ---- requests ---------------------------------------------------------------------------------- */

/* Makes a frame with correlation id 0 of a request in one of the shapes with header version 1. */
static int build_frame(struct encoder *frame, const struct message_shape *shape, int16_t key,
                       int16_t version, const void *request)
{
    struct request_header header = { .api_key = key,
                                     .api_version = version,
                                     .client_id = STR_LITERAL("bench") };
    buffer_i32(&frame->bytes, 0);
    int err = request_header_encode(1, &header, &frame->bytes);
    if (err == 0) err = message_encode(shape, version, request, frame);
    if (err == 0) store_i32(frame->bytes.data, (int32_t)frame->bytes.length - 4);
    return err;
}

/* Appends to `batch` one record of `size` bytes. */
static int build_batch(struct buffer *batch, int64_t size)
{
    struct batch_builder builder;
    uint8_t *value = mem_zalloc((size_t)size);
    if (value == NULL) return ERR_NO_MEMORY;
    batch_builder_init(&builder);
    batch_builder_append(&builder, clock_wall_ms(clock_real()), BYTES_NULL,
                         (struct bytes){ value, (int32_t)size }, NULL, 0);
    int err = batch_builder_finish(&builder, batch);
    batch_builder_close(&builder);
    mem_free(value);
    return err;
}

/* `frame` is open already; the same goes for the other builder. */
static int build_produce(struct encoder *frame, const struct bench_settings *settings)
{
    struct buffer batch;
    buffer_init(&batch);
    int err = build_batch(&batch, settings->size);
    struct produce_request_partition partition;
    struct produce_request_topic topic;
    struct produce_request request;
    shape_defaults(&produce_request_partition_shape, &partition);
    shape_defaults(&produce_request_topic_shape, &topic);
    message_defaults(&produce_request_shape, &request);
    partition.records = (struct records){ batch.data, (int32_t)batch.length, NULL };
    topic.name = str_from(settings->topic);
    topic.partition_data.items = &partition;
    topic.partition_data.count = 1;
    request.acks = (int16_t)settings->acks;
    request.timeout_ms = 30000;
    request.topic_data.items = &topic;
    request.topic_data.count = 1;
    if (err == 0) err = build_frame(frame, &produce_request_shape, 0, PRODUCE_VERSION, &request);
    buffer_close(&batch);
    return err;
}

/* Asks for the topic, so that it is made if it is not there. */
static int build_metadata(struct encoder *frame, const struct bench_settings *settings)
{
    struct metadata_request_topic topic;
    struct metadata_request request;
    shape_defaults(&metadata_request_topic_shape, &topic);
    message_defaults(&metadata_request_shape, &request);
    topic.name = str_from(settings->topic);
    request.topics.items = &topic;
    request.topics.count = 1;
    request.allow_auto_topic_creation = true;
    return build_frame(frame, &metadata_request_shape, 3, METADATA_VERSION, &request);
}

/* The error in a reply to build_produce(), the cursor behind its correlation id. */
static enum err produce_reply_error(struct cursor *reply)
{
    cursor_i32(reply); /* topics */
    cursor_take(reply, (size_t)cursor_i16(reply));
    cursor_i32(reply); /* partitions */
    cursor_i32(reply); /* index */
    int16_t error_code = cursor_i16(reply);
    return reply->bad ? ERR_MALFORMED : error_from_kafka_code(error_code);
}

/* ---- latency and pipelining -------------------------------------------------------------------- */

/* Sends the request and waits for its reply. */
static int exchange(struct raw *raw, struct encoder *frame)
{
    struct cursor reply;
    store_i32(frame->bytes.data + CORRELATION_AT, raw->next_correlation_id);
    int err = raw_send(raw, frame->bytes.data, frame->bytes.length);
    if (err == 0) err = raw_await(raw, &reply);
    if (err == 0) err = (int)produce_reply_error(&reply);
    raw->have = 0;
    return err;
}

int measure_raw_latency(const struct bench_settings *settings, struct findings *findings)
{
    struct raw raw;
    struct encoder frame;
    int64_t warm_up = settings->records / 10, count = settings->records + warm_up;
    int64_t *durations_ns = mem_calloc((size_t)settings->records, sizeof *durations_ns);
    encoder_init(&frame);
    int err = durations_ns == NULL ? ERR_NO_MEMORY : raw_open(&raw, settings->bootstrap);
    if (err == 0) err = build_produce(&frame, settings);
    for (int64_t i = 0; err == 0 && i < count; i++) {
        int64_t began_ns = now_ns();
        err = exchange(&raw, &frame);
        if (i >= warm_up) durations_ns[i - warm_up] = now_ns() - began_ns;
    }
    if (err == 0)
        findings_add_latency(findings, durations_ns, (size_t)settings->records);
    else
        complain("%s: %s", settings->bootstrap, error_text(err));
    if (durations_ns != NULL) raw_close(&raw);
    encoder_close(&frame);
    mem_free(durations_ns);
    return err;
}

/* `depth` copies of a request, one behind the other, so that many go out in one call. */
struct ring {
    struct buffer frames;
    size_t frame_length;
    int64_t depth;
    int64_t sent;
    int64_t answered;
};

static int ring_open(struct ring *ring, const struct bench_settings *settings)
{
    struct encoder frame;
    encoder_init(&frame);
    *ring = (struct ring){ .depth = settings->depth };
    buffer_init(&ring->frames);
    int err = build_produce(&frame, settings);
    ring->frame_length = frame.bytes.length;
    for (int64_t i = 0; err == 0 && i < settings->depth; i++)
        buffer_put(&ring->frames, frame.bytes.data, frame.bytes.length);
    if (err == 0 && ring->frames.failed) err = ERR_NO_MEMORY;
    encoder_close(&frame);
    return err;
}

/* Sends requests until `depth` are under way, or `count` were sent in all. */
static int ring_fill(struct ring *ring, struct raw *raw, int64_t count)
{
    int err = 0;
    while (err == 0 && ring->sent < count && ring->sent - ring->answered < ring->depth) {
        int64_t first = ring->sent % ring->depth;
        int64_t run = ring->depth - (ring->sent - ring->answered);
        if (run > ring->depth - first) run = ring->depth - first;
        if (run > count - ring->sent) run = count - ring->sent;
        uint8_t *data = ring->frames.data + (size_t)first * ring->frame_length;
        for (int64_t i = 0; i < run; i++)
            store_i32(data + (size_t)i * ring->frame_length + CORRELATION_AT,
                      (int32_t)(ring->sent + i));
        err = raw_send(raw, data, (size_t)run * ring->frame_length);
        ring->sent += run;
    }
    return err;
}

/* Reads once and counts the replies that are whole. */
static int ring_drain(struct ring *ring, struct raw *raw)
{
    struct cursor reply;
    size_t at = 0;
    int err = raw_receive(raw);
    while (err == 0) {
        err = raw_reply_at(raw, at, &reply);
        if (err != 0) break;
        at += 4 + (size_t)load_i32(raw->data + at);
        ring->answered++;
        err = (int)produce_reply_error(&reply);
    }
    raw_drop(raw, at);
    return err == ERR_NEEDS_IO ? 0 : err;
}

/* Goes on until `count` requests were answered in all. */
static int ring_run(struct ring *ring, struct raw *raw, int64_t count)
{
    int err = 0;
    while (err == 0 && ring->answered < count) {
        err = ring_fill(ring, raw, count);
        if (err == 0) err = ring_drain(ring, raw);
    }
    return err;
}

int measure_pipelined(const struct bench_settings *settings, struct findings *findings)
{
    struct raw raw;
    struct ring ring;
    struct span span;
    int64_t warm_up = settings->records / 10;
    int err = raw_open(&raw, settings->bootstrap);
    int ring_err = ring_open(&ring, settings);
    if (err == 0) err = ring_err;
    if (err == 0) err = ring_run(&ring, &raw, warm_up);
    span_begin(&span, settings->pid);
    if (err == 0) err = ring_run(&ring, &raw, warm_up + settings->records);
    span_end(&span);
    if (err == 0)
        findings_add_flow(findings, settings->records, settings->size, &span);
    else
        complain("%s: %s", settings->bootstrap, error_text(err));
    raw_close(&raw);
    buffer_close(&ring.frames);
    return err;
}

/* ---- starting ---------------------------------------------------------------------------------- */

/* Runs the command with its output in the log. Returns 0 or ERR_IO. */
static int spawn(const struct bench_settings *settings, pid_t *pid)
{
    *pid = fork();
    if (*pid < 0) return ERR_IO;
    if (*pid > 0) return 0;
    int log = open(settings->log_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    int nothing = open("/dev/null", O_RDONLY);
    if (log < 0 || nothing < 0) _exit(127);
    dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execvp(settings->command[0], settings->command);
    fprintf(stderr, "%s: %m\n", settings->command[0]);
    _exit(127);
}

/* Connects, has the topic made and sends one record. Returns 0 if it was accepted. */
static int try_once(const struct bench_settings *settings, struct encoder *metadata,
                    struct encoder *produce)
{
    struct raw raw;
    struct cursor reply;
    int err = raw_open(&raw, settings->bootstrap);
    if (err != 0) return err;
    err = raw_send(&raw, metadata->bytes.data, metadata->bytes.length);
    if (err == 0) err = raw_await(&raw, &reply); /* What it says will show in the next one. */
    raw.have = 0;
    if (err == 0) err = exchange(&raw, produce);
    raw_close(&raw);
    return err;
}

/* From before the fork to the reply that accepts a record, in a topic that was not there. */
int measure_start(const struct bench_settings *settings, struct findings *findings)
{
    struct encoder metadata, produce;
    encoder_init(&metadata);
    encoder_init(&produce);
    pid_t pid = 0;
    int64_t began_ns = 0;
    int err = build_metadata(&metadata, settings);
    if (err == 0) err = build_produce(&produce, settings);
    if (err == 0) {
        began_ns = now_ns();
        err = spawn(settings, &pid);
    }
    bool is_up = false;
    while (err == 0 && !is_up) {
        int status;
        is_up = try_once(settings, &metadata, &produce) == 0;
        if (waitpid(pid, &status, WNOHANG) == pid) {
            err = complain("%s ended; its output is in %s", settings->command[0],
                           settings->log_path);
            pid = 0;
        } else if (!is_up && now_ns() - began_ns > START_WAIT_NS) {
            err = complain("%s accepts nothing", settings->command[0]);
        } else if (!is_up) {
            nanosleep(&(struct timespec){ .tv_nsec = 300000 }, NULL);
        }
    }
    if (err == 0) {
        findings_add(findings, "start_ms", (double)(now_ns() - began_ns) / 1e6);
        findings_add(findings, "pid", (double)pid);
    } else if (pid > 0) {
        kill(pid, SIGKILL);
    }
    encoder_close(&metadata);
    encoder_close(&produce);
    return err;
}
