// SPDX-License-Identifier: Apache-2.0
#include "resource_config.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "error.h"
#include "java_integer.h"
#include "trace.h"

const struct resource_config_row *resource_config_find(const struct resource_config *config,
                                                       struct str name)
{
    for (unsigned i = 0; i < config->count; i++)
        if (str_equals_text(name, config->rows[i].name)) return &config->rows[i];
    return NULL;
}

bool resource_config_next_item(struct str *rest, struct str *item)
{
    if (str_is_null(*rest)) return false;
    const char *comma = memchr(rest->data, ',', (size_t)rest->length);
    int32_t length = comma == NULL ? rest->length : (int32_t)(comma - rest->data);
    *item = str_trim((struct str){ rest->data, length });
    *rest = comma == NULL ? STR_NULL : (struct str){ comma + 1, rest->length - length - 1 };
    return true;
}

static bool list_is_legal(struct str list)
{
    struct str item;
    if (list.length == 0) return true;
    while (resource_config_next_item(&list, &item))
        if (item.length == 0) return false;
    return true;
}

static int64_t type_most(enum config_type type)
{
    return type == CONFIG_TYPE_INT ? INT32_MAX : INT64_MAX;
}

static bool value_is_legal(const struct resource_config_row *row, struct str value)
{
    int64_t number;
    switch (row->type) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_LONG:
        return java_integer_parse(value, &number) && number >= row->least &&
               number <= type_most(row->type);
    case CONFIG_TYPE_BOOLEAN:
        return strcasecmp(value.data, "true") == 0 || strcasecmp(value.data, "false") == 0;
    case CONFIG_TYPE_LIST:
        return list_is_legal(value) && (row->is_legal == NULL || row->is_legal(value));
    default: return row->is_legal == NULL || row->is_legal(value);
    }
}

static int explain(const struct resource_config_row *row, struct str value, char *why, size_t size)
{
    char shown[48];
    trace_escape(shown, sizeof shown, value);
    switch (row->type) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_LONG:
        snprintf(why, size, "%s must be from %" PRId64 " to %" PRId64 ", not \"%s\".", row->name,
                 row->least, type_most(row->type), shown);
        break;
    case CONFIG_TYPE_BOOLEAN:
        snprintf(why, size, "%s must be true or false, not \"%s\".", row->name, shown);
        break;
    default:
        snprintf(why, size, "%s cannot be \"%s\": %s.", row->name, shown,
                 row->legal == NULL ? "an item is empty" : row->legal);
    }
    return ERR_INVALID_CONFIG;
}

int resource_config_check_values(const struct resource_config *config,
                                 const struct meta_setting *settings, unsigned count, char *why,
                                 size_t why_size)
{
    for (unsigned i = 0; i < count; i++) {
        struct str value = str_from(settings[i].value);
        const struct resource_config_row *row = resource_config_find(config,
                                                                     str_from(settings[i].name));
        assert(row != NULL);
        if (!value_is_legal(row, value)) return explain(row, value, why, why_size);
    }
    return 0;
}
