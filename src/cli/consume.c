// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "error.h"
#include "kafka_conf.h"
#include "lookup.h"
#include "output.h"

struct consume_settings {
    struct common_settings common;
    const char *from;
    int64_t partition; /* -1: all. */
    bool until_end;
    int64_t max; /* -1: no limit. */
    const char *key_separator;
    bool with_headers;
    bool with_offsets;
};

struct consumption {
    const struct consume_settings *settings;
    const char *topic_name;
    struct kafka_watch watch;
    rd_kafka_t *kafka;
    rd_kafka_topic_t *topic;
    rd_kafka_queue_t *queue;
    int64_t from_offset;     /* Or one of librdkafka's two names for the ends. */
    int32_t first_partition; /* Those that are read: */
    int32_t partition_count;
    int32_t started_count;
    bool *has_ended; /* Of each of them: its end was reached. */
    int32_t ended_count;
    char *separator; /* NULL: keys are not shown. */
    size_t separator_length;
    bool to_terminal;
    int64_t taken; /* Records so far. */
    int signals;   /* A signalfd of SIGINT and SIGTERM. */
};

/* ---- printing ---------------------------------------------------------------------------------- */

static int print_null(const struct consumption *consumption)
{
    /* In a pipe, nothing: a null cannot be told from an empty text there; --json does. */
    return consumption->to_terminal && fputs("(null)", stdout) == EOF ? ERR_IO : 0;
}

static int print_part(const struct consumption *consumption, const void *data, size_t length)
{
    return data == NULL ? print_null(consumption)
                        : output_bytes(stdout, consumption->to_terminal, data, length);
}

/* "name=value,name=value" */
static int print_headers(const struct consumption *consumption, rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
    const char *name;
    const void *value;
    size_t length;
    int err = 0;
    for (size_t i = 0; err == 0 && rd_kafka_header_get_all(headers, i, &name, &value, &length) ==
                                       RD_KAFKA_RESP_ERR_NO_ERROR;
         i++) {
        if (i > 0) putchar(',');
        err = print_part(consumption, name, strlen(name));
        putchar('=');
        if (err == 0) err = print_part(consumption, value, length);
    }
    return err;
}

static int print_record(const struct consumption *consumption, rd_kafka_message_t *message)
{
    int err = 0;
    if (consumption->settings->with_offsets)
        printf("%" PRId32 ":%" PRId64 "\t", message->partition, message->offset);
    if (consumption->settings->with_headers) {
        err = print_headers(consumption, message);
        putchar('\t');
    }
    if (err == 0 && consumption->separator != NULL) {
        err = print_part(consumption, message->key, message->key_len);
        if (err == 0)
            err = output_bytes(stdout, false, consumption->separator,
                               consumption->separator_length);
    }
    if (err == 0) err = print_part(consumption, message->payload, message->len);
    return putchar('\n') == EOF ? ERR_IO : err;
}

static int32_t length_or_null(const void *data, size_t length)
{
    return data == NULL ? -1 : (int32_t)length;
}

static int add_headers(json_t *object, rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers;
    json_t *array = json_array();
    if (json_object_set_new(object, "headers", array) != 0) return ERR_NO_MEMORY;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
    const char *name;
    const void *value;
    size_t length;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &length) == RD_KAFKA_RESP_ERR_NO_ERROR;
         i++) {
        json_t *header = json_object();
        if (json_array_append_new(array, header) != 0) return ERR_NO_MEMORY;
        int err = json_set_bytes(header, "name", name, (int32_t)strlen(name));
        if (err == 0) err = json_set_bytes(header, "value", value, length_or_null(value, length));
        if (err != 0) return err;
    }
    return 0;
}

static int print_json(rd_kafka_message_t *message)
{
    rd_kafka_timestamp_type_t kind;
    int64_t timestamp = rd_kafka_message_timestamp(message, &kind);
    json_t *object = json_pack(
        "{s:i, s:I, s:I, s:s}", "partition", message->partition, "offset",
        (json_int_t)message->offset, "timestamp", (json_int_t)timestamp, "timestamp_type",
        kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? "LogAppendTime" : "CreateTime");
    if (object == NULL) return ERR_NO_MEMORY;
    int err = json_set_bytes(object, "key", message->key,
                             length_or_null(message->key, message->key_len));
    if (err == 0)
        err = json_set_bytes(object, "value", message->payload,
                             length_or_null(message->payload, message->len));
    if (err == 0) err = add_headers(object, message);
    if (err == 0) return json_print(object, false, stdout);
    json_decref(object);
    return err;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static bool open_kafka(struct consumption *consumption)
{
    bool is_number = consumption->from_offset >= 0;
    const struct conf_pair pairs[] = {
        { "enable.partition.eof", "true" },
        /* An offset that was asked for and is not there is an error, not another offset. */
        { "auto.offset.reset", is_number ? "error" : "earliest" },
        { "queued.min.messages", "1000000" }, /* its default pauses for a second when reached */
        { "fetch.wait.max.ms", "100" },
        { "allow.auto.create.topics", "false" },
        { "check.crcs", "true" },
        { NULL, NULL },
    };
    rd_kafka_conf_t *conf = kafka_conf_new(&consumption->settings->common, pairs,
                                           &consumption->watch);
    if (conf == NULL) return false;
    consumption->kafka = kafka_open(RD_KAFKA_CONSUMER, conf);
    if (consumption->kafka == NULL) return false;
    consumption->queue = rd_kafka_queue_new(consumption->kafka);
    consumption->topic = rd_kafka_topic_new(consumption->kafka, consumption->topic_name, NULL);
    if (consumption->topic == NULL)
        output_complain("librdkafka does not take topic '%s': %s", consumption->topic_name,
                        rd_kafka_err2str(rd_kafka_last_error()));
    return consumption->topic != NULL;
}

/* Partitions are read without a group: nothing is committed, nobody else is disturbed. */
static bool start_partitions(struct consumption *consumption)
{
    for (int32_t i = 0; i < consumption->partition_count; i++) {
        int32_t partition = consumption->first_partition + i;
        if (rd_kafka_consume_start_queue(consumption->topic, partition, consumption->from_offset,
                                         consumption->queue) != 0) {
            output_complain("partition %" PRId32 " cannot be read: %s", partition,
                            rd_kafka_err2str(rd_kafka_last_error()));
            return false;
        }
        consumption->started_count = i + 1;
    }
    return true;
}

static void note_end(struct consumption *consumption, int32_t partition)
{
    int32_t i = partition - consumption->first_partition;
    if (i < 0 || i >= consumption->partition_count || consumption->has_ended[i]) return;
    consumption->has_ended[i] = true;
    consumption->ended_count++;
}

/* Returns 0, or an error that ends the command, after complaining. */
static int take_message(struct consumption *consumption, rd_kafka_message_t *message)
{
    switch (message->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR: break;
    case RD_KAFKA_RESP_ERR__PARTITION_EOF: note_end(consumption, message->partition); return 0;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        output_complain("partition %" PRId32 " has no offset %" PRId64, message->partition,
                        consumption->from_offset);
        output_hint("--from beginning shows what is there; with --offsets, where it is");
        return ERR_OFFSET_OUT_OF_RANGE;
    default:
        output_complain("topic '%s', partition %" PRId32 ": %s", consumption->topic_name,
                        message->partition, rd_kafka_message_errstr(message));
        return ERR_IO;
    }
    consumption->taken++;
    int err = consumption->settings->common.as_json ? print_json(message)
                                                    : print_record(consumption, message);
    if (err != 0 && err != ERR_IO) output_complain("%s", error_text(err));
    return err;
}

static bool is_done(const struct consumption *consumption)
{
    const struct consume_settings *settings = consumption->settings;
    if (settings->max >= 0 && consumption->taken >= settings->max) return true;
    return settings->until_end && consumption->ended_count == consumption->partition_count;
}

static bool was_told_to_stop(const struct consumption *consumption)
{
    struct signalfd_siginfo signal;
    return read(consumption->signals, &signal, sizeof signal) == (ssize_t)sizeof signal;
}

static int64_t monotonic_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Who follows waits for a lost broker for ever; who wants to reach an end does not. */
static bool has_waited_enough(const struct consumption *consumption, int64_t last_word_s)
{
    const struct consume_settings *settings = consumption->settings;
    if (!settings->until_end || !consumption->watch.is_down ||
        monotonic_s() - last_word_s < settings->common.timeout_s)
        return false;
    output_complain("no broker has answered for %" PRId64 " s", settings->common.timeout_s);
    output_hint("--timeout SECONDS waits longer");
    return true;
}

static enum status take_all(struct consumption *consumption)
{
    int64_t last_word_s = monotonic_s();
    while (!is_done(consumption)) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(consumption->queue, 0);
        if (message == NULL) { /* what is there is shown before we wait */
            if (output_finish() != 0) return STATUS_FAILED;
            if (was_told_to_stop(consumption)) return STATUS_OK;
            rd_kafka_poll(consumption->kafka, 0);
            if (has_waited_enough(consumption, last_word_s)) return STATUS_FAILED;
            message = rd_kafka_consume_queue(consumption->queue, 100);
        }
        if (message == NULL) continue;
        consumption->watch.is_down = false;
        last_word_s = monotonic_s();
        int err = take_message(consumption, message);
        rd_kafka_message_destroy(message);
        if (err != 0) {
            output_finish();
            return STATUS_FAILED;
        }
        if (consumption->taken % 1024 == 0 && was_told_to_stop(consumption)) break;
    }
    return output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
}

/* ---- the command ------------------------------------------------------------------------------- */

static enum status prepare(struct consumption *consumption)
{
    const struct consume_settings *settings = consumption->settings;
    if (strcmp(settings->from, "beginning") == 0) {
        consumption->from_offset = RD_KAFKA_OFFSET_BEGINNING;
    } else if (strcmp(settings->from, "end") == 0) {
        consumption->from_offset = RD_KAFKA_OFFSET_END;
    } else if (text_to_number(settings->from, 0, INT64_MAX, &consumption->from_offset) != 0) {
        output_complain("--from takes beginning, end or an offset, not '%s'", settings->from);
        return STATUS_USAGE;
    }
    if (settings->key_separator != NULL) {
        consumption->separator = mem_alloc(strlen(settings->key_separator) + 1);
        if (consumption->separator == NULL) return STATUS_FAILED;
        if (text_unescape(settings->key_separator, consumption->separator,
                          &consumption->separator_length) != 0) {
            output_complain(
                "--key-separator takes a text, with \\t, \\n or \\xHH in it if need be");
            return STATUS_USAGE;
        }
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    consumption->signals = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    return consumption->signals < 0 ? STATUS_FAILED : STATUS_OK;
}

static enum status choose_partitions(struct consumption *consumption)
{
    const struct consume_settings *settings = consumption->settings;
    int32_t count = 0;
    if (lookup_partitions(&settings->common, consumption->topic_name, false, &count) != 0)
        return STATUS_FAILED;
    if (settings->partition >= count) {
        output_complain("topic '%s' has %" PRId32 " partition%s, counted from 0",
                        consumption->topic_name, count, count == 1 ? "" : "s");
        return STATUS_FAILED;
    }
    if (settings->partition < 0 && consumption->from_offset >= 0 && count > 1) {
        output_complain("--from OFFSET needs --partition N: topic '%s' has %" PRId32 " partitions",
                        consumption->topic_name, count);
        return STATUS_USAGE;
    }
    consumption->first_partition = settings->partition < 0 ? 0 : (int32_t)settings->partition;
    consumption->partition_count = settings->partition < 0 ? count : 1;
    consumption->has_ended = mem_calloc((size_t)consumption->partition_count,
                                        sizeof *consumption->has_ended);
    return consumption->has_ended == NULL ? STATUS_FAILED : STATUS_OK;
}

static enum status run_consume(const void *given, const struct operands *operands)
{
    struct consumption consumption = {
        .settings = given,
        .topic_name = operands->items[0],
        .to_terminal = isatty(STDOUT_FILENO),
        .signals = -1,
    };
    enum status status = prepare(&consumption);
    if (status == STATUS_OK) status = choose_partitions(&consumption);
    if (status == STATUS_OK && !(open_kafka(&consumption) && start_partitions(&consumption)))
        status = STATUS_FAILED;
    if (status == STATUS_OK) status = take_all(&consumption);

    for (int32_t i = 0; i < consumption.started_count; i++)
        rd_kafka_consume_stop(consumption.topic, consumption.first_partition + i);
    if (consumption.queue != NULL) rd_kafka_queue_destroy(consumption.queue);
    if (consumption.topic != NULL) rd_kafka_topic_destroy(consumption.topic);
    if (consumption.kafka != NULL) rd_kafka_destroy(consumption.kafka);
    if (consumption.signals >= 0) close(consumption.signals);
    mem_free(consumption.has_ended);
    mem_free(consumption.separator);
    return status;
}

/* clang-format off */
static const struct option_row consume_options[] = {
    { "from", 'o', OPTION_TEXT, offsetof(struct consume_settings, from), 0, 0,
      "beginning|end|OFFSET", "where to begin (beginning)" },
    { "partition", 'p', OPTION_NUMBER, offsetof(struct consume_settings, partition), 0, INT32_MAX,
      "N", "this one only (all)" },
    { "until-end", 'e', OPTION_FLAG, offsetof(struct consume_settings, until_end), 0, 0,
      NULL, "stop at the end instead of waiting for more" },
    { "max", 'n', OPTION_NUMBER, offsetof(struct consume_settings, max), 0, INT64_MAX,
      "N", "stop after so many records" },
    { "key-separator", 'K', OPTION_TEXT, offsetof(struct consume_settings, key_separator), 0, 0,
      "TEXT", "print the key and TEXT before the value" },
    { "headers", 'H', OPTION_FLAG, offsetof(struct consume_settings, with_headers), 0, 0,
      NULL, "print NAME=VALUE,… and a tab before that" },
    { "offsets", 0, OPTION_FLAG, offsetof(struct consume_settings, with_offsets), 0, 0,
      NULL, "print PARTITION:OFFSET and a tab before that" },
};
/* clang-format on */

static const struct consume_settings consume_defaults = {
    .from = "beginning",
    .partition = -1,
    .max = -1,
};

const struct command consume_command = {
    .name = "consume",
    .operands = "TOPIC",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Print the records of a topic, and wait for more",
    .about = "On a terminal, bytes that could steer it are shown as \\xHH; a pipe gets them as "
             "they are.\n",
    .example = "  sluice consume greetings\n"
               "  sluice consume users --until-end --json | jq -r .value\n"
               "  sluice consume users --partition 2 --from 1000 --max 10 --offsets\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = consume_options,
    .option_count = sizeof consume_options / sizeof consume_options[0],
    .defaults = &consume_defaults,
    .settings_size = sizeof consume_defaults,
    .run = run_consume,
};
