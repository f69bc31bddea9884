// SPDX-License-Identifier: Apache-2.0
/* Bringing the segments of a log in order when it is opened (DESIGN 4.4).
 *
 *  (1) Below the recovery point everything is on disk and right: it is not read. An index that is missing
 *      or does not reach to its segment's end is rebuilt from batch headers.
 *  (2) From there on each batch is checked: whole, its CRC, its offsets. The log ends in front of the
 *      first that is not right; whatever is behind goes, also later segments. A power cut may also take
 *      a segment's end at the very end of a batch: then the next one does not begin where it ends.
 *  (3) What was checked and kept, and what was cut, is on disk before the log is used: a second crash
 *      cannot bring back what is gone. */

#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "batch_scan.h"
#include "error.h"
#include "partition_log_inside.h"
#include "trace.h"

#define CRC_BUFFER_BYTES (256 * 1024)
#define SECTOR_BYTES     512

struct recovering {
    struct partition_log *log;
    struct partition_log_recovery *recovery;
    const struct partition_log_open_options *options;
    bool writes_again;
    uint8_t *buffer;        /* For CRCs. */
    int64_t next_offset;    /* No batch may begin below it. */
    int64_t cleaned_offset; /* Below it a compaction may have left holes. */
};

/* A scan of one segment. */
struct segment_scan {
    struct segment *segment;
    int64_t check_from; /* Batches that end at or above it are checked. */
    bool makes_indexes; /* All entries anew, not only those from there on. */
    int64_t end;        /* Where the good batches end, */
    bool is_bad;        /* and whether something follows. */
};

static bool is_in_order(const struct recovering *recovering, const struct segment *segment,
                        const struct record_batch *batch)
{
    bool (*is_right)(const struct record_batch *) = recovering->options->batch_is_right;

    /* Offset and epoch lie in front of the CRC. */
    if (recovering->log->is_strict &&
        (batch->base_offset != recovering->next_offset || (is_right != NULL && !is_right(batch))))
        return false;
    return batch->base_offset >= recovering->next_offset &&
           batch->base_offset >= segment->base_offset &&
           record_batch_last_offset(batch) - segment->base_offset <= INT32_MAX;
}

/* Goes through the batches from `position` on and indexes them. */
static int scan_batches(struct recovering *recovering, struct segment_scan *scan, int64_t position)
{
    struct partition_log *log = recovering->log;
    struct segment *segment = scan->segment;
    struct batch_scan batches;
    struct record_batch batch;
    int fd;

    scan->end = position;
    int err = segment_begin_append(segment, true, &fd);
    if (err != 0) return err;
    batch_scan_init(&batches, log->fs, fd, position, segment->size, true);
    while (err == 0) {
        err = batch_scan_next(&batches, &batch, &position);
        if (err == 0 && !is_in_order(recovering, segment, &batch)) err = ERR_CORRUPT_MESSAGE;
        if (err == 0 && record_batch_last_offset(&batch) >= scan->check_from)
            err = batch_scan_check_crc(&batches, &batch, position, recovering->buffer,
                                       CRC_BUFFER_BYTES);
        if (err == 0)
            err = segment_index_batch(segment, &batch, position,
                                      log->settings.index_interval_bytes);
        if (err == 0) {
            recovering->next_offset = record_batch_last_offset(&batch) + 1;
            scan->end = position + (int64_t)batch.size;
        }
    }
    segment_end_append(segment);
    recovering->recovery->bytes_read += batches.bytes_read;
    scan->is_bad = err == ERR_CORRUPT_MESSAGE;
    return err == ERR_NOT_FOUND || err == ERR_CORRUPT_MESSAGE ? 0 : err;
}

static int begin_indexes_again(struct segment_scan *scan)
{
    scan->makes_indexes = true;
    return segment_reset_indexes(scan->segment);
}

/* Where to begin a scan so that it passes the recovery point: at the last indexed batch below it. The
 * indexes are cut there. 0 and empty indexes if they cannot help. */
static int find_scan_start(struct recovering *recovering, struct segment_scan *scan,
                           bool indexes_are_good, int64_t *start)
{
    const struct partition_log *log = recovering->log;
    struct segment *segment = scan->segment;
    int64_t recovery_point = log->recovery_point;
    struct offset_index_entry entry = { -1, 0 };
    struct time_index_entry time_entry;
    struct record_batch batch;
    struct batch_scan batches;
    int64_t position;
    int fd;

    *start = 0;
    if (!indexes_are_good || recovery_point <= segment->base_offset)
        return begin_indexes_again(scan);
    int err = segment_pin(segment, true, &fd);
    if (err != 0) return err;
    err = offset_index_find(&segment->offsets, true, recovery_point - 1, segment->size - 1, &entry);
    if (err == 0 && entry.position > 0) {
        batch_scan_init(&batches, log->fs, fd, entry.position, segment->size, true);
        err = batch_scan_next(&batches, &batch, &position);
        if (err == 0 && record_batch_last_offset(&batch) != entry.last_offset)
            err = ERR_CORRUPT_MESSAGE;
        if (err == 0)
            err = time_index_find(&segment->times, true, INT64_MAX, recovery_point, &time_entry);
        /* An entry of the one index is never without what the other had to say then. */
        if (err == 0 && time_entry.timestamp < record_batch_newest(&batch))
            err = ERR_CORRUPT_MESSAGE;
    }
    segment_unpin(segment);
    if (err == 0) err = offset_index_truncate(&segment->offsets, recovery_point);
    if (err == 0) err = time_index_truncate(&segment->times, recovery_point);
    if (err == ERR_CORRUPT_MESSAGE || err == ERR_NOT_FOUND) {
        recovering->recovery->indexes_rebuilt++;
        return begin_indexes_again(scan);
    }
    if (err == 0) {
        *start = entry.position;
        segment->newest.timestamp = SEGMENT_TIME_UNKNOWN; /* As far as the index is kept. */
        if (entry.position > 0 && batch.base_offset > recovering->next_offset)
            recovering->next_offset = batch.base_offset;
    }
    return err;
}

/* Leaves the indexes complete, in the page cache, and their files closed. */
static int complete_indexes(struct segment *segment)
{
    int err = log_finish_segment(segment);

    /* On a full disk they stay in memory, for the flush that finds room: the log serves (DESIGN 4.7). */
    if (err == ERR_NO_SPACE) err = 0;
    segment_let_go(segment);
    segment->top = segment->newest;
    return err;
}

/* Are the indexes of a segment below the recovery point what they must be? They were on disk before that
 * moved, so after a clean stop their sizes are proof enough; otherwise their ends are looked at. If not,
 * they are emptied. */
static int check_indexes(struct recovering *recovering, struct segment *segment, bool is_clean,
                         bool *are_good)
{
    if (!*are_good) return 0;
    if (segment->size == 0) /* What was cut from it may have left entries that no power cut took. */
        return segment_has_entries(segment) ? segment_reset_indexes(segment) : 0;
    if (is_clean && !segment_may_lack_entries(segment)) return 0;
    int err = segment_check_indexes(segment, recovering->log->settings.index_interval_bytes,
                                    &recovering->recovery->bytes_read);
    segment_let_go(segment);
    if (err != ERR_CORRUPT_MESSAGE) return err;
    *are_good = false;
    return segment_reset_indexes(segment);
}

static int remaking_path(const struct partition_log *log, const struct segment *segment,
                         char path[PATH_MAX])
{
    return segment_path(log->folder, segment->base_offset, ".index.tmp", path);
}

/* What lies within one sector of the disk is there as a whole or not at all: the folders of thousands of small logs
 * need no sync. */
static bool indexes_may_tear(const struct partition_log *log, const struct segment *segment)
{
    int64_t interval = log->settings.index_interval_bytes;

    if (interval < RECORD_BATCH_HEADER_SIZE) interval = RECORD_BATCH_HEADER_SIZE;
    return segment->size / interval >= SECTOR_BYTES / TIME_INDEX_ENTRY_SIZE - 1;
}

/* Before anything is written to indexes that are made again below the recovery point: that they may be torn in
 * any place, of which only the ends are looked at, is known until they are on disk. */
static int note_remaking(struct partition_log *log, const struct segment *segment)
{
    char path[PATH_MAX];

    if (!indexes_may_tear(log, segment)) return 0;
    int err = remaking_path(log, segment, path);
    if (err == 0) err = fs_write_file(log->fs, path, "", 0, false);
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    return err == ERR_NO_SPACE ? 0 : err; /* There is none for the indexes either. */
}

static int forget_remaking(struct partition_log *log, const struct segment *segment)
{
    char path[PATH_MAX];

    int err = remaking_path(log, segment, path);
    if (err == 0) err = log->fs->remove(log->fs, path);
    return err == ERR_NOT_FOUND ? 0 : err;
}

/* Below the recovery point they are believed from now on, so a power cut may not take a part of them. */
static int sync_rebuilt(struct partition_log *log, struct segment *segment)
{
    int err = segment_write_indexes(segment, true);

    segment_let_go(segment);
    if (err == ERR_NO_SPACE) { /* As in complete_indexes(). */
        log->indexes_are_behind = true;
        return 0;
    }
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    segment->indexes_are_flushed = err == 0;
    return err == 0 ? forget_remaking(log, segment) : err;
}

/* By (1): only what is missing beside the log is made again. */
static int trust_segment(struct recovering *recovering, struct segment *segment, bool is_clean,
                         bool indexes_are_good)
{
    const struct partition_log *log = recovering->log;
    struct segment_scan scan = { .segment = segment, .check_from = INT64_MAX };

    if (segment->size == 0 && !indexes_are_good && segment != log_active(log)) {
        trace(TRACE_ERROR, "storage", "%s/%020" PRId64 ".log is empty, but was not", log->folder,
              segment->base_offset);
        return ERR_CORRUPT_MESSAGE;
    }
    int err = check_indexes(recovering, segment, is_clean, &indexes_are_good);
    if (err != 0) return err;
    segment->flushed_size = segment->size;
    segment->indexes_are_flushed = indexes_are_good;
    if (indexes_are_good) return 0;
    recovering->recovery->indexes_rebuilt++;
    int64_t next_offset = recovering->next_offset;
    err = note_remaking(recovering->log, segment);
    if (err == 0) err = scan_batches(recovering, &scan, 0);
    recovering->next_offset = next_offset;
    if (err == 0 && scan.is_bad)
        trace(TRACE_WARN, "storage", "%s/%020" PRId64 ".log is damaged at position %" PRId64,
              log->folder, segment->base_offset, scan.end);
    if (err == 0) err = complete_indexes(segment);
    return err != 0 ? err : sync_rebuilt(recovering->log, segment);
}

static int sync_segment(struct partition_log *log, struct segment *segment)
{
    int fd;
    int err = segment_pin(segment, true, &fd);

    if (err != 0) return err;
    err = log->fs->sync(log->fs, fd);
    segment_unpin(segment);
    if (err == 0) segment->flushed_size = segment->size;
    return err;
}

/* A sync that failed in an earlier life may have left bytes in the page cache that the disk never got, and
 * that no later sync writes. Written again they are, so that (3) holds under the strict rule. */
static int write_again(struct recovering *recovering, struct segment *segment, int64_t position,
                       int64_t end)
{
    struct fs *fs = recovering->log->fs;
    int fd;
    int err = segment_pin(segment, true, &fd);

    if (err != 0) return err;
    while (err == 0 && position < end) {
        size_t wanted = end - position < CRC_BUFFER_BYTES ? (size_t)(end - position)
                                                          : CRC_BUFFER_BYTES;
        size_t got = 0;
        err = fs->read(fs, fd, recovering->buffer, wanted, position, &got);
        if (err == 0 && got == 0) err = ERR_IO;
        struct iovec part = { recovering->buffer, got };
        if (err == 0) err = fs->write(fs, fd, &part, 1, position);
        position += (int64_t)got;
    }
    segment_unpin(segment);
    return err;
}

/* May the log be cut at `position`, in segment `index`? */
static int check_cut(const struct recovering *recovering, size_t index, int64_t position)
{
    const struct partition_log *log = recovering->log;
    struct partition_log_recovery *recovery = recovering->recovery;
    int64_t offset = recovering->next_offset;
    bool is_refused = offset < recovering->options->cut_only_from;
    int err = 0;

    if (!recovering->log->is_strict) return 0;
    for (size_t i = index + 1; i < log->segment_count; i++)
        is_refused = is_refused || log->segments[i]->size > 0;
    if (!is_refused && recovering->options->on_disk_before != NULL)
        err = log_was_on_disk(log->segments[index], position, offset, recovering->options,
                              recovering->buffer, CRC_BUFFER_BYTES, &is_refused);
    if (err != 0 || !is_refused) return err;
    recovery->refused_segment = log->segments[index]->base_offset;
    recovery->refused_position = position;
    recovery->refused_offset = offset;
    return ERR_CORRUPT_MESSAGE;
}

/* By (2): the log ends in segment `index`, at `scan->end`. */
static int cut(struct recovering *recovering, size_t index, const struct segment_scan *scan)
{
    struct partition_log *log = recovering->log;
    struct segment *segment = log->segments[index];
    int64_t cut_bytes = segment->size - scan->end;
    size_t removed = log->segment_count - index - 1;
    int fd;

    int err = check_cut(recovering, index, scan->end);
    if (err == 0) err = segment_pin(segment, true, &fd);
    if (err != 0) return err;
    err = log->fs->truncate(log->fs, fd, scan->end);
    segment_unpin(segment);
    if (err != 0) return err;
    segment->size = segment->reserved_to = scan->end;
    while (err == 0 && log->segment_count > index + 1) {
        struct segment *last = log->segments[log->segment_count - 1];
        cut_bytes += last->size;
        err = segment_remove_files(log->fs, log->folder, last->base_offset, "");
        segment_release(last);
        log->segment_count--;
    }
    recovering->recovery->cut_bytes += cut_bytes;
    recovering->recovery->cut_at_offset = recovering->next_offset;
    trace(TRACE_WARN, "storage",
          "%s/%020" PRId64 ".log: cut at offset %" PRId64 ", position %" PRId64 ": %" PRId64
          " bytes behind it are not whole or not right, %zu segments removed",
          log->folder, segment->base_offset, recovering->next_offset, scan->end, cut_bytes,
          removed);
    if (err == 0) err = sync_segment(log, segment);
    if (err == 0) err = log->fs->sync_folder(log->fs, log->folder);
    return err;
}

/* Is something missing between this segment, whose end was just found, and the next? (If offsets make
 * too long a jump for one segment, the next one begins behind it. Kafka's compaction takes batches from
 * the end of a segment, too.) */
static bool ends_early(const struct recovering *recovering, size_t index)
{
    const struct partition_log *log = recovering->log;

    if (index + 1 == log->segment_count) return false;
    int64_t gap = log->segments[index + 1]->base_offset - recovering->next_offset;
    return gap > 0 && gap <= INT32_MAX &&
           log->segments[index + 1]->base_offset > recovering->cleaned_offset;
}

/* By (3). Of many logs that a kill left it is much less to sync them all at once, before they are opened. */
static bool must_sync_records(const struct recovering *recovering)
{
    struct partition_log *log = recovering->log;

    return recovering->writes_again || (recovering->next_offset > log->recovery_point &&
                                        !data_dir_holds_nothing_unsynced(log->dir));
}

/* What the recovery point stands for, and was changed. If there is data above it the next
 * checkpoint is soon enough for the end of the indexes; otherwise there may be none before a clean stop. */
static bool must_sync_indexes(const struct recovering *recovering, const struct segment_scan *scan)
{
    int64_t recovery_point = recovering->log->recovery_point;

    return scan->segment->base_offset < recovery_point &&
           (scan->makes_indexes || recovering->next_offset <= recovery_point) &&
           segment_indexes_have_changed(scan->segment);
}

/* An empty segment that begins inside the one before it is what a power cut left of a log that was to begin
 * anew there. It would hide what lies behind its base offset. */
static int drop_misplaced(struct partition_log *log, size_t index, bool *indexes_are_lost)
{
    struct segment *segment = log->segments[index];
    size_t behind = log->segment_count - index - 1;

    int err = segment_remove_files(log->fs, log->folder, segment->base_offset, "");
    memmove(&log->segments[index], &log->segments[index + 1], behind * sizeof *log->segments);
    memmove(&indexes_are_lost[index], &indexes_are_lost[index + 1],
            behind * sizeof *indexes_are_lost);
    log->segment_count--;
    segment_release(segment);
    return err != 0 ? err : log->fs->sync_folder(log->fs, log->folder);
}

/* All such behind `index`, whose end was just found. */
static int drop_misplaced_behind(struct recovering *recovering, size_t index,
                                 bool *indexes_are_lost)
{
    struct partition_log *log = recovering->log;
    int err = 0;

    while (err == 0 && index + 1 < log->segment_count && log->segments[index + 1]->size == 0 &&
           log->segments[index + 1]->base_offset < recovering->next_offset)
        err = drop_misplaced(log, index + 1, indexes_are_lost);
    return err;
}

/* By (2) and (3). */
static int recover_segment(struct recovering *recovering, size_t index, bool *indexes_are_lost)
{
    struct partition_log *log = recovering->log;
    struct segment *segment = log->segments[index];
    struct segment_scan scan = { .segment = segment, .check_from = log->recovery_point };
    int64_t start = 0;

    /* A segment that begins below the end of the one before is not its continuation. */
    bool is_misplaced = segment->base_offset < recovering->next_offset;
    if (!is_misplaced) recovering->next_offset = segment->base_offset;
    int err = find_scan_start(recovering, &scan, !indexes_are_lost[index], &start);
    if (err == 0 && recovering->buffer == NULL) {
        recovering->buffer = mem_alloc(CRC_BUFFER_BYTES);
        err = recovering->buffer == NULL ? ERR_NO_MEMORY : 0;
    }
    bool is_noted = scan.makes_indexes && segment->base_offset < log->recovery_point;
    if (err == 0 && is_noted) err = note_remaking(log, segment);
    if (err == 0) err = scan_batches(recovering, &scan, start);
    if (err == 0) err = complete_indexes(segment);
    if (err == 0) err = drop_misplaced_behind(recovering, index, indexes_are_lost);
    segment->indexes_are_flushed = false;
    if (err == 0 && must_sync_indexes(recovering, &scan))
        err = sync_rebuilt(log, segment);
    else if (err == 0 && is_noted)
        err = forget_remaking(log, segment);
    recovering->recovery->was_recovered |= segment->size > 0;
    if (err == 0 && recovering->writes_again)
        err = write_again(recovering, segment, start, scan.end);
    if (err == 0 && (scan.is_bad || ends_early(recovering, index))) {
        err = cut(recovering, index, &scan);
        if (err == 0 && is_misplaced && scan.end == 0)
            err = drop_misplaced(log, index, indexes_are_lost);
    } else if (err == 0 && must_sync_records(recovering)) {
        err = sync_segment(log, segment);
    } else {
        segment->flushed_size = segment->size;
    }
    return err;
}

/* After a clean stop the recovery point is the end. If the last segment lacks a part of that, or all of it, it
 * is the first append that finds out (log_check_tail()). The strict rule looks at once. */
static bool is_in_order_as_it_is(const struct recovering *recovering)
{
    const struct partition_log *log = recovering->log;
    const struct segment *active = log_active(log);

    return data_dir_was_clean(log->dir) && !recovering->log->is_strict &&
           log->recovery_point >= active->base_offset &&
           (log->recovery_point > active->base_offset || active->size == 0);
}

/* Below the start nothing is missed: neither what a crash while the log began anew left there, in any state,
 * nor the indexes of a segment that retention was about to remove. */
static void leave_segment(struct segment *segment, bool *indexes_are_lost)
{
    segment->flushed_size = segment->size;
    segment->indexes_are_flushed = true;
    *indexes_are_lost = false;
}

static bool has_data(const struct partition_log *log)
{
    for (size_t i = 0; i < log->segment_count; i++)
        if (log->segments[i]->size > 0) return true;
    return false;
}

static int bring_in_order(struct recovering *recovering, bool *indexes_are_lost)
{
    struct partition_log *log = recovering->log;
    bool is_clean = is_in_order_as_it_is(recovering);
    int err = 0;

    recovering->next_offset = log->segments[0]->base_offset;
    for (size_t i = 0; i < log->segment_count && err == 0; i++) {
        bool is_last = i + 1 == log->segment_count;
        int64_t end = is_last ? INT64_MAX : log->segments[i + 1]->base_offset;
        if (end <= log->start_offset && end <= log->recovery_point) {
            leave_segment(log->segments[i], &indexes_are_lost[i]);
            recovering->next_offset = end;
        } else if (is_clean || end <= log->recovery_point) {
            err = trust_segment(recovering, log->segments[i], is_clean, !indexes_are_lost[i]);
            recovering->next_offset = is_last ? log->recovery_point : end;
        } else {
            err = recover_segment(recovering, i, indexes_are_lost);
        }
    }
    log_active(log)->indexes_are_flushed = false; /* They change until it is closed. */
    log->end_offset = log->data_end = log->flushed_offset = recovering->next_offset;
    log->tail_is_unchecked = is_clean && log->end_offset > log_active(log)->base_offset;
    /* What lies above the last checkpoint is on disk now, but perhaps not the names that lead to it: the
     * first flush sees to that. A log without data may never have been flushed. */
    bool is_above = !is_clean && log->end_offset > log->recovery_point;
    log->is_new = is_above || log->recovery_point == 0 || !has_data(log);
    if (is_above) log->flushed_offset = log->recovery_point;
    /* Begun and not written to: its name may not be on disk. */
    if (!is_clean && log_active(log)->size == 0) log->folder_is_dirty = true;
    return err;
}

/* Nobody else has them yet; whoever needs a file opens it again. */
static void close_files(struct partition_log *log)
{
    log->size_bytes = 0;
    for (size_t i = 0; i < log->segment_count; i++) {
        struct segment *segment = log->segments[i];
        segment->is_closed = i + 1 < log->segment_count;
        log->size_bytes += segment->size;
        segment_let_go(segment);
    }
}

bool log_indexes_may_be_torn(const struct partition_log *log, int64_t base_offset,
                             int64_t next_base)
{
    return !data_dir_was_clean(log->dir) && base_offset < log->recovery_point &&
           log->recovery_point < next_base;
}

int log_open_segments(struct partition_log *log, const int64_t *bases, size_t count,
                      const struct partition_log_open_options *options,
                      struct partition_log_recovery *recovery, bool *indexes_are_lost)
{
    struct recovering recovering = {
        .log = log,
        .recovery = recovery,
        .options = options,
        .writes_again = (options->cut_only_from >= 0 && !data_dir_was_clean(log->dir)) ||
                        data_dir_has_failed(log->dir),
    };
    data_dir_checkpoint(log->dir, CHECKPOINT_CLEANED, log->topic, log->partition,
                        &recovering.cleaned_offset);
    int64_t now_ms = clock_wall_ms(log->clock);
    int err = 0;

    for (size_t i = 0; i < count && err == 0; i++) {
        struct segment *segment = NULL;
        bool are_good = false;
        err = log_reserve_segment(log);
        bool may_be_torn = log_indexes_may_be_torn(log, bases[i],
                                                   i + 1 < count ? bases[i + 1] : INT64_MAX);
        if (err == 0)
            err = segment_open(&segment, log->shared, bases[i], now_ms, may_be_torn, &are_good);
        if (err == 0) log->segments[log->segment_count++] = segment;
        if (err == 0 && are_good && indexes_are_lost[i]) err = segment_reset_indexes(segment);
        indexes_are_lost[i] = indexes_are_lost[i] || !are_good;
    }
    if (err == 0) err = bring_in_order(&recovering, indexes_are_lost);
    mem_free(recovering.buffer);
    close_files(log);
    return err;
}
