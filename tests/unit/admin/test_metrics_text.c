// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "metrics_text.h"

static struct buffer out;

static void begin(void)
{
    buffer_close(&out);
    buffer_init(&out);
}

static void assert_printed(const char *expected)
{
    assert_false(out.failed);
    assert_int_equal(out.length, strlen(expected));
    assert_memory_equal(out.data, expected, out.length);
    begin();
}

TEST(a_family_begins_with_help_and_type)
{
    begin();
    metrics_family(&out, "sluice_topics", "gauge", "Topics there are.");
    metrics_u64(&out, "sluice_topics", (struct metrics_labels){ 0 }, UINT64_MAX);
    assert_printed("# HELP sluice_topics Topics there are.\n# TYPE sluice_topics gauge\n"
                   "sluice_topics 18446744073709551615\n");
}

TEST(numbers_may_be_negative_or_seconds)
{
    begin();
    metrics_i64(&out, "a", (struct metrics_labels){ 0 }, -1);
    metrics_seconds(&out, "b", (struct metrics_labels){ 0 }, 12000005);
    assert_printed("a -1\nb 12.000005\n");
}

TEST(series_have_no_one_or_two_labels)
{
    begin();
    metrics_u64(&out, "a", (struct metrics_labels){ .name = "topic", .value = "orders" }, 1);
    metrics_u64(&out, "a", (struct metrics_labels){ "topic", "orders", "partition", "7" }, 2);
    assert_printed("a{topic=\"orders\"} 1\na{topic=\"orders\",partition=\"7\"} 2\n");
}

/* A folder's path may hold anything but NUL; so could a name, if a check of ours were wrong. */
TEST(a_value_cannot_end_itself_or_its_line)
{
    begin();
    metrics_u64(&out, "a",
                (struct metrics_labels){ .name = "folder", .value = "/x\" 1\n\\y\x1b\xff" }, 2);
    assert_printed("a{folder=\"/x\\\" 1\\\\x0a\\\\y\\\\x1b\\\\xff\"} 2\n");
}

TEST(a_histogram_has_ascending_buckets_a_sum_and_a_count)
{
    struct histogram histogram = { 0 };
    struct histogram_sums sums = { 0 };
    histogram_add(&histogram, 90, 3);
    histogram_add(&histogram, 2000, 2);
    histogram_add(&histogram, 20000000, 1);
    histogram_read(&histogram, &sums);
    begin();
    metrics_histogram(&out, "t", (struct metrics_labels){ .name = "api", .value = "Fetch" }, &sums);
    assert_printed("t_bucket{api=\"Fetch\",le=\"0.0001\"} 3\n"
                   "t_bucket{api=\"Fetch\",le=\"0.00025\"} 3\n"
                   "t_bucket{api=\"Fetch\",le=\"0.0005\"} 3\n"
                   "t_bucket{api=\"Fetch\",le=\"0.001\"} 3\n"
                   "t_bucket{api=\"Fetch\",le=\"0.0025\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"0.005\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"0.01\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"0.025\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"0.05\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"0.1\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"0.25\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"0.5\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"1\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"2.5\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"5\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"10\"} 5\n"
                   "t_bucket{api=\"Fetch\",le=\"+Inf\"} 6\n"
                   "t_sum{api=\"Fetch\"} 20.004270\n"
                   "t_count{api=\"Fetch\"} 6\n");
    buffer_close(&out);
}
