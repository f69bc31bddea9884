// SPDX-License-Identifier: Apache-2.0
/* What --help prints. */

#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "options.h"

/* Of the program. */
void help_overview(FILE *out);

/* Of one command: usage, options, an example. */
void help_command(const struct command *command, FILE *out);

/* Lists the commands whose name begins with the word `group`; false if there is none. */
bool help_group(const char *group, FILE *out);
bool help_has_group(const char *group);

#endif
