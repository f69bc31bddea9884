// SPDX-License-Identifier: Apache-2.0
#include "java_duration.h"

#include "java_integer.h"

#define NANOS_PER_SECOND 1000000000

/* What is left of the text. */
static char first_of(struct str text)
{
    char c = text.length > 0 ? text.data[0] : '\0';
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static void skip(struct str *text, int32_t count)
{
    text->data += count;
    text->length -= count;
}

static bool take(struct str *text, char wanted)
{
    if (first_of(*text) != wanted) return false;
    skip(text, 1);
    return true;
}

static int32_t digits_at(struct str text, int32_t at)
{
    int32_t count = 0;
    while (at + count < text.length && text.data[at + count] >= '0' && text.data[at + count] <= '9')
        count++;
    return count;
}

/* How long the number is that the text begins with; 0: with none. */
static int32_t number_length(struct str text)
{
    int32_t sign = first_of(text) == '-' || first_of(text) == '+';
    int32_t digits = digits_at(text, sign);
    return digits == 0 ? 0 : sign + digits;
}

/* Adds "<number><unit>" if that is next. False: it is too much. */
static bool add_unit(struct str *text, char unit, int64_t unit_seconds, int64_t *seconds,
                     bool *has_any)
{
    int32_t length = number_length(*text);
    struct str rest = { text->data + length, text->length - length };
    int64_t number;
    if (length == 0 || !take(&rest, unit)) return true;
    if (!java_integer_parse((struct str){ text->data, length }, &number) ||
        __builtin_mul_overflow(number, unit_seconds, &number) ||
        __builtin_add_overflow(*seconds, number, seconds))
        return false;
    *text = rest;
    *has_any = true;
    return true;
}

/* "<number>.<fraction>S", with a point or a comma and up to nine digits behind it, also none. */
static bool add_seconds(struct str *text, int64_t *seconds, int32_t *nanos, bool *has_any)
{
    int32_t length = number_length(*text), digits = 0;
    bool has_point = length > 0 && length < text->length &&
                     (text->data[length] == '.' || text->data[length] == ',');
    if (!has_point) return add_unit(text, 'S', 1, seconds, has_any);
    struct str whole = { text->data, length };
    int64_t number;
    digits = digits_at(*text, length + 1);
    struct str rest = *text;
    skip(&rest, length + 1 + digits);
    if (digits > 9 || !take(&rest, 'S')) return false;
    int32_t fraction = 0;
    for (int32_t i = 0; i < 9; i++)
        fraction = fraction * 10 + (i < digits ? text->data[length + 1 + i] - '0' : 0);
    if (!java_integer_parse(whole, &number) || __builtin_add_overflow(*seconds, number, seconds))
        return false;
    *nanos = whole.data[0] == '-' ? -fraction : fraction;
    *text = rest;
    *has_any = true;
    return true;
}

/* So that the nanoseconds add to the seconds. */
static bool normalize(bool is_negated, int64_t *seconds, int32_t *nanos)
{
    if (is_negated) {
        *nanos = -*nanos;
        if (__builtin_sub_overflow(0, *seconds, seconds)) return false;
    }
    if (*nanos >= 0) return true;
    *nanos += NANOS_PER_SECOND;
    return !__builtin_sub_overflow(*seconds, 1, seconds);
}

bool java_duration_parse(struct str text, int64_t *seconds, int32_t *nanos)
{
    int64_t total = 0;
    int32_t fraction = 0;
    bool has_days = false, has_time = false;
    bool is_negated = take(&text, '-');
    if (!is_negated) take(&text, '+');
    if (!take(&text, 'P') || !add_unit(&text, 'D', 86400, &total, &has_days)) return false;
    /* Java lets a small t stand alone. */
    bool is_large = text.length > 0 && text.data[0] == 'T';
    if (take(&text, 'T')) {
        if (!add_unit(&text, 'H', 3600, &total, &has_time) ||
            !add_unit(&text, 'M', 60, &total, &has_time) ||
            !add_seconds(&text, &total, &fraction, &has_time) || (is_large && !has_time))
            return false;
    }
    if (text.length != 0 || !(has_days || has_time) || !normalize(is_negated, &total, &fraction))
        return false;
    *seconds = total;
    *nanos = fraction;
    return true;
}
