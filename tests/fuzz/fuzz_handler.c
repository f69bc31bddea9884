// SPDX-License-Identifier: Apache-2.0
/* Any request in any version, through the net layer, dispatch and its handler, to a whole broker
 * (fuzz_broker.h) and back: every answer is as fuzz_answers.h promises, and when the clients have gone
 * nothing of them is left. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "bytes.h"
#include "cursor.h"
#include "error.h"
#include "fuzz.h"
#include "fuzz_answers.h"
#include "fuzz_broker.h"
#include "fuzz_requests.h"
#include "header.h"

const char fuzz_name[] = "fuzz_handler";

#define CLIENTS      FUZZ_CLIENTS
#define SESSIONS     8
#define FETCH        1
#define MEMORY_SMALL (4 << 20)
#define MEMORY_LARGE (64 << 20)

/* ---- the input: a head, and steps ---- */

struct client {
    int fd; /* -1: not there. */
    bool is_deaf;
    struct buffer sent, received;
    size_t written;
    struct fuzz_debts debts;
};

struct session {
    int32_t id, epoch; /* Of its next request. */
};

static struct {
    struct fuzz_broker broker;
    struct client clients[CLIENTS];
    struct session sessions[SESSIONS];
    unsigned session_count;
    uint16_t visits;
    bool may_drop; /* Memory fails, and with it any connection. */
    uint64_t moved;
} world;

/* ---- clients ---- */

static void leave(struct client *client)
{
    if (client->fd >= 0) close(client->fd);
    client->fd = -1;
    client->sent.length = client->received.length = client->written = 0;
    client->debts.count = 0;
    client->is_deaf = false;
    world.moved++;
}

static bool is_here(struct client *client)
{
    if (client->fd < 0) client->fd = fuzz_join(world.broker.net, ++world.visits);
    return client->fd >= 0;
}

static void client_write(struct client *client)
{
    size_t left = client->sent.length - client->written;
    if (left == 0) return;
    ssize_t sent = send(client->fd, client->sent.data + client->written, left,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return;
    client->written += (size_t)sent;
    world.moved++;
}

/* A session is remembered, so that later requests can be within it. */
static void note_session(int32_t id)
{
    if (id == 0) return;
    for (unsigned i = 0; i < world.session_count; i++)
        if (world.sessions[i].id == id) {
            world.sessions[i].epoch++;
            return;
        }
    if (world.session_count < SESSIONS)
        world.sessions[world.session_count++] = (struct session){ id, 1 };
}

static void take_answers(struct client *client)
{
    const struct buffer *received = &client->received;
    size_t at = 0;
    while (received->length - at >= 4) {
        int32_t length = load_i32(received->data + at), session_id = 0;
        fuzz_promise(length >= 4, "an answer has a length");
        if ((size_t)length > received->length - at - 4) break;
        fuzz_debts_pay(&client->debts, (struct bytes){ received->data + at + 4, length },
                       &session_id);
        note_session(session_id);
        at += 4 + (size_t)length;
    }
    client->received.length -= at;
    memmove(received->data, received->data + at, received->length);
}

static void has_ended(struct client *client)
{
    fuzz_promise(world.may_drop || fuzz_debts_may_end(&client->debts),
                 "a connection ends for a reason only");
    fuzz_promise(world.may_drop || client->received.length == 0, "an answer comes whole");
    leave(client);
}

static void client_read(struct client *client)
{
    static uint8_t bytes[65536];
    ssize_t got;
    if (client->is_deaf) return;
    while ((got = recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        world.moved++;
        buffer_put(&client->received, bytes, (size_t)got);
        if (client->received.failed) abort();
    }
    bool is_end = got == 0 || (errno != EAGAIN && errno != EINTR);
    if (client->received.length > 0) take_answers(client);
    if (is_end) has_ended(client);
}

static void turn(void)
{
    for (unsigned i = 0; i < CLIENTS; i++)
        if (world.clients[i].fd >= 0) client_write(&world.clients[i]);
    if (fuzz_broker_turn(&world.broker)) world.moved++;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (world.clients[i].fd >= 0) client_read(&world.clients[i]);
}

/* ---- until all is answered ---- */

static bool is_open(const struct client *client)
{
    return client->fd >= 0 &&
           (client->written < client->sent.length || fuzz_debts_are_open(&client->debts));
}

static bool any(bool (*is)(const struct client *client))
{
    for (unsigned i = 0; i < CLIENTS; i++)
        if (is(&world.clients[i])) return true;
    return false;
}

static bool waits_for_quorum(const struct client *client)
{
    return client->fd >= 0 && fuzz_debts_wait_for_quorum(&client->debts);
}

/* As long as anything is open. Time is moved when nothing else helps: a fetch may wait for as long as it
 * likes. */
static void settle(void)
{
    unsigned waits = 0, moves = 0;
    int64_t since_us = fuzz_now_us();
    world.broker.are_jobs_held = false;
    for (unsigned i = 0; i < CLIENTS; i++)
        world.clients[i].is_deaf = false;
    while (any(is_open) || fuzz_broker_open_calls(&world.broker) > 0) {
        uint64_t before = world.moved;
        turn();
        if (world.moved != before) {
            since_us = fuzz_now_us();
            continue;
        }
        fuzz_broker_wait(&world.broker, since_us, "every request is answered");
        waits++;
        if (waits % 2 != 0 || any(waits_for_quorum)) continue;
        clock_manual_advance_ms(&world.broker.clock, (int64_t)1 << moves % 32);
        moves++;
    }
}

/* ---- steps ---- */

/* A fetch that says session n of a few is within the nth that is open, and epoch 1 is that which comes
 * next. */
static void put_session(uint8_t *frame, size_t length)
{
    struct cursor in = cursor_over(frame, length);
    struct request_header header;
    int16_t key, version;
    if (request_header_peek(&in, &key, &version) != 0 || key != FETCH || version < 7 ||
        request_header_decode(request_header_version(version, 12), &in, &header) != 0)
        return;
    cursor_take(&in, version < 15 ? 17 : 13);
    const uint8_t *at = cursor_take(&in, 8);
    if (at == NULL || world.session_count == 0) return;
    int32_t wanted = load_i32(at);
    if (wanted < 1 || wanted > FUZZ_SESSIONS) return;
    const struct session *session = &world.sessions[(unsigned)wanted % world.session_count];
    store_i32(frame + (at - frame), session->id);
    if (load_i32(at + 4) == 1) store_i32(frame + (at - frame) + 4, session->epoch);
}

static void send_frame(struct client *client, struct cursor *in)
{
    size_t left = cursor_left(in), length = (uint32_t)cursor_i32(in);
    if (left < 4) return;
    if (length > left - 4) length = left - 4;
    const uint8_t *frame = cursor_take(in, length);
    if (length == 0 || !is_here(client)) return;
    size_t at = client->sent.length + 4;
    buffer_i32(&client->sent, (int32_t)length);
    buffer_put(&client->sent, frame, length);
    if (client->sent.failed) abort();
    put_session(client->sent.data + at, length);
    if (!fuzz_debts_add(&client->debts, (struct bytes){ client->sent.data + at, (int32_t)length }))
        client->sent.length = at - 4;
}

/* Whose memory it is that fails, is not known: any connection may end of it. */
static void turn_without_memory(uint8_t nth)
{
    world.may_drop = true;
    mem_fail_at(nth);
    fuzz_broker_turn(&world.broker);
    mem_fail_at(0);
}

static void do_step(struct cursor *in)
{
    uint8_t op = (uint8_t)cursor_i8(in);
    struct client *client = &world.clients[op % CLIENTS];
    switch ((enum fuzz_step)(op / CLIENTS % FUZZ_STEP_COUNT)) {
    case FUZZ_STEP_SEND: send_frame(client, in); break;
    case FUZZ_STEP_TURN: turn(); break;
    case FUZZ_STEP_SETTLE: settle(); break;
    case FUZZ_STEP_TIME:
        clock_manual_advance_ms(&world.broker.clock, (int64_t)1 << (cursor_i8(in) & 31));
        break;
    case FUZZ_STEP_HOLD_JOBS: world.broker.are_jobs_held = !world.broker.are_jobs_held; break;
    case FUZZ_STEP_DEAF: client->is_deaf = !client->is_deaf; break;
    case FUZZ_STEP_LEAVE: leave(client); break;
    case FUZZ_STEP_NO_MEMORY: turn_without_memory((uint8_t)cursor_i8(in)); break;
    case FUZZ_STEP_COUNT: break;
    }
}

/* ---- the target ---- */

static void open_world(const uint8_t head[FUZZ_HEAD])
{
    struct fuzz_broker_options options = {
        .transport = (enum fuzz_transport)(head[0] % 3),
        .seed = head[0],
        .memory_bytes = (head[1] & 1) != 0 ? MEMORY_SMALL : MEMORY_LARGE,
        .session_slots = head[2] % 8,
        .is_cold = (head[1] & 2) != 0,
        .disk_fails_at = head[3],
        .disk_error = (head[1] & 4) != 0 ? ERR_NO_SPACE : ERR_IO,
    };
    world.session_count = 0;
    world.visits = 0;
    world.may_drop = false;
    for (unsigned i = 0; i < CLIENTS; i++)
        world.clients[i].fd = -1;
    fuzz_broker_open(&world.broker, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (length < FUZZ_HEAD) return 0;
    struct cursor in = cursor_over(data + FUZZ_HEAD, length - FUZZ_HEAD);
    open_world(data);
    while (cursor_left(&in) > 0)
        do_step(&in);
    settle();
    for (unsigned i = 0; i < CLIENTS; i++)
        leave(&world.clients[i]);
    fuzz_broker_close(&world.broker);
    for (unsigned i = 0; i < CLIENTS; i++) {
        buffer_close(&world.clients[i].sent);
        buffer_close(&world.clients[i].received);
    }
    return 0;
}
