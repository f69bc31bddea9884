// SPDX-License-Identifier: Apache-2.0
/* A file of ascending entries of one size: what the two indexes of a segment have in common.
 *
 *  (1) Entries are appended in memory and written in blocks, when one is full or when asked. Those that
 *      wait are the last of `count`, in `tail`; all others are in the file; nothing is in both.
 *  (2) One writer; searches and index_file_write_out() from any thread beside it.
 *  (3) A search costs one read of a block for each halving of the file's number of blocks, and none for
 *      those that the block cache knows.
 *  (4) Memory: the tail while the file is appended to, otherwise only this struct. */

#ifndef STORAGE_INDEX_FILE_H
#define STORAGE_INDEX_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "segment_folder.h"

#define INDEX_ENTRY_MAX 12

struct index_kind {
    const char *suffix;
    uint32_t entry_size;
    /* Is it an entry? What else may be in the file comes behind all entries: zeros, where Kafka reserved
     * space. */
    bool (*is_used)(const uint8_t *entry);
};

struct index_tail;

struct index_file {
    const struct index_kind *kind;
    struct segment_folder *folder; /* Borrowed. Its lock guards all that follows but base_offset. */
    int64_t base_offset;
    struct open_file *file;
    struct index_tail *tail; /* NULL: no entries wait. */
    uint64_t id;             /* In the block cache. */
    uint32_t count; /* Entries in all; may have unused ones at the end until it is appended to. */
    bool is_dirty;  /* The file has changed since it was synced. */
    bool has_torn;  /* Behind the entries is a part of one. */
};

void index_file_init(struct index_file *file, const struct index_kind *kind,
                     struct segment_folder *folder, int64_t base_offset);
void index_file_close(struct index_file *file); /* Writes nothing; nobody may use it any more. */

/* Takes what is in the file for its entries, by its size. ERR_CORRUPT_MESSAGE if they are not whole,
 * unless the last one `may_be_torn`: then it does not count. Nobody else has it yet. Blocks. */
int index_file_load(struct index_file *file, bool may_be_torn);

/* Empties it, whatever is there. Nobody else uses it. Blocks. */
int index_file_reset(struct index_file *file);

/* Makes appending possible until index_file_end_append(): there is memory, and the file is open if a block
 * will be full soon (a partition that is written now and then needs no descriptors for its indexes).
 * ERR_NEEDS_IO, ERR_NO_MEMORY, …. Writer. */
int index_file_begin_append(struct index_file *file, bool may_block);
void index_file_end_append(struct index_file *file);

/* Keeps the file open until index_file_unhold(), so that nothing in between needs memory to open it. Blocks.
 * Any thread. */
int index_file_hold(struct index_file *file, struct open_file **held);
void index_file_unhold(struct index_file *file, struct open_file *held);

/* Adds an entry. If a block is full it is written first. On an error the entry is not added. Between
 * begin and end. */
int index_file_append(struct index_file *file, const void *entry);

/* The last entry, between begin and end; NULL if there is none. Good until the next append. */
const uint8_t *index_file_last(const struct index_file *file);

/* Is there anything that index_file_write_out() would write or sync? */
bool index_file_has_changed(struct index_file *file);

/* Writes waiting entries to the page cache; `sync`: and whatever changed to the disk. Blocks. */
int index_file_write_out(struct index_file *file, bool sync);

/* Closes the file as soon as nobody uses it, and gives memory back if no entries wait. Writer, not
 * between begin and end. */
void index_file_let_go(struct index_file *file);

/* Drops all entries but the first `count`, and whatever else is in the file; if there is nothing of the kind
 * the file is not touched. Writer, not between begin
 * and end, and no index_file_write_out() beside it. Blocks. */
int index_file_truncate(struct index_file *file, uint32_t count);

/* How many entries, from the first on, satisfy `is_before` (which must hold up to some entry and for
 * none after it)? The last of them is copied to `last`. Without `may_block` ERR_NEEDS_IO if what it
 * takes is not in memory. ERR_CORRUPT_MESSAGE if the file is shorter than it was. */
int index_file_search(struct index_file *file, bool may_block,
                      bool (*is_before)(const void *context, const uint8_t *entry),
                      const void *context, uint32_t *found, uint8_t last[INDEX_ENTRY_MAX]);

/* How many entries there are, and the last of them: a read of just that one, unless unused ones follow.
 * As index_file_search(). */
int index_file_find_last(struct index_file *file, bool may_block, uint32_t *found,
                         uint8_t last[INDEX_ENTRY_MAX]);

#endif
