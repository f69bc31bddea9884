// SPDX-License-Identifier: Apache-2.0
/* Measures a broker, ours or another, from outside: `bench_client --help` says what it can.
 *
 * GB and MB are 10^9 and 10^6 bytes of record values: what users count, whatever goes over the
 * wire. Processor time is that of all the broker's threads, exact to the nanosecond, from the
 * kernel's clock of the process. */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "error.h"
#include "process.h"

#define NS_PER_S 1000000000

static const char help[] =
    "usage: bench_client MEASUREMENT --bootstrap HOST:PORT --topic NAME [OPTION...]\n"
    "\n"
    "  produce    --records N --size N [--batch-bytes N] [--linger-ms N] [--acks N]\n"
    "             librdkafka, from the first record to the last delivery report\n"
    "  consume    --records N --size N\n"
    "             librdkafka, partition 0 from its beginning, first record to last\n"
    "  latency    --records N --size N [--acks N] [--raw]\n"
    "             one record under way; --raw: without librdkafka, one prebuilt request\n"
    "  pipelined  --records N --size N --depth N [--acks N]\n"
    "             prebuilt requests of one record, so many of them under way\n"
    "  start      [--log FILE] -- COMMAND...\n"
    "             starts a broker, measures until it accepts a record, leaves it running\n"
    "  idle       --pid N [--seconds N]\n"
    "             memory and processor time of a broker that nobody uses\n"
    "\n"
    "  --pid N    the broker's process: its processor time is measured too\n"
    "  --json     one JSON object instead of lines\n";

/* ---- measuring --------------------------------------------------------------------------------- */

int64_t now_ns(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0) return -1;
    return time.tv_sec * (int64_t)NS_PER_S + time.tv_nsec;
}

/* -1: nobody is named, or there is nobody. */
static int64_t cpu_ns(pid_t pid)
{
    return pid == 0 ? -1 : process_cpu_ns(pid);
}

void span_begin(struct span *span, pid_t pid)
{
    span->pid = pid;
    span->cpu_began_ns = cpu_ns(pid);
    span->began_ns = now_ns();
}

void span_end(struct span *span)
{
    span->seconds = (double)(now_ns() - span->began_ns) / NS_PER_S;
    int64_t cpu_ended_ns = cpu_ns(span->pid);
    bool is_known = span->cpu_began_ns >= 0 && cpu_ended_ns >= 0;
    span->cpu_seconds = is_known ? (double)(cpu_ended_ns - span->cpu_began_ns) / NS_PER_S : -1;
}

int measure_idle(const struct bench_settings *settings, struct findings *findings)
{
    int64_t bytes = process_resident_bytes(settings->pid);
    struct span span;
    span_begin(&span, settings->pid);
    sleep((unsigned)settings->seconds);
    span_end(&span);
    if (bytes < 0 || span.cpu_seconds < 0)
        return complain("there is no process %d to look at", (int)settings->pid);
    findings_add(findings, "rss_mib", (double)bytes / (1024 * 1024));
    findings_add(findings, "cpu_percent", span.cpu_seconds / span.seconds * 100);
    return 0;
}

/* ---- what came out ----------------------------------------------------------------------------- */

void findings_add(struct findings *findings, const char *name, double value)
{
    if (findings->count < FINDINGS_MAX)
        findings->items[findings->count++] = (struct finding){ name, value };
}

void findings_add_flow(struct findings *findings, int64_t count, int64_t size,
                       const struct span *span)
{
    double bytes = (double)count * (double)size;
    findings_add(findings, "records", (double)count);
    findings_add(findings, "seconds", span->seconds);
    findings_add(findings, "records_per_s", (double)count / span->seconds);
    findings_add(findings, "mb_per_s", bytes / 1e6 / span->seconds);
    if (span->cpu_seconds < 0) return;
    findings_add(findings, "broker_cpu_s", span->cpu_seconds);
    findings_add(findings, "broker_cpu_s_per_gb", span->cpu_seconds / (bytes / 1e9));
}

static int compare_durations(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

void findings_add_latency(struct findings *findings, int64_t *durations_ns, size_t count)
{
    static const struct {
        const char *name;
        size_t permille;
    } percentiles[] = { { "p50_us", 500 }, { "p99_us", 990 }, { "p999_us", 999 } };
    qsort(durations_ns, count, sizeof *durations_ns, compare_durations);
    findings_add(findings, "records", (double)count);
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
        size_t rank = (count * percentiles[i].permille + 999) / 1000; /* Rounded up: at least 1. */
        findings_add(findings, percentiles[i].name, (double)durations_ns[rank - 1] / 1e3);
    }
    findings_add(findings, "max_us", (double)durations_ns[count - 1] / 1e3);
}

static void print_findings(const struct findings *findings, const char *measurement, bool as_json)
{
    if (as_json) printf("{\"measurement\": \"%s\"", measurement);
    for (unsigned i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (as_json)
            printf(", \"%s\": %.9g", finding->name, finding->value);
        else
            printf("%-20s %.6g\n", finding->name, finding->value);
    }
    if (as_json) puts("}");
}

int complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bench_client: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return ERR_IO;
}

/* ---- the command line -------------------------------------------------------------------------- */

enum { NEEDS_TOPIC = 1, NEEDS_PID = 2, NEEDS_COMMAND = 4 };

static const struct measurement {
    const char *name;
    unsigned needs;
    int (*measure)(const struct bench_settings *settings, struct findings *findings);
} measurements[] = {
    { "produce", NEEDS_TOPIC, measure_produce },
    { "consume", NEEDS_TOPIC, measure_consume },
    { "latency", NEEDS_TOPIC, measure_latency },
    { "pipelined", NEEDS_TOPIC, measure_pipelined },
    { "start", NEEDS_TOPIC | NEEDS_COMMAND, measure_start },
    { "idle", NEEDS_PID, measure_idle },
};

static const struct measurement *find_measurement(const char *name)
{
    for (size_t i = 0; i < sizeof measurements / sizeof *measurements; i++)
        if (strcmp(measurements[i].name, name) == 0) return &measurements[i];
    return NULL;
}

static void refuse(const char *why)
{
    complain("%s; see bench_client --help", why);
    exit(2);
}

static int64_t number_of(const char *text, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < least || number > most) {
        complain("a number from %" PRId64 " to %" PRId64 ", not '%s'", least, most, text);
        exit(2);
    }
    return number;
}

/* Reads what follows the name of the measurement. */
static void parse(int argc, char **argv, struct bench_settings *settings, bool *as_json)
{
    static const struct option options[] = {
        { "bootstrap", required_argument, NULL, 'b' },
        { "topic", required_argument, NULL, 't' },
        { "records", required_argument, NULL, 'n' },
        { "size", required_argument, NULL, 's' },
        { "batch-bytes", required_argument, NULL, 'B' },
        { "linger-ms", required_argument, NULL, 'l' },
        { "acks", required_argument, NULL, 'a' },
        { "depth", required_argument, NULL, 'd' },
        { "seconds", required_argument, NULL, 'S' },
        { "pid", required_argument, NULL, 'p' },
        { "log", required_argument, NULL, 'L' },
        { "raw", no_argument, NULL, 'r' },
        { "json", no_argument, NULL, 'j' },
        { NULL, 0, NULL, 0 },
    };
    for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        switch (option) {
        case 'b': settings->bootstrap = optarg; break;
        case 't': settings->topic = optarg; break;
        case 'n': settings->records = number_of(optarg, 1, 1000000000); break;
        case 's': settings->size = number_of(optarg, 1, 16 * 1024 * 1024); break;
        case 'B': settings->batch_bytes = number_of(optarg, 1, INT32_MAX); break;
        case 'l': settings->linger_ms = number_of(optarg, 0, 900000); break;
        case 'a': settings->acks = number_of(optarg, -1, 1); break;
        case 'd': settings->depth = number_of(optarg, 1, 10000); break;
        case 'S': settings->seconds = number_of(optarg, 1, 3600); break;
        case 'p': settings->pid = (pid_t)number_of(optarg, 1, INT32_MAX); break;
        case 'L': settings->log_path = optarg; break;
        case 'r': settings->raw = true; break;
        case 'j': *as_json = true; break;
        default: exit(2);
        }
    }
    settings->command = argv + optind;
}

int main(int argc, char **argv)
{
    struct bench_settings settings = { .log_path = "/dev/null",
                                       .records = 100000,
                                       .size = 1024,
                                       .batch_bytes = 1000000,
                                       .linger_ms = 5,
                                       .acks = 1,
                                       .depth = 64,
                                       .seconds = 2 };
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        fputs(help, argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    const struct measurement *measurement = find_measurement(argv[1]);
    if (measurement == NULL) refuse("that cannot be measured");
    bool as_json = false;
    parse(argc - 1, argv + 1, &settings, &as_json);
    bool has_command = settings.command[0] != NULL;
    if ((measurement->needs & NEEDS_TOPIC) != 0 &&
        (settings.bootstrap == NULL || settings.topic == NULL))
        refuse("--bootstrap and --topic are needed");
    if ((measurement->needs & NEEDS_PID) != 0 && settings.pid == 0) refuse("--pid is needed");
    if (((measurement->needs & NEEDS_COMMAND) != 0) != has_command)
        refuse(has_command ? "too many arguments" : "a command is needed, after --");
    if (settings.raw && measurement->measure != measure_latency) refuse("--raw is for latency");
    if (settings.acks == 0) refuse("without acks there is nothing to measure by");
    struct findings findings = { .count = 0 };
    if (measurement->measure(&settings, &findings) != 0) return 1;
    print_findings(&findings, measurement->name, as_json);
    return fflush(stdout) == 0 ? 0 : 1;
}
