// SPDX-License-Identifier: Apache-2.0
#include "slow_requests.h"

#include <stdbool.h>
#include <stdio.h>

#include "dispatch.h"
#include "trace.h"

static bool is_slow(int64_t duration_us, int64_t limit_ms)
{
    return limit_ms >= 0 && duration_us / 1000 >= limit_ms;
}

static bool may_tell(struct slow_requests *slow, int64_t now_us, uint64_t *left_out)
{
    return trace_limit_allows(&slow->limit, SLOW_REQUEST_LINES_PER_S, 1000, now_us / 1000,
                              left_out);
}

static void tell(const char *what, int64_t duration_us, uint64_t left_out)
{
    char others[TRACE_LEFT_OUT_BYTES];
    trace(TRACE_WARN, "api", "slow: %s: %lld ms%s", what, (long long)(duration_us / 1000),
          trace_left_out(others, left_out));
}

void slow_requests_note(struct slow_requests *slow, const struct call *call, int64_t duration_us,
                        int64_t limit_ms, int64_t now_us)
{
    int64_t ours_us = duration_us - (int64_t)call->may_wait_ms * 1000;
    char about[CALL_DESCRIPTION_BYTES];
    uint64_t left_out;
    if (is_slow(ours_us, limit_ms) && may_tell(slow, now_us, &left_out))
        tell(call_describe(call, about), duration_us, left_out);
}

/* "Produce 12, Fetch 1" */
static void describe_burst(const struct request_stats *burst, char *text, size_t size)
{
    unsigned count;
    const struct api_row *rows = api_rows(&count);
    size_t length = 0;
    for (uint64_t kinds = burst->burst_kinds; kinds != 0 && length < size; kinds &= kinds - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(kinds);
        length += (size_t)snprintf(text + length, size - length, "%s%s %u", length > 0 ? ", " : "",
                                   kind < count ? rows[kind].name : "unknown",
                                   burst->burst_ended[kind]);
    }
}

void slow_requests_note_burst(struct slow_requests *slow, const struct request_stats *burst,
                              int64_t duration_us, int64_t limit_ms, int64_t now_us)
{
    char kinds[256], about[300];
    uint64_t left_out;
    if (burst->burst_kinds == 0 || !is_slow(duration_us, limit_ms) ||
        !may_tell(slow, now_us, &left_out))
        return;
    describe_burst(burst, kinds, sizeof kinds);
    snprintf(about, sizeof about, "requests that came together: %s", kinds);
    tell(about, duration_us, left_out);
}
