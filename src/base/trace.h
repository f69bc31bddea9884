// SPDX-License-Identifier: Apache-2.0
/* Lines for the operator ("log" is kept for partition logs).
 *
 * A line is written whole with one write(2) to stderr or a file, any thread, never blocking longer than
 * that. Bytes from outside are escaped by trace_escape() before they are shown. */

#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

enum trace_level { TRACE_ERROR, TRACE_WARN, TRACE_INFO, TRACE_DEBUG };
enum trace_format { TRACE_TEXT, TRACE_JSON };

void trace_set_level(enum trace_level level);
enum trace_level trace_level(void);
void trace_set_format(enum trace_format format);

/* Lines go to the end of that file from now on, which is made if it is not there; NULL: to stderr. The same
 * file again opens it anew, under whatever its name means now. No line is lost or cut on the way. 0, or
 * ERR_IO (errno says why) and nothing has changed. One thread at a time. */
int trace_set_file(const char *path);

/* How many lines could not be written, to a full disk for example. Any thread. */
uint64_t trace_lines_lost(void);

/* `2026-01-31T12:00:00.000Z INFO storage orders-0: …`, or as JSON
 * `{"time":"2026-01-31T12:00:00.000Z","level":"INFO","area":"storage","message":"orders-0: …"}`. Control
 * bytes are escaped, and a line of more than 4 KiB is cut with "...". Leaves errno alone. */
void trace(enum trace_level level, const char *area, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies printable ASCII, turns the rest (and the backslash) into \xNN, cuts what does not fit with "...". Always
 * terminates; returns `out`. */
char *trace_escape(char *out, size_t size, struct str text);

/* Tests: lines, without their newline, go to `sink` instead, one at a time (which may not trace);
 * NULL restores stderr. */
void trace_set_sink(void (*sink)(void *context, const char *line), void *context);

#endif
