// SPDX-License-Identifier: Apache-2.0
/* Produce: check every batch, put the appends off to the end of the burst, answer.
 *
 *    handle_produce ─► check ─┬───────────────► burst ─► partition_append ─┬─────────────► finish
 *                             └► (pool) checked ───────────┘   ▲           └► (pool) appended,
 *                                                                             flushed, replicated
 *
 *  (1) Appends of one burst to one partition go into the log with one write (DESIGN 2.3).
 *  (2) A call that waits for the pool with a check holds back the later frames of its connection, so
 *      that batches of one producer reach the log in the order in which they were sent.
 *  (3) Record bytes are where the frame is; what outlives the burst is copied by the append, and the
 *      names that the answer needs by detach(). */

#include <assert.h>

#include "alloc.h"
#include "dispatch.h"
#include "error.h"
#include "handlers.h"
#include "partition_acks.h"
#include "produce_call.h"

static void finish(struct produce_call *produce);
static void append_ended(struct append *append);
static void check_ended(struct append *append);

/* ---- the answer ---- */

static void close_part(struct produce_part *part)
{
    if (!part->is_open) return;
    part->is_open = false;
    produce_answer_append(part);
    append_close(&part->append);
    partition_unref(part->append.partition);
    part->produce->open_count--;
}

/* With acks=0 nobody hears of an error but by the connection's end, as with Kafka. */
static void end_unacknowledged(struct produce_call *produce)
{
    for (int32_t i = 0; i < produce->response.responses.count; i++) {
        const struct produce_response_topic *topic = &produce->response.responses.items[i];
        for (int32_t k = 0; k < topic->partition_responses.count; k++) {
            int16_t code = topic->partition_responses.items[k].error_code;
            if (code != 0) {
                call_refuse(produce->call, error_text(error_from_kafka_code(code)));
                return;
            }
        }
    }
    call_end_silently(produce->call);
}

static void answer(struct produce_call *produce)
{
    struct call *call = produce->call;
    if (produce->acks == 0) {
        end_unacknowledged(produce);
        return;
    }
    struct node_endpoint endpoint;
    if (produce->leader_hint >= 0) {
        produce->response.node_endpoints.count = (int32_t)api_leader_endpoint(
            call, produce->leader_hint, &endpoint);
        produce->response.node_endpoints.items = &endpoint;
    }
    api_reply(call, &produce_response_shape, &produce->response);
}

static void finish(struct produce_call *produce)
{
    struct api_loop *loop = produce->loop;
    struct call *deferred =
        produce->deferred; /* The call and all in its arena go with the answer. */
    list_remove(&produce->node);
    timer_cancel(loop->loop, &produce->deadline);
    answer(produce);
    if (deferred != NULL) api_dispatch(loop, deferred);
}

bool api_waits_for_produce(struct api_loop *loop, struct call *call)
{
    if (call->connection == NULL) return false;
    /* Calls of one connection are in the order in which they came; the last one is last to be appended. */
    for (struct list *node = loop->pending_calls.prev; node != &loop->pending_calls;
         node = node->prev) {
        struct produce_call *produce = LIST_OWNER(node, struct produce_call, node);
        if (produce->call->connection != call->connection) continue;
        assert(produce->deferred == NULL); /* The first one that waits holds all later ones back. */
        call->is_serial = true;
        produce->deferred = call;
        return true;
    }
    return false;
}

/* ---- waiting ---- */

/* 7 to whoever still waits for an acknowledgement; what is not written yet is answered when it is. */
static void deadline_came(struct timer *timer)
{
    struct produce_call *produce = LIST_OWNER(timer, struct produce_call, deadline);
    for (unsigned i = 0; i < produce->part_count; i++) {
        struct produce_part *part = &produce->parts[i];
        if (part->is_open && partition_stop_waiting_for_ack(&part->append)) close_part(part);
    }
    if (produce->open_count == 0) finish(produce);
}

/* All that is left to do is to acknowledge: others need the frame's memory more (DESIGN 2.4). */
static bool needs_no_frame(const struct produce_call *produce)
{
    for (unsigned i = 0; i < produce->part_count; i++)
        if (produce->parts[i].is_open && !produce->parts[i].append.is_written) return false;
    return true;
}

/* ---- the appends ---- */

/* Rule 3: the topics' names are needed longer than the frame lives. */
static void detach(struct produce_call *produce)
{
    if (produce->is_detached) return;
    produce->is_detached = true;
    for (int32_t i = 0; i < produce->response.responses.count; i++) {
        struct str *name = &produce->response.responses.items[i].name;
        if (arena_str(&produce->call->arena, *name, name) != 0)
            *name = (struct str){ "", 0 }; /* The client then misses its topic and asks again. */
    }
}

void api_flush_burst(struct api_loop *loop)
{
    struct list *node;
    while ((node = list_pop_front(&loop->burst)) != NULL) {
        struct api_partition *known = LIST_OWNER(node, struct api_partition, burst);
        struct append *first = known->first;
        known->first = NULL;
        known->end = &known->first;
        partition_append(known->partition, first);
    }
    while ((node = list_pop_front(&loop->burst_calls)) != NULL) {
        struct produce_call *produce = LIST_OWNER(node, struct produce_call, node);
        for (unsigned i = 0; i < produce->part_count; i++)
            if (!produce->parts[i].append.is_pending) close_part(&produce->parts[i]);
        if (produce->open_count == 0) {
            finish(produce);
        } else {
            detach(produce);
            list_push_back(&loop->pending_calls, &produce->node);
            if (needs_no_frame(produce)) call_release_frame(produce->call);
            if (produce->acks != 0)
                timer_set(loop->loop, &produce->deadline,
                          produce->timeout_ms > 0 ? produce->timeout_ms : 0);
        }
    }
}

static void append_ended(struct append *append)
{
    struct produce_part *part = LIST_OWNER(append, struct produce_part, append);
    struct produce_call *produce = part->produce;
    close_part(part);
    if (produce->open_count == 0) finish(produce);
}

static void check_ended(struct append *append)
{
    append->done = append_ended;
    append->next = NULL;
    if (append->log.err == 0) partition_append(append->partition, append);
    if (!append->is_pending) append_ended(append);
}

static void put_off(struct api_loop *loop, struct api_partition *known, struct append *append)
{
    append->next = NULL;
    *known->end = append;
    known->end = &append->next;
    if (list_is_empty(&known->burst)) list_push_back(&loop->burst, &known->burst);
}

static void begin_append(struct produce_call *produce, struct produce_part *part,
                         struct api_partition *known, struct records records)
{
    struct append *append = &part->append;
    /* The frame is ours: offset and leader epoch are written where the batch is. */
    append_init(append, partition_ref(known->partition), (uint8_t *)(uintptr_t)records.data,
                records.length < 0 ? 0 : (size_t)records.length, produce->call->api_version,
                produce->loop->loop, append_ended);
    append->acks_all = produce->acks == -1;
    append->acks_none = produce->acks == 0;
    append->data_stays = call_frame_is_kept(produce->call);
    part->is_open = true;
    produce->open_count++;
    if (!partition_check(append)) {
        append->done = check_ended;
        int err = partition_check_on_pool(append);
        if (err == 0) {                      /* From now on log.err is the pool's. */
            produce->call->is_serial = true; /* Rule 2. */
            return;
        }
        append->log.err = err;
    }
    if (append->log.err != 0)
        close_part(part);
    else
        put_off(produce->loop, known, append);
}

/* ---- the request ---- */

static int find_topic(struct api_loop *loop, int16_t version,
                      const struct produce_request_topic *wanted, const struct meta_topic **topic)
{
    bool by_id = version >= TOPIC_IDS_SINCE;
    *topic = by_id ? meta_view_topic_by_id(loop->view, &wanted->topic_id)
                   : meta_view_topic(loop->view, wanted->name);
    if (*topic != NULL) return 0;
    return by_id ? ERR_UNKNOWN_TOPIC_ID : ERR_UNKNOWN_TOPIC_OR_PARTITION;
}

static int find_partition(struct api_loop *loop, const struct meta_topic *topic, int32_t index,
                          struct api_partition **known)
{
    if (index < 0 || (unsigned)index >= topic->partition_count)
        return ERR_UNKNOWN_TOPIC_OR_PARTITION;
    *known = api_find_partition(loop, &topic->id, index);
    return *known == NULL ? ERR_NOT_LEADER_OR_FOLLOWER : 0;
}

static void begin_part(struct produce_call *produce, struct produce_part *part,
                       const struct meta_topic *topic, int topic_err,
                       const struct produce_request_partition *wanted)
{
    struct api_partition *known = NULL;
    int err = topic_err;
    if (err == 0) err = find_partition(produce->loop, topic, wanted->index, &known);
    if (err != 0) {
        produce_answer_error(part, err, error_text(err));
        if (err == ERR_NOT_LEADER_OR_FOLLOWER) {
            const struct meta_partition *state = &topic->partitions[wanted->index];
            produce_answer_leader(part, state->leader, state->leader_epoch);
        }
        return;
    }
    begin_append(produce, part, known, wanted->records);
}

static bool is_transactional(struct records records)
{
    struct record_batch batch;
    size_t size = records.length < 0 ? 0 : (size_t)records.length;
    return record_batch_read_header(&batch, records.data, size) == 0 && batch.size <= size &&
           (batch.attributes & BATCH_TRANSACTIONAL) != 0;
}

static bool has_transactional_records(const struct produce_request *request)
{
    for (int32_t i = 0; i < request->topic_data.count; i++) {
        const struct produce_request_topic *topic = &request->topic_data.items[i];
        for (int32_t k = 0; k < topic->partition_data.count; k++)
            if (is_transactional(topic->partition_data.items[k].records)) return true;
    }
    return false;
}

/* What refuses the request as a whole, partition by partition. */
static int check_request(const struct produce_request *request)
{
    if (str_is_null(request->transactional_id) && has_transactional_records(request))
        return ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED; /* Nobody may write as no one. */
    if (request->acks < -1 || request->acks > 1) return ERR_INVALID_REQUIRED_ACKS;
    if (!str_is_null(request->transactional_id))
        return ERR_INVALID_TXN_STATE; /* Nobody has an open transaction: there are none yet. */
    return 0;
}

/* Memory for the call and its answer. NULL if there is none; the call is refused then. */
static struct produce_call *prepare(struct api_loop *loop, struct call *call,
                                    const struct produce_request *request)
{
    unsigned part_count = 0;
    for (int32_t i = 0; i < request->topic_data.count; i++)
        part_count += (unsigned)request->topic_data.items[i].partition_data.count;

    struct produce_call *produce = arena_zalloc(&call->arena, sizeof *produce);
    struct produce_part *parts = arena_calloc(&call->arena, part_count + 1u,
                                              sizeof(struct produce_part));
    struct produce_response_topic *topics = arena_calloc(
        &call->arena, (size_t)request->topic_data.count + 1, sizeof(struct produce_response_topic));
    struct produce_response_partition *answers = arena_calloc(
        &call->arena, part_count + 1u, sizeof(struct produce_response_partition));
    if (produce == NULL || parts == NULL || topics == NULL || answers == NULL) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return NULL;
    }
    message_defaults(&produce_response_shape, &produce->response);
    produce->call = call;
    produce->loop = loop;
    produce->acks = request->acks;
    produce->timeout_ms = request->timeout_ms;
    timer_init(&produce->deadline, deadline_came);
    produce->leader_hint = -1;
    produce->part_count = part_count;
    produce->parts = parts;
    produce->response.responses.items = topics;
    list_init(&produce->node);

    if (!produce_answer_shape(produce, request, topics, answers)) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return NULL;
    }
    return produce;
}

void handle_produce(struct api_loop *loop, struct call *call, struct produce_request *request)
{
    struct produce_call *produce = prepare(loop, call, request);
    if (produce == NULL) return;
    int request_err = check_request(request);
    unsigned next = 0;
    for (int32_t i = 0; i < request->topic_data.count; i++) {
        const struct produce_request_topic *wanted = &request->topic_data.items[i];
        const struct meta_topic *topic = NULL;
        int err = request_err;
        if (err == 0) err = find_topic(loop, call->api_version, wanted, &topic);
        for (int32_t k = 0; k < wanted->partition_data.count; k++, next++)
            if (produce->parts[next].answer != NULL)
                begin_part(produce, &produce->parts[next], topic, err,
                           &wanted->partition_data.items[k]);
    }
    list_push_back(&loop->burst_calls, &produce->node);
}
