// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

/* A write to a pipe is not mixed with those of others up to this size. */
#define LINE_BYTES PIPE_BUF

static atomic_int max_level = TRACE_INFO;

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

void trace_set_sink(void (*new_sink)(void *context, const char *line), void *context)
{
    pthread_mutex_lock(&sink_mutex);
    sink = new_sink;
    sink_context = context;
    pthread_mutex_unlock(&sink_mutex);
}

/* `2026-01-31T12:00:00.000Z INFO storage `; returns its length. */
static size_t trace_prefix(char *line, size_t size, enum trace_level level, const char *area)
{
    static const char *const names[] = { "ERROR", "WARN", "INFO", "DEBUG" };
    int64_t wall_ms = clock_wall_ms(clock_real());
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t length = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
    int more = snprintf(line + length, size - length, ".%03dZ %s %.32s ", (int)(wall_ms % 1000),
                        names[level], area);
    return length + (size_t)more;
}

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

/* `line` ends with a NUL at `length`, in whose place the newline goes. */
static void trace_write(char *line, size_t length)
{
    pthread_mutex_lock(&sink_mutex);
    bool is_taken = sink != NULL;
    if (is_taken) sink(sink_context, line);
    pthread_mutex_unlock(&sink_mutex);

    line[length] = '\n';
    if (!is_taken && write(STDERR_FILENO, line, length + 1) < 0)
        return; /* Nobody is left to be told that telling failed. */
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

    static const char cut_mark[] = "...";
    char line[LINE_BYTES];
    size_t end = sizeof line - sizeof cut_mark; /* The mark and a newline always fit. */
    size_t length = trace_prefix(line, end, level, area);
    bool is_cut = wanted >= (int)sizeof text;
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        /* Control bytes would break the line or command a terminal. */
        size_t more = trace_put(line + length, end - length, byte, byte >= 0x20 && byte != 0x7f);
        if (more == 0) {
            is_cut = true;
            break;
        }
        length += more;
    }
    if (is_cut) {
        memcpy(line + length, cut_mark, sizeof cut_mark - 1);
        length += sizeof cut_mark - 1;
    }
    line[length] = '\0';
    trace_write(line, length);
    errno = saved_errno;
}

char *trace_escape(char *out, size_t size, struct str text)
{
    static const char cut_mark[] = "...";
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
