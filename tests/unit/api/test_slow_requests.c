// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "call_box.h"
#include "connection.h"
#include "dispatch.h"
#include "slow_requests.h"
#include "trace.h"

#define MS 1000 /* in µs */
#define S  1000000

static char said[1024]; /* The last line, behind its time. */
static unsigned lines;
static struct slow_requests slow;

static void note_line(void *context, const char *line)
{
    (void)context;
    lines++;
    snprintf(said, sizeof said, "%s", line + 25);
}

static void a_loop_begins(void)
{
    slow = (struct slow_requests){ 0 };
    lines = 0;
    said[0] = '\0';
    trace_set_sink(note_line, NULL);
}

static void it_ends(void)
{
    trace_set_sink(NULL, NULL);
}

static void ends_after(int64_t duration_us, int32_t may_wait_ms, int64_t limit_ms)
{
    static struct connection home = { .id = 7, .peer = "10.0.0.9", .peer_port = 51334 };
    static struct call_box box;
    box = (struct call_box){ .home = &home, .is_kept = true };
    box.call.api_key = 1;
    box.call.api_version = 18;
    box.call.correlation_id = 4;
    box.call.client_id = str_from("a\nb");
    box.call.may_wait_ms = may_wait_ms;
    slow_requests_note(&slow, &box.call, duration_us, limit_ms, 100 * S);
}

TEST(a_request_that_takes_the_limit_gets_a_line_that_says_whose_it_was)
{
    a_loop_begins();
    ends_after(999 * MS, 0, 1000);
    assert_int_equal(lines, 0);
    ends_after(1000 * MS, 0, 1000);
    assert_string_equal(said, "WARN api slow: conn=7 peer=10.0.0.9:51334 api=1 v18 corr=4 "
                              "client=a\\x0ab: 1000 ms");
    it_ends();
}

TEST(what_a_fetch_waits_for_records_does_not_count)
{
    a_loop_begins();
    ends_after(30999 * MS, 30000, 1000);
    assert_int_equal(lines, 0);
    ends_after(31000 * MS, 30000, 1000);
    assert_int_equal(lines, 1);
    it_ends();
}

TEST(without_a_limit_nothing_is_slow_and_with_none_at_all_everything)
{
    a_loop_begins();
    ends_after(INT64_MAX / 2, 0, -1);
    assert_int_equal(lines, 0);
    ends_after(0, 0, 0);
    assert_int_equal(lines, 1);
    it_ends();
}

TEST(a_slow_burst_is_told_with_what_came_in_it)
{
    struct request_stats burst = { .burst_kinds = 0 };
    unsigned produce = api_row_index(0);
    a_loop_begins();
    slow_requests_note_burst(&slow, &burst, 2 * S, 1000, 100 * S);
    assert_int_equal(lines, 0); /* All of it is still under way. */

    burst.burst_kinds = UINT64_C(1) << produce | UINT64_C(1) << API_UNKNOWN;
    burst.burst_ended[produce] = 12;
    burst.burst_ended[API_UNKNOWN] = 1;
    slow_requests_note_burst(&slow, &burst, 2 * S, 1000, 100 * S);
    assert_string_equal(said, "WARN api slow: requests that came together: Produce 12, unknown 1: "
                              "2000 ms");
    it_ends();
}

TEST(there_are_so_many_lines_a_second_and_the_next_one_tells_of_the_rest)
{
    struct request_stats burst = { .burst_kinds = 1, .burst_ended = { 1 } };
    a_loop_begins();
    for (int i = 0; i < SLOW_REQUEST_LINES_PER_S + 5; i++)
        slow_requests_note_burst(&slow, &burst, 2 * S, 1000, 100 * S + i);
    assert_int_equal(lines, SLOW_REQUEST_LINES_PER_S);
    assert_null(strstr(said, "not told"));
    slow_requests_note_burst(&slow, &burst, 2 * S, 1000, 101 * S);
    assert_int_equal(lines, SLOW_REQUEST_LINES_PER_S + 1);
    assert_non_null(strstr(said, "2000 ms (5 more were not told)"));
    slow_requests_note_burst(&slow, &burst, 2 * S, 1000, 101 * S);
    assert_null(strstr(said, "not told"));
    it_ends();
}
