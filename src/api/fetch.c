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
 *      together and no more (DESIGN 2.4); who comes then is answered with what there is.
 *  (5) Within a session (KIP-227) the parts are the session's and not the request's, and of the answers
 *      only those leave that are news. A part's `cached` is the session's while the epoch is this
 *      request's, which fetch_session_lock() asks.
 *  (6) Of a partition that is named again the last wish counts, in the place of the first, as in Kafka. And
 *      as there, what is not there is told behind all others, and ends no wait of theirs. */

#include "alloc.h"
#include "error.h"
#include "fetch_call.h"
#include "handlers.h"

/* Up to this many partitions a fetch is counted with its call. */
#define FEW_PARTS 16

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
    if (part->read.has_diverged) return true;
    return part->read.err != 0 && part->read.err != ERR_LEADER_NOT_AVAILABLE;
}

/* Reads all partitions, in the client's order. Runs on the loop, or on the pool with `may_block`. */
static struct fetch_result read_all(struct fetch_call *fetch, bool may_block)
{
    struct fetch_result result = { 0 };
    for (unsigned i = 0; i < fetch->part_count; i++) {
        struct fetch_part *part = &fetch->parts[i];
        if (part->partition == NULL) continue;
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
    fetch_session_unref(fetch->session);
    mem_free(fetch->parts);
    mem_free(fetch);
}

static bool may_wait_with_others(const struct fetch_call *fetch)
{
    const struct api *api = fetch->loop->api;
    uint64_t most = api->options.waiting_fetch_bytes /
                    atomic_load_explicit(&api->loop_count, memory_order_relaxed);
    return fetch->part_count <= FEW_PARTS ||
           fetch->loop->waiting_bytes + fetch->waiting_bytes <= most;
}

/* Of the first `count` partitions. */
static void stop_waiters(struct fetch_call *fetch, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (fetch->parts[i].partition != NULL)
            partition_stop_waiting(fetch->parts[i].partition, &fetch->parts[i].waiter);
}

static void stop_waiting(struct fetch_call *fetch)
{
    fetch->loop->waiting_bytes -= fetch->waiting_bytes;
    stop_waiters(fetch, fetch->part_count);
}

/* Rule 1. The waiters are off, so no new wake can come. */
static void free_if_quiet(struct fetch_call *fetch)
{
    if (!atomic_load(&fetch->wake.queued)) free_fetch(fetch);
}

static void finish(struct fetch_call *fetch)
{
    struct call *call = fetch->call;
    fetch->state = FETCH_FINISHED;
    timer_cancel(fetch->loop->loop, &fetch->deadline);
    int err = fetch_build_response(fetch);
    call->abandoned = NULL;
    if (err == 0)
        api_reply(call, &fetch_response_shape, &fetch->response);
    else
        call_refuse(call, error_text(err));
    fetch->call = NULL;
    free_if_quiet(fetch);
}

/* ---- waiting ---- */

/* What woke it may not be enough: then it waits again, for what is left of its time. */
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
        if (part->partition == NULL) continue;
        part->waiter.loop = fetch->loop->loop;
        part->waiter.wake = &fetch->wake;
        /* For more than was visible then: that was not enough, or is nothing but a hole. */
        int64_t behind = part->read.read_committed ? part->read.last_stable_offset
                                                   : part->read.high_watermark;
        if (behind < part->read.from_offset) behind = part->read.from_offset;
        if (!partition_wait(part->partition, &part->waiter, behind, part->read.read_committed)) {
            stop_waiters(fetch, i);
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

static bool has_parts_to_read(const struct fetch_call *fetch)
{
    for (unsigned i = 0; i < fetch->part_count; i++)
        if (fetch->parts[i].partition != NULL) return true;
    return false;
}

static void decide(struct fetch_call *fetch, struct fetch_result result)
{
    if (result.needs_io) {
        fetch->state = FETCH_ON_POOL;
        executor_submit(fetch->loop->api->options.disk, &fetch->job);
        return;
    }
    bool is_enough = result.bytes >= fetch->min_bytes || !has_parts_to_read(fetch);
    if (result.must_answer || is_enough || !fetch->may_wait || !may_wait_with_others(fetch)) {
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

static struct fetch_call *fetch_new(struct api_loop *loop, struct call *call,
                                    const struct fetch_request *request)
{
    struct fetch_call *fetch = mem_zalloc(sizeof *fetch);
    if (fetch == NULL) return NULL;
    fetch->call = call;
    fetch->loop = loop;
    fetch->request = request;
    fetch->is_follower = request->replica_id >= 0 || request->replica_state.replica_id >= 0;
    int32_t largest = loop->api->options.fetch_max_bytes;
    fetch->max_bytes = request->max_bytes < largest ? request->max_bytes : largest;
    fetch->min_bytes = request->min_bytes < fetch->max_bytes ? request->min_bytes
                                                             : fetch->max_bytes;
    /* A fetch that was held back may come when its connection has closed: nobody would end its wait. */
    fetch->may_wait = request->max_wait_ms > 0 && call->connection != NULL;
    loop->fetches++;
    timer_init(&fetch->deadline, deadline_came);
    message_init(&fetch->wake, woken);
    message_init(&fetch->evaluated, pool_has_evaluated);
    job_init(&fetch->job, run_on_pool);
    fetch->job.is_urgent = true;
    message_defaults(&fetch_response_shape, &fetch->response);
    return fetch;
}

/* Takes the reference to the session, which is locked until then; NULL: the request stands for itself. */
static struct fetch_call *prepare(struct api_loop *loop, struct call *call,
                                  const struct fetch_request *request,
                                  struct fetch_session *session)
{
    struct fetch_call *fetch = fetch_new(loop, call, request);
    int err = fetch == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) fetch->session = session;
    if (err == 0)
        err = session == NULL ? fetch_parts_requested(fetch) : fetch_parts_of_session(fetch);
    if (session != NULL) fetch_session_unlock(session);
    if (err == 0) return fetch;
    if (fetch == NULL)
        fetch_session_unref(session);
    else
        free_fetch(fetch);
    return NULL;
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
    struct fetch_sessions *sessions = loop->api->options.fetch_sessions;
    struct fetch_session *session = NULL;
    if (!fetch_request_is_full(request)) {
        int err = fetch_session_begin(sessions, request, call->api_version, &session);
        if (err != 0) {
            refuse_session(call, err);
            return;
        }
    } else if (request->session_id != 0) {
        fetch_sessions_remove(sessions, request->session_id);
    }
    struct fetch_call *fetch = prepare(loop, call, request, session);
    if (fetch == NULL) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    call->context = fetch;
    call->abandoned = abandoned;
    if (fetch->may_wait) call->may_wait_ms = request->max_wait_ms;
    if (fetch->may_wait) timer_set(loop->loop, &fetch->deadline, request->max_wait_ms);
    go_on(fetch);
}
