// SPDX-License-Identifier: Apache-2.0
/* A measurement: what `sluice bench` shares between producing, consuming and latency.
 *
 * bench.c reads the command line and opens, bench_produce.c and its like measure, bench_report.c
 * tells. MB are 10^6 and GB 10^9 bytes of records' values: what users count, whatever goes over
 * the wire. */

#ifndef CLI_BENCH_RUN_H
#define CLI_BENCH_RUN_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

#include "kafka_conf.h"
#include "latencies.h"
#include "options.h"
#include "process_watch.h"
#include "stop_signals.h"

struct bench_settings {
    struct common_settings common;
    int64_t records; /* 0: all that there are (consume). */
    int64_t size;    /* Bytes of a value. */
    int64_t rate;    /* Records a second; 0: as fast as they go. */
    int64_t partition;
    const char *acks, *compression;
    bool is_idempotent, end_to_end;
    int64_t batch_bytes, linger_ms;
    int64_t pid; /* The broker's; 0: it is not watched. */
};

struct bench {
    const struct bench_settings *settings;
    const char *topic_name;
    int32_t partitions; /* How many the topic has. */
    struct kafka_watch watch;
    rd_kafka_t *producer, *consumer;
    rd_kafka_topic_t *producer_topic, *consumer_topic;
    char *values; /* Bytes that records are made of. */
    struct stop_signals signals;
    struct process_watch broker;
    int64_t began_us, shown_us;         /* The beginning; when progress was shown last. */
    int64_t shown_records;              /* How many there were then. */
    bool was_stopped;                   /* By a signal: what there is counts. */
    int64_t reported;                   /* Delivery reports, good and bad. */
    rd_kafka_resp_err_t failure;        /* The first bad one. */
    int64_t records, bytes;             /* What was measured, */
    double seconds;                     /* … in this time, */
    double first_seconds;               /* … that before the first record (consume) left out. */
    int64_t first_records, first_bytes; /* Those that came with the first count in no rate. */
    struct latencies *latencies;        /* In µs; NULL: none are measured. */
};

/* Bytes of `values` that a record may begin in, so that no two neighbours are alike; the rest is
 * there for the last one to be whole. */
#define BENCH_VALUES_BYTES (1024 * 1024)

/* Opens librdkafka's producer, or its consumer of partitions without a group, on the topic. False
 * after complaining. */
bool bench_open_producer(struct bench *bench, int64_t linger_ms);
bool bench_open_consumer(struct bench *bench);

/* Hands one record over, whose bytes are borrowed until it is delivered, and notes the time for
 * its latency. False after complaining. */
bool bench_send(struct bench *bench, int32_t partition, char *value);

/* Waits for delivery reports until there are `count` in all. False after complaining. */
bool bench_await_reports(struct bench *bench, int64_t count);

/* Marks the beginning and the end of what is measured. False after complaining. */
bool bench_begin(struct bench *bench);
void bench_end(struct bench *bench);

/* Shows progress, looks at the broker and for signals, all of it now and then: `records` of `all`
 * are done, 0: it is not known of how many. False: told to stop. */
bool bench_goes_on(struct bench *bench, int64_t records, int64_t all);

/* The three measurements. False after complaining. */
bool bench_produce(struct bench *bench);
bool bench_consume(struct bench *bench);
bool bench_latency(struct bench *bench);

/* Prints what came out. Returns 0 or an error. */
int bench_report(const struct bench *bench, const char *name);

#endif
