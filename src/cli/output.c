// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "base64.h"
#include "error.h"

/* ---- bytes for a terminal ---------------------------------------------------------------------- */

/* The length of the character at `at` and its number, or 0 if it is not well-formed UTF-8 (too long,
 * a surrogate, above U+10FFFF). */
static size_t utf8_take(const uint8_t *at, size_t left, uint32_t *character)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = at[0] < 0x80             ? 1
                    : (at[0] & 0xe0) == 0xc0 ? 2
                    : (at[0] & 0xf0) == 0xe0 ? 3
                    : (at[0] & 0xf8) == 0xf0 ? 4
                                             : 0;
    if (length == 0 || length > left) return 0;
    uint32_t value = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (at[i] & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
    *character = value;
    return length;
}

/* Control characters, and marks that turn text round or hide in it. */
static bool steers_terminal(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x061c ||
           (character >= 0x200b && character <= 0x200f) ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069) || character == 0xfeff;
}

static void escape_byte(struct buffer *out, uint8_t byte)
{
    static const char hex[] = "0123456789abcdef";
    switch (byte) {
    case '\n': buffer_put(out, "\\n", 2); break;
    case '\r': buffer_put(out, "\\r", 2); break;
    case '\t': buffer_put(out, "\\t", 2); break;
    case '\\': buffer_put(out, "\\\\", 2); break;
    default: buffer_put(out, (char[]){ '\\', 'x', hex[byte >> 4], hex[byte & 15] }, 4);
    }
}

void output_escape(struct buffer *out, const void *data, size_t length)
{
    const uint8_t *at = data;
    while (length > 0) {
        uint32_t character = 0;
        size_t taken = utf8_take(at, length, &character);
        if (taken > 0 && !steers_terminal(character) && character != '\\') {
            buffer_put(out, at, taken);
        } else {
            if (taken == 0) taken = 1;
            for (size_t i = 0; i < taken; i++)
                escape_byte(out, at[i]);
        }
        at += taken;
        length -= taken;
    }
}

int output_bytes(FILE *out, bool to_terminal, const void *data, size_t length)
{
    if (length == 0) return 0;
    if (!to_terminal) return fwrite(data, 1, length, out) == length ? 0 : ERR_IO;
    struct buffer escaped;
    buffer_init(&escaped);
    output_escape(&escaped, data, length);
    int err = escaped.failed ? ERR_NO_MEMORY : 0;
    if (err == 0 && fwrite(escaped.data, 1, escaped.length, out) != escaped.length) err = ERR_IO;
    buffer_close(&escaped);
    return err;
}

void output_text(const char *prefix, struct str text)
{
    fputs(prefix, stdout);
    if (text.length > 0)
        output_bytes(stdout, isatty(STDOUT_FILENO), text.data, (size_t)text.length);
}

void output_size(int64_t bytes, char text[32])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double size = (double)bytes;
    unsigned unit = 0;
    while (size >= 1023.5 && unit + 1 < sizeof units / sizeof *units) {
        size /= 1024;
        unit++;
    }
    snprintf(text, 32, unit > 0 && size < 99.95 ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

/* ---- complaints -------------------------------------------------------------------------------- */

static void print_line(const char *prefix, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void print_line(const char *prefix, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    fputs(prefix, stderr);
    /* Out of memory while complaining: the sentence without what might steer the terminal. */
    if (output_bytes(stderr, true, text, strlen(text)) != 0)
        fputs(error_text(ERR_NO_MEMORY), stderr);
    fputc('\n', stderr);
}

void output_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line("sluice: ", format, args);
    va_end(args);
}

void output_hint(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line("        ", format, args);
    va_end(args);
}

int output_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    output_complain("the output could not be written completely: %m");
    return ERR_IO;
}

/* ---- tables ------------------------------------------------------------------------------------ */

void table_init(struct table *table, const char *const *headings, unsigned columns,
                bool to_terminal)
{
    *table = (struct table){ .headings = headings, .columns = columns, .to_terminal = to_terminal };
}

void table_close(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        mem_free(table->cells[i]);
    mem_free(table->cells);
    table->cells = NULL;
    table->count = table->capacity = 0;
}

static void add_cell(struct table *table, const void *data, size_t length)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        char **cells = mem_realloc(table->cells, capacity * sizeof *cells);
        if (cells == NULL) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    char *cell = mem_alloc(length + 1);
    if (cell == NULL) {
        table->failed = true;
        return;
    }
    if (length > 0) memcpy(cell, data, length);
    cell[length] = '\0';
    table->cells[table->count++] = cell;
}

void table_text(struct table *table, struct str text)
{
    size_t length = text.length < 0 ? 0 : (size_t)text.length;
    if (!table->to_terminal) {
        add_cell(table, text.data, length);
        return;
    }
    struct buffer escaped;
    buffer_init(&escaped);
    output_escape(&escaped, text.data, length);
    if (escaped.failed)
        table->failed = true;
    else
        add_cell(table, escaped.data, escaped.length);
    buffer_close(&escaped);
}

void table_number(struct table *table, int64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%lld", (long long)number);
    add_cell(table, text, (size_t)length);
}

size_t output_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        if ((*text & 0xc0) != 0x80) width++;
    return width;
}

static void print_cell(const char *text, size_t width, bool at_right, bool is_last, FILE *out)
{
    int padding = (int)(width - output_width(text));
    if (at_right)
        fprintf(out, "%*s%s", padding, "", text);
    else
        fprintf(out, "%s%*s", text, is_last ? 0 : padding, ""); /* no blanks at a line's end */
    fputs(is_last ? "\n" : "  ", out);
}

int table_print(const struct table *table, FILE *out)
{
    if (table->failed) return ERR_NO_MEMORY;
    size_t *widths = mem_calloc(table->columns, sizeof *widths);
    if (widths == NULL) return ERR_NO_MEMORY;
    for (unsigned column = 0; column < table->columns; column++) {
        const char *heading = table->headings[column];
        widths[column] = output_width(heading[0] == '>' ? heading + 1 : heading);
    }
    for (size_t i = 0; i < table->count; i++) {
        size_t width = output_width(table->cells[i]);
        if (width > widths[i % table->columns]) widths[i % table->columns] = width;
    }
    for (unsigned column = 0; column < table->columns; column++) {
        const char *heading = table->headings[column];
        bool at_right = heading[0] == '>';
        print_cell(heading + at_right, widths[column], at_right, column + 1 == table->columns, out);
    }
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->columns;
        print_cell(table->cells[i], widths[column], table->headings[column][0] == '>',
                   column + 1 == table->columns, out);
    }
    mem_free(widths);
    return ferror(out) ? ERR_IO : 0;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

int json_set_bytes(json_t *object, const char *name, const void *data, int32_t length)
{
    if (length < 0) return json_object_set_new(object, name, json_null()) == 0 ? 0 : ERR_NO_MEMORY;
    json_t *text = json_stringn(length > 0 ? data : "", (size_t)length);
    if (text != NULL) return json_object_set_new(object, name, text) == 0 ? 0 : ERR_NO_MEMORY;

    /* Not UTF-8 (or out of memory, which then shows below). */
    struct buffer encoded;
    buffer_init(&encoded);
    base64_encode(&encoded, data, (size_t)length);
    char *long_name = mem_printf("%s_base64", name);
    int err = encoded.failed || long_name == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) {
        text = json_stringn((const char *)encoded.data, encoded.length);
        if (json_object_set_new(object, long_name, text) != 0) err = ERR_NO_MEMORY;
    }
    mem_free(long_name);
    buffer_close(&encoded);
    return err;
}

int json_print(json_t *value, bool indented, FILE *out)
{
    if (value == NULL) return ERR_NO_MEMORY;
    /* A terminal gets no byte of a record that could steer it: everything but ASCII is \uXXXX. */
    size_t flags = JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9) |
                   (indented ? JSON_INDENT(2) : JSON_COMPACT);
    int err = json_dumpf(value, out, flags) == 0 && fputc('\n', out) != EOF ? 0 : ERR_IO;
    json_decref(value);
    return err;
}
