// SPDX-License-Identifier: Apache-2.0
/* Lines about requests that took too long, at most so many a second: a disk that hangs makes everything slow.
 *
 * What a client asked to wait does not count: a fetch with nothing to fetch is not slow. */

#ifndef API_SLOW_REQUESTS_H
#define API_SLOW_REQUESTS_H

#include <stdint.h>

#include "call.h"
#include "request_stats.h"
#include "trace_limit.h"

#define SLOW_REQUEST_LINES_PER_S 10

/* A loop's; its thread only. All zero is new. */
struct slow_requests {
    struct trace_limit limit;
};

/* One has ended after that long; a line says so if that is `limit_ms` or more. `limit_ms` below 0: never. */
void slow_requests_note(struct slow_requests *slow, const struct call *call, int64_t duration_us,
                        int64_t limit_ms, int64_t now_us);

/* A burst has ended after that long. Which of the requests that ended with it took the time, nobody knows: the
 * line counts them by API. */
void slow_requests_note_burst(struct slow_requests *slow, const struct request_stats *burst,
                              int64_t duration_us, int64_t limit_ms, int64_t now_us);

#endif
