// SPDX-License-Identifier: Apache-2.0

#include <sched.h>
#include <stdatomic.h>

#include "disk_pool.h"
#include "runner.h"

#define JOBS 2000

struct counted_job {
    struct job job;
    int number;
};

static struct counted_job jobs[JOBS];
static atomic_int runs;
static atomic_int running;
static atomic_bool overlapped;
static int next_expected; /* Of a lane's jobs: only they touch it, one at a time. */
static atomic_bool out_of_order;

static void count_run(struct job *job)
{
    (void)job;
    atomic_fetch_add(&runs, 1);
}

static void check_order(struct job *job)
{
    struct counted_job *counted = (struct counted_job *)(void *)job;

    if (atomic_fetch_add(&running, 1) != 0) atomic_store(&overlapped, true);
    if (counted->number != next_expected++) atomic_store(&out_of_order, true);
    atomic_fetch_sub(&running, 1);
    atomic_fetch_add(&runs, 1);
}

static void prepare(void (*run)(struct job *job))
{
    for (int i = 0; i < JOBS; i++)
        jobs[i] = (struct counted_job){ .job.run = run, .number = i };
    atomic_store(&runs, 0);
    atomic_store(&overlapped, false);
    atomic_store(&out_of_order, false);
    next_expected = 0;
}

TEST(closing_the_pool_runs_what_is_queued)
{
    struct disk_pool *pool;

    prepare(count_run);
    assert_int_equal(disk_pool_open(&pool, 3), 0);
    for (int i = 0; i < JOBS; i++)
        executor_submit(disk_pool_executor(pool), &jobs[i].job);
    disk_pool_close(pool);
    assert_int_equal(atomic_load(&runs), JOBS);
}

TEST(no_pool_is_closed_too)
{
    disk_pool_close(NULL);
}

TEST(one_thread_runs_jobs_in_order)
{
    struct disk_pool *pool;

    prepare(check_order);
    assert_int_equal(disk_pool_open(&pool, 0), 0); /* There is always one. */
    for (int i = 0; i < JOBS; i++)
        executor_submit(disk_pool_executor(pool), &jobs[i].job);
    disk_pool_close(pool);
    assert_false(atomic_load(&out_of_order));
}

static atomic_bool has_begun, may_go_on;

static void hold_up(struct job *job)
{
    (void)job;
    atomic_store(&has_begun, true);
    while (!atomic_load(&may_go_on))
        sched_yield();
}

/* A pool whose only thread is in `first` until `may_go_on`. */
static struct disk_pool *open_held_up(struct job *first)
{
    struct disk_pool *pool;

    atomic_store(&has_begun, false);
    atomic_store(&may_go_on, false);
    assert_int_equal(disk_pool_open(&pool, 1), 0);
    executor_submit(disk_pool_executor(pool), first);
    while (!atomic_load(&has_begun))
        sched_yield();
    return pool;
}

TEST(urgent_jobs_run_before_all_that_is_queued)
{
    struct job first = { .run = hold_up };
    struct disk_pool *pool = open_held_up(&first);

    prepare(check_order);
    for (int i = 100; i < JOBS; i++)
        executor_submit(disk_pool_executor(pool), &jobs[i].job);
    for (int i = 0; i < 100; i++) {
        jobs[i].job.is_urgent = true;
        executor_submit(disk_pool_executor(pool), &jobs[i].job);
    }
    atomic_store(&may_go_on, true);
    disk_pool_close(pool);
    assert_int_equal(atomic_load(&runs), JOBS);
    assert_false(atomic_load(&out_of_order));
}

static int runs_before; /* … the one that notes it. */

static void note_when(struct job *job)
{
    runs_before = atomic_load(&runs);
    count_run(job);
}

TEST(urgent_jobs_without_end_do_not_keep_the_others_for_ever)
{
    struct job first = { .run = hold_up };
    struct disk_pool *pool = open_held_up(&first);

    prepare(check_order);
    jobs[0].job.run = note_when;
    executor_submit(disk_pool_executor(pool), &jobs[0].job);
    for (int i = 1; i < JOBS; i++) {
        jobs[i].job.run = count_run;
        jobs[i].job.is_urgent = true;
        executor_submit(disk_pool_executor(pool), &jobs[i].job);
    }
    atomic_store(&may_go_on, true);
    disk_pool_close(pool);
    assert_int_equal(atomic_load(&runs), JOBS);
    assert_in_range(runs_before, 1, JOBS - 2);
}

/* A lane's place among others is that of its next job. */
TEST(a_lane_is_as_urgent_as_its_next_job)
{
    struct disk_pool *pool;
    struct job first = { .run = hold_up };
    struct job_lane lane;

    atomic_store(&has_begun, false);
    atomic_store(&may_go_on, false);
    assert_int_equal(disk_pool_open(&pool, 1), 0);
    job_lane_init(&lane, disk_pool_executor(pool));
    executor_submit(disk_pool_executor(pool), &first);
    while (!atomic_load(&has_begun))
        sched_yield();
    prepare(count_run);
    for (int i = 1; i < JOBS; i++)
        executor_submit(disk_pool_executor(pool), &jobs[i].job);
    jobs[0].job.run = note_when;
    jobs[0].job.is_urgent = true;
    job_lane_submit(&lane, &jobs[0].job);
    atomic_store(&may_go_on, true);
    disk_pool_close(pool);
    job_lane_close(&lane);
    assert_int_equal(atomic_load(&runs), JOBS);
    assert_int_equal(runs_before, 0);
}

static atomic_int met;

/* Ends only when another thread runs the other one of the two. */
static void meet(struct job *job)
{
    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < 2)
        sched_yield();
    count_run(job);
}

TEST(a_pool_gets_more_threads_and_fewer_while_it_works)
{
    struct disk_pool *pool;

    assert_int_equal(disk_pool_open(&pool, 1), 0);
    prepare(meet);
    executor_submit(disk_pool_executor(pool), &jobs[0].job);
    executor_submit(disk_pool_executor(pool), &jobs[1].job);
    assert_int_equal(disk_pool_resize(pool, 4), 0);
    while (atomic_load(&runs) < 2)
        sched_yield();
    assert_int_equal(disk_pool_resize(pool, 0), 0); /* There is always one. */
    prepare(check_order);
    for (int i = 0; i < JOBS; i++)
        executor_submit(disk_pool_executor(pool), &jobs[i].job);
    disk_pool_close(pool);
    assert_int_equal(atomic_load(&runs), JOBS);
    assert_false(atomic_load(&overlapped));
    assert_false(atomic_load(&out_of_order));
}

TEST(jobs_of_a_lane_keep_their_order_and_never_overlap)
{
    struct disk_pool *pool;
    struct job_lane lane;

    prepare(check_order);
    assert_int_equal(disk_pool_open(&pool, 4), 0);
    job_lane_init(&lane, disk_pool_executor(pool));
    for (int i = 0; i < JOBS; i++)
        job_lane_submit(&lane, &jobs[i].job);
    disk_pool_close(pool);
    job_lane_close(&lane);
    assert_int_equal(atomic_load(&runs), JOBS);
    assert_false(atomic_load(&overlapped));
    assert_false(atomic_load(&out_of_order));
}

static struct job_lane chained_lane;
static pthread_mutex_t finished_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static bool is_finished;

/* The job before submits the one after, and the last one tells. */
static void submit_next(struct job *job)
{
    struct counted_job *counted = (struct counted_job *)(void *)job;

    if (counted->number + 1 < 100) {
        job_lane_submit(&chained_lane, &jobs[counted->number + 1].job);
        return;
    }
    pthread_mutex_lock(&finished_lock);
    is_finished = true;
    pthread_cond_signal(&finished);
    pthread_mutex_unlock(&finished_lock);
}

TEST(a_lane_may_be_closed_as_soon_as_its_last_job_has_told)
{
    struct disk_pool *pool;

    assert_int_equal(disk_pool_open(&pool, 2), 0);
    for (int round = 0; round < 200; round++) {
        prepare(submit_next);
        is_finished = false;
        job_lane_init(&chained_lane, disk_pool_executor(pool));
        job_lane_submit(&chained_lane, &jobs[0].job);
        pthread_mutex_lock(&finished_lock);
        while (!is_finished)
            pthread_cond_wait(&finished, &finished_lock);
        pthread_mutex_unlock(&finished_lock);
        job_lane_close(&chained_lane);
    }
    disk_pool_close(pool);
}
