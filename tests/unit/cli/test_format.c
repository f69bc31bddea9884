// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "format.h"

static struct format format;
static char problem[PROBLEM_SIZE];

/* What `text` prints of a record of partition 3 with the offset 41, the key "k" and this value. */
static char *printed(const char *text, const char *value, size_t value_length, bool to_terminal)
{
    static char *output;
    size_t size;
    rd_kafka_message_t message = {
        .partition = 3,
        .offset = 41,
        .key = (char[]){ 'k' },
        .key_len = 1,
        .payload = (void *)(uintptr_t)value,
        .len = value_length,
    };
    free(output);
    format_init(&format);
    assert_int_equal(format_parse(&format, text, problem), 0);
    FILE *out = open_memstream(&output, &size);
    assert_int_equal(format_print(&format, &message, to_terminal, out), 0);
    fclose(out);
    format_close(&format);
    return output;
}

static void assert_printed(const char *text, const char *expected)
{
    assert_string_equal(printed(text, "v\x1b", 2, false), expected);
}

TEST(a_format_has_text_and_fields)
{
    assert_printed("{value}", "v\x1b\n");
    assert_printed("{partition}:{offset}\\t{key}={value}", "3:41\tk=v\x1b\n");
    assert_printed("{key_size} {value_size}", "1 2\n");
    assert_printed("", "\n");
    assert_printed("a{{b}\\x41\\\\", "a{b}A\\\n");
}

TEST(a_format_ends_with_a_line_break_or_says_not)
{
    assert_printed("{value}\\c", "v\x1b");
    assert_printed("\\c", "");
    assert_printed("{key}\\n\\c", "k\n");
    assert_printed("a\\\\c", "a\\c\n");
}

TEST(what_comes_from_a_record_does_not_steer_a_terminal)
{
    assert_string_equal(printed("{value}\\t", "v\x1b", 2, true), "v\\x1b\t\n");
}

TEST(null_is_seen_on_a_terminal)
{
    assert_string_equal(printed("{value}", NULL, 0, true), "(null)\n");
    assert_string_equal(printed("{value} {value_size}", NULL, 0, false), " -1\n");
    assert_string_equal(printed("{value} {value_size}", "", 0, true), " 0\n");
}

TEST(what_is_wrong_with_a_format_is_said)
{
    static const char *const wrong[][2] = {
        { "{nothing}", "--format has no field 'nothing'; {{ is a brace" },
        { "{}", "--format has no field ''; {{ is a brace" },
        { "{header:}", "--format has no field 'header:'; {{ is a brace" },
        { "x {key", "--format has a { without }; {{ is a brace" },
        { "a\\q", "\\ stands before t, n, r, 0, \\ or xHH, and in 'a\\q' it does not" },
        { "{", "--format has a { without }; {{ is a brace" },
        { "{key\\c", "--format has a { without }; {{ is a brace" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        format_init(&format);
        assert_int_equal(format_parse(&format, wrong[i][0], problem), ERR_USAGE);
        assert_string_equal(problem, wrong[i][1]);
        format_close(&format);
    }
}

TEST(a_format_without_memory_is_an_error)
{
    for (int nth = 1;; nth++) {
        format_init(&format);
        mem_fail_at(nth);
        int err = format_parse(&format, "a {key}{header:x}\\t", problem);
        mem_fail_at(0);
        format_close(&format);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
    }
}
