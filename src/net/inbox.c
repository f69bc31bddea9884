// SPDX-License-Identifier: Apache-2.0
#include "inbox.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "call_box.h"
#include "connection.h"
#include "net_state.h"

/* A read behind or before a large frame: enough to find its length, little to copy. */
#define SHORT_READ_BYTES (16u * 1024)

/* One system call may not keep the loop for longer than this takes to copy. */
#define LONG_READ_BYTES (1024u * 1024)

/* More of them would keep their peer waiting: as it is, it reads replies and sends on while the next are made. */
#define BURST_FRAMES 32

/* A half-read frame is too slow if, as it comes, its rest would take longer than so many looks, each a second
 * after the one before; and hopeless when it was for so long. What is lost on its way is sent again within
 * that. */
#define LOOKS_FOR_THE_REST 30
#define LOOKS_TOO_SLOW     3

static void inbox_granted(struct message *message);

void inbox_init(struct connection *connection)
{
    struct inbox *inbox = &connection->inbox;
    memory_wait_init(&inbox->wait, connection->loop->base, inbox_granted);
    list_init(&inbox->incomplete);
}

static void inbox_forget_frame(struct inbox *inbox)
{
    list_remove(&inbox->incomplete);
    inbox->frame = NULL;
    inbox->length_have = 0;
    inbox->wait.grant.bytes = 0;
}

void inbox_drop(struct connection *connection)
{
    struct inbox *inbox = &connection->inbox;
    struct net_loop *net_loop = connection->loop;
    struct memory_budget *budget = &net_loop->net->budget;

    if (!inbox->is_waiting) {
        memory_budget_give_back(budget, &inbox->wait.grant);
    } else if (memory_budget_cancel(budget, &inbox->wait)) {
        inbox->is_waiting = false;
        inbox->wait.grant.bytes = 0;
        connection_release(connection);
    } /* Otherwise inbox_granted() is on its way and gives it back. */

    frame_pool_give_back(&net_loop->frame_pool, inbox->frame);
    if (!inbox->is_waiting) inbox_forget_frame(inbox);
    inbox_held_done(connection, inbox->held_length - inbox->held_at);
}

/* ---- reading ---- */

bool inbox_may_read(const struct connection *connection)
{
    const struct inbox *inbox = &connection->inbox;
    if (connection->is_closed || connection->is_ending || inbox->is_waiting || inbox->held != NULL)
        return false;
    /* A frame that has its memory is read to its end, whatever the connection waits for. */
    if (inbox->frame != NULL) return inbox->frame_have < inbox->frame_length;
    return !outbox_is_stalled(connection);
}

int inbox_plan_read(struct connection *connection, struct iovec pieces[2])
{
    struct inbox *inbox = &connection->inbox;
    struct net_loop *net_loop = connection->loop;
    bool is_tight = memory_budget_is_tight(&net_loop->net->budget);
    size_t limit = inbox->expects_large ? SHORT_READ_BYTES : READ_BUFFER_BYTES;
    int count = 0;

    inbox->reads_length = inbox->frame == NULL && is_tight;
    if (inbox->frame != NULL) {
        size_t rest = inbox->frame_length - inbox->frame_have;
        bool is_all = rest <= LONG_READ_BYTES;
        pieces[count++] = (struct iovec){ inbox->frame + inbox->frame_have,
                                          is_all ? rest : LONG_READ_BYTES };
        if (!is_all || is_tight || outbox_is_stalled(connection)) return count;
    } else if (inbox->reads_length) {
        pieces[count++] = (struct iovec){ inbox->length + inbox->length_have,
                                          sizeof inbox->length - inbox->length_have };
        return count; /* (4) */
    }
    pieces[count++] = (struct iovec){ net_loop->read_buffer, limit };
    return count;
}

size_t inbox_took(struct connection *connection, size_t got)
{
    struct inbox *inbox = &connection->inbox;
    if (inbox->frame == NULL) {
        if (!inbox->reads_length) return got;
        inbox->length_have += (uint8_t)got;
        return 0;
    }
    size_t rest = inbox->frame_length - inbox->frame_have;
    size_t own = got < rest ? got : rest;
    inbox->frame_have += (uint32_t)own;
    return got - own;
}

/* ---- handing over ---- */

/* Gives the call to the server. False when out of memory. */
static bool inbox_call(struct connection *connection, const uint8_t *data, bool is_own)
{
    struct inbox *inbox = &connection->inbox;
    struct net_loop *net_loop = connection->loop;
    struct net_server *server = net_loop->net->config.server;
    struct call_box *box = call_box_take(connection);
    if (box == NULL) {
        connection_end(connection, "no memory for a request");
        return false;
    }
    box->call.frame = (struct bytes){ data, (int32_t)inbox->frame_length };
    inbox->expects_large = is_own && inbox->frame_length > READ_BUFFER_BYTES / 2;
    if (is_own) {
        box->memory = inbox->frame;
        box->is_kept = true;
        box->call.frame_reserved = inbox->wait.grant.bytes;
        box->share = inbox->wait.grant.share;
        inbox_forget_frame(inbox);
    }
    inbox->length_have = 0;

    net_loop->handing_over = box;
    server->call(server, &box->call);
    net_loop->handing_over = NULL;
    if (box->call.state == CALL_SILENT)
        call_box_finish(box);
    else if (box->call.state == CALL_OPEN && box->call.is_serial)
        connection->outbox.serial = box;
    return true;
}

/* The length has come: is it one? If not, the connection ends (DESIGN 3.3). */
static bool inbox_check_length(struct connection *connection)
{
    struct inbox *inbox = &connection->inbox;
    int32_t length = load_i32(inbox->length);
    if (length > 0 && length <= connection->loop->net->config.max_frame_bytes) {
        inbox->frame_length = (uint32_t)length;
        return true;
    }
    char why[80];
    snprintf(why, sizeof why, "a frame of %d bytes; %d are allowed", length,
             connection->loop->net->config.max_frame_bytes);
    connection_end(connection, why);
    return false;
}

/* The bytes of the frame's memory are ours: gets it. False when out of memory. */
static bool inbox_get_frame(struct connection *connection)
{
    struct inbox *inbox = &connection->inbox;
    struct net_loop *net_loop = connection->loop;
    inbox->frame = frame_pool_take(&net_loop->frame_pool, inbox->frame_length);
    if (inbox->frame == NULL) {
        connection_end(connection, "no memory for a request");
        return false;
    }
    inbox->frame_have = inbox->frame_looked_at = 0;
    inbox->slow_looks = 0;
    list_push_back(&net_loop->incomplete, &inbox->incomplete);
    net_loop_watch_progress(net_loop);
    return true;
}

/* (2) False: not yet, or out of memory. */
static bool inbox_start_frame(struct connection *connection)
{
    struct inbox *inbox = &connection->inbox;
    /* DESIGN 2.4: the whole length, before the body is read. What its call will cost comes on
     * top, so that many small suspended requests are counted, too. */
    if (memory_budget_take(&connection->loop->net->budget, inbox->frame_length + CALL_BOX_BYTES,
                           memory_share_of(inbox->frame_length), &inbox->wait))
        return inbox_get_frame(connection);
    net_loop_tell_waiting(connection->loop);
    inbox->is_waiting = true;
    connection_hold(connection);
    return false;
}

bool inbox_is_hopeless(const struct connection *connection)
{
    const struct inbox *inbox = &connection->inbox;
    const struct transport *transport = &connection->transport;
    struct pollfd peer = { .fd = transport->fd, .events = POLLRDHUP };
    int unread;
    if (transport->kind->has_buffered(transport)) return false;
    if (poll(&peer, 1, 0) != 1 || ioctl(transport->fd, FIONREAD, &unread) != 0) return false;
    return (uint64_t)unread + (inbox->held_length - inbox->held_at) < inbox->frame_length;
}

static void inbox_granted(struct message *message)
{
    struct inbox *inbox = LIST_OWNER(message, struct inbox, wait.granted);
    struct connection *connection = LIST_OWNER(inbox, struct connection, inbox);
    inbox->is_waiting = false;
    if (connection->is_closed || connection->is_ending) {
        memory_budget_give_back(&connection->loop->net->budget, &inbox->wait.grant);
        inbox_forget_frame(inbox);
    } else if (inbox_is_hopeless(connection)) {
        connection_close(connection);
    } else {
        connection_touch(connection); /* It was not idle, it was kept waiting. */
        inbox_get_frame(connection);
    }
    if (!connection->is_closed) connection_go_on(connection);
    connection_release(connection);
}

static size_t inbox_fill(uint8_t *to, size_t wanted, const uint8_t *data, size_t length)
{
    size_t count = length < wanted ? length : wanted;
    if (count > 0) memcpy(to, data, count);
    return count;
}

size_t inbox_hand_over(struct connection *connection, const uint8_t *data, size_t length)
{
    struct inbox *inbox = &connection->inbox;
    size_t at = 0;
    bool has_called = false;
    uint32_t calls_before = connection->loop->calls_begun;
    while (!connection->is_ending) {
        bool is_full = connection->loop->calls_begun - calls_before >= BURST_FRAMES;
        if (has_called && at < length && (is_full || net_loop_turn_is_over(connection->loop)))
            return at;
        if (inbox->frame != NULL) {
            size_t count = inbox_fill(inbox->frame + inbox->frame_have,
                                      inbox->frame_length - inbox->frame_have, data + at,
                                      length - at);
            at += count;
            inbox->frame_have += (uint32_t)count;
            if (inbox->frame_have < inbox->frame_length) return at;
            list_remove(&inbox->incomplete);
            if (outbox_is_stalled(connection)) return at;
            has_called = inbox_call(connection, inbox->frame, true);
            continue;
        }
        if (inbox->is_waiting) return at;
        if (inbox->length_have < sizeof inbox->length) {
            size_t count = inbox_fill(inbox->length + inbox->length_have,
                                      sizeof inbox->length - inbox->length_have, data + at,
                                      length - at);
            at += count;
            inbox->length_have += (uint8_t)count;
            if (inbox->length_have < sizeof inbox->length) return at;
        }
        if (!inbox_check_length(connection)) break;
        if (length - at < inbox->frame_length) {
            if (!inbox_start_frame(connection)) break;
        } else {
            if (outbox_is_stalled(connection)) return at;
            const uint8_t *frame = data + at;
            at += inbox->frame_length;
            has_called = inbox_call(connection, frame, false);
        }
    }
    return connection->is_ending ? length : at; /* What comes after the end is of no interest. */
}

/* ---- what is held aside ---- */

/* What is held cannot be given back before the frame that waits has its memory. */
static void inbox_note_held(struct connection *connection)
{
    struct inbox *inbox = &connection->inbox;
    if (inbox->is_waiting)
        memory_budget_note_beside(&connection->loop->net->budget, &inbox->wait, &inbox->held_grant);
}

bool inbox_hold(struct connection *connection, const uint8_t *data, size_t length)
{
    struct inbox *inbox = &connection->inbox;
    struct net_loop *net_loop = connection->loop;
    assert(inbox->held == NULL && length > 0);
    uint8_t *held = frame_pool_take(&net_loop->frame_pool, length);
    if (held == NULL) return false;
    memcpy(held, data, length);
    inbox->held = held;
    inbox->held_length = (uint32_t)length;
    inbox->held_at = 0;
    memory_budget_charge(&net_loop->net->budget, length, MEMORY_USUAL,
                         &inbox->held_grant); /* (3) */
    inbox_note_held(connection);
    return true;
}

bool inbox_can_go_on(const struct connection *connection)
{
    const struct inbox *inbox = &connection->inbox;
    if (connection->is_closed || connection->is_ending || inbox->is_waiting) return false;
    /* Bytes for a frame that has its memory move there even when the connection is stalled. */
    if (inbox->frame != NULL && inbox->frame_have < inbox->frame_length) return inbox->held != NULL;
    return (inbox->held != NULL || inbox->frame != NULL) && !outbox_is_stalled(connection);
}

void inbox_held_done(struct connection *connection, size_t count)
{
    struct inbox *inbox = &connection->inbox;
    struct net_loop *net_loop = connection->loop;
    inbox->held_at += (uint32_t)count;
    if (inbox->held_at < inbox->held_length) {
        inbox_note_held(connection);
        return;
    }
    frame_pool_give_back(&net_loop->frame_pool, inbox->held);
    inbox->held = NULL;
    inbox->held_length = inbox->held_at = 0;
    memory_budget_give_back(&net_loop->net->budget, &inbox->held_grant);
}

bool inbox_look_at_progress(struct connection *connection)
{
    struct inbox *inbox = &connection->inbox;
    uint64_t came = inbox->frame_have - inbox->frame_looked_at;
    bool is_slow = came * LOOKS_FOR_THE_REST < inbox->frame_length - inbox->frame_have;
    bool is_wanted = memory_budget_is_wanted(&connection->loop->net->budget, &inbox->wait.grant);

    inbox->frame_looked_at = inbox->frame_have;
    inbox->slow_looks = is_slow && is_wanted ? inbox->slow_looks + 1 : 0;
    return inbox->slow_looks < LOOKS_TOO_SLOW;
}
