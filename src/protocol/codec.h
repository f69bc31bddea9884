// SPDX-License-Identifier: Apache-2.0
/* One description of a message's fields drives encoding and decoding for every version.
 *
 *  (1) A message is a C struct and a table of fields that says, per field, in which versions it is on
 *      the wire, where it may be null, whether it is tagged, and its default.
 *  (2) Decoding sets every field of the struct: what the version does not have gets its default.
 *      Strings, bytes and records point into the input; arrays and structs live in the arena.
 *  (3) Encoding refuses a field that is not at its default in a version without it, unless the table
 *      says that the field is ignorable.
 *  (4) A count or length from the wire is checked against the bytes that are left, with the smallest
 *      size that an element can have, before anything is allocated for it.
 *  (5) What was decoded may be copied and compared by its length alone: text and bytes of no length point
 *      somewhere, only null ones do not. */

#ifndef PROTOCOL_CODEC_H
#define PROTOCOL_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "buffer.h"
#include "bytes.h"
#include "cursor.h"
#include "file_slice.h"
#include "uuid.h"

enum field_type {
    FIELD_BOOL,    /* bool */
    FIELD_INT8,    /* int8_t */
    FIELD_INT16,   /* int16_t */
    FIELD_UINT16,  /* uint16_t */
    FIELD_INT32,   /* int32_t */
    FIELD_UINT32,  /* uint32_t */
    FIELD_INT64,   /* int64_t */
    FIELD_FLOAT64, /* double */
    FIELD_UUID,    /* struct uuid */
    FIELD_STRING,  /* struct str */
    FIELD_BYTES,   /* struct bytes */
    FIELD_RECORDS, /* struct records */
    FIELD_STRUCT,  /* the struct itself, or ARRAY_OF it where it is an array's element */
};

/* An array field: `ARRAY_OF(int32_t) partitions;`. `count` -1 means null. All arrays have this
 * layout, whatever their element. */
#define ARRAY_OF(element) \
    struct {              \
        element *items;   \
        int32_t count;    \
    }

/* Record batches: bytes in memory, or (encoding only) a slice of a file that leaves the encoder as a
 * splice instead of being copied. `length` -1 means null; with a slice it is the slice's length. */
struct records {
    const uint8_t *data;
    int32_t length;
    struct file_slice *slice;
};

/* First and last version, both included; VERSIONS_NONE for never. */
struct versions {
    int16_t first, last;
};
/* clang-format off */
#define VERSIONS_NONE { 1, 0 }
/* clang-format on */

static inline bool versions_hold(struct versions versions, int16_t version)
{
    return version >= versions.first && version <= versions.last;
}

struct shape;

struct field {
    const char *name;     /* As in Kafka's tables, first letter in lower case. */
    enum field_type type; /* Of the field, or of the element if it is an array. */
    bool is_array;
    bool is_optional_struct; /* A nullable struct: a pointer in the C struct, NULL for null. NULL
                              * is its default, whatever default_is_null says. */
    bool is_ignorable;
    bool default_is_null;
    int64_t default_number;   /* Numbers, bools. */
    const char *default_text; /* Strings; NULL means "". */
    struct versions present;
    struct versions nullable;
    int16_t tag; /* Counts in `tagged` versions only. */
    struct versions tagged;
    size_t offset;             /* In the C struct. */
    const struct shape *shape; /* FIELD_STRUCT. */
};

struct shape {
    const char *name;
    size_t size; /* Of the C struct. */
    const struct field *fields;
    unsigned field_count;
};

/* One message: a request, a response or a header. */
struct message_shape {
    const char *name;
    struct versions versions;
    int16_t flexible_from; /* INT16_MAX: never. */
    struct shape shape;
};

/* Where in the encoded bytes a file slice belongs. */
struct splice {
    size_t at; /* Bytes of `bytes` that go before it. */
    struct file_slice *slice;
};

struct encoder {
    struct buffer bytes;
    struct splice *splices; /* From mem_alloc; ascending by `at`. */
    unsigned splice_count;
    unsigned splice_capacity;
    size_t splice_bytes; /* Sum of the slices' lengths. */
};

void encoder_init(struct encoder *encoder);

/* Frees; the slices themselves belong to whoever made them. */
void encoder_close(struct encoder *encoder);

/* The slice's bytes come next. Keeps the pointer. 0 or ERR_NO_MEMORY. */
int encoder_splice(struct encoder *encoder, struct file_slice *slice);

/* Sets every field of `*message` to its default (empty arrays, null where the default is null). */
void message_defaults(const struct message_shape *shape, void *message);

/* The same for a struct inside a message. */
void shape_defaults(const struct shape *shape, void *object);

/* Fills an array field with `count` structs, each at its defaults:
 * array_make(&fetch_response_topic_shape, count, arena, &response->responses). 0 gives an empty
 * array. Returns 0 or ERR_NO_MEMORY (also when the arena's limit is reached). */
int array_make(const struct shape *element, int32_t count, struct arena *arena, void *array);

/* Decodes one message of `version`, which must be one that the shape has. Borrows the input: the
 * result is valid as long as those bytes and the arena are. Bytes behind the message are left in the
 * cursor. Returns 0, ERR_MALFORMED (also when the arena's limit is reached) or ERR_NO_MEMORY. */
int message_decode(const struct message_shape *shape, int16_t version, struct cursor *in,
                   struct arena *arena, void *message);

/* The same, but arrays may have no more than `elements_max` elements in all: what a message costs its
 * reader grows with them more than with its bytes. More are ERR_MALFORMED. */
int message_decode_limited(const struct message_shape *shape, int16_t version, struct cursor *in,
                           struct arena *arena, uint32_t elements_max, void *message);

/* Appends one message of `version` to the encoder. Returns 0, ERR_UNSUPPORTED_VERSION (rule 3),
 * ERR_MALFORMED (null where null is not allowed, text too long) or ERR_NO_MEMORY; after an error the
 * encoder's content is of no use. */
int message_encode(const struct message_shape *shape, int16_t version, const void *message,
                   struct encoder *out);

static inline bool message_is_flexible(const struct message_shape *shape, int16_t version)
{
    return version >= shape->flexible_from;
}

#endif
