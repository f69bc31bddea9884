// SPDX-License-Identifier: Apache-2.0
/* The aborted transactions that ended in one segment, and their file .txnindex in Kafka's format: what
 * a read_committed consumer must be told of (KIP-98). One entry, big-endian:
 *
 *    at  size  meaning
 *     0    2   version, 0
 *     2    8   producer id
 *    10    8   first offset
 *    18    8   last offset: the abort marker's, which lies in the segment
 *    26    8   last stable offset when the marker was appended
 *
 *  (1) Last offsets ascend; none lies below the segment.
 *  (2) A segment without aborts has no file, and should have no index.
 *  (3) Entries wait in memory until they are written: when there are many, and when asked. The file is
 *      open only while it is read or written.
 *  (4) One writer; searches and txn_index_write_out() from any thread beside it. A truncation has no
 *      write_out beside it.
 *  (5) `path` is always the same, that of the .txnindex. While it is built again its file is another one
 *      beside that, `.txnindex.tmp`. */

#ifndef STORAGE_TXN_INDEX_H
#define STORAGE_TXN_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fs.h"

#define TXN_INDEX_ENTRY_SIZE 34

struct aborted_transaction {
    int64_t producer_id;
    int64_t first_offset;
    int64_t last_offset;
    int64_t last_stable_offset;
};

/* An entry as it lies in a file. ERR_CORRUPT_MESSAGE: it cannot be one. */
int txn_index_read_entry(const uint8_t bytes[TXN_INDEX_ENTRY_SIZE],
                         struct aborted_transaction *aborted);

struct txn_index;

/* An empty index of the segment that begins at `base_offset`. 0 or ERR_NO_MEMORY. */
int txn_index_create(struct txn_index **index, struct fs *fs, int64_t base_offset);
void txn_index_close(struct txn_index *index); /* Writes nothing. NULL is fine. */

/* From here until txn_index_put_in_place() its file has the name of (5). Nobody else has it yet. */
void txn_index_set_aside(struct txn_index *index);

/* Takes over what is in the file at `path`. ERR_CORRUPT_MESSAGE: it breaks (1), belongs to another
 * segment, or is torn; ERR_NOT_FOUND. If its end `may_be_torn`, where entries were written that no sync had
 * reached, an entry that breaks off there is cut off, with the zeros behind it. Blocks. */
int txn_index_load(struct txn_index *index, const char *path, bool may_be_torn);

/* Makes sure that the next `count` appends find room; may write entries that wait to the page cache. On a full
 * disk they go on waiting. ERR_NEEDS_IO: not without waiting. Writer. */
int txn_index_reserve(struct txn_index *index, const char *path, size_t count, bool may_block);

/* Adds an entry, by (1). There must be room. Writer. */
void txn_index_append(struct txn_index *index, const struct aborted_transaction *aborted);

/* Writes waiting entries to the page cache; `sync`: and whatever changed to the disk. A new file's name
 * is then still to be synced. Blocks. */
int txn_index_write_out(struct txn_index *index, const char *path, bool sync);

/* All that was built again is written, to the disk, and the file replaces that at `path`; without entries there
 * is none any more. The folder is then still to be synced. On an error everything is as it was; nothing to do
 * if it is not set aside. Blocks; beside it what may run beside txn_index_write_out(). */
int txn_index_put_in_place(struct txn_index *index, const char *path);

/* Gives back the memory if nothing waits. Not between reserve and append. */
void txn_index_shrink(struct txn_index *index);

/* Drops what ended at or above `offset`, also on disk. Writer. Blocks. */
int txn_index_truncate(struct txn_index *index, const char *path, int64_t offset);

uint32_t txn_index_count(struct txn_index *index);

/* Transactions, in the order in which they ended. */
struct aborted_list {
    struct aborted_transaction *items; /* mem_free() them. */
    size_t count, capacity;
};

/* Adds to `list` what a reader of the offsets from `from` on, below `below`, must be told of: ended at or
 * above the one, begun below the other. *is_complete: what ends in later segments began at or above
 * `below`, so they need not be asked. ERR_LIMIT: there are more than `limit` in the list; ERR_NEEDS_IO:
 * not without waiting; ERR_NO_MEMORY, ERR_CORRUPT_MESSAGE, ERR_IO. `list` may have grown nevertheless. */
int txn_index_find(struct txn_index *index, const char *path, bool may_block, int64_t from,
                   int64_t below, size_t limit, struct aborted_list *list, bool *is_complete);

#endif
