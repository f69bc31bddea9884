// SPDX-License-Identifier: Apache-2.0
/* Reads a .log file batch by batch, whole ones, in large pieces: for who needs the records of them all.
 *
 * The CRC of each is checked. Memory is the buffer's size, or that of the largest batch. Blocks. */

#ifndef STORAGE_BATCH_READER_H
#define STORAGE_BATCH_READER_H

#include "fs.h"
#include "record_batch.h"

struct batch_reader {
    struct fs *fs;
    int fd;
    int64_t position; /* Of the next batch. */
    int64_t end;      /* Of the file, as far as it counts. */
    int64_t read_to;  /* Up to here it was read. */
    uint8_t *buffer;
    size_t size;
    size_t at, limit; /* What of the buffer is read and not returned. */
};

/* 0 or ERR_NO_MEMORY. */
int batch_reader_open(struct batch_reader *reader, size_t buffer_size);
void batch_reader_close(struct batch_reader *reader);

/* Goes on in another file, or at another place. */
void batch_reader_seek(struct batch_reader *reader, struct fs *fs, int fd, int64_t position,
                       int64_t end);

/* The next batch, with all of its bytes until the next call. ERR_NOT_FOUND at the end;
 * ERR_CORRUPT_MESSAGE; ERR_NO_MEMORY, ERR_IO. */
int batch_reader_next(struct batch_reader *reader, struct record_batch *batch);

#endif
