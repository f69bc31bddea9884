// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "histogram.h"

TEST(a_duration_is_counted_in_the_first_bucket_that_holds_it)
{
    struct histogram histogram = { 0 };
    histogram_add(&histogram, 0, 1);
    histogram_add(&histogram, -5, 1); /* A clock that a test sets back. */
    histogram_add(&histogram, 100, 1);
    histogram_add(&histogram, 101, 2);
    histogram_add(&histogram, 10000000, 1);
    histogram_add(&histogram, 10000001, 3);
    struct histogram_sums sums = { 0 };
    histogram_read(&histogram, &sums);
    assert_int_equal(sums.buckets[0], 3);
    assert_int_equal(sums.buckets[1], 2);
    assert_int_equal(sums.buckets[HISTOGRAM_BOUNDS - 1], 1);
    assert_int_equal(sums.buckets[HISTOGRAM_BOUNDS], 3);
    assert_int_equal(sums.sum_us, 100 + 2 * 101 + 10000000 + 3 * 10000001);
}

TEST(bounds_ascend)
{
    for (unsigned i = 1; i < HISTOGRAM_BOUNDS; i++)
        assert_true(histogram_bounds_us[i - 1] < histogram_bounds_us[i]);
}

TEST(what_several_threads_have_is_added_up)
{
    struct histogram a = { 0 }, b = { 0 };
    histogram_add(&a, 50, 2);
    histogram_add(&b, 60, 3);
    struct histogram_sums sums = { 0 };
    histogram_read(&a, &sums);
    histogram_read(&b, &sums);
    assert_int_equal(sums.buckets[0], 5);
    assert_int_equal(sums.sum_us, 280);
}
