// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include "alloc.h"

#define BUFFER_FIRST_BYTES 128

void buffer_init(struct buffer *buffer)
{
    *buffer = (struct buffer){ 0 };
}

void buffer_close(struct buffer *buffer)
{
    mem_free(buffer->data);
    buffer_init(buffer);
}

static bool buffer_grow(struct buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity < BUFFER_FIRST_BYTES ? BUFFER_FIRST_BYTES : buffer->capacity;
    if (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 || capacity * 2 < needed ? needed : capacity * 2;
    uint8_t *data = mem_realloc(buffer->data, capacity);
    if (data == NULL) return false;
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

bool buffer_reserve(struct buffer *buffer, size_t length)
{
    size_t needed;
    if (buffer->failed) return false;
    if (__builtin_add_overflow(buffer->length, length, &needed))
        buffer->failed = true;
    else if (buffer->data == NULL || needed > buffer->capacity)
        buffer->failed = !buffer_grow(buffer, needed);
    return !buffer->failed;
}

uint8_t *buffer_extend(struct buffer *buffer, size_t length)
{
    if (!buffer_reserve(buffer, length)) return NULL;
    uint8_t *at = buffer->data + buffer->length;
    buffer->length += length;
    return at;
}

void buffer_put(struct buffer *buffer, const void *data, size_t length)
{
    uint8_t *at = buffer_extend(buffer, length);
    if (at != NULL && length > 0) memcpy(at, data, length);
}

void buffer_i8(struct buffer *buffer, int8_t value)
{
    buffer_put(buffer, &value, 1);
}

void buffer_i16(struct buffer *buffer, int16_t value)
{
    uint8_t *at = buffer_extend(buffer, sizeof value);
    if (at != NULL) store_i16(at, value);
}

void buffer_i32(struct buffer *buffer, int32_t value)
{
    uint8_t *at = buffer_extend(buffer, sizeof value);
    if (at != NULL) store_i32(at, value);
}

void buffer_i64(struct buffer *buffer, int64_t value)
{
    uint8_t *at = buffer_extend(buffer, sizeof value);
    if (at != NULL) store_i64(at, value);
}

static void buffer_base128(struct buffer *buffer, uint64_t value)
{
    uint8_t bytes[10];
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[length++] = (uint8_t)(value | 0x80);
    bytes[length++] = (uint8_t)value;
    buffer_put(buffer, bytes, length);
}

void buffer_uvarint(struct buffer *buffer, uint32_t value)
{
    buffer_base128(buffer, value);
}

/* Zigzag: the sign goes into the lowest bit, so that small negative numbers stay short. */
void buffer_varint(struct buffer *buffer, int32_t value)
{
    buffer_base128(buffer, (uint32_t)value << 1 ^ (value < 0 ? UINT32_MAX : 0));
}

void buffer_varlong(struct buffer *buffer, int64_t value)
{
    buffer_base128(buffer, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

unsigned uvarint_size(uint32_t value)
{
    unsigned size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}
