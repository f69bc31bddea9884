// SPDX-License-Identifier: Apache-2.0
/* Finding batches and records in a segment. Any thread that holds a reference to it.
 *
 * ERR_NEEDS_IO is the answer where a search would wait and may not; ERR_CORRUPT_MESSAGE where the file
 * does not hold what it must. */

#ifndef STORAGE_SEGMENT_FIND_H
#define STORAGE_SEGMENT_FIND_H

#include "segment.h"

/* What the log's lock said when the search began. */
struct segment_view {
    struct segment *segment;
    int64_t size;
    int64_t end_offset; /* Behind the last batch, or where the next segment begins. */
    struct segment_top top;
    struct segment_damage damage;
    bool may_block;
};

struct segment_range {
    int64_t position;
    int64_t length;      /* 0: no batch is in range. */
    int64_t next_offset; /* Behind the last batch. */
    bool is_at_end; /* Length 0 because no batch of this segment ends at or above the offset. */
    struct segment_damage damage; /* As in the view, or as it was found now. */
};

/* The whole batches from the one that ends at or above `from_offset` on, as far as they end below
 * `below_offset` and are no more than `max_bytes` (the first may be larger if `at_least_one`). May end
 * earlier where looking further would cost too much, and does where damage begins. With ERR_CORRUPT_MESSAGE the
 * range's position tells where that is, and its `damage` counts, too. */
int segment_find(const struct segment_view *view, int64_t from_offset, int64_t below_offset,
                 size_t max_bytes, bool at_least_one, struct segment_range *range);

/* Is there nothing in the range but a few batches that compaction has emptied? It looks at so many bytes of
 * headers at most. */
#define SEGMENT_EMPTY_BYTES_MAX 4096
int segment_range_is_empty(const struct segment_view *view, const struct segment_range *range,
                           bool *is_empty);

/* The position of the first batch that ends at or above `offset`; view->size if there is none. */
int segment_find_position(const struct segment_view *view, int64_t offset, int64_t *position);

struct segment_record {
    int64_t offset; /* -1: none such. */
    int64_t timestamp;
    int32_t leader_epoch;
};

/* The first record at or after `timestamp` among those from `from_offset` on and below `below_offset`. */
int segment_find_timestamp(const struct segment_view *view, int64_t timestamp, int64_t from_offset,
                           int64_t below_offset, struct segment_record *record);

/* Where the largest timestamp from `from_offset` on and below `below_offset` is: top of the whole or of
 * a part of it. */
int segment_find_top(const struct segment_view *view, int64_t from_offset, int64_t below_offset,
                     struct segment_top *top);

#endif
