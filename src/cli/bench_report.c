// SPDX-License-Identifier: Apache-2.0
/* What a measurement tells, for people and for programs. */

#include "bench_run.h"

#include <inttypes.h>
#include <stdio.h>

#include "error.h"
#include "output.h"

static const struct {
    const char *name, *json_name;
    unsigned permille;
} percentiles[] = {
    { "p50", "p50", 500 }, { "p90", "p90", 900 },     { "p95", "p95", 950 },
    { "p99", "p99", 990 }, { "p99.9", "p99_9", 999 },
};

#define PERCENTILE_COUNT (sizeof percentiles / sizeof *percentiles)

/* Of what came behind the first; if that was all, of all in the whole time. */
static double per_second(int64_t all, int64_t first, const struct bench *bench)
{
    bool is_more = bench->records > bench->first_records;
    double amount = (double)(is_more ? all - first : all);
    double seconds = is_more ? bench->seconds : bench->seconds + bench->first_seconds;
    return seconds > 0 ? amount / seconds : 0;
}

static double records_per_second(const struct bench *bench)
{
    return per_second(bench->records, bench->first_records, bench);
}

static double mb_per_second(const struct bench *bench)
{
    return per_second(bench->bytes, bench->first_bytes, bench) / 1e6;
}

static bool has_latencies(const struct bench *bench)
{
    return bench->latencies != NULL && bench->latencies->count > 0;
}

static double mean_us(const struct latencies *latencies)
{
    return (double)latencies->sum / (double)latencies->count;
}

/* ---- for programs ------------------------------------------------------------------------------ */

static json_t *json_of_latencies(const struct latencies *latencies)
{
    json_t *object = json_pack("{s:f}", "mean", mean_us(latencies));
    for (size_t i = 0; i < PERCENTILE_COUNT; i++)
        json_object_set_new(object, percentiles[i].json_name,
                            json_integer(latencies_percentile(latencies, percentiles[i].permille)));
    json_object_set_new(object, "max", json_integer(latencies->max));
    return object;
}

/* Of the whole time, that before the first record included. */
static double cpu_percent(const struct bench *bench)
{
    double seconds = bench->seconds + bench->first_seconds;
    return seconds > 0 ? bench->broker.cpu_seconds / seconds * 100 : 0;
}

static double cpu_per_gb(const struct bench *bench)
{
    return bench->bytes > 0 ? bench->broker.cpu_seconds / ((double)bench->bytes / 1e9) : 0;
}

static json_t *json_of_broker(const struct bench *bench)
{
    const struct process_watch *broker = &bench->broker;
    json_t *object = json_pack("{s:I, s:b, s:I, s:I}", "pid", (json_int_t)broker->pid, "gone",
                               broker->is_gone, "memory_bytes", (json_int_t)broker->memory_bytes,
                               "most_memory_bytes", (json_int_t)broker->most_memory_bytes);
    if (broker->is_gone) return object;
    json_object_set_new(object, "cpu_seconds", json_real(broker->cpu_seconds));
    json_object_set_new(object, "cpu_percent", json_real(cpu_percent(bench)));
    json_object_set_new(object, "cpu_seconds_per_gb", json_real(cpu_per_gb(bench)));
    return object;
}

static int report_json(const struct bench *bench, const char *name)
{
    json_t *object = json_pack("{s:s, s:s, s:b, s:I, s:I, s:f, s:f, s:f}", "bench", name, "topic",
                               bench->topic_name, "complete", !bench->was_stopped, "records",
                               (json_int_t)bench->records, "bytes", (json_int_t)bench->bytes,
                               "seconds", bench->seconds, "records_per_second",
                               records_per_second(bench), "mb_per_second", mb_per_second(bench));
    if (bench->first_seconds > 0)
        json_object_set_new(object, "first_record_seconds", json_real(bench->first_seconds));
    if (has_latencies(bench))
        json_object_set_new(object, "latency_us", json_of_latencies(bench->latencies));
    if (bench->broker.pid != 0) json_object_set_new(object, "broker", json_of_broker(bench));
    return json_print(object, true, stdout);
}

/* ---- for people -------------------------------------------------------------------------------- */

/* Three digits or so. */
static void print_duration(double us)
{
    if (us < 1000)
        printf("%.0f µs", us);
    else if (us < 1e6)
        printf(us < 1e5 ? "%.1f ms" : "%.0f ms", us / 1000);
    else
        printf("%.2f s", us / 1e6);
}

static void print_latencies(const struct bench *bench)
{
    fputs("latency  mean ", stdout);
    print_duration(mean_us(bench->latencies));
    for (size_t i = 0; i < PERCENTILE_COUNT; i++) {
        printf(", %s ", percentiles[i].name);
        print_duration((double)latencies_percentile(bench->latencies, percentiles[i].permille));
    }
    fputs(", max ", stdout);
    print_duration((double)bench->latencies->max);
    putchar('\n');
}

static void print_broker(const struct bench *bench)
{
    const struct process_watch *broker = &bench->broker;
    char memory[32], most[32];
    output_size(broker->memory_bytes, memory);
    output_size(broker->most_memory_bytes, most);
    if (broker->is_gone)
        printf("broker   process %d has ended", (int)broker->pid);
    else
        printf("broker   cpu %.2f s, %.0f %% of a core, %.2f s/GB", broker->cpu_seconds,
               cpu_percent(bench), cpu_per_gb(bench));
    printf("; memory %s, at most %s\n", memory, most);
}

static void report_text(const struct bench *bench)
{
    printf("records  %" PRId64 " in %.3f s%s\n", bench->records, bench->seconds,
           bench->was_stopped ? ", stopped by a signal" : "");
    printf("rate     %.0f records/s, %.1f MB/s\n", records_per_second(bench), mb_per_second(bench));
    if (bench->first_seconds > 0) printf("first    after %.3f s\n", bench->first_seconds);
    if (has_latencies(bench)) print_latencies(bench);
    if (bench->broker.pid != 0) print_broker(bench);
}

int bench_report(const struct bench *bench, const char *name)
{
    int err = 0;
    if (bench->settings->common.as_json)
        err = report_json(bench, name);
    else
        report_text(bench);
    return output_finish() == 0 ? err : ERR_IO;
}
