// SPDX-License-Identifier: Apache-2.0
/* How a record is printed: a text with fields in braces, "{partition}:{offset} {key}={value}".
 *
 *  (1) {topic} {partition} {offset} {key} {value} {headers} {timestamp} (ms) {time} (as a date, UTC)
 *      {key_size} {value_size}, and {header:NAME}, the value of the last header of that name.
 *  (2) {{ is a brace; \t \n \xHH \\ are what they are elsewhere.
 *  (3) A line break follows unless the format ends with \c. */

#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>

#include "buffer.h"
#include "options.h"

#define FORMAT_FIELDS                                                                         \
    "{topic} {partition} {offset} {key} {value} {headers} {header:NAME} {timestamp} {time}\n" \
    "{key_size} {value_size}"

enum format_field {
    FORMAT_TEXT, /* Bytes of the format itself. */
    FORMAT_TOPIC,
    FORMAT_PARTITION,
    FORMAT_OFFSET,
    FORMAT_KEY,
    FORMAT_VALUE,
    FORMAT_HEADERS,
    FORMAT_HEADER,
    FORMAT_TIMESTAMP,
    FORMAT_TIME,
    FORMAT_KEY_SIZE,
    FORMAT_VALUE_SIZE,
};

struct format_piece {
    enum format_field field;
    size_t at,
        length; /* In the format's bytes: of FORMAT_TEXT the text, of FORMAT_HEADER the name. */
};

struct format {
    struct format_piece *pieces; /* From mem_alloc. */
    unsigned count;
    struct buffer bytes;
};

void format_init(struct format *format);
void format_close(struct format *format);

/* Appends what `text` describes. Returns 0, ERR_NO_MEMORY, or ERR_USAGE with a sentence in `problem`;
 * format_close() in any case. */
int format_parse(struct format *format, const char *text, char problem[PROBLEM_SIZE]);

/* Appends single pieces. Returns 0 or ERR_NO_MEMORY. */
int format_add_field(struct format *format, enum format_field field);
int format_add_text(struct format *format, const char *text, size_t length);

/* Prints a record. What steers a terminal is escaped in what comes from the record if `to_terminal`;
 * null is "(null)" there and nothing elsewhere. Returns 0, ERR_NO_MEMORY or ERR_IO. */
int format_print(const struct format *format, rd_kafka_message_t *message, bool to_terminal,
                 FILE *out);

#endif
