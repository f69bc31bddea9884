// SPDX-License-Identifier: Apache-2.0
/* Kafka's checkpoint files: a line `0`, a line with the number of lines that follow, those lines. */

#ifndef STORAGE_CHECKPOINT_H
#define STORAGE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "bytes.h"
#include "fs.h"

#define CHECKPOINT_MAX_COLUMNS 3

/* 100,000 partitions with names of the longest kind. */
#define CHECKPOINT_MAX_BYTES ((size_t)64 << 20)

struct checkpoint_line {
    struct str columns[CHECKPOINT_MAX_COLUMNS]; /* Borrowed; without the spaces between them. */
};

/* Calls `each` for every line; what it returns other than 0 ends the walk. `columns` is how many words
 * a line must have. ERR_MALFORMED if the text does not have the shape, or lacks lines; `last_line`, unless it is
 * NULL, then says in which line, from 1 on. */
int checkpoint_parse(const char *text, size_t length, int columns,
                     int (*each)(void *context, const struct checkpoint_line *line), void *context,
                     int64_t *last_line);

/* Reads and parses a file; ERR_NOT_FOUND if there is none. An empty one has no lines. */
int checkpoint_read(struct fs *fs, const char *path, int columns,
                    int (*each)(void *context, const struct checkpoint_line *line), void *context,
                    int64_t *last_line);

/* Replaces a file (fs_replace_file) by `count` lines, each ended by a line feed. */
int checkpoint_write(struct fs *fs, const char *path, const struct buffer *lines, size_t count);

/* The same without syncing the folder: a crash leaves either file, until the caller has done that. Without
 * `sync` nothing is synced: a crash may leave an empty or torn file. */
int checkpoint_rename(struct fs *fs, const char *path, const struct buffer *lines, size_t count,
                      bool sync);

/* A decimal number that is the whole of `text`, between `least` and INT64_MAX. 0 or ERR_MALFORMED. */
int checkpoint_number(struct str text, int64_t least, int64_t *number);

/* Appends text to a buffer, as printf. */
void checkpoint_print(struct buffer *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
