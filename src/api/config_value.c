// SPDX-License-Identifier: Apache-2.0
#include "config_value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "java_double.h"
#include "meta_settings.h"

static const char *copy(struct arena *arena, const char *text)
{
    struct str copied;
    return arena_str(arena, str_from(text), &copied) == 0 ? copied.data : NULL;
}

static const char *number_text(const char *value, struct arena *arena)
{
    char text[32], *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0') return value;
    snprintf(text, sizeof text, "%lld", number);
    return copy(arena, text);
}

static const char *fraction_text(const char *value, struct arena *arena)
{
    char text[JAVA_DOUBLE_SIZE];
    double number;
    if (!java_double_parse(value, &number)) return value;
    java_double_print(text, number);
    return copy(arena, text);
}

static const char *boolean_text(const char *value)
{
    if (strcasecmp(value, "true") == 0) return "true";
    return strcasecmp(value, "false") == 0 ? "false" : value;
}

const char *config_value_text(enum config_type type, const char *value, struct arena *arena)
{
    if (value == NULL) return NULL;
    switch (type) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_SHORT:
    case CONFIG_TYPE_LONG: return number_text(value, arena);
    case CONFIG_TYPE_DOUBLE: return fraction_text(value, arena);
    case CONFIG_TYPE_BOOLEAN: return boolean_text(value);
    case CONFIG_TYPE_LIST: return meta_settings_list(value, arena);
    case CONFIG_TYPE_STRING:
    case CONFIG_TYPE_CLASS:
    case CONFIG_TYPE_PASSWORD: break;
    }
    return value;
}
