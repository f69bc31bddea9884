// SPDX-License-Identifier: Apache-2.0
/* Text for a manual page: what man(7) would take for a command of its own is made plain. */

#ifndef BASE_ROFF_H
#define BASE_ROFF_H

#include <stdio.h>

/* A page begins with this. `section` is "1"; `program` names its page, with `version` in its foot. */
void roff_head(FILE *out, const char *program, const char *section, const char *version);

/* ".SH OPTIONS" and its like, with `text` made plain. */
void roff_section(FILE *out, const char *request, const char *text);

/* Text that is filled and broken anew; the page's line ends there. */
void roff_text(FILE *out, const char *text);

/* Lines that stay as they are. */
void roff_lines(FILE *out, const char *text);

/* An entry of a list: a name in bold, what stands for its value in italics ("" if there is none),
 * and its meaning. */
void roff_entry(FILE *out, const char *name, const char *value, const char *meaning);

#endif
