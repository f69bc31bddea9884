// SPDX-License-Identifier: Apache-2.0

#include <assert.h>

#include "alloc.h"
#include "disk_pool.h"
#include "error.h"
#include "team.h"

/* So many urgent ones may overtake one that is not before it has its turn all the same: consumers that read
 * old records without end must not keep the flush of new ones waiting for ever. */
#define URGENT_IN_A_ROW 128

struct disk_pool {
    struct executor executor;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* A job was queued, or the pool is closing. */
    struct list urgent, queued;
    unsigned urgent_in_a_row;
    bool is_closing;
    struct team threads;
};

static void pool_submit(struct executor *executor, struct job *job)
{
    struct disk_pool *pool = LIST_OWNER(executor, struct disk_pool, executor);

    pthread_mutex_lock(&pool->lock);
    list_push_back(job->is_urgent ? &pool->urgent : &pool->queued, &job->node);
    pthread_cond_signal(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

static bool has_job(const struct disk_pool *pool)
{
    return !list_is_empty(&pool->urgent) || !list_is_empty(&pool->queued);
}

/* There is one. */
static struct list *pool_next(struct disk_pool *pool)
{
    bool may_be_urgent = list_is_empty(&pool->queued) || pool->urgent_in_a_row < URGENT_IN_A_ROW;
    struct list *node = may_be_urgent ? list_pop_front(&pool->urgent) : NULL;
    pool->urgent_in_a_row = node == NULL ? 0 : pool->urgent_in_a_row + 1;
    return node != NULL ? node : list_pop_front(&pool->queued);
}

/* The next job; waits for one. NULL once the pool is closing and nothing is left, or if this thread is
 * one too many. */
static struct job *pool_take(struct disk_pool *pool, unsigned thread)
{
    struct list *node = NULL;
    pthread_mutex_lock(&pool->lock);
    bool leaves = team_leaves(&pool->threads, thread);
    while (!leaves && !has_job(pool) && !pool->is_closing) {
        pthread_cond_wait(&pool->changed, &pool->lock);
        leaves = team_leaves(&pool->threads, thread);
    }
    if (leaves)
        pthread_cond_signal(&pool->changed); /* The wake may have been for a job. */
    else if (has_job(pool))
        node = pool_next(pool);
    pthread_mutex_unlock(&pool->lock);
    return node == NULL ? NULL : LIST_OWNER(node, struct job, node);
}

static void pool_run(void *context, unsigned thread)
{
    struct disk_pool *pool = context;
    struct job *job;

    while ((job = pool_take(pool, thread)) != NULL)
        job->run(job);
}

int disk_pool_resize(struct disk_pool *pool, unsigned thread_count)
{
    int err = team_resize(&pool->threads, thread_count == 0 ? 1 : thread_count);
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return err;
}

int disk_pool_open(struct disk_pool **pool, unsigned thread_count)
{
    struct disk_pool *opened = mem_zalloc(sizeof *opened);

    if (opened == NULL) return ERR_NO_MEMORY;
    opened->executor.submit = pool_submit;
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->changed, NULL);
    list_init(&opened->urgent);
    list_init(&opened->queued);
    team_init(&opened->threads, "disk", pool_run, opened);
    int err = disk_pool_resize(opened, thread_count);
    if (err == 0)
        *pool = opened;
    else
        disk_pool_close(opened);
    return err;
}

void disk_pool_close(struct disk_pool *pool)
{
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->lock);
    pool->is_closing = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    team_close(&pool->threads);
    assert(!has_job(pool));
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool);
}

struct executor *disk_pool_executor(struct disk_pool *pool)
{
    return &pool->executor;
}

/* Runs one job of the lane, then queues up behind other users of the executor for the next. */
static void lane_run(struct job *job)
{
    struct job_lane *lane = LIST_OWNER(job, struct job_lane, job);

    pthread_mutex_lock(&lane->lock);
    struct list *node = list_pop_front(&lane->waiting);
    pthread_mutex_unlock(&lane->lock);
    struct job *first = LIST_OWNER(node, struct job, node);
    first->run(first);

    pthread_mutex_lock(&lane->lock);
    bool has_more = !list_is_empty(&lane->waiting);
    lane->is_running = has_more;
    if (has_more) lane->job.is_urgent = LIST_OWNER(lane->waiting.next, struct job, node)->is_urgent;
    if (!has_more) pthread_cond_broadcast(&lane->became_idle);
    struct executor *executor = lane->executor;
    /* Once idle and unlocked, the lane may be gone. */
    pthread_mutex_unlock(&lane->lock);
    if (has_more) executor_submit(executor, job);
}

void job_lane_init(struct job_lane *lane, struct executor *executor)
{
    lane->executor = executor;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->became_idle, NULL);
    list_init(&lane->waiting);
    lane->is_running = false;
    job_init(&lane->job, lane_run);
}

void job_lane_submit(struct job_lane *lane, struct job *job)
{
    pthread_mutex_lock(&lane->lock);
    list_push_back(&lane->waiting, &job->node);
    bool must_start = !lane->is_running;
    lane->is_running = true;
    if (must_start) lane->job.is_urgent = job->is_urgent;
    pthread_mutex_unlock(&lane->lock);
    if (must_start) executor_submit(lane->executor, &lane->job);
}

void job_lane_close(struct job_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    assert(list_is_empty(&lane->waiting));
    while (lane->is_running)
        pthread_cond_wait(&lane->became_idle, &lane->lock);
    pthread_mutex_unlock(&lane->lock);
    pthread_cond_destroy(&lane->became_idle);
    pthread_mutex_destroy(&lane->lock);
}
