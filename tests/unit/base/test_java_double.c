// SPDX-License-Identifier: Apache-2.0

#include <math.h>

#include "java_double.h"
#include "runner.h"

TEST(fractions_are_read_as_java_reads_them)
{
    static const struct {
        const char *text;
        double number;
    } legal[] = {
        { "0.5", 0.5 },
        { ".5", 0.5 },
        { "5.", 5 },
        { "5e-1", 0.5 },
        { " 0.25 ", 0.25 },
        { "+1", 1 },
        { "-0.1", -0.1 },
        { "0.5f", 0.5 },
        { "1D", 1 },
        { "0x1p-2", 0.25 },
        { "0x1.8p1d", 3 },
        { "1E3F", 1000 },
        { "Infinity", INFINITY },
        { "-Infinity", -INFINITY },
    };
    static const char *const illegal[] = { "",      " ",   "x",    "nan", "inf", "infinity",
                                           "0.5ff", "0x1", "1e",   ".",   "--1", "1 2",
                                           "e5",    "f",   "NaNx", "1,5" };
    double number;
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
        assert_true(java_double_parse(legal[i].text, &number));
        assert_true(number == legal[i].number);
    }
    assert_true(java_double_parse(" NaN ", &number));
    assert_true(isnan(number));
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++)
        if (java_double_parse(illegal[i], &number)) fail_msg("\"%s\" is taken", illegal[i]);
}

TEST(fractions_are_written_as_java_writes_them)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 1, "1.0" },
        { 0.5, "0.5" },
        { -0.25, "-0.25" },
        { 0.1, "0.1" },
        { 0.001, "0.001" },
        { 0.0001, "1.0E-4" },
        { 0.00012, "1.2E-4" },
        { 1234567, "1234567.0" },
        { 9999999, "9999999.0" },
        { 10000000, "1.0E7" },
        { 100, "100.0" },
        { 123.456, "123.456" },
        { 1e300, "1.0E300" },
        { 1.7976931348623157E308, "1.7976931348623157E308" },
        { 1.0 / 3, "0.3333333333333333" },
        { NAN, "NaN" },
        { -INFINITY, "-Infinity" },
    };
    char text[JAVA_DOUBLE_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        java_double_print(text, cases[i].number);
        assert_string_equal(text, cases[i].text);
    }
}
