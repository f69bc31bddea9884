// SPDX-License-Identifier: Apache-2.0
/* A place in a partition, as people name it: beginning, end, an offset, the last N records, a time. */

#ifndef CLI_POSITION_H
#define CLI_POSITION_H

#include <stdint.h>

enum position_kind {
    POSITION_BEGINNING,
    POSITION_END,
    POSITION_OFFSET, /* `value` is the offset. */
    POSITION_LAST,   /* `value` records before the end. */
    POSITION_TIME,   /* `value` is in ms since 1970. */
};

struct position {
    enum position_kind kind;
    int64_t value;
};

#define POSITION_FORMS \
    "beginning, end, an offset, -N (the last N), 90s, 15m, 2h or 7d (ago), or a time"

/* Reads "beginning", "end", "1000", "-10", "15m" (ago, seen from `now_ms`), "@1760000000000" (ms), or
 * a date as "2026-01-31", "2026-01-31T12:00", "2026-01-31T12:00:00.250Z" or with "+02:00" at its end;
 * without a zone it is UTC. Returns 0 or ERR_USAGE. */
int position_parse(const char *text, int64_t now_ms, struct position *position);

#endif
