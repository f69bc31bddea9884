// SPDX-License-Identifier: Apache-2.0
/* Kafka's record batch (magic 2): reading its header, walking its records, checking what a client
 * sent.
 *
 *    at  size  meaning
 *     0    8   base offset            (set by the leader)
 *     8    4   length of what follows (49 + payload)
 *    12    4   partition leader epoch (set by the leader)
 *    16    1   magic, 2
 *    17    4   CRC-32C of everything from the attributes on
 *    21    2   attributes: 0-2 codec, 3 LogAppendTime, 4 transactional, 5 control, 6 delete horizon
 *    23    4   last offset delta
 *    27    8   base timestamp
 *    35    8   max timestamp
 *    43    8   producer id, -1 none
 *    51    2   producer epoch, -1 none
 *    53    4   base sequence, -1 none
 *    57    4   record count
 *    61        records, compressed as a whole if there is a codec */

#ifndef STORAGE_RECORD_BATCH_H
#define STORAGE_RECORD_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "cursor.h"

#define RECORD_BATCH_HEADER_SIZE 61
#define RECORD_BATCH_OVERHEAD    12 /* Base offset and length: what `length` does not count. */

enum codec { CODEC_NONE, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD };

#define BATCH_CODEC_MASK      0x07
#define BATCH_LOG_APPEND_TIME 0x08
#define BATCH_TRANSACTIONAL   0x10
#define BATCH_CONTROL         0x20
#define BATCH_DELETE_HORIZON  0x40

struct record_batch {
    const uint8_t *data; /* Borrowed: the whole batch. */
    size_t size;         /* In bytes, all of it. */
    int64_t base_offset;
    int32_t leader_epoch;
    int8_t magic;
    uint32_t crc;
    int16_t attributes;
    int32_t last_offset_delta;
    int64_t base_timestamp;
    int64_t max_timestamp;
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t base_sequence;
    int32_t record_count;
};

/* Reads the header of the batch that starts at `data`. Checks only what reading needs: magic 2, a
 * length of at least a header. `available` may end inside the batch, but not inside its header;
 * `batch->size` says how long the whole is. 0, ERR_MALFORMED (`available` too short for a header),
 * ERR_CORRUPT_MESSAGE (magic, length). */
int record_batch_read_header(struct record_batch *batch, const void *data, size_t available);

/* The largest timestamp of its records; -1: none. A bare header that compaction has left still says that of
 * records which are gone, as Kafka's does, and times are not found by it. */
static inline int64_t record_batch_newest(const struct record_batch *batch)
{
    return batch->record_count > 0 ? batch->max_timestamp : -1;
}

static inline int64_t record_batch_last_offset(const struct record_batch *batch)
{
    /* Unsigned, since neither number need make sense in a file. */
    return (int64_t)((uint64_t)batch->base_offset + (uint64_t)batch->last_offset_delta);
}

/* The sequence of the last record; after 2^31-1 comes 0. -1 if the batch has none. */
int32_t record_batch_last_sequence(const struct record_batch *batch);

bool record_batch_crc_is_right(const struct record_batch *batch); /* All bytes must be there. */

/* Sets base offset and leader epoch in place; both lie before the CRC. */
void record_batch_set_position(uint8_t *data, int64_t base_offset, int32_t leader_epoch);

/* Sets LogAppendTime and max timestamp in place and computes the CRC again. What was read of the
 * header before is stale then. */
void record_batch_set_log_append_time(uint8_t *data, size_t size, int64_t timestamp);

/* The records behind the header are another codec's now, and `size` is the whole: writes both into it,
 * with its CRC. */
void record_batch_set_codec(uint8_t *data, size_t size, enum codec codec);

struct record_header {
    struct bytes key, value; /* A header's key is never null. */
};

struct record {
    int64_t offset;
    int64_t timestamp;
    struct bytes key, value;
    int32_t header_count;
    struct bytes headers; /* Encoded; walk with record_next_header(). */
};

/* Walks the records of a batch, decompressing in bounded pieces of memory where it can; a record
 * itself is contiguous. The batch's bytes must stay until record_walk_close(). */
struct record_walk;
/* 0, ERR_INVALID_RECORD, ERR_UNSUPPORTED_COMPRESSION_TYPE, ERR_NO_MEMORY. */
int record_walk_open(struct record_walk **walk, const struct record_batch *batch,
                     int64_t max_decompressed_bytes);
/* 0 and a record valid until the next call; ERR_NOT_FOUND at the end; ERR_INVALID_RECORD,
 * ERR_NO_MEMORY. */
int record_walk_next(struct record_walk *walk, struct record *record);
void record_walk_close(struct record_walk *walk); /* NULL is fine. */

/* The next header of a record; begin with cursor_over() its `headers`. 0, ERR_NOT_FOUND at the end,
 * ERR_INVALID_RECORD. */
int record_next_header(struct cursor *headers, struct record_header *header);

/* What a topic asks of its batches. */
struct batch_rules {
    int32_t max_message_bytes;
    int64_t max_decompressed_bytes;
    bool log_append_time;
    int64_t timestamp_before_max_ms;
    int64_t timestamp_after_max_ms;
    bool is_compacted;  /* Records must have keys. */
    bool trust_records; /* sluice.record.validation=batch: records inside are not walked, unless
                              * they must have keys. */
    int16_t produce_version; /* Below 7 zstd is refused (76). */
};

struct batch_verdict {
    int err;         /* 0, or what the client gets. */
    const char *why; /* Static sentence, or NULL. */
    /* Indexes of all refused records (ERR_INVALID_RECORD, ERR_INVALID_TIMESTAMP); NULL: none. */
    int32_t *record_errors;
    int32_t record_error_count, record_error_capacity;
    /* The real one, found by walking; the stored one if records are trusted. */
    int64_t max_timestamp;
    bool is_too_long_decompressed; /* Refused for max_decompressed_bytes, nothing else. */
    bool
        is_of_request; /* No produce may hold this, whatever the log: Kafka does not ask the log. */
    /* The header must be corrected with record_batch_set_max_timestamp(): it says another time, or
     * LogAppendTime where the topic has CreateTime. Never with LogAppendTime, where the log writes
     * both. */
    bool max_timestamp_differs;
};

/* The check of what a producer sent for one partition (DESIGN 4.3): exactly one batch, all of it.
 * Looks only at its arguments. Any thread; walks and decompresses, so large compressed batches
 * belong in the pool. `batch` is filled in as far as possible. The caller releases the verdict. */
void record_batch_validate(const void *data, size_t size, const struct batch_rules *rules,
                           int64_t now_ms, struct record_batch *batch,
                           struct batch_verdict *verdict);

void batch_verdict_release(struct batch_verdict *verdict);

/* The check of what a leader sent to a follower: the batch that `data` begins with. Of the records inside
 * only what decides about transactions is looked at. 0, ERR_NOT_FOUND (`data` ends, perhaps inside a
 * batch: the rest comes with the next fetch), ERR_CORRUPT_MESSAGE, ERR_UNSUPPORTED_COMPRESSION_TYPE,
 * ERR_INVALID_RECORD, ERR_NO_MEMORY. */
int record_batch_check_replicated(const void *data, size_t size, struct record_batch *batch);

/* Writes CreateTime and the max timestamp that the records really have into the header, with its
 * CRC. What was read of the header before is stale then. */
void record_batch_set_max_timestamp(uint8_t *data, size_t size, int64_t max_timestamp);

#endif
