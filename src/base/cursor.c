// SPDX-License-Identifier: Apache-2.0
#include "cursor.h"

#define VARINT_BYTES_MAX  5
#define VARLONG_BYTES_MAX 10

const uint8_t *cursor_take(struct cursor *cursor, size_t length)
{
    if (cursor->bad || length > cursor_left(cursor)) {
        cursor->bad = true;
        cursor->at = cursor->end; /* So "while something is left" ends, too. */
        return NULL;
    }
    const uint8_t *taken = cursor->at;
    cursor->at += length;
    return taken;
}

int8_t cursor_i8(struct cursor *cursor)
{
    const uint8_t *at = cursor_take(cursor, 1);
    return at == NULL ? 0 : (int8_t)*at;
}

int16_t cursor_i16(struct cursor *cursor)
{
    const uint8_t *at = cursor_take(cursor, 2);
    return at == NULL ? 0 : load_i16(at);
}

uint16_t cursor_u16(struct cursor *cursor)
{
    return (uint16_t)cursor_i16(cursor);
}

int32_t cursor_i32(struct cursor *cursor)
{
    const uint8_t *at = cursor_take(cursor, 4);
    return at == NULL ? 0 : load_i32(at);
}

uint32_t cursor_u32(struct cursor *cursor)
{
    return (uint32_t)cursor_i32(cursor);
}

int64_t cursor_i64(struct cursor *cursor)
{
    const uint8_t *at = cursor_take(cursor, 8);
    return at == NULL ? 0 : load_i64(at);
}

/* Seven bits in each byte, the lowest first; the top bit says that another byte follows. */
static uint64_t cursor_base128(struct cursor *cursor, unsigned bytes_max)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes_max; i++) {
        const uint8_t *at = cursor_take(cursor, 1);
        if (at == NULL) return 0;
        value |= (uint64_t)(*at & 0x7f) << (7 * i);
        if ((*at & 0x80) == 0) return value;
    }
    cursor->bad = true;
    cursor->at = cursor->end;
    return 0;
}

uint32_t cursor_uvarint(struct cursor *cursor)
{
    return (uint32_t)cursor_base128(cursor, VARINT_BYTES_MAX);
}

int32_t cursor_varint(struct cursor *cursor)
{
    uint32_t raw = cursor_uvarint(cursor);
    return (int32_t)(raw >> 1 ^ -(raw & 1));
}

int64_t cursor_varlong(struct cursor *cursor)
{
    uint64_t raw = cursor_base128(cursor, VARLONG_BYTES_MAX);
    return (int64_t)(raw >> 1 ^ -(raw & 1));
}
