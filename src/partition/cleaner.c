// SPDX-License-Identifier: Apache-2.0
#include "cleaner.h"

#include <inttypes.h>
#include <time.h>

#include "alloc.h"
#include "compaction.h"
#include "error.h"
#include "partition_jobs.h"
#include "team.h"
#include "trace.h"

#define RATE_INTERVAL_US 300000 /* Waits shorter than this are put off. */
#define SPEND_AT_ONCE    (64 * 1024)
#define LEAST_MAP_BYTES  (1 << 20)
#define LONGEST_SLEEP_MS (24 * 3600 * INT64_C(1000))

struct cleaner {
    struct clock *clock;
    struct cleaner_source *source;
    struct team threads;
    atomic_bool is_stopping;

    pthread_mutex_t lock; /* For these. After a partition's lock. */
    pthread_cond_t woken;
    bool is_woken;
    struct cleaner_options options;
    struct cleaner_rate rate;
    unsigned changes; /* Of the options, counted. */
};

/* ---- which log ---- */

struct candidate {
    struct cleaner *cleaner;
    struct partition *partition; /* The best so far, with a reference; NULL: none. */
    double ratio;
    bool has_compacted;
};

/* What there is to clean in a log; false: nothing that should be cleaned now. */
static bool is_dirty_enough(struct partition_log *log, const struct topic_settings *settings,
                            int64_t below_offset, int64_t now_ms, double *ratio)
{
    struct cleanable cleanable;
    if (partition_log_cleanable(log, below_offset, now_ms, &cleanable) != 0 ||
        cleanable.dirty_bytes == 0)
        return false;
    *ratio = (double)cleanable.dirty_bytes /
             (double)(cleanable.clean_bytes + cleanable.dirty_bytes);
    return cleanable.is_overdue || *ratio > settings->min_cleanable_dirty_ratio;
}

static void consider(void *context, struct partition *partition)
{
    struct candidate *candidate = context;
    double ratio = 0;
    pthread_mutex_lock(&partition->lock);
    struct topic_settings settings = partition->settings;
    bool is_compacted = (settings.cleanup_policy & CLEANUP_COMPACT) != 0;
    bool is_open = is_compacted && partition->state == PARTITION_SERVING &&
                   !partition->is_being_cleaned && !partition->is_uncleanable;
    int64_t below_offset = partition_last_stable_offset(partition);
    struct partition_log *log = is_open ? partition_pin_log(partition) : NULL;
    pthread_mutex_unlock(&partition->lock);
    if (is_compacted) candidate->has_compacted = true;
    if (log == NULL) return;
    bool is_better = is_dirty_enough(log, &settings, below_offset,
                                     clock_wall_ms(candidate->cleaner->clock), &ratio) &&
                     (candidate->partition == NULL || ratio > candidate->ratio);
    partition_unpin_log(partition);
    if (!is_better) return;
    partition_unref(candidate->partition);
    candidate->partition = partition_ref(partition);
    candidate->ratio = ratio;
}

/* The dirtiest log, by (2), now this caller's to clean; NULL: none. With a reference. */
static struct partition *choose(struct cleaner *cleaner, bool *has_compacted)
{
    struct candidate candidate = { .cleaner = cleaner };
    cleaner->source->each(cleaner->source, consider, &candidate);
    *has_compacted = candidate.has_compacted;
    if (candidate.partition == NULL) return NULL;
    pthread_mutex_lock(&candidate.partition->lock);
    bool is_taken = candidate.partition->is_being_cleaned; /* By another thread, just now. */
    candidate.partition->is_being_cleaned = true;
    pthread_mutex_unlock(&candidate.partition->lock);
    if (!is_taken) return candidate.partition;
    partition_unref(candidate.partition);
    return NULL;
}

/* ---- how fast ---- */

int64_t cleaner_rate_spend(struct cleaner_rate *rate, int64_t bytes, int64_t now_us)
{
    rate->bytes += (double)bytes;
    int64_t passed_us = now_us - rate->since_us;
    double wait_us = rate->bytes / rate->bytes_per_second * 1e6 - (double)passed_us;
    if (passed_us < RATE_INTERVAL_US && wait_us < RATE_INTERVAL_US) return 0;
    if (wait_us < 0) wait_us = 0;
    if (wait_us > 60e6) wait_us = 60e6;
    rate->bytes = 0;
    rate->since_us = now_us + (int64_t)wait_us;
    return (int64_t)wait_us;
}

static unsigned changes_so_far(struct cleaner *cleaner)
{
    pthread_mutex_lock(&cleaner->lock);
    unsigned changes = cleaner->changes;
    pthread_mutex_unlock(&cleaner->lock);
    return changes;
}

/* Sleeps, unless there is an end, or options have changed since there were so many changes. */
static void sleep_us(struct cleaner *cleaner, int64_t wait_us, unsigned changes)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_us / 1000000;
    until.tv_nsec += wait_us % 1000000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&cleaner->lock);
    while (!atomic_load(&cleaner->is_stopping) && cleaner->changes == changes &&
           pthread_cond_timedwait(&cleaner->woken, &cleaner->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&cleaner->lock);
}

/* ---- a pass ---- */

struct pass {
    struct cleaner *cleaner;
    struct partition *partition;
    struct compaction *compaction; /* NULL before the first step. */
    struct compaction_options options;
    struct log_checkpoint checkpoint;
    int64_t unspent_bytes; /* Not accounted for yet. */

    /* A step that is the log's writer. */
    struct job job;
    int (*step)(struct pass *pass, struct partition_log *log);
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool has_ended;
    int err;

    bool is_ready; /* A new segment waits to be swapped in. */
};

static bool is_cancelled(void *owner)
{
    struct pass *pass = owner;
    return atomic_load(&pass->cleaner->is_stopping) || atomic_load(&pass->partition->is_retired);
}

static void spend(void *owner, int64_t bytes)
{
    struct pass *pass = owner;
    struct cleaner *cleaner = pass->cleaner;
    pass->unspent_bytes += bytes;
    if (pass->unspent_bytes < SPEND_AT_ONCE) return;
    pthread_mutex_lock(&cleaner->lock);
    int64_t wait_us = cleaner_rate_spend(&cleaner->rate, pass->unspent_bytes,
                                         clock_monotonic_us(cleaner->clock));
    unsigned changes = cleaner->changes;
    pthread_mutex_unlock(&cleaner->lock);
    pass->unspent_bytes = 0;
    if (wait_us > 0) sleep_us(cleaner, wait_us, changes);
}

static void run_step(struct job *job)
{
    struct pass *pass = LIST_OWNER(job, struct pass, job);
    int err = ERR_CANCELED;
    if (partition_begin_writing(pass->partition)) {
        err = pass->step(pass, pass->partition->log);
        partition_end_writing(pass->partition);
    }
    pthread_mutex_lock(&pass->lock);
    pass->err = err;
    pass->has_ended = true;
    pthread_cond_signal(&pass->ended);
    pthread_mutex_unlock(&pass->lock);
}

/* Nothing of the log may be pinned by the caller: a close that is first in the lane waits for that. */
static int as_writer(struct pass *pass, int (*step)(struct pass *pass, struct partition_log *log))
{
    pass->step = step;
    pass->has_ended = false;
    job_init(&pass->job, run_step);
    job_lane_submit(&pass->partition->lane, &pass->job);
    pthread_mutex_lock(&pass->lock);
    while (!pass->has_ended)
        pthread_cond_wait(&pass->ended, &pass->lock);
    pthread_mutex_unlock(&pass->lock);
    return pass->err;
}

/* Beside the writer. */
static int with_log(struct pass *pass, int (*step)(struct pass *pass, struct partition_log *log))
{
    struct partition *partition = pass->partition;
    pthread_mutex_lock(&partition->lock);
    struct partition_log *log = partition->state == PARTITION_SERVING ? partition_pin_log(partition)
                                                                      : NULL;
    pthread_mutex_unlock(&partition->lock);
    if (log == NULL) return ERR_CANCELED;
    int err = step(pass, log);
    pthread_mutex_lock(&partition->lock);
    partition_note_failure(partition);
    pthread_mutex_unlock(&partition->lock);
    partition_unpin_log(partition);
    return err;
}

static int begin_checkpoint(struct pass *pass, struct partition_log *log)
{
    return partition_log_begin_checkpoint(log, &pass->checkpoint);
}

static int end_checkpoint(struct pass *pass, struct partition_log *log)
{
    if (pass->checkpoint.offset < 0) return 0;
    int err = partition_log_end_checkpoint(log, &pass->checkpoint, true);
    pass->checkpoint.offset = -1;
    return err;
}

static int begin(struct pass *pass, struct partition_log *log)
{
    pthread_mutex_lock(&pass->partition->lock);
    pass->options.below_offset = partition_last_stable_offset(pass->partition);
    pthread_mutex_unlock(&pass->partition->lock);
    return compaction_begin(&pass->compaction, log, &pass->options);
}

static int next(struct pass *pass, struct partition_log *log)
{
    (void)log;
    return compaction_next(pass->compaction, &pass->is_ready);
}

static int swap(struct pass *pass, struct partition_log *log)
{
    (void)log;
    return compaction_swap(pass->compaction);
}

/* The log is not the same while a pass is no step of it: so each step looks whether it is there. */
static int run_pass(struct pass *pass)
{
    int err = as_writer(pass, begin_checkpoint);
    if (err == 0) err = with_log(pass, end_checkpoint);
    if (pass->checkpoint.offset >= 0) partition_log_drop_checkpoint(&pass->checkpoint);
    if (err == 0) err = as_writer(pass, begin);
    do {
        if (err == 0) err = with_log(pass, next);
        if (err == 0 && pass->is_ready) err = as_writer(pass, swap);
    } while (err == 0 && pass->is_ready);
    return err;
}

static void tell(const struct pass *pass, int err)
{
    const struct partition *partition = pass->partition;
    struct compaction_result result;
    if (err == 0) {
        compaction_result(pass->compaction, &result);
        trace(TRACE_INFO, "partition",
              "%s-%" PRId32 ": compacted up to offset %" PRId64 ": %" PRId64 " keys, %" PRId64
              " bytes became %" PRId64,
              partition->topic, partition->index, result.end_offset, result.keys,
              result.bytes_before, result.bytes_after);
    } else if (err != ERR_CANCELED && err != ERR_NOT_FOUND) {
        trace(TRACE_WARN, "partition", "%s-%" PRId32 ": compaction failed: %s%s", partition->topic,
              partition->index, error_text(err),
              partition->is_uncleanable ? "; it is not tried again" : "");
    }
}

/* By (4). */
static bool cannot_be_cleaned(int err)
{
    return err == ERR_CORRUPT_MESSAGE || err == ERR_INVALID_RECORD ||
           err == ERR_UNSUPPORTED_COMPRESSION_TYPE || err == ERR_LIMIT;
}

/* What one thread has, as the options are now. */
static struct compaction_options options_of_pass(struct cleaner *cleaner)
{
    pthread_mutex_lock(&cleaner->lock);
    struct cleaner_options options = cleaner->options;
    pthread_mutex_unlock(&cleaner->lock);
    unsigned threads = options.threads > 0 ? options.threads : 1;
    int64_t map_bytes = options.map_bytes / threads;
    return (struct compaction_options){
        .now_ms = clock_wall_ms(cleaner->clock),
        .map_bytes = map_bytes < LEAST_MAP_BYTES ? LEAST_MAP_BYTES : map_bytes,
        .map_load = options.map_load,
        .buffer_bytes = (size_t)options.buffer_bytes / threads / 2,
        .is_cancelled = is_cancelled,
        .spend = spend,
    };
}

/* True if something was cleaned. */
static bool clean(struct cleaner *cleaner, struct partition *partition)
{
    struct pass pass = {
        .cleaner = cleaner,
        .partition = partition,
        .checkpoint = { .offset = -1 },
        .options = options_of_pass(cleaner),
    };
    pass.options.owner = &pass;
    pthread_mutex_init(&pass.lock, NULL);
    pthread_cond_init(&pass.ended, NULL);
    int err = run_pass(&pass);
    if (err == 0) {
        int write_err = data_dir_write_checkpoints(partition->dir);
        if (write_err != 0)
            trace(TRACE_WARN, "partition", "%s: checkpoints cannot be written: %s",
                  data_dir_path(partition->dir), error_text(write_err));
    }
    pthread_mutex_lock(&partition->lock);
    partition->is_being_cleaned = false;
    if (cannot_be_cleaned(err)) partition->is_uncleanable = true;
    pthread_mutex_unlock(&partition->lock);
    tell(&pass, err);
    compaction_close(pass.compaction);
    pthread_cond_destroy(&pass.ended);
    pthread_mutex_destroy(&pass.lock);
    return err == 0;
}

bool cleaner_clean_one(struct cleaner *cleaner, bool *has_compacted)
{
    struct partition *partition = choose(cleaner, has_compacted);
    if (partition == NULL) return false;
    bool has_cleaned = clean(cleaner, partition);
    partition_unref(partition);
    return has_cleaned;
}

static struct cleaner_rate rate_from_now(struct clock *clock, const struct cleaner_options *options)
{
    return (struct cleaner_rate){ .bytes_per_second = options->bytes_per_second,
                                  .since_us = clock_monotonic_us(clock) };
}

static bool options_equal(const struct cleaner_options *a, const struct cleaner_options *b)
{
    return a->threads == b->threads && a->map_bytes == b->map_bytes &&
           a->buffer_bytes == b->buffer_bytes && a->map_load == b->map_load &&
           a->bytes_per_second == b->bytes_per_second && a->backoff_ms == b->backoff_ms;
}

int cleaner_set_options(struct cleaner *cleaner, const struct cleaner_options *options)
{
    pthread_mutex_lock(&cleaner->lock);
    bool is_same = options_equal(&cleaner->options, options);
    cleaner->options = *options;
    /* From now on: nobody waits for what another rate would have asked. */
    if (cleaner->rate.bytes_per_second != options->bytes_per_second)
        cleaner->rate = rate_from_now(cleaner->clock, options);
    pthread_mutex_unlock(&cleaner->lock);
    if (is_same) return 0; /* Nobody's sleep is cut short. */
    int err = team_resize(&cleaner->threads, options->threads);
    pthread_mutex_lock(&cleaner->lock);
    cleaner->changes++;
    pthread_cond_broadcast(&cleaner->woken);
    pthread_mutex_unlock(&cleaner->lock);
    return err;
}

/* ---- the threads ---- */

static void await_work(struct cleaner *cleaner, bool has_compacted, unsigned changes)
{
    pthread_mutex_lock(&cleaner->lock);
    int64_t backoff_ms = cleaner->options.backoff_ms;
    while (!has_compacted && !atomic_load(&cleaner->is_stopping) && !cleaner->is_woken &&
           cleaner->changes == changes)
        pthread_cond_wait(&cleaner->woken, &cleaner->lock);
    cleaner->is_woken = cleaner->is_woken && has_compacted;
    pthread_mutex_unlock(&cleaner->lock);
    if (backoff_ms > LONGEST_SLEEP_MS) backoff_ms = LONGEST_SLEEP_MS;
    if (has_compacted) sleep_us(cleaner, backoff_ms * 1000, changes);
}

static void run(void *context, unsigned thread)
{
    struct cleaner *cleaner = context;
    for (;;) {
        bool has_compacted = false;
        unsigned changes = changes_so_far(cleaner);
        if (atomic_load(&cleaner->is_stopping) || team_leaves(&cleaner->threads, thread)) return;
        if (!cleaner_clean_one(cleaner, &has_compacted))
            await_work(cleaner, has_compacted, changes);
    }
}

void cleaner_wake(struct cleaner *cleaner)
{
    if (cleaner == NULL) return;
    pthread_mutex_lock(&cleaner->lock);
    cleaner->is_woken = true;
    pthread_cond_broadcast(&cleaner->woken);
    pthread_mutex_unlock(&cleaner->lock);
}

int cleaner_open(struct cleaner **cleaner, const struct cleaner_options *options,
                 struct clock *clock, struct cleaner_source *source)
{
    struct cleaner *opened = mem_zalloc(sizeof *opened);
    pthread_condattr_t attributes;
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->options = *options;
    opened->clock = clock;
    opened->source = source;
    opened->rate = rate_from_now(clock, options);
    atomic_init(&opened->is_stopping, false);
    pthread_mutex_init(&opened->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&opened->woken, &attributes);
    pthread_condattr_destroy(&attributes);
    team_init(&opened->threads, "cleaner", run, opened);
    int err = team_resize(&opened->threads, options->threads);
    if (err == 0)
        *cleaner = opened;
    else
        cleaner_close(opened);
    return err;
}

void cleaner_close(struct cleaner *cleaner)
{
    if (cleaner == NULL) return;
    pthread_mutex_lock(&cleaner->lock);
    atomic_store(&cleaner->is_stopping, true);
    pthread_cond_broadcast(&cleaner->woken);
    pthread_mutex_unlock(&cleaner->lock);
    team_close(&cleaner->threads);
    pthread_cond_destroy(&cleaner->woken);
    pthread_mutex_destroy(&cleaner->lock);
    mem_free(cleaner);
}
