// SPDX-License-Identifier: Apache-2.0
/* The manual page sluice(1), made when the program is built from the same table as --help. */

#ifndef CLI_MAN_H
#define CLI_MAN_H

#include <stdio.h>

void man_print(FILE *out);

#endif
