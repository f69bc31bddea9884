// SPDX-License-Identifier: Apache-2.0
/* What people and programs read: tables, complaints, JSON; bytes made safe for a terminal. */

#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "buffer.h"
#include "bytes.h"

/* Appends `data` so that it cannot steer a terminal (DESIGN 11): valid UTF-8 stays as it is, except
 * for control characters, direction marks and the backslash; these and all other bytes become
 * \n \t \r \\ or \xHH. A failed allocation shows in the buffer. */
void output_escape(struct buffer *out, const void *data, size_t length);

/* Writes bytes: escaped if `to_terminal`, otherwise as they are. Returns 0, ERR_NO_MEMORY or
 * ERR_IO. */
int output_bytes(FILE *out, bool to_terminal, const void *data, size_t length);

/* Writes `prefix` and `text` to standard output, the text escaped if that is a terminal. What
 * cannot be written shows in output_finish(). */
void output_text(const char *prefix, struct str text);

/* The columns of a terminal that it takes, near enough: one per character. */
size_t output_width(const char *text);

/* "0 B", "17 KiB", "1.5 GiB": three digits or so of a size, for people. */
void output_size(int64_t bytes, char text[32]);

/* A line on standard error, "sluice: …", with what came from elsewhere in it escaped. */
void output_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The line below it: what to do next. */
void output_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flushes standard output. Returns 0, or ERR_IO after complaining: nobody may take a listing for
 * complete that a full disk has cut. */
int output_finish(void);

/* A table whose columns are as wide as their widest cell. A heading that begins with '>' stands, as
 * its column does, at the right. */
struct table {
    const char *const *headings;
    unsigned columns;
    bool to_terminal;
    char **cells; /* Row by row; from mem_alloc. */
    size_t count; /* Of cells. */
    size_t capacity;
    bool failed; /* Out of memory. */
};

/* Borrows the headings. */
void table_init(struct table *table, const char *const *headings, unsigned columns,
                bool to_terminal);
void table_close(struct table *table);

/* Appends the next cell of the current row, copied, escaped for a terminal. */
void table_text(struct table *table, struct str text);
void table_number(struct table *table, int64_t number);

/* Writes headings and rows. Returns 0, ERR_NO_MEMORY (also for what table_text met) or ERR_IO. */
int table_print(const struct table *table, FILE *out);

/* A JSON string, or null for null. Bytes that are not UTF-8 become base64 under the name with
 * "_base64" behind it. Returns 0 or ERR_NO_MEMORY. */
int json_set_bytes(json_t *object, const char *name, const void *data, int32_t length);

/* One line, or many if `indented`. Returns 0 or ERR_IO. Takes over the reference; NULL gives
 * ERR_NO_MEMORY. */
int json_print(json_t *value, bool indented, FILE *out);

#endif
