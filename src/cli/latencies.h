// SPDX-License-Identifier: Apache-2.0
/* Durations, counted so that any percentile of any number of them can be told, 1 % off at most.
 *
 * The buckets of base's histogram, made for a monitor that gathers them, are too wide for that. */

#ifndef CLI_LATENCIES_H
#define CLI_LATENCIES_H

#include <stdint.h>

/* Up to 255 each value has a bucket; above, each power of two has 128. */
#define LATENCY_BUCKETS (256 + (62 - 7) * 128)

struct latencies {
    uint64_t count;
    int64_t sum, max;
    uint64_t buckets[LATENCY_BUCKETS];
};

/* `*latencies` is all zero before the first. Any unit; negative counts as 0. */
void latencies_add(struct latencies *latencies, int64_t duration);

/* What `permille` of a thousand did not exceed; 0 if there were none. */
int64_t latencies_percentile(const struct latencies *latencies, unsigned permille);

#endif
