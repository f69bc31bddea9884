// SPDX-License-Identifier: Apache-2.0
/* The threads that may wait for a disk (DESIGN 2.2).
 *
 * Jobs run in the order in which they were submitted on any of the threads. Urgent are those that a client
 * waits for: they overtake what thousands of partitions may have to do by themselves (flushes, checkpoints,
 * folders to be made or removed), but not for ever. What must not overlap (truncate, roll, delete and
 * checkpoints of one partition) goes through a job_lane: its jobs run one after the other, in order, on
 * whatever thread is free; the lane is as urgent as the first of them. */

#ifndef STORAGE_DISK_POOL_H
#define STORAGE_DISK_POOL_H

#include <pthread.h>
#include <stdbool.h>

#include "job.h"

struct disk_pool;

/* Starts `thread_count` threads (at least 1). 0, ERR_NO_MEMORY, ERR_IO. */
int disk_pool_open(struct disk_pool **pool, unsigned thread_count);

/* So many threads (at least 1) from now on; one that is one too many ends when its job does. Any thread
 * but the pool's own, one at a time. 0, or ERR_NO_MEMORY or ERR_IO with fewer than that. */
int disk_pool_resize(struct disk_pool *pool, unsigned thread_count);

/* Runs what is queued, stops the threads, frees. NULL is fine. */
void disk_pool_close(struct disk_pool *pool);

struct executor *disk_pool_executor(struct disk_pool *pool);

/* Jobs of one lane never overlap and keep their order. Embedded in its owner. */
struct job_lane {
    struct executor *executor;
    pthread_mutex_t lock;
    pthread_cond_t became_idle;
    struct list waiting;
    bool is_running; /* A job of the lane is queued at the executor, or runs. */
    struct job job;  /* The lane's own place in the executor's queue. */
};
void job_lane_init(struct job_lane *lane, struct executor *executor);
void job_lane_submit(struct job_lane *lane, struct job *job); /* Any thread. */

/* No job may be waiting. One that runs is waited for until it has left the lane: so whoever learns
 * from the last job that all is done may close at once, but not from inside that job. */
void job_lane_close(struct job_lane *lane);

#endif
