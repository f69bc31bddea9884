// SPDX-License-Identifier: Apache-2.0
#include "man.h"

#include "commands.h"
#include "roff.h"

static void print_option(FILE *out, const struct option_row *row)
{
    char name[80];
    if (row->letter != 0)
        snprintf(name, sizeof name, "-%c, --%s", row->letter, row->name);
    else
        snprintf(name, sizeof name, "--%s", row->name);
    roff_entry(out, name, row->kind == OPTION_FLAG ? "" : row->value, row->help);
}

/* The options that commands share are told once, at the end. */
static void print_command(FILE *out, const struct command *command)
{
    char head[160];
    snprintf(head, sizeof head, "sluice %s%s%s", command->name,
             command->operands[0] == '\0' ? "" : " ", command->operands);
    roff_section(out, ".SS", head);
    fprintf(out, "%s.\n", command->summary);
    if (command->about != NULL) {
        fputs(".PP\n", out);
        roff_lines(out, command->about);
    }
    for (unsigned i = 0; i < command->option_count; i++)
        print_option(out, &command->options[i]);
    fputs(".PP\nExample:\n", out);
    roff_lines(out, command->example);
}

static void print_common_options(FILE *out)
{
    const struct command all = { .takes = TAKES_BROKER | TAKES_JSON };
    const struct option_row *row;
    for (unsigned i = 0; (row = options_row(&all, i)) != NULL; i++)
        print_option(out, row);
    roff_entry(out, "-h, --help", "", "print what a command does, its options, and an example");
}

void man_print(FILE *out)
{
    const struct command *command;
    roff_head(out, "SLUICE", "1", PACKAGE_VERSION);
    roff_section(out, ".SH", "NAME");
    fputs("sluice \\- talk to a Sluice broker, or any other that speaks Kafka\\(aqs protocol\n",
          out);
    roff_section(out, ".SH", "SYNOPSIS");
    fputs("\\fBsluice\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]\n", out);
    roff_section(out, ".SH", "COMMANDS");
    for (unsigned i = 0; (command = commands_at(i)) != NULL; i++)
        print_command(out, command);
    roff_section(out, ".SH", "COMMON OPTIONS");
    roff_text(out,
              "The brokers and the timeout are options of every command that talks to a broker.");
    print_common_options(out);
    roff_section(out, ".SH", "ENVIRONMENT");
    roff_entry(out, "SLUICE_BOOTSTRAP", "",
               "brokers to ask first, if --bootstrap-server names none");
    roff_section(out, ".SH", "EXIT STATUS");
    roff_entry(out, "0", "", "done");
    roff_entry(out, "1", "",
               "it failed, or some of it did: standard error says what, and what to do next");
    roff_entry(out, "2", "",
               "the command line is wrong; for the log commands also: something could not be read");
    roff_section(out, ".SH", "SEE ALSO");
    fputs("\\fBsluiced\\fR(8)\n", out);
}
