// SPDX-License-Identifier: Apache-2.0
/* Spans of time as Java reads them: "P2DT3H4M5.6S". */

#ifndef BASE_JAVA_DURATION_H
#define BASE_JAVA_DURATION_H

#include "bytes.h"

/* Duration.parse: days, hours, minutes and seconds, each with a sign, in letters of either size. `*nanos` is
 * 0 to 999,999,999 and adds to `*seconds`, which is negative if the whole is. False: it is none, or too
 * long. */
bool java_duration_parse(struct str text, int64_t *seconds, int32_t *nanos);

#endif
