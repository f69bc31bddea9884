// SPDX-License-Identifier: Apache-2.0
/* Measures a broker, ours or another: the options of `sluice bench`, and what they share. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "bench_run.h"
#include "commands.h"
#include "error.h"
#include "lookup.h"
#include "output.h"

#define PID_MOST 4194304 /* Linux has no larger ones. */

#define LEAST_MARKED_BYTES 16 /* What end to end needs to know its records by. */

/* Letters and digits by chance: they compress by a quarter, as base64 does, and not to nothing. */
static char *make_values(size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *values = mem_alloc(size);
    uint64_t state = 88172645463325252; /* always the same: measurements are to be comparable */
    for (size_t i = 0; values != NULL && i < size; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] = letters[state >> 58];
    }
    return values;
}

static enum status check_settings(const struct bench_settings *settings)
{
    if (settings->is_idempotent && strcmp(settings->acks, "all") != 0) {
        output_complain("--idempotence needs --acks all");
        return STATUS_USAGE;
    }
    if (settings->end_to_end && settings->size < LEAST_MARKED_BYTES) {
        output_complain("--end-to-end needs records of %d bytes or more", LEAST_MARKED_BYTES);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static enum status prepare(struct bench *bench, bool creates)
{
    const struct bench_settings *settings = bench->settings;
    if (check_settings(settings) != STATUS_OK) return STATUS_USAGE;
    if (lookup_partitions(&settings->common, bench->topic_name, creates, &bench->partitions) != 0)
        return STATUS_FAILED;
    if (settings->partition >= bench->partitions) {
        output_complain("topic '%s' has %" PRId32 " partition%s, counted from 0", bench->topic_name,
                        bench->partitions, bench->partitions == 1 ? "" : "s");
        return STATUS_FAILED;
    }
    bench->latencies = mem_zalloc(sizeof *bench->latencies);
    bench->values = make_values(BENCH_VALUES_BYTES + (size_t)settings->size);
    if (bench->latencies == NULL || bench->values == NULL) {
        output_complain("%s", error_text(ERR_NO_MEMORY));
        return STATUS_FAILED;
    }
    return stop_signals_open(&bench->signals) == 0 ? STATUS_OK : STATUS_FAILED;
}

static void close_all(struct bench *bench)
{
    if (bench->consumer_topic != NULL) rd_kafka_topic_destroy(bench->consumer_topic);
    if (bench->producer_topic != NULL) rd_kafka_topic_destroy(bench->producer_topic);
    if (bench->consumer != NULL) rd_kafka_destroy(bench->consumer);
    if (bench->producer != NULL) {
        rd_kafka_purge(bench->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(bench->producer, 1000);
        rd_kafka_destroy(bench->producer);
    }
    stop_signals_close(&bench->signals);
    mem_free(bench->values);
    mem_free(bench->latencies);
}

static enum status run(const void *given, const struct operands *operands, const char *name,
                       bool (*measure)(struct bench *bench))
{
    struct bench bench = { .settings = given, .topic_name = operands->items[0] };
    bench.watch.owner = &bench;
    stop_signals_init(&bench.signals);
    enum status status = prepare(&bench, measure != bench_consume);
    if (status == STATUS_OK && (!measure(&bench) || bench_report(&bench, name) != 0))
        status = STATUS_FAILED;
    close_all(&bench);
    return status;
}

static enum status run_produce(const void *given, const struct operands *operands)
{
    return run(given, operands, "produce", bench_produce);
}

static enum status run_consume(const void *given, const struct operands *operands)
{
    return run(given, operands, "consume", bench_consume);
}

static enum status run_latency(const void *given, const struct operands *operands)
{
    return run(given, operands, "latency", bench_latency);
}

/* clang-format off */
#define NUMBER(name, letter, member, least, most, value, help) \
    { name, letter, OPTION_NUMBER, offsetof(struct bench_settings, member), least, most, value, help }

#define RECORDS(help) NUMBER("records", 'n', records, 1, INT64_C(1000000000000), "N", help)
#define SIZE          NUMBER("size", 's', size, 1, 256 * 1024 * 1024, "BYTES", "of a record's value (1024)")
#define PARTITION(help) NUMBER("partition", 'p', partition, 0, INT32_MAX, "N", help)
#define PID           NUMBER("pid", 'P', pid, 1, PID_MOST, "PID", \
    "the broker's process on this machine: its processor time\nand memory are told, too")
#define ACKS \
    { "acks", 'a', OPTION_CHOICE, offsetof(struct bench_settings, acks), 0, 0, \
      "0|1|all", "who must have a record before it counts (all)" }
#define COMPRESSION \
    { "compression", 'z', OPTION_CHOICE, offsetof(struct bench_settings, compression), 0, 0, \
      "none|gzip|snappy|lz4|zstd", "how batches are compressed (none)" }
#define IDEMPOTENCE \
    { "idempotence", 'i', OPTION_FLAG, offsetof(struct bench_settings, is_idempotent), 0, 0, \
      NULL, "with an idempotent producer" }

static const struct option_row produce_options[] = {
    RECORDS("how many (1000000)"),
    SIZE,
    NUMBER("rate", 'r', rate, 1, 1000000000, "N", "no more than N records a second"),
    PARTITION("all into this one (any)"),
    ACKS,
    COMPRESSION,
    IDEMPOTENCE,
    NUMBER("batch-bytes", 0, batch_bytes, 1, INT32_MAX, "BYTES", "of a batch at most (1000000)"),
    NUMBER("linger-ms", 0, linger_ms, 0, 900000, "MS", "how long a batch waits for more records (5)"),
    PID,
};

static const struct option_row consume_options[] = {
    RECORDS("stop after so many (at the end)"),
    PARTITION("this one only (all)"),
    PID,
};

static const struct option_row latency_options[] = {
    RECORDS("how many, one after the other (10000)"),
    SIZE,
    { "end-to-end", 'e', OPTION_FLAG, offsetof(struct bench_settings, end_to_end), 0, 0,
      NULL, "until a consumer has the record, not until it is\nacknowledged" },
    PARTITION("which partition (0)"),
    ACKS,
    COMPRESSION,
    IDEMPOTENCE,
    PID,
};
/* clang-format on */

static const struct bench_settings produce_defaults = {
    .records = 1000000,
    .size = 1024,
    .partition = -1,
    .acks = "all",
    .compression = "none",
    .batch_bytes = 1000000,
    .linger_ms = 5,
};

static const struct bench_settings consume_defaults = {
    .partition = -1,
};

static const struct bench_settings latency_defaults = {
    .records = 10000,
    .size = 1024,
    .partition = -1,
    .acks = "all",
    .compression = "none",
    .batch_bytes = 1000000,
};

#define UNITS                                                                             \
    "MB are 10^6 and GB 10^9 bytes of values. Works with any broker that speaks Kafka's " \
    "protocol;\n"                                                                         \
    "what is written stays in the topic. Ctrl-C ends early and tells what there is.\n"

const struct command bench_produce_command = {
    .name = "bench produce",
    .operands = "TOPIC",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Measure how fast records go into a topic",
    .about =
        "From the first record that is handed over to the last delivery report. Latency is that "
        "of each\nrecord, with the time that it waits for its batch.\n\n" UNITS,
    .example = "  sluice bench produce test --records 5000000 --size 100 --pid $(pgrep sluiced)\n"
               "  sluice bench produce test --rate 10000 --json | jq .latency_us.p99\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = produce_options,
    .option_count = sizeof produce_options / sizeof produce_options[0],
    .defaults = &produce_defaults,
    .settings_size = sizeof produce_defaults,
    .run = run_produce,
};

const struct command bench_consume_command = {
    .name = "bench consume",
    .operands = "TOPIC",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Measure how fast records come out of a topic",
    .about =
        "From its beginning to its end. The rate is that from the first record on; how long that "
        "one took\nis told beside it.\n\n" UNITS,
    .example = "  sluice bench consume test --pid $(pgrep sluiced)\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = consume_options,
    .option_count = sizeof consume_options / sizeof consume_options[0],
    .defaults = &consume_defaults,
    .settings_size = sizeof consume_defaults,
    .run = run_consume,
};

const struct command bench_latency_command = {
    .name = "bench latency",
    .operands = "TOPIC",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Measure how long one record takes that is alone under way",
    .about = "A tenth more than --records is sent first and not counted.\n\n" UNITS,
    .example = "  sluice bench latency test --records 20000 --size 100\n"
               "  sluice bench latency test --end-to-end --json\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = latency_options,
    .option_count = sizeof latency_options / sizeof latency_options[0],
    .defaults = &latency_defaults,
    .settings_size = sizeof latency_defaults,
    .run = run_latency,
};
