// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "output.h"

static void assert_escaped(const char *bytes, size_t length, const char *expected)
{
    struct buffer out;
    buffer_init(&out);
    output_escape(&out, bytes, length);
    assert_false(out.failed);
    assert_int_equal(out.length, strlen(expected));
    assert_memory_equal(out.data, expected, out.length);
    buffer_close(&out);
}

#define ASSERT_ESCAPED(literal, expected) assert_escaped(literal, sizeof(literal) - 1, expected)

TEST(text_reaches_a_terminal_as_it_is)
{
    ASSERT_ESCAPED("plain text, ~!", "plain text, ~!");
    ASSERT_ESCAPED("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
                   "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(what_steers_a_terminal_is_made_visible)
{
    ASSERT_ESCAPED("\x1b[2J", "\\x1b[2J");
    ASSERT_ESCAPED("a\nb\tc\rd", "a\\nb\\tc\\rd");
    ASSERT_ESCAPED("\0\x07\x7f", "\\x00\\x07\\x7f");
    ASSERT_ESCAPED("\\n", "\\\\n");
    ASSERT_ESCAPED("\xc2\x9b", "\\xc2\\x9b");          /* C1's CSI */
    ASSERT_ESCAPED("\xe2\x80\xae", "\\xe2\\x80\\xae"); /* turns text round */
    ASSERT_ESCAPED("\xe2\x81\xa6", "\\xe2\\x81\\xa6"); /* an isolate */
}

TEST(bytes_that_are_not_utf8_are_shown_one_by_one)
{
    ASSERT_ESCAPED("\xff\x80", "\\xff\\x80");
    ASSERT_ESCAPED("\xc3", "\\xc3");
    ASSERT_ESCAPED("\xc3(", "\\xc3(");
    ASSERT_ESCAPED("\xc0\xaf", "\\xc0\\xaf");                   /* too long */
    ASSERT_ESCAPED("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* a surrogate */
    ASSERT_ESCAPED("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
}

static char *printed;
static size_t printed_length;

static void assert_table_prints(const struct table *table, const char *expected)
{
    FILE *out = open_memstream(&printed, &printed_length);
    assert_int_equal(table_print(table, out), 0);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
}

TEST(a_column_is_as_wide_as_its_widest_cell)
{
    static const char *const headings[] = { "NAME", ">COUNT", "STATE" };
    struct table table;
    table_init(&table, headings, 3, false);
    table_text(&table, STR_LITERAL("a"));
    table_number(&table, 1);
    table_text(&table, STR_LITERAL("ok"));
    table_text(&table, STR_LITERAL("longer"));
    table_number(&table, -1234567);
    table_text(&table, STR_NULL);
    assert_table_prints(&table, "NAME       COUNT  STATE\n"
                                "a              1  ok\n"
                                "longer  -1234567  \n");
    table_close(&table);
}

TEST(characters_count_and_not_their_bytes)
{
    static const char *const headings[] = { "A", "B" };
    struct table table;
    table_init(&table, headings, 2, true);
    table_text(&table, STR_LITERAL("\xc3\xbc\xc3\xbc"));
    table_text(&table, STR_LITERAL("x"));
    table_text(&table, STR_LITERAL("yyy"));
    table_text(&table, STR_LITERAL("\x1b"));
    assert_table_prints(&table, "A    B\n"
                                "\xc3\xbc\xc3\xbc   x\n"
                                "yyy  \\x1b\n");
    table_close(&table);
}

TEST(an_empty_table_still_has_its_headings)
{
    static const char *const headings[] = { "TOPIC", ">PARTITIONS" };
    struct table table;
    table_init(&table, headings, 2, false);
    assert_table_prints(&table, "TOPIC  PARTITIONS\n");
    table_close(&table);
}

static void assert_json(const void *data, int32_t length, const char *expected)
{
    json_t *object = json_object();
    assert_int_equal(json_set_bytes(object, "value", data, length), 0);
    FILE *out = open_memstream(&printed, &printed_length);
    assert_int_equal(json_print(object, false, out), 0);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
}

TEST(json_tells_text_null_and_other_bytes_apart)
{
    assert_json("hello", 5, "{\"value\":\"hello\"}\n");
    assert_json("", 0, "{\"value\":\"\"}\n");
    assert_json(NULL, -1, "{\"value\":null}\n");
    assert_json("a\0b\x1b", 4, "{\"value\":\"a\\u0000b\\u001B\"}\n");
    assert_json("\xff", 1, "{\"value_base64\":\"/w==\"}\n");
    assert_json("\xff\xfe", 2, "{\"value_base64\":\"//4=\"}\n");
    assert_json("\xff\xfe\x00", 3, "{\"value_base64\":\"//4A\"}\n");
}

static const char *size_text(int64_t bytes)
{
    static char text[32];
    output_size(bytes, text);
    return text;
}

TEST(a_size_for_people_has_about_three_digits)
{
    assert_string_equal(size_text(0), "0 B");
    assert_string_equal(size_text(1023), "1023 B");
    assert_string_equal(size_text(1024), "1.0 KiB");
    assert_string_equal(size_text(1024 * 1024 - 1), "1.0 MiB");
    assert_string_equal(size_text(INT64_C(150) << 30), "150 GiB");
    assert_string_equal(size_text(INT64_MAX), "8.0 EiB");
}
