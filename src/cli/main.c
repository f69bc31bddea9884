// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "output.h"

static const struct command *const commands[] = {
    &topic_create_command, &topic_list_command, &topic_describe_command, &topic_delete_command,
    &produce_command,      &consume_command,    &log_dump_command,       &log_verify_command,
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static void print_usage(FILE *out)
{
    fprintf(out, "Usage: sluice COMMAND [ARGUMENT…]\n\n"
                 "Talks to a Sluice broker, or any other that speaks Kafka's protocol.\n\n"
                 "Commands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char head[64];
        snprintf(head, sizeof head, "%s%s%s", commands[i]->name,
                 commands[i]->operands[0] == '\0' ? "" : " ", commands[i]->operands);
        fprintf(out, "  %-24s %s\n", head, commands[i]->summary);
    }
    fprintf(
        out,
        "\n  --help                   print this; behind a command: its options, with an example\n"
        "  --version                print the version\n\n"
        "Example:\n"
        "  echo hello | sluice produce greetings\n"
        "  sluice consume greetings\n");
}

/* How many words of argv are the command's name; 0 if they are not. */
static int words_matched(const struct command *command, int argc, char **argv)
{
    const char *name = command->name;
    int words = 0;
    while (*name != '\0') {
        size_t length = strcspn(name, " ");
        if (words >= argc || strlen(argv[words]) != length ||
            memcmp(argv[words], name, length) != 0)
            return 0;
        words++;
        name += length;
        name += strspn(name, " ");
    }
    return words;
}

static enum status run_command(const struct command *command, int argc, char **argv)
{
    char problem[PROBLEM_SIZE];
    struct operands operands = { NULL, 0 };
    enum status status = STATUS_FAILED;
    void *settings = mem_zalloc(command->settings_size);
    if (settings == NULL) {
        output_complain("out of memory");
        return STATUS_FAILED;
    }
    switch (options_parse(command, argc, argv, settings, &operands, problem)) {
    case PARSE_OK: status = command->run(settings, &operands); break;
    case PARSE_HELP:
        options_help(command, stdout);
        status = output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
        break;
    case PARSE_ERROR:
        output_complain("%s", problem);
        output_hint("see: sluice %s --help", command->name);
        status = STATUS_USAGE;
        break;
    }
    options_close(command, settings, &operands);
    mem_free(settings);
    return status;
}

/* Lists the commands that begin with `word`; false if none does. */
static bool print_group(const char *word, FILE *out)
{
    size_t length = strlen(word);
    bool found = false;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const char *name = commands[i]->name;
        if (strncmp(name, word, length) != 0 || name[length] != ' ') continue;
        if (!found) fprintf(out, "Commands:\n");
        found = true;
        fprintf(out, "  sluice %-17s %s\n", name, commands[i]->summary);
    }
    return found;
}

static enum status without_command(int argc, char **argv)
{
    const char *last = argv[argc - 1];
    bool wants_help = strcmp(last, "--help") == 0 || strcmp(last, "-h") == 0;
    if (wants_help && argc == 1) {
        print_usage(stdout);
        return output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
    }
    if (strcmp(argv[0], "--version") == 0) {
        printf("sluice %s\n", PACKAGE_VERSION);
        return output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
    }
    if (wants_help && argc == 2 && print_group(argv[0], stdout)) return STATUS_OK;
    if (argc == 1 && print_group(argv[0], stderr)) return STATUS_USAGE;
    output_complain("there is no command '%s%s%s'", argv[0], argc > 1 ? " " : "",
                    argc > 1 ? argv[1] : "");
    output_hint("see: sluice --help");
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    json_set_alloc_funcs(mem_alloc, mem_free);
    if (argc < 2) {
        print_usage(stderr);
        return STATUS_USAGE;
    }
    /* "sluice help produce" is "sluice produce --help". */
    char help[] = "--help";
    if (strcmp(argv[1], "help") == 0) {
        for (int i = 1; i + 1 < argc; i++)
            argv[i] = argv[i + 1];
        argv[argc - 1] = help;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        int words = words_matched(commands[i], argc - 1, argv + 1);
        if (words > 0) return run_command(commands[i], argc - 1 - words, argv + 1 + words);
    }
    return without_command(argc - 1, argv + 1);
}
