// SPDX-License-Identifier: Apache-2.0
/* A piece of an open file, or of memory, held by reference, on its way to a socket. */

#ifndef BASE_FILE_SLICE_H
#define BASE_FILE_SLICE_H

#include <stdint.h>
#include <sys/types.h>

struct file_slice {
    int fd; /* Stays open until release. */
    off_t offset;
    const uint8_t *memory; /* Not NULL: the piece is there, and in no file. */
    size_t length;
    void *owner;
    void (*release)(void *owner); /* Any thread; called once. */
};

static inline void file_slice_release(struct file_slice *slice)
{
    if (slice->release != NULL) slice->release(slice->owner);
    slice->release = NULL;
}

#endif
