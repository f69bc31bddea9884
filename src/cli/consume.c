// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "commands.h"
#include "consumption.h"
#include "error.h"
#include "lookup.h"
#include "output.h"

static enum status read_places(struct consumption *consumption)
{
    const struct consume_settings *settings = consumption->settings;
    const char *until = settings->until == NULL ? "end" : settings->until;
    int64_t now_ms = clock_wall_ms(clock_real());
    consumption->until_ms = INT64_MAX;
    if (position_parse(settings->from, now_ms, &consumption->from) != 0) {
        output_complain("--from does not take '%s'", settings->from);
        output_hint("but " POSITION_FORMS);
        return STATUS_USAGE;
    }
    if (position_parse(until, now_ms, &consumption->until) != 0 ||
        consumption->until.kind == POSITION_BEGINNING) {
        output_complain("--until does not take '%s'", until);
        output_hint("but " POSITION_FORMS);
        return STATUS_USAGE;
    }
    bool from_now = consumption->until.kind == POSITION_END ||
                    consumption->until.kind == POSITION_LAST;
    if (settings->follows && settings->until != NULL && from_now) {
        output_complain("--follow goes on behind --until %s: only one of them can be meant", until);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

/* The format that was given, or what the options for parts of a record make of it. */
static enum status read_format(struct consumption *consumption, char problem[PROBLEM_SIZE])
{
    const struct consume_settings *settings = consumption->settings;
    struct format *format = &consumption->format;
    bool has_parts = settings->key_separator != NULL || settings->with_headers ||
                     settings->with_offsets;
    int err = 0;
    if (settings->format != NULL && (has_parts || settings->common.as_json)) {
        snprintf(problem, PROBLEM_SIZE,
                 "--format stands for --key-separator, --headers, --offsets and --json");
        return STATUS_USAGE;
    }
    if (settings->format != NULL) {
        err = format_parse(format, settings->format, problem);
        return err == 0 ? STATUS_OK : err == ERR_USAGE ? STATUS_USAGE : STATUS_FAILED;
    }
    char *separator = NULL;
    if (settings->with_offsets) err = format_parse(format, "{partition}:{offset}\\t\\c", problem);
    if (err == 0 && settings->with_headers) err = format_parse(format, "{headers}\\t\\c", problem);
    if (err == 0 && settings->key_separator != NULL) {
        size_t length = 0;
        separator = mem_alloc(strlen(settings->key_separator) + 1);
        err = separator == NULL ? ERR_NO_MEMORY
                                : text_unescape(settings->key_separator, separator, &length);
        if (err == ERR_USAGE)
            snprintf(problem, PROBLEM_SIZE,
                     "--key-separator takes a text, with \\t, \\n or \\xHH in it if need be");
        if (err == 0) err = format_add_field(format, FORMAT_KEY);
        if (err == 0) err = format_add_text(format, separator, length);
    }
    mem_free(separator);
    if (err == 0) err = format_parse(format, "{value}", problem);
    return err == 0 ? STATUS_OK : err == ERR_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

static enum status prepare(struct consumption *consumption)
{
    char problem[PROBLEM_SIZE];
    snprintf(problem, sizeof problem, "%s", error_text(ERR_NO_MEMORY));
    if (read_places(consumption) != STATUS_OK) return STATUS_USAGE;
    enum status status = read_format(consumption, problem);
    if (status != STATUS_OK) {
        output_complain("%s", problem);
        if (status == STATUS_USAGE) output_hint("see: sluice consume --help");
        return status;
    }
    return stop_signals_open(&consumption->signals) == 0 ? STATUS_OK : STATUS_FAILED;
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
    bool needs_one = consumption->from.kind == POSITION_OFFSET ||
                     consumption->until.kind == POSITION_OFFSET;
    if (settings->partition < 0 && needs_one && count > 1) {
        output_complain("an offset needs --partition N: topic '%s' has %" PRId32 " partitions",
                        consumption->topic_name, count);
        return STATUS_USAGE;
    }
    consumption->first_partition = settings->partition < 0 ? 0 : (int32_t)settings->partition;
    consumption->partition_count = settings->partition < 0 ? count : 1;
    consumption->readings = mem_calloc((size_t)consumption->partition_count,
                                       sizeof *consumption->readings);
    return consumption->readings == NULL ? STATUS_FAILED : STATUS_OK;
}

static enum status run_consume(const void *given, const struct operands *operands)
{
    struct consumption consumption = {
        .settings = given,
        .topic_name = operands->items[0],
        .to_terminal = isatty(STDOUT_FILENO),
    };
    format_init(&consumption.format);
    stop_signals_init(&consumption.signals);
    enum status status = prepare(&consumption);
    if (status == STATUS_OK) status = choose_partitions(&consumption);
    if (status == STATUS_OK) status = consumption_run(&consumption);
    consumption_close(&consumption);
    return status;
}

/* clang-format off */
static const struct option_row consume_options[] = {
    { "from", 'o', OPTION_TEXT, offsetof(struct consume_settings, from), 0, 0,
      "POSITION", "where to begin (beginning)" },
    { "until", 'u', OPTION_TEXT, offsetof(struct consume_settings, until), 0, 0,
      "POSITION", "where to stop: the first that is not shown (end)" },
    { "follow", 'f', OPTION_FLAG, offsetof(struct consume_settings, follows), 0, 0,
      NULL, "wait for more at the end" },
    { "count", 'n', OPTION_NUMBER, offsetof(struct consume_settings, count), 0, INT64_MAX,
      "N", "stop after so many records" },
    { "partition", 'p', OPTION_NUMBER, offsetof(struct consume_settings, partition), 0, INT32_MAX,
      "N", "this one only (all)" },
    { "format", 'F', OPTION_TEXT, offsetof(struct consume_settings, format), 0, 0,
      "TEXT", "what is printed of a record ({value}); see above" },
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
    .count = -1,
};

const struct command consume_command = {
    .name = "consume",
    .operands = "TOPIC",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Print the records of a topic",
    .about =
        "Ends where the topic ended when it began, or with --follow goes on until Ctrl-C. No "
        "group\n"
        "is used and nothing is committed.\n"
        "\n"
        "POSITION is beginning, end, an offset (needs --partition if there are several), -N (N\n"
        "records before the end), an age as 90s, 15m, 2h or 7d, @MS (since 1970), or a date as\n"
        "2026-01-31 or 2026-01-31T12:00:00Z (UTC, or with +02:00).\n"
        "\n"
        "A format is a text with fields in braces:\n" FORMAT_FIELDS "\n"
        "{{ is a brace, \\t, \\n and \\xHH are as usual, and \\c at the end leaves out the line "
        "break\n"
        "that else follows. With --json a record is a line with all of these; what is not UTF-8 "
        "is\n"
        "base64, in key_base64 or value_base64.\n"
        "\n"
        "On a terminal, bytes that could steer it are shown as \\xHH; a pipe gets them as they "
        "are.\n",
    .example = "  sluice consume greetings --follow\n"
               "  sluice consume users --from 15m --json | jq -r .value\n"
               "  sluice consume users --from -10 --format '{time} {key}={value}'\n"
               "  sluice consume users --partition 2 --from 1000 --until 1010 --offsets\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = consume_options,
    .option_count = sizeof consume_options / sizeof consume_options[0],
    .defaults = &consume_defaults,
    .settings_size = sizeof consume_defaults,
    .run = run_consume,
};
