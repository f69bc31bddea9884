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

struct produce_part {
    struct append append;
    struct produce_call *produce;
    struct produce_response_partition *answer;
    bool is_open; /* An append without its answer yet. */
};

struct produce_call {
    struct list node; /* The loop's: calls of this burst, then those that wait for the pool. */
    struct call *call;
    struct call *deferred; /* A later one of the connection, not handled before this has ended. */
    struct api_loop *loop;
    int16_t acks;
    int32_t leader_hint; /* A leader that the answer should tell the address of; -1: none. */
    unsigned part_count, open_count;
    bool is_detached;
    int32_t timeout_ms;
    struct timer deadline; /* For acknowledgements that have to wait (DESIGN 5.3). */
    struct produce_part *parts;
    struct produce_response response;
};

static void finish(struct produce_call *produce);
static void append_ended(struct append *append);
static void check_ended(struct append *append);

/* ---- the answer ---- */

static void answer_error(struct produce_part *part, int err, const char *why)
{
    struct produce_response_partition *answer = part->answer;
    answer->error_code = error_kafka_code(err);
    answer->base_offset = -1;
    answer->log_append_time_ms = -1;
    answer->log_start_offset = -1;
    answer->error_message = why == NULL ? STR_NULL : str_from(why);
}

/* KIP-951: who leads now, for clients that can be told. */
static void answer_leader(struct produce_part *part, int32_t leader, int32_t leader_epoch)
{
    if (part->produce->call->api_version < 10) return;
    part->answer->current_leader.leader_id = leader;
    part->answer->current_leader.leader_epoch = leader_epoch;
    part->produce->leader_hint = leader;
}

/* KIP-467: which records of the batch were refused. Why is told once, for the partition: clients take
 * that where a record has no words of its own. */
static int answer_record_errors(struct produce_part *part)
{
    const struct batch_verdict *verdict = &part->append.verdict;
    if (verdict->record_error_count == 0) return 0;
    struct produce_response_record_error *errors = arena_calloc(
        &part->produce->call->arena, (size_t)verdict->record_error_count, sizeof *errors);
    if (errors == NULL) return ERR_NO_MEMORY;
    for (int32_t i = 0; i < verdict->record_error_count; i++) {
        errors[i].batch_index = verdict->record_errors[i];
        errors[i].batch_index_error_message = STR_NULL;
    }
    part->answer->record_errors.items = errors;
    part->answer->record_errors.count = verdict->record_error_count;
    return 0;
}

static void answer_append(struct produce_part *part)
{
    const struct append *append = &part->append;
    int err = append->log.err;
    if (err == 0) {
        part->answer->base_offset = append->log.base_offset;
        part->answer->log_append_time_ms = append->log.append_time_ms;
        part->answer->log_start_offset = append->log_start_offset;
        return;
    }
    answer_error(part, err, append->verdict.why != NULL ? append->verdict.why : error_text(err));
    if (err == ERR_NOT_LEADER_OR_FOLLOWER)
        answer_leader(part, append->leader, append->leader_epoch);
    if (answer_record_errors(part) != 0) answer_error(part, ERR_NO_MEMORY, NULL);
}

static void close_part(struct produce_part *part)
{
    if (!part->is_open) return;
    part->is_open = false;
    answer_append(part);
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

/* No transaction can be open, so no batch can be part of one. */
static void refuse_transactional(struct append *append)
{
    if (append->log.err == 0 && (append->log.batch.attributes & BATCH_TRANSACTIONAL) != 0)
        append->log.err = ERR_INVALID_TXN_STATE;
}

static void check_ended(struct append *append)
{
    append->done = append_ended;
    append->next = NULL;
    refuse_transactional(append);
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
    refuse_transactional(append);
    if (append->log.err != 0)
        close_part(part);
    else
        put_off(produce->loop, known, append);
}

/* ---- the request ---- */

static int find_topic(struct api_loop *loop, int16_t version,
                      const struct produce_request_topic *wanted, const struct meta_topic **topic)
{
    bool by_id = version >= 13; /* KIP-516 */
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
        answer_error(part, err, error_text(err));
        if (err == ERR_NOT_LEADER_OR_FOLLOWER) {
            const struct meta_partition *state = &topic->partitions[wanted->index];
            answer_leader(part, state->leader, state->leader_epoch);
        }
        return;
    }
    begin_append(produce, part, known, wanted->records);
}

/* What refuses the request as a whole, partition by partition. */
static int check_request(const struct produce_request *request)
{
    if (request->acks < -1 || request->acks > 1) return ERR_INVALID_REQUIRED_ACKS;
    if (!str_is_null(request->transactional_id))
        return ERR_INVALID_TXN_STATE; /* Nobody has an open transaction: there are none yet. */
    return 0;
}

/* Memory for the answer, in the request's shape. NULL if there is none; the call is refused then. */
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
    produce->response.responses.count = request->topic_data.count;
    list_init(&produce->node);

    unsigned next = 0;
    for (int32_t i = 0; i < request->topic_data.count; i++) {
        const struct produce_request_topic *wanted = &request->topic_data.items[i];
        topics[i].name = wanted->name;
        topics[i].topic_id = wanted->topic_id;
        topics[i].partition_responses.items = &answers[next];
        topics[i].partition_responses.count = wanted->partition_data.count;
        for (int32_t k = 0; k < wanted->partition_data.count; k++, next++) {
            struct produce_response_partition *answer = &answers[next];
            answer->index = wanted->partition_data.items[k].index;
            answer->log_append_time_ms = -1;
            answer->log_start_offset = -1;
            answer->error_message = STR_NULL;
            answer->current_leader.leader_id = -1;
            answer->current_leader.leader_epoch = -1;
            parts[next].produce = produce;
            parts[next].answer = answer;
        }
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
        for (int32_t k = 0; k < wanted->partition_data.count; k++)
            begin_part(produce, &produce->parts[next++], topic, err,
                       &wanted->partition_data.items[k]);
    }
    list_push_back(&loop->burst_calls, &produce->node);
}
