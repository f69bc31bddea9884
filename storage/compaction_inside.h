// SPDX-License-Identifier: Apache-2.0
/* What the files of compaction share; nobody else includes it. */

#ifndef STORAGE_COMPACTION_INSIDE_H
#define STORAGE_COMPACTION_INSIDE_H

#include "batch_reader.h"
#include "cleaned_transactions.h"
#include "compaction.h"
#include "key_offsets.h"
#include "partition_log_inside.h"

/* A segment as it was when the pass began. */
struct compaction_source {
    struct segment *segment; /* With a reference. */
    int64_t base_offset;
    int64_t end_offset; /* Where the next one begins. */
    int64_t size;
    int64_t index_bytes; /* Of the larger of its indexes. */
};

/* A file that is written from its beginning on. */
struct cleaned_file {
    int fd;
    int64_t size;          /* Written. */
    struct buffer waiting; /* What is still to be written. */
};

/* The new segment, while it is written. */
struct cleaned_segment {
    int64_t base_offset;
    struct cleaned_file log, offsets, times;
    struct txn_index *aborted;
    struct segment_top newest;
    int64_t last_position;  /* Of the batch of the last index entry; 0 if there is none. */
    int64_t last_timestamp; /* Of the last time index entry; -1. */
    bool is_open;
};

struct compaction {
    struct partition_log *log;
    struct fs *fs;
    const char *folder; /* The log's. */
    struct topic_settings settings;
    struct compaction_options options;
    unsigned truncations; /* The log's when the pass began. */

    struct compaction_source *sources;
    size_t count;
    struct producer_last *lasts; /* By id. */
    size_t last_count;
    struct aborted_list aborted;

    int64_t first_dirty;
    int64_t latest;           /* The last offset that the map speaks of. */
    struct key_offsets *keys; /* NULL before the first compaction_next(). */
    struct cleaned_transactions transactions;
    bool has_transactions;

    size_t group, group_count; /* The sources that become one segment. */
    bool is_ready;             /* It is written. */
    struct cleaned_segment cleaned;
    struct batch_reader reader;
    struct compaction_result result;
};

/* Moves the reader to a source, from the batch on that holds `offset`. *fd: to be closed behind it.
 * ERR_CANCELED: it is gone. */
int compaction_read_source(struct compaction *compaction, const struct compaction_source *source,
                           int64_t offset, int *fd);

/* ERR_CANCELED if the owner, or a truncation of the log, wants no more of the pass. */
int compaction_check(struct compaction *compaction);

/* Does the log go on as it was? Otherwise a disk failed, or the content is not as it must be. */
bool compaction_is_harmless(int err);

/* Fills the map from the dirty part, and with it `latest`. */
int compaction_map_keys(struct compaction *compaction);

/* Writes the current group's segment, durable, under the suffix `.cleaned`. */
int compaction_write_group(struct compaction *compaction);

/* Unlinks what the group that was swapped in has replaced: it takes its time, so the writer does not do it.
 * Readers have their files open. */
int compaction_unlink_old(struct compaction *compaction);

#define CLEANED_SUFFIX ".cleaned"
#define SWAP_SUFFIX    ".swap"

#endif
