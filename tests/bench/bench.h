// SPDX-License-Identifier: Apache-2.0
/* What the parts of bench_client share: settings, the clock and the processor time of the broker,
 * and the list of what was measured. */

#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bench_settings {
    const char *bootstrap; /* host:port of the one broker, which leads partition 0 of the topic. */
    const char *topic;
    const char *log_path; /* Where the output of a started broker goes. */
    char **command;       /* The broker to start: an argv. */
    int64_t records;
    int64_t size; /* Of a record's value, in bytes. */
    int64_t batch_bytes;
    int64_t linger_ms;
    int64_t acks;
    int64_t depth;   /* Requests under way at a time. */
    int64_t seconds; /* How long idleness is watched. */
    pid_t pid;       /* The broker's; 0: its processor time is not measured. */
    bool raw;
};

/* ---- measuring --------------------------------------------------------------------------------- */

int64_t now_ns(void);

/* What was used between two moments. */
struct span {
    pid_t pid;
    int64_t began_ns;
    int64_t cpu_began_ns;
    double seconds;     /* After span_end(). */
    double cpu_seconds; /* Of the broker, all its threads; negative: not measured. */
};
void span_begin(struct span *span, pid_t pid);
void span_end(struct span *span);

/* ---- what came out ----------------------------------------------------------------------------- */

#define FINDINGS_MAX 16

struct finding {
    const char *name; /* With its unit: "records_per_s". */
    double value;
};

struct findings {
    struct finding items[FINDINGS_MAX];
    unsigned count;
};
void findings_add(struct findings *findings, const char *name, double value);

/* Rate, throughput and the broker's processor time, for `count` values of `size` bytes. */
void findings_add_flow(struct findings *findings, int64_t count, int64_t size,
                       const struct span *span);

/* Percentiles; sorts the durations. */
void findings_add_latency(struct findings *findings, int64_t *durations_ns, size_t count);

/* "bench_client: …" on standard error. Returns ERR_IO, as a convenience to who fails. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- what can be measured ---------------------------------------------------------------------- */

/* Each returns 0, or an error after complaining. */

/* bench_kafka.c: as users see it, through librdkafka. */
int measure_produce(const struct bench_settings *settings, struct findings *findings);
int measure_consume(const struct bench_settings *settings, struct findings *findings);
int measure_latency(const struct bench_settings *settings, struct findings *findings);

/* bench_raw.c: one socket, requests that were built before, nothing in between. */
int measure_raw_latency(const struct bench_settings *settings, struct findings *findings);
int measure_pipelined(const struct bench_settings *settings, struct findings *findings);
int measure_start(const struct bench_settings *settings, struct findings *findings);

/* bench_client.c */
int measure_idle(const struct bench_settings *settings, struct findings *findings);

#endif
