// SPDX-License-Identifier: Apache-2.0
/* Regular expressions as Java reads them. */

#ifndef BASE_JAVA_PATTERN_H
#define BASE_JAVA_PATTERN_H

#include "bytes.h"

/* Would Pattern.compile take it? Not looked up are names of scripts, blocks and characters (\p{IsGreek},
 * \N{DIGIT ONE}): those pass if they are written as such. Nor is added up how long a look-behind gets. One that
 * nests more than JAVA_PATTERN_DEPTH deep is none; Java's limit depends on its stack. The text may hold any
 * bytes. */
#define JAVA_PATTERN_DEPTH 200
bool java_pattern_is_legal(struct str text);

#endif
