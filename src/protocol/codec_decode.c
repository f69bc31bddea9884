// SPDX-License-Identifier: Apache-2.0
/* Decoding walks the table and the bytes side by side.
 *
 *  (1) A cursor that went bad has nothing left, so every read checks one thing: the bytes left.
 *  (2) Loops over what the input counts end when the cursor goes bad.
 *  (3) Recursion follows the shapes, never the input; shapes are finite.
 *
 * More is accepted than an encoder may write, because Kafka's own decoder accepts it: lengths in
 * more varint bytes than needed, -2 and below for null, tags in any order and more than once (the
 * last counts). Unlike Kafka we refuse a known tag whose size is not what its value takes. */

#include <assert.h>

#include "codec.h"
#include "codec_fields.h"
#include "error.h"

/* More than an arena adds to what it is asked for. */
#define ARENA_OVERHEAD_BYTES 64

struct decoding {
    struct arena *arena;
    int16_t version;
    bool is_flexible;
    int memory_err;         /* Why the arena gave nothing. */
    uint32_t elements_left; /* Of all arrays together. */
};

static void decode_struct(struct decoding *decoding, const struct shape *shape, struct cursor *in,
                          void *object);

static void decode_refuse(struct cursor *in)
{
    in->bad = true;
    in->at = in->end; /* (1) */
}

static inline const uint8_t *decode_take(struct cursor *in, size_t length)
{
    if (length > cursor_left(in)) {
        decode_refuse(in);
        return NULL;
    }
    const uint8_t *taken = in->at;
    in->at += length;
    return taken;
}

static inline uint32_t decode_uvarint(struct cursor *in)
{
    if (in->at < in->end && *in->at < 0x80) return *in->at++;
    return cursor_uvarint(in);
}

/* A length or count; -1 for null, which is refused unless it is allowed. */
static inline int32_t decode_length(const struct decoding *decoding, bool is_short,
                                    bool may_be_null, struct cursor *in)
{
    int32_t length;
    if (decoding->is_flexible) {
        length = (int32_t)(decode_uvarint(in) - 1);
    } else {
        const uint8_t *at = decode_take(in, is_short ? 2 : 4);
        length = at == NULL ? -1 : is_short ? load_i16(at) : load_i32(at);
    }
    if (length >= 0) return length;
    if (!may_be_null) decode_refuse(in);
    return -1;
}

static void *decode_allocate(struct decoding *decoding, size_t size, struct cursor *in)
{
    void *memory = arena_alloc(decoding->arena, size);
    if (memory == NULL) {
        /* Above the limit it is the message that is at fault. The arena needs some for itself. */
        const struct arena *arena = decoding->arena;
        bool is_limit = arena->limit - arena->used < size + ARENA_OVERHEAD_BYTES;
        decoding->memory_err = is_limit ? ERR_MALFORMED : ERR_NO_MEMORY;
        decode_refuse(in);
    }
    return memory;
}

/* The fewest bytes that a value takes, including what a null would take. */
static size_t decode_smallest(const struct decoding *decoding, const struct field *field,
                              bool as_element)
{
    bool is_flexible = decoding->is_flexible;
    if (field->is_array && !as_element) return is_flexible ? 1 : 4;
    switch (field->type) {
    case FIELD_BOOL:
    case FIELD_INT8: return 1;
    case FIELD_INT16:
    case FIELD_UINT16: return 2;
    case FIELD_INT32:
    case FIELD_UINT32: return 4;
    case FIELD_INT64:
    case FIELD_FLOAT64: return 8;
    case FIELD_UUID: return sizeof(struct uuid);
    case FIELD_STRING: return is_flexible ? 1 : 2;
    case FIELD_BYTES:
    case FIELD_RECORDS: return is_flexible ? 1 : 4;
    case FIELD_STRUCT: break;
    }
    if (field->is_optional_struct) return 1;
    size_t size = is_flexible ? 1 : 0; /* Its tagged section. */
    for (unsigned i = 0; i < field->shape->field_count; i++) {
        if (field_is_in_place(&field->shape->fields[i], decoding->version))
            size += decode_smallest(decoding, &field->shape->fields[i], false);
    }
    return size > 0 ? size : 1;
}

static void decode_optional_struct(struct decoding *decoding, const struct field *field,
                                   bool may_be_null, bool is_tagged, struct cursor *in, void *at)
{
    bool is_null;
    if (is_tagged) {
        is_null = decode_uvarint(in) == 0;
    } else {
        const uint8_t *marker = decode_take(in, 1);
        is_null = marker == NULL || (int8_t)*marker < 0;
    }
    void *object = NULL;
    if (!is_null)
        object = decode_allocate(decoding, field->shape->size, in);
    else if (!may_be_null)
        decode_refuse(in);
    struct_pointer_store(at, object);
    if (object != NULL) decode_struct(decoding, field->shape, in, object);
}

static const uint8_t *decode_bytes(struct cursor *in, int32_t length)
{
    if (length == 0) return (const uint8_t *)""; /* Rule 5. */
    return length > 0 ? decode_take(in, (size_t)length) : NULL;
}

/* One value that is no array; `field` may be that of the array it is in. */
static inline void decode_value(struct decoding *decoding, const struct field *field,
                                bool may_be_null, bool is_tagged, struct cursor *in, void *at)
{
    const uint8_t *from;
    int32_t length;
    switch (field->type) {
    case FIELD_BOOL:
        from = decode_take(in, 1);
        *(bool *)at = from != NULL && *from != 0;
        break;
    case FIELD_INT8:
        from = decode_take(in, 1);
        *(int8_t *)at = from == NULL ? 0 : (int8_t)*from;
        break;
    case FIELD_INT16:
    case FIELD_UINT16:
        from = decode_take(in, 2);
        *(int16_t *)at = from == NULL ? 0 : load_i16(from);
        break;
    case FIELD_INT32:
    case FIELD_UINT32:
        from = decode_take(in, 4);
        *(int32_t *)at = from == NULL ? 0 : load_i32(from);
        break;
    case FIELD_INT64:
        from = decode_take(in, 8);
        *(int64_t *)at = from == NULL ? 0 : load_i64(from);
        break;
    case FIELD_FLOAT64:
        from = decode_take(in, 8);
        int64_t bits = from == NULL ? 0 : load_i64(from);
        memcpy(at, &bits, sizeof bits);
        break;
    case FIELD_UUID:
        from = decode_take(in, sizeof(struct uuid));
        if (from != NULL) memcpy(at, from, sizeof(struct uuid));
        break;
    case FIELD_STRING:
        length = decode_length(decoding, true, may_be_null, in);
        if (length > INT16_MAX) decode_refuse(in); /* Kafka's limit, in flexible versions, too. */
        from = decode_bytes(in, length);
        *(struct str *)at = (struct str){ (const char *)from, length };
        break;
    case FIELD_BYTES:
        length = decode_length(decoding, false, may_be_null, in);
        from = decode_bytes(in, length);
        *(struct bytes *)at = (struct bytes){ from, length };
        break;
    case FIELD_RECORDS:
        length = decode_length(decoding, false, may_be_null, in);
        from = decode_bytes(in, length);
        *(struct records *)at = (struct records){ from, length, NULL };
        break;
    case FIELD_STRUCT:
        if (field->is_optional_struct)
            decode_optional_struct(decoding, field, may_be_null, is_tagged, in, at);
        else
            decode_struct(decoding, field->shape, in, at);
        break;
    }
}

static void decode_array(struct decoding *decoding, const struct field *field, bool may_be_null,
                         struct cursor *in, void *array)
{
    int32_t count = decode_length(decoding, false, may_be_null, in);
    array_store(array, NULL, count);
    if (count <= 0) return;
    if ((uint32_t)count > decoding->elements_left ||
        (size_t)count > cursor_left(in) / decode_smallest(decoding, field, true)) {
        decode_refuse(in);
        return;
    }
    decoding->elements_left -= (uint32_t)count;
    size_t size = field_element_size(field);
    char *items = decode_allocate(decoding, (size_t)count * size, in);
    array_store(array, items, count);
    for (char *item = items; count > 0 && !in->bad; count--, item += size)
        decode_value(decoding, field, false, false, in, item);
}

static inline void decode_field(struct decoding *decoding, const struct field *field,
                                bool is_tagged, struct cursor *in, void *at)
{
    bool may_be_null = versions_hold(field->nullable, decoding->version);
    if (field->is_array)
        decode_array(decoding, field, may_be_null, in, at);
    else
        decode_value(decoding, field, may_be_null, is_tagged, in, at);
}

static const struct field *decode_find_tag(const struct decoding *decoding,
                                           const struct shape *shape, uint32_t tag)
{
    for (unsigned i = 0; i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        if (versions_hold(field->tagged, decoding->version) && (uint32_t)field->tag == tag)
            return field;
    }
    return NULL;
}

static void decode_tags(struct decoding *decoding, const struct shape *shape, uint32_t count,
                        struct cursor *in, void *object)
{
    if (count > cursor_left(in) / 2) /* A tag and a size are one byte each at least. */
        decode_refuse(in);
    for (; count > 0 && !in->bad; count--) {
        uint32_t tag = decode_uvarint(in);
        uint32_t size = decode_uvarint(in);
        const uint8_t *value = decode_take(in, size);
        const struct field *field = decode_find_tag(decoding, shape, tag);
        if (value == NULL || field == NULL) continue;
        struct cursor inside = cursor_over(value, size);
        decode_field(decoding, field, true, &inside, (char *)object + field->offset);
        if (inside.bad || cursor_left(&inside) > 0) decode_refuse(in);
    }
}

static void decode_struct(struct decoding *decoding, const struct shape *shape, struct cursor *in,
                          void *object)
{
    const struct field *end = shape->fields + shape->field_count;
    for (const struct field *field = shape->fields; field < end; field++) {
        void *at = (char *)object + field->offset;
        if (field_is_in_place(field, decoding->version))
            decode_field(decoding, field, false, in, at);
        else
            field_set_default(field, at);
    }
    if (decoding->is_flexible) {
        uint32_t count = decode_uvarint(in);
        if (count > 0) decode_tags(decoding, shape, count, in, object);
    }
}

int message_decode(const struct message_shape *shape, int16_t version, struct cursor *in,
                   struct arena *arena, void *message)
{
    return message_decode_limited(shape, version, in, arena, UINT32_MAX, message);
}

int message_decode_limited(const struct message_shape *shape, int16_t version, struct cursor *in,
                           struct arena *arena, uint32_t elements_max, void *message)
{
    assert(versions_hold(shape->versions, version));
    struct decoding decoding = { arena, version, message_is_flexible(shape, version), 0,
                                 elements_max };
    if (in->bad) return ERR_MALFORMED;
    decode_struct(&decoding, &shape->shape, in, message);
    if (decoding.memory_err != 0) return decoding.memory_err;
    return in->bad ? ERR_MALFORMED : 0;
}
