// SPDX-License-Identifier: Apache-2.0
/* Writes of the log that are on their way to the disk, in order, and what each makes durable that
 * still counts. */

#ifndef PENDING_WRITES_H
#define PENDING_WRITES_H

#include <stdint.h>

struct pending_write {
    uint64_t number;
    int64_t last_index;
};

struct pending_writes {
    struct pending_write *items; /* A ring. */
    unsigned first, count, capacity;
    uint64_t newest; /* Numbers grow by one; the first is 1. */
};

void pending_writes_init(struct pending_writes *writes);
void pending_writes_close(struct pending_writes *writes);

/* The next write, of entries up to `last_index`. 0 or ERR_NO_MEMORY. */
int pending_writes_add(struct pending_writes *writes, int64_t last_index, uint64_t *number);

/* What they put at and above `index` was overwritten: it must not be reported. */
void pending_writes_clip(struct pending_writes *writes, int64_t index);

/* All up to `number` are done, and forgotten. The index up to which that makes the log durable; 0
 * if nothing of it counts. */
int64_t pending_writes_take(struct pending_writes *writes, uint64_t number);

#endif
