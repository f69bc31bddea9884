// SPDX-License-Identifier: Apache-2.0
/* A file of ascending entries of one size: what the two indexes of a segment have in common.
 *
 *  (1) Entries are appended in memory and written in blocks, when one is full or when asked. Entries
 *      below `written` are in the file, those from there on in `block`; nothing is in both.
 *  (2) One writer; searches and index_file_write_out() from any thread beside it.
 *  (3) The file is opened by whoever first needs it and may wait; index_file_let_go() closes it as soon
 *      as nobody uses it.
 *  (4) Memory: one block while entries wait, none otherwise. */

#ifndef STORAGE_INDEX_FILE_H
#define STORAGE_INDEX_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs.h"

#define INDEX_BLOCK_BYTES 4096
#define INDEX_ENTRY_MAX   12

struct index_file {
    struct fs *fs;
    pthread_mutex_t lock; /* For all that follows. */
    uint32_t entry_size;
    uint32_t written;
    uint32_t count;
    uint8_t *block;
    int fd; /* -1: not open. */
    int users;
    bool is_let_go; /* The last user closes it. */
    bool is_dirty;  /* The file has changed since it was synced. */
};

void index_file_init(struct index_file *file, struct fs *fs, uint32_t entry_size);
void index_file_close(struct index_file *file); /* Writes nothing; nobody may use it any more. */

/* Takes what is in the file at `path` for its entries. ERR_CORRUPT_MESSAGE if they are not whole.
 * Blocks. */
int index_file_load(struct index_file *file, const char *path);

/* Makes sure that the next append finds memory. ERR_NO_MEMORY. */
int index_file_reserve(struct index_file *file);

/* Adds an entry. If the block is full it is written first, to the file at `path`, which must then be
 * open (index_file_open_for_append). On an error the entry is not added. */
int index_file_append(struct index_file *file, const void *entry);

/* Opens the file for the writer, and keeps it open until it is let go. Blocks. */
int index_file_open_for_append(struct index_file *file, const char *path);
bool index_file_is_open(struct index_file *file);
void index_file_let_go(struct index_file *file);

/* Writes waiting entries to the page cache; `sync`: and whatever changed to the disk. Blocks. */
int index_file_write_out(struct index_file *file, const char *path, bool sync);

/* Gives back the memory of an empty block. Writer. */
void index_file_shrink(struct index_file *file);

/* Drops all entries but the first `count`, and whatever else is in the file. Writer, and no
 * index_file_write_out() beside it. Blocks. */
int index_file_truncate(struct index_file *file, const char *path, uint32_t count);

/* How many entries, from the first on, satisfy `is_before` (which must hold up to some entry and for
 * none after it)? The last of them is copied to `last`. Without `may_block` ERR_NEEDS_IO if the file
 * is not open or not in memory. */
int index_file_search(struct index_file *file, const char *path, bool may_block,
                      bool (*is_before)(const void *context, const uint8_t *entry),
                      const void *context, uint32_t *found, uint8_t last[INDEX_ENTRY_MAX]);

#endif
