// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "codec_fields.h"
#include "runner.h"
#include "vectors.h"

struct reading {
    const struct vector *vector;
    struct arena *arena;
    bool is_brief;
};

static void read_struct(const struct reading *reading, const struct shape *shape,
                        const json_t *fields, void *object);

static void *allocate(const struct reading *reading, size_t size)
{
    void *memory = arena_zalloc(reading->arena, size);
    if (memory == NULL) vector_fail(reading->vector, "out of memory");
    return memory;
}

/* Base64 with + and /. */
static struct bytes read_base64(const struct reading *reading, const json_t *value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = json_string_value(value);
    uint8_t *data = allocate(reading, strlen(text) / 4 * 3 + 1);
    int32_t length = 0;
    uint32_t bits = 0;
    unsigned bit_count = 0;
    for (; *text != '\0' && *text != '='; text++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            data[length++] = (uint8_t)(bits >> bit_count);
        }
    }
    return (struct bytes){ data, length };
}

static void read_value(const struct reading *reading, const struct field *field,
                       const json_t *value, void *at)
{
    bool is_null = json_is_null(value);
    int64_t number = json_integer_value(value);
    switch (field->type) {
    case FIELD_BOOL: *(bool *)at = json_is_true(value); break;
    case FIELD_INT8: *(int8_t *)at = (int8_t)number; break;
    case FIELD_INT16: *(int16_t *)at = (int16_t)number; break;
    case FIELD_UINT16: *(uint16_t *)at = (uint16_t)number; break;
    case FIELD_INT32: *(int32_t *)at = (int32_t)number; break;
    case FIELD_UINT32: *(uint32_t *)at = (uint32_t)number; break;
    case FIELD_INT64: *(int64_t *)at = number; break;
    case FIELD_FLOAT64: *(double *)at = json_number_value(value); break;
    case FIELD_UUID:
        if (uuid_parse(at, json_string_value(value)) != 0)
            vector_fail(reading->vector, "%s is no uuid", field->name);
        break;
    case FIELD_STRING:
        *(struct str *)at = is_null ? STR_NULL
                                    : (struct str){ json_string_value(value),
                                                    (int32_t)json_string_length(value) };
        break;
    case FIELD_BYTES:
        *(struct bytes *)at = is_null ? BYTES_NULL : read_base64(reading, value);
        break;
    case FIELD_RECORDS: {
        struct bytes bytes = is_null ? BYTES_NULL : read_base64(reading, value);
        *(struct records *)at = (struct records){ bytes.data, bytes.length, NULL };
        break;
    }
    case FIELD_STRUCT:
        if (!field->is_optional_struct) {
            read_struct(reading, field->shape, value, at);
        } else {
            void *object = is_null ? NULL : allocate(reading, field->shape->size);
            struct_pointer_store(at, object);
            if (object != NULL) read_struct(reading, field->shape, value, object);
        }
        break;
    }
}

static void read_array(const struct reading *reading, const struct field *field,
                       const json_t *value, void *array)
{
    if (json_is_null(value)) {
        array_store(array, NULL, -1);
        return;
    }
    size_t count = json_array_size(value);
    size_t size = field_element_size(field);
    char *items = allocate(reading, count * size);
    for (size_t i = 0; i < count; i++)
        read_value(reading, field, json_array_get(value, i), items + i * size);
    array_store(array, items, (int32_t)count);
}

static void read_struct(const struct reading *reading, const struct shape *shape,
                        const json_t *fields, void *object)
{
    int16_t version = reading->vector->version;
    size_t used = 0;
    shape_defaults(shape, object);
    for (unsigned i = 0; i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        const json_t *value = json_object_get(fields, field->name);
        void *at = (char *)object + field->offset;
        if (value == NULL) {
            bool may_lack = reading->is_brief && versions_hold(field->tagged, version);
            if (versions_hold(field->present, version) && !may_lack)
                vector_fail(reading->vector, "%s has no %s", shape->name, field->name);
            continue;
        }
        used++;
        if (!versions_hold(field->present, version))
            vector_fail(reading->vector, "%s has a %s in no such version", shape->name,
                        field->name);
        if (field->is_array)
            read_array(reading, field, value, at);
        else
            read_value(reading, field, value, at);
    }
    if (used != json_object_size(fields))
        vector_fail(reading->vector, "%s has fields that the table has not", shape->name);
}

void vector_message(const struct vector *vector, bool is_brief, struct arena *arena, void *message)
{
    struct reading reading = { vector, arena, is_brief };
    read_struct(&reading, &vector->shape->shape, vector->fields, message);
}

/* ---- comparing ---- */

static bool same_struct(const struct vector *vector, const struct shape *shape, const void *left,
                        const void *right);

static bool same_value(const struct vector *vector, const struct field *field, const void *left,
                       const void *right)
{
    switch (field->type) {
    case FIELD_BOOL:
    case FIELD_INT8:
    case FIELD_INT16:
    case FIELD_UINT16:
    case FIELD_INT32:
    case FIELD_UINT32:
    case FIELD_INT64:
    case FIELD_FLOAT64:
    case FIELD_UUID: return memcmp(left, right, field_element_size(field)) == 0;
    case FIELD_STRING: return str_equal(*(const struct str *)left, *(const struct str *)right);
    case FIELD_BYTES: {
        const struct bytes *a = left, *b = right;
        return a->length == b->length &&
               (a->length <= 0 || memcmp(a->data, b->data, (size_t)a->length) == 0);
    }
    case FIELD_RECORDS: {
        const struct records *a = left, *b = right;
        return a->length == b->length && a->slice == NULL && b->slice == NULL &&
               (a->length <= 0 || memcmp(a->data, b->data, (size_t)a->length) == 0);
    }
    case FIELD_STRUCT: break;
    }
    if (!field->is_optional_struct) return same_struct(vector, field->shape, left, right);
    const void *a = struct_pointer(left), *b = struct_pointer(right);
    if (a == NULL || b == NULL) return a == b;
    return same_struct(vector, field->shape, a, b);
}

static bool same_array(const struct vector *vector, const struct field *field, const void *left,
                       const void *right)
{
    int32_t count = array_count(left);
    if (count != array_count(right)) return false;
    const char *a = array_items(left), *b = array_items(right);
    size_t size = field_element_size(field);
    for (int32_t i = 0; i < count; i++) {
        if (!same_value(vector, field, a + (size_t)i * size, b + (size_t)i * size)) return false;
    }
    return true;
}

static bool same_struct(const struct vector *vector, const struct shape *shape, const void *left,
                        const void *right)
{
    for (unsigned i = 0; i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        const void *a = (const char *)left + field->offset;
        const void *b = (const char *)right + field->offset;
        bool is_same = field->is_array ? same_array(vector, field, a, b)
                                       : same_value(vector, field, a, b);
        if (!is_same) vector_fail(vector, "%s.%s differs", shape->name, field->name);
    }
    return true;
}

void assert_same_message(const struct vector *vector, const void *message, const void *expected)
{
    same_struct(vector, &vector->shape->shape, message, expected);
}
