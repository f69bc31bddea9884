// SPDX-License-Identifier: Apache-2.0
/* server.max.startup.time.ms: a start that takes longer is given up. On the main loop. */

#ifndef BROKER_STARTUP_LIMIT_H
#define BROKER_STARTUP_LIMIT_H

#include "loop.h"

struct startup_limit {
    struct clock *clock;
    int64_t started_us, most_ms;
    /* It takes too long; one line says so. Not again, and not after startup_limit_end(). */
    void (*exceeded)(struct startup_limit *limit);

    /* Its own: */
    struct loop *loop;
    struct message begin;
    struct timer timer;
    bool is_over;
};

/* The start begins. */
void startup_limit_init(struct startup_limit *limit, struct clock *clock, int64_t most_ms,
                        void (*exceeded)(struct startup_limit *limit));

/* `loop`, which is to run soon, looks after the time. */
void startup_limit_watch(struct startup_limit *limit, struct loop *loop);

/* The broker is ready, or stops before. False: that is too late; then `exceeded` was called. */
bool startup_limit_end(struct startup_limit *limit);

int64_t startup_limit_ms(const struct startup_limit *limit); /* Since the start. */

#endif
