// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
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
    trace_set_format(TRACE_TEXT);
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

/* What stands behind the time, in JSON. */
static const char *json_of(const char *text)
{
    static const char time[] = "{\"time\":\"2026-01-31T12:00:00.000Z\",";
    traces_are_kept();
    trace_set_format(TRACE_JSON);
    trace(TRACE_WARN, "net", "%s", text);
    traces_go_to_stderr();
    assert_memory_equal(last_line, time, 9);
    return last_line + sizeof time - 1;
}

TEST(a_line_in_json_is_one_object)
{
    assert_string_equal(json_of("conn=7: closed"),
                        "\"level\":\"WARN\",\"area\":\"net\",\"message\":\"conn=7: closed\"}");
}

#define MESSAGE(text) "\"level\":\"WARN\",\"area\":\"net\",\"message\":\"" text "\"}"

/* RFC 8259: quotes, backslashes and control bytes are escaped, and all of it is UTF-8. */
TEST(json_stays_json_whatever_the_text)
{
    assert_string_equal(json_of("\"a\" \\x0a\n\x1b\x7f"),
                        MESSAGE("\\\"a\\\" \\\\x0a\\u000a\\u001b\\u007f"));
    assert_string_equal(json_of("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8c\x8a"),
                        MESSAGE("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8c\x8a"));
    /* A byte alone, one too few, too long a form, a surrogate, beyond the last character. */
    assert_string_equal(
        json_of("\x80|\xe2\x82|\xc0\x80|\xe0\x80\x80|\xed\xa0\x80|\xf4\x90\x80\x80"),
        MESSAGE("\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|"
                "\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd\\ufffd"));
    assert_string_equal(json_of("\xe2"), MESSAGE("\\ufffd"));
}

TEST(a_json_line_that_is_too_long_is_cut_and_still_json)
{
    char text[2 * PIPE_BUF];
    memset(text, '"', sizeof text);
    text[sizeof text - 1] = '\0';
    const char *line = json_of(text);
    size_t length = strlen(line);
    assert_in_range(strlen(last_line), PIPE_BUF - 8, PIPE_BUF - 1);
    assert_string_equal(line + length - 7, "\\\"...\"}");
}

static void read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    assert_true(length >= 0);
    text[length] = '\0';
}

/* What moves log files away expects that the next line goes to the new file and the last to the old. */
TEST(a_file_that_was_moved_away_is_opened_anew)
{
    char path[256], moved[300], text[300];
    snprintf(path, sizeof path, "%s/broker.log", test_folder());
    snprintf(moved, sizeof moved, "%s.1", path);
    assert_int_equal(trace_set_file(path), 0);
    trace(TRACE_INFO, "main", "first");
    assert_int_equal(rename(path, moved), 0);
    trace(TRACE_INFO, "main", "second");
    assert_int_equal(trace_set_file(path), 0);
    trace(TRACE_INFO, "main", "third");
    assert_int_equal(trace_set_file(NULL), 0);

    read_file(moved, text, sizeof text);
    assert_non_null(strstr(text, "INFO main first\n"));
    assert_non_null(strstr(text, "INFO main second\n"));
    assert_null(strstr(text, "third"));
    read_file(path, text, sizeof text);
    assert_string_equal(text + 24, " INFO main third\n");
}

TEST(a_file_that_cannot_be_opened_changes_nothing)
{
    char path[256], text[300];
    snprintf(path, sizeof path, "%s/broker.log", test_folder());
    assert_int_equal(trace_set_file(path), 0);
    assert_int_equal(trace_set_file("/nowhere/at/all"), ERR_IO);
    trace(TRACE_INFO, "main", "still here");
    assert_int_equal(trace_set_file(NULL), 0);
    read_file(path, text, sizeof text);
    assert_non_null(strstr(text, "still here\n"));
}

TEST(a_line_that_cannot_be_written_is_counted)
{
    uint64_t before = trace_lines_lost();
    assert_int_equal(trace_set_file("/dev/full"), 0);
    trace(TRACE_INFO, "main", "lost");
    assert_int_equal(trace_set_file(NULL), 0);
    assert_int_equal(trace_lines_lost(), before + 1);
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
