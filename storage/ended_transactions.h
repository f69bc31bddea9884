// SPDX-License-Identifier: Apache-2.0
/* Transactions that ended with a marker which not all replicas may have yet: until the high watermark has
 * passed it, a consumer of committed records must not go beyond the transaction's first offset.
 *
 *  (1) Markers are added in the order of their offsets.
 *  (2) Only those count that began later than all that ended before them: whatever ended earlier and
 *      began later says nothing that they do not say.
 *  (3) Memory is bounded: where there are too many, two neighbours become one that begins with the
 *      first and ends with the second. What is stable then is known later than it could be, never
 *      earlier.
 *
 * Not shared between threads; the partition log guards it. */

#ifndef STORAGE_ENDED_TRANSACTIONS_H
#define STORAGE_ENDED_TRANSACTIONS_H

#include <stddef.h>
#include <stdint.h>

#define ENDED_TRANSACTIONS_MAX 1024

struct ended_span {
    int64_t first_offset;
    int64_t last_offset; /* The marker's. */
};

#define ENDED_TRANSACTIONS_FEW 2

struct ended_transactions {
    struct ended_span *spans; /* Both offsets ascend. NULL: the few below. */
    size_t first, count, capacity;
    struct ended_span few[ENDED_TRANSACTIONS_FEW];
};

void ended_transactions_init(struct ended_transactions *ended);
void ended_transactions_close(struct ended_transactions *ended);

/* By (1). Cannot fail: lack of memory is dealt with by (3). */
void ended_transactions_add(struct ended_transactions *ended, int64_t first_offset,
                            int64_t last_offset);

/* Forgets all. */
void ended_transactions_clear(struct ended_transactions *ended);

/* Adds what others say of markers below `offset`. */
void ended_transactions_add_below(struct ended_transactions *ended,
                                  struct ended_transactions *others, int64_t offset);

/* Replaces what is in `ended` by what is in `from`, which is empty then. */
void ended_transactions_move(struct ended_transactions *ended, struct ended_transactions *from);

/* First offset of the oldest one whose marker is not below `high_watermark`; -1: none. Forgets the
 * others: a high watermark does not go back. */
int64_t ended_transactions_first(struct ended_transactions *ended, int64_t high_watermark);

#endif
