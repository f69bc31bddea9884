// SPDX-License-Identifier: Apache-2.0
/* Whole numbers as Java reads them. */

#ifndef BASE_JAVA_INTEGER_H
#define BASE_JAVA_INTEGER_H

#include "bytes.h"

/* Integer.parseInt and Long.parseLong: a sign, then digits only. False: it is none, or does not fit into 64
 * bits. */
static inline bool java_integer_parse(struct str text, int64_t *number)
{
    bool is_negative = text.length > 0 && text.data[0] == '-';
    int32_t at = is_negative || (text.length > 0 && text.data[0] == '+');
    int64_t result = 0;
    if (at >= text.length) return false;
    for (; at < text.length; at++) {
        int digit = text.data[at] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, is_negative ? -digit : digit, &result))
            return false;
    }
    *number = result;
    return true;
}

#endif
