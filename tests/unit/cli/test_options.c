// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "options.h"

struct pour_settings {
    struct common_settings common;
    bool is_hot;
    int64_t cups;
    const char *size;
    const char *name;
    struct text_list extras;
};

/* clang-format off */
static const struct option_row pour_options[] = {
    { "hot", 'H', OPTION_FLAG, offsetof(struct pour_settings, is_hot), 0, 0, NULL, "" },
    { "cups", 'c', OPTION_NUMBER, offsetof(struct pour_settings, cups), 1, 9, "N", "" },
    { "size", 's', OPTION_CHOICE, offsetof(struct pour_settings, size), 0, 0, "small|large", "" },
    { "name", 0, OPTION_TEXT, offsetof(struct pour_settings, name), 0, 0, "TEXT", "" },
    { "extra", 'x', OPTION_LIST, offsetof(struct pour_settings, extras), 0, 0, "TEXT", "" },
};
/* clang-format on */

static const struct pour_settings pour_defaults = {
    .cups = 1,
    .size = "small",
};

static const struct command pour = {
    .name = "pour",
    .operands = "WHAT",
    .least_operands = 1,
    .most_operands = 2,
    .summary = "Pour",
    .example = "  pour tea\n",
    .takes = TAKES_BROKER,
    .options = pour_options,
    .option_count = sizeof pour_options / sizeof pour_options[0],
    .defaults = &pour_defaults,
    .settings_size = sizeof pour_defaults,
};

static struct pour_settings settings;
static struct operands operands;
static char problem[PROBLEM_SIZE];

/* Parses a command line written as one text, with blanks between its words. */
static enum parse_result parse(const char *line)
{
    static char text[256];
    static char *argv[16];
    int argc = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    problem[0] = '\0';
    return options_parse(&pour, argc, argv, &settings, &operands, problem);
}

static void done(void)
{
    options_close(&pour, &settings, &operands);
}

static void assert_refused(const char *line, const char *because)
{
    assert_int_equal(parse(line), PARSE_ERROR);
    assert_string_equal(problem, because);
    done();
}

TEST(what_is_not_given_has_its_default)
{
    unsetenv("SLUICE_BOOTSTRAP");
    assert_int_equal(parse("tea"), PARSE_OK);
    assert_int_equal(operands.count, 1);
    assert_string_equal(operands.items[0], "tea");
    assert_false(settings.is_hot);
    assert_int_equal(settings.cups, 1);
    assert_string_equal(settings.size, "small");
    assert_null(settings.name);
    assert_int_equal(settings.common.timeout_s, DEFAULT_TIMEOUT_S);
    assert_string_equal(settings.common.bootstrap_server, "localhost:9092");
    done();
}

TEST(values_come_behind_a_blank_an_equals_sign_or_the_letter)
{
    assert_int_equal(parse("tea --cups 2 --size=large -H --name="), PARSE_OK);
    assert_int_equal(settings.cups, 2);
    assert_string_equal(settings.size, "large");
    assert_true(settings.is_hot);
    assert_string_equal(settings.name, "");
    done();
    assert_int_equal(parse("-c3 tea -s large"), PARSE_OK);
    assert_int_equal(settings.cups, 3);
    assert_string_equal(settings.size, "large");
    done();
}

TEST(an_option_may_repeat_if_it_is_a_list)
{
    assert_int_equal(parse("tea -x milk --extra sugar --extra=ice"), PARSE_OK);
    assert_int_equal(settings.extras.count, 3);
    assert_string_equal(settings.extras.items[0], "milk");
    assert_string_equal(settings.extras.items[2], "ice");
    done();
}

TEST(behind_two_dashes_everything_is_an_operand)
{
    assert_int_equal(parse("-- --hot -c"), PARSE_OK);
    assert_int_equal(operands.count, 2);
    assert_string_equal(operands.items[0], "--hot");
    assert_false(settings.is_hot);
    done();
    assert_int_equal(parse("-"), PARSE_OK);
    assert_string_equal(operands.items[0], "-");
    done();
}

TEST(the_brokers_come_from_the_option_or_else_from_the_environment)
{
    setenv("SLUICE_BOOTSTRAP", "elsewhere:1", 1);
    assert_int_equal(parse("tea"), PARSE_OK);
    assert_string_equal(settings.common.bootstrap_server, "elsewhere:1");
    done();
    assert_int_equal(parse("tea -b here:2"), PARSE_OK);
    assert_string_equal(settings.common.bootstrap_server, "here:2");
    done();
    unsetenv("SLUICE_BOOTSTRAP");
}

TEST(a_command_has_only_the_common_options_that_it_takes)
{
    assert_refused("tea --json", "there is no option --json");
    struct command locally = pour;
    locally.takes = TAKES_JSON;
    char words[2][16] = { "tea", "--json" };
    char *argv[] = { words[0], words[1] };
    assert_int_equal(options_parse(&locally, 2, argv, &settings, &operands, problem), PARSE_OK);
    assert_true(settings.common.as_json);
    options_close(&locally, &settings, &operands);
    snprintf(words[1], sizeof words[1], "--timeout=3");
    assert_int_equal(options_parse(&locally, 2, argv, &settings, &operands, problem), PARSE_ERROR);
    options_close(&locally, &settings, &operands);
}

TEST(help_wins_over_whatever_else_is_wrong)
{
    assert_int_equal(parse("--bogus --help"), PARSE_HELP);
    done();
    assert_int_equal(parse("-h"), PARSE_HELP);
    done();
    assert_int_equal(parse("-- --help"), PARSE_OK);
    done();
}

TEST(what_is_wrong_is_said_in_one_sentence)
{
    assert_refused("", "WHAT is missing");
    assert_refused("a b c", "'c' is one too many");
    assert_refused("tea --bogus", "there is no option --bogus");
    assert_refused("tea -q", "there is no option -q");
    assert_refused("tea --hot=yes", "--hot takes no value");
    assert_refused("tea --cups", "--cups needs a value: N");
    assert_refused("tea --cups 10", "--cups takes a number from 1 to 9, not '10'");
    assert_refused("tea --cups 2x", "--cups takes a number from 1 to 9, not '2x'");
    assert_refused("tea --size huge", "--size takes small|large, not 'huge'");
    assert_refused("tea --size large|small", "--size takes small|large, not 'large|small'");
    assert_refused("tea --size=", "--size takes small|large, not ''");
}

TEST(numbers_are_decimal_and_within_bounds)
{
    int64_t number = 7;
    assert_int_equal(text_to_number("-12", -20, 0, &number), 0);
    assert_int_equal(number, -12);
    assert_int_equal(text_to_number("9223372036854775807", 0, INT64_MAX, &number), 0);
    assert_true(number == INT64_MAX);
    static const char *const wrong[] = { "",     "-",  " 1",  "1 ",
                                         "0x10", "+1", "1e3", "9223372036854775808" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(text_to_number(wrong[i], INT64_MIN, INT64_MAX, &number), ERR_USAGE);
    assert_true(number == INT64_MAX);
}

TEST(a_separator_may_be_written_with_backslashes)
{
    char text[16];
    size_t length = 0;
    assert_int_equal(text_unescape("a\\t\\x1F\\\\\\0", text, &length), 0);
    assert_int_equal(length, 5);
    assert_memory_equal(text, "a\t\x1f\\\0", 5);
    assert_int_equal(text_unescape("\\", text, &length), ERR_USAGE);
    assert_int_equal(text_unescape("\\q", text, &length), ERR_USAGE);
    assert_int_equal(text_unescape("\\x1", text, &length), ERR_USAGE);
}

TEST(a_pair_is_split_at_its_first_equals_sign)
{
    size_t length = 0;
    const char *value = NULL;
    assert_int_equal(text_split_pair("a.b=c=d", &length, &value), 0);
    assert_int_equal(length, 3);
    assert_string_equal(value, "c=d");
    assert_int_equal(text_split_pair("a=", &length, &value), 0);
    assert_string_equal(value, "");
    assert_int_equal(text_split_pair("=a", &length, &value), ERR_USAGE);
    assert_int_equal(text_split_pair("a", &length, &value), ERR_USAGE);
}
