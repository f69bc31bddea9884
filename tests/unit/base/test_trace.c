// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"

static char last_line[PIPE_BUF + 1];
static int line_count;

static void keep_line(void *context, const char *line)
{
    (void)context;
    line_count++;
    snprintf(last_line, sizeof last_line, "%s", line);
}

static void traces_are_kept(void)
{
    line_count = 0;
    last_line[0] = '\0';
    trace_set_sink(keep_line, NULL);
    trace_set_level(TRACE_INFO);
}

static void traces_go_to_stderr(void)
{
    trace_set_sink(NULL, NULL);
    trace_set_level(TRACE_INFO);
}

TEST(a_line_says_when_how_bad_where_and_what)
{
    traces_are_kept();
    trace(TRACE_WARN, "storage", "orders-%d: slow", 7);
    traces_go_to_stderr();
    /* 2026-01-31T12:00:00.000Z */
    static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        if (shape[i] == 'd')
            assert_in_range(last_line[i], '0', '9');
        else
            assert_int_equal(last_line[i], shape[i]);
    }
    assert_string_equal(last_line + sizeof shape - 1, " WARN storage orders-7: slow");
}

TEST(lines_below_the_level_are_dropped)
{
    traces_are_kept();
    trace_set_level(TRACE_WARN);
    assert_int_equal(trace_level(), TRACE_WARN);
    trace(TRACE_INFO, "a", "not shown");
    trace(TRACE_DEBUG, "a", "not shown");
    assert_int_equal(line_count, 0);
    trace(TRACE_WARN, "a", "shown");
    trace(TRACE_ERROR, "a", "shown");
    assert_int_equal(line_count, 2);
    traces_go_to_stderr();
}

TEST(a_text_cannot_begin_a_line_of_its_own)
{
    traces_are_kept();
    trace(TRACE_INFO, "net", "a\nb\r\x1b[2J\x7f\xc3\xa4");
    traces_go_to_stderr();
    assert_non_null(strstr(last_line, "net a\\x0ab\\x0d\\x1b[2J\\x7f\xc3\xa4"));
}

TEST(a_line_that_is_too_long_is_cut_and_says_so)
{
    char text[2 * PIPE_BUF];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    traces_are_kept();
    trace(TRACE_INFO, "net", "%s", text);
    assert_int_equal(strlen(last_line), PIPE_BUF - 1);
    assert_string_equal(last_line + PIPE_BUF - 5, "x...");
    memset(text, '\n', PIPE_BUF / 2);
    text[PIPE_BUF / 2] = '\0';
    trace(TRACE_INFO, "net", "%s", text);
    assert_in_range(strlen(last_line), PIPE_BUF - 8, PIPE_BUF - 1);
    assert_string_equal(last_line + strlen(last_line) - 7, "\\x0a...");
    traces_go_to_stderr();
}

TEST(tracing_leaves_errno_alone)
{
    traces_are_kept();
    errno = EAGAIN;
    trace(TRACE_INFO, "net", "%s", "text");
    assert_int_equal(errno, EAGAIN);
    traces_go_to_stderr();
}

TEST(a_line_reaches_stderr_in_one_piece_with_its_newline)
{
    int ends[2];
    char text[200];
    int stderr_copy = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    trace(TRACE_ERROR, "main", "hello");
    dup2(stderr_copy, STDERR_FILENO);
    close(stderr_copy);
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text);
    close(ends[0]);
    assert_in_range(length, 20, sizeof text - 1);
    text[length] = '\0';
    assert_string_equal(text + 24, " ERROR main hello\n");
}

TEST(a_stderr_that_is_gone_is_no_reason_to_fail)
{
    int stderr_copy = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    errno = 0;
    trace(TRACE_ERROR, "main", "nobody reads this");
    int error = errno;
    dup2(stderr_copy, STDERR_FILENO);
    close(stderr_copy);
    assert_int_equal(error, 0);
}

static void *trace_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++)
        trace(TRACE_INFO, "thread", "line %d", i);
    return NULL;
}

TEST(lines_of_many_threads_come_one_at_a_time)
{
    pthread_t threads[4];
    traces_are_kept();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, trace_often, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    traces_go_to_stderr();
    assert_int_equal(line_count, 4000);
}

static void assert_escapes_to(struct str text, size_t size, const char *expected)
{
    char out[64];
    memset(out, '#', sizeof out);
    assert_ptr_equal(trace_escape(out, size, text), out);
    assert_string_equal(out, expected);
    assert_int_equal(out[size], '#');
}

TEST(escaped_text_is_printable_and_unambiguous)
{
    assert_escapes_to(STR_LITERAL("orders-0 ~"), 60, "orders-0 ~");
    assert_escapes_to(STR_LITERAL("a\n\0\x1b\x7f\xff\\"), 60, "a\\x0a\\x00\\x1b\\x7f\\xff\\x5c");
    assert_escapes_to(STR_LITERAL(""), 60, "");
    assert_escapes_to(STR_NULL, 60, "");
}

TEST(escaped_text_that_does_not_fit_is_cut)
{
    assert_escapes_to(STR_LITERAL("1234567"), 8, "1234567");
    assert_escapes_to(STR_LITERAL("12345678"), 8, "1234...");
    assert_escapes_to(STR_LITERAL("123\n5678"), 8, "123...");
    assert_escapes_to(STR_LITERAL("1234\n"), 8, "1234...");
    assert_escapes_to(STR_LITERAL("\n\n\n"), 9, "\\x0a...");
    assert_escapes_to(STR_LITERAL("12345"), 4, "...");
    assert_escapes_to(STR_LITERAL("12345"), 3, "..");
    assert_escapes_to(STR_LITERAL("12345"), 1, "");
}
