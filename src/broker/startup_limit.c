// SPDX-License-Identifier: Apache-2.0
#include "startup_limit.h"

#include <inttypes.h>

#include "trace.h"

int64_t startup_limit_ms(const struct startup_limit *limit)
{
    return (clock_monotonic_us(limit->clock) - limit->started_us) / 1000;
}

static bool is_exceeded(struct startup_limit *limit)
{
    if (startup_limit_ms(limit) < limit->most_ms) return false;
    trace(TRACE_ERROR, "broker",
          "not ready after %" PRId64 " ms, which is all that server.max.startup.time.ms allows",
          limit->most_ms);
    limit->is_over = true;
    limit->exceeded(limit);
    return true;
}

static void time_is_up(struct timer *timer)
{
    struct startup_limit *limit = LIST_OWNER(timer, struct startup_limit, timer);
    if (!limit->is_over) (void)is_exceeded(limit);
}

static void begin(struct message *message)
{
    struct startup_limit *limit = LIST_OWNER(message, struct startup_limit, begin);
    if (!limit->is_over)
        timer_set(limit->loop, &limit->timer, limit->most_ms - startup_limit_ms(limit));
}

void startup_limit_init(struct startup_limit *limit, struct clock *clock, int64_t most_ms,
                        void (*exceeded)(struct startup_limit *limit))
{
    *limit = (struct startup_limit){
        .clock = clock,
        .started_us = clock_monotonic_us(clock),
        .most_ms = most_ms,
        .exceeded = exceeded,
    };
    message_init(&limit->begin, begin);
    timer_init(&limit->timer, time_is_up);
}

void startup_limit_watch(struct startup_limit *limit, struct loop *loop)
{
    limit->loop = loop;
    loop_post(loop, &limit->begin);
}

bool startup_limit_end(struct startup_limit *limit)
{
    if (limit->is_over) return false;
    if (is_exceeded(limit)) return false;
    limit->is_over = true;
    timer_cancel(limit->loop, &limit->timer);
    return true;
}
