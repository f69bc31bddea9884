// SPDX-License-Identifier: Apache-2.0
/* A partition on a real folder, with a pool, a loop and a clock that a test moves by hand. */

#ifndef TESTS_PARTITION_FIXTURE_H
#define TESTS_PARTITION_FIXTURE_H

#include "runner.h"

#include "batch_builder.h"
#include "clock.h"
#include "error.h"
#include "partition_append.h"
#include "partition_jobs.h"
#include "partition_read.h"
#include "partition_set.h"

/* Jobs wait here until the test runs them, on the test's thread. */
struct hand_pool {
    struct executor executor;
    struct list jobs;
    unsigned ran;
};

struct partition_fixture {
    struct clock_manual clock;
    struct hand_pool pool;
    struct loop *loop;
    struct data_dir *dir;
    struct partition_owner owner;
    struct partition *partition;
    unsigned dirty_count, opened_count, closed_count, failed_count, hurry_count;
    int opened_err;
};

/* A fresh partition, not opened yet, that this broker leads in epoch 3. */
void fixture_open(struct partition_fixture *fixture);
void fixture_close(struct partition_fixture *fixture);

/* Runs what waits on the pool, and what that submits, until nothing does. */
void run_jobs(struct hand_pool *pool);

/* Opens the log of the fixture's partition. */
void fixture_serve(struct partition_fixture *fixture);

/* One batch of `count` records with the value `text`; from mem_alloc. */
uint8_t *batch_of(const char *text, int count, size_t *size);

/* An append of such a batch, already checked, whose data the append owns. */
struct append *new_append(struct partition_fixture *fixture, const char *text, int count);
void free_append(struct append *append);

/* Appends, on the pool too if the log must open files first (as it does for its first append). */
void append_now(struct partition_fixture *fixture, struct append *append);

/* Appends one batch of so many records, which must go well. */
void append_records(struct partition_fixture *fixture, int count);

/* Reads from an offset: the bytes of the slice, or an error. */
int read_from(struct partition_fixture *fixture, int64_t offset, size_t *length);

#endif
