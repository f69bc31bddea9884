// SPDX-License-Identifier: Apache-2.0
#include "properties.h"

#include "alloc.h"
#include "error.h"

struct reader {
    const char *at, *end;
    unsigned line; /* Of what is at `at`. */
};

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

/* The next line as it stands, without its end ("\n", "\r" or "\r\n"). */
static struct str next_line(struct reader *reader)
{
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at != '\n' && *reader->at != '\r')
        reader->at++;
    struct str line = { start, (int32_t)(reader->at - start) };
    if (reader->at < reader->end) {
        bool is_pair = *reader->at == '\r' && reader->at + 1 < reader->end && reader->at[1] == '\n';
        reader->at += is_pair ? 2 : 1;
    }
    reader->line++;
    while (line.length > 0 && is_white(line.data[0])) {
        line.data++;
        line.length--;
    }
    return line;
}

static bool is_continued(struct str line)
{
    int32_t backslashes = 0;
    while (backslashes < line.length && line.data[line.length - 1 - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 1;
}

/* Joins a line and those that continue it in `out`, which has room for all of the text. */
static size_t join_lines(struct reader *reader, struct str line, char *out)
{
    size_t length = 0;
    for (;;) {
        bool more = is_continued(line);
        size_t taken = (size_t)line.length - more;
        memcpy(out + length, line.data, taken);
        length += taken;
        if (!more || reader->at == reader->end) break;
        line = next_line(reader);
    }
    out[length] = '\0';
    return length;
}

/* Where the key ends: at the first =, : or white that no backslash stands before. */
static char *key_end(char *text)
{
    while (*text != '\0' && *text != '=' && *text != ':' && !is_white(*text))
        text += text[0] == '\\' && text[1] != '\0' ? 2 : 1;
    return text;
}

/* Splits "key = value" into two terminated texts. */
static char *split(char *text)
{
    char *end = key_end(text);
    char *value = end;
    while (is_white(*value))
        value++;
    if (*value == '=' || *value == ':') value++;
    while (is_white(*value))
        value++;
    *end = '\0';
    return value;
}

/* In place; false if it holds what is not understood. */
static bool unescape(char *text)
{
    char *out = text;
    for (; *text != '\0'; text++) {
        if (*text != '\\') {
            *out++ = *text;
            continue;
        }
        switch (*++text) {
        case 'u': return false;
        case 't': *out++ = '\t'; break;
        case 'n': *out++ = '\n'; break;
        case 'r': *out++ = '\r'; break;
        case 'f': *out++ = '\f'; break;
        default: *out++ = *text;
        }
    }
    *out = '\0';
    return true;
}

int properties_parse(struct str text,
                     int (*each)(void *context, unsigned line, const char *key, const char *value),
                     void (*bad)(void *context, unsigned line, const char *sentence), void *context)
{
    struct reader reader = { text.data, text.data + text.length, 0 };
    char *key = mem_alloc((size_t)text.length + 1);
    int err = key == NULL ? ERR_NO_MEMORY : 0;
    while (err == 0 && reader.at < reader.end) {
        struct str first = next_line(&reader);
        unsigned first_line = reader.line;
        if (first.length == 0 || first.data[0] == '#' || first.data[0] == '!') continue;
        size_t length = join_lines(&reader, first, key);
        const char *problem = memchr(key, '\0', length) != NULL ? "a zero byte is not text" : NULL;
        char *value = split(key);
        if (problem == NULL && (!unescape(key) || !unescape(value)))
            problem = "\\u is not understood; write the letter itself, in UTF-8";
        if (problem != NULL)
            bad(context, first_line, problem);
        else
            err = each(context, first_line, key, value);
    }
    mem_free(key);
    return err;
}
