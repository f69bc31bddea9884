// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "error.h"

/* The next line, without its end; null at the end of the text. */
static struct str next_line(const char **at, const char *end)
{
    if (*at >= end) return STR_NULL;
    const char *start = *at;
    const char *stop = memchr(start, '\n', (size_t)(end - start));
    if (stop == NULL) stop = end;
    *at = stop + 1;
    if (stop > start && stop[-1] == '\r') stop--;
    return (struct str){ start, (int32_t)(stop - start) };
}

/* Splits at runs of spaces; false if there are more or fewer than `columns` words. */
static bool split(struct str text, int columns, struct checkpoint_line *line)
{
    int found = 0;
    int32_t at = 0;

    while (at < text.length) {
        int32_t start;
        while (at < text.length && text.data[at] == ' ')
            at++;
        start = at;
        while (at < text.length && text.data[at] != ' ')
            at++;
        if (at == start) break;
        if (found == columns) return false;
        line->columns[found++] = (struct str){ text.data + start, at - start };
    }
    return found == columns;
}

int checkpoint_number(struct str text, int64_t least, int64_t *number)
{
    int64_t value = 0;
    bool is_negative = text.length > 0 && text.data[0] == '-';
    int32_t at = is_negative ? 1 : 0;

    if (at >= text.length) return ERR_MALFORMED;
    for (; at < text.length; at++) {
        int digit = text.data[at] - '0';
        if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10) return ERR_MALFORMED;
        value = value * 10 + digit;
    }
    if (is_negative) value = -value;
    if (value < least) return ERR_MALFORMED;
    *number = value;
    return 0;
}

int checkpoint_parse(const char *text, size_t length, int columns,
                     int (*each)(void *context, const struct checkpoint_line *line), void *context,
                     int64_t *last_line)
{
    const char *at = text;
    const char *end = text + length;
    int64_t version, count, unwanted;
    struct checkpoint_line line;
    int64_t *number = last_line == NULL ? &unwanted : last_line;

    *number = 1;
    if (checkpoint_number(next_line(&at, end), 0, &version) != 0 || version != 0)
        return ERR_MALFORMED;
    *number = 2;
    if (checkpoint_number(next_line(&at, end), 0, &count) != 0) return ERR_MALFORMED;
    for (int64_t i = 0; i < count; i++) {
        *number = i + 3;
        if (!split(next_line(&at, end), columns, &line)) return ERR_MALFORMED;
        int err = each(context, &line);
        if (err != 0) return err;
    }
    if (at >= end) return 0;
    ++*number;
    return ERR_MALFORMED;
}

int checkpoint_read(struct fs *fs, const char *path, int columns,
                    int (*each)(void *context, const struct checkpoint_line *line), void *context,
                    int64_t *last_line)
{
    char *text = NULL;
    size_t length;
    int err = fs_read_file(fs, path, CHECKPOINT_MAX_BYTES, &text, &length);

    /* Kafka makes the file before it has anything to say. */
    if (err == 0 && length > 0)
        err = checkpoint_parse(text, length, columns, each, context, last_line);
    mem_free(text);
    return err;
}

static int print_text(struct buffer *text, const struct buffer *lines, size_t count)
{
    buffer_init(text);
    checkpoint_print(text, "0\n%zu\n", count);
    buffer_put(text, lines->data, lines->length);
    return text->failed || lines->failed ? ERR_NO_MEMORY : 0;
}

int checkpoint_write(struct fs *fs, const char *path, const struct buffer *lines, size_t count)
{
    struct buffer text;

    int err = print_text(&text, lines, count);
    if (err == 0) err = fs_replace_file(fs, path, text.data, text.length);
    buffer_close(&text);
    return err;
}

int checkpoint_rename(struct fs *fs, const char *path, const struct buffer *lines, size_t count,
                      bool sync)
{
    struct buffer text;

    int err = print_text(&text, lines, count);
    if (err == 0) err = fs_rename_over(fs, path, text.data, text.length, sync);
    buffer_close(&text);
    return err;
}

void checkpoint_print(struct buffer *lines, const char *format, ...)
{
    char line[512]; /* A topic's name is at most 249 bytes. */
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof line)
        lines->failed = true;
    else
        buffer_put(lines, line, (size_t)length);
}
