// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "alloc.h"
#include "codec.h"
#include "codec_fields.h"
#include "error.h"

struct encoding {
    struct encoder *out;
    int16_t version;
    bool is_flexible;
};

static int encode_struct(struct encoding *encoding, const struct shape *shape, const void *object);

void encoder_init(struct encoder *encoder)
{
    *encoder = (struct encoder){ 0 };
    buffer_init(&encoder->bytes);
}

void encoder_close(struct encoder *encoder)
{
    buffer_close(&encoder->bytes);
    mem_free(encoder->splices);
    encoder_init(encoder);
}

int encoder_splice(struct encoder *encoder, struct file_slice *slice)
{
    if (encoder->splice_count == encoder->splice_capacity) {
        unsigned capacity = encoder->splice_capacity == 0 ? 4 : encoder->splice_capacity * 2;
        struct splice *splices = mem_realloc(encoder->splices,
                                             (size_t)capacity * sizeof *encoder->splices);
        if (splices == NULL) return ERR_NO_MEMORY;
        encoder->splices = splices;
        encoder->splice_capacity = capacity;
    }
    encoder->splices[encoder->splice_count++] = (struct splice){ encoder->bytes.length, slice };
    encoder->splice_bytes += slice->length;
    return 0;
}

/* A length or count; below 0 for null. */
static int encode_length(struct encoding *encoding, bool is_short, bool may_be_null, int32_t length)
{
    struct buffer *bytes = &encoding->out->bytes;
    if (length < 0) {
        if (!may_be_null) return ERR_MALFORMED;
        length = -1;
    }
    if (encoding->is_flexible)
        buffer_uvarint(bytes, (uint32_t)length + 1);
    else if (!is_short)
        buffer_i32(bytes, length);
    else if (length <= INT16_MAX)
        buffer_i16(bytes, (int16_t)length);
    else
        return ERR_MALFORMED;
    return 0;
}

static int encode_run(struct encoding *encoding, bool is_short, bool may_be_null, const void *data,
                      int32_t length)
{
    int err = encode_length(encoding, is_short, may_be_null, length);
    if (err == 0 && length > 0) buffer_put(&encoding->out->bytes, data, (size_t)length);
    return err;
}

static int encode_records(struct encoding *encoding, bool may_be_null,
                          const struct records *records)
{
    if (records->length < 0 || records->slice == NULL)
        return encode_run(encoding, false, may_be_null, records->data, records->length);
    assert(records->slice->length == (size_t)records->length);
    int err = encode_length(encoding, false, may_be_null, records->length);
    if (err == 0) err = encoder_splice(encoding->out, records->slice);
    return err;
}

static int encode_optional_struct(struct encoding *encoding, const struct field *field,
                                  bool may_be_null, bool is_tagged, const void *object)
{
    struct buffer *bytes = &encoding->out->bytes;
    if (object == NULL && !may_be_null) return ERR_MALFORMED;
    /* Among the tags the marker is compact like all lengths there: 0 for null, not -1. */
    buffer_i8(bytes, object != NULL ? 1 : is_tagged ? 0 : -1);
    return object == NULL ? 0 : encode_struct(encoding, field->shape, object);
}

/* One value that is no array; `field` may be that of the array it is in. */
static int encode_value(struct encoding *encoding, const struct field *field, bool may_be_null,
                        bool is_tagged, const void *at)
{
    struct buffer *bytes = &encoding->out->bytes;
    switch (field->type) {
    case FIELD_BOOL: buffer_i8(bytes, *(const bool *)at); return 0;
    case FIELD_INT8: buffer_i8(bytes, *(const int8_t *)at); return 0;
    case FIELD_INT16:
    case FIELD_UINT16: buffer_i16(bytes, *(const int16_t *)at); return 0;
    case FIELD_INT32:
    case FIELD_UINT32: buffer_i32(bytes, *(const int32_t *)at); return 0;
    case FIELD_INT64: buffer_i64(bytes, *(const int64_t *)at); return 0;
    case FIELD_FLOAT64: {
        int64_t bits;
        memcpy(&bits, at, sizeof bits);
        buffer_i64(bytes, bits);
        return 0;
    }
    case FIELD_UUID: buffer_put(bytes, at, sizeof(struct uuid)); return 0;
    case FIELD_STRING: {
        const struct str *text = at;
        return encode_run(encoding, true, may_be_null, text->data, text->length);
    }
    case FIELD_BYTES: {
        const struct bytes *run = at;
        return encode_run(encoding, false, may_be_null, run->data, run->length);
    }
    case FIELD_RECORDS: return encode_records(encoding, may_be_null, at);
    case FIELD_STRUCT: break;
    }
    if (field->is_optional_struct)
        return encode_optional_struct(encoding, field, may_be_null, is_tagged, struct_pointer(at));
    return encode_struct(encoding, field->shape, at);
}

static int encode_field(struct encoding *encoding, const struct field *field, bool is_tagged,
                        const void *at)
{
    bool may_be_null = versions_hold(field->nullable, encoding->version);
    if (!field->is_array) return encode_value(encoding, field, may_be_null, is_tagged, at);

    int32_t count = array_count(at);
    const char *item = array_items(at);
    int err = encode_length(encoding, false, may_be_null, count);
    size_t size = field_element_size(field);
    for (; err == 0 && count > 0; count--, item += size)
        err = encode_value(encoding, field, false, false, item);
    return err;
}

/* A tagged value follows its size: it is written first, then moved to make room. */
static int encode_tagged(struct encoding *encoding, const struct field *field, const void *at)
{
    struct encoder *out = encoding->out;
    buffer_uvarint(&out->bytes, (uint32_t)field->tag);
    size_t start = out->bytes.length;
    size_t spliced = out->splice_bytes;
    unsigned first_splice = out->splice_count;

    int err = encode_field(encoding, field, true, at);
    if (err == 0 && out->bytes.failed) err = ERR_NO_MEMORY;
    if (err != 0) return err;

    size_t length = out->bytes.length - start;
    size_t size = length + (out->splice_bytes - spliced);
    if (size > INT32_MAX) return ERR_MALFORMED;
    unsigned room = uvarint_size((uint32_t)size);
    if (buffer_extend(&out->bytes, room) == NULL) return ERR_NO_MEMORY;
    memmove(out->bytes.data + start + room, out->bytes.data + start, length);
    out->bytes.length = start;
    buffer_uvarint(&out->bytes, (uint32_t)size);
    out->bytes.length += length;
    for (unsigned i = first_splice; i < out->splice_count; i++)
        out->splices[i].at += room;
    return 0;
}

/* The fields that are tagged in this version and not at their default, by ascending tag, which is
 * the order that every table has them in. */
static int encode_tags(struct encoding *encoding, const struct shape *shape, uint32_t count,
                       const void *object)
{
    buffer_uvarint(&encoding->out->bytes, count);
    int err = 0;
    for (unsigned i = 0; err == 0 && count > 0 && i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        const void *at = (const char *)object + field->offset;
        if (!versions_hold(field->tagged, encoding->version) || field_is_default(field, at))
            continue;
        err = encode_tagged(encoding, field, at);
        count--;
    }
    return err;
}

static int encode_struct(struct encoding *encoding, const struct shape *shape, const void *object)
{
    int err = 0;
    uint32_t tag_count = 0;
    const struct field *end = shape->fields + shape->field_count;
    for (const struct field *field = shape->fields; err == 0 && field < end; field++) {
        const void *at = (const char *)object + field->offset;
        if (field_is_in_place(field, encoding->version))
            err = encode_field(encoding, field, false, at);
        else if (versions_hold(field->tagged, encoding->version))
            tag_count += !field_is_default(field, at);
        else if (!field->is_ignorable && !field_is_default(field, at))
            err = ERR_UNSUPPORTED_VERSION;
    }
    if (err == 0 && encoding->is_flexible) err = encode_tags(encoding, shape, tag_count, object);
    return err;
}

int message_encode(const struct message_shape *shape, int16_t version, const void *message,
                   struct encoder *out)
{
    assert(versions_hold(shape->versions, version));
    struct encoding encoding = { out, version, message_is_flexible(shape, version) };
    int err = encode_struct(&encoding, &shape->shape, message);
    if (err == 0 && out->bytes.failed) err = ERR_NO_MEMORY;
    return err;
}
