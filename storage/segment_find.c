// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>

#include "alloc.h"
#include "batch_scan.h"
#include "error.h"
#include "segment_end.h"
#include "segment_find.h"
#include "trace.h"

/* How many reads of headers a search may take to find its end. */
#define HEADER_READS_MAX 128

/* Below this many bytes, walking headers is cheaper than searching the index. */
#define WALK_BYTES (16 * 1024)

/* A batch larger than this is not read on a loop, and neither is a compressed one (DESIGN 2.2). */
#define INLINE_BATCH_MAX (64 * 1024)

static int index_find(const struct segment_view *view, int64_t offset, int64_t position,
                      struct offset_index_entry *entry)
{
    /* The index may be ahead of what is published. */
    if (position > view->size - 1) position = view->size - 1;
    return offset_index_find(&view->segment->offsets, view->may_block, offset, position, entry);
}

/* Walks from scan->position to the first batch that ends at or above `offset`, and stops there. */
static int walk_to(struct batch_scan *scan, int64_t offset, struct record_batch *batch)
{
    int64_t position;
    int err;

    do {
        err = batch_scan_next(scan, batch, &position);
    } while (err == 0 && record_batch_last_offset(batch) < offset);
    if (err == 0) scan->position = position;
    return err;
}

/* Is at the scan's position the batch that the index says is there? */
static int check_entry(struct batch_scan *scan, const struct offset_index_entry *entry)
{
    struct record_batch batch;
    int64_t position;
    int err = batch_scan_next(scan, &batch, &position);

    if (err == 0 && record_batch_last_offset(&batch) != entry->last_offset)
        err = ERR_CORRUPT_MESSAGE;
    scan->position = entry->position;
    return err;
}

/* Sets the scan to the last batch that the index has in front of `offset`. */
static int jump(const struct segment_view *view, struct batch_scan *scan, int64_t offset)
{
    struct offset_index_entry entry;
    int err = index_find(view, offset, INT64_MAX, &entry);

    if (err != 0) return err;
    scan->position = entry.position;
    if (entry.position > 0) err = check_entry(scan, &entry);
    return err == ERR_NOT_FOUND ? ERR_CORRUPT_MESSAGE : err;
}

/* The same, or to the segment's begin if the index is wrong there: that costs time, never an answer
 * (DESIGN 4.4). */
static int jump_or_begin(const struct segment_view *view, struct batch_scan *scan, int64_t offset)
{
    const struct segment *segment = view->segment;
    int err = jump(view, scan, offset);

    if (err != ERR_CORRUPT_MESSAGE) return err;
    if (!view->may_block) return ERR_NEEDS_IO;
    trace(TRACE_WARN, "storage", "%s/%020" PRId64 ".index is wrong at offset %" PRId64,
          segment->folder->path, segment->base_offset, offset);
    scan->position = 0;
    return 0;
}

/* Sets the scan to the first batch that ends at or above `offset`; ERR_NOT_FOUND if there is none. */
static int seek(const struct segment_view *view, struct batch_scan *scan, int64_t offset)
{
    struct segment *segment = view->segment;
    struct record_batch batch;
    bool is_small = view->size <= WALK_BYTES;

    scan->position = 0;
    if (view->size == 0) return ERR_NOT_FOUND;
    if (offset <= segment->base_offset || segment_hint(segment, offset, &scan->position))
        return scan->position < view->size ? 0 : ERR_NOT_FOUND;

    int err = is_small ? 0 : jump_or_begin(view, scan, offset);
    if (err == 0) err = walk_to(scan, offset, &batch);
    if (err != ERR_CORRUPT_MESSAGE || !is_small) return err;
    /* What the walk came to is damaged, but perhaps not what is looked for: the index leads past it. */
    err = jump(view, scan, offset);
    return err == 0 ? walk_to(scan, offset, &batch) : err;
}

/* The end of a range, while it grows batch by batch. */
struct growth {
    int64_t start;
    int64_t max_bytes;
    int64_t below_offset;
    int64_t end_offset;  /* Of the segment. */
    int64_t damage_from; /* Of its bytes, as far as is known. */
    int64_t end;
    int64_t next_offset;
};

/* Takes the batch at the scan's position if it is in range; ERR_NOT_FOUND when nothing more is. */
static int grow(struct growth *growth, struct batch_scan *scan, bool at_any_size)
{
    struct record_batch batch;
    int64_t position;
    int err = batch_scan_next(scan, &batch, &position);

    if (err != 0) return err;
    int64_t last_offset = record_batch_last_offset(&batch);
    /* Damage below the recovery point, where nobody has looked: a reader would go round in a circle. */
    if (last_offset < growth->next_offset || last_offset >= growth->end_offset ||
        position >= growth->damage_from) {
        scan->position = position;
        return ERR_CORRUPT_MESSAGE;
    }
    if (last_offset >= growth->below_offset ||
        (scan->position - growth->start > growth->max_bytes && !at_any_size))
        return ERR_NOT_FOUND;
    growth->end = scan->position;
    growth->next_offset = last_offset + 1;
    return 0;
}

/* Skips to the last place in range that a hint or the index knows. */
static int skip(const struct segment_view *view, struct growth *growth, struct batch_scan *scan)
{
    struct offset_index_entry entry;
    struct record_batch batch;
    int64_t position;
    int64_t limit = growth->start + growth->max_bytes;

    if (segment_hint(view->segment, growth->below_offset, &position) && position > growth->end &&
        position <= limit && position <= view->size) {
        growth->end = scan->position = position;
        growth->next_offset = growth->below_offset;
        return 0;
    }
    if ((limit < view->size ? limit : view->size) - growth->end <= WALK_BYTES) return 0;
    int err = index_find(view, growth->below_offset - 1, limit, &entry);
    if (err != 0 || entry.position <= growth->end) return err == ERR_NEEDS_IO ? 0 : err;
    scan->position = entry.position;
    err = batch_scan_next(scan, &batch, &position);
    if (err == 0 && record_batch_last_offset(&batch) == entry.last_offset) {
        growth->end = position;
        growth->next_offset = batch.base_offset;
    } else if (err == ERR_CORRUPT_MESSAGE) {
        err = 0; /* A wrong index: walk instead. */
    }
    scan->position = growth->end;
    return err;
}

/* Takes all that is left in front of the damage, if any. No batch needs to be looked at, once the end was; unless
 * offsets in the middle are damaged, too: then a reader would go round in a circle. */
static int take_rest(const struct segment_view *view, struct segment_range *range, bool *is_taken)
{
    struct segment_damage *damage = &range->damage;
    int err = 0;

    *is_taken = false;
    if (damage->position == SEGMENT_UNCHECKED) err = segment_end_find(view, damage);
    if (err != 0) return err;
    bool is_whole = damage->position >= view->size;
    int64_t end = is_whole ? view->size : damage->position;
    int64_t next_offset = is_whole ? view->end_offset : damage->offset;
    if (end <= range->position || next_offset <= range->next_offset) return 0;
    range->length = end - range->position;
    range->next_offset = next_offset;
    *is_taken = true;
    return 0;
}

static int find_range(const struct segment_view *view, int fd, int64_t from_offset,
                      int64_t below_offset, size_t max_bytes, bool at_least_one,
                      struct segment_range *range)
{
    struct batch_scan scan;

    batch_scan_init(&scan, view->segment->folder->fs, fd, 0, view->size, view->may_block);
    int err = seek(view, &scan, from_offset);
    *range = (struct segment_range){
        .position = scan.position,
        .next_offset = from_offset,
        .is_at_end = err == ERR_NOT_FOUND,
        .damage = view->damage,
    };
    if (err != 0) return err == ERR_NOT_FOUND ? 0 : err;
    if (below_offset >= view->end_offset && (uint64_t)(view->size - scan.position) <= max_bytes) {
        bool is_taken;
        err = take_rest(view, range, &is_taken);
        if (err != 0 || is_taken) return err;
    }

    struct growth growth = {
        .start = scan.position,
        .max_bytes = max_bytes > INT32_MAX ? INT32_MAX : (int64_t)max_bytes,
        .below_offset = below_offset,
        .end_offset = view->end_offset,
        .damage_from = range->damage.position == SEGMENT_UNCHECKED ? SEGMENT_WHOLE
                                                                   : range->damage.position,
        .end = scan.position,
        .next_offset = from_offset,
    };
    err = grow(&growth, &scan, at_least_one);
    if (err == 0) err = skip(view, &growth, &scan);
    while (err == 0 && scan.reads < HEADER_READS_MAX)
        err = grow(&growth, &scan, false);
    range->length = growth.end - growth.start;
    range->next_offset = growth.next_offset;
    /* What was found is an answer, whatever came behind it; only nothing at all is not. */
    return err == ERR_NOT_FOUND || range->length > 0 ? 0 : err;
}

int segment_find(const struct segment_view *view, int64_t from_offset, int64_t below_offset,
                 size_t max_bytes, bool at_least_one, struct segment_range *range)
{
    int fd;
    int err = segment_pin(view->segment, view->may_block, &fd);

    if (err != 0) return err;
    err = find_range(view, fd, from_offset, below_offset, max_bytes, at_least_one, range);
    segment_unpin(view->segment);
    return err;
}

int segment_range_is_empty(const struct segment_view *view, const struct segment_range *range,
                           bool *is_empty)
{
    struct record_batch batch = { .record_count = 0 };
    struct batch_scan scan;
    int64_t position;
    int fd;

    *is_empty = false;
    if (range->length > SEGMENT_EMPTY_BYTES_MAX) return 0;
    int err = segment_pin(view->segment, view->may_block, &fd);
    if (err != 0) return err;
    batch_scan_init(&scan, view->segment->folder->fs, fd, range->position,
                    range->position + range->length, view->may_block);
    while (err == 0 && batch.record_count == 0)
        err = batch_scan_next(&scan, &batch, &position);
    segment_unpin(view->segment);
    *is_empty = err == ERR_NOT_FOUND;
    return err == ERR_NOT_FOUND ? 0 : err;
}

int segment_find_position(const struct segment_view *view, int64_t offset, int64_t *position)
{
    struct batch_scan scan;
    int fd;

    int err = segment_pin(view->segment, view->may_block, &fd);
    if (err != 0) return err;
    batch_scan_init(&scan, view->segment->folder->fs, fd, 0, view->size, view->may_block);
    err = seek(view, &scan, offset);
    segment_unpin(view->segment);
    if (err == ERR_NOT_FOUND)
        scan.position = view->size;
    else if (err != 0)
        return err;
    *position = scan.position;
    return 0;
}

/* Which records of a batch are looked at. */
struct record_range {
    int64_t from_offset, below_offset;
};

/* The first record of a batch in memory that is not older than `timestamp` and lies in range. */
static int find_record(const struct record_batch *batch, int64_t timestamp,
                       const struct record_range *range, struct segment_record *found)
{
    struct record_walk *walk = NULL;
    struct record record;

    int err = record_walk_open(&walk, batch, INT64_MAX);
    while (err == 0) {
        err = record_walk_next(walk, &record);
        if (err == 0 && record.offset >= range->below_offset) err = ERR_NOT_FOUND;
        if (err == 0 && record.offset >= range->from_offset && record.timestamp >= timestamp) {
            *found = (struct segment_record){ record.offset, record.timestamp,
                                              batch->leader_epoch };
            break;
        }
    }
    record_walk_close(walk);
    return err == ERR_NOT_FOUND ? 0 : err;
}

/* The same for one in the file. */
static int find_record_at(const struct segment_view *view, int fd,
                          const struct record_batch *header, int64_t position, int64_t timestamp,
                          const struct record_range *range, struct segment_record *found)
{
    struct fs *fs = view->segment->folder->fs;
    struct record_batch batch = *header;
    size_t got = 0;

    bool is_append_time = (batch.attributes & BATCH_LOG_APPEND_TIME) != 0;
    /* All records have the one time, but only without holes is it known where the first is. */
    if (is_append_time && batch.record_count == (int64_t)batch.last_offset_delta + 1) {
        *found = (struct segment_record){ batch.base_offset > range->from_offset
                                              ? batch.base_offset
                                              : range->from_offset,
                                          batch.max_timestamp, batch.leader_epoch };
        return 0;
    }
    if (!view->may_block &&
        (batch.size > INLINE_BATCH_MAX || (batch.attributes & BATCH_CODEC_MASK) != 0))
        return ERR_NEEDS_IO;
    uint8_t *data = mem_alloc(batch.size);
    if (data == NULL) return ERR_NO_MEMORY;
    int err = view->may_block ? fs->read(fs, fd, data, batch.size, position, &got)
                              : fs->read_nowait(fs, fd, data, batch.size, position, &got);
    if (err == 0 && got < batch.size) err = ERR_CORRUPT_MESSAGE;
    batch.data = data;
    if (err == 0) err = find_record(&batch, is_append_time ? INT64_MIN : timestamp, range, found);
    if (err == 0 && is_append_time && found->offset >= 0) found->timestamp = batch.max_timestamp;
    mem_free(data);
    return err;
}

static int time_find(const struct segment_view *view, int64_t timestamp, int64_t below_offset,
                     struct time_index_entry *entry)
{
    struct segment *segment = view->segment;
    int err = time_index_find(&segment->times, view->may_block, timestamp, below_offset, entry);

    if (err != ERR_CORRUPT_MESSAGE && err != ERR_NOT_FOUND) return err;
    /* A wrong index costs time, never an answer (DESIGN 4.4). */
    if (!view->may_block) return ERR_NEEDS_IO;
    *entry = (struct time_index_entry){ -1, segment->base_offset };
    return 0;
}

static int find_timestamp(const struct segment_view *view, int fd, int64_t timestamp,
                          const struct record_range *range, struct segment_record *record)
{
    struct segment_record found = { -1, -1, -1 };
    struct time_index_entry entry;
    struct record_batch batch;
    struct batch_scan scan;
    int64_t position;

    /* Nothing up to its offset is new enough. */
    int err = time_find(view, timestamp, INT64_MAX, &entry);
    if (err != 0) return err;
    batch_scan_init(&scan, view->segment->folder->fs, fd, 0, view->size, view->may_block);
    err = seek(view, &scan, entry.offset > range->from_offset ? entry.offset : range->from_offset);
    while (err == 0 && found.offset < 0) {
        err = batch_scan_next(&scan, &batch, &position);
        if (err == 0 && batch.base_offset >= range->below_offset) err = ERR_NOT_FOUND;
        if (err == 0 && batch.max_timestamp >= timestamp)
            err = find_record_at(view, fd, &batch, position, timestamp, range, &found);
    }
    if (err == 0 || err == ERR_NOT_FOUND) {
        *record = found;
        err = 0;
    }
    return err;
}

int segment_find_timestamp(const struct segment_view *view, int64_t timestamp, int64_t from_offset,
                           int64_t below_offset, struct segment_record *record)
{
    struct record_range range = { from_offset, below_offset };
    int fd;
    int err = segment_pin(view->segment, view->may_block, &fd);

    if (err != 0) return err;
    err = find_timestamp(view, fd, timestamp, &range, record);
    segment_unpin(view->segment);
    return err;
}

/* Of a segment in whose middle the log begins: what its time index says is of records that are gone. The
 * times of the first batch may be, too: its records are asked, from the oldest time on. */
static int find_top_from(const struct segment_view *view, int fd, int64_t from_offset,
                         int64_t below_offset, struct segment_top *top)
{
    struct record_range range = { from_offset, below_offset };
    struct segment_top found = { -1, -1 };
    struct record_batch batch;
    struct batch_scan scan;
    int64_t position;

    batch_scan_init(&scan, view->segment->folder->fs, fd, 0, view->size, view->may_block);
    int err = seek(view, &scan, from_offset);
    while (err == 0) {
        struct segment_record record = { -1, 0, -1 };
        err = batch_scan_next(&scan, &batch, &position);
        if (err == 0 && record_batch_last_offset(&batch) >= below_offset) err = ERR_NOT_FOUND;
        if (err == 0 && batch.base_offset >= from_offset &&
            record_batch_newest(&batch) > found.timestamp)
            found = (struct segment_top){ batch.max_timestamp, record_batch_last_offset(&batch) };
        while (err == 0 && batch.base_offset < from_offset &&
               record_batch_newest(&batch) > found.timestamp) {
            record.offset = -1;
            err = find_record_at(view, fd, &batch, position, found.timestamp + 1, &range, &record);
            if (err != 0 || record.offset < 0) break;
            found = (struct segment_top){ record.timestamp, record_batch_last_offset(&batch) };
        }
    }
    if (err == ERR_NOT_FOUND) {
        *top = found;
        err = 0;
    }
    return err;
}

static int find_top(const struct segment_view *view, int fd, int64_t below_offset,
                    struct segment_top *top)
{
    struct time_index_entry time_entry;
    struct record_batch batch;
    struct batch_scan scan;
    int64_t position;

    batch_scan_init(&scan, view->segment->folder->fs, fd, 0, view->size, view->may_block);
    int err = time_find(view, INT64_MAX, below_offset, &time_entry);
    if (err == 0) /* The time index covers everything up to an entry of the offset index. */
        err = jump_or_begin(view, &scan, below_offset - 1);
    if (err != 0) return err;
    struct segment_top found = { time_entry.timestamp, time_entry.offset };
    while (err == 0) {
        err = batch_scan_next(&scan, &batch, &position);
        if (err == 0 && record_batch_last_offset(&batch) >= below_offset) err = ERR_NOT_FOUND;
        if (err == 0 && record_batch_newest(&batch) > found.timestamp)
            found = (struct segment_top){ batch.max_timestamp, record_batch_last_offset(&batch) };
    }
    if (err == ERR_NOT_FOUND) {
        *top = found;
        err = 0;
    }
    return err;
}

int segment_find_top(const struct segment_view *view, int64_t from_offset, int64_t below_offset,
                     struct segment_top *top)
{
    bool is_whole = from_offset <= view->segment->base_offset;
    int fd;

    if (is_whole && below_offset >= view->end_offset) {
        *top = view->top;
        return 0;
    }
    int err = segment_pin(view->segment, view->may_block, &fd);
    if (err != 0) return err;
    err = is_whole ? find_top(view, fd, below_offset, top)
                   : find_top_from(view, fd, from_offset, below_offset, top);
    segment_unpin(view->segment);
    return err;
}
