// SPDX-License-Identifier: Apache-2.0
/* Inside the codec: a field of a C struct, seen only through its row in the table. */

#ifndef PROTOCOL_CODEC_FIELDS_H
#define PROTOCOL_CODEC_FIELDS_H

#include "codec.h"

/* Size in the C struct's array of one element (of the field, if it is no array). */
size_t field_element_size(const struct field *field);

/* An optional struct's default is null, always. */
void field_set_default(const struct field *field, void *at);
bool field_is_default(const struct field *field, const void *at);

/* On the wire of `version`, at its place among the others. */
static inline bool field_is_in_place(const struct field *field, int16_t version)
{
    return versions_hold(field->present, version) && !versions_hold(field->tagged, version);
}

/* What ARRAY_OF makes, for any element. Pointers are copied as bytes: in C, a pointer to some
 * struct may not be read as a pointer to void. */
struct any_array {
    void *items;
    int32_t count;
};

static inline void array_store(void *array, void *items, int32_t count)
{
    memcpy((char *)array + offsetof(struct any_array, items), &items, sizeof items);
    *(int32_t *)((char *)array + offsetof(struct any_array, count)) = count;
}

static inline const void *array_items(const void *array)
{
    const void *items;
    memcpy(&items, (const char *)array + offsetof(struct any_array, items), sizeof items);
    return items;
}

static inline int32_t array_count(const void *array)
{
    return *(const int32_t *)((const char *)array + offsetof(struct any_array, count));
}

static inline void struct_pointer_store(void *at, void *object)
{
    memcpy(at, &object, sizeof object);
}

static inline const void *struct_pointer(const void *at)
{
    const void *object;
    memcpy(&object, at, sizeof object);
    return object;
}

#endif
