// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "request_stats.h"

enum { SOME_KIND = 1, OTHER_KIND = API_UNKNOWN };

static struct clock_manual manual;
static struct request_stats stats;

static void a_loop_begins(void)
{
    clock_manual_init(&manual, 0);
    clock_manual_advance_ms(&manual, 1000);
    stats = (struct request_stats){ 0 };
}

static int64_t come(void)
{
    return request_stats_begin(&stats, &manual.clock);
}

static int64_t end(unsigned kind, int64_t begun_us)
{
    return request_stats_end(&stats, kind, begun_us, false, &manual.clock);
}

static void assert_counts(unsigned kind, uint64_t count, uint64_t sum_us)
{
    struct histogram_sums sums = { 0 };
    uint64_t total = 0;
    histogram_read(&stats.durations[kind], &sums);
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++)
        total += sums.buckets[i];
    assert_int_equal(total, count);
    assert_int_equal(sums.sum_us, sum_us);
}

TEST(requests_of_one_burst_take_as_long_as_the_burst)
{
    a_loop_begins();
    assert_int_equal(end(SOME_KIND, come()), -1);
    clock_manual_advance_ms(&manual, 2);
    assert_int_equal(end(SOME_KIND, come()), -1);
    assert_int_equal(end(OTHER_KIND, come()), -1);
    assert_counts(SOME_KIND, 0, 0);
    clock_manual_advance_ms(&manual, 1);
    assert_int_equal(request_stats_end_burst(&stats, &manual.clock), 3000);
    assert_counts(SOME_KIND, 2, 6000);
    assert_counts(OTHER_KIND, 1, 3000);
}

TEST(a_request_that_ends_later_is_counted_when_it_ends)
{
    a_loop_begins();
    int64_t begun_us = come();
    clock_manual_advance_ms(&manual, 1);
    request_stats_end_burst(&stats, &manual.clock);
    assert_counts(SOME_KIND, 0, 0);
    clock_manual_advance_ms(&manual, 4);
    /* In another burst, or between two. */
    int64_t other_us = come();
    assert_int_equal(end(SOME_KIND, begun_us), 5000);
    assert_counts(SOME_KIND, 1, 5000);
    assert_int_equal(end(SOME_KIND, other_us), -1);
    assert_int_equal(request_stats_end_burst(&stats, &manual.clock), 0);
    assert_counts(SOME_KIND, 2, 5000);
}

TEST(a_burst_does_not_count_for_the_next)
{
    a_loop_begins();
    end(SOME_KIND, come());
    request_stats_end_burst(&stats, &manual.clock);
    clock_manual_advance_ms(&manual, 7);
    end(OTHER_KIND, come());
    request_stats_end_burst(&stats, &manual.clock);
    assert_counts(SOME_KIND, 1, 0);
    assert_counts(OTHER_KIND, 1, 0);
}

TEST(refused_requests_are_counted_twice)
{
    a_loop_begins();
    request_stats_end(&stats, SOME_KIND, come(), true, &manual.clock);
    request_stats_end_burst(&stats, &manual.clock);
    assert_counts(SOME_KIND, 1, 0);
    assert_int_equal(counter_read(&stats.refused[SOME_KIND]), 1);
    assert_int_equal(counter_read(&stats.refused[OTHER_KIND]), 0);
}
