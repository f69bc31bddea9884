// SPDX-License-Identifier: Apache-2.0
/* One run of a partition's log: a .log file of batches with its two indexes.
 *
 *  (1) The log's writer alone appends, to the last segment. The fields marked "writer" are its own.
 *  (2) `size`, `top` and `damage` change under the log's lock, together with the log's end; readers take a
 *      copy of them there and never look beyond it.
 *  (3) Whoever uses a segment outside the log's lock holds a reference, and for as long as it uses the
 *      .log has that pinned: so it stays readable, also when it was unlinked long ago. Who has it not
 *      pinned may find no file under its name, or another one, once the segment has left the log: then
 *      the log's `cuts` have changed, and what was found is not used. So `cuts` change first, and only
 *      then are files renamed, replaced or removed.
 *  (4) Files are opened by whoever first needs them and may wait, and closed again when others are
 *      needed more (file_cache.h). So the same is true of all that is kept with an open file.
 *  (5) There may be very many segments: what a closed one keeps in memory is this struct. */

#ifndef STORAGE_SEGMENT_H
#define STORAGE_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "offset_index.h"
#include "record_batch.h"
#include "segment_folder.h"
#include "time_index.h"

#define SEGMENT_HINTS        8
#define SEGMENT_TIME_UNKNOWN INT64_MIN

/* The first batch that ends at or above `offset` starts at `position`. All zero it is true, too. */
struct segment_hint {
    int64_t offset;
    int64_t position;
};

/* Where the newest record of a segment is. */
struct segment_top {
    int64_t timestamp; /* -1: no batch has one; SEGMENT_TIME_UNKNOWN: nobody has looked yet. */
    int64_t offset;    /* Last offset of the batch that holds it. */
};

/* The first byte of a segment that is not part of a whole batch. */
struct segment_damage {
    int64_t position; /* Or one of these. */
    int64_t offset;   /* Behind the last batch in front of it. */
};
#define SEGMENT_UNCHECKED (-1)      /* Nobody has looked yet. */
#define SEGMENT_WHOLE     INT64_MAX /* There is none. */

static inline bool segment_damage_is_known(const struct segment_damage *damage)
{
    return damage->position != SEGMENT_UNCHECKED && damage->position != SEGMENT_WHOLE;
}

struct segment {
    struct segment_folder *folder;
    int64_t base_offset;
    struct open_file *file; /* The .log, while it is open. Under the folder's lock. */
    atomic_int references;
    bool indexes_are_flushed; /* Under the log's flush lock. */
    bool is_closed;           /* By (2), as all up to `damage`. */
    bool damage_was_told;     /* A line of the trace has. */

    int64_t size;
    struct segment_top top;
    struct segment_damage damage; /* At its end: segment_end.h. */

    struct segment_top newest; /* Writer: `top`, with what is not published yet. */
    int64_t first_timestamp;   /* Writer: the first batch's; SEGMENT_TIME_UNKNOWN. */
    int64_t created_ms;        /* Writer: wall clock. */

    int64_t flushed_size;  /* These three: under the log's flush lock. */
    int64_t reserved_to;   /* Disk space is allocated up to here, */
    int64_t reserve_taken; /* for which this much of the folder's budget is used. */

    struct offset_index offsets;
    struct time_index times;

    struct txn_index
        *aborted; /* Under the folder's lock; NULL: nothing was aborted here. segment_aborted.h */
    bool aborted_is_rebuilt; /* Opening: a replay makes it anew. */
};

/* A segment that has no files yet, for segment_make_files(); keeps `folder`. NULL: no memory. */
struct segment *segment_new(struct segment_folder *folder, int64_t base_offset, int64_t now_ms);

/* Makes the files of a new, empty segment; what of them is there is emptied, and on an error none is left.
 * Blocks. */
int segment_make_files(struct segment *segment);

/* Both. */
int segment_create(struct segment **segment, struct segment_folder *folder, int64_t base_offset,
                   int64_t now_ms);

/* Takes over the files of an old one. *indexes_are_good: they may be used, as far as their sizes tell;
 * otherwise they are empty and must be rebuilt, and so must be a transaction index that is not there
 * (segment_aborted.h). Their last entries `may_be_torn` where they are going to be
 * truncated. Opens no file. Keeps `folder`. Blocks. */
int segment_open(struct segment **segment, struct segment_folder *folder, int64_t base_offset,
                 int64_t now_ms, bool may_be_torn, bool *indexes_are_good);

/* Could its indexes lack entries, by their sizes alone? Opens no file. */
bool segment_may_lack_entries(const struct segment *segment);

/* Do its indexes have any entry? */
bool segment_has_entries(const struct segment *segment);

/* Do the indexes of a segment that is closed, or was when it was left, reach to its end?
 * ERR_CORRUPT_MESSAGE: no, they must be rebuilt. Reads their last entries, and headers of the batches
 * behind them (counted in *bytes_read) if these do not settle it. Blocks. */
int segment_check_indexes(struct segment *segment, int32_t index_interval_bytes,
                          int64_t *bytes_read);

/* Do they have entries, or lack some, that are not on disk? */
bool segment_indexes_have_changed(struct segment *segment);

/* Empties the indexes, in memory and on disk, before they are rebuilt. Nobody else has the segment yet.
 * Blocks. */
int segment_reset_indexes(struct segment *segment);

struct segment *segment_keep(struct segment *segment);
void segment_release(struct segment *segment); /* NULL is fine. */

/* The .log file, opened if need be; it stays open until segment_unpin(). ERR_NEEDS_IO, …. */
int segment_pin(struct segment *segment, bool may_block, int *fd);
void segment_unpin(struct segment *segment);

/* Gives up what only a segment that is used needs: open files, memory for index entries if none wait.
 * The second leaves the .log open. Writer, not between begin and end. */
void segment_let_go(struct segment *segment);
void segment_close_indexes(struct segment *segment);

/* Makes appending possible until segment_end_append(): files open and pinned, memory for index entries.
 * ERR_NEEDS_IO, ERR_NO_MEMORY, …. Writer. */
int segment_begin_append(struct segment *segment, bool may_block, int *fd);
void segment_end_append(struct segment *segment);

/* The timestamp of the first batch, against which segment.ms counts; -1: it has none. Writer. */
int segment_load_first_timestamp(struct segment *segment, bool may_block);

/* Where its newest record is, from the time index; from all batches if that cannot be read. */
int segment_find_newest(struct segment *segment, int64_t size, bool may_block,
                        struct segment_top *top);

/* Adds a batch that was just written at `position` to the indexes, by Kafka's rule. A full disk is no
 * error: the index may be sparser than wished. Between begin and end. */
int segment_index_batch(struct segment *segment, const struct record_batch *batch, int64_t position,
                        int32_t index_interval_bytes);

/* The time index tells how far timestamps have come: written when a segment is closed and at every
 * checkpoint, so that opening needs no batch. Between begin and end. */
int segment_finish_time_index(struct segment *segment);

/* Index entries to the page cache, or to the disk. Blocks. */
int segment_write_indexes(struct segment *segment, bool sync);

/* Entries of offsets and times to the page cache, and out of memory. What cannot be written, and what waits of
 * aborted transactions, stays for segment_write_indexes(). Writer, not between begin and end. Blocks. */
void segment_spill_indexes(struct segment *segment);

/* The files of a segment, kept open. */
struct segment_held {
    struct open_file *log, *offsets, *times; /* NULL: not. */
};

/* Opens what segment_truncate() changes, which then needs no memory. Blocks. */
int segment_hold(struct segment *segment, struct segment_held *held);
void segment_unhold(struct segment *segment, struct segment_held *held);

/* Cuts the files in front of the batch at `position`, the first that ends at or above `offset`, and
 * makes that last. Size and top remain for the caller to set. Writer. Blocks. */
int segment_truncate(struct segment *segment, int64_t offset, int64_t position);

/* Unlinks the files, the .log last: so an index without its log is never ours. Blocks. */
int segment_remove_files(struct fs *fs, const char *folder, int64_t base_offset,
                         const char *suffix);

/* Renames them `.deleted`, in the same order. Blocks. */
int segment_rename_deleted(struct segment *segment);

/* The segment's end (`size`, and the offset behind it) as hint for readers. Under the log's lock. Hints
 * are known only while the .log is open. */
void segment_hint_appended(struct segment *segment, int64_t offset, int64_t position);
void segment_hint_handed_out(struct segment *segment, int64_t offset, int64_t position);
void segment_forget_hints(struct segment *segment);
bool segment_hint(struct segment *segment, int64_t offset, int64_t *position);

#endif
