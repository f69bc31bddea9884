// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <assert.h>
#include <stdio.h>

#include "call_box.h"
#include "connection.h"
#include "error.h"
#include "net_state.h"
#include "trace.h"

int call_keep_frame(struct call *call)
{
    struct call_box *box = call_box_of(call);
    struct net_loop *net_loop = call->loop;
    if (box->is_kept) return 0;
    assert(net_loop->bursting != NULL && box->burst == net_loop->burst); /* Later it is gone. */

    size_t length = (size_t)call->frame.length;
    uint8_t *copy = NULL;
    /* A short one lies beside the call and takes nothing from the heap; the rest is for
     * decoding. */
    if (length <= CALL_INITIAL_ARENA_BYTES / 2 &&
        length < (size_t)(call->arena.end - call->arena.at))
        copy = arena_alloc(&call->arena, length);
    if (copy == NULL) copy = box->memory = frame_pool_take(&net_loop->frame_pool, length);
    if (copy == NULL) return ERR_NO_MEMORY;
    memcpy(copy, call->frame.data, length);
    call->frame.data = copy;
    box->is_kept = true;

    /* Charged, not asked for: it was read already (DESIGN 2.4). */
    struct memory_grant grant;
    memory_budget_charge(&net_loop->net->budget, length + CALL_BOX_BYTES, memory_share_of(length),
                         &grant);
    call->frame_reserved = grant.bytes;
    box->share = grant.share;
    return 0;
}

bool call_frame_is_kept(const struct call *call)
{
    return call_box_of((struct call *)call)->is_kept;
}

/* The call has ended. What is left of it, if anything, is its reply. */
static void call_end(struct call *call, enum call_state state)
{
    struct call_box *box = call_box_of(call);
    struct net_loop *net_loop = call->loop;
    struct connection *connection = call->connection;
    struct net_server *server = net_loop->net->config.server;
    assert(call->state == CALL_OPEN);
    call->state = state;
    if (server->ended != NULL) server->ended(server, call, state == CALL_REFUSED);
    if (connection == NULL) {
        call_box_finish(box);
        return;
    }
    struct outbox *outbox = &connection->outbox;
    outbox->open_count--;
    if (outbox->serial == box) outbox->serial = NULL;
    if (state == CALL_READY) {
        outbox->reply_bytes += call->reply.bytes.length;
        box->unsent_bytes = CALL_BOX_BYTES + call->reply.bytes.length;
        net_loop_count_unsent(net_loop, box->unsent_bytes);
    }
    call_box_settle(box);
    if (connection != net_loop->bursting) net_loop_mark_dirty(net_loop, connection);

    /* A silent end has nothing to send, so it need not wait for its turn. The one being handed over
     * is still looked at by whoever does that. */
    if (state == CALL_SILENT && net_loop->handing_over != box) call_box_finish(box);
}

void call_reply(struct call *call)
{
    struct call_box *box = call_box_of(call);
    const struct encoder *reply = &call->reply;
    uint64_t length = (uint64_t)reply->bytes.length + reply->splice_bytes;
    if (reply->bytes.failed) {
        call_refuse(call, "no memory for the reply");
    } else if (length > INT32_MAX) {
        call_refuse(call, "the reply is longer than a frame can be");
    } else {
        store_i32(box->length, (int32_t)length);
        call_end(call, CALL_READY);
    }
}

void call_end_silently(struct call *call)
{
    call_end(call, CALL_SILENT);
}

const char *call_describe(const struct call *call, char text[CALL_DESCRIPTION_BYTES])
{
    const struct call_box *box = call_box_of((struct call *)call);
    const struct connection *home = box->home;
    char client[64];
    /* A client id that was decoded from a frame goes with it. */
    bool has_frame = box->is_kept || (call->loop->bursting && box->burst == call->loop->burst);
    trace_escape(client, sizeof client, has_frame ? call->client_id : STR_NULL);
    snprintf(text, CALL_DESCRIPTION_BYTES, "conn=%llu peer=%s:%u api=%d v%d corr=%d client=%s",
             (unsigned long long)home->id, home->peer, home->peer_port, call->api_key,
             call->api_version, call->correlation_id, client);
    return text;
}

void call_refuse(struct call *call, const char *why)
{
    struct connection *connection = call->connection;
    uint64_t left_out;
    if (connection != NULL && !connection->is_ending &&
        connection_may_tell(connection, why, &left_out)) {
        char about[CALL_DESCRIPTION_BYTES], others[TRACE_LEFT_OUT_BYTES];
        trace(TRACE_WARN, "net", "%s: closed: %s%s", call_describe(call, about), why,
              trace_left_out(others, left_out));
    }
    if (connection != NULL) connection->is_ending = true;
    call_end(call, CALL_REFUSED);
}

unsigned call_listener(const struct call *call)
{
    return call_box_of((struct call *)call)->home->listener;
}

const char *call_peer(const struct call *call)
{
    return call_box_of((struct call *)call)->home->peer;
}
