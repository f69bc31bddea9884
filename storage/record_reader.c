// SPDX-License-Identifier: Apache-2.0
#include "record_reader.h"

#include "alloc.h"
#include "error.h"

#define VARINT_BYTES_MAX  5
#define VARLONG_BYTES_MAX 10
#define WINDOW_BYTES      65536
#define UNKNOWN_BEYOND    (INT64_MAX / 2) /* Between records: as much as the decompressor has. */

static void fail(struct record_reader *reader, int err, const char *why)
{
    if (reader->err == 0) {
        reader->err = err;
        reader->why = why;
    }
    reader->at = reader->limit = reader->end; /* So that every read from now on finds nothing. */
    reader->beyond = 0;
}

static void fail_decompressing(struct record_reader *reader, int err)
{
    reader->is_too_long = err == ERR_LIMIT && reader->err == 0;
    if (err == ERR_NO_MEMORY)
        fail(reader, err, NULL);
    else if (err == ERR_LIMIT)
        fail(reader, ERR_INVALID_RECORD, "it decompresses to more than is allowed");
    else
        fail(reader, ERR_INVALID_RECORD, "its compressed records are broken");
}

int record_reader_open(struct record_reader *reader, const struct record_batch *batch,
                       int64_t max_decompressed_bytes, bool keep_records)
{
    const uint8_t *payload = batch->data + RECORD_BATCH_HEADER_SIZE;
    size_t length = batch->size - RECORD_BATCH_HEADER_SIZE;
    unsigned codec = batch->attributes & BATCH_CODEC_MASK;
    *reader = (struct record_reader){ .keep_records = keep_records };
    if (codec == CODEC_NONE) {
        reader->at = payload;
        reader->end = payload + length;
        return 0;
    }
    reader->max_bytes = max_decompressed_bytes;
    int err = decompressor_open(&reader->decompressor, codec, payload, length,
                                max_decompressed_bytes);
    if (err == 0 && (reader->window = mem_alloc(WINDOW_BYTES)) == NULL) err = ERR_NO_MEMORY;
    reader->window_size = WINDOW_BYTES;
    reader->at = reader->end = reader->window;
    return err;
}

void record_reader_close(struct record_reader *reader)
{
    decompressor_close(reader->decompressor);
    mem_free(reader->window);
    reader->decompressor = NULL;
    reader->window = NULL;
}

/* Room for more behind what is there. Only a record that must stay in one piece can fill the
 * window, and then it grows with the bytes that came, not with the length that was claimed. */
static bool make_room(struct record_reader *reader)
{
    size_t left = (size_t)(reader->end - reader->at);
    if (left == reader->window_size) {
        uint8_t *window = mem_realloc(reader->window, reader->window_size * 2);
        if (window == NULL) {
            fail(reader, ERR_NO_MEMORY, NULL);
            return false;
        }
        reader->window = window;
        reader->window_size *= 2;
    } else if (reader->at != reader->window) {
        memmove(reader->window, reader->at, left);
    }
    reader->at = reader->window;
    reader->end = reader->window + left;
    return true;
}

/* Says which of the bytes that are there belong to a record that has `left` more. */
static void set_limit(struct record_reader *reader, int64_t left)
{
    int64_t there = reader->end - reader->at;
    reader->beyond = left > there ? left - there : 0;
    reader->limit = left > there ? reader->end : reader->at + left;
}

/* Fetches more of the record; false if there is no more. */
static bool more(struct record_reader *reader)
{
    if (reader->beyond == 0) return false;
    int64_t left = reader->limit - reader->at + reader->beyond;
    size_t got = 0;
    if (!make_room(reader)) return false;
    size_t room = reader->window_size - (size_t)(reader->end - reader->window);
    int err = decompressor_read(reader->decompressor, reader->window + reader->window_size - room,
                                room, &got);
    if (err != 0) {
        fail_decompressing(reader, err);
        return false;
    }
    reader->end += got;
    set_limit(reader, left);
    if (got == 0 && reader->in_record)
        fail(reader, ERR_INVALID_RECORD, "a record runs past the batch");
    else if (got == 0)
        reader->beyond = 0;
    return got > 0;
}

/* KIP-98's varints: 7 bits a byte, the lowest first; longer than needed is legal, bits above the
 * type's are dropped. */
static uint64_t take_base128(struct record_reader *reader, unsigned bytes_max)
{
    if (reader->at < reader->limit && *reader->at < 0x80) return *reader->at++;
    while (reader->limit - reader->at < bytes_max && more(reader))
        ;
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes_max && reader->at < reader->limit; i++) {
        uint8_t byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) return value;
    }
    fail(reader, ERR_INVALID_RECORD, "a number in it does not end");
    return 0;
}

static int32_t take_varint(struct record_reader *reader)
{
    uint32_t raw = (uint32_t)take_base128(reader, VARINT_BYTES_MAX);
    return (int32_t)(raw >> 1 ^ (0 - (raw & 1)));
}

static int64_t take_varlong(struct record_reader *reader)
{
    uint64_t raw = take_base128(reader, VARLONG_BYTES_MAX);
    return (int64_t)(raw >> 1 ^ (0 - (raw & 1)));
}

/* Steps over `length` bytes of the record. Returns where they are, if they are in one piece. */
static const uint8_t *take(struct record_reader *reader, int32_t length)
{
    int64_t left = length;
    if (left > reader->limit - reader->at + reader->beyond)
        fail(reader, ERR_INVALID_RECORD, "a field runs past its record");
    while (left > reader->limit - reader->at && reader->err == 0) {
        left -= reader->limit - reader->at;
        reader->at = reader->limit;
        more(reader);
    }
    if (reader->err != 0) return NULL;
    const uint8_t *taken = reader->at;
    reader->at += left;
    return taken;
}

static struct bytes take_bytes(struct record_reader *reader, int32_t length_min)
{
    int32_t length = take_varint(reader);
    if (length < length_min) fail(reader, ERR_INVALID_RECORD, "a field has an impossible length");
    return reader->err != 0 || length < 0 ? BYTES_NULL
                                          : (struct bytes){ take(reader, length), length };
}

static void leave_record(struct record_reader *reader)
{
    reader->in_record = false;
    set_limit(reader, reader->decompressor == NULL ? reader->end - reader->at : UNKNOWN_BEYOND);
}

/* Finds the record's end, and its bytes as far as wanted. */
static void begin_record(struct record_reader *reader)
{
    leave_record(reader);
    int32_t length = take_varint(reader);
    if (length < 0)
        fail(reader, ERR_INVALID_RECORD, "a record has an impossible length");
    else if (reader->decompressor == NULL && length > reader->end - reader->at)
        fail(reader, ERR_INVALID_RECORD, "a record runs past the batch");
    else if (reader->decompressor != NULL && length > reader->max_bytes)
        fail_decompressing(reader, ERR_LIMIT);
    if (reader->err != 0) return;
    reader->in_record = true;
    set_limit(reader, length);
    while (reader->keep_records && more(reader))
        ;
}

/* One number of a record that is there as a whole; NULL if it does not end in time. */
static inline const uint8_t *quick_number(const uint8_t *at, const uint8_t *end, unsigned bytes_max,
                                          int64_t *number)
{
    uint64_t raw = 0;
    for (unsigned i = 0; i < bytes_max && at < end; i++) {
        uint8_t byte = *at++;
        raw |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            if (bytes_max == VARINT_BYTES_MAX) raw = (uint32_t)raw;
            *number = (int64_t)(raw >> 1 ^ (0 - (raw & 1)));
            return at;
        }
    }
    return NULL;
}

/* A key or value, -1 for null. */
static inline const uint8_t *quick_bytes(const uint8_t *at, const uint8_t *end, struct bytes *bytes)
{
    int64_t length = 0;
    if (at != NULL) at = quick_number(at, end, VARINT_BYTES_MAX, &length);
    if (at == NULL || length < -1 || length > end - at) return NULL;
    *bytes = (struct bytes){ length < 0 ? NULL : at, (int32_t)length };
    return length < 0 ? at : at + length;
}

/* Takes the usual record, whole and without headers, at once: the speed of the produce path is
 * here. False, with nothing taken, if it is not of that kind or is bad: then the long way
 * decides. */
static bool quick_next(struct record_reader *reader, struct record_fields *fields)
{
    int64_t length = 0, offset_delta = 0;
    const uint8_t *at = quick_number(reader->at, reader->end, VARINT_BYTES_MAX, &length);
    if (at == NULL || length < 1 || length > reader->end - at) return false;
    const uint8_t *end = at + length;
    at = quick_number(at + 1, end, VARLONG_BYTES_MAX, &fields->timestamp_delta);
    if (at != NULL) at = quick_number(at, end, VARINT_BYTES_MAX, &offset_delta);
    at = quick_bytes(at, end, &fields->key);
    at = quick_bytes(at, end, &fields->value);
    if (at == NULL || end - at != 1 || *at != 0) return false;
    fields->offset_delta = (int32_t)offset_delta;
    fields->header_count = 0;
    fields->headers = (struct bytes){ end, 0 };
    reader->at = end;
    return true;
}

int record_reader_next(struct record_reader *reader, struct record_fields *fields)
{
    if (quick_next(reader, fields)) return 0;
    begin_record(reader);
    take(reader, 1); /* Attributes: no bit has a meaning, and none is refused. */
    fields->timestamp_delta = take_varlong(reader);
    fields->offset_delta = take_varint(reader);
    fields->key = take_bytes(reader, -1);
    fields->value = take_bytes(reader, -1);
    fields->header_count = take_varint(reader);
    if (fields->header_count < 0)
        fail(reader, ERR_INVALID_RECORD, "a record has an impossible number of headers");
    const uint8_t *headers = reader->at;
    for (int32_t i = 0; i < fields->header_count && reader->err == 0; i++) {
        take_bytes(reader, 0);
        take_bytes(reader, INT32_MIN); /* Kafka takes any negative length for null. */
    }
    fields->headers = (struct bytes){ headers, (int32_t)(reader->limit - headers) };
    if (reader->at != reader->limit || reader->beyond != 0)
        fail(reader, ERR_INVALID_RECORD, "a record has bytes behind its headers");
    return reader->err;
}

int record_reader_finish(struct record_reader *reader)
{
    leave_record(reader);
    if (reader->err == 0 && (reader->at != reader->limit || more(reader)))
        fail(reader, ERR_INVALID_RECORD, "bytes follow its last record");
    return reader->err;
}
