// SPDX-License-Identifier: Apache-2.0
/* Is the broker alive: do its loops answer? They are asked when somebody wants to know, and not otherwise.
 *
 *  (1) A round asks each loop with a message, and is over when all have answered, or after
 *      HEALTH_PATIENCE_MS. Who asks while a round is on gets its result.
 *  (2) Everything here is on the loop of the admin port, but for the moment in which another loop passes the
 *      question back as the answer.
 *  (3) A loop that hangs has the question still in its mailbox: asking again costs nothing, and what it
 *      answers later counts in the round in which it does. */

#ifndef ADMIN_HEALTH_H
#define ADMIN_HEALTH_H

#include <stdbool.h>

#include "loop.h"

#define HEALTH_PATIENCE_MS 1000

struct health;

struct health_probe {
    struct message question, answer;
    struct health *health;
    struct loop *target;
    struct health_probe *next;
    char name[24]; /* "main", "network 0" */
    bool is_awaited;
};

struct health {
    struct loop *loop;
    struct health_probe *probes;
    unsigned probe_count; /* Of them. */
    unsigned awaited;     /* By (1); 0: no round is on. */
    struct timer patience;
    void (*done)(struct health *health); /* A round is over. */
};

void health_open(struct health *health, struct loop *loop, void (*done)(struct health *health));

/* Another loop to be asked, from the next round on. `number` -1: there is one of that name. 0 or
 * ERR_NO_MEMORY. */
int health_add(struct health *health, struct loop *target, const char *name, int number);

/* Begins a round, unless one is on. `done` is called later, never from within. */
void health_ask(struct health *health);

/* After a round: a loop that did not answer; NULL: all did. */
const char *health_silent_loop(const struct health *health);

/* Ends a round without a word. On the loop. */
void health_stop(struct health *health);

/* When all loops that were asked are closed. */
void health_close(struct health *health);

#endif
