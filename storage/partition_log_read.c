// SPDX-License-Identifier: Apache-2.0
/* Reading: any thread, beside the writer. A search takes a view of one segment under the lock and works
 * on that without it. If a truncation came in between, what it found is not used: it is done again. */

#include <inttypes.h>
#include <stdio.h>

#include "error.h"
#include "partition_log_inside.h"
#include "segment_end.h"
#include "trace.h"

static void release_segment(void *owner)
{
    segment_unpin(owner);
    segment_release(owner);
}

/* A search that met a file which vanished or changed under it ran into a truncation or the end of a
 * deleted segment; then it is to be done again. Otherwise the disk does not hold what it must. */
static int explain(struct partition_log *log, unsigned cuts, int err)
{
    if (err == ERR_NEEDS_IO || err == ERR_NO_MEMORY) return err;
    pthread_mutex_lock(&log->lock);
    bool was_cut = log->cuts != cuts;
    pthread_mutex_unlock(&log->lock);
    return was_cut ? ERR_BUSY : err;
}

/* Damage costs those who ask for what is damaged, and nobody else. A line tells of it, once for each file;
 * `position` -1: somewhere. */
static void tell_damage(struct partition_log *log, struct segment *segment, int64_t position)
{
    char where[48] = "";

    pthread_mutex_lock(&log->lock);
    bool was_told = segment->damage_was_told;
    segment->damage_was_told = true;
    pthread_mutex_unlock(&log->lock);
    if (was_told) return;
    if (position >= 0) snprintf(where, sizeof where, " from position %" PRId64 " on", position);
    trace(TRACE_ERROR, "storage",
          "%s/%020" PRId64
          ".log is damaged%s, and what lies there cannot be read; sluice log verify tells more",
          log->folder, segment->base_offset, where);
}

/* Remembers what a search found out of the view's end, and tells if it is bad. */
static void publish_damage(struct partition_log *log, const struct segment_view *view,
                           const struct segment_damage *damage, unsigned cuts)
{
    if (view->damage.position != SEGMENT_UNCHECKED || damage->position == SEGMENT_UNCHECKED) return;
    pthread_mutex_lock(&log->lock);
    bool is_true = log->cuts == cuts;
    if (is_true) view->segment->damage = *damage;
    pthread_mutex_unlock(&log->lock);
    if (is_true && segment_damage_is_known(damage))
        tell_damage(log, view->segment, damage->position);
}

/* What a reader gets where the segment does not hold what it must. */
static int answer_damage(struct partition_log *log, struct segment *segment, int err,
                         int64_t position)
{
    if (err != ERR_CORRUPT_MESSAGE && err != ERR_NOT_FOUND) return err;
    tell_damage(log, segment, position);
    return ERR_CORRUPT_MESSAGE;
}

enum step { STEP_DONE, STEP_NEXT_SEGMENT, STEP_AGAIN };

/* So many segments of which compaction has left empty batches only are passed in one read. */
#define EMPTY_SEGMENTS_MAX 64

/* A reader who gets nothing but empty batches, again and again, may think that its limits are too small
 * (librdkafka raises them, and then gives up). Nothing follows the active segment, so nobody who keeps up
 * pays for a look. */
static int look_for_more(const struct log_read *read, const struct segment_view *view,
                         const struct segment_range *range, bool is_active, enum step *step)
{
    bool is_empty = false;
    int err = 0;

    *step = range->is_at_end ? STEP_NEXT_SEGMENT : STEP_DONE;
    if (read->skips_empty && !is_active && range->length > 0 &&
        range->next_offset >= view->end_offset)
        err = segment_range_is_empty(view, range, &is_empty);
    if (is_empty) *step = STEP_NEXT_SEGMENT;
    return err;
}

/* Answers the read from the view's segment. */
static int read_segment(struct partition_log *log, struct log_read *read,
                        const struct segment_view *view, bool is_active, unsigned cuts,
                        enum step *step)
{
    struct segment_range range = { .position = -1, .damage = view->damage };
    int fd;
    int err = segment_find(view, read->from_offset, read->below_offset, read->max_bytes,
                           read->at_least_one, &range);

    publish_damage(log, view, &range.damage, cuts);
    if (err == 0) err = look_for_more(read, view, &range, is_active, step);
    if (err == 0) err = segment_pin(view->segment, read->may_block, &fd);
    if (err != 0) return answer_damage(log, view->segment, explain(log, cuts, err), range.position);
    pthread_mutex_lock(&log->lock);
    bool was_cut = log->cuts != cuts;
    if (!was_cut && range.length > 0)
        segment_hint_handed_out(view->segment, range.next_offset, range.position + range.length);
    pthread_mutex_unlock(&log->lock);
    if (was_cut || range.length == 0) segment_unpin(view->segment);
    if (was_cut) return ERR_BUSY;
    if (range.length == 0) return 0;
    file_slice_release(&read->slice); /* Empty batches of a segment before. */
    read->slice = (struct file_slice){
        .fd = fd,
        .offset = range.position,
        .length = (size_t)range.length,
        .owner = segment_keep(view->segment),
        .release = release_segment,
    };
    read->next_offset = range.next_offset;
    return 0;
}

/* Looks at one segment: the one that may hold `from_offset`, or the one behind the segment with base
 * `behind` (-1: none was looked at). */
static int read_step(struct partition_log *log, struct log_read *read, int64_t *behind,
                     enum step *step)
{
    struct segment_view view;
    unsigned cuts = 0;
    bool has_segment = false, is_active = false;
    int err = 0;

    *step = STEP_DONE;
    pthread_mutex_lock(&log->lock);
    if (log->failed != 0) /* What cannot be made durable must not be seen (DESIGN 15.2, 15.7). */
        err = ERR_KAFKA_STORAGE_ERROR;
    else if (read->from_offset < log->start_offset || read->from_offset > log->end_offset)
        err = ERR_OFFSET_OUT_OF_RANGE;
    if (err == 0 && read->from_offset < log->end_offset && read->from_offset < read->below_offset) {
        size_t index = log_segment_at(log, read->from_offset);
        while (index < log->segment_count && log->segments[index]->base_offset <= *behind)
            index++;
        has_segment = index < log->segment_count;
        is_active = index + 1 == log->segment_count;
        if (has_segment)
            err = log_await_swap(log, log->segments[index]->base_offset, read->may_block);
        if (has_segment && err == 0) log_view(log, index, read->may_block, &view);
    }
    cuts = log->cuts;
    pthread_mutex_unlock(&log->lock);
    if (err != 0 || !has_segment) return err; /* ERR_BUSY: again from the beginning. */
    *behind = view.segment->base_offset;
    err = read_segment(log, read, &view, is_active, cuts, step);
    segment_release(view.segment);
    return err;
}

static void forget_found(struct log_read *read)
{
    file_slice_release(&read->slice);
    read->slice = (struct file_slice){ .fd = -1 };
    read->next_offset = read->from_offset;
}

int partition_log_read(struct partition_log *log, struct log_read *read)
{
    enum step step = STEP_NEXT_SEGMENT;
    int64_t behind = -1;
    unsigned passed = 0;
    int err = 0;

    read->slice = (struct file_slice){ .fd = -1 };
    forget_found(read);
    while (err == 0 && step != STEP_DONE && passed < EMPTY_SEGMENTS_MAX) {
        err = read_step(log, read, &behind, &step);
        if (read->slice.length > 0) passed++;
        if (err == ERR_BUSY) {
            forget_found(read);
            behind = -1;
            step = STEP_AGAIN;
            err = 0;
        }
    }
    if (log_is_of_disk(err)) err = log_fail(log, err, "reading");
    if (err != 0) forget_found(read);
    return err;
}

/* How many segments without interest may be passed while the log waits. */
#define SEGMENTS_AT_ONCE 256

struct search {
    /* What is asked of each segment; *done: no more need be. */
    int (*look)(struct search *search, const struct segment_view *view, bool *done);
    int64_t timestamp;
    int64_t newer_than;  /* Only segments whose newest record is newer are of interest. */
    bool is_of_all;      /* Also of what lies below the log's start and is not gone yet. */
    int64_t from_offset; /* The log's start, which may lie in the middle of a segment; or 0. */
    int64_t below_offset;
    struct log_position position;
    struct segment_top top; /* The best so far, */
    int64_t top_base;       /* and the base of its segment. */
};

/* Sees to it that the view's top is known, and remembers it. */
static int load_top(struct partition_log *log, struct segment_view *view)
{
    if (view->top.timestamp != SEGMENT_TIME_UNKNOWN) return 0;
    int err = segment_find_newest(view->segment, view->size, view->may_block, &view->top);
    if (err == 0) log_publish_top(log, view->segment, &view->top);
    return err;
}

static int look_for_timestamp(struct search *search, const struct segment_view *view, bool *done)
{
    struct segment_record record = { -1, -1, -1 };

    int err = segment_find_timestamp(view, search->timestamp, search->from_offset,
                                     search->below_offset, &record);
    if (err == 0 && record.offset >= 0) {
        search->position = (struct log_position){ record.offset, record.timestamp,
                                                  record.leader_epoch };
        *done = true;
    }
    return err;
}

static int look_for_top(struct search *search, const struct segment_view *view, bool *done)
{
    struct segment_top top = { -1, -1 };

    (void)done;
    int err = segment_find_top(view, search->from_offset, search->below_offset, &top);
    if (err == 0 && top.timestamp > search->top.timestamp) {
        search->top = top;
        search->newer_than = top.timestamp;
        search->top_base = view->segment->base_offset;
    }
    return err;
}

/* Looks at the view, but not at the end of the segment if that is damaged: who reads there is told, and what
 * is looked for may lie behind. */
static int look_in_front_of_damage(struct partition_log *log, struct search *search,
                                   struct segment_view *view, unsigned cuts, bool *done)
{
    struct segment_damage damage = view->damage;

    if (segment_damage_is_known(&damage)) view->size = damage.position;
    int err = search->look(search, view, done);
    if (err != ERR_CORRUPT_MESSAGE || damage.position != SEGMENT_UNCHECKED) return err;
    int end_err = segment_end_find(view, &damage);
    if (end_err != 0) return end_err;
    publish_damage(log, view, &damage, cuts);
    view->damage = damage;
    if (!segment_damage_is_known(&damage)) return err;
    view->size = damage.position;
    return search->look(search, view, done);
}

/* The view of the first segment with a base above *behind that may be of interest, or of none; *behind is
 * then the base of the last one that was passed. False: there are no more. Under the lock. */
static bool next_of_interest(struct partition_log *log, const struct search *search, bool may_block,
                             int64_t *behind, struct segment_view *view)
{
    size_t index = log_segment_at(log,
                                  *behind < search->from_offset ? search->from_offset : *behind);

    while (index < log->segment_count && log->segments[index]->base_offset <= *behind)
        index++;
    for (int i = 0; i < SEGMENTS_AT_ONCE && index < log->segment_count; i++, index++) {
        const struct segment *segment = log->segments[index];
        if (segment->base_offset >= search->below_offset) return false;
        *behind = segment->base_offset;
        if (segment->top.timestamp == SEGMENT_TIME_UNKNOWN ||
            segment->top.timestamp > search->newer_than) {
            log_view(log, index, may_block, view);
            return true;
        }
    }
    return index < log->segment_count;
}

/* Looks at every segment from search->from_offset on, with a base below search->below_offset, that is of
 * interest, in order, until an error or *done. ERR_BUSY if the log was cut meanwhile. */
static int search_segments(struct partition_log *log, struct search *search, bool may_block)
{
    int64_t behind = -1;
    unsigned cuts = 0;
    bool is_first = true;
    bool done = false;
    int err = 0;

    while (err == 0 && !done) {
        struct segment_view view = { 0 };
        pthread_mutex_lock(&log->lock);
        if (log->failed != 0)
            err = ERR_KAFKA_STORAGE_ERROR;
        else if (!is_first && cuts != log->cuts)
            err = ERR_BUSY;
        search->from_offset = search->is_of_all ? 0 : log->start_offset;
        bool has_more = err == 0 && next_of_interest(log, search, may_block, &behind, &view);
        if (view.segment != NULL) err = log_await_swap(log, view.segment->base_offset, may_block);
        cuts = log->cuts;
        pthread_mutex_unlock(&log->lock);
        is_first = false;
        if (!has_more) break;
        if (view.segment == NULL) continue;
        if (err == 0) err = load_top(log, &view);
        if (err == 0 && view.top.timestamp > search->newer_than)
            err = look_in_front_of_damage(log, search, &view, cuts, &done);
        if (err != 0) err = answer_damage(log, view.segment, explain(log, cuts, err), -1);
        segment_release(view.segment);
    }
    return err;
}

static int answer_search(struct partition_log *log, int err)
{
    return log_is_of_disk(err) ? log_fail(log, err, "searching") : err;
}

int partition_log_find_timestamp(struct partition_log *log, int64_t timestamp, int64_t below_offset,
                                 bool may_block, struct log_position *position)
{
    struct search search;
    int err;

    do {
        search = (struct search){ .look = look_for_timestamp,
                                  .timestamp = timestamp,
                                  .newer_than = timestamp > INT64_MIN ? timestamp - 1 : INT64_MIN,
                                  .below_offset = below_offset,
                                  .position = { -1, -1, -1 } };
        err = search_segments(log, &search, may_block);
    } while (err == ERR_BUSY);
    if (err == 0) *position = search.position;
    return answer_search(log, err);
}

/* Turns the batch that holds the largest timestamp into the record. */
static int find_top_record(struct partition_log *log, struct search *search, bool may_block)
{
    struct segment_view view;
    bool done = false;

    if (search->top.timestamp < 0) return 0;
    search->look = look_for_timestamp;
    search->timestamp = search->top.timestamp;
    pthread_mutex_lock(&log->lock);
    unsigned cuts = log->cuts;
    size_t index = log_segment_at(log, search->top_base);
    int err = log_await_swap(log, log->segments[index]->base_offset, may_block);
    if (err == 0) log_view(log, index, may_block, &view);
    pthread_mutex_unlock(&log->lock);
    if (err != 0) return err;
    err = load_top(log, &view);
    if (err == 0) err = look_in_front_of_damage(log, search, &view, cuts, &done);
    /* The time index knows of it, and it is lost. */
    if (err == 0 && !done && segment_damage_is_known(&view.damage)) err = ERR_CORRUPT_MESSAGE;
    if (err != 0) err = answer_damage(log, view.segment, explain(log, cuts, err), -1);
    segment_release(view.segment);
    return err;
}

int partition_log_find_max_timestamp(struct partition_log *log, int64_t below_offset,
                                     bool may_block, struct log_position *position)
{
    struct search search;
    int err;

    do {
        search = (struct search){ .look = look_for_top,
                                  .is_of_all = true,
                                  .newer_than = -1,
                                  .below_offset = below_offset,
                                  .position = { -1, -1, -1 },
                                  .top = { -1, -1 } };
        err = search_segments(log, &search, may_block);
        if (err == 0) err = find_top_record(log, &search, may_block);
    } while (err == ERR_BUSY);
    if (err == 0) *position = search.position;
    return answer_search(log, err);
}
