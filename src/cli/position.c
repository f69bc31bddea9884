// SPDX-License-Identifier: Apache-2.0
#include "position.h"

#include <stdbool.h>
#include <string.h>

#include "error.h"
#include "options.h"

#define MS_PER_DAY INT64_C(86400000)

/* A number of exactly `digits` digits; moves *at behind it. False if there is none. */
static bool take_digits(const char **at, int digits, int64_t *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9') return false;
        *number = *number * 10 + (**at - '0');
    }
    return true;
}

static bool take_char(const char **at, char c)
{
    if (**at != c) return false;
    (*at)++;
    return true;
}

/* Days since 1970-01-01 in the Gregorian calendar, counted in years that begin with March, so that a
 * leap day is the last day of one. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    if (month < 3) year--;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719468;
}

static bool is_date(int64_t year, int64_t month, int64_t day)
{
    static const int64_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (year < 1970 || month < 1 || month > 12 || day < 1) return false;
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && is_leap);
}

/* "12:00", "12:00:30" or "12:00:30.250" in ms. */
static bool take_time_of_day(const char **at, int64_t *ms)
{
    int64_t hour, minute, second = 0, fraction = 0;
    if (!take_digits(at, 2, &hour) || !take_char(at, ':') || !take_digits(at, 2, &minute))
        return false;
    if (take_char(at, ':')) {
        if (!take_digits(at, 2, &second)) return false;
        if (take_char(at, '.') && !take_digits(at, 3, &fraction)) return false;
    }
    if (hour > 23 || minute > 59 || second > 59) return false;
    *ms = ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
    return true;
}

/* "Z", "+02:00" or nothing: what is to be taken off to have UTC, in ms. */
static bool take_zone(const char **at, int64_t *ms)
{
    int64_t hour, minute;
    *ms = 0;
    if (**at == '\0' || take_char(at, 'Z')) return true;
    bool is_west = **at == '-';
    if (!take_char(at, '+') && !take_char(at, '-')) return false;
    if (!take_digits(at, 2, &hour) || !take_char(at, ':') || !take_digits(at, 2, &minute))
        return false;
    if (hour > 14 || minute > 59) return false;
    *ms = (hour * 60 + minute) * 60000 * (is_west ? -1 : 1);
    return true;
}

static bool parse_date(const char *text, int64_t *ms)
{
    int64_t year, month, day, time_ms = 0, zone_ms = 0;
    const char *at = text;
    if (!take_digits(&at, 4, &year) || !take_char(&at, '-') || !take_digits(&at, 2, &month) ||
        !take_char(&at, '-') || !take_digits(&at, 2, &day) || !is_date(year, month, day))
        return false;
    if (take_char(&at, 'T') && (!take_time_of_day(&at, &time_ms) || !take_zone(&at, &zone_ms)))
        return false;
    *ms = days_from_date(year, month, day) * MS_PER_DAY + time_ms - zone_ms;
    return *at == '\0' && *ms >= 0;
}

/* "15m": a time that long before now. */
static bool parse_age(const char *text, int64_t now_ms, int64_t *ms)
{
    static const char units[] = "smhd";
    static const int64_t units_ms[] = { 1000, 60000, 3600000, MS_PER_DAY };
    char digits[16];
    int64_t count;
    size_t length = strlen(text);
    const char *unit = length < 2 || length > sizeof digits ? NULL
                                                            : strchr(units, text[length - 1]);
    if (unit == NULL) return false;
    memcpy(digits, text, length - 1);
    digits[length - 1] = '\0';
    if (text_to_number(digits, 0, 100000 * (MS_PER_DAY / units_ms[unit - units]), &count) != 0)
        return false;
    *ms = now_ms - count * units_ms[unit - units];
    if (*ms < 0) *ms = 0;
    return true;
}

int position_parse(const char *text, int64_t now_ms, struct position *position)
{
    int64_t value = 0;
    enum position_kind kind;
    if (strcmp(text, "beginning") == 0)
        kind = POSITION_BEGINNING;
    else if (strcmp(text, "end") == 0)
        kind = POSITION_END;
    else if (text_to_number(text, 0, INT64_MAX, &value) == 0)
        kind = POSITION_OFFSET;
    else if (text[0] == '-' && text_to_number(text + 1, 1, INT32_MAX, &value) == 0)
        kind = POSITION_LAST;
    else if (text[0] == '@' && text_to_number(text + 1, 0, INT64_MAX, &value) == 0)
        kind = POSITION_TIME;
    else if (parse_age(text, now_ms, &value) || parse_date(text, &value))
        kind = POSITION_TIME;
    else
        return ERR_USAGE;
    *position = (struct position){ kind, value };
    return 0;
}
