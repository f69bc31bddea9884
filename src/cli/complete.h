// SPDX-License-Identifier: Apache-2.0
/* What could stand where somebody has pressed Tab: the shell's scripts of `sluice completion` ask
 * for it with `sluice __complete WORD…`, so that all shells and the table of options agree. */

#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include <stdio.h>

#include "options.h"

/* What main() takes for a question of a shell's. */
#define COMPLETE_WORD "__complete"

/* A line that stands for names of files, which shells complete better themselves. */
#define COMPLETE_FILES ":files"

/* Prints a line for each word that could stand in place of the last of `words`, which may have
 * been begun; behind a tab, what it means. Topics are asked for at the broker that the words name;
 * if that does not answer, there are none. */
void complete_words(int count, char **words, FILE *out);

#endif
