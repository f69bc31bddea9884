// SPDX-License-Identifier: Apache-2.0
/* How long things took, counted in fixed buckets. One thread adds, any thread reads, as with a counter. */

#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include "counter.h"

#define HISTOGRAM_BOUNDS 16

/* The longest duration that a bucket counts, ascending; the last bucket, behind these, has no bound. */
extern const int64_t histogram_bounds_us[HISTOGRAM_BOUNDS];

struct histogram {
    struct counter buckets[HISTOGRAM_BOUNDS + 1]; /* Each alone: not those below it, too. */
    struct counter sum_us;
};

/* `count` things took so long each. Negative counts as nothing. */
void histogram_add(struct histogram *histogram, int64_t duration_us, uint64_t count);

/* What was read of one or several. */
struct histogram_sums {
    uint64_t buckets[HISTOGRAM_BOUNDS + 1];
    uint64_t sum_us;
};

/* Adds what `histogram` has. A duration that is being added may be in a bucket and not in the sum yet. */
void histogram_read(const struct histogram *histogram, struct histogram_sums *sums);

#endif
