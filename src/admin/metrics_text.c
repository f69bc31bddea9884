// SPDX-License-Identifier: Apache-2.0
#include "metrics_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_text(struct buffer *out, const char *text)
{
    buffer_put(out, text, strlen(text));
}

static void put(struct buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Of numbers and names of ours: they are short. */
static void put(struct buffer *out, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0 && length < (int)sizeof text) buffer_put(out, text, (size_t)length);
}

/* A backslash, a quote and a newline end a value or its line; other control bytes, and bytes that need not be
 * UTF-8, become \xNN, written with the backslash that stands for one. */
static void put_value(struct buffer *out, const char *value)
{
    for (; *value != '\0'; value++) {
        unsigned char byte = (unsigned char)*value;
        if (byte == '\\' || byte == '"')
            put(out, "\\%c", byte);
        else if (byte >= 0x20 && byte < 0x7f)
            buffer_put(out, value, 1);
        else
            put(out, "\\\\x%02x", byte);
    }
}

static void put_label(struct buffer *out, const char **before, const char *name, const char *value)
{
    if (name == NULL) return;
    put_text(out, *before);
    put_text(out, name);
    put_text(out, "=\"");
    put_value(out, value);
    put_text(out, "\"");
    *before = ",";
}

/* Up to and with the blank before the number. */
static void put_series(struct buffer *out, const char *name, const char *suffix,
                       struct metrics_labels labels)
{
    const char *before = "{";
    put_text(out, name);
    put_text(out, suffix);
    put_label(out, &before, labels.name, labels.value);
    put_label(out, &before, labels.second_name, labels.second_value);
    put_text(out, before[0] == '{' ? " " : "} ");
}

void metrics_family(struct buffer *out, const char *name, const char *type, const char *help)
{
    put_text(out, "# HELP ");
    put_text(out, name);
    put_text(out, " ");
    put_text(out, help);
    put_text(out, "\n# TYPE ");
    put_text(out, name);
    put_text(out, " ");
    put_text(out, type);
    put_text(out, "\n");
}

void metrics_u64(struct buffer *out, const char *name, struct metrics_labels labels, uint64_t value)
{
    put_series(out, name, "", labels);
    put(out, "%" PRIu64 "\n", value);
}

void metrics_i64(struct buffer *out, const char *name, struct metrics_labels labels, int64_t value)
{
    put_series(out, name, "", labels);
    put(out, "%" PRId64 "\n", value);
}

static void put_seconds(struct buffer *out, uint64_t us)
{
    put(out, "%" PRIu64 ".%06" PRIu64 "\n", us / 1000000, us % 1000000);
}

void metrics_seconds(struct buffer *out, const char *name, struct metrics_labels labels,
                     uint64_t us)
{
    put_series(out, name, "", labels);
    put_seconds(out, us);
}

/* The shortest that says it: 0.0025, 1. */
static void print_bound(char bound[32], int64_t us)
{
    snprintf(bound, 32, "%g", (double)us / 1e6);
}

void metrics_histogram(struct buffer *out, const char *name, struct metrics_labels labels,
                       const struct histogram_sums *sums)
{
    uint64_t count = 0; /* The format wants each bucket with those below it. */
    char bound[32];
    labels.second_name = "le";
    labels.second_value = bound;
    for (unsigned i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        count += sums->buckets[i];
        if (i < HISTOGRAM_BOUNDS)
            print_bound(bound, histogram_bounds_us[i]);
        else
            strcpy(bound, "+Inf");
        put_series(out, name, "_bucket", labels);
        put(out, "%" PRIu64 "\n", count);
    }
    labels.second_name = NULL;
    put_series(out, name, "_sum", labels);
    put_seconds(out, sums->sum_us);
    put_series(out, name, "_count", labels);
    put(out, "%" PRIu64 "\n", count);
}
