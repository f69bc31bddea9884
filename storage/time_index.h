// SPDX-License-Identifier: Apache-2.0
/* A segment's time index: how far its timestamps had come at which offset. Kafka's bytes.
 *
 *    at  size  meaning
 *     0    8   largest timestamp so far
 *     8    4   last offset of the batch that holds it, counted from the segment's base offset
 *
 * Entries ascend in both. Threads as in index_file.h. */

#ifndef STORAGE_TIME_INDEX_H
#define STORAGE_TIME_INDEX_H

#include "index_file.h"

#define TIME_INDEX_ENTRY_SIZE 12

struct time_index_entry {
    int64_t timestamp; /* -1 if no entry was found. */
    int64_t offset;    /* The segment's base offset if no entry was found. */
};

struct time_index {
    struct index_file file;
};

/* An entry as it lies in the file of the segment that begins at `base_offset`. */
struct time_index_entry time_index_read_entry(const uint8_t bytes[TIME_INDEX_ENTRY_SIZE],
                                              int64_t base_offset);

void time_index_write_entry(uint8_t bytes[TIME_INDEX_ENTRY_SIZE], int64_t base_offset,
                            struct time_index_entry entry);

void time_index_init(struct time_index *index, struct segment_folder *folder, int64_t base_offset);
void time_index_close(struct time_index *index);

/* Takes over a file, unread. ERR_CORRUPT_MESSAGE if it cannot be right; `may_be_torn` as for an offset
 * index. Blocks. */
int time_index_load(struct time_index *index, bool may_be_torn);

/* These two between index_file_begin_append() and _end_append(): the last entry, and adding one unless
 * its timestamp is no news. */
struct time_index_entry time_index_last(const struct time_index *index);
int time_index_append(struct time_index *index, int64_t timestamp, int64_t offset);

/* The last entry whose timestamp is below `timestamp` and whose offset is below `below_offset`. */
int time_index_find(struct time_index *index, bool may_block, int64_t timestamp,
                    int64_t below_offset, struct time_index_entry *entry);

/* The last of all entries. */
int time_index_find_last(struct time_index *index, bool may_block, struct time_index_entry *entry);

/* Drops entries of offsets at or above `offset`, and a torn one behind those that are kept. Blocks. */
int time_index_truncate(struct time_index *index, int64_t offset);

#endif
