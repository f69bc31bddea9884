// SPDX-License-Identifier: Apache-2.0
/* Who waits for a partition to reach an offset: fetches for records, produces for replicas.
 *
 * A waiter is woken by the offset that it waits for, never by polling (DESIGN 5.3). Waking posts the
 * waiter's message on the waiter's loop and takes it off the list; the wait's deadline is a timer of
 * the waiter's own. All calls under the partition's lock. */

#ifndef PARTITION_WAITING_H
#define PARTITION_WAITING_H

#include <stdint.h>

#include "list.h"
#include "loop.h"

struct waiter {
    struct list node; /* Of the partition, empty when not waiting. */
    int64_t offset;   /* Woken once the watched offset is above this one. */
    struct loop *loop;
    struct message *wake; /* Several waiters of one request may share it. */
};

/* `waiting` is a list of waiters; new ones are kept at the end. */
void waiting_add(struct list *waiting, struct waiter *waiter);

/* Wakes all that wait for less than `reached`. */
void waiting_wake(struct list *waiting, int64_t reached);

/* Wakes all: the partition is gone, failed, or has another leader, and they must look again. */
void waiting_wake_all(struct list *waiting);

#endif
