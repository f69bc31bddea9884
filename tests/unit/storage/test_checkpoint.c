// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>
#include <string.h>

#include "checkpoint.h"
#include "error.h"
#include "runner.h"

static char seen[256];

static int remember(void *context, const struct checkpoint_line *line)
{
    size_t length = strlen(seen);

    (void)context;
    for (int i = 0; i < 2; i++)
        length += (size_t)snprintf(seen + length, sizeof seen - length, "%.*s;",
                                   (int)line->columns[i].length, line->columns[i].data);
    return 0;
}

static int parse(const char *text)
{
    seen[0] = '\0';
    return checkpoint_parse(text, strlen(text), 2, remember, NULL, NULL);
}

TEST(lines_are_read_in_order)
{
    assert_int_equal(parse("0\n2\na 1\nb 22\n"), 0);
    assert_string_equal(seen, "a;1;b;22;");
    assert_int_equal(parse("0\n0\n"), 0);
    assert_int_equal(parse("0\n1\na 1"), 0); /* The last line feed may be missing. */
}

TEST(whatever_has_another_shape_is_refused)
{
    static const char *const bad[] = {
        "",
        "0",
        "0\n",
        "1\n0\n",
        "0\n1\n",
        "0\n2\na 1\n",
        "0\n1\na\n",
        "0\n1\na b c\n",
        "0\nx\n",
        "0\n-1\n",
        "0\n1\na 1\nb 2\n",
        "a\n1\na 1\n",
        "0\n99999999999999999999\n",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse(bad[i]), ERR_MALFORMED);
}

TEST(the_line_that_is_wrong_is_named)
{
    static const struct {
        const char *text;
        int64_t line;
    } bad[] = {
        { "", 1 },
        { "x\n0\n", 1 },
        { "0\n", 2 },
        { "0\n2\na 1\n", 4 },
        { "0\n2\na\nb 2\n", 3 },
        { "0\n1\na 1\nb 2\n", 4 },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t line = 0;
        const char *text = bad[i].text;
        assert_int_equal(checkpoint_parse(text, strlen(text), 2, remember, NULL, &line),
                         ERR_MALFORMED);
        assert_int_equal(line, bad[i].line);
    }
}

TEST(every_truncation_is_refused_or_reads_the_same_lines)
{
    static const char text[] = "0\n2\nfirst 12\nsecond 34\n";

    for (size_t length = 0; length < sizeof text - 4; length++) {
        seen[0] = '\0';
        assert_int_equal(checkpoint_parse(text, length, 2, remember, NULL, NULL), ERR_MALFORMED);
    }
}

TEST(numbers_are_whole_and_in_range)
{
    int64_t number;

    assert_int_equal(checkpoint_number(str_from("9223372036854775807"), 0, &number), 0);
    assert_int_equal(number, INT64_MAX);
    assert_int_equal(checkpoint_number(str_from("-1"), -1, &number), 0);
    assert_int_equal(number, -1);
    assert_int_equal(checkpoint_number(str_from("-1"), 0, &number), ERR_MALFORMED);
    assert_int_equal(checkpoint_number(str_from("9223372036854775808"), 0, &number), ERR_MALFORMED);
    assert_int_equal(checkpoint_number(str_from(""), 0, &number), ERR_MALFORMED);
    assert_int_equal(checkpoint_number(str_from("-"), -5, &number), ERR_MALFORMED);
    assert_int_equal(checkpoint_number(str_from("1 "), 0, &number), ERR_MALFORMED);
    assert_int_equal(checkpoint_number(STR_NULL, 0, &number), ERR_MALFORMED);
}

TEST(what_is_written_is_kafkas_text)
{
    struct buffer lines;
    char path[PATH_MAX];
    char text[64] = { 0 };

    buffer_init(&lines);
    checkpoint_print(&lines, "orders %d %d\n", 0, 45);
    assert_int_equal(fs_path(path, "%s/file", test_folder()), 0);
    assert_int_equal(checkpoint_write(fs_posix(), path, &lines, 1), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(length, 16);
    assert_string_equal(text, "0\n1\norders 0 45\n");
    buffer_close(&lines);
}
