// SPDX-License-Identifier: Apache-2.0
/* What sluiced prints about its settings and then ends. */

#ifndef BROKER_CONFIG_PRINT_H
#define BROKER_CONFIG_PRINT_H

#include <stdio.h>

void config_print_help(FILE *out);
void config_print_version(FILE *out);

/* docs/configuration.md */
void config_print_table(FILE *out);

/* The manual page sluiced(8). */
void config_print_man(FILE *out);

#endif
