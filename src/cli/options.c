// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "error.h"

/* clang-format off */
static const struct {
    unsigned takes;
    struct option_row row;
} common_options[] = {
    { TAKES_JSON, { "json", 'j', OPTION_FLAG, offsetof(struct common_settings, as_json), 0, 0,
      NULL, "for programs: JSON on standard output" } },
    { TAKES_BROKER, { "bootstrap-server", 'b', OPTION_TEXT, offsetof(struct common_settings, bootstrap_server), 0, 0,
      "HOST:PORT[,…]", "brokers to ask first ($SLUICE_BOOTSTRAP, else localhost:9092)" } },
    { TAKES_BROKER, { "timeout", 0, OPTION_NUMBER, offsetof(struct common_settings, timeout_s), 1, 86400,
      "SECONDS", "give up after so long without an answer (10)" } },
};
/* clang-format on */

#define COMMON_COUNT ((unsigned)(sizeof common_options / sizeof common_options[0]))

__attribute__((format(printf, 2, 3))) static enum parse_result problem_is(
    char problem[PROBLEM_SIZE], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(problem, PROBLEM_SIZE, format, args);
    va_end(args);
    return PARSE_ERROR;
}

int text_to_number(const char *text, int64_t least, int64_t most, int64_t *number)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    if (digits[0] == '\0' || strspn(digits, "0123456789") != strlen(digits)) return ERR_USAGE;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno != 0 || value < least || value > most) return ERR_USAGE;
    *number = value;
    return 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

int text_unescape(const char *from, char *to, size_t *length)
{
    static const char letters[] = "tnr0\\";
    static const char meanings[] = "\t\n\r\0\\";
    size_t at = 0;
    while (*from != '\0') {
        if (from[0] != '\\') {
            to[at++] = *from++;
            continue;
        }
        const char *letter = from[1] == '\0' ? NULL : strchr(letters, from[1]);
        if (letter != NULL) {
            to[at++] = meanings[letter - letters];
            from += 2;
        } else if (from[1] == 'x' && hex_digit(from[2]) >= 0 && hex_digit(from[3]) >= 0) {
            to[at++] = (char)(hex_digit(from[2]) * 16 + hex_digit(from[3]));
            from += 4;
        } else {
            return ERR_USAGE;
        }
    }
    to[at] = '\0';
    *length = at;
    return 0;
}

int text_split_pair(const char *pair, size_t *name_length, const char **value)
{
    const char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair) return ERR_USAGE;
    *name_length = (size_t)(equals - pair);
    *value = equals + 1;
    return 0;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = choices; length > 0 && at != NULL;) {
        const char *end = strchrnul(at, '|');
        if ((size_t)(end - at) == length && memcmp(at, value, length) == 0) return true;
        at = *end == '|' ? end + 1 : NULL;
    }
    return false;
}

const struct option_row *options_row(const struct command *command, unsigned i)
{
    if (i < command->option_count) return &command->options[i];
    i -= command->option_count;
    for (unsigned at = 0; at < COMMON_COUNT; at++)
        if ((command->takes & common_options[at].takes) != 0 && i-- == 0)
            return &common_options[at].row;
    return NULL;
}

static const struct option_row *row_by_name(const struct command *command, const char *name,
                                            size_t length)
{
    const struct option_row *row;
    for (unsigned i = 0; (row = options_row(command, i)) != NULL; i++)
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0) break;
    return row;
}

static const struct option_row *row_by_letter(const struct command *command, char letter)
{
    const struct option_row *row;
    for (unsigned i = 0; (row = options_row(command, i)) != NULL; i++)
        if (row->letter != 0 && row->letter == letter) break;
    return row;
}

static enum parse_result store_value(const struct option_row *row, const char *value,
                                     void *settings, char problem[PROBLEM_SIZE])
{
    void *place = (char *)settings + row->offset;
    switch (row->kind) {
    case OPTION_FLAG: *(bool *)place = true; break;
    case OPTION_NUMBER:
        if (text_to_number(value, row->least, row->most, place) != 0)
            return problem_is(problem, "--%s takes a number from %lld to %lld, not '%s'", row->name,
                              (long long)row->least, (long long)row->most, value);
        break;
    case OPTION_CHOICE:
        if (!is_choice(row->value, value))
            return problem_is(problem, "--%s takes %s, not '%s'", row->name, row->value, value);
        *(const char **)place = value;
        break;
    case OPTION_TEXT: *(const char **)place = value; break;
    case OPTION_LIST: {
        struct text_list *list = place;
        const char **items = mem_realloc((void *)list->items,
                                         (list->count + 1) * sizeof *list->items);
        if (items == NULL) return problem_is(problem, "%s", error_text(ERR_NO_MEMORY));
        items[list->count++] = value;
        list->items = items;
        break;
    }
    }
    return PARSE_OK;
}

/* Reads the option at argv[*at], and moves *at behind it and its value. */
static enum parse_result read_option(const struct command *command, int argc, char **argv, int *at,
                                     void *settings, char problem[PROBLEM_SIZE])
{
    const char *text = argv[(*at)++];
    const struct option_row *row = NULL;
    const char *value = NULL;
    if (text[1] == '-') {
        size_t length = strcspn(text + 2, "=");
        row = row_by_name(command, text + 2, length);
        if (text[2 + length] == '=') value = text + 2 + length + 1;
    } else {
        row = row_by_letter(command, text[1]);
        if (row != NULL && text[2] != '\0') value = text + 2;
    }
    if (row == NULL) return problem_is(problem, "there is no option %s", text);
    if (row->kind == OPTION_FLAG) {
        if (value != NULL) return problem_is(problem, "--%s takes no value", row->name);
    } else if (value == NULL) {
        if (*at >= argc)
            return problem_is(problem, "--%s needs a value: %s", row->name, row->value);
        value = argv[(*at)++];
    }
    return store_value(row, value, settings, problem);
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

void options_common_defaults(struct common_settings *common)
{
    const char *from_environment = getenv("SLUICE_BOOTSTRAP");
    if (common->bootstrap_server == NULL && from_environment != NULL && from_environment[0] != '\0')
        common->bootstrap_server = from_environment;
    if (common->bootstrap_server == NULL) common->bootstrap_server = "localhost:9092";
    if (common->timeout_s == 0) common->timeout_s = DEFAULT_TIMEOUT_S;
}

enum parse_result options_parse(const struct command *command, int argc, char **argv,
                                void *settings, struct operands *operands,
                                char problem[PROBLEM_SIZE])
{
    if (command->defaults != NULL)
        memcpy(settings, command->defaults, command->settings_size);
    else
        memset(settings, 0, command->settings_size);
    operands->count = 0;
    operands->items = mem_calloc((size_t)argc + 1, sizeof *operands->items);
    if (operands->items == NULL) return problem_is(problem, "%s", error_text(ERR_NO_MEMORY));
    if (asks_for_help(argc, argv)) return PARSE_HELP;

    bool only_operands = false;
    for (int at = 0; at < argc;) {
        if (only_operands || argv[at][0] != '-' || argv[at][1] == '\0') {
            operands->items[operands->count++] = argv[at++];
        } else if (strcmp(argv[at], "--") == 0) {
            only_operands = true;
            at++;
        } else {
            enum parse_result result = read_option(command, argc, argv, &at, settings, problem);
            if (result != PARSE_OK) return result;
        }
    }
    if (operands->count < command->least_operands)
        return problem_is(problem, "%s is missing", command->operands);
    if (operands->count > command->most_operands)
        return problem_is(problem, "'%s' is one too many", operands->items[command->most_operands]);
    options_common_defaults(settings);
    return PARSE_OK;
}

void options_close(const struct command *command, void *settings, struct operands *operands)
{
    for (unsigned i = 0; i < command->option_count; i++)
        if (command->options[i].kind == OPTION_LIST) {
            struct text_list *list = (void *)((char *)settings + command->options[i].offset);
            mem_free((void *)list->items);
            *list = (struct text_list){ NULL, 0 };
        }
    mem_free((void *)operands->items);
    *operands = (struct operands){ NULL, 0 };
}
