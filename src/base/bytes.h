// SPDX-License-Identifier: Apache-2.0
/* Borrowed runs of bytes, and fixed-width integers in network order. */

#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Text of a known length, not terminated, not owned. `length` -1 means null. */
struct str {
    const char *data;
    int32_t length;
};

/* Bytes of a known length, not owned. `length` -1 means null. */
struct bytes {
    const uint8_t *data;
    int32_t length;
};

#define STR_NULL             ((struct str){ NULL, -1 })
#define STR_LITERAL(literal) ((struct str){ literal, (int32_t)sizeof(literal) - 1 })
#define BYTES_NULL           ((struct bytes){ NULL, -1 })

static inline struct str str_from(const char *text)
{
    return text == NULL ? STR_NULL : (struct str){ text, (int32_t)strlen(text) };
}

static inline bool str_is_null(struct str text)
{
    return text.length < 0;
}

/* Without white around it, as Java's String.trim() sees it: everything up to the blank is white. */
static inline struct str str_trim(struct str text)
{
    while (text.length > 0 && (uint8_t)text.data[0] <= ' ') {
        text.data++;
        text.length--;
    }
    while (text.length > 0 && (uint8_t)text.data[text.length - 1] <= ' ')
        text.length--;
    return text;
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.length == b.length && (a.length <= 0 || memcmp(a.data, b.data, (size_t)a.length) == 0);
}

/* As memcmp() has it; a text before those that it begins. */
static inline int str_compare(struct str a, struct str b)
{
    int32_t shorter = a.length < b.length ? a.length : b.length;
    int order = shorter <= 0 ? 0 : memcmp(a.data, b.data, (size_t)shorter);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static inline bool str_equals_text(struct str a, const char *text)
{
    return str_equal(a, str_from(text));
}

static inline bool text_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

static inline int16_t load_i16(const void *at)
{
    uint16_t raw;
    memcpy(&raw, at, sizeof raw);
    return (int16_t)be16toh(raw);
}

static inline int32_t load_i32(const void *at)
{
    uint32_t raw;
    memcpy(&raw, at, sizeof raw);
    return (int32_t)be32toh(raw);
}

static inline int64_t load_i64(const void *at)
{
    uint64_t raw;
    memcpy(&raw, at, sizeof raw);
    return (int64_t)be64toh(raw);
}

static inline void store_i16(void *at, int16_t value)
{
    uint16_t raw = htobe16((uint16_t)value);
    memcpy(at, &raw, sizeof raw);
}

static inline void store_i32(void *at, int32_t value)
{
    uint32_t raw = htobe32((uint32_t)value);
    memcpy(at, &raw, sizeof raw);
}

static inline void store_i64(void *at, int64_t value)
{
    uint64_t raw = htobe64((uint64_t)value);
    memcpy(at, &raw, sizeof raw);
}

#endif
