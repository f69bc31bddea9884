// SPDX-License-Identifier: Apache-2.0
#include "java_pattern_inside.h"

bool pattern_is_digit(int32_t c)
{
    return c >= '0' && c <= '9';
}

bool pattern_is_letter(int32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_white(int32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The code of the UTF-8 character at `*at`; a byte that begins none stands for itself. */
static int32_t decode(struct str text, int32_t *at)
{
    uint8_t first = (uint8_t)text.data[(*at)++];
    int32_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    if (more == 0 || *at + more > text.length) return first;
    int32_t code = first & (0x3f >> more);
    for (int32_t i = 0; i < more; i++)
        code = code << 6 | (text.data[*at + i] & 0x3f);
    *at += more;
    return code;
}

static bool stands_at(struct str text, int32_t at, char c)
{
    return at + 1 < text.length && text.data[at] == '\\' && text.data[at + 1] == c;
}

/* By (1). */
struct character pattern_read(struct str text, struct place *place)
{
    struct character result = { END, false };
    while (!place->is_escaped && stands_at(text, place->at, place->is_quoted ? 'E' : 'Q')) {
        place->at += 2;
        place->is_quoted = place->quote_began = !place->is_quoted;
    }
    if (place->at >= text.length) return result;
    result.code = decode(text, &place->at);
    if (place->is_quoted) {
        result.is_literal = !pattern_is_letter(result.code) &&
                            !(pattern_is_digit(result.code) && !place->quote_began);
        place->quote_began = false;
    } else {
        place->is_escaped = !place->is_escaped && result.code == '\\';
    }
    return result;
}

/* The next one as it stands. */
struct character pattern_next_raw(struct pattern *pattern)
{
    return pattern_read(pattern->text, &pattern->place);
}

int32_t pattern_peek_raw(const struct pattern *pattern)
{
    struct place place = pattern->place;
    return pattern_read(pattern->text, &place).code;
}

static void skip_comments(struct pattern *pattern)
{
    for (;;) {
        struct place place = pattern->place;
        struct character c = pattern_read(pattern->text, &place);
        if (c.is_literal || !(is_white(c.code) || c.code == '#')) return;
        pattern->place = place;
        if (c.code != '#') continue;
        do
            c = pattern_next_raw(pattern);
        while (c.code != END && c.code != '\n' && c.code != '\r' && c.code != 0x85 &&
               c.code != 0x2028 && c.code != 0x2029);
    }
}

/* What counts next. */
struct character pattern_peek(struct pattern *pattern)
{
    if (pattern->has_comments) skip_comments(pattern);
    struct place place = pattern->place;
    return pattern_read(pattern->text, &place);
}

struct character pattern_next(struct pattern *pattern)
{
    if (pattern->has_comments) skip_comments(pattern);
    return pattern_next_raw(pattern);
}

bool pattern_is(struct character c, int32_t code)
{
    return c.code == code && !c.is_literal;
}

bool pattern_next_is(struct pattern *pattern, int32_t code)
{
    return pattern_is(pattern_peek(pattern), code);
}

bool pattern_take(struct pattern *pattern, int32_t code)
{
    if (!pattern_next_is(pattern, code)) return false;
    pattern_next(pattern);
    return true;
}

void pattern_refuse(struct pattern *pattern)
{
    pattern->is_wrong = true;
}
