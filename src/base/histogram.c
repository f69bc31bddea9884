// SPDX-License-Identifier: Apache-2.0
#include "histogram.h"

const int64_t histogram_bounds_us[HISTOGRAM_BOUNDS] = {
    100,   250,    500,    1000,   2500,    5000,    10000,   25000,
    50000, 100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000,
};

void histogram_add(struct histogram *histogram, int64_t duration_us, uint64_t count)
{
    unsigned at = 0;
    if (duration_us < 0) duration_us = 0;
    while (at < HISTOGRAM_BOUNDS && duration_us > histogram_bounds_us[at])
        at++;
    counter_add(&histogram->buckets[at], count);
    counter_add(&histogram->sum_us, (uint64_t)duration_us * count);
}

void histogram_read(const struct histogram *histogram, struct histogram_sums *sums)
{
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
        sums->buckets[i] += counter_read(&histogram->buckets[i]);
    sums->sum_us += counter_read(&histogram->sum_us);
}
