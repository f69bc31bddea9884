// SPDX-License-Identifier: Apache-2.0
/* Time, through a seam that a test can move. */

#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

struct clock {
    int64_t (*wall_ms)(struct clock *clock);      /* Since 1970, UTC; may jump. */
    int64_t (*monotonic_us)(struct clock *clock); /* Never goes back. */
};

/* The machine's own clock. Any thread. */
struct clock *clock_real(void);

static inline int64_t clock_wall_ms(struct clock *clock)
{
    return clock->wall_ms(clock);
}

static inline int64_t clock_monotonic_us(struct clock *clock)
{
    return clock->monotonic_us(clock);
}

/* A clock for tests that stands still until it is moved. Any thread may read it. */
struct clock_manual {
    struct clock clock;
    _Atomic int64_t wall_ms;
    _Atomic int64_t monotonic_us;
};
void clock_manual_init(struct clock_manual *manual, int64_t wall_ms);
void clock_manual_advance_ms(struct clock_manual *manual, int64_t ms);

#endif
