// SPDX-License-Identifier: Apache-2.0
#include "net_loop.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "call_box.h"
#include "connection.h"
#include "error.h"
#include "net_state.h"
#include "trace.h"

/* Half-read frames are looked at this often. Those that come too slowly are closed, but only while others wait
 * for the memory that they hold. Without this, a few clients that announce large frames and send
 * nothing would keep all others waiting until they are idle. */
#define LOOK_AT_PROGRESS_MS 1000

#define WAITING_LINE_MS 60000

/* So much in replies that are ready, and the heap is trimmed when they are gone. */
#define MANY_UNSENT_BYTES (16u * 1024 * 1024)
#define TRIM_AFTER_MS     5000

/* Far longer than a burst of usual requests takes. */
#define TURN_US 5000

/* What is under way when the loop closes has this long to be answered, and the answers to be taken.
 * A produce that was appended and not answered is the worst that a stop can do to a client: of each
 * producer only the newest batch is known after a restart, so that a repeated older one looks like
 * a gap (KIP-98). */
#define FAREWELL_MS 2000

/* ---- memory that is not needed any more ---- */

static void run_trim(struct job *job)
{
    mem_trim();
    mem_free(job);
}

/* Many replies of middling sizes leave holes in the heap, which it keeps: a crowd of clients that once asked
 * for much would be seen for ever in what the process has. */
static void net_loop_trim(struct timer *timer)
{
    struct net_loop *net_loop = LIST_OWNER(timer, struct net_loop, trim);
    if (net_loop->unsent_bytes > MANY_UNSENT_BYTES) {
        timer_set(net_loop->base, timer, TRIM_AFTER_MS);
        return;
    }
    net_loop->had_many_unsent = false;
    struct job *job = mem_alloc(sizeof *job); /* Nobody's: it may run after the loop has ended. */
    if (job == NULL) return;
    job_init(job, run_trim);
    executor_submit(net_loop->net->config.disk, job);
}

void net_loop_count_unsent(struct net_loop *net_loop, uint64_t bytes)
{
    net_loop->unsent_bytes += bytes;
    if (net_loop->unsent_bytes <= MANY_UNSENT_BYTES || net_loop->had_many_unsent) return;
    net_loop->had_many_unsent = true;
    if (!net_loop->is_closing) timer_set(net_loop->base, &net_loop->trim, TRIM_AFTER_MS);
}

/* ---- half-read frames, and requests that wait for memory ---- */

static void net_loop_look_at_progress(struct timer *timer)
{
    struct net_loop *net_loop = LIST_OWNER(timer, struct net_loop, progress);
    struct list *node = net_loop->incomplete.next;
    while (node != &net_loop->incomplete) {
        struct connection *connection = LIST_OWNER(node, struct connection, inbox.incomplete);
        node = node->next;
        if (!inbox_look_at_progress(connection))
            connection_fail(connection,
                            "a half-read frame that comes too slowly, while others wait");
    }
    if (!list_is_empty(&net_loop->incomplete)) net_loop_watch_progress(net_loop);
}

void net_loop_watch_progress(struct net_loop *net_loop)
{
    if (timer_is_set(&net_loop->progress)) return;
    timer_set(net_loop->base, &net_loop->progress, LOOK_AT_PROGRESS_MS);
}

void net_loop_tell_waiting(struct net_loop *net_loop)
{
    char others[TRACE_LEFT_OUT_BYTES];
    uint64_t left_out;
    if (!trace_limit_allows(&net_loop->memory_short, 1, WAITING_LINE_MS,
                            loop_now_ms(net_loop->base), &left_out))
        return;
    uint64_t reserved, waiting;
    memory_budget_usage(&net_loop->net->budget, &reserved, &waiting);
    trace(TRACE_WARN, "net",
          "a request waits for memory: others have %" PRIu64 " of %" PRIu64
          " bytes (queued.max.request.bytes), %" PRIu64 " are waited for%s",
          reserved, net_loop->net->config.memory_bytes, waiting, trace_left_out(others, left_out));
}

/* ---- turns ---- */

void net_loop_mark_dirty(struct net_loop *net_loop, struct connection *connection)
{
    if (list_is_empty(&connection->dirty)) list_push_back(&net_loop->dirty, &connection->dirty);
}

static void net_loop_tell_gone(struct net_loop *net_loop)
{
    if (!net_loop->is_closing || net_loop->is_gone_told || net_loop->call_count > 0 ||
        atomic_load_explicit(&net_loop->connections_kept, memory_order_relaxed) > 0)
        return;
    net_loop->is_gone_told = true;
    timer_cancel(net_loop->base, &net_loop->progress);
    timer_cancel(net_loop->base, &net_loop->trim);
    frame_pool_close(&net_loop->frame_pool);
    sem_post(&net_loop->gone);
}

static void net_loop_go_on(struct connection *connection)
{
    connection_hold(connection);
    connection_go_on(connection);
    connection_release(connection);
}

void net_loop_begin_turn(struct net_loop *net_loop)
{
    if (net_loop->turn_began_us < 0)
        net_loop->turn_began_us = clock_monotonic_us(net_loop->net->config.clock);
}

bool net_loop_turn_is_over(const struct net_loop *net_loop)
{
    return net_loop->turn_began_us >= 0 &&
           clock_monotonic_us(net_loop->net->config.clock) - net_loop->turn_began_us >= TURN_US;
}

void net_loop_put_off(struct net_loop *net_loop, struct connection *connection)
{
    if (list_is_empty(&connection->turn))
        list_push_back(&net_loop->waiting_readers, &connection->turn);
}

/* Just before the loop waits for the next event. It ends: nothing is read here, and each
 * connection has only so much aside that it may make others dirty with. */
static void net_loop_before_wait(uv_prepare_t *prepare)
{
    struct net_loop *net_loop = prepare->data;
    struct list *node;
    net_loop->turn_bytes = 0;
    net_loop->turn_began_us = -1;
    while (!net_loop_turn_is_over(net_loop) &&
           (node = list_pop_front(&net_loop->waiting_readers)) != NULL)
        net_loop_go_on(LIST_OWNER(node, struct connection, turn));
    while (net_loop->turn_bytes < LOOP_TURN_BYTES &&
           (node = list_pop_front(&net_loop->waiting_senders)) != NULL)
        net_loop_go_on(LIST_OWNER(node, struct connection, outbox.turn));
    while ((node = list_pop_front(&net_loop->dirty)) != NULL)
        net_loop_go_on(LIST_OWNER(node, struct connection, dirty));
    bool has_readers = !list_is_empty(&net_loop->waiting_readers);
    if (!has_readers) net_loop->turn_began_us = -1; /* The wait is nobody's. */
    if (has_readers || !list_is_empty(&net_loop->waiting_senders))
        loop_post(net_loop->base, &net_loop->again);
    net_loop_tell_gone(net_loop);
}

/* The loop does not wait, since somebody waits for its next turn. */
static void net_loop_turns_again(struct message *again)
{
    (void)again;
}

/* ---- life ---- */

static void net_loop_free(struct net_loop *net_loop)
{
    mem_free(net_loop->read_buffer);
    mem_free(net_loop->write_buffer);
    sem_destroy(&net_loop->gone);
    mem_free(net_loop);
}

int net_loop_open(struct net_loop **net_loop, struct net *net, unsigned index)
{
    struct net_loop *fresh = mem_zalloc(sizeof *fresh);
    if (fresh == NULL) return ERR_NO_MEMORY;
    fresh->net = net;
    fresh->index = index;
    list_init(&fresh->connections);
    list_init(&fresh->dirty);
    list_init(&fresh->incomplete);
    list_init(&fresh->spare_calls);
    list_init(&fresh->waiting_senders);
    list_init(&fresh->waiting_readers);
    fresh->turn_began_us = -1;
    message_init(&fresh->again, net_loop_turns_again);
    timer_init(&fresh->progress, net_loop_look_at_progress);
    timer_init(&fresh->trim, net_loop_trim);
    sem_init(&fresh->gone, 0, 0);

    char name[16];
    snprintf(name, sizeof name, "loop-%u", index);
    fresh->read_buffer = mem_alloc(READ_BUFFER_BYTES);
    fresh->write_buffer = mem_alloc(WRITE_BUFFER_BYTES);
    int err = fresh->read_buffer == NULL || fresh->write_buffer == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = loop_open(&fresh->base, name, net->config.clock);
    if (err != 0) {
        net_loop_free(fresh);
        return err;
    }
    frame_pool_init(&fresh->frame_pool, fresh->base);
    uv_prepare_init(loop_uv(fresh->base), &fresh->before_wait);
    fresh->before_wait.data = fresh;
    uv_prepare_start(&fresh->before_wait, net_loop_before_wait);
    *net_loop = fresh;
    return 0;
}

void net_loop_close_connections(struct net_loop *net_loop)
{
    struct list *connections = &net_loop->connections;
    net_loop->is_closing = true;
    net_loop->closing_until_ms = loop_now_ms(net_loop->base) + FAREWELL_MS;
    /* None of them closes here: that is left to net_loop_before_wait(). */
    for (struct list *node = connections->next; node != connections; node = node->next)
        connection_dismiss(LIST_OWNER(node, struct connection, node));
}

void net_loop_close(struct net_loop *net_loop)
{
    if (net_loop == NULL) return;
    loop_close(net_loop->base);
    call_box_free_spares(net_loop);
    net_loop_free(net_loop);
}

/* ---- errands ---- */

struct errand {
    struct message message;
    struct net_loop *net_loop;
    void (*run)(struct net_loop *net_loop, void *with);
    void *with;
    sem_t done;
};

static void errand_run(struct message *message)
{
    struct errand *errand = LIST_OWNER(message, struct errand, message);
    errand->run(errand->net_loop, errand->with);
    sem_post(&errand->done);
}

void net_loop_errand(struct net_loop *net_loop, void (*run)(struct net_loop *net_loop, void *with),
                     void *with)
{
    if (!net_loop->has_thread || loop_is_current(net_loop->base)) {
        run(net_loop, with);
        return;
    }
    struct errand errand = { .net_loop = net_loop, .run = run, .with = with };
    message_init(&errand.message, errand_run);
    sem_init(&errand.done, 0, 0);
    loop_post(net_loop->base, &errand.message);
    while (sem_wait(&errand.done) != 0 && errno == EINTR)
        ;
    sem_destroy(&errand.done);
}

/* ---- what the server may ask ---- */

void net_loop_stats(const struct net_loop *net_loop, struct net_loop_stats *stats)
{
    *stats = (struct net_loop_stats){
        .connections_open = atomic_load_explicit(&net_loop->connections_open, memory_order_relaxed),
        .frames = counter_read(&net_loop->frames),
        .bytes_in = counter_read(&net_loop->bytes_in),
        .bytes_out = counter_read(&net_loop->bytes_out),
    };
}

struct loop *net_loop_base(struct net_loop *net_loop)
{
    return net_loop->base;
}

unsigned net_loop_index(const struct net_loop *net_loop)
{
    return net_loop->index;
}

void *net_loop_context(const struct net_loop *net_loop)
{
    return net_loop->context;
}

void net_loop_set_context(struct net_loop *net_loop, void *context)
{
    net_loop->context = context;
}
