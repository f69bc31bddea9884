// SPDX-License-Identifier: Apache-2.0
/* A reader of java.util.regex's language that builds nothing. It goes down into groups and classes, and
 * remembers that something was wrong.
 *
 *  (1) Characters come through pattern_read(), which knows of \Q…\E: what stands there stands for itself.
 *  (2) A part of a pattern has a shape: what is asked of it inside of a look-behind, whose length must
 *      have an end, and of a group that is repeated there. */

#include "java_pattern.h"

#include "java_pattern_inside.h"

#define REPEATS_MAX INT32_MAX

/* By (2). */
struct shape {
    bool is_bounded;   /* It has an obvious greatest length. */
    bool is_plain;     /* There is one way only to match it. */
    bool is_character; /* It is any one character of some. */
};

static const struct shape character_shape = { true, true, true };
static const struct shape bounded_shape = { true, true, false };
static const struct shape unbounded_shape = { false, true, false };

static struct shape parse_alternatives(struct pattern *pattern);
static void parse_class(struct pattern *pattern, bool is_inner);

/* False: too deep, and refused. */
static bool descend(struct pattern *pattern)
{
    if (++pattern->depth > JAVA_PATTERN_DEPTH) pattern_refuse(pattern);
    return !pattern->is_wrong;
}

/* ---- atoms ---- */

/* Behind \b: {g}, or not; any other brace says how often. */
static void take_grapheme_kind(struct pattern *pattern)
{
    struct place place = pattern->place;
    if (pattern_next_raw(pattern).code != '{' || pattern_next_raw(pattern).code != 'g')
        pattern->place = place;
    else if (pattern_next_raw(pattern).code != '}')
        pattern_refuse(pattern);
}

/* Behind a backslash outside of a class. */
static struct shape parse_escaped_atom(struct pattern *pattern)
{
    struct str name;
    int32_t code = pattern_peek_raw(pattern);
    switch (code) {
    case 'p':
    case 'P':
        pattern_next_raw(pattern);
        pattern_parse_property(pattern);
        return character_shape;
    case 'A':
    case 'B':
    case 'G':
    case 'Z':
    case 'z':
    case 'R':
    case 'X': pattern_next_raw(pattern); return bounded_shape;
    case 'b':
        pattern_next_raw(pattern);
        take_grapheme_kind(pattern);
        return bounded_shape;
    case 'k':
        pattern_next_raw(pattern);
        if (pattern_next_raw(pattern).code != '<')
            pattern_refuse(pattern);
        else if (pattern_take_group_name(pattern, &name) && !pattern_knows_group(pattern, name))
            pattern_refuse(pattern);
        return unbounded_shape;
    default: break;
    }
    if (code >= '1' && code <= '9') {
        pattern_next_raw(pattern);
        return unbounded_shape; /* A reference to a group, which need not be there. */
    }
    pattern_parse_escape(pattern);
    return character_shape;
}

/* ---- classes ---- */

/* One character or a range of them, or what stands for several. */
static void parse_range(struct pattern *pattern)
{
    struct character c = pattern_next(pattern);
    int32_t from = c.code, to;
    if (pattern_is(c, '\\')) {
        int32_t escaped = pattern_peek_raw(pattern);
        if (escaped == 'p' || escaped == 'P') {
            pattern_next_raw(pattern);
            pattern_parse_property(pattern);
            return;
        }
        bool is_range_start = escaped == 'v';
        from = pattern_parse_escape(pattern);
        if (is_range_start && pattern_next_is(pattern, '-')) from = '\v';
        if (from == END) return;
    }
    if (!pattern_next_is(pattern, '-')) return;
    struct place place = pattern->place;
    (void)pattern_read(pattern->text, &place);
    struct character behind = pattern_read(pattern->text, &place);
    if (pattern_is(behind, '[') || pattern_is(behind, ']')) return; /* The - stands for itself. */
    pattern_next(pattern);
    c = pattern_next(pattern);
    to = pattern_is(c, '\\') ? pattern_parse_escape(pattern) : c.code;
    if (to < from) pattern_refuse(pattern);
}

/* Behind &&, up to the next && or the end of the class. */
static bool parse_intersected(struct pattern *pattern)
{
    bool has_any = false;
    while (!pattern->is_wrong && !pattern_next_is(pattern, ']') && !pattern_next_is(pattern, '&')) {
        parse_class(pattern, !pattern_next_is(pattern, '['));
        has_any = true;
    }
    return has_any;
}

/* Behind a [, or, if `is_inner`, behind && and up to the ] that ends it all. */
static void parse_members(struct pattern *pattern, bool is_inner)
{
    bool has_any = false;
    if (!is_inner) pattern_take(pattern, '^');
    while (!pattern->is_wrong) {
        struct character c = pattern_peek(pattern);
        if (c.code == END) {
            pattern_refuse(pattern);
        } else if (pattern_is(c, ']') && has_any) {
            if (!is_inner) pattern_next(pattern);
            return;
        } else if (pattern_is(c, '[')) {
            parse_class(pattern, false);
            has_any = true;
        } else if (pattern_is(c, '&')) {
            pattern_next(pattern);
            if (pattern_take(pattern, '&')) {
                if (!parse_intersected(pattern) && !has_any) pattern_refuse(pattern);
            }
            has_any = true; /* Or it was one that stands for itself. */
        } else {
            parse_range(pattern);
            has_any = true;
        }
    }
}

static void parse_class(struct pattern *pattern, bool is_inner)
{
    if (descend(pattern)) {
        if (!is_inner) pattern_next(pattern); /* [ */
        parse_members(pattern, is_inner);
    }
    pattern->depth--;
}

/* ---- repetitions ---- */

static int64_t take_count(struct pattern *pattern)
{
    int64_t count = 0;
    while (pattern_is_digit(pattern_peek_raw(pattern))) {
        count = count * 10 + pattern_next_raw(pattern).code - '0';
        if (count <= REPEATS_MAX) continue;
        pattern_refuse(pattern);
        count = 0;
    }
    return count;
}

/* {n}, {n,} or {n,m}. */
static struct shape parse_counts(struct pattern *pattern, struct shape shape)
{
    pattern_next(pattern); /* { */
    if (!pattern_is_digit(pattern_peek_raw(pattern))) pattern_refuse(pattern);
    int64_t least = take_count(pattern), most = least;
    if (pattern_peek_raw(pattern) == ',') {
        pattern_next_raw(pattern);
        most = pattern_peek_raw(pattern) == '}' ? REPEATS_MAX : take_count(pattern);
    }
    if (pattern_next_raw(pattern).code != '}' || most < least) pattern_refuse(pattern);
    return (struct shape){ shape.is_bounded && most < REPEATS_MAX, shape.is_plain && least == most,
                           false };
}

/* What may follow an atom: how often. */
static struct shape parse_repetition(struct pattern *pattern, struct shape shape, bool is_group)
{
    struct character c = pattern_peek(pattern);
    struct shape repeated = { false, false, false };
    if (pattern_is(c, '*') || pattern_is(c, '+')) {
        pattern_next(pattern);
    } else if (pattern_is(c, '?')) {
        pattern_next(pattern);
        repeated.is_bounded = shape.is_bounded;
    } else if (pattern_is(c, '{')) {
        repeated = parse_counts(pattern, shape);
        /* Java loops over a group that has several ways, and knows no length of it. */
        if (is_group && !shape.is_plain) repeated.is_bounded = false;
    } else {
        return shape;
    }
    bool is_greedy = !pattern_take(pattern, '?') && !pattern_take(pattern, '+');
    /* As much as there is of one character has a length, Java says. */
    if (is_greedy && shape.is_character) repeated.is_bounded = true;
    return repeated;
}

/* ---- groups ---- */

/* Behind "(?": letters that switch something on, and off behind a -. */
static void parse_flags(struct pattern *pattern)
{
    bool is_on = true;
    for (;;) {
        struct character c = pattern_peek(pattern);
        if (c.is_literal || c.code == END || c.code >= 0x80 || c.code == '\0') return;
        if (c.code == '-' && is_on)
            is_on = false;
        else if (c.code == 'x')
            pattern->has_comments = is_on;
        else if (strchr("imsducU", c.code) == NULL)
            return;
        pattern_next(pattern);
    }
}

static void note_group_name(struct pattern *pattern)
{
    struct str name;
    if (!pattern_take_group_name(pattern, &name)) return;
    if (pattern_knows_group(pattern, name) || pattern->name_count == NAMES_MAX)
        pattern_refuse(pattern);
    else
        pattern->names[pattern->name_count++] = name;
}

/* Behind "(?". `*is_look`: what is in it is only looked at; `*is_behind`: before here; `*is_flags`: it is no
 * group at all. */
static void parse_group_kind(struct pattern *pattern, bool *is_look, bool *is_behind,
                             bool *is_flags)
{
    struct place place = pattern->place;
    struct character c = pattern_next_raw(pattern);
    switch (c.code) {
    case ':':
    case '>': return;
    case '=':
    case '!': *is_look = true; return;
    case '<':
        c.code = pattern_peek_raw(pattern);
        *is_look = *is_behind = c.code == '=' || c.code == '!';
        if (*is_look)
            pattern_next_raw(pattern);
        else
            note_group_name(pattern);
        return;
    default: break;
    }
    pattern->place = place;
    parse_flags(pattern);
    c = pattern_next(pattern);
    *is_flags = pattern_is(c, ')');
    if (!*is_flags && !pattern_is(c, ':')) pattern_refuse(pattern);
}

static struct shape parse_group(struct pattern *pattern)
{
    bool is_look = false, is_behind = false, is_flags = false;
    bool had_comments = pattern->has_comments;
    struct shape shape = bounded_shape;
    pattern_next(pattern); /* ( */
    if (pattern_next_is(pattern, '?')) {
        pattern_next(pattern);
        parse_group_kind(pattern, &is_look, &is_behind, &is_flags);
    }
    if (is_flags) { /* They count to the end of the group that this stands in. */
        if (pattern_next_is(pattern, '*') || pattern_next_is(pattern, '+') ||
            pattern_next_is(pattern, '?'))
            pattern_refuse(pattern);
        return shape;
    }
    shape = parse_alternatives(pattern);
    if (!pattern_take(pattern, ')')) pattern_refuse(pattern);
    pattern->has_comments = had_comments;
    if (is_behind && !shape.is_bounded) pattern_refuse(pattern);
    shape = is_look ? bounded_shape : (struct shape){ shape.is_bounded, shape.is_plain, false };
    return parse_repetition(pattern, shape, true);
}

/* ---- all ---- */

static struct shape parse_sequence(struct pattern *pattern)
{
    struct shape sequence = bounded_shape, part;
    while (!pattern->is_wrong) {
        struct character c = pattern_peek(pattern);
        if (c.code == END || pattern_is(c, '|') || pattern_is(c, ')')) break;
        if (pattern_is(c, '(')) {
            part = parse_group(pattern);
        } else if (pattern_is(c, '*') || pattern_is(c, '+') || pattern_is(c, '?')) {
            pattern_refuse(pattern);
            break;
        } else {
            part = pattern_is(c, '^') || pattern_is(c, '$') ? bounded_shape : character_shape;
            if (pattern_is(c, '[')) {
                parse_class(pattern, false);
            } else if (
                !pattern_is(
                    c,
                    '{')) { /* Where nothing is that it repeats, it must be right all the same. */
                pattern_next(pattern);
                if (pattern_is(c, '\\')) part = parse_escaped_atom(pattern);
            }
            part = parse_repetition(pattern, part, false);
        }
        sequence.is_bounded = sequence.is_bounded && part.is_bounded;
        sequence.is_plain = sequence.is_plain && part.is_plain;
    }
    return sequence;
}

static struct shape parse_alternatives(struct pattern *pattern)
{
    struct shape shape = bounded_shape;
    if (descend(pattern)) {
        shape = parse_sequence(pattern);
        while (pattern_take(pattern, '|')) {
            struct shape other = parse_sequence(pattern);
            shape = (struct shape){ shape.is_bounded && other.is_bounded, false, false };
        }
    }
    pattern->depth--;
    return shape;
}

bool java_pattern_is_legal(struct str text)
{
    struct pattern pattern = { .text = text };
    parse_alternatives(&pattern);
    return !pattern.is_wrong && pattern_peek(&pattern).code == END;
}
