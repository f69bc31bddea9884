// SPDX-License-Identifier: Apache-2.0
#include "format.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "error.h"
#include "output.h"

static const struct {
    const char *name;
    enum format_field field;
} fields[] = {
    { "topic", FORMAT_TOPIC },         { "partition", FORMAT_PARTITION },
    { "offset", FORMAT_OFFSET },       { "key", FORMAT_KEY },
    { "value", FORMAT_VALUE },         { "headers", FORMAT_HEADERS },
    { "timestamp", FORMAT_TIMESTAMP }, { "time", FORMAT_TIME },
    { "key_size", FORMAT_KEY_SIZE },   { "value_size", FORMAT_VALUE_SIZE },
};

#define HEADER_PREFIX "header:"

/* ---- reading a format -------------------------------------------------------------------------- */

void format_init(struct format *format)
{
    format->pieces = NULL;
    format->count = 0;
    buffer_init(&format->bytes);
}

void format_close(struct format *format)
{
    mem_free(format->pieces);
    buffer_close(&format->bytes);
    format_init(format);
}

static int add_piece(struct format *format, enum format_field field, const char *text,
                     size_t length)
{
    struct format_piece *pieces = mem_realloc(format->pieces, (format->count + 1) * sizeof *pieces);
    if (pieces == NULL) return ERR_NO_MEMORY;
    format->pieces = pieces;
    pieces[format->count++] = (struct format_piece){ field, format->bytes.length, length };
    buffer_put(&format->bytes, text, length);
    return format->bytes.failed ? ERR_NO_MEMORY : 0;
}

int format_add_field(struct format *format, enum format_field field)
{
    return add_piece(format, field, "", 0);
}

int format_add_text(struct format *format, const char *text, size_t length)
{
    return length == 0 ? 0 : add_piece(format, FORMAT_TEXT, text, length);
}

/* The text up to a brace, as it was typed. */
static int add_typed(struct format *format, const char *from, size_t length,
                     char problem[PROBLEM_SIZE])
{
    char *typed = mem_printf("%.*s", (int)length, from);
    char *text = mem_alloc(length + 1);
    size_t text_length = 0;
    int err = typed == NULL || text == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = text_unescape(typed, text, &text_length);
    if (err == ERR_USAGE)
        snprintf(problem, PROBLEM_SIZE,
                 "\\ stands before t, n, r, 0, \\ or xHH, and in '%s' it does not", typed);
    if (err == 0) err = format_add_text(format, text, text_length);
    mem_free(typed);
    mem_free(text);
    return err;
}

/* The field whose name, `length` bytes, stands between braces. */
static int add_named(struct format *format, const char *name, size_t length,
                     char problem[PROBLEM_SIZE])
{
    size_t prefix = strlen(HEADER_PREFIX);
    if (length > prefix && memcmp(name, HEADER_PREFIX, prefix) == 0)
        return add_piece(format, FORMAT_HEADER, name + prefix, length - prefix);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == length && memcmp(fields[i].name, name, length) == 0)
            return format_add_field(format, fields[i].field);
    snprintf(problem, PROBLEM_SIZE, "--format has no field '%.*s'; {{ is a brace",
             length > 40 ? 40 : (int)length, name);
    return ERR_USAGE;
}

/* Is the end \c, and not \\ with a c behind it? */
static bool ends_with_c(const char *text, const char *end)
{
    if (end - text < 2 || end[-1] != 'c') return false;
    size_t backslashes = 0;
    for (const char *at = end - 1; at > text && at[-1] == '\\'; at--)
        backslashes++;
    return backslashes % 2 == 1;
}

int format_parse(struct format *format, const char *text, char problem[PROBLEM_SIZE])
{
    const char *end = text + strlen(text);
    bool ends_line = !ends_with_c(text, end);
    if (!ends_line) end -= 2;
    int err = 0;
    for (const char *at = text; at < end && err == 0;) {
        size_t plain = strcspn(at, "{");
        if (plain > (size_t)(end - at)) plain = (size_t)(end - at);
        if (plain > 0) {
            err = add_typed(format, at, plain, problem);
            at += plain;
        } else if (at[1] == '{') {
            err = format_add_text(format, "{", 1);
            at += 2;
        } else {
            const char *close = strchr(at, '}');
            if (close == NULL) {
                snprintf(problem, PROBLEM_SIZE, "--format has a { without }; {{ is a brace");
                return ERR_USAGE;
            }
            err = add_named(format, at + 1, (size_t)(close - at - 1), problem);
            at = close + 1;
        }
    }
    if (err == 0 && ends_line) err = format_add_text(format, "\n", 1);
    return err;
}

/* ---- printing ---------------------------------------------------------------------------------- */

static int print_bytes(const void *data, size_t length, bool to_terminal, FILE *out)
{
    /* In a pipe, nothing: a null cannot be told from an empty text there; --json does. */
    if (data == NULL) return to_terminal && fputs("(null)", out) == EOF ? ERR_IO : 0;
    return output_bytes(out, to_terminal, data, length);
}

/* "name=value,name=value" */
static int print_headers(rd_kafka_message_t *message, bool to_terminal, FILE *out)
{
    rd_kafka_headers_t *headers;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
    const char *name;
    const void *value;
    size_t length;
    int err = 0;
    for (size_t i = 0; err == 0 && rd_kafka_header_get_all(headers, i, &name, &value, &length) ==
                                       RD_KAFKA_RESP_ERR_NO_ERROR;
         i++) {
        if (i > 0) fputc(',', out);
        err = print_bytes(name, strlen(name), to_terminal, out);
        fputc('=', out);
        if (err == 0) err = print_bytes(value, length, to_terminal, out);
    }
    return err;
}

static int print_header(const struct format *format, const struct format_piece *piece,
                        rd_kafka_message_t *message, bool to_terminal, FILE *out)
{
    rd_kafka_headers_t *headers;
    const char *name, *wanted = (const char *)format->bytes.data + piece->at;
    const void *value, *found = NULL;
    size_t length, found_length = 0;
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
        for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &length) ==
                           RD_KAFKA_RESP_ERR_NO_ERROR;
             i++)
            if (strlen(name) == piece->length && memcmp(name, wanted, piece->length) == 0) {
                found = value;
                found_length = length;
            }
    return print_bytes(found, found_length, to_terminal, out);
}

/* As position.h reads it. A record without a timestamp has -1, which is shown as it is. */
static int print_time(int64_t timestamp_ms, FILE *out)
{
    struct tm date;
    time_t seconds = (time_t)(timestamp_ms / 1000);
    if (timestamp_ms < 0 || gmtime_r(&seconds, &date) == NULL)
        return fprintf(out, "%" PRId64, timestamp_ms) < 0 ? ERR_IO : 0;
    return fprintf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", date.tm_year + 1900, date.tm_mon + 1,
                   date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec,
                   (int)(timestamp_ms % 1000)) < 0
               ? ERR_IO
               : 0;
}

static int print_number(int64_t number, FILE *out)
{
    return fprintf(out, "%" PRId64, number) < 0 ? ERR_IO : 0;
}

/* -1 for null, as on the wire. */
static int print_size(const void *data, size_t length, FILE *out)
{
    return print_number(data == NULL ? -1 : (int64_t)length, out);
}

static int print_piece(const struct format *format, const struct format_piece *piece,
                       rd_kafka_message_t *message, bool to_terminal, FILE *out)
{
    rd_kafka_timestamp_type_t kind;
    const char *topic;
    switch (piece->field) {
    case FORMAT_TEXT:
        return output_bytes(out, false, format->bytes.data + piece->at, piece->length);
    case FORMAT_TOPIC:
        topic = rd_kafka_topic_name(message->rkt);
        return print_bytes(topic, strlen(topic), to_terminal, out);
    case FORMAT_PARTITION: return print_number(message->partition, out);
    case FORMAT_OFFSET: return print_number(message->offset, out);
    case FORMAT_KEY: return print_bytes(message->key, message->key_len, to_terminal, out);
    case FORMAT_VALUE: return print_bytes(message->payload, message->len, to_terminal, out);
    case FORMAT_HEADERS: return print_headers(message, to_terminal, out);
    case FORMAT_HEADER: return print_header(format, piece, message, to_terminal, out);
    case FORMAT_TIMESTAMP: return print_number(rd_kafka_message_timestamp(message, &kind), out);
    case FORMAT_TIME: return print_time(rd_kafka_message_timestamp(message, &kind), out);
    case FORMAT_KEY_SIZE: return print_size(message->key, message->key_len, out);
    case FORMAT_VALUE_SIZE: return print_size(message->payload, message->len, out);
    }
    return 0;
}

int format_print(const struct format *format, rd_kafka_message_t *message, bool to_terminal,
                 FILE *out)
{
    int err = 0;
    for (unsigned i = 0; i < format->count && err == 0; i++)
        err = print_piece(format, &format->pieces[i], message, to_terminal, out);
    return err == 0 && ferror(out) ? ERR_IO : err;
}
