// SPDX-License-Identifier: Apache-2.0
#include "partition_producers.h"

#include "alloc.h"
#include "error.h"

/* Caller is the log's writer. */
static int list(struct partition_producers *producers)
{
    const struct producer_history *history = partition_log_producers(producers->partition->log);
    long long there = (long long)producer_history_count(history);
    struct producer_last *lasts = NULL;
    size_t count = 0;
    if (atomic_fetch_sub(producers->left, there) < there) {
        atomic_fetch_add(producers->left, there);
        return ERR_LIMIT;
    }
    int err = producer_history_lasts(history, &lasts, &count);
    if (err != 0) return err;
    producers->items = mem_calloc(count + 1, sizeof *producers->items);
    for (size_t i = 0; producers->items != NULL && i < count; i++)
        if (producer_history_find(history, lasts[i].producer_id,
                                  &producers->items[producers->count]))
            producers->count++;
    mem_free(lasts);
    return producers->items == NULL ? ERR_NO_MEMORY : 0;
}

static void run_list(struct job *job)
{
    struct partition_producers *producers = LIST_OWNER(job, struct partition_producers, job);
    struct partition *partition = producers->partition;
    bool has_log = partition_begin_writing(partition); /* Nobody changes them meanwhile. */
    pthread_mutex_lock(&partition->lock);
    producers->err = partition_check_leader(partition, -1);
    pthread_mutex_unlock(&partition->lock);
    if (has_log) {
        if (producers->err == 0) producers->err = list(producers);
        partition_end_writing(partition);
    }
    producers->done(producers);
    partition_unref(partition);
}

void partition_list_producers(struct partition *partition, struct partition_producers *producers)
{
    producers->items = NULL;
    producers->count = 0;
    producers->partition = partition_ref(partition);
    job_init(&producers->job, run_list);
    job_lane_submit(&partition->lane, &producers->job);
}
