// SPDX-License-Identifier: Apache-2.0
#include "call_box.h"

#include "alloc.h"
#include "connection.h"
#include "net_state.h"

/* Per loop: enough for one connection's line, so a busy loop takes nothing from the heap. */
#define SPARE_CALLS_MAX 512

/* A reply buffer up to this size stays with its box. */
#define SPARE_REPLY_BYTES_MAX   4096
#define SPARE_REPLY_SPLICES_MAX 64

static struct call_box *call_box_new(struct net_loop *net_loop)
{
    struct list *node = list_pop_front(&net_loop->spare_calls);
    if (node != NULL) {
        net_loop->spare_call_count--;
        return call_box_at(node);
    }
    struct call_box *box = mem_alloc(sizeof *box);
    if (box != NULL) encoder_init(&box->call.reply);
    return box;
}

struct call_box *call_box_take(struct connection *connection)
{
    struct net_loop *net_loop = connection->loop;
    struct call_box *box = call_box_new(net_loop);
    if (box == NULL) return NULL;

    struct call *call = &box->call;
    call->connection = connection;
    call->loop = net_loop;
    call->frame = BYTES_NULL;
    arena_init(&call->arena, box->initial_arena, sizeof box->initial_arena, CALL_ARENA_BYTES_MAX);
    call->is_serial = false;
    call->begun_us = 0;
    call->may_wait_ms = 0;
    call->context = NULL;
    call->abandoned = NULL;
    call->api_key = call->api_version = -1;
    call->correlation_id = 0;
    call->client_id = STR_NULL;
    call->frame_reserved = 0;
    call->state = CALL_OPEN;
    list_push_back(&connection->outbox.calls, &call->node);

    box->home = connection;
    connection_hold(connection);
    box->memory = NULL;
    box->is_kept = box->is_warming = false;
    box->burst = net_loop->burst;
    box->unsent_bytes = 0;
    box->position = (struct reply_position){ 0 };
    connection->outbox.call_count++;
    connection->outbox.open_count++;
    net_loop->call_count++;
    net_loop->calls_begun++;
    return box;
}

static void call_box_drop_frame(struct call_box *box)
{
    struct net_loop *net_loop = box->call.loop;
    frame_pool_give_back(&net_loop->frame_pool, box->memory);
    box->memory = NULL;
    box->is_kept = false;
    box->call.frame = BYTES_NULL;
    struct memory_grant grant = { box->call.frame_reserved, box->share };
    memory_budget_give_back(&net_loop->net->budget, &grant);
    box->call.frame_reserved = 0;
}

void call_box_settle(struct call_box *box)
{
    call_box_drop_frame(box);
    if (box->call.reply.splice_count == 0) arena_close(&box->call.arena);
}

static void call_box_drop_reply(struct call_box *box)
{
    struct encoder *reply = &box->call.reply;
    for (unsigned i = 0; i < reply->splice_count; i++)
        file_slice_release(reply->splices[i].slice);
    if (reply->bytes.failed || reply->bytes.capacity > SPARE_REPLY_BYTES_MAX ||
        reply->splice_capacity > SPARE_REPLY_SPLICES_MAX) {
        encoder_close(reply);
        encoder_init(reply);
        return;
    }
    reply->bytes.length = 0;
    reply->splice_count = 0;
    reply->splice_bytes = 0;
}

void call_box_finish(struct call_box *box)
{
    struct net_loop *net_loop = box->call.loop;
    struct outbox *outbox = &box->home->outbox;
    if (box->call.connection != NULL) {
        outbox->call_count--;
        if (box->call.state == CALL_READY) outbox->reply_bytes -= box->call.reply.bytes.length;
    }
    list_remove(&box->call.node);
    call_box_drop_frame(box);
    call_box_drop_reply(box);
    arena_close(&box->call.arena);
    connection_release(box->home);
    box->home = NULL;
    net_loop->call_count--;
    net_loop->unsent_bytes -= box->unsent_bytes;
    if (net_loop->spare_call_count >= SPARE_CALLS_MAX) {
        encoder_close(&box->call.reply);
        mem_free(box);
        return;
    }
    /* The warmest first. */
    list_push_front(&net_loop->spare_calls, &box->call.node);
    net_loop->spare_call_count++;
}

void call_box_free_spares(struct net_loop *net_loop)
{
    struct list *node;
    while ((node = list_pop_front(&net_loop->spare_calls)) != NULL) {
        struct call_box *box = call_box_at(node);
        encoder_close(&box->call.reply);
        mem_free(box);
    }
    net_loop->spare_call_count = 0;
}

void call_release_frame(struct call *call)
{
    call_box_drop_frame(call_box_of(call));
}
