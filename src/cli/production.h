// SPDX-License-Identifier: Apache-2.0
/* What `sluice produce` is doing: records on their way into a topic, with librdkafka.
 *
 * produce.c fills it from the command line and reads the input; here is how records are sent. */

#ifndef CLI_PRODUCTION_H
#define CLI_PRODUCTION_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "bytes.h"
#include "kafka_conf.h"
#include "options.h"
#include "record_json.h"
#include "stop_signals.h"

struct produce_settings {
    struct common_settings common;
    struct text_list files; /* None: standard input. */
    bool whole;             /* A record is a whole file, not a line. */
    bool from_json;         /* A line is what `sluice consume --json` prints. */
    const char *key, *key_separator, *null_text;
    struct text_list headers;
    int64_t partition; /* -1: by the key, or any. */
    const char *acks, *compression;
    bool is_idempotent;
    int64_t rate; /* Records a second; 0: as fast as they go. */
};

struct production {
    const struct produce_settings *settings;
    const char *topic_name;
    struct kafka_watch watch;
    rd_kafka_t *kafka;
    rd_kafka_topic_t *topic;
    rd_kafka_headers_t *headers; /* NULL: none. */
    char *separator;             /* NULL: lines are values. */
    size_t separator_length;
    struct stop_signals signals;
    bool was_stopped;            /* A signal came: no more is sent. */
    int64_t began_us, looked_us; /* The beginning; when signals were looked for last. */
    int64_t sent, delivered;     /* Records; the one that is sent as nth is called line n. */
    int64_t sent_bytes;          /* Of their keys and values. */
    bool has_failed;             /* Of the first record that was not delivered: */
    int64_t failed_line;
    rd_kafka_resp_err_t failure;
};

/* Starts librdkafka's producer. False after complaining; production_close() in any case. */
bool production_open(struct production *production);
void production_close(struct production *production);

/* Takes a line apart and hands it over, in its turn if there is a rate; waits while librdkafka's queue
 * is full. Borrows the text. What fails shows in has_failed, now or later. */
void production_send_line(struct production *production, struct str line);

/* The same with a value as it is. */
void production_send_value(struct production *production, struct str value);

/* The same with all that a line of JSON says of a record; what it does not, the settings do. */
void production_send_json(struct production *production, const struct record_json *record);

/* Lets delivery reports in and looks for signals. False: no more is to be sent. */
bool production_goes_on(struct production *production);

/* Waits for what is under way. Returns true if all of it was delivered. */
bool production_flush(struct production *production);

#endif
