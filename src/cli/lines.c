// SPDX-License-Identifier: Apache-2.0
#include "lines.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "error.h"

#define READ_BYTES (256 * 1024)

void lines_init(struct lines *lines, int fd)
{
    *lines = (struct lines){ .fd = fd };
    buffer_init(&lines->buffer);
}

void lines_close(struct lines *lines)
{
    buffer_close(&lines->buffer);
}

static bool take_line(struct lines *lines, struct str *line)
{
    struct buffer *buffer = &lines->buffer;
    if (lines->scanned == buffer->length && !lines->at_end) return false;
    const char *begin = (const char *)buffer->data + lines->start;
    const char *end = lines->scanned == buffer->length ? NULL
                                                       : memchr(buffer->data + lines->scanned, '\n',
                                                                buffer->length - lines->scanned);
    lines->scanned = buffer->length;
    if (end == NULL && (!lines->at_end || lines->start == buffer->length)) return false;
    size_t length = end == NULL ? buffer->length - lines->start : (size_t)(end - begin);
    *line = (struct str){ begin, (int32_t)length };
    lines->start += length + (end != NULL);
    lines->scanned = lines->start;
    return true;
}

/* Reads on, after moving the part of a line that is there to the front. */
static int read_more(struct lines *lines, int wait_ms)
{
    struct buffer *buffer = &lines->buffer;
    size_t kept = buffer->length - lines->start;
    if (kept > LINE_MAX_BYTES) return ERR_LIMIT;
    if (lines->start > 0) {
        memmove(buffer->data, buffer->data + lines->start, kept);
        lines->scanned -= lines->start;
        lines->start = 0;
        buffer->length = kept;
    }
    struct pollfd entry = { lines->fd, POLLIN, 0 };
    int ready = poll(&entry, 1, wait_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) return ERR_NEEDS_IO;
    if (!buffer_reserve(buffer, READ_BYTES)) return ERR_NO_MEMORY;
    ssize_t got = read(lines->fd, buffer->data + buffer->length, READ_BYTES);
    if (got < 0) return errno == EINTR || errno == EAGAIN ? ERR_NEEDS_IO : ERR_IO;
    if (got == 0) lines->at_end = true;
    buffer->length += (size_t)got;
    return 0;
}

int lines_next(struct lines *lines, int wait_ms, struct str *line)
{
    while (!take_line(lines, line)) {
        if (lines->at_end) return ERR_NOT_FOUND;
        int err = read_more(lines, wait_ms);
        if (err != 0) return err;
    }
    return 0;
}
