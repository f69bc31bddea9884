// SPDX-License-Identifier: Apache-2.0
/* The net layer between clients that send any bytes, in any pieces, and a server that answers at any time.
 *
 *  (1) Every whole frame is handed over, as it was sent and in its order, up to a length that is none or a
 *      frame that the server refuses: there the connection ends, after all replies that it is owed.
 *  (2) Replies come as the server gave them, in the order of the frames.
 *  (3) Requests take no more memory than they may. When the clients have gone, none is left.
 *
 * What an input says is done step by step, then all frames are answered and all replies read. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "bytes.h"
#include "call_box.h"
#include "connection.h"
#include "cursor.h"
#include "fuzz.h"
#include "fuzz_transport.h"
#include "net_state.h"

const char fuzz_name[] = "fuzz_frames";

#define CLIENTS        4
#define VISITS         16                /* Of all clients together: who has left may come again. */
#define SENT_MAX       ((size_t)2 << 20) /* In one visit. */
#define EXPECTED_MAX   (4 * SENT_MAX)
#define GOOD_FRAME_MAX 300000
#define STEPS_MAX      100
#define SUSPENDED_MAX  2048
#define FILE_BYTES     ((size_t)1 << 20)
#define DROPPED_MS \
    30000 /* After that half a frame may be given up (net_loop.c), and who is idle. */
#define TURNS_OF_SILENCE 4 /* So many in which nothing moves: nothing will. */

/*    at  size  meaning
 *     0    1   limits: below
 *     1    1   which transport, and its chance
 *     2    1   0, or which allocation fails
 *     3        steps: one byte, client and enum step; then what that says */
#define HEAD 3

enum step {
    STEP_BYTES, /* Length (2) and bytes, as they are. */
    STEP_FRAME, /* First byte (1) and length (3; half a MiB at most) of a frame that is made. */
    STEP_TURN,
    STEP_ANSWER,     /* Which one (1). */
    STEP_ANSWER_ALL, /* The oldest first, or (1) the newest. */
    STEP_END,        /* Says that this was all, or (1) closes. */
    STEP_DEAF,       /* Reads, or not, from now on. */
    STEP_TIME,       /* Seconds (1). */
    STEP_HOLD_JOBS,  /* Or not any longer. */
    STEP_COUNT
};

/* What the server does with a frame, by its first byte. */
enum what {
    WHAT_ECHO,
    WHAT_ECHO_AFTER_BURST,
    WHAT_SUSPEND,
    WHAT_SUSPEND_SERIAL,
    WHAT_RELEASE, /* Suspends; the answer is one byte. */
    WHAT_SILENT,
    WHAT_MANY, /* Answers with more bytes than it was sent. */
    WHAT_FILE,
    WHAT_COUNT
};
#define REFUSED 0xff

/* A client from when it comes until it has left. */
struct client {
    int fd; /* -1: not there. */
    bool is_deaf, has_said_all;
    bool may_be_dropped; /* Without a word: time or memory may do that. */
    bool is_refused;     /* After what is expected there is nothing more. */
    bool has_seen_end;
    struct buffer sent;
    size_t written;         /* Of `sent`. */
    size_t handed;          /* Of `sent`: where the next frame begins. */
    struct buffer expected; /* Replies, each with its length. */
    size_t seen;
};

struct suspended {
    struct call *call;
    struct client *client;
    size_t at; /* Where its frame is in what was sent. */
    size_t length;
    bool has_frame;
};

static struct {
    struct net *net;
    struct net_config config;
    struct net_server server;
    struct executor disk;
    struct clock_manual clock;
    struct client *clients[CLIENTS]; /* Each one's last visit. */
    unsigned visit_count;
    struct suspended suspended[SUSPENDED_MAX], put_off[SUSPENDED_MAX];
    unsigned suspended_count, put_off_count;
    struct list jobs;
    bool are_jobs_held;
    int64_t passed_ms;
    bool may_drop;  /* Whoever is there, without a word. */
    uint64_t moved; /* Counts whatever happens. */
} world;

/* They keep their buffers from one input to the next, so that no allocation that is to fail is theirs. */
static struct client visits[VISITS];
static int slices_file = -1;

/* What made bytes are: those of the file, and frames and long replies from some place of it on. */
static uint8_t pattern[FILE_BYTES];

/* ---- what is expected ---- */

static void expect(struct client *client, const void *reply, size_t length)
{
    buffer_i32(&client->expected, (int32_t)length);
    buffer_put(&client->expected, reply, length);
}

/* Few bytes may ask for many, but not often, nor without end. */
static bool is_asked_enough(const struct client *client)
{
    return client->expected.length > SENT_MAX;
}

static size_t asked_bytes(const uint8_t *at)
{
    size_t asked = (uint16_t)load_i16(at);
    return asked % 8 == 0 ? asked * 4 : asked % 1024;
}

static size_t many_bytes(const struct client *client, const uint8_t *frame, size_t length)
{
    return length < 3 || is_asked_enough(client) ? 100 : asked_bytes(frame + 1);
}

/* The nth slice of an answer; 0: no more. */
static size_t slice_of(const uint8_t *frame, size_t length, unsigned nth, off_t *offset)
{
    const uint8_t *at = frame + 1 + (size_t)nth * 3;
    if ((size_t)nth * 3 + 4 > length || nth == 3) return 0;
    *offset = (off_t)at[0] * 997;
    return 1 + asked_bytes(at + 1);
}

static void expect_many(struct client *client, size_t length)
{
    buffer_i32(&client->expected, (int32_t)length);
    buffer_put(&client->expected, pattern, length);
}

static void expect_file(struct client *client, const uint8_t *frame, size_t length)
{
    size_t begin = client->expected.length, count;
    off_t offset;
    buffer_i32(&client->expected, 0);
    buffer_put(&client->expected, "|", 1);
    for (unsigned nth = 0; (count = slice_of(frame, length, nth, &offset)) > 0; nth++) {
        buffer_put(&client->expected, pattern + offset, count);
        buffer_put(&client->expected, "|", 1);
    }
    store_i32(client->expected.data + begin, (int32_t)(client->expected.length - begin - 4));
}

/* ---- the server ---- */

static void refuse(struct client *client, struct call *call, const char *why)
{
    client->is_refused = true;
    call_refuse(call, why);
}

static void answer_file(struct client *client, struct call *call, const uint8_t *frame,
                        size_t length)
{
    size_t count;
    off_t offset;
    buffer_put(&call->reply.bytes, "|", 1);
    for (unsigned nth = 0; (count = slice_of(frame, length, nth, &offset)) > 0; nth++) {
        struct file_slice *slice = arena_zalloc(&call->arena, sizeof *slice);
        if (slice != NULL)
            *slice = (struct file_slice){ .fd = slices_file, .offset = offset, .length = count };
        if (slice == NULL || encoder_splice(&call->reply, slice) != 0) {
            refuse(client, call, "no memory for a slice");
            return;
        }
        buffer_put(&call->reply.bytes, "|", 1);
    }
    call_reply(call);
}

static void answer_many(struct call *call, size_t length)
{
    buffer_put(&call->reply.bytes, pattern, length);
    call_reply(call);
}

static void answer(const struct suspended *suspended)
{
    struct call *call = suspended->call;
    const uint8_t *sent = suspended->client->sent.data + suspended->at;
    world.moved++;
    if (suspended->has_frame) {
        fuzz_promise(call->frame.length == (int32_t)suspended->length &&
                         (call->connection == NULL ||
                          memcmp(call->frame.data, sent, suspended->length) == 0),
                     "a frame that is kept stays as it is");
        buffer_put(&call->reply.bytes, call->frame.data, suspended->length);
    } else {
        buffer_put(&call->reply.bytes, "r", 1);
    }
    call_reply(call);
}

static void forget_suspended(unsigned index)
{
    world.suspended_count--;
    memmove(&world.suspended[index], &world.suspended[index + 1],
            (world.suspended_count - index) * sizeof world.suspended[0]);
}

/* Whose peer has ended its side, and may still read, is answered. */
static void was_abandoned(struct call *call)
{
    unsigned i = 0;
    while (i < world.suspended_count && world.suspended[i].call != call)
        i++;
    fuzz_promise(i < world.suspended_count, "who is told is waiting");
    struct suspended suspended = world.suspended[i];
    forget_suspended(i);
    if (call->connection != NULL)
        answer(&suspended);
    else
        call_end_silently(call);
}

static void suspend(struct suspended suspended, enum what what)
{
    struct call *call = suspended.call;
    if (world.suspended_count == SUSPENDED_MAX || call_keep_frame(call) != 0) {
        refuse(suspended.client, call, "no memory to keep it");
        return;
    }
    call->is_serial = what == WHAT_SUSPEND_SERIAL;
    call->abandoned = was_abandoned;
    if (what == WHAT_RELEASE) call_release_frame(call);
    suspended.has_frame = what != WHAT_RELEASE;
    world.suspended[world.suspended_count++] = suspended;
    if (what == WHAT_RELEASE)
        expect(suspended.client, "r", 1);
    else
        expect(suspended.client, suspended.client->sent.data + suspended.at, suspended.length);
}

static void put_off(struct suspended suspended)
{
    fuzz_promise(world.put_off_count < SUSPENDED_MAX, "a burst ends");
    suspended.has_frame = true;
    world.put_off[world.put_off_count++] = suspended;
    expect(suspended.client, suspended.client->sent.data + suspended.at, suspended.length);
}

/* (1) The frame that this client's next one must be. */
static struct suspended next_frame(struct call *call)
{
    struct client *client = &visits[call->connection->peer_port];
    size_t left = client->sent.length - client->handed;
    fuzz_promise(!client->is_refused, "nothing is handed over after a refusal");
    fuzz_promise(left >= 4, "a frame was sent before it is handed over");
    int32_t length = load_i32(client->sent.data + client->handed);
    fuzz_promise(length > 0 && length <= world.config.max_frame_bytes &&
                     (size_t)length <= left - 4 && call->frame.length == length,
                 "a frame is as long as was said, and not longer than allowed");
    struct suspended next = {
        .call = call, .client = client, .at = client->handed + 4, .length = (size_t)length
    };
    fuzz_promise(memcmp(call->frame.data, client->sent.data + next.at, next.length) == 0,
                 "a frame has the bytes that were sent");
    client->handed += 4 + next.length;
    return next;
}

static void server_call(struct net_server *server, struct call *call)
{
    (void)server;
    struct suspended next = next_frame(call);
    const uint8_t *frame = next.client->sent.data + next.at;
    enum what what = (enum what)(frame[0] % WHAT_COUNT);
    world.moved++;
    if (frame[0] == REFUSED) {
        refuse(next.client, call, "it says so");
        return;
    }
    switch (what) {
    case WHAT_ECHO:
        next.has_frame = true;
        expect(next.client, frame, next.length);
        answer(&next);
        break;
    case WHAT_ECHO_AFTER_BURST: put_off(next); break;
    case WHAT_SUSPEND:
    case WHAT_SUSPEND_SERIAL:
    case WHAT_RELEASE: suspend(next, what); break;
    case WHAT_SILENT: call_end_silently(call); break;
    case WHAT_MANY: {
        size_t count = many_bytes(next.client, frame, next.length);
        expect_many(next.client, count);
        answer_many(call, count);
        break;
    }
    case WHAT_FILE:
    case WHAT_COUNT: {
        size_t length = is_asked_enough(next.client) ? 1 : next.length;
        expect_file(next.client, frame, length);
        answer_file(next.client, call, frame, length);
        break;
    }
    }
}

static void server_burst_end(struct net_server *server, struct net_loop *loop)
{
    (void)server;
    (void)loop;
    for (unsigned i = 0; i < world.put_off_count; i++)
        answer(&world.put_off[i]);
    world.put_off_count = 0;
}

static void disk_submit(struct executor *executor, struct job *job)
{
    (void)executor;
    list_push_back(&world.jobs, &job->node);
}

/* ---- clients ---- */

static void empty(struct buffer *buffer, size_t capacity)
{
    if (buffer->capacity == 0) buffer_extend(buffer, capacity);
    if (buffer->failed) abort();
    buffer->length = 0;
}

/* The client's next visit. NULL: it has none, or is not let in. */
static struct client *come(unsigned index)
{
    if (world.visit_count == VISITS) return NULL;
    struct client *client = &visits[world.visit_count];
    int fd = fuzz_join(world.net, (uint16_t)world.visit_count);
    if (fd < 0) return NULL;
    struct buffer sent = client->sent, expected = client->expected;
    *client = (struct client){ .fd = fd, .sent = sent, .expected = expected };
    client->may_be_dropped = world.may_drop;
    world.visit_count++;
    world.clients[index] = client;
    return client;
}

static void leave(struct client *client)
{
    if (client->fd >= 0) close(client->fd);
    client->fd = -1;
    world.moved++;
}

static void client_write(struct client *client)
{
    size_t left = client->sent.length - client->written;
    if (left == 0 || client->has_said_all) return;
    ssize_t sent = send(client->fd, client->sent.data + client->written, left,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return;
    client->written += (size_t)sent;
    world.moved++;
}

static void client_read(struct client *client)
{
    static uint8_t bytes[65536];
    ssize_t got;
    if (client->is_deaf || client->has_seen_end) return;
    while ((got = recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        world.moved++;
        fuzz_promise((size_t)got <= client->expected.length - client->seen &&
                         memcmp(bytes, client->expected.data + client->seen, (size_t)got) == 0,
                     "replies are those of the server, in the order of the frames");
        client->seen += (size_t)got;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    client->has_seen_end = true;
    world.moved++;
}

/* Is what it sent next no frame's length? */
static bool has_bad_length(const struct client *client)
{
    if (client->sent.length - client->handed < 4) return false;
    int32_t length = load_i32(client->sent.data + client->handed);
    return length <= 0 || length > world.config.max_frame_bytes;
}

/* (3) Beside what the budget has: what a loop had in its hands, and calls that were begun with it. */
static void check_memory(void)
{
    struct net_stats stats;
    net_stats(world.net, &stats);
    uint64_t calls = VISITS * (uint64_t)world.config.max_calls_per_connection;
    fuzz_promise(stats.memory_reserved <=
                     world.config.memory_bytes + READ_BUFFER_BYTES + calls * CALL_BOX_BYTES,
                 "requests take no more memory than they may");
}

static void turn(void)
{
    struct list *node;
    for (unsigned i = 0; i < world.visit_count; i++)
        if (visits[i].fd >= 0) client_write(&visits[i]);
    loop_turn(net_loop_base(net_loop_at(world.net, 0)));
    while (!world.are_jobs_held && (node = list_pop_front(&world.jobs)) != NULL) {
        struct job *job = LIST_OWNER(node, struct job, node);
        world.moved++;
        job->run(job);
    }
    for (unsigned i = 0; i < world.visit_count; i++)
        if (visits[i].fd >= 0) client_read(&visits[i]);
    check_memory();
}

/* ---- steps ---- */

static void send_frame(struct client *client, uint8_t first, size_t length)
{
    if (client->has_said_all || client->sent.length + length > SENT_MAX) return;
    buffer_i32(&client->sent, (int32_t)length);
    if (length == 0) return;
    buffer_i8(&client->sent, (int8_t)first);
    buffer_put(&client->sent, pattern + length % 1000, length - 1);
}

static void send_bytes(struct client *client, struct cursor *in)
{
    size_t length = (uint16_t)load_i16(cursor_take(in, 2));
    if (length > cursor_left(in)) length = cursor_left(in);
    const uint8_t *bytes = cursor_take(in, length);
    if (!client->has_said_all && client->sent.length + length <= SENT_MAX)
        buffer_put(&client->sent, bytes, length);
}

static void answer_at(unsigned index)
{
    if (index >= world.suspended_count) return;
    struct suspended suspended = world.suspended[index];
    forget_suspended(index);
    answer(&suspended);
}

static void end(struct client *client, bool closes)
{
    client->may_be_dropped = true; /* "Who has closed its side is gone", connection.c. */
    if (closes) {
        leave(client);
        return;
    }
    /* Behind what it has sent, so only once that has left. */
    if (client->written < client->sent.length) return;
    client->has_said_all = true;
    shutdown(client->fd, SHUT_WR);
}

static void let_pass(int64_t ms)
{
    world.passed_ms += ms;
    clock_manual_advance_ms(&world.clock, ms);
    world.may_drop = world.may_drop || world.passed_ms >= DROPPED_MS;
    for (unsigned i = 0; i < world.visit_count; i++)
        if (world.may_drop) visits[i].may_be_dropped = true;
}

static void do_step(struct cursor *in)
{
    uint8_t op = (uint8_t)cursor_i8(in);
    struct client *client = world.clients[op % CLIENTS];
    enum step step = (enum step)(op / CLIENTS % STEP_COUNT);
    if (client == NULL || client->fd < 0) client = come(op % CLIENTS);
    if (client == NULL) return;
    uint8_t argument = 0;
    if (step != STEP_BYTES && step != STEP_TURN && step != STEP_DEAF && step != STEP_HOLD_JOBS)
        argument = (uint8_t)cursor_i8(in);
    switch (step) {
    case STEP_BYTES:
        if (cursor_left(in) >= 2) send_bytes(client, in);
        break;
    case STEP_FRAME:
        if (cursor_left(in) >= 3) {
            size_t high = (uint8_t)cursor_i8(in) % 8;
            send_frame(client, argument, high << 16 | (uint16_t)cursor_i16(in));
        }
        break;
    case STEP_TURN: turn(); break;
    case STEP_ANSWER: answer_at(argument); break;
    case STEP_ANSWER_ALL:
        while (world.suspended_count > 0)
            answer_at(argument % 2 == 0 ? 0 : world.suspended_count - 1);
        break;
    case STEP_END: end(client, argument % 2 != 0); break;
    case STEP_DEAF: client->is_deaf = !client->is_deaf; break;
    case STEP_TIME: let_pass((int64_t)argument * 1000); break;
    case STEP_HOLD_JOBS: world.are_jobs_held = !world.are_jobs_held; break;
    case STEP_COUNT: break;
    }
}

/* ---- the end ---- */

/* Until nothing moves any more. */
static void settle(void)
{
    unsigned silent = 0;
    while (silent < TURNS_OF_SILENCE) {
        uint64_t before = world.moved;
        struct net_stats stats, after;
        net_stats(world.net, &stats);
        turn();
        while (world.suspended_count > 0)
            answer_at(0);
        net_stats(world.net, &after);
        bool has_moved = world.moved != before || stats.bytes_in != after.bytes_in ||
                         stats.bytes_out != after.bytes_out ||
                         stats.memory_reserved != after.memory_reserved;
        silent = has_moved ? 0 : silent + 1;
    }
}

/* (1), (2) All that this client will ever be told has been told. */
static void check_client(const struct client *client)
{
    if (client->fd < 0 || client->may_be_dropped) return;
    bool ends = has_bad_length(client) || client->is_refused;
    fuzz_promise(client->has_seen_end == ends, "a connection ends when it must, and only then");
    fuzz_promise(client->seen == client->expected.length, "all that was owed has come");
    if (ends) return;
    fuzz_promise(client->written == client->sent.length, "all that was sent was taken");
    size_t left = client->sent.length - client->handed;
    fuzz_promise(left < 4 || left - 4 < (size_t)load_i32(client->sent.data + client->handed),
                 "all whole frames have been handed over");
}

static bool has_half_a_frame(const struct client *client)
{
    return client->fd >= 0 && !client->has_seen_end && client->handed < client->sent.length;
}

static void finish(void)
{
    world.are_jobs_held = false;
    for (unsigned i = 0; i < world.visit_count; i++)
        visits[i].is_deaf = false;
    settle();
    /* Who waits for the rest of a frame may hold memory that others wait for. */
    for (unsigned i = 0; i < world.visit_count; i++) {
        struct net_stats waiting;
        net_stats(world.net, &waiting);
        if (waiting.memory_waiting == 0 || !has_half_a_frame(&visits[i])) continue;
        leave(&visits[i]);
        settle();
    }
    for (unsigned i = 0; i < world.visit_count; i++)
        check_client(&visits[i]);
    for (unsigned i = 0; i < world.visit_count; i++)
        leave(&visits[i]);
    settle();
    struct net_stats stats;
    net_stats(world.net, &stats);
    fuzz_promise(stats.connections_open == 0, "who has left is not there any more");
    fuzz_promise(stats.memory_reserved == 0 && stats.memory_waiting == 0,
                 "no memory is left of requests when the clients have gone");
}

/* ---- up and down ---- */

static void open_file(void)
{
    if (slices_file >= 0) return;
    for (size_t i = 0; i < FILE_BYTES; i++)
        pattern[i] = (uint8_t)(i * 7 + i / 251);
    slices_file = memfd_create("slices", MFD_CLOEXEC);
    if (slices_file < 0 || write(slices_file, pattern, FILE_BYTES) != (ssize_t)FILE_BYTES) abort();
}

static void world_open(const uint8_t head[HEAD])
{
    static const uint64_t budgets[] = { 20000, 300000, 1 << 20, 64 << 20 };
    static const int32_t frames[] = { 1000, 100000, 1 << 20, 3 << 20 };
    static const uint32_t calls[] = { 1, 3, 256, 256 };
    memset(&world, 0, sizeof world);
    for (unsigned i = 0; i < VISITS; i++) {
        empty(&visits[i].sent, SENT_MAX);
        empty(&visits[i].expected, EXPECTED_MAX);
    }
    clock_manual_init(&world.clock, 1700000000000);
    list_init(&world.jobs);
    open_file();
    world.server = (struct net_server){ .call = server_call, .burst_end = server_burst_end };
    world.disk.submit = disk_submit;
    world.config = (struct net_config){
        .server = &world.server,
        .clock = &world.clock.clock,
        .disk = &world.disk,
        .loop_count = 1,
        .max_frame_bytes = frames[head[0] >> 2 & 3],
        .memory_bytes = budgets[head[0] & 3],
        .max_calls_per_connection = calls[head[0] >> 4 & 3],
        .idle_ms = head[1] % 8 == 0 ? DROPPED_MS : -1,
        .limits = { INT32_MAX, INT32_MAX, INT32_MAX, "" },
        .backlog_size = SOMAXCONN,
        .sendfile_from_bytes = head[0] >> 6 == 0 ? 1 : 4096,
        .send_buffer_bytes = -1,
        .receive_buffer_bytes = -1,
        .transport = fuzz_transport((enum fuzz_transport)(head[1] % 3), head[1]),
    };
    if (net_open(&world.net, &world.config) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (length < HEAD) return 0;
    struct cursor in = cursor_over(data + HEAD, length - HEAD);
    world_open(data);
    world.may_drop = data[2] != 0;
    mem_fail_at(data[2]);
    for (unsigned i = 0; i < STEPS_MAX && cursor_left(&in) > 0; i++)
        do_step(&in);
    mem_fail_at(0);
    finish();
    net_close(world.net);
    return 0;
}

/* ---- good inputs ---- */

static size_t some_length(void)
{
    switch (chance_below(6)) {
    case 0: return 1 + chance_below(GOOD_FRAME_MAX);
    case 1: return 1 + chance_below(20000);
    default: return 1 + chance_below(60);
    }
}

static uint8_t some_first(void)
{
    return chance_below(40) == 0 ? REFUSED : (uint8_t)chance_below(REFUSED);
}

/* Short frames, one after the other, rarely with a length that is none; the last one may be cut. */
static void make_bytes(struct buffer *input)
{
    static const int32_t bad[] = { 0, -1, INT32_MIN, INT32_MAX, 1 << 20, 3 << 20 };
    struct buffer bytes;
    buffer_init(&bytes);
    for (size_t left = 1 + chance_below(chance_below(8) == 0 ? 400 : 6); left > 0; left--) {
        size_t length = 1 + chance_below(left > 10 ? 12 : 100);
        bool is_bad = chance_below(100) == 0;
        buffer_i32(&bytes, is_bad ? bad[chance_below(6)] : (int32_t)length);
        buffer_i8(&bytes, (int8_t)some_first());
        for (size_t i = 1; i < length; i++)
            buffer_i8(&bytes, (int8_t)chance());
    }
    size_t length = chance_below(4) == 0 ? chance_below(bytes.length) : bytes.length;
    buffer_i16(input, (int16_t)length);
    buffer_put(input, bytes.data, length);
    buffer_close(&bytes);
}

static enum step some_step(void)
{
    static const enum step often[] = { STEP_BYTES, STEP_BYTES, STEP_FRAME, STEP_TURN,
                                       STEP_TURN,  STEP_TURN,  STEP_ANSWER };
    if (chance_below(4) != 0) return often[chance_below(sizeof often / sizeof often[0])];
    return (enum step)chance_below(STEP_COUNT);
}

void fuzz_make(struct buffer *input)
{
    size_t clients = 1 + chance_below(CLIENTS);
    buffer_i8(input, (int8_t)chance());
    buffer_i8(input, (int8_t)chance());
    buffer_i8(input, (int8_t)(chance_below(8) == 0 ? chance() : 0));
    for (size_t left = 1 + chance_below(STEPS_MAX / 2); left > 0; left--) {
        enum step step = some_step();
        buffer_i8(input, (int8_t)(step * CLIENTS + chance_below(clients)));
        if (step == STEP_BYTES) {
            make_bytes(input);
        } else if (step == STEP_FRAME) {
            size_t length = some_length();
            buffer_i8(input, (int8_t)some_first());
            buffer_i8(input, (int8_t)(length >> 16));
            buffer_i16(input, (int16_t)length);
        } else if (step != STEP_TURN && step != STEP_DEAF && step != STEP_HOLD_JOBS) {
            buffer_i8(input, (int8_t)chance());
        }
    }
}

/* There is nothing to make right: any bytes are frames, or not. */
void fuzz_mend(uint8_t *data, size_t length)
{
    (void)data;
    (void)length;
}
