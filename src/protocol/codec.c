// SPDX-License-Identifier: Apache-2.0
/* What decoding and encoding share: how large things are, and their defaults. */

#include "codec.h"

#include "codec_fields.h"
#include "error.h"

size_t field_element_size(const struct field *field)
{
    static const uint8_t sizes[] = {
        [FIELD_BOOL] = sizeof(bool),          [FIELD_INT8] = sizeof(int8_t),
        [FIELD_INT16] = sizeof(int16_t),      [FIELD_UINT16] = sizeof(uint16_t),
        [FIELD_INT32] = sizeof(int32_t),      [FIELD_UINT32] = sizeof(uint32_t),
        [FIELD_INT64] = sizeof(int64_t),      [FIELD_FLOAT64] = sizeof(double),
        [FIELD_UUID] = sizeof(struct uuid),   [FIELD_STRING] = sizeof(struct str),
        [FIELD_BYTES] = sizeof(struct bytes), [FIELD_RECORDS] = sizeof(struct records),
    };
    return field->type == FIELD_STRUCT ? field->shape->size : sizes[field->type];
}

void field_set_default(const struct field *field, void *at)
{
    if (field->is_array) {
        array_store(at, NULL, field->default_is_null ? -1 : 0);
        return;
    }
    int64_t number = field->default_number;
    int32_t empty = field->default_is_null ? -1 : 0;
    const char *nothing = field->default_is_null ? NULL : ""; /* Rule 5. */
    switch (field->type) {
    case FIELD_BOOL: *(bool *)at = number != 0; break;
    case FIELD_INT8: *(int8_t *)at = (int8_t)number; break;
    case FIELD_INT16: *(int16_t *)at = (int16_t)number; break;
    case FIELD_UINT16: *(uint16_t *)at = (uint16_t)number; break;
    case FIELD_INT32: *(int32_t *)at = (int32_t)number; break;
    case FIELD_UINT32: *(uint32_t *)at = (uint32_t)number; break;
    case FIELD_INT64: *(int64_t *)at = number; break;
    case FIELD_FLOAT64: *(double *)at = (double)number; break;
    case FIELD_UUID: *(struct uuid *)at = (struct uuid){ 0 }; break;
    case FIELD_STRING:
        *(struct str *)at = field->default_text == NULL ? (struct str){ nothing, empty }
                                                        : str_from(field->default_text);
        break;
    case FIELD_BYTES:
        *(struct bytes *)at = (struct bytes){ (const uint8_t *)nothing, empty };
        break;
    case FIELD_RECORDS: *(struct records *)at = (struct records){ NULL, -1, NULL }; break;
    case FIELD_STRUCT:
        if (field->is_optional_struct)
            struct_pointer_store(at, NULL);
        else
            shape_defaults(field->shape, at);
        break;
    }
}

static bool shape_is_default(const struct shape *shape, const void *object)
{
    for (unsigned i = 0; i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        if (!field_is_default(field, (const char *)object + field->offset)) return false;
    }
    return true;
}

static bool text_is_default(const struct field *field, const struct str *text)
{
    if (field->default_is_null) return str_is_null(*text);
    return str_equals_text(*text, field->default_text == NULL ? "" : field->default_text);
}

bool field_is_default(const struct field *field, const void *at)
{
    if (field->is_array) {
        int32_t count = array_count(at);
        return field->default_is_null ? count < 0 : count == 0;
    }
    int64_t number = field->default_number;
    switch (field->type) {
    case FIELD_BOOL: return *(const bool *)at == (number != 0);
    case FIELD_INT8: return *(const int8_t *)at == number;
    case FIELD_INT16: return *(const int16_t *)at == number;
    case FIELD_UINT16: return *(const uint16_t *)at == number;
    case FIELD_INT32: return *(const int32_t *)at == number;
    case FIELD_UINT32: return *(const uint32_t *)at == number;
    case FIELD_INT64: return *(const int64_t *)at == number;
    case FIELD_FLOAT64: return *(const double *)at == (double)number;
    case FIELD_UUID: return uuid_is_zero(at);
    case FIELD_STRING: return text_is_default(field, at);
    case FIELD_BYTES: {
        int32_t length = ((const struct bytes *)at)->length;
        return field->default_is_null ? length < 0 : length == 0;
    }
    case FIELD_RECORDS: return ((const struct records *)at)->length < 0;
    case FIELD_STRUCT:
        if (field->is_optional_struct) return struct_pointer(at) == NULL;
        return shape_is_default(field->shape, at);
    }
    return true;
}

void shape_defaults(const struct shape *shape, void *object)
{
    for (unsigned i = 0; i < shape->field_count; i++)
        field_set_default(&shape->fields[i], (char *)object + shape->fields[i].offset);
}

void message_defaults(const struct message_shape *shape, void *message)
{
    shape_defaults(&shape->shape, message);
}

int array_make(const struct shape *element, int32_t count, struct arena *arena, void *array)
{
    char *items = NULL;
    if (count > 0) {
        items = arena_calloc(arena, (size_t)count, element->size);
        if (items == NULL) return ERR_NO_MEMORY;
        for (int32_t i = 0; i < count; i++)
            shape_defaults(element, items + (size_t)i * element->size);
    }
    array_store(array, items, count);
    return 0;
}
