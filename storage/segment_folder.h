// SPDX-License-Identifier: Apache-2.0
/* What the segments of one log share: their folder, the caches that they are opened in, and the lock for
 * what is open of them. It goes with the last of them: a slice may outlive its log. */

#ifndef STORAGE_SEGMENT_FOLDER_H
#define STORAGE_SEGMENT_FOLDER_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "block_cache.h"
#include "file_cache.h"
#include "fs.h"

struct segment_folder {
    struct fs *fs;
    struct file_cache *files; /* Kept. */
    struct block_cache
        *blocks; /* Borrowed: for searches, which end before the data folder is closed. */
    atomic_int references;
    pthread_mutex_t lock; /* Innermost, but for memory and the like. */
    char path[];
};

/* 0 or ERR_NO_MEMORY. */
int segment_folder_open(struct segment_folder **folder, struct fs *fs, struct file_cache *files,
                        struct block_cache *blocks, const char *path);

struct segment_folder *segment_folder_keep(struct segment_folder *folder);
void segment_folder_release(struct segment_folder *folder); /* NULL is fine. */

/* The file `<base offset in 20 digits><suffix>` in a folder. 0 or ERR_LIMIT. */
int segment_path(const char *folder, int64_t base_offset, const char *suffix, char path[PATH_MAX]);

/* No log has come so far, and none that begins there comes to where numbers end. */
#define SEGMENT_OFFSET_MAX (INT64_MAX / 2)

/* The base offset in the name of a segment's file, and what comes behind it; -1 if it is none, as one beyond
 * SEGMENT_OFFSET_MAX is. */
int64_t segment_parse_name(const char *name, const char **suffix);

/* Is it like the name of a segment's file, but beyond SEGMENT_OFFSET_MAX? */
bool segment_name_is_beyond(const char *name, const char **suffix);

#endif
