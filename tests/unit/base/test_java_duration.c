// SPDX-License-Identifier: Apache-2.0

#include "java_duration.h"
#include "java_integer.h"
#include "runner.h"

TEST(spans_of_time_are_read_as_java_reads_them)
{
    static const struct {
        const char *text;
        int64_t seconds;
        int32_t nanos;
    } legal[] = {
        { "P1D", 86400, 0 },
        { "PT1H1M1S", 3661, 0 },
        { "pt1h", 3600, 0 },
        { "PT0S", 0, 0 },
        { "P1DT-24H", 0, 0 },
        { "+PT+1S", 1, 0 },
        { "-PT1M", -60, 0 },
        { "PT1.5S", 1, 500000000 },
        { "PT1,000000001S", 1, 1 },
        { "PT1.S", 1, 0 },
        { "PT-1.5S", -2, 500000000 },
        { "PT-0.5S", -1, 500000000 },
        { "-PT-0.5S", 0, 500000000 },
        { "P1Dt", 86400, 0 }, /* A small t only. */
        { "PT9223372036854775807S", INT64_MAX, 0 },
        { "P106751991167300D", 9223372036854720000, 0 },
    };
    static const char *const illegal[] = {
        "",
        "P",
        "PT",
        "P1DT",
        "1H",
        "PT1",
        "P1H",
        "P1Y",
        "P1W",
        "PT1S1M",
        "PT.5S",
        "PT1.5H",
        "PT1.1234567891S",
        " PT1S",
        "PT1S ",
        "PT1H1H",
        "--PT1S",
        "PT+-1S",
        "PT9223372036854775808S",
        "P106751991167301D",
        "P99999999999999999999D",
        "-PT-9223372036854775808S",
        "PT9223372036854775807S1",
        "PT-9223372036854775808.5S",
    };
    int64_t seconds;
    int32_t nanos;
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
        if (!java_duration_parse(str_from(legal[i].text), &seconds, &nanos))
            fail_msg("\"%s\" is refused", legal[i].text);
        assert_int_equal(seconds, legal[i].seconds);
        assert_int_equal(nanos, legal[i].nanos);
    }
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++)
        if (java_duration_parse(str_from(illegal[i]), &seconds, &nanos))
            fail_msg("\"%s\" is taken", illegal[i]);
}

TEST(whole_numbers_are_read_as_java_reads_them)
{
    static const char *const illegal[] = {
        "", "-", "+", "--1", "1 ", " 1", "0x1", "1.0", "9223372036854775808", "-9223372036854775809"
    };
    int64_t number;
    assert_true(java_integer_parse(STR_LITERAL("+007"), &number));
    assert_int_equal(number, 7);
    assert_true(java_integer_parse(STR_LITERAL("-9223372036854775808"), &number));
    assert_true(number == INT64_MIN);
    assert_true(java_integer_parse(STR_LITERAL("9223372036854775807"), &number));
    assert_true(number == INT64_MAX);
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++)
        assert_false(java_integer_parse(str_from(illegal[i]), &number));
    assert_false(java_integer_parse(STR_NULL, &number));
}
