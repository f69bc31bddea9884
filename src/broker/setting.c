// SPDX-License-Identifier: Apache-2.0
#include "setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "config.h"
#include "config_table.h"
#include "error.h"
#include "java_double.h"
#include "java_integer.h"
#include "trace.h"

#define FIELD_OF(field) offsetof(struct config, field), sizeof(((const struct config *)NULL)->field)

#define ROW_SERVED(name, type, default_value, valid, field, text) \
    { name, SETTING_SERVED, SETTING_##type, default_value, valid, FIELD_OF(field), NULL, 1, text },
#define ROW_TOGETHER(name, type, default_value, valid, text) \
    { name, SETTING_TOGETHER, SETTING_##type, default_value, valid, 0, 0, NULL, 1, text },
#define ROW_TOPIC_DEFAULT(name, type, default_value, valid, topic_setting, unit) \
    { name, SETTING_TOPIC_DEFAULT, SETTING_##type, default_value, valid, 0,      \
      0,    topic_setting,         unit,           NULL },
#define ROW_NO_EFFECT(name, type, default_value, valid) \
    { name, SETTING_NO_EFFECT, SETTING_##type, default_value, valid, 0, 0, NULL, 1, NULL },
#define ROW_REFUSED(name, type, default_value, valid, text) \
    { name, SETTING_REFUSED, SETTING_##type, default_value, valid, 0, 0, NULL, 1, text },

static const struct setting table[] = { CONFIG_TABLE(ROW_SERVED, ROW_TOGETHER, ROW_TOPIC_DEFAULT,
                                                     ROW_NO_EFFECT, ROW_REFUSED) };

#define TABLE_LENGTH (sizeof table / sizeof table[0])

const struct setting *setting_at(unsigned index)
{
    return index < TABLE_LENGTH ? &table[index] : NULL;
}

const char *setting_type_name(enum setting_type type)
{
    static const char *const names[] = { "boolean", "short", "int",   "long",    "double",
                                         "string",  "list",  "class", "password" };
    return names[type];
}

/* ---- finding one ---- */

static const struct setting *find_exactly(const char *name)
{
    for (size_t i = 0; i < TABLE_LENGTH; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

const struct setting *setting_find(const char *name, bool *is_prefixed)
{
    static const char prefix[] = "listener.name.";
    bool unused;
    if (is_prefixed == NULL) is_prefixed = &unused;

    *is_prefixed = strncmp(name, prefix, sizeof prefix - 1) == 0;
    if (!*is_prefixed) return find_exactly(name);
    const char *dot = strchr(name + sizeof prefix - 1, '.');
    if (dot == NULL) return NULL;
    const struct setting *setting = find_exactly(dot + 1);
    if (setting != NULL) return setting;
    dot = strchr(dot + 1, '.');
    return dot != NULL && strncmp(dot + 1, "sasl.", 5) == 0 ? find_exactly(dot + 1) : NULL;
}

#define NAME_MAX_LENGTH 80

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, taken out or replaced to make one of the other (Levenshtein). */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[NAME_MAX_LENGTH + 1];
    size_t b_length = strlen(b);
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < b_length; j++) {
            unsigned replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = least(replaced, least(row[j], row[j + 1]) + 1);
        }
    }
    return row[b_length];
}

const char *setting_nearest(const char *name)
{
    size_t length = strlen(name);
    if (length > NAME_MAX_LENGTH) return NULL;
    unsigned best = least(4, (unsigned)length / 3 + 1); /* From here on it is another word. */
    const char *nearest = NULL;
    for (size_t i = 0; i < TABLE_LENGTH; i++) {
        if (strlen(table[i].name) > NAME_MAX_LENGTH) continue;
        unsigned far = distance(name, table[i].name);
        if (far < best) {
            best = far;
            nearest = table[i].name;
        }
    }
    return nearest;
}

/* ---- lists ---- */

bool setting_next_item(const char **rest, struct str *item)
{
    if (*rest == NULL || **rest == '\0') return false;
    size_t length = strcspn(*rest, ",");
    *item = str_trim((struct str){ *rest, (int32_t)length });
    bool is_last = (*rest)[length] == '\0';
    /* "a," has two items, the second of them empty. */
    static const char empty_item[] = " ";
    *rest += length + !is_last;
    if (!is_last && **rest == '\0') *rest = empty_item;
    return true;
}

/* ---- values ---- */

static bool parse_number(const char *text, int64_t *number)
{
    return java_integer_parse(str_from(text), number);
}

static bool parse_boolean(const char *text, int64_t *number)
{
    *number = strcasecmp(text, "true") == 0;
    return *number != 0 || strcasecmp(text, "false") == 0;
}

static int64_t type_least(enum setting_type type)
{
    return type == SETTING_SHORT ? INT16_MIN : type == SETTING_INT ? INT32_MIN : INT64_MIN;
}

static int64_t type_most(enum setting_type type)
{
    return type == SETTING_SHORT ? INT16_MAX : type == SETTING_INT ? INT32_MAX : INT64_MAX;
}

/* The two ends of "least..most". */
static void whole_range(const struct setting *setting, int64_t *from, int64_t *to)
{
    *from = type_least(setting->type);
    *to = type_most(setting->type);
    const char *dots = strstr(setting->valid, "..");
    if (dots == NULL) return;
    if (dots != setting->valid) *from = strtoll(setting->valid, NULL, 10);
    if (dots[2] != '\0') *to = strtoll(dots + 2, NULL, 10);
}

static bool double_is_valid(const struct setting *setting, double number)
{
    const char *dots = strstr(setting->valid, "..");
    if (dots == NULL) return true;
    /* As in Kafka, NaN is in every range. */
    return !(dots != setting->valid && number < strtod(setting->valid, NULL)) &&
           !(dots[2] != '\0' && number > strtod(dots + 2, NULL));
}

static bool word_is_valid(const struct setting *setting, struct str word)
{
    if (setting->valid[0] == '\0') return true;
    for (const char *at = setting->valid; *at != '\0';) {
        size_t length = strcspn(at, "|");
        if (word.length == (int32_t)length && strncasecmp(at, word.data, length) == 0) return true;
        at += length + (at[length] == '|');
    }
    return false;
}

static bool list_is_valid(const struct setting *setting, const char *value)
{
    struct str item;
    while (setting_next_item(&value, &item))
        if (!word_is_valid(setting, item)) return false;
    return true;
}

static bool value_is_valid(const struct setting *setting, const char *value, int64_t *number)
{
    double fraction;
    int64_t from, to;
    switch (setting->type) {
    case SETTING_BOOLEAN: return parse_boolean(value, number);
    case SETTING_SHORT:
    case SETTING_INT:
    case SETTING_LONG:
        whole_range(setting, &from, &to);
        return parse_number(value, number) && *number >= from && *number <= to;
    case SETTING_DOUBLE:
        return java_double_parse(value, &fraction) && double_is_valid(setting, fraction);
    case SETTING_STRING: return word_is_valid(setting, str_from(value));
    case SETTING_LIST: return list_is_valid(setting, value);
    case SETTING_CLASS:
    case SETTING_PASSWORD: return true;
    }
    return false;
}

int setting_check(const struct setting *setting, const char *value, int64_t *number, char *why,
                  size_t why_size)
{
    int64_t parsed = 0;
    if (value_is_valid(setting, value, &parsed)) {
        *number = parsed;
        return 0;
    }

    char shown[64];
    int64_t from, to;
    trace_escape(shown, sizeof shown, str_from(value));
    switch (setting->type) {
    case SETTING_BOOLEAN:
        snprintf(why, why_size, "%s must be true or false, not \"%s\"", setting->name, shown);
        break;
    case SETTING_SHORT:
    case SETTING_INT:
    case SETTING_LONG:
        whole_range(setting, &from, &to);
        snprintf(why, why_size, "%s must be a whole number from %lld to %lld, not \"%s\"",
                 setting->name, (long long)from, (long long)to, shown);
        break;
    case SETTING_DOUBLE:
        snprintf(why, why_size, "%s must be a number%s%s, not \"%s\"", setting->name,
                 setting->valid[0] == '\0' ? "" : " in ", setting->valid, shown);
        break;
    default:
        snprintf(why, why_size, "%s must be %s, not \"%s\"", setting->name, setting->valid, shown);
    }
    return ERR_USAGE;
}

static bool list_has(const char *list, struct str wanted)
{
    struct str item;
    while (setting_next_item(&list, &item))
        if (str_equal(item, wanted)) return true;
    return false;
}

static bool list_is_within(const char *list, const char *other)
{
    struct str item;
    while (setting_next_item(&list, &item))
        if (!list_has(other, item)) return false;
    return true;
}

bool setting_is_default(const struct setting *setting, const char *value)
{
    int64_t number = 0, default_number = 0;
    double fraction = 0, default_fraction = 0;
    const char *default_value = setting->default_value;
    if (default_value == NULL) return *value == '\0';
    switch (setting->type) {
    case SETTING_BOOLEAN:
        return parse_boolean(value, &number) && parse_boolean(default_value, &default_number) &&
               number == default_number;
    case SETTING_SHORT:
    case SETTING_INT:
    case SETTING_LONG:
        return parse_number(value, &number) && parse_number(default_value, &default_number) &&
               number == default_number;
    case SETTING_DOUBLE:
        return java_double_parse(value, &fraction) &&
               java_double_parse(default_value, &default_fraction) && fraction == default_fraction;
    case SETTING_LIST:
        return list_is_within(value, default_value) && list_is_within(default_value, value);
    default: return strcmp(value, default_value) == 0;
    }
}
