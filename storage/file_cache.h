// SPDX-License-Identifier: Apache-2.0
/* Open files, no more of them than the process can afford (DESIGN 4.2).
 *
 *  (1) Who uses a file has it pinned. To make room, one that nobody has pinned is closed: the next in
 *      turn that was not used since its last turn. If all are pinned, there are more than the limit for
 *      as long as that lasts.
 *  (2) An owner keeps a pointer to each of its files: NULL while it is not open. That pointer and the
 *      pins are guarded by the owner's lock, which outlives its files.
 *  (3) The block of memory of an open file begins with struct open_file; what the owner wants to know
 *      of recently used files only is behind it, and goes with it.
 *  (4) Locks: the cache's, then an owner's. Neither is held while a file is opened or closed. */

#ifndef STORAGE_FILE_CACHE_H
#define STORAGE_FILE_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fs.h"

struct file_cache;

struct open_file {
    struct open_file **place; /* The owner's pointer, */
    pthread_mutex_t *lock;    /* and what guards it and the following. */
    int fd;
    uint32_t pins;
    bool was_used;
    bool is_let_go; /* The last pin closes it. */
    bool is_leaving;
    uint32_t slot; /* The cache's. */
};

/* Keeps up to `limit` files open. 0 or ERR_NO_MEMORY. */
int file_cache_open(struct file_cache **cache, struct fs *fs, size_t limit);

/* Whoever owns files may outlive whoever made the cache: it goes with the last reference. */
struct file_cache *file_cache_keep(struct file_cache *cache);
void file_cache_release(struct file_cache *cache); /* NULL is fine. */

/* How many files a process with this limit of descriptors should keep open for its logs: two fifths of them,
 * as connections need some, too. */
size_t file_cache_default_limit(void);

/* A lower limit closes files as new ones are opened. Any thread. */
void file_cache_set_limit(struct file_cache *cache, size_t limit);
size_t file_cache_count(struct file_cache *cache);

/* Pins the file if it is open. */
bool file_cache_pin(struct open_file **place, pthread_mutex_t *lock, struct open_file **file);

/* Opens it, unless somebody else just did, and pins it. `size`: of the block of memory, zeroed but for
 * its head. Blocks. What fs->open() says, or ERR_NO_MEMORY: also for a lack of descriptors. */
int file_cache_open_file(struct file_cache *cache, const char *path, enum fs_open_mode mode,
                         size_t size, struct open_file **place, pthread_mutex_t *lock,
                         struct open_file **file);

void file_cache_unpin(struct file_cache *cache, struct open_file *file);

/* Closes it as soon as nobody has it pinned. */
void file_cache_let_go(struct file_cache *cache, struct open_file **place, pthread_mutex_t *lock);

#endif
