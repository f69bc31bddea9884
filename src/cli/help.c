// SPDX-License-Identifier: Apache-2.0
#include "help.h"

#include <string.h>

#include "commands.h"
#include "output.h"

/* The columns of an option's name, and where its text begins. */
#define NAME_WIDTH 26
#define TEXT_AT    33

#define COMMAND_WIDTH 32

/* How many blanks fill a column of `width` behind `text`. */
static int blanks_behind(const char *text, int width)
{
    int taken = (int)output_width(text);
    return taken < width ? width - taken : 0;
}

static void print_summaries(const char *group, const char *prefix, FILE *out)
{
    const struct command *command;
    for (unsigned i = 0; (command = commands_at(i)) != NULL; i++) {
        if (group != NULL && !commands_is_in(command->name, group)) continue;
        char head[80];
        snprintf(head, sizeof head, "%s%s%s%s", prefix, command->name,
                 command->operands[0] == '\0' ? "" : " ", command->operands);
        fprintf(out, "  %s%*s %s\n", head, blanks_behind(head, COMMAND_WIDTH), "",
                command->summary);
    }
}

void help_overview(FILE *out)
{
    fputs("Usage: sluice COMMAND [ARGUMENT…]\n\n"
          "Talks to a Sluice broker, or any other that speaks Kafka's protocol.\n\n"
          "Commands:\n",
          out);
    print_summaries(NULL, "", out);
    fputs(
        "\n"
        "  --help                           print this; behind a command: its options, with an "
        "example\n"
        "  --version                        print the version\n\n"
        "Exit status: 0 done, 1 it failed, 2 the command line is wrong. What went wrong, and what "
        "to do\n"
        "about it, is on standard error.\n\n"
        "Example:\n"
        "  echo hello | sluice produce greetings\n"
        "  sluice consume greetings\n",
        out);
}

bool help_has_group(const char *group)
{
    const struct command *command;
    for (unsigned i = 0; (command = commands_at(i)) != NULL; i++)
        if (commands_is_in(command->name, group)) return true;
    return false;
}

bool help_group(const char *group, FILE *out)
{
    if (!help_has_group(group)) return false;
    fputs("Commands:\n", out);
    print_summaries(group, "sluice ", out);
    return true;
}

static void print_option(const struct option_row *row, FILE *out)
{
    char letter[8] = "    ", name[80];
    if (row->letter != 0) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    bool has_value = row->kind != OPTION_FLAG;
    snprintf(name, sizeof name, "--%s%s%s", row->name, has_value ? " " : "",
             has_value ? row->value : "");
    if (output_width(name) <= NAME_WIDTH)
        fprintf(out, "  %s%s%*s ", letter, name, blanks_behind(name, NAME_WIDTH), "");
    else /* gets a line of its own */
        fprintf(out, "  %s%s\n%*s", letter, name, TEXT_AT, "");
    for (const char *line = row->help; line != NULL;) {
        const char *end = strchr(line, '\n');
        fprintf(out, "%.*s\n", end == NULL ? (int)strlen(line) : (int)(end - line), line);
        line = end == NULL ? NULL : end + 1;
        if (line != NULL) fprintf(out, "%*s", TEXT_AT, "");
    }
}

void help_command(const struct command *command, FILE *out)
{
    const struct option_row *row;
    fprintf(out, "Usage: sluice %s%s%s [OPTION…]\n\n%s\n", command->name,
            command->operands[0] == '\0' ? "" : " ", command->operands, command->summary);
    if (command->about != NULL) fprintf(out, "\n%s", command->about);
    fprintf(out, "\nOptions:\n");
    for (unsigned i = 0; (row = options_row(command, i)) != NULL; i++)
        print_option(row, out);
    fprintf(out, "  -h, --help                     print this\n\nExample:\n%s", command->example);
}
