// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "lines.h"

static int ends[2];
static struct lines lines;

static void open_pipe(void)
{
    assert_int_equal(pipe(ends), 0);
    lines_init(&lines, ends[0]);
}

static void write_text(const char *text)
{
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
}

static void close_pipe(void)
{
    lines_close(&lines);
    close(ends[0]);
}

static void assert_line(const char *expected)
{
    struct str line;
    assert_int_equal(lines_next(&lines, 0, &line), 0);
    assert_int_equal(line.length, strlen(expected));
    assert_memory_equal(line.data, expected, strlen(expected));
}

static void assert_no_line(int err)
{
    struct str line;
    assert_int_equal(lines_next(&lines, 0, &line), err);
}

TEST(lines_end_at_newlines_and_the_last_one_at_the_end)
{
    open_pipe();
    write_text("one\n\nthree\nfour");
    close(ends[1]);
    assert_line("one");
    assert_line("");
    assert_line("three");
    assert_line("four");
    assert_no_line(ERR_NOT_FOUND);
    assert_no_line(ERR_NOT_FOUND);
    close_pipe();
}

TEST(a_newline_at_the_end_does_not_begin_another_line)
{
    open_pipe();
    write_text("one\n");
    close(ends[1]);
    assert_line("one");
    assert_no_line(ERR_NOT_FOUND);
    close_pipe();
}

TEST(a_line_that_comes_in_pieces_is_waited_for)
{
    open_pipe();
    assert_no_line(ERR_NEEDS_IO);
    write_text("first\nsec");
    assert_line("first");
    assert_no_line(ERR_NEEDS_IO);
    write_text("o");
    assert_no_line(ERR_NEEDS_IO);
    write_text("nd\n");
    assert_line("second");
    close(ends[1]);
    assert_no_line(ERR_NOT_FOUND);
    close_pipe();
}

TEST(an_empty_input_has_no_line)
{
    open_pipe();
    close(ends[1]);
    assert_no_line(ERR_NOT_FOUND);
    close_pipe();
}

TEST(a_line_may_be_longer_than_what_is_read_at_once)
{
    int fd = open(test_folder(), O_TMPFILE | O_RDWR, 0600);
    assert_true(fd >= 0);
    size_t length = 3 * 1024 * 1024;
    char *text = malloc(length + 1);
    memset(text, 'x', length);
    text[length] = '\n';
    assert_int_equal(write(fd, text, length + 1), length + 1);
    assert_int_equal(write(fd, "end", 3), 3);
    lseek(fd, 0, SEEK_SET);
    free(text);

    lines_init(&lines, fd);
    struct str line;
    assert_int_equal(lines_next(&lines, 0, &line), 0);
    assert_int_equal(line.length, length);
    assert_line("end");
    lines_close(&lines);
    close(fd);
}
