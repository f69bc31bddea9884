// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "error.h"
#include "position.h"

#define NOW_MS INT64_C(1800000000000)

static void assert_position(const char *text, enum position_kind kind, int64_t value)
{
    struct position position = { POSITION_END, -1 };
    assert_int_equal(position_parse(text, NOW_MS, &position), 0);
    assert_int_equal(position.kind, kind);
    assert_true(position.value == value);
}

TEST(a_place_is_an_end_an_offset_or_a_distance_from_the_end)
{
    assert_position("beginning", POSITION_BEGINNING, 0);
    assert_position("end", POSITION_END, 0);
    assert_position("0", POSITION_OFFSET, 0);
    assert_position("9223372036854775807", POSITION_OFFSET, INT64_MAX);
    assert_position("-1", POSITION_LAST, 1);
    assert_position("-2147483647", POSITION_LAST, INT32_MAX);
}

TEST(a_place_is_an_age)
{
    assert_position("0s", POSITION_TIME, NOW_MS);
    assert_position("90s", POSITION_TIME, NOW_MS - 90000);
    assert_position("15m", POSITION_TIME, NOW_MS - 900000);
    assert_position("2h", POSITION_TIME, NOW_MS - 7200000);
    assert_position("7d", POSITION_TIME, NOW_MS - 604800000);
    assert_position("100000d", POSITION_TIME, 0); /* not before 1970 */
}

/* The numbers are those of `date -u -d … +%s`. */
TEST(a_place_is_a_date)
{
    assert_position("@1760000000123", POSITION_TIME, INT64_C(1760000000123));
    assert_position("1970-01-01", POSITION_TIME, 0);
    assert_position("2026-01-31", POSITION_TIME, INT64_C(1769817600000));
    assert_position("2024-02-29T12:00", POSITION_TIME, INT64_C(1709208000000));
    assert_position("2024-03-01T00:00:01Z", POSITION_TIME, INT64_C(1709251201000));
    assert_position("2000-12-31T23:59:59.250Z", POSITION_TIME, INT64_C(978307199250));
    assert_position("2026-01-31T12:00:00+02:00", POSITION_TIME, INT64_C(1769853600000));
    assert_position("2026-01-31T12:00:00-05:30", POSITION_TIME, INT64_C(1769880600000));
    assert_position("2100-03-01", POSITION_TIME, INT64_C(4107542400000));
}

TEST(what_is_no_place_is_refused)
{
    static const char *const wrong[] = {
        "",
        "begin",
        "-",
        "-0x1",
        "--1",
        "1.5",
        "15x",
        "m",
        "1 h",
        "-5m",
        "@",
        "@-1",
        "@1s",
        "99999999999999999999",
        "1969-12-31",
        "2026-13-01",
        "2026-00-01",
        "2026-02-29",
        "2026-1-31",
        "2026-01-32",
        "2026-01-31T",
        "2026-01-31T24:00",
        "2026-01-31T12:00:60",
        "2026-01-31T12:00:00.1Z",
        "2026-01-31T12:00Zx",
        "2026-01-31T12:00+2:00",
        "2026-01-31 12:00",
        "100001d",
        "1970-01-01T00:00+01:00",
    };
    struct position position;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (position_parse(wrong[i], NOW_MS, &position) != ERR_USAGE)
            fail_msg("'%s' is taken", wrong[i]);
    }
}
