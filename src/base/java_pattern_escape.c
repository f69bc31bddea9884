// SPDX-License-Identifier: Apache-2.0
#include "java_pattern_inside.h"

#define LAST_CODE 0x10ffff

/* ---- names ---- */

/* Up to `end`, which is taken as well. False, and refused: there is none. */
static bool take_name(struct pattern *pattern, char end, struct str *name)
{
    const char *from = pattern->text.data + pattern->place.at;
    const char *to = memchr(from, end, (size_t)(pattern->text.length - pattern->place.at));
    if (to == NULL) {
        pattern_refuse(pattern);
        return false;
    }
    *name = (struct str){ from, (int32_t)(to - from) };
    pattern->place.at += name->length + 1;
    pattern->place.is_escaped = false;
    return true;
}

static bool is_among(struct str name, const char *const *words)
{
    for (; *words != NULL; words++)
        if (str_equals_text(name, *words)) return true;
    return false;
}

static bool begins_with(struct str *name, const char *prefix)
{
    struct str wanted = str_from(prefix);
    if (name->length < wanted.length || memcmp(name->data, wanted.data, (size_t)wanted.length) != 0)
        return false;
    name->data += wanted.length;
    name->length -= wanted.length;
    return true;
}

static bool is_name_of_words(struct str name)
{
    for (int32_t i = 0; i < name.length; i++)
        if (!pattern_is_letter(name.data[i]) && !pattern_is_digit(name.data[i]) &&
            strchr(" _-()", name.data[i]) == NULL)
            return false;
    return name.length > 0;
}

static bool is_property(struct str name)
{
    static const char *const categories[] = { "Cn", "Lu", "Ll", "Lt", "Lm",  "Lo", "Mn", "Me", "Mc",
                                              "Nd", "Nl", "No", "Zs", "Zl",  "Zp", "Cc", "Cf", "Co",
                                              "Cs", "Pd", "Ps", "Pe", "Pc",  "Po", "Sm", "Sc", "Sk",
                                              "So", "Pi", "Pf", "L",  "M",   "N",  "Z",  "C",  "P",
                                              "S",  "LC", "LD", "L1", "all", NULL };
    static const char *const others[] = { "ASCII",
                                          "Alnum",
                                          "Alpha",
                                          "Blank",
                                          "Cntrl",
                                          "Digit",
                                          "Graph",
                                          "Lower",
                                          "Print",
                                          "Punct",
                                          "Space",
                                          "Upper",
                                          "XDigit",
                                          "javaLowerCase",
                                          "javaUpperCase",
                                          "javaAlphabetic",
                                          "javaIdeographic",
                                          "javaTitleCase",
                                          "javaDigit",
                                          "javaDefined",
                                          "javaLetter",
                                          "javaLetterOrDigit",
                                          "javaJavaIdentifierStart",
                                          "javaJavaIdentifierPart",
                                          "javaUnicodeIdentifierStart",
                                          "javaUnicodeIdentifierPart",
                                          "javaIdentifierIgnorable",
                                          "javaSpaceChar",
                                          "javaWhitespace",
                                          "javaISOControl",
                                          "javaMirrored",
                                          NULL };
    if (begins_with(&name, "gc=") || begins_with(&name, "general_category="))
        return is_among(name, categories);
    if (is_among(name, categories) || is_among(name, others)) return true;
    return (begins_with(&name, "sc=") || begins_with(&name, "script=") ||
            begins_with(&name, "blk=") || begins_with(&name, "block=") ||
            begins_with(&name, "Is") || begins_with(&name, "In")) &&
           is_name_of_words(name);
}

/* Behind \p or \P: one letter, or a name in braces. */
void pattern_parse_property(struct pattern *pattern)
{
    struct str name;
    struct character c = pattern_next(pattern);
    if (c.code == '{') {
        if (!take_name(pattern, '}', &name)) return;
        if (!is_property(name)) pattern_refuse(pattern);
        return;
    }
    char letter = (char)(c.code < 0x80 ? c.code : 0);
    if (c.code == END || !is_property((struct str){ &letter, 1 })) pattern_refuse(pattern);
}

bool pattern_knows_group(const struct pattern *pattern, struct str name)
{
    for (unsigned i = 0; i < pattern->name_count; i++)
        if (str_equal(pattern->names[i], name)) return true;
    return false;
}

/* A letter, then letters and digits, then >. */
bool pattern_take_group_name(struct pattern *pattern, struct str *name)
{
    if (!take_name(pattern, '>', name)) return false;
    bool is_right = name->length > 0 && pattern_is_letter(name->data[0]);
    for (int32_t i = 0; i < name->length; i++)
        is_right = is_right &&
                   (pattern_is_letter(name->data[i]) || pattern_is_digit(name->data[i]));
    if (!is_right) pattern_refuse(pattern);
    return is_right;
}

/* ---- escapes ---- */

static int32_t hex_digit(int32_t c)
{
    if (pattern_is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int32_t take_hex(struct pattern *pattern, unsigned digits)
{
    int32_t code = 0;
    for (unsigned i = 0; i < digits; i++) {
        int32_t digit = hex_digit(pattern_next_raw(pattern).code);
        if (digit < 0) pattern_refuse(pattern);
        code = code << 4 | (digit & 15);
    }
    return code;
}

static int32_t take_octal(struct pattern *pattern)
{
    int32_t code = pattern_next_raw(pattern).code - '0';
    if (code < 0 || code > 7) {
        pattern_refuse(pattern);
        return 0;
    }
    for (unsigned i = 1; i < (code > 3 ? 2 : 3) && pattern_peek_raw(pattern) >= '0' &&
                         pattern_peek_raw(pattern) <= '7';
         i++)
        code = code * 8 + pattern_next_raw(pattern).code - '0';
    return code;
}

/* \xhh, or \x{h…h}. */
static int32_t take_code(struct pattern *pattern)
{
    int32_t code = 0, digit;
    if (pattern_peek_raw(pattern) != '{') return take_hex(pattern, 2);
    pattern_next_raw(pattern);
    bool has_digits = false;
    while ((digit = hex_digit(pattern_peek_raw(pattern))) >= 0 && code <= LAST_CODE) {
        pattern_next_raw(pattern);
        code = code << 4 | digit;
        has_digits = true;
    }
    if (!has_digits || code > LAST_CODE || pattern_next_raw(pattern).code != '}')
        pattern_refuse(pattern);
    return code;
}

static void parse_character_name(struct pattern *pattern)
{
    struct str name;
    if (pattern_next_raw(pattern).code != '{')
        pattern_refuse(pattern);
    else if (take_name(pattern, '}', &name) &&
             !(is_name_of_words(name) && pattern_is_letter(name.data[0])))
        pattern_refuse(pattern);
}

/* What stands behind a backslash, of what may stand anywhere. The code of the character, or END for one of
 * several. */
int32_t pattern_parse_escape(struct pattern *pattern)
{
    struct character c = pattern_next_raw(pattern);
    switch (c.code) {
    case '0': return take_octal(pattern);
    case 'a': return '\a';
    case 'e': return 0x1b;
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': return take_hex(pattern, 4);
    case 'x': return take_code(pattern);
    case 'c':
        c = pattern_next_raw(pattern);
        if (c.code == END) pattern_refuse(pattern);
        return c.code ^ 64;
    case 'N': parse_character_name(pattern); return END;
    case 'd':
    case 'D':
    case 'h':
    case 'H':
    case 's':
    case 'S':
    case 'v':
    case 'V':
    case 'w':
    case 'W': return END;
    default: break;
    }
    /* Letters are kept for later by Java; groups cannot be referred to in a class. */
    if (c.code == END || pattern_is_letter(c.code) || pattern_is_digit(c.code))
        pattern_refuse(pattern);
    return c.code;
}
