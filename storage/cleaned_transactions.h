// SPDX-License-Identifier: Apache-2.0
/* Transactions as a walk through a log meets them: what of them compaction may take away.
 *
 *  (1) Data of an aborted transaction goes at once.
 *  (2) An end marker stays while a batch of its transaction does, be it an empty one; also its entry in
 *      the transaction index, by which readers skip what was aborted.
 *  (3) A marker whose transaction has nothing left may go, once its delete horizon has passed.
 *
 * Batches are shown in the order of their offsets, from a place where no transaction is open or from the
 * beginning. */

#ifndef STORAGE_CLEANED_TRANSACTIONS_H
#define STORAGE_CLEANED_TRANSACTIONS_H

#include "map.h"
#include "record_batch.h"
#include "txn_index.h"

struct cleaned_transactions {
    const struct aborted_transaction *aborted; /* Borrowed; first offsets ascend. */
    size_t count, next;
    bool *has_data; /* For each: a batch of it was met. */
    struct map open_aborts, open_commits;
};

/* `aborted` must stay; its first offsets ascend. 0 or ERR_NO_MEMORY. */
int cleaned_transactions_open(struct cleaned_transactions *transactions,
                              const struct aborted_transaction *aborted, size_t count);
void cleaned_transactions_close(struct cleaned_transactions *transactions);

/* A batch of data: may its records go because they were aborted? 0 or ERR_NO_MEMORY. */
int cleaned_transactions_data(struct cleaned_transactions *transactions,
                              const struct record_batch *batch, bool *is_aborted);

/* A control batch: has its transaction nothing left, by (3)? *aborted: the index entry that must stay
 * with it; NULL: none. 0, ERR_INVALID_RECORD, ERR_NO_MEMORY, …. */
int cleaned_transactions_marker(struct cleaned_transactions *transactions,
                                const struct record_batch *batch, bool *is_empty,
                                const struct aborted_transaction **aborted);

#endif
