// SPDX-License-Identifier: Apache-2.0
/* A command of the program: its options as a table that drives parsing, help, the man page and the
 * shell's completion.
 *
 * Values land in a struct of the command's own, which begins with struct common_settings; each row
 * says at which offset. Texts point into argv. */

#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the program exits with. */
enum status {
    STATUS_OK = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
};

/* Where a value is stored: bool, int64_t, const char *, const char *, struct text_list. */
enum option_kind {
    OPTION_FLAG,
    OPTION_NUMBER, /* Between `least` and `most`. */
    OPTION_TEXT,
    OPTION_CHOICE, /* One of the words of `value`, which are separated by |. */
    OPTION_LIST,   /* May be given again; each adds a text. */
};

struct text_list {
    const char **items; /* From mem_realloc. */
    unsigned count;
};

struct option_row {
    const char *name; /* Without the dashes. */
    char letter;      /* 0: no short form. */
    enum option_kind kind;
    size_t offset;
    int64_t least, most;
    const char *value; /* What help calls the value; the choices of OPTION_CHOICE. */
    const char *help;
};

/* The options that commands share; which of them a command has, its `takes` says. */
struct common_settings {
    const char *bootstrap_server; /* Never NULL after parsing. */
    int64_t timeout_s;            /* Never 0 after parsing. */
    bool as_json;
};

#define TAKES_BROKER 1u /* --bootstrap-server and --timeout */
#define TAKES_JSON   2u /* --json */

#define DEFAULT_TIMEOUT_S 10

struct operands {
    const char **items; /* From mem_alloc; the texts are argv's. */
    unsigned count;
};

struct command {
    const char *name; /* "topic create" */
    /* "TOPIC"; "" if there are none. Tab completes TOPIC, GROUP, SUBSCRIPTION, SETTING,
     * FILE and FOLDER. */
    const char *operands;
    bool operands_are_words; /* `operands` are words to choose from, separated by |. */
    unsigned least_operands, most_operands;
    const char *summary; /* One line. */
    const char *about;   /* More, in lines; NULL if the summary says it all. */
    const char *example; /* Lines, each a command that works. */
    unsigned takes;
    const struct option_row *options;
    unsigned option_count;
    const void *defaults; /* A settings struct; NULL: all zero. */
    size_t settings_size;
    enum status (*run)(const void *settings, const struct operands *operands);
};

enum parse_result {
    PARSE_OK,
    PARSE_HELP,  /* --help was given: nothing else was looked at. */
    PARSE_ERROR, /* `problem` says what is wrong. */
};

#define PROBLEM_SIZE 256

/* Sets `settings` (of the command's size) to the defaults and reads argv[0..argc), which begins
 * behind the command's name, into it and `operands`. Both are to be released with options_close(),
 * whatever the result. */
enum parse_result options_parse(const struct command *command, int argc, char **argv,
                                void *settings, struct operands *operands,
                                char problem[PROBLEM_SIZE]);
void options_close(const struct command *command, void *settings, struct operands *operands);

/* Fills in what was not said: from the environment, or else the default. */
void options_common_defaults(struct common_settings *common);

/* The rows that `command` has, its own before the common ones; NULL behind the last. */
const struct option_row *options_row(const struct command *command, unsigned i);

/* Resolves \t \n \r \0 \\ and \xHH, so that a separator can be typed. `to` holds strlen(from) + 1
 * bytes; the length goes to `*length`. Returns 0 or ERR_USAGE. */
int text_unescape(const char *from, char *to, size_t *length);

/* Splits "name=value" at the first '='. Returns 0, or ERR_USAGE when there is none or no name. */
int text_split_pair(const char *pair, size_t *name_length, const char **value);

/* A decimal number, nothing else, within bounds. Returns 0 or ERR_USAGE. */
int text_to_number(const char *text, int64_t least, int64_t most, int64_t *number);

#endif
