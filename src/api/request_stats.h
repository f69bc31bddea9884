// SPDX-License-Identifier: Apache-2.0
/* How many requests of each API a loop has answered, and how long they took from their arrival until their
 * reply was ready to leave.
 *
 *  (1) A loop's numbers are counted up by that loop alone, and read by anybody.
 *  (2) What comes in one burst and ends in it has come and gone at the same times: so the clock is asked at
 *      both ends of a burst, and each request in between costs one addition.
 *  (3) A request that ends later asks the clock when it ends. */

#ifndef API_REQUEST_STATS_H
#define API_REQUEST_STATS_H

#include <stdbool.h>

#include "api_table.h"
#include "clock.h"
#include "histogram.h"

#define API_ONE(key, name, stem, first, last, told, frame, sequence) +1
enum {
    API_COUNT = 0 API_TABLE(API_ONE),
    API_UNKNOWN = API_COUNT, /* What is no API of ours. */
    REQUEST_KINDS,
};

struct request_stats {
    struct histogram durations[REQUEST_KINDS]; /* Of all that ended, refused ones too. */
    struct counter refused[REQUEST_KINDS];     /* Their connections were closed. */
    /* This burst, by (2), or the last one until there is another: */
    int64_t burst_begun_us;              /* 0: it has ended. */
    uint64_t burst_kinds;                /* Which kinds have ended in it, as bits … */
    uint32_t burst_ended[REQUEST_KINDS]; /* … and how many of each. */
};

/* A request has come; returns when. */
int64_t request_stats_begin(struct request_stats *stats, struct clock *clock);

/* One that came at `begun_us` has ended. Returns how long it took, or -1 if that is known at the end of the
 * burst. */
int64_t request_stats_end(struct request_stats *stats, unsigned kind, int64_t begun_us,
                          bool is_refused, struct clock *clock);

/* The burst has ended. Returns how long it took; 0: there was none. */
int64_t request_stats_end_burst(struct request_stats *stats, struct clock *clock);

#endif
