// SPDX-License-Identifier: Apache-2.0
#include "producer_ids.h"

#include <pthread.h>

#include "alloc.h"
#include "error.h"

/* Longer than an election takes; the client's own timeout is usually shorter. */
#define BLOCK_TIMEOUT_MS 30000

struct producer_ids {
    pthread_mutex_t lock;
    struct meta_quorum *meta;
    struct clock *clock;
    int64_t next, end;   /* What is left of the block. */
    struct list waiting; /* struct producer_id_request */
    bool block_is_coming;
    struct meta_request block_request;
};

static void deliver(struct message *message)
{
    struct producer_id_request *request = LIST_OWNER(message, struct producer_id_request, message);
    request->done(request);
}

static void answer(struct producer_id_request *request, int err, int64_t producer_id)
{
    request->err = err;
    request->producer_id = producer_id;
    loop_post(request->loop, &request->message);
}

/* Caller holds the lock; somebody waits. The answer comes on the loop of one who does: that one runs until
 * they are answered, also while the broker stops. */
static void want_block(struct producer_ids *ids)
{
    if (ids->block_is_coming) return;
    ids->block_is_coming = true;
    ids->block_request.loop = LIST_OWNER(ids->waiting.next, struct producer_id_request, node)->loop;
    ids->block_request.as.producer_ids.count = PRODUCER_ID_BLOCK;
    ids->block_request.deadline_ms = clock_monotonic_us(ids->clock) / 1000 + BLOCK_TIMEOUT_MS;
    meta_quorum_request(ids->meta, &ids->block_request);
}

static void block_has_come(struct meta_request *meta_request)
{
    struct producer_ids *ids = LIST_OWNER(meta_request, struct producer_ids, block_request);
    pthread_mutex_lock(&ids->lock);
    ids->block_is_coming = false;
    if (meta_request->err == 0) {
        ids->next = meta_request->as.producer_ids.first;
        ids->end = ids->next + meta_request->as.producer_ids.count;
    }
    while (!list_is_empty(&ids->waiting) && (meta_request->err != 0 || ids->next < ids->end)) {
        struct producer_id_request *request = LIST_OWNER(list_pop_front(&ids->waiting),
                                                         struct producer_id_request, node);
        if (meta_request->err != 0)
            answer(request, meta_request->err, -1);
        else
            answer(request, 0, ids->next++);
    }
    if (!list_is_empty(&ids->waiting)) want_block(ids);
    pthread_mutex_unlock(&ids->lock);
}

int producer_ids_open(struct producer_ids **ids, struct meta_quorum *meta, struct clock *clock)
{
    struct producer_ids *created = mem_zalloc(sizeof *created);
    if (created == NULL) return ERR_NO_MEMORY;
    pthread_mutex_init(&created->lock, NULL);
    list_init(&created->waiting);
    created->meta = meta;
    created->clock = clock;
    created->block_request.kind = META_ALLOCATE_PRODUCER_IDS;
    created->block_request.done = block_has_come;
    *ids = created;
    return 0;
}

void producer_ids_close(struct producer_ids *ids)
{
    if (ids == NULL) return;
    pthread_mutex_destroy(&ids->lock);
    mem_free(ids);
}

void producer_ids_take(struct producer_ids *ids, struct producer_id_request *request)
{
    list_init(&request->node);
    message_init(&request->message, deliver);
    pthread_mutex_lock(&ids->lock);
    if (ids->next < ids->end) {
        answer(request, 0, ids->next++);
    } else {
        list_push_back(&ids->waiting, &request->node);
        want_block(ids);
    }
    pthread_mutex_unlock(&ids->lock);
}
