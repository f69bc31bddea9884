// SPDX-License-Identifier: Apache-2.0
/* Lines from a file or a pipe, without waiting longer than told. */

#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>

#include "buffer.h"
#include "bytes.h"

#define LINE_MAX_BYTES (256 * 1024 * 1024)

struct lines {
    int fd;
    struct buffer buffer;
    size_t start;   /* Where the next line begins. */
    size_t scanned; /* No newline from `start` up to here. */
    bool at_end;
};

/* Borrows the descriptor. */
void lines_init(struct lines *lines, int fd);
void lines_close(struct lines *lines);

/* The next line without its newline; the last one may lack it. `line` is valid until the next call.
 * Returns 0, ERR_NOT_FOUND at the end, ERR_NEEDS_IO if no whole line came within wait_ms, ERR_IO (see
 * errno), ERR_LIMIT for a line that is too long, or ERR_NO_MEMORY. */
int lines_next(struct lines *lines, int wait_ms, struct str *line);

#endif
