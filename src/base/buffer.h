// SPDX-License-Identifier: Apache-2.0
/* A growing run of bytes to write into. A failed allocation is remembered: ask once at the end. */

#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>

#include "bytes.h"

struct buffer {
    uint8_t *data; /* From mem_alloc; owned. */
    size_t length;
    size_t capacity;
    bool failed; /* Out of memory: what was written since is lost. */
};

void buffer_init(struct buffer *buffer);
void buffer_close(struct buffer *buffer);

/* Room for `length` more bytes, already counted as written; NULL when out of memory. */
uint8_t *buffer_extend(struct buffer *buffer, size_t length);

/* Makes sure that `length` more bytes fit without moving. */
bool buffer_reserve(struct buffer *buffer, size_t length);

void buffer_put(struct buffer *buffer, const void *data, size_t length);
void buffer_i8(struct buffer *buffer, int8_t value);
void buffer_i16(struct buffer *buffer, int16_t value);
void buffer_i32(struct buffer *buffer, int32_t value);
void buffer_i64(struct buffer *buffer, int64_t value);
void buffer_uvarint(struct buffer *buffer, uint32_t value);
void buffer_varint(struct buffer *buffer, int32_t value);
void buffer_varlong(struct buffer *buffer, int64_t value);

/* The number of bytes that buffer_uvarint() writes for `value`. */
unsigned uvarint_size(uint32_t value);

#endif
