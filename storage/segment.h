// SPDX-License-Identifier: Apache-2.0
/* One run of a partition's log: a .log file of batches with its two indexes.
 *
 *  (1) The log's writer alone appends, to the last segment. The fields marked "writer" are its own.
 *  (2) `size` and `top` change under the log's lock, together with the log's end; readers take a
 *      copy of them there and never look beyond it.
 *  (3) Whoever uses a segment outside the log's lock holds a reference. The last one closes the file,
 *      also when it was unlinked long ago.
 *  (4) Files are opened by whoever first needs them and may wait. A closed segment keeps at most its
 *      .log open; the active one its indexes too. */

#ifndef STORAGE_SEGMENT_H
#define STORAGE_SEGMENT_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs.h"
#include "offset_index.h"
#include "record_batch.h"
#include "time_index.h"

#define SEGMENT_HINTS        8
#define SEGMENT_TIME_UNKNOWN INT64_MIN

/* The first batch that ends at or above `offset` starts at `position`. */
struct segment_hint {
    int64_t offset; /* -1: none. */
    int64_t position;
};

/* Where the newest record of a segment is. */
struct segment_top {
    int64_t timestamp; /* -1: no batch has one. */
    int64_t offset;    /* Last offset of the batch that holds it. */
};

struct segment {
    struct fs *fs;
    const char *folder; /* Borrowed from the log; used only on its behalf. */
    int64_t base_offset;
    atomic_int references;

    pthread_mutex_t lock;                          /* For these. Inside the log's lock, or alone. */
    int fd;                                        /* -1: not open yet. */
    struct segment_hint appended[SEGMENT_HINTS];   /* Where runs were appended last, */
    struct segment_hint handed_out[SEGMENT_HINTS]; /* and where slices ended last. */
    unsigned next_appended, next_handed_out;

    int64_t size; /* By (2). */
    struct segment_top top;
    bool is_closed;

    struct segment_top newest; /* Writer: `top`, with what is not published yet. */
    int64_t first_timestamp;   /* Writer: the first batch's; SEGMENT_TIME_UNKNOWN. */
    int64_t created_ms;        /* Writer: wall clock. */

    int64_t flushed_size;  /* These four: under the log's flush lock. */
    int64_t reserved_to;   /* Disk space is allocated up to here, */
    int64_t reserve_taken; /* for which this much of the folder's budget is used. */
    bool indexes_are_flushed;

    struct offset_index offsets;
    struct time_index times;

    struct txn_index *aborted; /* Under `lock`; NULL: nothing was aborted here. segment_aborted.h */
    bool aborted_is_rebuilt;   /* Opening: it is made anew, beside the file of that name. */
};

/* The file `<base offset in 20 digits><suffix>` in a folder. 0 or ERR_LIMIT. */
int segment_path(const char *folder, int64_t base_offset, const char *suffix, char path[PATH_MAX]);

/* The base offset in the name of a segment's file, and what comes behind it; -1 if it is none. */
int64_t segment_parse_name(const char *name, const char **suffix);

/* Makes the files of a new, empty segment; what of them is there is emptied. Blocks. */
int segment_create(struct segment **segment, struct fs *fs, const char *folder, int64_t base_offset,
                   int64_t now_ms);

/* Takes over the files of an old one. *indexes_are_good: they may be used; otherwise they are empty
 * and must be rebuilt. Reads no log data. Blocks. */
int segment_open(struct segment **segment, struct fs *fs, const char *folder, int64_t base_offset,
                 int64_t now_ms, bool *indexes_are_good);

/* Empties the indexes, in memory and on disk, before they are rebuilt. Nobody else has the segment yet.
 * Blocks. */
int segment_reset_indexes(struct segment *segment);

struct segment *segment_keep(struct segment *segment);
void segment_release(struct segment *segment); /* NULL is fine. */

/* The .log file, opened if need be; it stays open as long as the segment lives. */
int segment_file(struct segment *segment, bool may_block, int *fd);

/* Makes appending possible: files open, memory for index entries. ERR_NEEDS_IO, ERR_NO_MEMORY, ….
 * Writer. */
int segment_prepare_append(struct segment *segment, bool may_block);

/* The timestamp of the first batch, against which segment.ms counts; -1: it has none. Writer. */
int segment_load_first_timestamp(struct segment *segment, bool may_block);

/* Adds a batch that was just written at `position` to the indexes, by Kafka's rule. A full disk is no
 * error: the index may be sparser than wished. Writer. */
int segment_index_batch(struct segment *segment, const struct record_batch *batch, int64_t position,
                        int32_t index_interval_bytes);

/* The time index tells how far timestamps have come: written when a segment is closed and at every
 * checkpoint, so that opening needs no batch. Writer. */
int segment_finish_time_index(struct segment *segment);

/* Index entries to the page cache, or to the disk. Blocks. */
int segment_write_indexes(struct segment *segment, bool sync);

void segment_close_indexes(struct segment *segment);

/* Cuts the files in front of the batch at `position`, the first that ends at or above `offset`, and
 * makes that last. Size and top remain for the caller to set. Writer. Blocks. */
int segment_truncate(struct segment *segment, int64_t offset, int64_t position);

/* Unlinks the files, the .log last: so an index without its log is never ours. Blocks. */
int segment_remove_files(struct fs *fs, const char *folder, int64_t base_offset,
                         const char *suffix);

/* Renames them `.deleted`, in the same order. Blocks. */
int segment_rename_deleted(struct segment *segment);

/* The segment's end (`size`, and the offset behind it) as hint for readers. Under the log's lock. */
void segment_hint_appended(struct segment *segment, int64_t offset, int64_t position);
void segment_hint_handed_out(struct segment *segment, int64_t offset, int64_t position);
void segment_forget_hints(struct segment *segment);
bool segment_hint(struct segment *segment, int64_t offset, int64_t *position);

#endif
