// SPDX-License-Identifier: Apache-2.0
/* A thread with a libuv loop, a mailbox and a timer wheel.
 *
 *  (1) Everything that belongs to a loop is touched on its thread only. Others post messages.
 *  (2) A post never blocks and never fails: its node is embedded in whoever waits.
 *  (3) The mailbox is drained in batches, once per turn, woken by one uv_async; what a loop posts to
 *      itself is delivered without it, before the next poll.
 *  (4) A message is delivered once per post. Posting a message that is still queued changes nothing:
 *      later wakes coalesce (DESIGN 2.1).
 *  (5) An idle loop makes no system calls: the wheel arms one uv_timer for its next deadline only (a
 *      distant one takes a few short turns on the way, see wheel.h).
 *  (6) Nothing is delivered after the loop returned from loop_stop(): what was posted before that call
 *      is, what comes later stays with its poster, who may free it once the loop is closed. */

#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "clock.h"
#include "list.h"
#include "message.h"

struct loop;

/* Creates the loop; nothing runs yet, so handles may be prepared on the caller's thread. `name` is
 * the thread's. Returns 0, ERR_NO_MEMORY or ERR_IO. */
int loop_open(struct loop **loop, const char *name, struct clock *clock);

/* Starts the thread. 0 or ERR_IO. */
int loop_start(struct loop *loop);

/* Runs on the caller's thread instead of one of its own, until loop_stop(). */
int loop_run(struct loop *loop);

/* Asks the loop to return from uv_run() after this turn. Any thread, also a signal-safe context via
 * uv_async. */
void loop_stop(struct loop *loop);

/* Waits for the thread (if there is one; loop_stop() is the caller's), closes every handle that is
 * left and runs their close callbacks on the caller's thread, frees. Nobody may post any more, and
 * timers that are still set are never fired. NULL is fine. */
void loop_close(struct loop *loop);

uv_loop_t *loop_uv(struct loop *loop);
struct clock *loop_clock(struct loop *loop);
bool loop_is_current(const struct loop *loop); /* Am I on its thread? */

/* Any thread. Messages posted by one thread are delivered in order. Delivery happens on the loop's
 * thread, in a later turn or later in this one, never inside loop_post(). */
void loop_post(struct loop *loop, struct message *message);
struct mailbox *loop_mailbox(struct loop *loop); /* The same, for those who know no loop. */

/* Monotonic milliseconds, read once per turn: at the first question after the poll returned. */
int64_t loop_now_ms(const struct loop *loop);

/* Timers: millisecond resolution, O(1) to set and cancel, on the loop's thread only. Fired by
 * deadline, those with the same one in the order in which they were set, never before delay_ms has
 * passed since loop_now_ms(). A timer set from a callback for now waits for the next turn. It is no
 * longer set when `fire` is called, which may free it or set it again. A timer must be cancelled
 * before its memory goes away. */
struct timer {
    struct list node;
    int64_t deadline_ms;
    void (*fire)(struct timer *timer);
};
void timer_init(struct timer *timer, void (*fire)(struct timer *timer));
void timer_set(struct loop *loop, struct timer *timer, int64_t delay_ms); /* Re-arms if set. */
void timer_cancel(struct loop *loop, struct timer *timer);                /* Not set is fine. */
bool timer_is_set(const struct timer *timer);

/* Tests: one turn without blocking (delivers messages, fires due timers). */
void loop_turn(struct loop *loop);

#endif
