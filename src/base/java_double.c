// SPDX-License-Identifier: Apache-2.0
#include "java_double.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_end(const char *text)
{
    while (*text != '\0' && (unsigned char)*text <= ' ')
        text++;
    return *text == '\0';
}

static bool parse_word(const char *text, bool is_negative, double *number)
{
    if (strncmp(text, "NaN", 3) == 0 && is_end(text + 3)) {
        *number = NAN;
        return true;
    }
    if (strncmp(text, "Infinity", 8) == 0 && is_end(text + 8)) {
        *number = is_negative ? -INFINITY : INFINITY;
        return true;
    }
    return false;
}

bool java_double_parse(const char *text, double *number)
{
    while (*text != '\0' && (unsigned char)*text <= ' ')
        text++;
    bool is_negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    if (parse_word(text, is_negative, number)) return true;
    /* What strtod() takes beyond Java: other words, another sign, hexadecimal without an exponent. */
    if (*text != '.' && (*text < '0' || *text > '9')) return false;
    bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (is_hexadecimal && strpbrk(text, "pP") == NULL) return false;
    char *end;
    double parsed = strtod(text, &end);
    if (end == text) return false;
    if (*end != '\0' && strchr("fFdD", *end) != NULL) end++;
    if (!is_end(end)) return false;
    *number = is_negative ? -parsed : parsed;
    return true;
}

/* The fewest digits, of which the first stands before the point, and the power of ten of that one. */
static int shortest_digits(double number, char digits[20], int *exponent)
{
    char text[JAVA_DOUBLE_SIZE];
    int precision = 0;
    do {
        snprintf(text, sizeof text, "%.*e", precision, number);
    } while (strtod(text, NULL) != number && ++precision <= 16);
    int count = 0;
    const char *at = text;
    for (; *at != 'e' && *at != '\0'; at++)
        if (*at >= '0' && *at <= '9' && count < 19) digits[count++] = *at;
    *exponent = *at == 'e' ? atoi(at + 1) : 0;
    digits[count] = '\0';
    return count;
}

void java_double_print(char text[JAVA_DOUBLE_SIZE], double number)
{
    if (isnan(number) || isinf(number) || number == 0) {
        snprintf(text, JAVA_DOUBLE_SIZE, "%s%s", signbit(number) && !isnan(number) ? "-" : "",
                 isnan(number)   ? "NaN"
                 : isinf(number) ? "Infinity"
                                 : "0.0");
        return;
    }
    char digits[20];
    int exponent;
    const char *sign = number < 0 ? "-" : "";
    int count = shortest_digits(fabs(number), digits, &exponent);
    if (exponent >= 7 || exponent < -3)
        snprintf(text, JAVA_DOUBLE_SIZE, "%s%c.%sE%d", sign, digits[0],
                 count > 1 ? digits + 1 : "0", exponent);
    else if (exponent < 0)
        snprintf(text, JAVA_DOUBLE_SIZE, "%s0.%.*s%s", sign, -exponent - 1, "000", digits);
    else if (count > exponent + 1)
        snprintf(text, JAVA_DOUBLE_SIZE, "%s%.*s.%s", sign, exponent + 1, digits,
                 digits + exponent + 1);
    else
        snprintf(text, JAVA_DOUBLE_SIZE, "%s%s%.*s.0", sign, digits, exponent + 1 - count,
                 "0000000");
}
