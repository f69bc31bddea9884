// SPDX-License-Identifier: Apache-2.0
/* Work of a loop that takes long and has no hurry: some of it in each turn, in the order in which it came.
 * Between two of these pieces the loop does all else that has come, so that a few who ask for much do not
 * keep the many waiting who ask for little. */

#ifndef BASE_LATER_H
#define BASE_LATER_H

#include "list.h"
#include "loop.h"

/* A turn begins no other task once it has spent so long on them. */
#define LATER_TURN_US 500

struct later {
    struct loop *loop;
    struct list tasks;
    struct message turn;
};

/* Embedded in whoever has it done; run() is called once, in a later turn, and may free its owner. */
struct later_task {
    struct list node;
    void (*run)(struct later_task *task);
};

/* The loop's thread only, as all of it. */
void later_init(struct later *later, struct loop *loop);
void later_add(struct later *later, struct later_task *task);

#endif
