// SPDX-License-Identifier: Apache-2.0
#include "clock.h"

#include <stdatomic.h>
#include <time.h>

static int64_t real_wall_ms(struct clock *clock)
{
    (void)clock;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t real_monotonic_us(struct clock *clock)
{
    (void)clock;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

struct clock *clock_real(void)
{
    static struct clock real = { real_wall_ms, real_monotonic_us };
    return &real;
}

static int64_t manual_wall_ms(struct clock *clock)
{
    return atomic_load(&((struct clock_manual *)clock)->wall_ms);
}

static int64_t manual_monotonic_us(struct clock *clock)
{
    return atomic_load(&((struct clock_manual *)clock)->monotonic_us);
}

void clock_manual_init(struct clock_manual *manual, int64_t wall_ms)
{
    manual->clock = (struct clock){ manual_wall_ms, manual_monotonic_us };
    atomic_init(&manual->wall_ms, wall_ms);
    atomic_init(&manual->monotonic_us, 0);
}

void clock_manual_advance_ms(struct clock_manual *manual, int64_t ms)
{
    atomic_fetch_add(&manual->wall_ms, ms);
    atomic_fetch_add(&manual->monotonic_us, ms * 1000);
}
