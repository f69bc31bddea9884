// SPDX-License-Identifier: Apache-2.0
#include "config_resource.h"

#include <stdio.h>

bool config_resource_broker(struct str name, int32_t *broker)
{
    bool is_negative = name.length > 0 && name.data[0] == '-';
    bool has_sign = is_negative || (name.length > 0 && name.data[0] == '+'); /* As Java reads it. */
    int32_t number = 0, at = has_sign ? 1 : 0;
    if (at >= name.length) return false;
    for (; at < name.length; at++) {
        int digit = name.data[at] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, is_negative ? -digit : digit, &number))
            return false;
    }
    *broker = number;
    return true;
}

struct str config_resource_sentence(struct arena *arena, const char *format, va_list arguments)
{
    char sentence[256];
    struct str copy;
    int length = vsnprintf(sentence, sizeof sentence, format, arguments);
    if (length < 0) return STR_NULL;
    return arena_str(arena, str_from(sentence), &copy) == 0 ? copy : STR_NULL;
}
