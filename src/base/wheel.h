// SPDX-License-Identifier: Apache-2.0
/* The timers of one loop, in slots by the digits of their deadlines. Only loop.c uses it. */

#ifndef BASE_WHEEL_H
#define BASE_WHEEL_H

#include <stdint.h>

#include "list.h"
#include "loop.h"

#define WHEEL_SLOT_BITS 6
#define WHEEL_SLOTS     (1 << WHEEL_SLOT_BITS)
#define WHEEL_LEVELS    11 /* 11 digits of 6 bits hold every deadline there is. */

struct wheel {
    int64_t now_ms;                  /* Everything earlier has been handed out. */
    uint64_t occupied[WHEEL_LEVELS]; /* Bit n: slot n holds timers. */
    struct list slots[WHEEL_LEVELS][WHEEL_SLOTS];
};

void wheel_init(struct wheel *wheel, int64_t now_ms);

/* `timer` is in no list; its deadline is set. O(1). */
void wheel_add(struct wheel *wheel, struct timer *timer);

/* `timer` may be in the wheel, in a list of due ones, or in none. O(1). */
void wheel_remove(struct wheel *wheel, struct timer *timer);

/* When wheel_advance() has work to do: never later than the earliest deadline, INT64_MAX without
 * timers. It is earlier only while that deadline is 64 ms or more away, at most once per level. */
int64_t wheel_next_ms(const struct wheel *wheel);

/* Moves time on to `now_ms` and the timers that are due to the end of `due`, by deadline, those with
 * the same one in the order in which they were set. */
void wheel_advance(struct wheel *wheel, int64_t now_ms, struct list *due);

#endif
