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

/* May there be a line now? If not it is counted. */
static bool may_tell(struct slow_requests *slow, int64_t now_us)
{
    int64_t second = now_us / 1000000;
    if (slow->second != second) {
        slow->second = second;
        slow->told = 0;
    }
    if (slow->told == SLOW_REQUEST_LINES_PER_S) {
        slow->left_out++;
        return false;
    }
    slow->told++;
    return true;
}

static void tell(struct slow_requests *slow, const char *what, int64_t duration_us)
{
    char others[64] = "";
    if (slow->left_out > 0)
        snprintf(others, sizeof others, " (%llu more were not told)",
                 (unsigned long long)slow->left_out);
    slow->left_out = 0;
    trace(TRACE_WARN, "api", "slow: %s: %lld ms%s", what, (long long)(duration_us / 1000), others);
}

void slow_requests_note(struct slow_requests *slow, const struct call *call, int64_t duration_us,
                        int64_t limit_ms, int64_t now_us)
{
    int64_t ours_us = duration_us - (int64_t)call->may_wait_ms * 1000;
    char about[CALL_DESCRIPTION_BYTES];
    if (is_slow(ours_us, limit_ms) && may_tell(slow, now_us))
        tell(slow, call_describe(call, about), duration_us);
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
    if (burst->burst_kinds == 0 || !is_slow(duration_us, limit_ms) || !may_tell(slow, now_us))
        return;
    describe_burst(burst, kinds, sizeof kinds);
    snprintf(about, sizeof about, "requests that came together: %s", kinds);
    tell(slow, about, duration_us);
}
