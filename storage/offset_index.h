// SPDX-License-Identifier: Apache-2.0
/* A segment's offset index: where in the .log some of its batches start. Kafka's bytes.
 *
 *    at  size  meaning
 *     0    4   last offset of a batch, counted from the segment's base offset
 *     4    4   position of that batch in the .log file
 *
 * Entries ascend in both. Threads as in index_file.h. */

#ifndef STORAGE_OFFSET_INDEX_H
#define STORAGE_OFFSET_INDEX_H

#include "index_file.h"

#define OFFSET_INDEX_ENTRY_SIZE 8

struct offset_index {
    struct index_file file;
};

struct offset_index_entry {
    int64_t last_offset; /* Of the batch at `position`; -1 if no entry was found. */
    int64_t position;    /* 0 if no entry was found: the segment's start. */
};

/* An entry as it lies in the file of the segment that begins at `base_offset`. */
struct offset_index_entry offset_index_read_entry(const uint8_t bytes[OFFSET_INDEX_ENTRY_SIZE],
                                                  int64_t base_offset);

void offset_index_write_entry(uint8_t bytes[OFFSET_INDEX_ENTRY_SIZE], int64_t base_offset,
                              struct offset_index_entry entry);

void offset_index_init(struct offset_index *index, struct segment_folder *folder,
                       int64_t base_offset);
void offset_index_close(struct offset_index *index);

/* Takes over a file, unread. Zeros at the end, which Kafka leaves when it crashes, do not count, nor does a
 * part of an entry there if it `may_be_torn`: then it must be truncated next. ERR_CORRUPT_MESSAGE if it
 * cannot be right: it must then be rebuilt. Blocks. */
int offset_index_load(struct offset_index *index, bool may_be_torn);

/* These two between index_file_begin_append() and _end_append(). The position of the last entry: 0 if
 * there is none. */
int64_t offset_index_last_position(const struct offset_index *index);
int offset_index_append(struct offset_index *index, int64_t last_offset, int64_t position);

/* The last entry whose offset is at most `offset`, and whose position at most `position`. */
int offset_index_find(struct offset_index *index, bool may_block, int64_t offset, int64_t position,
                      struct offset_index_entry *entry);

/* The last of all entries. */
int offset_index_find_last(struct offset_index *index, bool may_block,
                           struct offset_index_entry *entry);

/* Drops entries of batches that end at or above `offset`. Blocks. */
int offset_index_truncate(struct offset_index *index, int64_t offset);

#endif
