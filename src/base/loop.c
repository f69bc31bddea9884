// SPDX-License-Identifier: Apache-2.0
/* A turn of the loop is: poll, callbacks and messages, due timers, the wheel's next alarm.
 *
 *  (1) Time is read at the first question after the poll returned, and kept for the turn. Read before
 *      the poll it would be as old as the poll was long, and timers set from it would be early.
 *  (2) The wheel is moved in uv_check, which runs after every poll, by the loop's own clock. The
 *      uv_timer only ends the poll in time; when it runs, its work is done already.
 *  (3) The uv_timer is set in uv_prepare, just before the poll, once for all changes of the turn. libuv
 *      runs the prepare callback that was started first last: a timer that another one sets counts.
 *  (4) The mailbox is a stack that posters push to and the loop takes whole. Who finds it empty wakes
 *      the loop; who does not knows that somebody did, and that the loop has not taken it since.
 *  (5) A loop that posts to itself is awake. Its uv_idle runs before the next poll and delivers: that
 *      takes no system call, where uv_async takes two. */

#include "loop.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "wheel.h"

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_idle_t own_mail; /* Active while (5) owes a delivery. */
    uv_timer_t alarm;
    uv_prepare_t before_poll;
    uv_check_t after_poll;

    struct clock *clock;
    int64_t now_us;     /* By (1). */
    bool is_time_known; /* now_us was read in this turn. */

    struct wheel wheel;
    int64_t alarm_ms; /* The deadline that the alarm is set for; INT64_MAX: it is not. */

    _Atomic(struct message *) mail; /* The last one posted; they are linked backwards. */
    struct mailbox mailbox;
    atomic_bool is_stopping;
    bool is_closing; /* The handles are going: nothing may be started any more. */

    bool has_thread;
    pthread_t thread;
    char name[16]; /* What the system allows for a thread. */
};

static _Thread_local struct loop *current_loop;

/* ---- time ---- */

static int64_t loop_now_us(struct loop *loop)
{
    /* Between the turns of a test there is no turn to keep the time for. */
    if (!loop_is_current(loop)) return clock_monotonic_us(loop->clock);
    if (!loop->is_time_known) {
        loop->now_us = clock_monotonic_us(loop->clock);
        loop->is_time_known = true;
    }
    return loop->now_us;
}

int64_t loop_now_ms(const struct loop *loop)
{
    return loop_now_us((struct loop *)loop) / 1000; /* Asking changes nothing that can be seen. */
}

/* ---- timers ---- */

void timer_init(struct timer *timer, void (*fire)(struct timer *timer))
{
    list_init(&timer->node);
    timer->deadline_ms = 0;
    timer->fire = fire;
}

void timer_set(struct loop *loop, struct timer *timer, int64_t delay_ms)
{
    timer_cancel(loop, timer);
    /* Rounded up: a deadline in the millisecond that has begun already would be early. */
    int64_t from_ms = (loop_now_us(loop) + 999) / 1000;
    if (delay_ms < 0) delay_ms = 0;
    timer->deadline_ms = delay_ms > INT64_MAX - from_ms ? INT64_MAX : from_ms + delay_ms;
    wheel_add(&loop->wheel, timer);
}

void timer_cancel(struct loop *loop, struct timer *timer)
{
    if (timer_is_set(timer)) wheel_remove(&loop->wheel, timer);
}

bool timer_is_set(const struct timer *timer)
{
    return !list_is_empty(&timer->node);
}

static void loop_fire_timers(struct loop *loop)
{
    int64_t next_ms = wheel_next_ms(&loop->wheel);
    if (next_ms == INT64_MAX || next_ms > loop_now_ms(loop)) return;
    uv_timer_stop(&loop->alarm);
    loop->alarm_ms = INT64_MAX;

    /* Taken out first: a timer that is set again for now waits for the next turn. */
    struct list due;
    struct list *node;
    list_init(&due);
    wheel_advance(&loop->wheel, loop_now_ms(loop), &due);
    while ((node = list_pop_front(&due)) != NULL) {
        struct timer *timer = LIST_OWNER(node, struct timer, node);
        timer->fire(timer);
    }
}

/* By (2) there is nothing to fire. The wheel may still need an alarm: libuv's clock is coarser. */
static void loop_on_alarm(uv_timer_t *alarm)
{
    ((struct loop *)alarm->data)->alarm_ms = INT64_MAX;
}

static void loop_set_alarm(struct loop *loop)
{
    int64_t next_ms = wheel_next_ms(&loop->wheel);
    if (next_ms == loop->alarm_ms) return;
    loop->alarm_ms = next_ms;
    if (next_ms == INT64_MAX) {
        uv_timer_stop(&loop->alarm);
        return;
    }
    /* libuv counts from its own idea of now, which is as old as the turn. */
    uv_update_time(&loop->uv);
    int64_t delay_ms = next_ms - loop_now_ms(loop);
    uv_timer_start(&loop->alarm, loop_on_alarm, delay_ms < 0 ? 0 : (uint64_t)delay_ms, 0);
}

/* ---- turns ---- */

static void loop_before_poll(uv_prepare_t *before_poll)
{
    struct loop *loop = before_poll->data;
    loop->is_time_known = false;
    loop_set_alarm(loop);
    loop->is_time_known = false;
}

static void loop_after_poll(uv_check_t *after_poll)
{
    loop_fire_timers(after_poll->data);
}

static void loop_deliver(struct loop *loop)
{
    uv_idle_stop(&loop->own_mail);
    struct message *newest = atomic_exchange_explicit(&loop->mail, NULL, memory_order_acquire);
    struct message *oldest = NULL;
    while (newest != NULL) {
        struct message *before = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = before;
    }
    while (oldest != NULL) {
        struct message *message = oldest;
        oldest = message->next; /* From here on it may be posted again, or freed. */
        /* Reads what the last poster wrote, so what a coalesced one did before is seen, too. */
        atomic_exchange_explicit(&message->queued, false, memory_order_acq_rel);
        message->deliver(message);
    }
}

static void loop_on_wake(uv_async_t *wake)
{
    struct loop *loop = wake->data;
    /* Asked first: then what its caller posted before is delivered in this turn. */
    bool is_stopping = atomic_exchange(&loop->is_stopping, false);
    loop_deliver(loop);
    if (is_stopping) uv_stop(&loop->uv);
}

static void loop_on_own_mail(uv_idle_t *own_mail)
{
    loop_deliver(own_mail->data);
}

static void loop_run_turns(struct loop *loop, uv_run_mode mode)
{
    struct loop *outer = current_loop;
    current_loop = loop;
    loop->is_time_known = false;
    uv_run(&loop->uv, mode);
    current_loop = outer;
}

/* ---- mailbox ---- */

void loop_post(struct loop *loop, struct message *message)
{
    if (atomic_exchange_explicit(&message->queued, true, memory_order_acq_rel))
        return; /* DESIGN 2.1: later wakes coalesce. */
    struct message *last = atomic_load_explicit(&loop->mail, memory_order_relaxed);
    do
        message->next = last;
    while (!atomic_compare_exchange_weak_explicit(&loop->mail, &last, message, memory_order_release,
                                                  memory_order_relaxed));
    /* The message may be gone already. */
    if (last != NULL) return; /* (4) */
    if (!loop_is_current(loop))
        uv_async_send(&loop->wake);
    else if (!loop->is_closing)
        uv_idle_start(&loop->own_mail, loop_on_own_mail); /* (5) */
}

static void mailbox_to_loop(struct mailbox *mailbox, struct message *message)
{
    loop_post(LIST_OWNER(mailbox, struct loop, mailbox), message);
}

struct mailbox *loop_mailbox(struct loop *loop)
{
    return &loop->mailbox;
}

/* ---- life ---- */

static void loop_close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void loop_close_uv(struct loop *loop)
{
    loop->is_closing = true;
    while (uv_loop_close(&loop->uv) == UV_EBUSY) {
        uv_walk(&loop->uv, loop_close_handle, NULL);
        loop_run_turns(loop, UV_RUN_DEFAULT);
    }
}

/* Everything of libuv's that a loop needs. Only the first two can fail. */
static int loop_open_uv(struct loop *loop)
{
    int uv_err = uv_loop_init(&loop->uv);
    if (uv_err != 0) return uv_err == UV_ENOMEM ? ERR_NO_MEMORY : ERR_IO;
    uv_err = uv_async_init(&loop->uv, &loop->wake, loop_on_wake);
    if (uv_err != 0) {
        loop_close_uv(loop);
        return uv_err == UV_ENOMEM ? ERR_NO_MEMORY : ERR_IO;
    }
    uv_idle_init(&loop->uv, &loop->own_mail);
    uv_timer_init(&loop->uv, &loop->alarm);
    uv_prepare_init(&loop->uv, &loop->before_poll);
    uv_check_init(&loop->uv, &loop->after_poll);
    loop->wake.data = loop->own_mail.data = loop->alarm.data = loop;
    loop->before_poll.data = loop->after_poll.data = loop;
    uv_prepare_start(&loop->before_poll, loop_before_poll);
    uv_check_start(&loop->after_poll, loop_after_poll);
    return 0;
}

int loop_open(struct loop **loop, const char *name, struct clock *clock)
{
    struct loop *fresh = mem_zalloc(sizeof *fresh);
    if (fresh == NULL) return ERR_NO_MEMORY;
    fresh->clock = clock;
    fresh->alarm_ms = INT64_MAX;
    wheel_init(&fresh->wheel, clock_monotonic_us(clock) / 1000);
    atomic_init(&fresh->mail, NULL);
    fresh->mailbox.post = mailbox_to_loop;
    atomic_init(&fresh->is_stopping, false);
    snprintf(fresh->name, sizeof fresh->name, "%s", name);

    int err = loop_open_uv(fresh);
    if (err == 0)
        *loop = fresh;
    else
        mem_free(fresh);
    return err;
}

static void *loop_thread(void *argument)
{
    struct loop *loop = argument;
    pthread_setname_np(pthread_self(), loop->name);
    loop_run(loop);
    return NULL;
}

int loop_start(struct loop *loop)
{
    assert(!loop->has_thread);
    if (pthread_create(&loop->thread, NULL, loop_thread, loop) != 0) return ERR_IO;
    loop->has_thread = true;
    return 0;
}

int loop_run(struct loop *loop)
{
    loop_run_turns(loop, UV_RUN_DEFAULT);
    return 0;
}

void loop_turn(struct loop *loop)
{
    loop_run_turns(loop, UV_RUN_NOWAIT);
}

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->is_stopping, true);
    uv_async_send(&loop->wake);
}

void loop_close(struct loop *loop)
{
    if (loop == NULL) return;
    if (loop->has_thread) pthread_join(loop->thread, NULL);
    loop_close_uv(loop);
    mem_free(loop);
}

uv_loop_t *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

struct clock *loop_clock(struct loop *loop)
{
    return loop->clock;
}

bool loop_is_current(const struct loop *loop)
{
    return current_loop == loop;
}
