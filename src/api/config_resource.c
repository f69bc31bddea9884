// SPDX-License-Identifier: Apache-2.0
#include "config_resource.h"

#include <stdio.h>

#include "java_integer.h"

bool config_resource_broker(struct str name, int32_t *broker)
{
    int64_t number;
    if (!java_integer_parse(name, &number) || number < INT32_MIN || number > INT32_MAX)
        return false;
    *broker = (int32_t)number;
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
