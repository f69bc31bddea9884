// SPDX-License-Identifier: Apache-2.0
/* Do a closed segment's indexes reach to its end? What is behind their last entries is looked at only
 * where these tell that something may be missing. */

#include "batch_scan.h"
#include "error.h"
#include "segment.h"

/* So much may be without an entry before an index counts as cut short: Kafkas before 4.0 made one entry
 * for all that they appended at once. */
#define UNINDEXED_MAX (1 << 20)

struct ends {
    struct offset_index_entry
        offset; /* The last of each; if there is none, as for an empty index. */
    struct time_index_entry time;
};

static int find_ends(struct segment *segment, struct ends *ends)
{
    int err = offset_index_find_last(&segment->offsets, true, &ends->offset);

    if (err == 0) err = time_index_find_last(&segment->times, true, &ends->time);
    if (err == 0 && ends->offset.position >= segment->size) err = ERR_CORRUPT_MESSAGE;
    return err;
}

bool segment_may_lack_entries(const struct segment *segment)
{
    return segment->size > 0 && segment->times.file.count == 0;
}

bool segment_has_entries(const struct segment *segment)
{
    return segment->offsets.file.count > 0 || segment->times.file.count > 0;
}

/* Timestamps need not grow, so the last one that is indexed may be old: then the batches at the end must
 * not be newer. */
static int check_end(struct segment *segment, int fd, const struct ends *ends,
                     int32_t index_interval_bytes, int64_t *bytes_read)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t position;
    int64_t from = ends->offset.position;
    int64_t limit = from + index_interval_bytes + UNINDEXED_MAX;

    batch_scan_init(&scan, segment->folder->fs, fd, from, segment->size, true);
    scan.last_size = BATCH_SCAN_CHUNK; /* Only where batches are large is it usual to come here. */
    int err = batch_scan_next(&scan, &batch, &position);
    if (err == 0 && from > 0 && record_batch_last_offset(&batch) != ends->offset.last_offset)
        err = ERR_CORRUPT_MESSAGE;
    bool is_short = err == ERR_CORRUPT_MESSAGE;
    while (err == 0 && !is_short) {
        is_short = position > limit || record_batch_newest(&batch) > ends->time.timestamp;
        if (!is_short) err = batch_scan_next(&scan, &batch, &position);
    }
    *bytes_read += scan.bytes_read;
    if (is_short) return ERR_CORRUPT_MESSAGE;
    /* Damage behind is no matter of the indexes. */
    return err == ERR_NOT_FOUND || err == ERR_CORRUPT_MESSAGE ? 0 : err;
}

int segment_check_indexes(struct segment *segment, int32_t index_interval_bytes,
                          int64_t *bytes_read)
{
    struct ends ends;
    int fd;
    int err = find_ends(segment, &ends);

    if (err != 0) return err == ERR_NOT_FOUND ? ERR_CORRUPT_MESSAGE : err;
    if (ends.time.timestamp >= 0 && ends.time.offset >= ends.offset.last_offset &&
        segment->size - ends.offset.position <= index_interval_bytes)
        return 0;
    err = segment_pin(segment, true, &fd);
    if (err != 0) return err;
    err = check_end(segment, fd, &ends, index_interval_bytes, bytes_read);
    segment_unpin(segment);
    return err;
}
