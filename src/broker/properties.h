// SPDX-License-Identifier: Apache-2.0
/* The text of a .properties file, as Java reads it: what Kafka's users have.
 *
 *   # or ! begins a comment; key=value, key:value or key value; a backslash at the end of a line
 *   continues it, elsewhere \t \n \r \f and \\ mean what they do in Java, and \x means x. \uXXXX is
 *   not understood: files are UTF-8. */

#ifndef BROKER_PROPERTIES_H
#define BROKER_PROPERTIES_H

#include "bytes.h"

/* Calls `each` for every pair in order; `line`, from 1, is where it begins. What is not legal is passed
 * over, and `bad` is told where it is, and why. Stops with what `each` returned if that is not 0; also
 * ERR_NO_MEMORY. */
int properties_parse(struct str text,
                     int (*each)(void *context, unsigned line, const char *key, const char *value),
                     void (*bad)(void *context, unsigned line, const char *sentence),
                     void *context);

#endif
