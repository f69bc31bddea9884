// SPDX-License-Identifier: Apache-2.0
/* What the files of java_pattern share: where the reader is, what a character is, escapes and names. */

#ifndef BASE_JAVA_PATTERN_INSIDE_H
#define BASE_JAVA_PATTERN_INSIDE_H

#include "bytes.h"

#define END       (-1)
#define NAMES_MAX 64

/* Where the reader is. */
struct place {
    int32_t at;
    bool is_quoted;   /* Inside of \Q…\E, */
    bool quote_began; /* … before its first character. */
    bool is_escaped;  /* Behind a backslash: the next is no \Q. */
};

struct pattern {
    struct str text;
    struct place place;
    bool has_comments; /* The flag x: white, and # to the end of the line, do not count. */
    bool is_wrong;
    unsigned depth;
    struct str names[NAMES_MAX]; /* Of groups. */
    unsigned name_count;
};

struct character {
    int32_t code; /* Or END. */
    bool is_literal;
};

void pattern_refuse(struct pattern *pattern);

/* ---- characters: java_pattern_read.c ---- */

bool pattern_is_digit(int32_t code);
bool pattern_is_letter(int32_t code); /* Of ASCII. */

/* The next one as it stands; \Q and \E are none. */
struct character pattern_read(struct str text, struct place *place);
struct character pattern_next_raw(struct pattern *pattern);
int32_t pattern_peek_raw(const struct pattern *pattern);

/* The next one that counts. */
struct character pattern_next(struct pattern *pattern);
struct character pattern_peek(struct pattern *pattern);

/* Is it this one, and does not only stand for itself? */
bool pattern_is(struct character c, int32_t code);
bool pattern_next_is(struct pattern *pattern, int32_t code);
bool pattern_take(struct pattern *pattern, int32_t code); /* If it is next. */

/* ---- names and escapes: java_pattern_escape.c ---- */

/* Behind (?< or \k<: a letter, then letters and digits, then >. False, and refused: it is none. */
bool pattern_take_group_name(struct pattern *pattern, struct str *name);
bool pattern_knows_group(const struct pattern *pattern, struct str name);

/* Behind \p or \P: one letter, or a name in braces. */
void pattern_parse_property(struct pattern *pattern);

/* What stands behind a backslash, of what may stand anywhere. The code of the character, or END for one of
 * several. */
int32_t pattern_parse_escape(struct pattern *pattern);

#endif
