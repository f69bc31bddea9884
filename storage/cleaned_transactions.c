// SPDX-License-Identifier: Apache-2.0
#include "cleaned_transactions.h"

#include "alloc.h"
#include "error.h"

#define MARKER_BYTES_MAX 65536 /* If somebody compressed it. */
#define MARKER_ABORT     0
#define MARKER_COMMIT    1

int cleaned_transactions_open(struct cleaned_transactions *transactions,
                              const struct aborted_transaction *aborted, size_t count)
{
    *transactions = (struct cleaned_transactions){ .aborted = aborted, .count = count };
    map_init(&transactions->open_aborts);
    map_init(&transactions->open_commits);
    transactions->has_data = mem_calloc(count, sizeof *transactions->has_data);
    return transactions->has_data == NULL ? ERR_NO_MEMORY : 0;
}

void cleaned_transactions_close(struct cleaned_transactions *transactions)
{
    map_close(&transactions->open_aborts);
    map_close(&transactions->open_commits);
    mem_free(transactions->has_data);
    transactions->has_data = NULL;
}

static const struct aborted_transaction *aborted_of(const struct cleaned_transactions *transactions,
                                                    const bool *has_data)
{
    return &transactions->aborted[has_data - transactions->has_data];
}

/* The aborted transactions that begin at or below `offset` are open from now on. One that is over took
 * its end from the index, should its marker be missing: data behind it is never taken for its own. */
static int open_aborts(struct cleaned_transactions *transactions, int64_t offset)
{
    int err = 0;

    while (err == 0 && transactions->next < transactions->count &&
           transactions->aborted[transactions->next].first_offset <= offset) {
        size_t index = transactions->next;
        const struct aborted_transaction *aborted = &transactions->aborted[index];
        const int64_t *id = &aborted->producer_id;
        const bool *open = map_get(&transactions->open_aborts, id, sizeof *id);
        if (open == NULL || aborted_of(transactions, open)->last_offset < aborted->first_offset)
            err = map_put(&transactions->open_aborts, id, sizeof *id,
                          &transactions->has_data[index], NULL);
        if (err == 0) transactions->next++;
    }
    return err;
}

/* The aborted transaction of the producer that reaches to `offset`; NULL: there is none. */
static bool *find_open(struct cleaned_transactions *transactions, int64_t id, int64_t offset)
{
    bool *has_data = map_get(&transactions->open_aborts, &id, sizeof id);

    return has_data != NULL && aborted_of(transactions, has_data)->last_offset >= offset ? has_data
                                                                                         : NULL;
}

int cleaned_transactions_data(struct cleaned_transactions *transactions,
                              const struct record_batch *batch, bool *is_aborted)
{
    int64_t id = batch->producer_id;
    int err = open_aborts(transactions, record_batch_last_offset(batch));

    *is_aborted = false;
    if (err != 0 || !(batch->attributes & BATCH_TRANSACTIONAL)) return err;
    bool *has_data = find_open(transactions, id, batch->base_offset);
    if (has_data != NULL)
        *is_aborted = *has_data = true;
    else
        err = map_put(&transactions->open_commits, &id, sizeof id, transactions, NULL);
    return err;
}

/* The type in a control record's key; -1: there is no record. */
static int read_type(const struct record_batch *batch, int *type)
{
    struct record_walk *walk = NULL;
    struct record record;

    *type = -1;
    int err = record_walk_open(&walk, batch, MARKER_BYTES_MAX);
    if (err == 0) err = record_walk_next(walk, &record);
    if (err == 0 && record.key.length < 4) err = ERR_INVALID_RECORD;
    if (err == 0) *type = load_i16(record.key.data + 2);
    record_walk_close(walk);
    return err == ERR_NOT_FOUND ? 0 : err;
}

int cleaned_transactions_marker(struct cleaned_transactions *transactions,
                                const struct record_batch *batch, bool *is_empty,
                                const struct aborted_transaction **aborted)
{
    int64_t id = batch->producer_id;
    int type;

    *is_empty = false;
    *aborted = NULL;
    int err = open_aborts(transactions, record_batch_last_offset(batch));
    if (err == 0) err = read_type(batch, &type);
    if (err != 0) return err;
    if (type == MARKER_ABORT) {
        const bool *has_data = find_open(transactions, id, batch->base_offset);
        *is_empty = has_data == NULL || !*has_data;
        if (!*is_empty) *aborted = aborted_of(transactions, has_data);
        map_remove(&transactions->open_aborts, &id, sizeof id);
    } else if (type == MARKER_COMMIT) {
        *is_empty = map_remove(&transactions->open_commits, &id, sizeof id) == NULL;
    } else {
        *is_empty = type == -1; /* Emptied before. */
    }
    return 0;
}
