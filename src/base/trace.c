// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"

/* A write to a pipe is not mixed with those of others up to this size. */
#define LINE_BYTES PIPE_BUF

#define FILE_MODE 0640

static atomic_int max_level = TRACE_INFO;
static atomic_int line_format = TRACE_TEXT;

static atomic_int output_fd = STDERR_FILENO;
/* The one descriptor that files get, one after the other, so that nobody writes to one that is closed. */
static int file_fd = -1;
static atomic_uint_fast64_t lines_lost;

static pthread_mutex_t sink_mutex = PTHREAD_MUTEX_INITIALIZER;
static void (*sink)(void *context, const char *line);
static void *sink_context;

void trace_set_level(enum trace_level level)
{
    atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

enum trace_level trace_level(void)
{
    return (enum trace_level)atomic_load_explicit(&max_level, memory_order_relaxed);
}

void trace_set_format(enum trace_format format)
{
    atomic_store_explicit(&line_format, (int)format, memory_order_relaxed);
}

/* `fd` takes the place of the file before, if there was one. */
static int trace_put_in_place(int fd)
{
    if (file_fd >= 0) return dup3(fd, file_fd, O_CLOEXEC) < 0 ? ERR_IO : 0;
    file_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return file_fd < 0 ? ERR_IO : 0;
}

int trace_set_file(const char *path)
{
    if (path == NULL) {
        atomic_store(&output_fd, STDERR_FILENO);
        if (file_fd >= 0)
            (void)trace_put_in_place(STDERR_FILENO); /* The file need not stay open. */
        return 0;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, FILE_MODE);
    if (fd < 0) return ERR_IO;
    int err = trace_put_in_place(fd);
    if (err == 0) atomic_store(&output_fd, file_fd);
    close(fd);
    return err;
}

uint64_t trace_lines_lost(void)
{
    return atomic_load_explicit(&lines_lost, memory_order_relaxed);
}

void trace_set_sink(void (*new_sink)(void *context, const char *line), void *context)
{
    pthread_mutex_lock(&sink_mutex);
    sink = new_sink;
    sink_context = context;
    pthread_mutex_unlock(&sink_mutex);
}

/* ---- lines ---- */

/* A line in the making: what fits below `end`; behind it there is room for what must come. */
struct line {
    char bytes[LINE_BYTES];
    size_t length, end;
    bool is_cut;
};

static const char cut_mark[] = "...";
static const char json_end[] = "\"}";

/* Copies one byte, or its escape when it is not plain. Returns the length, or 0 when `room` is too
 * small. */
static size_t trace_put(char *out, size_t room, unsigned char byte, bool is_plain)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = is_plain ? 1 : 4;
    if (length > room) return 0;
    if (is_plain)
        out[0] = (char)byte;
    else
        memcpy(out, (char[]){ '\\', 'x', digits[byte >> 4], digits[byte & 15] }, 4);
    return length;
}

/* The length of the UTF-8 character there, as RFC 3629 allows them; 0: it is none. */
static size_t utf8_length(const unsigned char *at)
{
    size_t length = at[0] < 0x80                     ? 1
                    : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                    : at[0] >= 0xe0 && at[0] <= 0xef ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80) return 0; /* Also at the end of the text. */
    bool is_overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool is_no_character = (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f);
    return is_overlong || is_no_character ? 0 : length;
}

/* One character of `text` as it stands in a JSON string; returns how many bytes it was. */
static size_t json_character(const unsigned char *text, char out[8])
{
    size_t length = utf8_length(text);
    if (length == 0)
        strcpy(out, "\\ufffd");
    else if (*text == '"' || *text == '\\')
        snprintf(out, 8, "\\%c", *text);
    else if (*text < 0x20 || *text == 0x7f)
        snprintf(out, 8, "\\u%04x", *text);
    else
        snprintf(out, 8, "%.*s", (int)length, (const char *)text);
    return length == 0 ? 1 : length;
}

static void line_put_text(struct line *line, const char *text)
{
    for (; *text != '\0' && !line->is_cut; text++) {
        unsigned char byte = (unsigned char)*text;
        /* Control bytes would break the line or command a terminal. */
        size_t more = trace_put(line->bytes + line->length, line->end - line->length, byte,
                                byte >= 0x20 && byte != 0x7f);
        if (more == 0) line->is_cut = true;
        line->length += more;
    }
}

static void line_put_json(struct line *line, const char *text)
{
    while (*text != '\0') {
        char character[8];
        text += json_character((const unsigned char *)text, character);
        size_t more = strlen(character);
        if (more > line->end - line->length) {
            line->is_cut = true;
            return;
        }
        memcpy(line->bytes + line->length, character, more);
        line->length += more;
    }
}

/* All before the text. */
static void line_begin(struct line *line, enum trace_level level, const char *area, bool is_json)
{
    static const char *const names[] = { "ERROR", "WARN", "INFO", "DEBUG" };
    int64_t wall_ms = clock_wall_ms(clock_real());
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    char time[32];
    gmtime_r(&seconds, &utc);
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    line->is_cut = false;
    line->end = sizeof line->bytes - sizeof cut_mark - (is_json ? sizeof json_end - 1 : 0);
    int length;
    if (is_json)
        length = snprintf(
            line->bytes, line->end,
            "{\"time\":\"%s.%03dZ\",\"level\":\"%s\",\"area\":\"%.32s\",\"message\":\"", time,
            (int)(wall_ms % 1000), names[level], area);
    else
        length = snprintf(line->bytes, line->end, "%s.%03dZ %s %.32s ", time, (int)(wall_ms % 1000),
                          names[level], area);
    line->length = (size_t)length;
}

static void line_append(struct line *line, const char *text)
{
    size_t length = strlen(text);
    memcpy(line->bytes + line->length, text, length + 1);
    line->length += length;
}

static void line_write(struct line *line)
{
    pthread_mutex_lock(&sink_mutex);
    bool is_taken = sink != NULL;
    if (is_taken) sink(sink_context, line->bytes);
    pthread_mutex_unlock(&sink_mutex);

    line->bytes[line->length] = '\n'; /* In place of the NUL. */
    size_t size = line->length + 1;
    /* Nobody is left to be told that telling failed, so it is counted. */
    if (!is_taken && write(atomic_load_explicit(&output_fd, memory_order_relaxed), line->bytes,
                           size) != (ssize_t)size)
        atomic_fetch_add_explicit(&lines_lost, 1, memory_order_relaxed);
}

void trace(enum trace_level level, const char *area, const char *format, ...)
{
    if (level > trace_level()) return;

    int saved_errno = errno;
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (wanted < 0) text[0] = '\0';

    struct line line;
    bool is_json = atomic_load_explicit(&line_format, memory_order_relaxed) == TRACE_JSON;
    line_begin(&line, level, area, is_json);
    if (is_json)
        line_put_json(&line, text);
    else
        line_put_text(&line, text);
    if (line.is_cut || wanted >= (int)sizeof text) line_append(&line, cut_mark);
    if (is_json) line_append(&line, json_end);
    line.bytes[line.length] = '\0';
    line_write(&line);
    errno = saved_errno;
}

/* ---- texts from outside ---- */

char *trace_escape(char *out, size_t size, struct str text)
{
    size_t length = 0;
    size_t mark_at = 0; /* The last place from which the mark still fits. */
    if (size == 0) return out;
    for (int32_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (length + sizeof cut_mark <= size) mark_at = length;
        bool is_plain = byte >= 0x20 && byte < 0x7f && byte != '\\'; /* One text per escape. */
        size_t more = trace_put(out + length, size - 1 - length, byte, is_plain);
        if (more == 0) {
            size_t room = size - 1 - mark_at;
            size_t mark_length = room < sizeof cut_mark - 1 ? room : sizeof cut_mark - 1;
            memcpy(out + mark_at, cut_mark, mark_length);
            length = mark_at + mark_length;
            break;
        }
        length += more;
    }
    out[length] = '\0';
    return out;
}
