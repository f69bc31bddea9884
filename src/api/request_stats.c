// SPDX-License-Identifier: Apache-2.0
#include "request_stats.h"

_Static_assert(REQUEST_KINDS <= 64, "burst_kinds has a bit for each");

int64_t request_stats_begin(struct request_stats *stats, struct clock *clock)
{
    if (stats->burst_begun_us == 0) {
        for (uint64_t kinds = stats->burst_kinds; kinds != 0; kinds &= kinds - 1)
            stats->burst_ended[__builtin_ctzll(kinds)] = 0;
        stats->burst_kinds = 0;
        stats->burst_begun_us = clock_monotonic_us(clock);
    }
    return stats->burst_begun_us;
}

int64_t request_stats_end(struct request_stats *stats, unsigned kind, int64_t begun_us,
                          bool is_refused, struct clock *clock)
{
    if (is_refused) counter_add(&stats->refused[kind], 1);
    if (begun_us == stats->burst_begun_us) {
        stats->burst_ended[kind]++;
        stats->burst_kinds |= UINT64_C(1) << kind;
        return -1;
    }
    int64_t duration_us = clock_monotonic_us(clock) - begun_us;
    histogram_add(&stats->durations[kind], duration_us, 1);
    return duration_us;
}

int64_t request_stats_end_burst(struct request_stats *stats, struct clock *clock)
{
    if (stats->burst_begun_us == 0) return 0;
    int64_t duration_us = clock_monotonic_us(clock) - stats->burst_begun_us;
    for (uint64_t kinds = stats->burst_kinds; kinds != 0; kinds &= kinds - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(kinds);
        histogram_add(&stats->durations[kind], duration_us, stats->burst_ended[kind]);
    }
    stats->burst_begun_us = 0;
    return duration_us;
}
