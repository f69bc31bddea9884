// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "latencies.h"

static struct latencies latencies;

static void start(void)
{
    memset(&latencies, 0, sizeof latencies);
}

TEST(percentiles_of_few_are_values_that_occurred)
{
    start();
    for (int64_t i = 1; i <= 10; i++)
        latencies_add(&latencies, i * 10);
    assert_int_equal(latencies_percentile(&latencies, 500), 50);
    assert_int_equal(latencies_percentile(&latencies, 501), 60);
    assert_int_equal(latencies_percentile(&latencies, 900), 90);
    assert_int_equal(latencies_percentile(&latencies, 999), 100);
    assert_int_equal(latencies_percentile(&latencies, 1), 10);
    assert_int_equal(latencies.max, 100);
    assert_int_equal(latencies.sum, 550);
}

TEST(percentiles_of_many_are_at_most_one_percent_too_high)
{
    start();
    for (int64_t i = 1; i <= 1000000; i++)
        latencies_add(&latencies, i);
    static const unsigned permilles[] = { 1, 10, 500, 900, 990, 999 };
    for (size_t i = 0; i < sizeof permilles / sizeof permilles[0]; i++) {
        int64_t exact = permilles[i] * 1000, told = latencies_percentile(&latencies, permilles[i]);
        assert_true(told >= exact && told <= exact + exact / 100);
    }
    assert_int_equal(latencies_percentile(&latencies, 1000), 1000000);
}

TEST(any_duration_has_a_bucket)
{
    static const int64_t durations[] = { 0, 255, 256, 511, 512, 1 << 20, INT64_MAX / 2, INT64_MAX };
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        start();
        latencies_add(&latencies, durations[i]);
        assert_true(latencies_percentile(&latencies, 500) == durations[i]);
    }
    start();
    latencies_add(&latencies, -5);
    assert_int_equal(latencies_percentile(&latencies, 999), 0);
}

TEST(nothing_has_no_percentile)
{
    start();
    assert_int_equal(latencies_percentile(&latencies, 500), 0);
}
