// SPDX-License-Identifier: Apache-2.0
/* Prints what the files of a log hold, without a server and whatever the bytes are.
 *
 * Memory is bounded by one batch (LOG_BATCH_MAX), however large the file is or claims to be. Behind
 * damage it goes on where the next whole batch with a right CRC begins. */

#ifndef CLI_LOG_DUMP_H
#define CLI_LOG_DUMP_H

#include "fs.h"
#include "log_files.h"
#include "log_output.h"
#include "record_batch.h"

/* No batch larger than that is looked into, nor a small one that unpacks to more. */
#define LOG_BATCH_MAX ((int64_t)256 << 20)

/* No file of a segment is longer: offsets within it have 31 bits, and one batch may begin just in front of that. */
#define LOG_FILE_MAX (INT32_MAX + LOG_BATCH_MAX)

struct log_dump {
    struct log_output output;
    struct fs *fs;
    bool records, keys, values, headers;
    bool is_metadata;   /* Records are entries of our metadata log. */
    bool found_damage;  /* In any file so far. */
    struct buffer data; /* A batch, or a part of a file. */
};

/* 0, or why the file could not be read; damage is no error. */
int log_dump_file(struct log_dump *dump, const char *path);

/* For log_dump_file() and the fuzzers: the batches of a file that is open, `size` bytes of it. */
int log_dump_batches(struct log_dump *dump, int fd, int64_t size);

/* The same for the content of a small file, as its name says (log_files.h). */
int log_dump_small(struct log_dump *dump, struct log_file_name name, const char *path);
int log_dump_content(struct log_dump *dump, struct log_file_name name, const void *data,
                     size_t length);

/* A line of damage; `position` -1: of the whole. */
void log_dump_damage(struct log_dump *dump, int64_t position, const char *what);

#endif
