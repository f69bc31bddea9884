// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "error.h"
#include "kafka_conf.h"
#include "lines.h"
#include "lookup.h"
#include "output.h"

struct produce_settings {
    struct common_settings common;
    const char *key_separator;
    struct text_list headers;
    int64_t partition; /* -1: by the key, or any. */
    const char *acks;
    const char *compression;
    const char *file;
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
    uint64_t line_number;
    uint64_t delivered;
    bool has_failed; /* Of the first record that was not delivered: */
    uint64_t failed_line;
    rd_kafka_resp_err_t failure;
};

static void on_delivery(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
    (void)kafka;
    struct production *production = ((struct kafka_watch *)opaque)->owner;
    production->watch.is_down = false;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        production->delivered++;
    } else if (!production->has_failed) {
        production->has_failed = true;
        production->failed_line = (uint64_t)(uintptr_t)message->_private;
        production->failure = message->err;
    }
}

static bool open_kafka(struct production *production)
{
    const struct produce_settings *settings = production->settings;
    char timeout_ms[24];
    snprintf(timeout_ms, sizeof timeout_ms, "%" PRId64, settings->common.timeout_s * 1000);
    const struct conf_pair pairs[] = {
        { "acks", settings->acks },
        { "compression.codec", settings->compression },
        { "message.timeout.ms", timeout_ms },
        { "partitioner", "murmur2_random" },   /* where Java clients put the same key */
        { "message.max.bytes", "1000000000" }, /* the broker decides, not we */
        { "queue.buffering.max.messages", "200000" },
        { NULL, NULL },
    };
    production->watch = (struct kafka_watch){ .owner = production };
    rd_kafka_conf_t *conf = kafka_conf_new(&settings->common, pairs, &production->watch);
    if (conf == NULL) return false;
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    production->kafka = kafka_open(RD_KAFKA_PRODUCER, conf);
    if (production->kafka == NULL) return false;
    production->topic = rd_kafka_topic_new(production->kafka, production->topic_name, NULL);
    if (production->topic == NULL)
        output_complain("librdkafka does not take topic '%s': %s", production->topic_name,
                        rd_kafka_err2str(rd_kafka_last_error()));
    return production->topic != NULL;
}

/* ---- records ----------------------------------------------------------------------------------- */

static rd_kafka_resp_err_t send_once(struct production *production, struct str key,
                                     struct str value)
{
    rd_kafka_headers_t *headers = production->headers == NULL
                                      ? NULL
                                      : rd_kafka_headers_copy(production->headers);
    rd_kafka_resp_err_t error = rd_kafka_producev(
        production->kafka, RD_KAFKA_V_RKT(production->topic),
        RD_KAFKA_V_PARTITION((int32_t)production->settings->partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY((void *)(uintptr_t)key.data, (size_t)(key.length < 0 ? 0 : key.length)),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value.data, (size_t)value.length),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE((void *)(uintptr_t)production->line_number),
        RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR && headers != NULL) rd_kafka_headers_destroy(headers);
    return error;
}

/* Hands a line to librdkafka, waiting while its queue is full. */
static void send_line(struct production *production, struct str line)
{
    struct str key = STR_NULL, value = line;
    if (production->separator != NULL && line.length > 0) {
        const char *at = memmem(line.data, (size_t)line.length, production->separator,
                                production->separator_length);
        if (at != NULL) {
            key = (struct str){ line.data, (int32_t)(at - line.data) };
            value.data = at + production->separator_length;
            value.length = line.length - key.length - (int32_t)production->separator_length;
        }
    }
    rd_kafka_resp_err_t error;
    while ((error = send_once(production, key, value)) == RD_KAFKA_RESP_ERR__QUEUE_FULL &&
           !production->has_failed)
        rd_kafka_poll(production->kafka, 50);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR && !production->has_failed) {
        production->has_failed = true;
        production->failed_line = production->line_number;
        production->failure = error;
    }
}

/* Reads and sends until the end or the first failure. Returns 0, or an error of reading. */
static int send_lines(struct production *production, int fd)
{
    struct lines lines;
    struct str line;
    lines_init(&lines, fd);
    int err = 0;
    while (!production->has_failed) {
        err = lines_next(&lines, 100, &line);
        if (err == 0) {
            production->line_number++;
            send_line(production, line);
        } else if (err != ERR_NEEDS_IO) {
            break;
        }
        rd_kafka_poll(production->kafka, 0);
    }
    if (err == ERR_IO)
        output_complain("cannot read line %" PRIu64 ": %m", production->line_number + 1);
    else if (err == ERR_LIMIT)
        output_complain("line %" PRIu64 " is longer than %d bytes", production->line_number + 1,
                        LINE_MAX_BYTES);
    else if (err == ERR_NO_MEMORY)
        output_complain("%s", error_text(err));
    lines_close(&lines);
    return err == ERR_NOT_FOUND || err == ERR_NEEDS_IO ? 0 : err;
}

/* ---- the command ------------------------------------------------------------------------------- */

static enum status prepare(struct production *production)
{
    const struct produce_settings *settings = production->settings;
    if (settings->key_separator != NULL) {
        production->separator = mem_alloc(strlen(settings->key_separator) + 1);
        if (production->separator == NULL) return STATUS_FAILED;
        if (text_unescape(settings->key_separator, production->separator,
                          &production->separator_length) != 0 ||
            production->separator_length == 0) {
            output_complain(
                "--key-separator takes a text, with \\t, \\n or \\xHH in it if need be");
            return STATUS_USAGE;
        }
    }
    if (settings->headers.count > 0)
        production->headers = rd_kafka_headers_new(settings->headers.count);
    for (unsigned i = 0; i < settings->headers.count; i++) {
        const char *pair = settings->headers.items[i], *value;
        size_t name_length;
        if (text_split_pair(pair, &name_length, &value) != 0) {
            output_complain("--header takes NAME=VALUE, not '%s'", pair);
            return STATUS_USAGE;
        }
        rd_kafka_header_add(production->headers, pair, (ssize_t)name_length, value, -1);
    }
    return STATUS_OK;
}

/* Waits for what is under way, and tells how it went. */
static enum status finish(struct production *production, int read_error)
{
    /* message.timeout.ms ends every wait; the margin is for its bookkeeping. */
    rd_kafka_flush(production->kafka, (int)production->settings->common.timeout_s * 1000 + 5000);
    bool is_complete = production->delivered == production->line_number;
    if (production->has_failed) {
        output_complain("line %" PRIu64 " was not delivered to topic '%s': %s",
                        production->failed_line, production->topic_name,
                        rd_kafka_err2str(production->failure));
        if (production->failure == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
            output_hint("the topic's setting max.message.bytes allows no more");
        else if (production->failure == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
            output_hint("--timeout SECONDS waits longer");
        output_hint("%" PRIu64 " of %" PRIu64 " lines read were delivered", production->delivered,
                    production->line_number);
    } else if (!is_complete) {
        output_complain("%" PRIu64 " lines were sent, but their delivery is not known",
                        production->line_number - production->delivered);
    } else if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "%" PRIu64 " record%s delivered\n", production->delivered,
                production->delivered == 1 ? "" : "s");
    }
    return is_complete && read_error == 0 ? STATUS_OK : STATUS_FAILED;
}

static int open_input(const struct produce_settings *settings)
{
    if (settings->file == NULL) return STDIN_FILENO;
    int fd = open(settings->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) output_complain("cannot open %s: %m", settings->file);
    return fd;
}

static enum status run_produce(const void *given, const struct operands *operands)
{
    struct production production = { .settings = given, .topic_name = operands->items[0] };
    const struct produce_settings *settings = production.settings;
    int32_t partitions = 0;
    int fd = -1;
    enum status status = prepare(&production);
    if (status == STATUS_OK) {
        fd = open_input(settings);
        if (fd < 0 ||
            lookup_partitions(&settings->common, production.topic_name, true, &partitions) != 0)
            status = STATUS_FAILED;
    }
    if (status == STATUS_OK && settings->partition >= partitions) {
        output_complain("topic '%s' has %" PRId32 " partition%s, counted from 0",
                        production.topic_name, partitions, partitions == 1 ? "" : "s");
        status = STATUS_FAILED;
    }
    if (status == STATUS_OK && !open_kafka(&production)) status = STATUS_FAILED;
    if (status == STATUS_OK) status = finish(&production, send_lines(&production, fd));

    if (production.topic != NULL) rd_kafka_topic_destroy(production.topic);
    if (production.kafka != NULL) rd_kafka_destroy(production.kafka);
    if (production.headers != NULL) rd_kafka_headers_destroy(production.headers);
    if (fd > STDIN_FILENO) close(fd);
    mem_free(production.separator);
    return status;
}

/* clang-format off */
static const struct option_row produce_options[] = {
    { "key-separator", 'K', OPTION_TEXT, offsetof(struct produce_settings, key_separator), 0, 0,
      "TEXT", "what stands before the first TEXT in a line is the key" },
    { "header", 'H', OPTION_LIST, offsetof(struct produce_settings, headers), 0, 0,
      "NAME=VALUE", "a header for every record; may be repeated" },
    { "partition", 'p', OPTION_NUMBER, offsetof(struct produce_settings, partition), 0, INT32_MAX,
      "N", "all into this one (by the key, else any)" },
    { "acks", 'a', OPTION_CHOICE, offsetof(struct produce_settings, acks), 0, 0,
      "0|1|all", "who must have a record before it counts (all)" },
    { "compression", 'z', OPTION_CHOICE, offsetof(struct produce_settings, compression), 0, 0,
      "none|gzip|snappy|lz4|zstd", "how batches are compressed (none)" },
    { "file", 'f', OPTION_TEXT, offsetof(struct produce_settings, file), 0, 0,
      "PATH", "read lines from there instead of standard input" },
};
/* clang-format on */

static const struct produce_settings produce_defaults = {
    .partition = RD_KAFKA_PARTITION_UA,
    .acks = "all",
    .compression = "none",
};

const struct command produce_command = {
    .name = "produce",
    .operands = "TOPIC",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Write lines to a topic, each as one record",
    .about = "Ends with the input, or at the first record that cannot be delivered.\n",
    .example = "  echo hello | sluice produce greetings\n"
               "  sluice produce users --key-separator : --compression zstd --file users.txt\n",
    .takes = TAKES_BROKER,
    .options = produce_options,
    .option_count = sizeof produce_options / sizeof produce_options[0],
    .defaults = &produce_defaults,
    .settings_size = sizeof produce_defaults,
    .run = run_produce,
};
