// SPDX-License-Identifier: Apache-2.0
#include "runner.h"
#include "net_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "net_loop.h"
#include "trace.h"

/* A test that would wait for ever fails instead. */
#define SAFETY_SECONDS 20

static char trace_lines[TRACE_LINES][256];
static unsigned trace_count;
static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;

static void trace_keep(void *context, const char *line)
{
    (void)context;
    pthread_mutex_lock(&trace_lock);
    if (trace_count < TRACE_LINES)
        snprintf(trace_lines[trace_count++], sizeof trace_lines[0], "%s", line);
    pthread_mutex_unlock(&trace_lock);
}

unsigned traced(const char *part)
{
    unsigned found = 0;
    pthread_mutex_lock(&trace_lock);
    for (unsigned i = 0; i < trace_count; i++)
        found += strstr(trace_lines[i], part) != NULL;
    pthread_mutex_unlock(&trace_lock);
    return found;
}

/* ---- the server ---- */

static struct net_fixture *fixture_of(struct net_server *server)
{
    return LIST_OWNER(server, struct net_fixture, server);
}

uint8_t file_byte(size_t at)
{
    return (uint8_t)(at * 7 + at / 251);
}

struct slice_owner {
    struct file_slice slice;
    struct net_fixture *fixture;
};

static void slice_release(void *owner)
{
    struct slice_owner *slice = owner;
    pthread_mutex_lock(&slice->fixture->lock);
    slice->fixture->slices_released++;
    pthread_mutex_unlock(&slice->fixture->lock);
}

static void answer_file(struct net_fixture *fixture, struct call *call, bool is_in_memory)
{
    struct cursor in = cursor_over(call->frame.data + 1, (size_t)call->frame.length - 1);
    buffer_put(&call->reply.bytes, "|", 1);
    while (cursor_left(&in) > 0) {
        struct slice_owner *owner = arena_zalloc(&call->arena, sizeof *owner);
        owner->fixture = fixture;
        owner->slice = (struct file_slice){ .fd = fixture->file,
                                            .owner = owner,
                                            .release = slice_release };
        owner->slice.offset = cursor_i32(&in);
        owner->slice.length = (size_t)cursor_i32(&in);
        if (is_in_memory) {
            owner->slice.memory = fixture->file_memory + owner->slice.offset;
            owner->slice.fd = -1;
        }
        assert_int_equal(encoder_splice(&call->reply, &owner->slice), 0);
        buffer_put(&call->reply.bytes, "|", 1);
        pthread_mutex_lock(&fixture->lock);
        fixture->slices_made++;
        pthread_mutex_unlock(&fixture->lock);
    }
    call_reply(call);
}

static void answer_many(struct call *call)
{
    size_t length = (size_t)load_i32(call->frame.data + 1);
    uint8_t *bytes = buffer_extend(&call->reply.bytes, length);
    for (size_t i = 0; bytes != NULL && i < length; i++)
        bytes[i] = file_byte(i);
    call_reply(call);
}

static void answer(struct call *call)
{
    if (call->frame.length < 0)
        buffer_put(&call->reply.bytes, "r", 1);
    else
        buffer_put(&call->reply.bytes, call->frame.data, (size_t)call->frame.length);
    call_reply(call);
}

static void call_was_abandoned(struct call *call)
{
    struct net_fixture *fixture = call->context;
    unsigned i = 0;
    pthread_mutex_lock(&fixture->lock);
    fixture->abandoned++;
    while (i < fixture->suspended_count && fixture->suspended[i] != call)
        i++;
    if (i < fixture->suspended_count)
        fixture->suspended[i] = fixture->suspended[--fixture->suspended_count];
    pthread_cond_broadcast(&fixture->changed);
    pthread_mutex_unlock(&fixture->lock);
    if (call->frame.length > 0 && call->frame.data[0] == 'l')
        answer(call);
    else
        call_end_silently(call);
}

static void suspend(struct net_fixture *fixture, struct call *call)
{
    assert_int_equal(call_keep_frame(call), 0);
    if (call->frame.data[0] == 'r') call_release_frame(call);
    call->context = fixture;
    call->abandoned = fixture->tells_nobody ? NULL : call_was_abandoned;
    pthread_mutex_lock(&fixture->lock);
    assert_true(fixture->suspended_count < SUSPENDED_MAX);
    fixture->suspended[fixture->suspended_count++] = call;
    pthread_mutex_unlock(&fixture->lock);
}

static void put_off(struct net_fixture *fixture, struct call *call)
{
    unsigned index = net_loop_index(call->loop);
    assert_true(fixture->put_off[index].count < PUT_OFF_MAX);
    fixture->put_off[index].calls[fixture->put_off[index].count++] = call;
}

static void server_call(struct net_server *server, struct call *call)
{
    struct net_fixture *fixture = fixture_of(server);
    pthread_mutex_lock(&fixture->lock);
    snprintf(fixture->peer, sizeof fixture->peer, "%s", call_peer(call));
    fixture->listener = call_listener(call);
    pthread_mutex_unlock(&fixture->lock);
    switch (call->frame.data[0]) {
    case 'b': put_off(fixture, call); break;
    case 'S':
        call->is_serial = true;
        suspend(fixture, call);
        break;
    case 'w': {
        struct clock *clock = fixture->config.clock;
        clock_manual_advance_ms(LIST_OWNER(clock, struct clock_manual, clock), 3);
        answer(call);
        break;
    }
    case 's':
    case 'l':
    case 'r': suspend(fixture, call); break;
    case 'n': call_end_silently(call); break;
    case 'x': call_refuse(call, "the test says so"); break;
    case 'm': answer_many(call); break;
    case 'f': answer_file(fixture, call, false); break;
    case 'M': answer_file(fixture, call, true); break;
    default: answer(call); break;
    }
    pthread_mutex_lock(&fixture->lock);
    fixture->calls++;
    pthread_cond_broadcast(&fixture->changed);
    pthread_mutex_unlock(&fixture->lock);
}

static void server_burst_end(struct net_server *server, struct net_loop *loop)
{
    struct net_fixture *fixture = fixture_of(server);
    unsigned index = net_loop_index(loop);
    for (unsigned i = 0; i < fixture->put_off[index].count; i++)
        answer(fixture->put_off[index].calls[i]);
    fixture->put_off[index].count = 0;
    pthread_mutex_lock(&fixture->lock);
    fixture->bursts++;
    pthread_mutex_unlock(&fixture->lock);
}

/* ---- its disk ---- */

static void disk_submit(struct executor *executor, struct job *job)
{
    struct net_fixture *fixture = LIST_OWNER(executor, struct net_fixture, disk);
    pthread_mutex_lock(&fixture->lock);
    list_push_back(&fixture->jobs, &job->node);
    fixture->jobs_waiting++;
    pthread_cond_broadcast(&fixture->changed);
    pthread_mutex_unlock(&fixture->lock);
}

static void *disk_work(void *argument)
{
    struct net_fixture *fixture = argument;
    pthread_mutex_lock(&fixture->lock);
    while (!fixture->is_stopping) {
        struct list *node = fixture->are_jobs_held ? NULL : list_pop_front(&fixture->jobs);
        if (node == NULL) {
            pthread_cond_wait(&fixture->changed, &fixture->lock);
            continue;
        }
        fixture->jobs_waiting--;
        fixture->jobs_run++;
        pthread_mutex_unlock(&fixture->lock);
        struct job *job = LIST_OWNER(node, struct job, node);
        job->run(job);
        pthread_mutex_lock(&fixture->lock);
    }
    pthread_mutex_unlock(&fixture->lock);
    return NULL;
}

void fixture_hold_jobs(struct net_fixture *fixture, bool are_held)
{
    pthread_mutex_lock(&fixture->lock);
    fixture->are_jobs_held = are_held;
    pthread_cond_broadcast(&fixture->changed);
    pthread_mutex_unlock(&fixture->lock);
}

void fixture_make_file(struct net_fixture *fixture, size_t length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/slices", test_folder());
    fixture->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fixture->file >= 0);
    uint8_t *bytes = malloc(length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = file_byte(i);
    assert_int_equal(pwrite(fixture->file, bytes, length, 0), (ssize_t)length);
    fixture->file_memory = bytes;
}

/* ---- up and down ---- */

void fixture_init(struct net_fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->server = (struct net_server){ .call = server_call, .burst_end = server_burst_end };
    fixture->disk.submit = disk_submit;
    fixture->file = -1;
    list_init(&fixture->jobs);
    pthread_mutex_init(&fixture->lock, NULL);
    pthread_cond_init(&fixture->changed, NULL);
    fixture->config = (struct net_config){
        .server = &fixture->server,
        .clock = clock_real(),
        .disk = &fixture->disk,
        .loop_count = 1,
        .max_frame_bytes = 100 * 1024 * 1024,
        .memory_bytes = 64 * 1024 * 1024,
        .idle_ms = -1,
        .limits = { INT32_MAX, INT32_MAX, INT32_MAX, "" },
        .backlog_size = SOMAXCONN,
        .sendfile_from_bytes = 64 * 1024,
        .send_buffer_bytes = -1,
        .receive_buffer_bytes = -1,
    };
}

void fixture_up(struct net_fixture *fixture, bool has_threads)
{
    char why[200];
    unsigned index;
    pthread_mutex_lock(&trace_lock);
    trace_count = 0;
    pthread_mutex_unlock(&trace_lock);
    trace_set_sink(trace_keep, NULL);
    fixture->has_threads = has_threads;
    assert_int_equal(pthread_create(&fixture->worker, NULL, disk_work, fixture), 0);
    assert_int_equal(net_open(&fixture->net, &fixture->config), 0);
    assert_int_equal(
        net_listen(fixture->net, "127.0.0.1", 0, &index, &fixture->port, why, sizeof why), 0);
    if (has_threads) assert_int_equal(net_start(fixture->net), 0);
    net_accept(fixture->net);
}

static void *close_net(void *argument)
{
    struct net_fixture *fixture = argument;
    net_close(fixture->net);
    return NULL;
}

void fixture_begin_close(struct net_fixture *fixture)
{
    assert_int_equal(pthread_create(&fixture->closer, NULL, close_net, fixture), 0);
    fixture->is_closing = true;
}

void fixture_down(struct net_fixture *fixture)
{
    fixture_hold_jobs(fixture, false);
    if (fixture->is_closing)
        pthread_join(fixture->closer, NULL);
    else
        net_close(fixture->net);
    pthread_mutex_lock(&fixture->lock);
    fixture->is_stopping = true;
    pthread_cond_broadcast(&fixture->changed);
    pthread_mutex_unlock(&fixture->lock);
    pthread_join(fixture->worker, NULL);
    assert_int_equal(fixture->slices_released, fixture->slices_made);
    assert_int_equal(fixture->suspended_count, 0);
    if (fixture->file >= 0) close(fixture->file);
    free(fixture->file_memory);
    pthread_cond_destroy(&fixture->changed);
    pthread_mutex_destroy(&fixture->lock);
    trace_set_sink(NULL, NULL);
}

void fixture_turn(struct net_fixture *fixture)
{
    for (unsigned i = 0; i < net_loop_count(fixture->net); i++)
        loop_turn(net_loop_base(net_loop_at(fixture->net, i)));
}

/* ---- waiting ---- */

static void await(struct net_fixture *fixture, const unsigned *what, unsigned count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SAFETY_SECONDS;
    pthread_mutex_lock(&fixture->lock);
    while (*what < count) {
        if (!fixture->has_threads) {
            pthread_mutex_unlock(&fixture->lock);
            fixture_turn(fixture);
            pthread_mutex_lock(&fixture->lock);
        } else if (pthread_cond_timedwait(&fixture->changed, &fixture->lock, &until) != 0) {
            break;
        }
    }
    unsigned now = *what;
    pthread_mutex_unlock(&fixture->lock);
    assert_int_equal(now, count);
}

void fixture_await_suspended(struct net_fixture *fixture, unsigned count)
{
    await(fixture, &fixture->suspended_count, count);
}

void fixture_await_abandoned(struct net_fixture *fixture, unsigned count)
{
    await(fixture, &fixture->abandoned, count);
}

void fixture_await_calls(struct net_fixture *fixture, unsigned count)
{
    await(fixture, &fixture->calls, count);
}

void fixture_await_jobs(struct net_fixture *fixture, unsigned count)
{
    await(fixture, &fixture->jobs_waiting, count);
}

struct net_stats fixture_stats(struct net_fixture *fixture)
{
    struct net_stats stats;
    net_stats(fixture->net, &stats);
    return stats;
}

/* The loop tells nobody of these, so they are asked for; each question lets the loop run. */
static void nothing(struct net_loop *net_loop, void *with)
{
    (void)net_loop;
    (void)with;
}

static void let_loops_run(struct net_fixture *fixture)
{
    if (!fixture->has_threads) fixture_turn(fixture);
    for (unsigned i = 0; i < net_loop_count(fixture->net); i++)
        net_loop_errand(net_loop_at(fixture->net, i), nothing, NULL);
}

void fixture_settle(struct net_fixture *fixture)
{
    for (unsigned i = 0; i < (fixture->has_threads ? 1 : 10); i++)
        let_loops_run(fixture);
}

void fixture_await_connections(struct net_fixture *fixture, uint64_t count)
{
    while (fixture_stats(fixture).connections_open != count)
        let_loops_run(fixture);
}

void fixture_await_waiting_memory(struct net_fixture *fixture, uint64_t bytes)
{
    while (fixture_stats(fixture).memory_waiting < bytes)
        let_loops_run(fixture);
}

/* ---- answering ---- */

struct answering {
    struct net_fixture *fixture;
    const char *order;
};

static struct call *take_suspended(struct net_fixture *fixture, struct net_loop *net_loop, int name)
{
    struct call *found = NULL;
    pthread_mutex_lock(&fixture->lock);
    for (unsigned i = 0; found == NULL && i < fixture->suspended_count; i++) {
        struct call *call = fixture->suspended[i];
        bool is_named = name < 0 || (call->frame.length > 1 && call->frame.data[1] == name);
        if (!is_named || call->loop != net_loop) continue;
        found = call;
        fixture->suspended[i] = fixture->suspended[--fixture->suspended_count];
    }
    pthread_mutex_unlock(&fixture->lock);
    return found;
}

static void answer_here(struct net_loop *net_loop, void *with)
{
    struct answering *answering = with;
    struct call *call;
    for (const char *name = answering->order; name != NULL && *name != '\0'; name++) {
        call = take_suspended(answering->fixture, net_loop, *name);
        if (call != NULL) answer(call);
    }
    if (answering->order != NULL) return;
    while ((call = take_suspended(answering->fixture, net_loop, -1)) != NULL)
        answer(call);
}

void fixture_answer(struct net_fixture *fixture, const char *order)
{
    struct answering answering = { fixture, order };
    /* A net that is closing may be gone once its last call has ended. */
    for (unsigned i = 0; i < fixture->config.loop_count; i++)
        net_loop_errand(net_loop_at(fixture->net, i), answer_here, &answering);
}

void fixture_answer_all(struct net_fixture *fixture)
{
    fixture_answer(fixture, NULL);
}

/* ---- clients ---- */

/* libuv from 1.45 on has an io_uring, whose end, some time after that of its loop, interrupts the thread
 * that made it wherever it waits. So every call of a client here may give EINTR. */
int client_connect_to(int fd, const void *to, socklen_t to_size)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (connect(fd, to, to_size) == 0) return 0;
    if (errno != EINTR) return errno;
    struct pollfd done = { .fd = fd, .events = POLLOUT }; /* It goes on by itself. */
    while (poll(&done, 1, SAFETY_SECONDS * 1000) < 0 && errno == EINTR)
        ;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

ssize_t client_recv(int fd, void *to, size_t length, int flags)
{
    ssize_t got;
    do
        got = recv(fd, to, length, flags);
    while (got < 0 && errno == EINTR);
    return got;
}

int client_connect(struct net_fixture *fixture)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(fixture->port) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct timeval limit = { SAFETY_SECONDS, 0 };
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    assert_int_equal(client_connect_to(fd, &to, sizeof to), 0);
    return fd;
}

void client_send(int fd, const void *data, size_t length)
{
    const uint8_t *at = data;
    while (length > 0) {
        ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        assert_true(sent > 0);
        at += sent;
        length -= (size_t)sent;
    }
}

void client_request(int fd, const void *frame, size_t length)
{
    uint8_t prefix[4];
    store_i32(prefix, (int32_t)length);
    client_send(fd, prefix, sizeof prefix);
    client_send(fd, frame, length);
}

void client_text(int fd, const char *frame)
{
    client_request(fd, frame, strlen(frame));
}

/* The number of bytes; 0 at the end, -1 for a reset. */
static ssize_t client_receive(struct net_fixture *fixture, int fd, void *to, size_t length)
{
    for (unsigned turns = 0;; turns++) {
        ssize_t got = client_recv(fd, to, length, fixture->has_threads ? 0 : MSG_DONTWAIT);
        if (got >= 0 || errno == ECONNRESET) return got;
        assert_true(!fixture->has_threads && errno == EAGAIN && turns < 1000000);
        fixture_turn(fixture);
    }
}

static void client_receive_all(struct net_fixture *fixture, int fd, void *to, size_t length)
{
    uint8_t *at = to;
    while (length > 0) {
        ssize_t got = client_receive(fixture, fd, at, length);
        assert_true(got > 0);
        at += got;
        length -= (size_t)got;
    }
}

const uint8_t *client_reply(struct net_fixture *fixture, int fd, size_t *length)
{
    static uint8_t bytes[64 * 1024 * 1024];
    uint8_t prefix[4];
    client_receive_all(fixture, fd, prefix, sizeof prefix);
    assert_in_range(load_i32(prefix), 0, (int32_t)sizeof bytes);
    *length = (size_t)load_i32(prefix);
    client_receive_all(fixture, fd, bytes, *length);
    return bytes;
}

void client_expect(struct net_fixture *fixture, int fd, const char *text)
{
    size_t length;
    const uint8_t *reply = client_reply(fixture, fd, &length);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(reply, text, length);
}

void client_expect_closed(struct net_fixture *fixture, int fd)
{
    uint8_t byte;
    assert_true(client_receive(fixture, fd, &byte, 1) <= 0);
    close(fd);
}

void client_expect_end(struct net_fixture *fixture, int fd)
{
    uint8_t byte;
    assert_int_equal(client_receive(fixture, fd, &byte, 1), 0);
    close(fd);
}
