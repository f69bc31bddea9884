// SPDX-License-Identifier: Apache-2.0
/* DescribeProducers for one partition, on its leader: who writes to it as an idempotent producer. */

#ifndef PARTITION_PARTITION_PRODUCERS_H
#define PARTITION_PARTITION_PRODUCERS_H

#include "partition.h"
#include "producer_history.h"

struct partition_producers {
    atomic_llong *left; /* So many may be listed, by all who share this. */
    /* What comes next, on the pool. */
    void (*done)(struct partition_producers *producers);
    /* The answer: */
    int err; /* ERR_LIMIT: not so many are left; ERR_NO_MEMORY; what partition_check_leader() says. */
    struct producer_snapshot *items; /* By id; the caller's to mem_free(). */
    size_t count;
    /* Its own: */
    struct partition *partition; /* With a reference, until `done` returns. */
    struct job job;
};

/* Any thread. `producers` stays until `done` is called. */
void partition_list_producers(struct partition *partition, struct partition_producers *producers);

#endif
