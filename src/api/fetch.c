// SPDX-License-Identifier: Apache-2.0
/* Fetch: read what is there, wait for more if the client asks for it, answer.
 *
 *    handle_fetch ─► evaluate ─┬─ enough, an error, or the wait is over ─► answer
 *                     ▲   ▲    ├─ the answer is not in memory ─► (pool) evaluate ─► evaluated ─┐
 *                     │   │    └─ nothing yet ─► waiters on every partition, one timer         │
 *                     │   └────── woken ◄───────────┘                                          │
 *                     └────────────────────────────────────────────────────────────────────────┘
 *
 *  (1) A fetch_call may outlive its call: a wake may still be in a mailbox when the answer leaves. It
 *      is freed when it is finished and no message of it is under way.
 *  (2) While the pool evaluates, the loop leaves the fetch_call alone.
 *  (3) Waiting is for offsets, not by polling (DESIGN 5.3): every partition without error has a waiter,
 *      and whoever registers looks again.
 *  (4) A fetch of many partitions has much more memory than its frame. Waiting ones have so much
 *      together and no more (DESIGN 2.4); who comes then is answered with what there is. */

#include "alloc.h"
#include "error.h"
#include "handlers.h"
#include "partition_read.h"

/* Up to this many partitions a fetch is counted with its call. */
#define FEW_PARTS 16

struct fetch_part {
    int err; /* Found before any partition was asked: topic, index, … */
    struct partition *partition;
    struct partition_read read;
    struct waiter waiter;
    int32_t max_bytes;
    struct fetch_response_partition *answer;
};

enum fetch_state { FETCH_ON_LOOP, FETCH_ON_POOL, FETCH_WAITING, FETCH_FINISHED };

struct fetch_call {
    struct call *call; /* NULL once it has ended. */
    struct api_loop *loop;
    enum fetch_state state;
    bool may_wait;          /* The deadline has not come and the client is there. */
    uint64_t waiting_bytes; /* By rule 4, while it waits. */
    int64_t max_bytes, min_bytes;
    struct timer deadline;
    struct message wake; /* From partitions. */
    struct job job;
    struct message evaluated; /* From the pool. */
    unsigned part_count;
    struct fetch_part *parts;
    struct fetch_response response;
};

static void go_on(struct fetch_call *fetch);

/* ---- reading ---- */

/* Nothing is left of them: a fetch that is abandoned while it waits is answered without records. */
static void release_reads(struct fetch_call *fetch)
{
    for (unsigned i = 0; i < fetch->part_count; i++)
        partition_read_release(&fetch->parts[i].read);
}

struct fetch_result {
    int64_t bytes;
    bool needs_io;
    bool must_answer; /* An error or a divergence: the client must hear of it now. */
};

static void read_part(struct fetch_part *part, int64_t left, bool is_first, bool may_block)
{
    int64_t max_bytes = part->max_bytes < left ? part->max_bytes : left;
    part->read.max_bytes = max_bytes < 0 ? 0 : (size_t)max_bytes;
    /* KIP-74: the first batch of the first partition that has one goes out whole. */
    part->read.at_least_one = is_first;
    part->read.may_block = may_block;
    partition_read(part->partition, &part->read);
}

/* A partition that is still opening will have its records: wait as for any other. */
static bool must_be_told(const struct fetch_part *part)
{
    if (part->err != 0 || part->read.has_diverged) return true;
    return part->read.err != 0 && part->read.err != ERR_LEADER_NOT_AVAILABLE;
}

/* Reads all partitions, in the client's order. Runs on the loop, or on the pool with `may_block`. */
static struct fetch_result read_all(struct fetch_call *fetch, bool may_block)
{
    struct fetch_result result = { 0 };
    for (unsigned i = 0; i < fetch->part_count; i++) {
        struct fetch_part *part = &fetch->parts[i];
        if (part->err != 0) {
            result.must_answer = true;
            continue;
        }
        read_part(part, fetch->max_bytes - result.bytes, result.bytes == 0, may_block);
        if (part->read.err == ERR_NEEDS_IO) {
            result.needs_io = true;
            break;
        }
        result.bytes += (int64_t)part->read.slice.length;
        if (must_be_told(part)) result.must_answer = true;
    }
    return result;
}

/* ---- the answer ---- */

static void free_fetch(struct fetch_call *fetch)
{
    release_reads(fetch);
    for (unsigned i = 0; i < fetch->part_count; i++)
        partition_unref(fetch->parts[i].partition);
    mem_free(fetch->parts);
    mem_free(fetch);
}

static bool may_wait_with_others(const struct fetch_call *fetch)
{
    uint64_t most = fetch->loop->api->options.waiting_fetch_bytes;
    return fetch->part_count <= FEW_PARTS ||
           fetch->loop->waiting_bytes + fetch->waiting_bytes <= most;
}

static void stop_waiting(struct fetch_call *fetch)
{
    fetch->loop->waiting_bytes -= fetch->waiting_bytes;
    timer_cancel(fetch->loop->loop, &fetch->deadline);
    for (unsigned i = 0; i < fetch->part_count; i++)
        if (fetch->parts[i].partition != NULL)
            partition_stop_waiting(fetch->parts[i].partition, &fetch->parts[i].waiter);
}

/* Rule 1. The waiters are off, so no new wake can come. */
static void free_if_quiet(struct fetch_call *fetch)
{
    if (!atomic_load(&fetch->wake.queued)) free_fetch(fetch);
}

static void answer_part(struct fetch_part *part, int16_t version)
{
    struct fetch_response_partition *answer = part->answer;
    const struct partition_read *read = &part->read;
    int err = part->err != 0 ? part->err : read->err;
    /* Still opening: of the codes that consumers know here, the one that lets all of them ask again. */
    if (err == ERR_LEADER_NOT_AVAILABLE) err = ERR_NOT_LEADER_OR_FOLLOWER;
    answer->error_code = error_kafka_code(err);
    answer->high_watermark = -1;
    answer->records = (struct records){ (const uint8_t *)"", 0, NULL };
    if (part->partition == NULL) return;
    if (err == 0) {
        answer->high_watermark = read->high_watermark;
        answer->last_stable_offset = read->last_stable_offset;
        answer->log_start_offset = read->log_start_offset;
    }
    if (read->has_diverged && version >= 12) {
        answer->diverging_epoch.epoch = read->diverging_epoch;
        answer->diverging_epoch.end_offset = read->diverging_end;
    }
    /* KIP-951 */
    if (version >= 12 && (err == ERR_NOT_LEADER_OR_FOLLOWER || err == ERR_FENCED_LEADER_EPOCH)) {
        answer->current_leader.leader_id = read->leader;
        answer->current_leader.leader_epoch = read->leader_epoch;
    }
}

/* A reader of committed records is given a list, also an empty one. */
static int tell_aborted(struct fetch_call *fetch, struct fetch_part *part)
{
    const struct aborted_list *aborted = &part->read.aborted;
    struct fetch_response_aborted_transaction *told;
    if (part->answer->error_code != 0 || !part->read.read_committed) return 0;
    told = arena_calloc(&fetch->call->arena, aborted->count + 1, sizeof *told);
    if (told == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < aborted->count; i++)
        told[i] = (struct fetch_response_aborted_transaction){ aborted->items[i].producer_id,
                                                               aborted->items[i].first_offset };
    part->answer->aborted_transactions.items = told;
    part->answer->aborted_transactions.count = (int32_t)aborted->count;
    return 0;
}

struct slice_owner {
    struct file_slice slice;
};

static void release_moved(void *owner)
{
    file_slice_release(&((struct slice_owner *)owner)->slice);
}

/* Records leave as slices of the segment (DESIGN 3.2), which belong to the call from here on. */
static int attach_records(struct fetch_call *fetch, struct fetch_part *part)
{
    struct file_slice *slice = &part->read.slice;
    struct arena *arena = &fetch->call->arena;
    struct slice_owner *moved = arena_alloc(arena, sizeof *moved);
    if (moved == NULL) return ERR_NO_MEMORY;
    moved->slice = *slice;
    int err = arena_adopt(arena, moved, 0, release_moved);
    if (err != 0) return err;
    slice->release = NULL;
    part->answer->records = (struct records){ NULL, (int32_t)moved->slice.length, &moved->slice };
    return 0;
}

static unsigned endpoints_of_leaders(struct fetch_call *fetch, struct node_endpoint *endpoint)
{
    for (unsigned i = 0; i < fetch->part_count; i++) {
        const struct fetch_part *part = &fetch->parts[i];
        if (part->answer->current_leader.leader_id >= 0)
            return api_leader_endpoint(fetch->call, part->answer->current_leader.leader_id,
                                       endpoint);
    }
    return 0;
}

static void finish(struct fetch_call *fetch)
{
    struct call *call = fetch->call;
    fetch->state = FETCH_FINISHED;
    int err = 0;
    for (unsigned i = 0; err == 0 && i < fetch->part_count; i++) {
        struct fetch_part *part = &fetch->parts[i];
        answer_part(part, call->api_version);
        err = tell_aborted(fetch, part);
        if (err == 0 && part->read.slice.length > 0) err = attach_records(fetch, part);
    }
    struct node_endpoint endpoint;
    if (err == 0 && call->api_version >= 16) {
        fetch->response.node_endpoints.count = (int32_t)endpoints_of_leaders(fetch, &endpoint);
        fetch->response.node_endpoints.items = &endpoint;
    }
    call->abandoned = NULL;
    if (err == 0)
        api_reply(call, &fetch_response_shape, &fetch->response);
    else
        call_refuse(call, error_text(err));
    fetch->call = NULL;
    free_if_quiet(fetch);
}

/* ---- waiting ---- */

static void woken(struct message *message)
{
    struct fetch_call *fetch = LIST_OWNER(message, struct fetch_call, wake);
    if (fetch->state == FETCH_FINISHED) {
        free_if_quiet(fetch);
        return;
    }
    if (fetch->state != FETCH_WAITING) return; /* It is looking anyway. */
    stop_waiting(fetch);
    go_on(fetch);
}

static void deadline_came(struct timer *timer)
{
    struct fetch_call *fetch = LIST_OWNER(timer, struct fetch_call, deadline);
    fetch->may_wait = false;
    if (fetch->state != FETCH_WAITING) return;
    stop_waiting(fetch);
    go_on(fetch);
}

/* The connection is gone, or the broker stops: there is no reason to wait any longer. */
static void abandoned(struct call *call)
{
    struct fetch_call *fetch = call->context;
    fetch->may_wait = false;
    if (fetch->state != FETCH_WAITING) return;
    stop_waiting(fetch);
    finish(fetch);
}

/* False if something came while the waiters were being registered: look again. */
static bool wait_for_more(struct fetch_call *fetch)
{
    fetch->state = FETCH_WAITING;
    fetch->loop->waiting_bytes += fetch->waiting_bytes;
    for (unsigned i = 0; i < fetch->part_count; i++) {
        struct fetch_part *part = &fetch->parts[i];
        part->waiter.loop = fetch->loop->loop;
        part->waiter.wake = &fetch->wake;
        /* For more than was visible then: that was not enough, or is nothing but a hole. */
        int64_t behind = part->read.read_committed ? part->read.last_stable_offset
                                                   : part->read.high_watermark;
        if (behind < part->read.from_offset) behind = part->read.from_offset;
        if (!partition_wait(part->partition, &part->waiter, behind, part->read.read_committed)) {
            for (unsigned k = 0; k < i; k++)
                partition_stop_waiting(fetch->parts[k].partition, &fetch->parts[k].waiter);
            fetch->state = FETCH_ON_LOOP;
            fetch->loop->waiting_bytes -= fetch->waiting_bytes;
            return false;
        }
    }
    return true;
}

static void decide(struct fetch_call *fetch, struct fetch_result result);

static void run_on_pool(struct job *job)
{
    struct fetch_call *fetch = LIST_OWNER(job, struct fetch_call, job);
    release_reads(fetch);
    (void)read_all(fetch, true);
    loop_post(fetch->loop->loop, &fetch->evaluated);
}

static void pool_has_evaluated(struct message *message)
{
    struct fetch_call *fetch = LIST_OWNER(message, struct fetch_call, evaluated);
    struct fetch_result result = { 0 };
    fetch->state = FETCH_ON_LOOP;
    for (unsigned i = 0; i < fetch->part_count; i++) {
        const struct fetch_part *part = &fetch->parts[i];
        result.bytes += (int64_t)part->read.slice.length;
        if (must_be_told(part)) result.must_answer = true;
    }
    decide(fetch, result);
}

static void decide(struct fetch_call *fetch, struct fetch_result result)
{
    if (result.needs_io) {
        fetch->state = FETCH_ON_POOL;
        executor_submit(fetch->loop->api->options.disk, &fetch->job);
        return;
    }
    bool is_enough = result.bytes >= fetch->min_bytes || fetch->part_count == 0;
    if (result.must_answer || is_enough || !fetch->may_wait || !may_wait_with_others(fetch)) {
        timer_cancel(fetch->loop->loop, &fetch->deadline);
        finish(fetch);
        return;
    }
    if (wait_for_more(fetch))
        release_reads(fetch); /* They are read again; the segment need not be held meanwhile. */
    else
        go_on(fetch);
}

static void go_on(struct fetch_call *fetch)
{
    fetch->state = FETCH_ON_LOOP;
    release_reads(fetch);
    decide(fetch, read_all(fetch, false));
}

/* ---- the request ---- */

static int find_part(struct api_loop *loop, int16_t version,
                     const struct fetch_request_topic *wanted, int32_t index,
                     struct partition **partition)
{
    bool by_id = version >= 13; /* KIP-516 */
    const struct meta_topic *topic = by_id ? meta_view_topic_by_id(loop->view, &wanted->topic_id)
                                           : meta_view_topic(loop->view, wanted->topic);
    if (topic == NULL) return by_id ? ERR_UNKNOWN_TOPIC_ID : ERR_UNKNOWN_TOPIC_OR_PARTITION;
    if (index < 0 || (unsigned)index >= topic->partition_count)
        return ERR_UNKNOWN_TOPIC_OR_PARTITION;
    struct api_partition *known = api_find_partition(loop, &topic->id, index);
    if (known == NULL) return ERR_NOT_LEADER_OR_FOLLOWER;
    /* Every wake looks at all parts: one partition named a million times would make each append cost
     * a million reads. */
    if (known->last_fetch == loop->fetches) return ERR_INVALID_REQUEST;
    known->last_fetch = loop->fetches;
    *partition = partition_ref(known->partition);
    return 0;
}

static void begin_part(struct fetch_call *fetch, struct fetch_part *part,
                       const struct fetch_request *request, const struct fetch_request_topic *topic,
                       const struct fetch_request_partition *wanted)
{
    bool is_follower = request->replica_id >= 0 || request->replica_state.replica_id >= 0;
    list_init(&part->waiter.node);
    part->max_bytes = wanted->partition_max_bytes;
    part->read.from_offset = wanted->fetch_offset;
    part->read.current_leader_epoch = wanted->current_leader_epoch;
    part->read.last_fetched_epoch = wanted->last_fetched_epoch;
    part->read.read_committed = request->isolation_level == 1;
    /* A forged replica fetch would move the high watermark: only our own brokers may (DESIGN 3.4). */
    if (is_follower)
        part->err = ERR_TOPIC_AUTHORIZATION_FAILED;
    else
        part->err = find_part(fetch->loop, fetch->call->api_version, topic, wanted->partition,
                              &part->partition);
}

static int prepare_answer(struct fetch_call *fetch, const struct fetch_request *request)
{
    struct arena *arena = &fetch->call->arena;
    struct fetch_response_topic *topics = arena_calloc(arena, (size_t)request->topics.count + 1,
                                                       sizeof *topics);
    struct fetch_response_partition *answers = arena_calloc(arena, fetch->part_count + 1u,
                                                            sizeof *answers);
    if (topics == NULL || answers == NULL) return ERR_NO_MEMORY;
    message_defaults(&fetch_response_shape, &fetch->response);
    fetch->response.responses.items = topics;
    fetch->response.responses.count = request->topics.count;
    unsigned next = 0;
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct fetch_request_topic *wanted = &request->topics.items[i];
        topics[i].topic = wanted->topic;
        topics[i].topic_id = wanted->topic_id;
        topics[i].partitions.items = &answers[next];
        topics[i].partitions.count = wanted->partitions.count;
        for (int32_t k = 0; k < wanted->partitions.count; k++, next++) {
            struct fetch_response_partition *answer = &answers[next];
            answer->partition_index = wanted->partitions.items[k].partition;
            answer->last_stable_offset = answer->log_start_offset = -1;
            answer->diverging_epoch = (struct fetch_response_diverging_epoch){ -1, -1 };
            answer->current_leader = (struct leader_id_and_epoch){ -1, -1 };
            answer->snapshot_id = (struct fetch_response_snapshot_id){ -1, -1 };
            answer->aborted_transactions.count = -1;
            answer->preferred_read_replica = -1;
            fetch->parts[next].answer = answer;
        }
    }
    return 0;
}

static struct fetch_call *prepare(struct api_loop *loop, struct call *call,
                                  const struct fetch_request *request)
{
    unsigned part_count = 0;
    for (int32_t i = 0; i < request->topics.count; i++)
        part_count += (unsigned)request->topics.items[i].partitions.count;
    struct fetch_call *fetch = mem_zalloc(sizeof *fetch);
    if (fetch == NULL) return NULL;
    fetch->call = call;
    fetch->loop = loop;
    fetch->part_count = part_count;
    fetch->parts = mem_calloc(part_count + 1u, sizeof *fetch->parts);
    if (fetch->parts == NULL || prepare_answer(fetch, request) != 0) {
        mem_free(fetch->parts);
        mem_free(fetch);
        return NULL;
    }
    int32_t largest = loop->api->options.fetch_max_bytes;
    fetch->max_bytes = request->max_bytes < largest ? request->max_bytes : largest;
    fetch->min_bytes = request->min_bytes < fetch->max_bytes ? request->min_bytes
                                                             : fetch->max_bytes;
    /* A fetch that was held back may come when its connection has closed: nobody would end its wait. */
    fetch->may_wait = request->max_wait_ms > 0 && call->connection != NULL;
    fetch->waiting_bytes = call->arena.used + part_count * sizeof *fetch->parts;
    loop->fetches++;
    timer_init(&fetch->deadline, deadline_came);
    message_init(&fetch->wake, woken);
    message_init(&fetch->evaluated, pool_has_evaluated);
    fetch->job.run = run_on_pool;
    return fetch;
}

static void refuse_session(struct call *call, int err)
{
    struct fetch_response response;
    message_defaults(&fetch_response_shape, &response);
    response.error_code = error_kafka_code(err);
    api_reply(call, &fetch_response_shape, &response);
}

void handle_fetch(struct api_loop *loop, struct call *call, struct fetch_request *request)
{
    /* KIP-227: there are no sessions here, so nobody can be in one. Epoch 0 asks for one and is answered
     * in full with session id 0, "none"; -1 does not want one. */
    if (request->session_epoch > 0) {
        refuse_session(call, ERR_FETCH_SESSION_ID_NOT_FOUND);
        return;
    }
    struct fetch_call *fetch = prepare(loop, call, request);
    if (fetch == NULL) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    unsigned next = 0;
    for (int32_t i = 0; i < request->topics.count; i++)
        for (int32_t k = 0; k < request->topics.items[i].partitions.count; k++)
            begin_part(fetch, &fetch->parts[next++], request, &request->topics.items[i],
                       &request->topics.items[i].partitions.items[k]);
    call->context = fetch;
    call->abandoned = abandoned;
    if (fetch->may_wait) timer_set(loop->loop, &fetch->deadline, request->max_wait_ms);
    go_on(fetch);
}
