// SPDX-License-Identifier: Apache-2.0
/* What `sluice consume` is doing: partitions that are read with librdkafka, from one place to another.
 *
 * consume.c fills it from the command line; here is how it runs. */

#ifndef CLI_CONSUMPTION_H
#define CLI_CONSUMPTION_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "format.h"
#include "kafka_conf.h"
#include "position.h"
#include "stop_signals.h"

struct consume_settings {
    struct common_settings common;
    const char *from, *until; /* `until` NULL: the end, or nowhere if `follows`. */
    bool follows;
    int64_t partition; /* -1: all. */
    int64_t count;     /* -1: no limit. */
    const char *format, *key_separator;
    bool with_headers, with_offsets;
};

/* One partition that is read. */
struct reading {
    int64_t from;  /* An offset, or one of librdkafka's names for places. */
    int64_t until; /* The first offset that is not wanted; INT64_MAX: none. */
    bool is_at_end, is_started, is_done;
};

struct consumption {
    const struct consume_settings *settings;
    const char *topic_name;
    struct position from, until;
    struct format format;
    struct kafka_watch watch;
    rd_kafka_t *kafka;
    rd_kafka_topic_t *topic;
    rd_kafka_queue_t *queue;
    struct reading *readings; /* Of partitions from first_partition on. */
    int32_t first_partition, partition_count, done_count;
    int64_t until_ms; /* Records from this time on are not wanted; INT64_MAX: all are. */
    bool to_terminal;
    int64_t taken; /* Records so far. */
    struct stop_signals signals;
};

/* Reads and prints until all that is wanted has been seen, or a signal comes. Complains on failure.
 * Releases with consumption_close() what it opened. */
enum status consumption_run(struct consumption *consumption);
void consumption_close(struct consumption *consumption);

#endif
