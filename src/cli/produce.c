// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "commands.h"
#include "error.h"
#include "lines.h"
#include "lookup.h"
#include "output.h"
#include "production.h"

/* ---- input ------------------------------------------------------------------------------------- */

/* Returns 0, or ERR_MALFORMED after complaining. */
static int send_json(struct production *production, struct str line, int64_t number,
                     const char *path)
{
    char problem[PROBLEM_SIZE];
    struct record_json record;
    snprintf(problem, sizeof problem, "%s", error_text(ERR_NO_MEMORY));
    int err = record_json_parse(&record, line, problem);
    if (err == 0)
        production_send_json(production, &record);
    else
        output_complain("line %" PRId64 " of %s is not sent: %s", number, path, problem);
    record_json_close(&record);
    return err;
}

/* Reads and sends until the end or the first failure. Returns 0, or an error of reading. */
static int send_lines(struct production *production, int fd, const char *path)
{
    struct lines lines;
    struct str line;
    int64_t number = 0;
    lines_init(&lines, fd);
    int err = 0;
    while (production_goes_on(production)) {
        err = lines_next(&lines, 100, &line);
        if (err == 0) {
            number++;
            if (production->settings->from_json) {
                err = send_json(production, line, number, path);
                if (err != 0) break;
            } else {
                production_send_line(production, line);
            }
        } else if (err != ERR_NEEDS_IO) {
            break;
        }
    }
    if (err == ERR_IO)
        output_complain("cannot read %s, line %" PRId64 ": %m", path, number + 1);
    else if (err == ERR_LIMIT)
        output_complain("line %" PRId64 " of %s is longer than %d bytes", number + 1, path,
                        LINE_MAX_BYTES);
    else if (err == ERR_NO_MEMORY)
        output_complain("%s", error_text(err));
    lines_close(&lines);
    return err == ERR_NOT_FOUND || err == ERR_NEEDS_IO ? 0 : err;
}

/* Sends all of a file as one record. Returns 0, or an error after complaining. */
static int send_whole(struct production *production, int fd, const char *path)
{
    struct buffer buffer;
    ssize_t got = 1;
    int err = 0;
    buffer_init(&buffer);
    while (err == 0 && got != 0) {
        if (buffer.length > LINE_MAX_BYTES) err = ERR_LIMIT;
        if (err == 0 && !buffer_reserve(&buffer, 65536)) err = ERR_NO_MEMORY;
        got = err == 0 ? read(fd, buffer.data + buffer.length, 65536) : 0;
        if (got > 0) buffer.length += (size_t)got;
        if (got < 0 && errno != EINTR) err = ERR_IO;
    }
    if (err == 0)
        production_send_value(production,
                              (struct str){ (char *)buffer.data, (int32_t)buffer.length });
    else if (err == ERR_IO)
        output_complain("cannot read %s: %m", path);
    else if (err == ERR_LIMIT)
        output_complain("%s is longer than %d bytes", path, LINE_MAX_BYTES);
    else
        output_complain("%s", error_text(err));
    buffer_close(&buffer);
    return err;
}

/* Returns 0, or an error after complaining. */
static int send_file(struct production *production, const char *path)
{
    bool is_input = strcmp(path, "-") == 0;
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        output_complain("cannot open %s: %m", path);
        return ERR_IO;
    }
    const char *name = is_input ? "standard input" : path;
    int err = production->settings->whole ? send_whole(production, fd, name)
                                          : send_lines(production, fd, name);
    if (!is_input) close(fd);
    return err;
}

static int send_all(struct production *production)
{
    const struct text_list *files = &production->settings->files;
    int err = files->count == 0 ? send_file(production, "-") : 0;
    for (unsigned i = 0; i < files->count && err == 0 && production_goes_on(production); i++)
        err = send_file(production, files->items[i]);
    return err;
}

/* ---- the command ------------------------------------------------------------------------------- */

static enum status check_settings(const struct produce_settings *settings)
{
    if (settings->is_idempotent && strcmp(settings->acks, "all") != 0) {
        output_complain("--idempotence needs --acks all");
        return STATUS_USAGE;
    }
    if (settings->from_json &&
        (settings->whole || settings->key_separator != NULL || settings->null_text != NULL)) {
        output_complain("--from-json goes without --whole, --key-separator and --null");
        return STATUS_USAGE;
    }
    if (settings->whole && settings->key_separator != NULL) {
        output_complain("--whole and --key-separator do not go together");
        output_hint("--key TEXT gives every record a key");
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static enum status prepare(struct production *production)
{
    const struct produce_settings *settings = production->settings;
    if (check_settings(settings) != STATUS_OK) return STATUS_USAGE;
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
    return stop_signals_open(&production->signals) == 0 ? STATUS_OK : STATUS_FAILED;
}

static void complain_of_failure(const struct production *production)
{
    output_complain("%s %" PRId64 " was not delivered to topic '%s': %s",
                    production->settings->whole ? "file" : "line", production->failed_line,
                    production->topic_name, rd_kafka_err2str(production->failure));
    if (production->failure == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        output_hint("the topic allows no more: sluice config get --topic %s max.message.bytes",
                    production->topic_name);
    else if (production->failure == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
        output_hint("--timeout SECONDS waits longer");
    output_hint("%" PRId64 " of %" PRId64 " records sent were delivered", production->delivered,
                production->sent);
}

/* For people only where they sit at the terminal; the exit status says the same. */
static int print_summary(const struct production *production)
{
    int64_t took_us = clock_monotonic_us(clock_real()) - production->began_us;
    if (production->settings->common.as_json)
        return json_print(json_pack("{s:s, s:I, s:I, s:I, s:f}", "topic", production->topic_name,
                                    "records", (json_int_t)production->delivered, "records_failed",
                                    (json_int_t)(production->sent - production->delivered), "bytes",
                                    (json_int_t)production->sent_bytes, "seconds",
                                    (double)took_us / 1e6),
                          false, stdout);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%" PRId64 " record%s delivered\n", production->delivered,
                production->delivered == 1 ? "" : "s");
    return 0;
}

/* Waits for what is under way, and tells how it went. */
static enum status finish(struct production *production, int read_error)
{
    bool is_complete = production_flush(production);
    if (production->has_failed)
        complain_of_failure(production);
    else if (!is_complete)
        output_complain("%" PRId64 " records were sent, but their delivery is not known",
                        production->sent - production->delivered);
    int err = print_summary(production);
    if (output_finish() != 0 || err != 0) return STATUS_FAILED;
    return is_complete && read_error == 0 ? STATUS_OK : STATUS_FAILED;
}

static enum status check_topic(const struct production *production)
{
    int32_t partitions = 0;
    if (lookup_partitions(&production->settings->common, production->topic_name, true,
                          &partitions) != 0)
        return STATUS_FAILED;
    if (production->settings->partition < partitions) return STATUS_OK;
    output_complain("topic '%s' has %" PRId32 " partition%s, counted from 0",
                    production->topic_name, partitions, partitions == 1 ? "" : "s");
    return STATUS_FAILED;
}

static enum status run_produce(const void *given, const struct operands *operands)
{
    struct production production = { .settings = given, .topic_name = operands->items[0] };
    stop_signals_init(&production.signals);
    enum status status = prepare(&production);
    if (status == STATUS_OK) status = check_topic(&production);
    if (status == STATUS_OK && !production_open(&production)) status = STATUS_FAILED;
    if (status == STATUS_OK) status = finish(&production, send_all(&production));
    production_close(&production);
    return status;
}

/* clang-format off */
static const struct option_row produce_options[] = {
    { "file", 'f', OPTION_LIST, offsetof(struct produce_settings, files), 0, 0,
      "FILE", "read from there instead of standard input; may be repeated" },
    { "whole", 'w', OPTION_FLAG, offsetof(struct produce_settings, whole), 0, 0,
      NULL, "a file, or all of the input, is one record" },
    { "from-json", 0, OPTION_FLAG, offsetof(struct produce_settings, from_json), 0, 0,
      NULL, "lines are what sluice consume --json prints: keys, values,\nheaders and times are as they say" },
    { "key", 'k', OPTION_TEXT, offsetof(struct produce_settings, key), 0, 0,
      "TEXT", "the key of every record that has no other" },
    { "key-separator", 'K', OPTION_TEXT, offsetof(struct produce_settings, key_separator), 0, 0,
      "TEXT", "what stands before the first TEXT in a line is the key" },
    { "null", 0, OPTION_TEXT, offsetof(struct produce_settings, null_text), 0, 0,
      "TEXT", "a value that is TEXT becomes null, which deletes its key\nfrom a compacted topic" },
    { "header", 'H', OPTION_LIST, offsetof(struct produce_settings, headers), 0, 0,
      "NAME=VALUE", "a header for every record; may be repeated" },
    { "partition", 'p', OPTION_NUMBER, offsetof(struct produce_settings, partition), 0, INT32_MAX,
      "N", "all into this one (by the key, else any)" },
    { "rate", 'r', OPTION_NUMBER, offsetof(struct produce_settings, rate), 1, 1000000000,
      "N", "no more than N records a second" },
    { "acks", 'a', OPTION_CHOICE, offsetof(struct produce_settings, acks), 0, 0,
      "0|1|all", "who must have a record before it counts (all)" },
    { "compression", 'z', OPTION_CHOICE, offsetof(struct produce_settings, compression), 0, 0,
      "none|gzip|snappy|lz4|zstd", "how batches are compressed (none)" },
    { "idempotence", 'i', OPTION_FLAG, offsetof(struct produce_settings, is_idempotent), 0, 0,
      NULL, "no record twice and none out of order, whatever is\nsent again" },
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
    .about = "Ends with the input, at the first record that cannot be delivered, or at Ctrl-C when "
             "all that\n"
             "was read is delivered. --json tells how many there were.\n",
    .example = "  echo hello | sluice produce greetings\n"
               "  sluice produce users --key-separator : --compression zstd --file users.txt\n"
               "  sluice consume users --json | sluice produce copy --from-json\n"
               "  sluice produce pictures --whole --file cat.png --header type=image/png\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = produce_options,
    .option_count = sizeof produce_options / sizeof produce_options[0],
    .defaults = &produce_defaults,
    .settings_size = sizeof produce_defaults,
    .run = run_produce,
};
