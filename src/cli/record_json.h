// SPDX-License-Identifier: Apache-2.0
/* A record as one JSON object: what `sluice consume --json` prints and `sluice produce
 * --from-json` reads. */

#ifndef CLI_RECORD_JSON_H
#define CLI_RECORD_JSON_H

#include <jansson.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>

#include "buffer.h"
#include "bytes.h"
#include "options.h"

/* A line with partition, offset, timestamp (ms), timestamp_type, key, value and headers, as
 * json_set_bytes() writes bytes. Returns 0, ERR_NO_MEMORY or ERR_IO. */
int record_json_print(rd_kafka_message_t *message, FILE *out);

/* What such a line says of a record that is to be sent. */
struct record_json {
    struct str key, value;       /* Valid as long as this is open. */
    int64_t timestamp_ms;        /* 0: now. */
    rd_kafka_headers_t *headers; /* NULL: none. */
    json_t *object;
    struct buffer key_bytes, value_bytes; /* Of what is base64 there. */
};

/* Reads a line. All of key, value, headers and timestamp may be missing; what else is there does
 * not count. Returns 0, ERR_NO_MEMORY, or ERR_MALFORMED with a sentence in `problem`;
 * record_json_close() in any case. */
int record_json_parse(struct record_json *record, struct str line, char problem[PROBLEM_SIZE]);
void record_json_close(struct record_json *record);

#endif
