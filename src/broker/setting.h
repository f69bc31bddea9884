// SPDX-License-Identifier: Apache-2.0
/* One setting of the table: how it is found by name, and what values it takes. */

#ifndef BROKER_SETTING_H
#define BROKER_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* What becomes of a value; config_table.h says more. */
enum setting_kind {
    SETTING_SERVED,
    SETTING_TOGETHER,
    SETTING_TOPIC_DEFAULT,
    SETTING_NO_EFFECT,
    SETTING_REFUSED,
};

enum setting_type {
    SETTING_BOOLEAN,
    SETTING_SHORT,
    SETTING_INT,
    SETTING_LONG,
    SETTING_DOUBLE,
    SETTING_STRING,
    SETTING_LIST,
    SETTING_CLASS,
    SETTING_PASSWORD,
};

struct setting {
    const char *name;
    enum setting_kind kind;
    enum setting_type type;
    const char *default_value; /* As text; NULL: none. */
    const char *valid;         /* "least..most", "word|word", or "". */
    size_t field, field_size;  /* In struct config; of SETTING_SERVED only. */
    const char *topic_setting; /* Of SETTING_TOPIC_DEFAULT: its name, */
    int64_t unit;              /* and how many of its units one of ours is. */
    const char *text;          /* What it means; why it is refused. */
};

/* The table in the order of names; NULL behind its end. */
const struct setting *setting_at(unsigned index);

const char *setting_type_name(enum setting_type type);

/* The setting of that name; of "listener.name.<listener>.<name>" (and with a SASL mechanism before
 * a sasl. name) that of the rest, with `*is_prefixed` (may be NULL) true. NULL: there is none. */
const struct setting *setting_find(const char *name, bool *is_prefixed);

/* The known name that somebody who wrote `name` may have meant; NULL if none is close. */
const char *setting_nearest(const char *name);

/* Is `value`, without white around it, of the type and in the range? 0 with the number of a whole
 * number or boolean, or ERR_USAGE with a sentence in `why`. A password is never quoted. */
int setting_check(const struct setting *setting, const char *value, int64_t *number, char *why,
                  size_t why_size);

/* Does a value that setting_check() took mean the same as the default? Nothing is the same as none,
 * and the order of a list does not count. */
bool setting_is_default(const struct setting *setting, const char *value);

/* The next item of a list that is separated by commas, without white around it, empty ones too.
 * False at the end; an empty list has no items. */
bool setting_next_item(const char **rest, struct str *item);

#endif
