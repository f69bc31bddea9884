// SPDX-License-Identifier: Apache-2.0
/* Lines of named values: what `sluice log` says, for people ("batch position=0 size=61 …") or, with
 * --json, for programs (an object per line, of which "kind" comes first).
 *
 * A line is put together value by value and written by log_output_end(). What goes wrong while
 * writing is remembered. */

#ifndef CLI_LOG_OUTPUT_H
#define CLI_LOG_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "buffer.h"
#include "bytes.h"

struct log_output {
    FILE *to;
    bool is_json;
    json_t *object;     /* The line, if JSON, */
    struct buffer text; /* otherwise. */
    bool failed;        /* Out of memory, or `to` takes no more. */
};

void log_output_init(struct log_output *output, FILE *to, bool is_json);
void log_output_close(struct log_output *output);

void log_output_begin(struct log_output *output, const char *kind);
void log_output_number(struct log_output *output, const char *name, int64_t number);
void log_output_truth(struct log_output *output, const char *name, bool truth);
void log_output_hex(struct log_output *output, const char *name, uint32_t number);
/* Bytes from a file, made safe for a terminal; null is null. */
void log_output_bytes(struct log_output *output, const char *name, const void *data,
                      int32_t length);
void log_output_text(struct log_output *output, const char *name, const char *text);
/* Takes over the reference. */
void log_output_json(struct log_output *output, const char *name, json_t *value);
void log_output_end(struct log_output *output);

/* What was written is seen now, and not when a buffer is full. */
void log_output_flush(struct log_output *output);

#endif
