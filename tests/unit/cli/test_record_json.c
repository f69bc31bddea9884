// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "base64.h"
#include "error.h"
#include "record_json.h"

static struct record_json record;
static char problem[PROBLEM_SIZE];

static int parse(const char *line)
{
    return record_json_parse(&record, str_from(line), problem);
}

static void assert_text(struct str text, const char *expected, int32_t length)
{
    assert_int_equal(text.length, length);
    if (length > 0) assert_memory_equal(text.data, expected, (size_t)length);
    assert_true((text.data == NULL) == (length < 0));
}

TEST(a_line_has_all_of_a_record)
{
    assert_int_equal(
        parse("{\"partition\":3,\"offset\":9,\"timestamp\":1760000000000,\"key\":\"k\","
              "\"value_base64\":\"/wA=\",\"headers\":[{\"name\":\"h\",\"value\":\"v\"},"
              "{\"name\":\"n\",\"value\":null}]}"),
        0);
    assert_text(record.key, "k", 1);
    assert_text(record.value, "\xff\0", 2);
    assert_true(record.timestamp_ms == INT64_C(1760000000000));
    const char *name;
    const void *value;
    size_t length;
    assert_int_equal(rd_kafka_header_get_all(record.headers, 0, &name, &value, &length), 0);
    assert_string_equal(name, "h");
    assert_int_equal(length, 1);
    assert_int_equal(rd_kafka_header_get_all(record.headers, 1, &name, &value, &length), 0);
    assert_string_equal(name, "n");
    assert_null(value);
    record_json_close(&record);
}

TEST(what_a_line_does_not_say_is_null)
{
    assert_int_equal(parse("{}"), 0);
    assert_text(record.key, NULL, -1);
    assert_text(record.value, NULL, -1);
    assert_null(record.headers);
    assert_int_equal(record.timestamp_ms, 0);
    record_json_close(&record);
    assert_int_equal(parse("{\"key\":null,\"value\":\"\",\"timestamp\":-1,\"headers\":[]}"), 0);
    assert_text(record.key, NULL, -1);
    assert_text(record.value, "", 0);
    assert_int_equal(record.timestamp_ms, 0);
    record_json_close(&record);
    assert_int_equal(parse("{\"value_base64\":\"\",\"key\":\"a\\u0000b\"}"), 0);
    assert_text(record.value, "", 0);
    assert_text(record.key, "a\0b", 3);
    record_json_close(&record);
}

TEST(what_is_wrong_with_a_line_is_said)
{
    static const char *const wrong[][2] = {
        { "", "it is no JSON: " },
        { "hello", "it is no JSON: " },
        { "{} {}", "it is no JSON: " },
        { "[1]", "it is no JSON object" },
        { "{\"key\":1}", "\"key\" is no text" },
        { "{\"value\":{}}", "\"value\" is no text" },
        { "{\"value_base64\":\"a\"}", "\"value_base64\" is no base64" },
        { "{\"key_base64\":\"a=aa\"}", "\"key_base64\" is no base64" },
        { "{\"headers\":{}}", "\"headers\" is no array" },
        { "{\"headers\":[1]}", "\"headers\" is no array of objects" },
        { "{\"headers\":[{\"value\":\"x\"}]}", "\"name\" is no text" },
        { "{\"headers\":[{\"name\":\"x\",\"value\":2}]}", "\"value\" is no text" },
        { "{\"timestamp\":\"now\"}", "\"timestamp\" is no whole number" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(parse(wrong[i][0]), ERR_MALFORMED);
        assert_memory_equal(problem, wrong[i][1], strlen(wrong[i][1]));
        record_json_close(&record);
    }
}

TEST(base64_of_any_length_comes_back)
{
    static const uint8_t bytes[] = { 0, 255, 128, 1, 62, 63, 250 };
    for (size_t length = 0; length <= sizeof bytes; length++) {
        struct buffer text, back;
        buffer_init(&text);
        buffer_init(&back);
        base64_encode(&text, bytes, length);
        assert_int_equal(text.length, (length + 2) / 3 * 4);
        assert_int_equal(base64_decode(&back, (const char *)text.data, text.length), 0);
        assert_int_equal(back.length, length);
        if (length > 0) assert_memory_equal(back.data, bytes, length);
        buffer_close(&text);
        buffer_close(&back);
    }
}
