// SPDX-License-Identifier: Apache-2.0
/* What transactions mean to readers: how far a consumer of committed records may read, and which
 * transactions in what it reads were aborted (KIP-98).
 *
 *  (1) A transaction index on disk is right below the recovery point, where it was synced before that
 *      point moved. What lies above comes from the batches again, with the producers.
 *  (2) A missing file means that nothing was aborted there, unless other indexes of the segment are
 *      missing too. A bad one is built again from the batches, wherever it is. That this is to be done is
 *      known until it is (segment_aborted.h), whatever ends the life that does it. */

#include <inttypes.h>
#include <stdlib.h>

#include "alloc.h"
#include "error.h"
#include "partition_log_inside.h"
#include "segment_aborted.h"
#include "trace.h"

int64_t partition_log_first_unstable_offset(struct partition_log *log, int64_t high_watermark)
{
    pthread_mutex_lock(&log->lock);
    int64_t ended = ended_transactions_first(&log->ended, high_watermark);
    int64_t first = log->first_open_offset;
    if (first < 0 || (ended >= 0 && ended < first)) first = ended;
    if (first >= 0 && first < log->start_offset) first = log->start_offset;
    pthread_mutex_unlock(&log->lock);
    return first;
}

/* ---- the aborted ones of a range */

/* Looks into the segment behind the one with base `behind` (-1: that which may hold `from`). ERR_BUSY if
 * the log was cut since `cuts` was taken. */
static int look_into_next(struct partition_log *log, struct log_aborted *wanted, int64_t *behind,
                          unsigned cuts, bool *is_complete)
{
    struct segment *segment = NULL;
    int err = 0;

    pthread_mutex_lock(&log->lock);
    size_t index = log_segment_at(log,
                                  *behind < wanted->from_offset ? wanted->from_offset : *behind);
    while (index < log->segment_count && log->segments[index]->base_offset <= *behind)
        index++;
    if (log->failed != 0)
        err = ERR_KAFKA_STORAGE_ERROR;
    else if (log->cuts != cuts)
        err = ERR_BUSY;
    else if (index < log->segment_count)
        err = log_await_swap(log, log->segments[index]->base_offset, wanted->may_block);
    if (err == 0 && index < log->segment_count) segment = segment_keep(log->segments[index]);
    pthread_mutex_unlock(&log->lock);
    *is_complete = segment == NULL;
    if (segment == NULL) return err;
    *behind = segment->base_offset;
    err = segment_aborted_find(segment, wanted->may_block, wanted->from_offset,
                               wanted->below_offset, wanted->limit, &wanted->list, is_complete);
    segment_release(segment);
    return err;
}

static int collect(struct partition_log *log, struct log_aborted *wanted)
{
    int64_t behind = -1;
    bool is_complete = false;
    int err = 0;

    wanted->list.count = 0;
    pthread_mutex_lock(&log->lock);
    unsigned cuts = log->cuts;
    pthread_mutex_unlock(&log->lock);
    while (err == 0 && !is_complete)
        err = look_into_next(log, wanted, &behind, cuts, &is_complete);
    if (err == ERR_NEEDS_IO || err == ERR_NO_MEMORY || err == ERR_LIMIT) return err;
    pthread_mutex_lock(&log->lock);
    if (log->cuts != cuts) err = ERR_BUSY; /* A file may have vanished under the search. */
    pthread_mutex_unlock(&log->lock);
    return err;
}

static int compare_first(const void *a, const void *b)
{
    const struct aborted_transaction *left = a;
    const struct aborted_transaction *right = b;

    if (left->first_offset == right->first_offset)
        return left->last_offset < right->last_offset ? -1 : left->last_offset > right->last_offset;
    return left->first_offset < right->first_offset ? -1 : 1;
}

int partition_log_aborted(struct partition_log *log, struct log_aborted *wanted)
{
    int err;

    wanted->list = (struct aborted_list){ 0 };
    if (wanted->below_offset <= wanted->from_offset) return 0;
    do {
        err = collect(log, wanted);
    } while (err == ERR_BUSY);
    if (err == 0 && wanted->list.count > 1)
        qsort(wanted->list.items, wanted->list.count, sizeof *wanted->list.items, compare_first);
    if (err != 0) log_aborted_release(wanted);
    if (err == ERR_CORRUPT_MESSAGE || err == ERR_IO || err == ERR_NOT_FOUND ||
        err == ERR_NOT_A_FILE)
        err = log_fail(log, err, "reading a transaction index");
    return err;
}

void log_aborted_release(struct log_aborted *wanted)
{
    mem_free(wanted->list.items);
    wanted->list = (struct aborted_list){ 0 };
}

/* ---- opening */

static int64_t next_base(const struct partition_log *log, size_t index)
{
    return index + 1 < log->segment_count ? log->segments[index + 1]->base_offset : INT64_MAX;
}

/* The index of the segment with that base. Of one that is gone the file goes, too, and *is_there is false. */
static int find_segment(struct partition_log *log, int64_t base_offset, const char *suffix,
                        size_t *index, bool *is_there)
{
    char path[PATH_MAX];

    *index = log_segment_at(log, base_offset);
    *is_there = log->segments[*index]->base_offset == base_offset;
    if (*is_there) return 0;
    int err = segment_path(log->folder, base_offset, suffix, path);
    if (err == 0) err = log->fs->remove(log->fs, path);
    return err == ERR_NOT_FOUND ? 0 : err;
}

static int load_index(struct partition_log *log, int64_t base_offset, bool *is_lost)
{
    size_t index;
    bool is_there;

    int err = find_segment(log, base_offset, ".txnindex", &index, &is_there);
    if (err != 0 || !is_there) return err;
    err = segment_aborted_load(log->segments[index],
                               log_indexes_may_be_torn(log, base_offset, next_base(log, index)));
    is_lost[index] = err == ERR_CORRUPT_MESSAGE;
    return err == ERR_CORRUPT_MESSAGE || err == ERR_NOT_FOUND ? 0 : err;
}

static int note_unfinished(struct partition_log *log, int64_t base_offset, bool *is_lost)
{
    size_t index;
    bool is_there;

    char path[PATH_MAX];

    int err = find_segment(log, base_offset, ".txnindex.tmp", &index, &is_there);
    if (err != 0 || !is_there) return err;
    if (next_base(log, index) > log->start_offset) {
        is_lost[index] = true;
        return 0;
    }
    /* Below the start nobody misses what was to be built. */
    err = segment_path(log->folder, base_offset, ".txnindex.tmp", path);
    return err == 0 ? log->fs->remove(log->fs, path) : err;
}

/* Gets the indexes ready for what the batches will say. *from: the producers' state must be known from
 * there on. */
static int prepare_segments(struct partition_log *log, const bool *is_lost, int64_t *from)
{
    int err = 0;

    for (size_t i = log->segment_count; i > 0 && err == 0; i--) {
        struct segment *segment = log->segments[i - 1];
        if (!is_lost[i - 1]) {
            err = segment_aborted_truncate(segment, log->recovery_point);
            continue;
        }
        /* What an empty one has is of batches that a cut or a power loss took: it goes. */
        if (segment->size > 0 || segment->aborted != NULL)
            trace(TRACE_INFO, "storage", "%s/%020" PRId64 ".txnindex is built again", log->folder,
                  segment->base_offset);
        err = segment_aborted_begin_again(segment);
        if (segment->size > 0 && segment->base_offset < *from) *from = segment->base_offset;
    }
    return err;
}

static int complete_index(struct partition_log *log, struct segment *segment)
{
    bool is_rebuilt = segment->aborted_is_rebuilt;
    int err = segment_aborted_complete(segment);

    if (err != ERR_NO_SPACE) return err;
    /* It is in memory, for the flush that finds room. What a checkpoint has promised waits for one again. */
    if (is_rebuilt) {
        segment->indexes_are_flushed = false;
        log->indexes_are_behind = true;
    }
    return 0;
}

int log_recover_transactions(struct partition_log *log, struct log_bases files,
                             struct log_bases unfinished, bool *is_lost)
{
    int64_t from = log->recovery_point;
    bool is_rebuilt = false;
    int err = 0;

    for (size_t i = 0; i < files.count && err == 0; i++)
        err = load_index(log, files.values[i], is_lost);
    for (size_t i = 0; i < unfinished.count && err == 0; i++)
        err = note_unfinished(log, unfinished.values[i], is_lost);
    if (err == 0) err = prepare_segments(log, is_lost, &from);
    log->aborted_from = log->recovery_point;
    if (err == 0) err = log_reload_producers(log, from, &log->snapshot_offset);
    log->aborted_from = INT64_MAX;
    for (size_t i = 0; i < log->segment_count && err == 0; i++) {
        is_rebuilt = is_rebuilt || log->segments[i]->aborted_is_rebuilt;
        err = complete_index(log, log->segments[i]);
    }
    if (err == 0 && is_rebuilt) err = log->fs->sync_folder(log->fs, log->folder);
    return err;
}

int log_replay_ended(struct partition_log *log, const struct ended_transaction *ended)
{
    struct segment *segment = log->segments[log_segment_at(log, ended->last_offset)];
    struct aborted_transaction aborted = {
        .producer_id = ended->producer_id,
        .first_offset = ended->first_offset,
        .last_offset = ended->last_offset,
        .last_stable_offset = ended->last_stable_offset,
    };

    if (ended->producer_id < 0) return 0;
    ended_transactions_add(&log->replayed, ended->first_offset, ended->last_offset);
    if (!ended->is_aborted ||
        (ended->last_offset < log->aborted_from && !segment->aborted_is_rebuilt))
        return 0;
    int err = segment_aborted_reserve(segment, 1, true);
    if (err == 0) segment_aborted_append(segment, &aborted);
    return err;
}
