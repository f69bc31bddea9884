// SPDX-License-Identifier: Apache-2.0
/* A reader of bytes that remembers that it went bad.
 *
 * Every read checks the bytes that are left. The first one that does not fit marks the cursor bad;
 * from then on all reads give 0, null or empty. So a caller reads a whole message and asks once. */

#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include "bytes.h"

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static inline struct cursor cursor_over(const void *data, size_t length)
{
    if (data == NULL) data = ""; /* C does not let us add even 0 to NULL. */
    return (struct cursor){ data, (const uint8_t *)data + length, false };
}

static inline size_t cursor_left(const struct cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* The next `length` bytes, or NULL and bad (also: bad before). Not NULL for 0 bytes of a good one. */
const uint8_t *cursor_take(struct cursor *cursor, size_t length);

int8_t cursor_i8(struct cursor *cursor);
int16_t cursor_i16(struct cursor *cursor);
uint16_t cursor_u16(struct cursor *cursor);
int32_t cursor_i32(struct cursor *cursor);
uint32_t cursor_u32(struct cursor *cursor);
int64_t cursor_i64(struct cursor *cursor);

/* Unsigned varint of at most 5 bytes (bits above 32 are dropped, as Kafka does); zigzag ones of at
 * most 5 and 10 bytes. */
uint32_t cursor_uvarint(struct cursor *cursor);
int32_t cursor_varint(struct cursor *cursor);
int64_t cursor_varlong(struct cursor *cursor);

#endif
