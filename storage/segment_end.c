// SPDX-License-Identifier: Apache-2.0

#include "segment_end.h"

#include "alloc.h"
#include "batch_scan.h"
#include "error.h"

/* So many reads of headers are made on a loop; usual are an index interval and a batch. */
#define INLINE_READS_MAX 32

/* A CRC is made of so many bytes at a time, and of no more on a loop (DESIGN 2.2). */
#define CRC_BYTES (64 * 1024)

/* Sets the scan to the last batch that the index has at or in front of `limit`, or to the segment's begin.
 * ERR_CORRUPT_MESSAGE: there is no such batch at the scan's position. */
static int start_at(const struct segment_view *view, struct batch_scan *scan, int64_t limit)
{
    struct segment *segment = view->segment;
    struct offset_index_entry entry = { -1, 0 };
    struct record_batch batch;
    int64_t position;

    scan->position = 0;
    int err = offset_index_find(&segment->offsets, view->may_block, INT64_MAX, limit, &entry);
    if (err == ERR_CORRUPT_MESSAGE || err == ERR_NOT_FOUND) return 0;
    if (err != 0 || entry.position <= 0) return err;
    scan->position = entry.position;
    err = batch_scan_next(scan, &batch, &position);
    scan->position = entry.position;
    /* Kafkas before 4.0 made one entry for several batches: it has the last of their offsets. */
    if (err == 0 && (batch.base_offset < segment->base_offset ||
                     record_batch_last_offset(&batch) > entry.last_offset))
        err = ERR_CORRUPT_MESSAGE;
    return err;
}

/* The same near the end, where an index and the batches agree. */
static int find_start(const struct segment_view *view, struct batch_scan *scan)
{
    int64_t limit = view->size - 1;
    int64_t back = BATCH_SCAN_CHUNK;
    int err = start_at(view, scan, limit);

    while (err == ERR_CORRUPT_MESSAGE) {
        if (!view->may_block) return ERR_NEEDS_IO;
        limit = scan->position > back ? scan->position - back : 0;
        back *= 2;
        err = start_at(view, scan, limit);
    }
    return err;
}

/* What a walk came to. */
struct end_walk {
    struct segment_damage end; /* Of the last whole batch. */
    struct record_batch last;  /* That batch; its size is 0 if there is none. */
    int64_t last_position;
};

/* Goes on from there as far as there are whole batches with offsets that belong here. */
static int walk_on(const struct segment_view *view, struct batch_scan *scan, struct end_walk *walk)
{
    struct record_batch batch;
    int64_t position;
    int err = 0;

    *walk = (struct end_walk){ .end = { scan->position, view->segment->base_offset } };
    while (err == 0) {
        if (!view->may_block && scan->reads > INLINE_READS_MAX) return ERR_NEEDS_IO;
        err = batch_scan_next(scan, &batch, &position);
        if (err == 0 && (batch.base_offset < walk->end.offset ||
                         record_batch_last_offset(&batch) >= view->end_offset))
            err = ERR_CORRUPT_MESSAGE;
        if (err == 0)
            *walk = (struct end_walk){
                .end = { scan->position, record_batch_last_offset(&batch) + 1 },
                .last = batch,
                .last_position = position,
            };
    }
    return err == ERR_NOT_FOUND || err == ERR_CORRUPT_MESSAGE ? 0 : err;
}

/* A file that was torn may end within the last batch, or be zeros from there on. */
static int check_last(const struct segment_view *view, struct batch_scan *scan,
                      struct end_walk *walk)
{
    const struct record_batch *last = &walk->last;
    size_t size = last->size < CRC_BYTES ? last->size : CRC_BYTES;

    if (size == 0) return 0;
    if (!view->may_block && last->size > CRC_BYTES) return ERR_NEEDS_IO;
    uint8_t *buffer = mem_alloc(size);
    if (buffer == NULL) return ERR_NO_MEMORY;
    int err = batch_scan_check_crc(scan, last, walk->last_position, buffer, size);
    mem_free(buffer);
    if (err != ERR_CORRUPT_MESSAGE) return err;
    walk->end = (struct segment_damage){ walk->last_position, last->base_offset };
    return 0;
}

/* The end of the last whole batch, and the offset behind it. */
static int find_end(const struct segment_view *view, bool checks_last, struct segment_damage *end)
{
    struct end_walk walk = { .end = { 0, view->segment->base_offset } };
    struct batch_scan scan;
    int fd;

    int err = segment_pin(view->segment, view->may_block, &fd);
    if (err != 0) return err;
    batch_scan_init(&scan, view->segment->folder->fs, fd, 0, view->size, view->may_block);
    if (view->size > 0) err = find_start(view, &scan);
    if (err == 0) err = walk_on(view, &scan, &walk);
    if (err == 0 && checks_last) err = check_last(view, &scan, &walk);
    segment_unpin(view->segment);
    if (err == 0) *end = walk.end;
    return err;
}

int segment_end_find(const struct segment_view *view, struct segment_damage *damage)
{
    struct segment_damage end;
    int err = find_end(view, true, &end);

    if (err != 0) return err;
    if (end.position == view->size) end.position = SEGMENT_WHOLE;
    *damage = end;
    return 0;
}

int segment_end_offset(struct segment *segment, int64_t position, int64_t *end_offset)
{
    struct segment_view view = {
        .segment = segment, .size = position, .end_offset = INT64_MAX, .may_block = true
    };
    struct segment_damage end;
    int err = find_end(&view, false, &end);

    if (err == 0 && end.position != position) err = ERR_CORRUPT_MESSAGE;
    if (err == 0) *end_offset = end.offset;
    return err;
}
