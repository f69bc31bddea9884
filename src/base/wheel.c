// SPDX-License-Identifier: Apache-2.0
/* Times are numbers of eleven digits in base 64.
 *
 *  (1) A timer lies at the level of the highest digit in which its deadline differs from now_ms, in
 *      the slot of that digit of its deadline. If none differs it is due, at level 0.
 *  (2) So all timers of one level are due before all of the next, and those of one slot before those
 *      of the following. Above level 0 the slot of now_ms' own digit is empty.
 *  (3) When now_ms reaches a slot above level 0, its timers agree in that digit and go further down:
 *      each timer moves at most once per level in its life.
 *  (4) now_ms never jumps over the start of a slot that holds timers, so (1) stays true of all. */

#include "wheel.h"

static struct timer *wheel_timer(struct list *node)
{
    return LIST_OWNER(node, struct timer, node);
}

/* By (1). */
static void wheel_place(const struct wheel *wheel, const struct timer *timer, unsigned *level,
                        unsigned *slot)
{
    int64_t due_ms = timer->deadline_ms < wheel->now_ms ? wheel->now_ms : timer->deadline_ms;
    uint64_t difference = (uint64_t)due_ms ^ (uint64_t)wheel->now_ms;
    *level = difference == 0 ? 0 : (63 - (unsigned)__builtin_clzll(difference)) / WHEEL_SLOT_BITS;
    *slot = (uint64_t)due_ms >> (*level * WHEEL_SLOT_BITS) & (WHEEL_SLOTS - 1);
}

void wheel_init(struct wheel *wheel, int64_t now_ms)
{
    wheel->now_ms = now_ms;
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        wheel->occupied[level] = 0;
        for (unsigned slot = 0; slot < WHEEL_SLOTS; slot++)
            list_init(&wheel->slots[level][slot]);
    }
}

void wheel_add(struct wheel *wheel, struct timer *timer)
{
    unsigned level, slot;
    wheel_place(wheel, timer, &level, &slot);
    list_push_back(&wheel->slots[level][slot], &timer->node);
    wheel->occupied[level] |= UINT64_C(1) << slot;
}

void wheel_remove(struct wheel *wheel, struct timer *timer)
{
    unsigned level, slot;
    wheel_place(wheel, timer, &level, &slot);
    list_remove(&timer->node);
    if (list_is_empty(&wheel->slots[level][slot])) wheel->occupied[level] &= ~(UINT64_C(1) << slot);
}

/* The first slot that holds timers, by (2), and when it begins. False: there are no timers. */
static bool wheel_first(const struct wheel *wheel, unsigned *level, unsigned *slot,
                        int64_t *start_ms)
{
    for (unsigned i = 0; i < WHEEL_LEVELS; i++) {
        if (wheel->occupied[i] == 0) continue;
        unsigned shift = i * WHEEL_SLOT_BITS;
        uint64_t upper = (uint64_t)wheel->now_ms >> shift & ~(uint64_t)(WHEEL_SLOTS - 1);
        *level = i;
        *slot = (unsigned)__builtin_ctzll(wheel->occupied[i]);
        *start_ms = (int64_t)((upper | *slot) << shift);
        return true;
    }
    return false;
}

int64_t wheel_next_ms(const struct wheel *wheel)
{
    unsigned level, slot;
    int64_t start_ms;
    return wheel_first(wheel, &level, &slot, &start_ms) ? start_ms : INT64_MAX;
}

void wheel_advance(struct wheel *wheel, int64_t now_ms, struct list *due)
{
    unsigned level, slot;
    int64_t start_ms;
    while (wheel_first(wheel, &level, &slot, &start_ms) && start_ms <= now_ms) {
        struct list *timers = &wheel->slots[level][slot];
        struct list *node;
        wheel->now_ms = start_ms; /* (4) */
        wheel->occupied[level] &= ~(UINT64_C(1) << slot);
        while ((node = list_pop_front(timers)) != NULL) {
            if (level == 0)
                list_push_back(due, node);
            else
                wheel_add(wheel, wheel_timer(node)); /* (3) */
        }
    }
    if (wheel->now_ms < now_ms) wheel->now_ms = now_ms;
}
