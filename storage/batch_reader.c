// SPDX-License-Identifier: Apache-2.0
#include "batch_reader.h"

#include "alloc.h"
#include "error.h"

int batch_reader_open(struct batch_reader *reader, size_t buffer_size)
{
    *reader = (struct batch_reader){ .fd = -1 };
    reader->size = buffer_size < RECORD_BATCH_HEADER_SIZE ? RECORD_BATCH_HEADER_SIZE : buffer_size;
    reader->buffer = mem_alloc(reader->size);
    return reader->buffer == NULL ? ERR_NO_MEMORY : 0;
}

void batch_reader_close(struct batch_reader *reader)
{
    mem_free(reader->buffer);
    reader->buffer = NULL;
}

void batch_reader_seek(struct batch_reader *reader, struct fs *fs, int fd, int64_t position,
                       int64_t end)
{
    reader->fs = fs;
    reader->fd = fd;
    reader->position = reader->read_to = position;
    reader->end = end;
    reader->at = reader->limit = 0;
}

/* Makes sure that `length` bytes from the position on are there, in one piece. */
static int fill(struct batch_reader *reader, size_t length)
{
    size_t there = reader->limit - reader->at;
    if (there >= length) return 0;
    if ((int64_t)length > reader->end - reader->position) return ERR_CORRUPT_MESSAGE;
    memmove(reader->buffer, reader->buffer + reader->at, there);
    reader->at = 0;
    reader->limit = there;
    if (length > reader->size) { /* As large as the file bears out. */
        uint8_t *buffer = mem_realloc(reader->buffer, length);
        if (buffer == NULL) return ERR_NO_MEMORY;
        reader->buffer = buffer;
        reader->size = length;
    }
    int64_t left = reader->end - reader->read_to;
    size_t wanted = reader->size - there;
    if ((int64_t)wanted > left) wanted = (size_t)left;
    size_t got = 0;
    int err = reader->fs->read(reader->fs, reader->fd, reader->buffer + there, wanted,
                               reader->read_to, &got);
    if (err != 0) return err;
    reader->limit += got;
    reader->read_to += (int64_t)got;
    return reader->limit >= length ? 0 : ERR_CORRUPT_MESSAGE;
}

int batch_reader_next(struct batch_reader *reader, struct record_batch *batch)
{
    struct record_batch found;

    if (reader->position >= reader->end) return ERR_NOT_FOUND;
    int err = fill(reader, RECORD_BATCH_HEADER_SIZE);
    if (err == 0)
        err = record_batch_read_header(&found, reader->buffer + reader->at,
                                       reader->limit - reader->at);
    if (err == 0) err = fill(reader, found.size);
    if (err == 0)
        err = record_batch_read_header(&found, reader->buffer + reader->at,
                                       reader->limit - reader->at);
    if (err != 0) return err == ERR_MALFORMED ? ERR_CORRUPT_MESSAGE : err;
    if (found.base_offset < 0 || found.last_offset_delta < 0 ||
        found.base_offset > INT64_MAX - found.last_offset_delta - 1 ||
        !record_batch_crc_is_right(&found))
        return ERR_CORRUPT_MESSAGE;
    reader->at += found.size;
    reader->position += (int64_t)found.size;
    *batch = found;
    return 0;
}
