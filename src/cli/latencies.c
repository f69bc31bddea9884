// SPDX-License-Identifier: Apache-2.0
#include "latencies.h"

/* Values from 2^n on, n at least 8, lie in buckets of 2^(n-7). */
static unsigned bucket_of(uint64_t value)
{
    if (value < 256) return (unsigned)value;
    unsigned log = 63 - (unsigned)__builtin_clzll(value);
    return 256 + (log - 8) * 128 + (unsigned)(value >> (log - 7)) - 128;
}

/* The largest value of a bucket. */
static int64_t bucket_last(unsigned bucket)
{
    if (bucket < 256) return bucket;
    unsigned log = 8 + (bucket - 256) / 128;
    uint64_t first = (uint64_t)(128 + (bucket - 256) % 128) << (log - 7);
    return (int64_t)(first + (UINT64_C(1) << (log - 7)) - 1);
}

void latencies_add(struct latencies *latencies, int64_t duration)
{
    if (duration < 0) duration = 0;
    latencies->buckets[bucket_of((uint64_t)duration)]++;
    latencies->count++;
    latencies->sum += duration;
    if (duration > latencies->max) latencies->max = duration;
}

int64_t latencies_percentile(const struct latencies *latencies, unsigned permille)
{
    /* Rounded up, so that it is one that occurred. */
    uint64_t rank = latencies->count / 1000 * permille +
                    (latencies->count % 1000 * permille + 999) / 1000;
    uint64_t seen = 0;
    if (latencies->count == 0) return 0;
    if (rank == 0) rank = 1;
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latencies->buckets[i];
        if (seen < rank) continue;
        int64_t last = bucket_last(i);
        return last < latencies->max ? last : latencies->max;
    }
    return latencies->max;
}
