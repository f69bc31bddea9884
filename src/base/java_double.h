// SPDX-License-Identifier: Apache-2.0
/* Fractions as Java reads and writes them: what Kafka takes for a setting and tells of it. */

#ifndef BASE_JAVA_DOUBLE_H
#define BASE_JAVA_DOUBLE_H

#include <stdbool.h>

/* Double.parseDouble: white around it, a sign, digits with a point and an exponent, hexadecimal ones, an f
 * or d behind them; NaN and Infinity. False: it is none. */
bool java_double_parse(const char *text, double *number);

/* Double.toString: no more digits than it takes to tell it from its neighbours. */
#define JAVA_DOUBLE_SIZE 32
void java_double_print(char text[JAVA_DOUBLE_SIZE], double number);

#endif
