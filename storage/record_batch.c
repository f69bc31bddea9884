// SPDX-License-Identifier: Apache-2.0
#include "record_batch.h"

#include "alloc.h"
#include "crc32c.h"
#include "error.h"
#include "record_reader.h"

#define AT_BASE_OFFSET       0
#define AT_LENGTH            8
#define AT_LEADER_EPOCH      12
#define AT_MAGIC             16
#define AT_CRC               17
#define AT_ATTRIBUTES        21 /* Here begins what the CRC covers. */
#define AT_LAST_OFFSET_DELTA 23
#define AT_BASE_TIMESTAMP    27
#define AT_MAX_TIMESTAMP     35
#define AT_PRODUCER_ID       43
#define AT_PRODUCER_EPOCH    51
#define AT_BASE_SEQUENCE     53
#define AT_RECORD_COUNT      57

#define MAGIC      2
#define LENGTH_MIN (RECORD_BATCH_HEADER_SIZE - RECORD_BATCH_OVERHEAD)
#define LENGTH_MAX (INT32_MAX - RECORD_BATCH_OVERHEAD) /* The whole size is an int32, too. */

int record_batch_read_header(struct record_batch *batch, const void *data, size_t available)
{
    const uint8_t *bytes = data;
    if (available < RECORD_BATCH_HEADER_SIZE) return ERR_MALFORMED;
    int32_t length = load_i32(bytes + AT_LENGTH);
    if ((int8_t)bytes[AT_MAGIC] != MAGIC || length < LENGTH_MIN || length > LENGTH_MAX)
        return ERR_CORRUPT_MESSAGE;
    *batch = (struct record_batch){
        .data = bytes,
        .size = (size_t)length + RECORD_BATCH_OVERHEAD,
        .base_offset = load_i64(bytes + AT_BASE_OFFSET),
        .leader_epoch = load_i32(bytes + AT_LEADER_EPOCH),
        .magic = MAGIC,
        .crc = (uint32_t)load_i32(bytes + AT_CRC),
        .attributes = load_i16(bytes + AT_ATTRIBUTES),
        .last_offset_delta = load_i32(bytes + AT_LAST_OFFSET_DELTA),
        .base_timestamp = load_i64(bytes + AT_BASE_TIMESTAMP),
        .max_timestamp = load_i64(bytes + AT_MAX_TIMESTAMP),
        .producer_id = load_i64(bytes + AT_PRODUCER_ID),
        .producer_epoch = load_i16(bytes + AT_PRODUCER_EPOCH),
        .base_sequence = load_i32(bytes + AT_BASE_SEQUENCE),
        .record_count = load_i32(bytes + AT_RECORD_COUNT),
    };
    return 0;
}

int32_t record_batch_last_sequence(const struct record_batch *batch)
{
    if (batch->base_sequence < 0) return -1;
    return (int32_t)(((uint32_t)batch->base_sequence + (uint32_t)batch->last_offset_delta) &
                     INT32_MAX);
}

bool record_batch_crc_is_right(const struct record_batch *batch)
{
    return crc32c(batch->data + AT_ATTRIBUTES, batch->size - AT_ATTRIBUTES) == batch->crc;
}

static void set_crc(uint8_t *data, size_t size)
{
    store_i32(data + AT_CRC, (int32_t)crc32c(data + AT_ATTRIBUTES, size - AT_ATTRIBUTES));
}

void record_batch_set_position(uint8_t *data, int64_t base_offset, int32_t leader_epoch)
{
    store_i64(data + AT_BASE_OFFSET, base_offset);
    store_i32(data + AT_LEADER_EPOCH, leader_epoch);
}

static void set_timestamp(uint8_t *data, size_t size, bool log_append_time, int64_t timestamp)
{
    int16_t attributes = load_i16(data + AT_ATTRIBUTES) & ~BATCH_LOG_APPEND_TIME;
    if (log_append_time) attributes |= BATCH_LOG_APPEND_TIME;
    store_i16(data + AT_ATTRIBUTES, attributes);
    store_i64(data + AT_MAX_TIMESTAMP, timestamp);
    set_crc(data, size);
}

void record_batch_set_log_append_time(uint8_t *data, size_t size, int64_t timestamp)
{
    set_timestamp(data, size, true, timestamp);
}

void record_batch_set_max_timestamp(uint8_t *data, size_t size, int64_t max_timestamp)
{
    set_timestamp(data, size, false, max_timestamp);
}

void record_batch_set_codec(uint8_t *data, size_t size, enum codec codec)
{
    int16_t attributes = load_i16(data + AT_ATTRIBUTES) & ~BATCH_CODEC_MASK;
    store_i32(data + AT_LENGTH, (int32_t)(size - RECORD_BATCH_OVERHEAD));
    store_i16(data + AT_ATTRIBUTES, (int16_t)(attributes | (int16_t)codec));
    set_crc(data, size);
}

#define MAGIC_END      17 /* What must be there before the length can be believed. */
#define OLD_LENGTH_MIN 14 /* The smallest message of the formats before magic 2. */

#define CONTROL_DECOMPRESSED_MAX 65536

/* ---- What a leader sent */

/* Whoever reads an end marker must find out which it is. */
static int check_control_record(const struct record_batch *batch)
{
    struct record_walk *walk = NULL;
    struct record record = { 0 };
    int err = record_walk_open(&walk, batch, CONTROL_DECOMPRESSED_MAX);
    if (err == 0) err = record_walk_next(walk, &record);
    if (err == 0 && record.key.length < 4) err = ERR_INVALID_RECORD;
    record_walk_close(walk);
    return err == ERR_NOT_FOUND ? 0 : err; /* Compaction leaves empty ones. */
}

int record_batch_check_replicated(const void *data, size_t size, struct record_batch *batch)
{
    const uint8_t *bytes = data;
    struct record_batch found;
    if (size < MAGIC_END) return ERR_NOT_FOUND;
    int32_t length = load_i32(bytes + AT_LENGTH);
    if (length < OLD_LENGTH_MIN || length > LENGTH_MAX) return ERR_CORRUPT_MESSAGE;
    if ((int8_t)bytes[AT_MAGIC] != MAGIC) return ERR_CORRUPT_MESSAGE;
    if ((size_t)length + RECORD_BATCH_OVERHEAD > size) return ERR_NOT_FOUND;
    if (record_batch_read_header(&found, data, size) != 0 || !record_batch_crc_is_right(&found) ||
        found.base_offset < 0 || found.last_offset_delta < 0 ||
        found.base_offset > INT64_MAX - found.last_offset_delta - 1 || found.leader_epoch < 0)
        return ERR_CORRUPT_MESSAGE;
    if ((found.attributes & BATCH_CODEC_MASK) > CODEC_ZSTD) return ERR_UNSUPPORTED_COMPRESSION_TYPE;
    bool is_marker = found.producer_id >= 0 && (found.attributes & BATCH_CONTROL) != 0;
    int err = is_marker ? check_control_record(&found) : 0;
    if (err == 0) *batch = found;
    return err;
}

/* ---- What a producer sent (DESIGN 4.3). Each step returns false once the batch is refused. */

#define ZSTD_PRODUCE_VERSION 7

static bool refuse(struct batch_verdict *verdict, int err, const char *why)
{
    verdict->err = err;
    verdict->why = why;
    return false;
}

static bool refuse_request(struct batch_verdict *verdict, int err, const char *why)
{
    verdict->is_of_request = true;
    return refuse(verdict, err, why);
}

/* Exactly one whole batch of magic 2. The codes are Kafka's, except for bytes behind the batch
 * (which Kafka drops in silence) and impossible lengths (docs/compatibility.md). */
static bool validate_envelope(const uint8_t *data, size_t size, struct record_batch *batch,
                              struct batch_verdict *verdict)
{
    if (size < MAGIC_END)
        return refuse_request(verdict, ERR_INVALID_RECORD, "there is no whole batch");
    int32_t length = load_i32(data + AT_LENGTH);
    int8_t magic = (int8_t)data[AT_MAGIC];
    if (length < OLD_LENGTH_MIN || length > LENGTH_MAX)
        return refuse(verdict, ERR_CORRUPT_MESSAGE, "the batch has an impossible length");
    if (magic < 0 || magic > MAGIC)
        return refuse(verdict, ERR_CORRUPT_MESSAGE, "the batch has an unknown format");
    if ((size_t)length + RECORD_BATCH_OVERHEAD > size)
        return refuse_request(verdict, ERR_INVALID_RECORD, "there is no whole batch");
    if (magic < MAGIC)
        return refuse_request(verdict, ERR_INVALID_RECORD,
                              "the batch has an old format, only 2 is taken");
    if (record_batch_read_header(batch, data, size) != 0)
        return refuse(verdict, ERR_CORRUPT_MESSAGE, "the batch is shorter than its header");
    if (batch->size == size) return true;
    struct record_batch second;
    size_t rest = size - batch->size;
    if (record_batch_read_header(&second, data + batch->size, rest) == 0 && second.size <= rest)
        return refuse_request(verdict, ERR_INVALID_RECORD, "there is more than one batch");
    return refuse(verdict, ERR_CORRUPT_MESSAGE, "bytes follow the batch");
}

static bool validate_header(const struct record_batch *batch, const struct batch_rules *rules,
                            struct batch_verdict *verdict)
{
    unsigned codec = batch->attributes & BATCH_CODEC_MASK;
    if (batch->base_offset != 0)
        return refuse(verdict, ERR_INVALID_RECORD, "a producer's batch begins at offset 0");
    if (batch->size > (size_t)rules->max_message_bytes)
        return refuse(verdict, ERR_MESSAGE_TOO_LARGE, NULL);
    if (!record_batch_crc_is_right(batch))
        return refuse(verdict, ERR_CORRUPT_MESSAGE, "the CRC does not match");
    if (batch->record_count <= 0 || batch->last_offset_delta != batch->record_count - 1)
        return refuse(verdict, ERR_INVALID_RECORD,
                      "the record count does not fit the last offset delta");
    if (batch->attributes & BATCH_CONTROL)
        return refuse(verdict, ERR_INVALID_RECORD, "clients may not send control batches");
    if (batch->producer_id >= 0 && batch->base_sequence < 0)
        return refuse(verdict, ERR_INVALID_RECORD, "an idempotent batch needs a sequence");
    if (codec_name(codec) == NULL)
        return refuse(verdict, ERR_UNSUPPORTED_COMPRESSION_TYPE, "nobody knows that codec");
    /* KIP-110: clients that old cannot know zstd. */
    if (codec == CODEC_ZSTD && rules->produce_version < ZSTD_PRODUCE_VERSION)
        return refuse_request(verdict, ERR_UNSUPPORTED_COMPRESSION_TYPE,
                              "zstd needs version 7 of Produce or later");
    return true;
}

/* -1 says that a record has none. The differences may exceed int64. */
static bool timestamp_is_in_bounds(int64_t timestamp, const struct batch_rules *rules,
                                   int64_t now_ms)
{
    if (timestamp == -1) return true;
    return timestamp > now_ms
               ? (uint64_t)timestamp - (uint64_t)now_ms <= (uint64_t)rules->timestamp_after_max_ms
               : (uint64_t)now_ms - (uint64_t)timestamp <= (uint64_t)rules->timestamp_before_max_ms;
}

#define RECORD_ERRORS_AT_FIRST 16

void batch_verdict_release(struct batch_verdict *verdict)
{
    mem_free(verdict->record_errors);
    verdict->record_errors = NULL;
    verdict->record_error_count = verdict->record_error_capacity = 0;
}

/* The batch is refused as a whole, for something else than its records say. */
static bool refuse_whole(struct batch_verdict *verdict, int err, const char *why)
{
    batch_verdict_release(verdict);
    return refuse(verdict, err, why);
}

static bool grow_record_errors(struct batch_verdict *verdict)
{
    if (verdict->record_error_count < verdict->record_error_capacity) return true;
    size_t capacity = verdict->record_error_capacity == 0
                          ? RECORD_ERRORS_AT_FIRST
                          : 2 * (size_t)verdict->record_error_capacity;
    int32_t *grown = mem_realloc(verdict->record_errors, capacity * sizeof *grown);
    if (grown == NULL) return false;
    verdict->record_errors = grown;
    verdict->record_error_capacity = (int32_t)capacity;
    return true;
}

/* A bad timestamp outweighs a missing key, as in Kafka. The walk goes on, to name all records. */
static bool note_record_error(struct batch_verdict *verdict, int32_t index, int err,
                              const char *why)
{
    if (!grow_record_errors(verdict)) return refuse_whole(verdict, ERR_NO_MEMORY, NULL);
    if (verdict->err != ERR_INVALID_TIMESTAMP) refuse(verdict, err, why);
    verdict->record_errors[verdict->record_error_count++] = index;
    return true;
}

/* False: the records behind it need not be looked at. */
static bool validate_record(const struct record_fields *fields, int64_t timestamp, int32_t index,
                            const struct batch_rules *rules, int64_t now_ms,
                            struct batch_verdict *verdict)
{
    /* Kafka lets this pass in uncompressed batches, and readers lose records or stumble. */
    if (fields->offset_delta != index)
        return refuse_whole(verdict, ERR_INVALID_RECORD, "the offset deltas are not 0, 1, 2 ...");
    if (rules->is_compacted && fields->key.length < 0)
        return note_record_error(verdict, index, ERR_INVALID_RECORD,
                                 "a compacted topic takes no record without a key");
    if (!rules->log_append_time && !timestamp_is_in_bounds(timestamp, rules, now_ms))
        return note_record_error(verdict, index, ERR_INVALID_TIMESTAMP, NULL);
    return true;
}

static void validate_records(struct record_reader *reader, const struct record_batch *batch,
                             const struct batch_rules *rules, int64_t now_ms,
                             struct batch_verdict *verdict)
{
    struct record_fields fields;
    int64_t max_timestamp = -1;
    int err = 0;
    for (int32_t i = 0; err == 0 && i < batch->record_count; i++) {
        err = record_reader_next(reader, &fields);
        if (err != 0) break;
        /* With the bit for LogAppendTime every record has the batch's time, also if a client set it. */
        int64_t timestamp = (int64_t)((uint64_t)batch->base_timestamp +
                                      (uint64_t)fields.timestamp_delta);
        if ((batch->attributes & BATCH_LOG_APPEND_TIME) != 0) timestamp = batch->max_timestamp;
        max_timestamp = timestamp > max_timestamp ? timestamp : max_timestamp;
        if (!validate_record(&fields, timestamp, i, rules, now_ms, verdict)) return;
    }
    if (err == 0) err = record_reader_finish(reader);
    if (err != 0) {
        refuse_whole(verdict, err, reader->why);
        verdict->is_too_long_decompressed = reader->is_too_long;
    }
    verdict->max_timestamp = max_timestamp;
}

void record_batch_validate(const void *data, size_t size, const struct batch_rules *rules,
                           int64_t now_ms, struct record_batch *batch,
                           struct batch_verdict *verdict)
{
    *batch = (struct record_batch){ .data = data, .size = size };
    *verdict = (struct batch_verdict){ 0 };
    if (!validate_envelope(data, size, batch, verdict) || !validate_header(batch, rules, verdict))
        return;
    verdict->max_timestamp = batch->max_timestamp;
    /* Compaction would take a record without a key away: it must not be acknowledged on trust. */
    if (!rules->trust_records || rules->is_compacted) {
        struct record_reader reader;
        int err = record_reader_open(&reader, batch, rules->max_decompressed_bytes, false);
        if (err == 0)
            validate_records(&reader, batch, rules, now_ms, verdict);
        else
            refuse(verdict, err, NULL);
        record_reader_close(&reader);
    }
    /* With LogAppendTime the log writes both in any case. */
    verdict->max_timestamp_differs = !rules->log_append_time &&
                                     (verdict->max_timestamp != batch->max_timestamp ||
                                      (batch->attributes & BATCH_LOG_APPEND_TIME) != 0);
}
