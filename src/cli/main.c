// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "complete.h"
#include "help.h"
#include "man.h"
#include "output.h"
#include "std_files.h"

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
        help_command(command, stdout);
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

static enum status without_command(int argc, char **argv)
{
    const char *last = argv[argc - 1];
    bool wants_help = strcmp(last, "--help") == 0 || strcmp(last, "-h") == 0;
    if (wants_help && argc == 1) {
        help_overview(stdout);
        return output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
    }
    if (strcmp(argv[0], "--version") == 0) {
        printf("sluice %s\n", PACKAGE_VERSION);
        return output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
    }
    if (wants_help && argc == 2 && help_group(argv[0], stdout)) return STATUS_OK;
    if (argc == 1 && help_group(argv[0], stderr)) return STATUS_USAGE;
    if (argv[0][0] == '-') {
        output_complain("'%s' stands where a command should: options come behind it", argv[0]);
        output_hint("see: sluice --help");
        return STATUS_USAGE;
    }
    output_complain("there is no command '%s%s%s'", argv[0], argc > 1 ? " " : "",
                    argc > 1 ? argv[1] : "");
    if (help_has_group(argv[0]))
        output_hint("see: sluice %s --help", argv[0]);
    else
        output_hint("see: sluice --help");
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    if (std_files_open() != 0) return STATUS_FAILED;
    setlocale(LC_CTYPE, "");
    json_set_alloc_funcs(mem_alloc, mem_free);
    if (argc < 2) {
        help_overview(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], COMPLETE_WORD) == 0) {
        complete_words(argc - 2, argv + 2, stdout);
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--print-man") == 0) {
        man_print(stdout);
        return output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
    }
    /* "sluice help produce" is "sluice produce --help". */
    char help[] = "--help";
    if (strcmp(argv[1], "help") == 0) {
        for (int i = 1; i + 1 < argc; i++)
            argv[i] = argv[i + 1];
        argv[argc - 1] = help;
    }
    int words = 0;
    const struct command *command = commands_find(argc - 1, argv + 1, &words);
    if (command != NULL) return run_command(command, argc - 1 - words, argv + 1 + words);
    return without_command(argc - 1, argv + 1);
}
