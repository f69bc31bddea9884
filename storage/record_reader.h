// SPDX-License-Identifier: Apache-2.0
/* The records of a batch one after the other, from memory or out of a decompressor.
 *
 * Only record_batch.c and record_walk.c use it. A record, big numbers as zigzag varints:
 *
 *    length of the rest · int8 attributes (unused) · timestamp delta · offset delta ·
 *    key length (-1 null) · key · value length (-1 null) · value ·
 *    header count · per header: key length, key, value length (-1 null), value */

#ifndef STORAGE_RECORD_READER_H
#define STORAGE_RECORD_READER_H

#include "compress.h"
#include "record_batch.h"

struct record_reader {
    const uint8_t *at;    /* The next byte. */
    const uint8_t *limit; /* End of those bytes that are there and the record's. */
    int64_t beyond;       /* How many of the record are not there yet. */
    bool in_record;       /* Past its length: the stream may not end before the record does. */
    const uint8_t *end;   /* End of the bytes that are there. */
    int64_t max_bytes;    /* No compressed record is longer. */
    bool keep_records;    /* Whole records are wanted in one piece. */
    int err;              /* The first failure, */
    const char *why;      /* in words. */
    bool is_too_long;     /* It was that max_bytes were not enough. */
    struct decompressor *decompressor; /* NULL: everything is there. */
    uint8_t *window;                   /* What it gave, owned. */
    size_t window_size;
};

struct record_fields {
    int64_t timestamp_delta;
    int32_t offset_delta;
    struct bytes key, value; /* Without keep_records only the lengths can be trusted. */
    int32_t header_count;
    struct bytes headers;
};

/* The batch must stay until record_reader_close(). With `keep_records` the fields of a record point
 * to its bytes, valid until the next call; without, memory is bounded however long a record is. 0,
 * ERR_NO_MEMORY, ERR_UNSUPPORTED_COMPRESSION_TYPE. */
int record_reader_open(struct record_reader *reader, const struct record_batch *batch,
                       int64_t max_decompressed_bytes, bool keep_records);
void record_reader_close(struct record_reader *reader); /* Also after a failed open. */

/* 0, ERR_INVALID_RECORD, ERR_NO_MEMORY. */
int record_reader_next(struct record_reader *reader, struct record_fields *fields);

/* Is this really the end? 0, ERR_INVALID_RECORD (bytes are left, or a checksum is wrong). */
int record_reader_finish(struct record_reader *reader);

#endif
