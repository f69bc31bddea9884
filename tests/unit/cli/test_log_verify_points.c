// SPDX-License-Identifier: Apache-2.0
/* What `sluice log verify` takes out of a data folder's checkpoints. */

#include <stdio.h>

#include "error.h"
#include "log_tool_fixture.h"
#include "log_verify_inside.h"

#define LOG_START "log-start-offset-checkpoint"

static struct tool tool;
static struct verify_points *points;

static void start(void)
{
    tool_start(&tool);
    assert_int_equal(verify_points_open(&points), 0);
}

static void stop(void)
{
    verify_points_close(points);
    tool_end(&tool);
}

/* Written beside it and renamed, as a broker does. */
static void replace_checkpoint(const char *lines)
{
    char text[512], from[PATH_MAX], to[PATH_MAX];
    unsigned count = 0;
    for (const char *at = lines; *at != '\0'; at++)
        count += *at == '\n';
    snprintf(text, sizeof text, "0\n%u\n%s", count, lines);
    tool_write(&tool, LOG_START ".tmp", text);
    assert_int_equal(fs_path(from, "%s/" LOG_START ".tmp", tool.data), 0);
    assert_int_equal(fs_path(to, "%s/" LOG_START, tool.data), 0);
    assert_int_equal(rename(from, to), 0);
}

static int64_t log_start_of(const char *topic, int32_t partition)
{
    int64_t offsets[CHECKPOINT_FILES];
    assert_int_equal(
        verify_points_get(points, fs_posix(), tool.data, str_from(topic), partition, offsets), 0);
    return offsets[OF_LOG_START];
}

TEST(each_partition_has_its_own_point)
{
    start();
    replace_checkpoint("orders 1 11\norder 1 12\norders 10 13\norders 0 14\norders2 1 15\n");
    assert_int_equal(log_start_of("orders", 0), 14);
    assert_int_equal(log_start_of("orders", 1), 11);
    assert_int_equal(log_start_of("orders", 10), 13);
    assert_int_equal(log_start_of("order", 1), 12);
    assert_int_equal(log_start_of("orders2", 1), 15);
    assert_int_equal(log_start_of("orders", 2), -1);
    assert_int_equal(log_start_of("a", 0), -1);
    assert_int_equal(log_start_of("z", 0), -1);
    stop();
}

TEST(the_last_of_several_lines_holds)
{
    start();
    replace_checkpoint("orders 0 5\norders 1 1\norders 0 7\norders 0 6\n");
    assert_int_equal(log_start_of("orders", 0), 6);
    assert_int_equal(log_start_of("orders", 1), 1);
    stop();
}

TEST(a_checkpoint_that_a_broker_replaced_is_read_again)
{
    start();
    replace_checkpoint("orders 0 5\n");
    assert_int_equal(log_start_of("orders", 0), 5);
    replace_checkpoint("orders 0 6\n");
    assert_int_equal(log_start_of("orders", 0), 6);
    replace_checkpoint("orders 0 6\nother 0 77\n");
    assert_int_equal(log_start_of("other", 0), 77);
    tool_remove(&tool, LOG_START);
    assert_int_equal(log_start_of("other", 0), -1);
    replace_checkpoint("orders 0 8\n");
    assert_int_equal(log_start_of("orders", 0), 8);
    stop();
}

TEST(a_damaged_checkpoint_says_nothing)
{
    start();
    replace_checkpoint("orders 0 5\norders 1 x\n");
    assert_int_equal(log_start_of("orders", 0), -1);
    replace_checkpoint("");
    assert_int_equal(log_start_of("orders", 0), -1);
    stop();
}

TEST(many_partitions_are_found_in_any_order)
{
    static char lines[64 * 1024];
    size_t length = (size_t)snprintf(lines, sizeof lines, "0\n2000\n");
    start();
    for (int i = 0; i < 2000; i++)
        length += (size_t)snprintf(lines + length, sizeof lines - length, "t%d %d %d\n",
                                   i * 7919 % 2000, i % 3, i);
    tool_write(&tool, LOG_START, lines);
    for (int i = 0; i < 2000; i++) {
        char topic[16];
        snprintf(topic, sizeof topic, "t%d", i * 7919 % 2000);
        assert_int_equal(log_start_of(topic, i % 3), i);
    }
    stop();
}
