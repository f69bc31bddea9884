// SPDX-License-Identifier: Apache-2.0
/* What Kafka itself does with batches (the .jsonl files in tests/data), compared with what we
 * do. */

#include "runner.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch_recompress.h"
#include "compress.h"
#include "crc32c.h"
#include "error.h"
#include "log_fixture.h"
#include "producer_history.h"
#include "record_batch.h"
#include "topic_settings.h"

#define NOW_MS           1700086400000 /* The clock of append.jsonl. */
#define DECOMPRESSED_MAX INT32_MAX

/* Where we differ from Kafka on purpose (docs/compatibility.md). Nothing else may differ,
 * and each of these must. */
struct difference {
    const char *test; /* "append": the verdict; "stored": the bytes; "read" */
    const char *what; /* The case. */
    int err;          /* Our answer. */
    const char *reason;
};

static const char *const trailing = "what follows a batch is an error, not dropped in silence";
static const char *const deltas = "readers stumble over offset deltas that are not 0, 1, 2 ...";
static const char *const unforeseen = "Kafka did not foresee it (-1); the client learns what it is";
static const char *const old_format = "no leader of ours has the formats before magic 2";
static const char *const lz4_legal = "legal LZ4, which other clients' libraries write and read";

static const struct difference differences[] = {
    { "append", "second-batch-truncated", ERR_CORRUPT_MESSAGE, trailing },
    { "append", "garbage-after-batch", ERR_CORRUPT_MESSAGE, trailing },
    { "append", "offset-deltas-not-consecutive", ERR_INVALID_RECORD, deltas },
    { "append", "offset-deltas-repeat", ERR_INVALID_RECORD, deltas },
    { "append", "offset-delta-starts-at-one", ERR_INVALID_RECORD, deltas },
    { "append", "offset-delta-negative", ERR_INVALID_RECORD, deltas },
    { "append", "length-huge", ERR_CORRUPT_MESSAGE, unforeseen },
    { "append", "record-length-overlong", ERR_INVALID_RECORD, unforeseen },
    { "append", "codec-5", ERR_UNSUPPORTED_COMPRESSION_TYPE, unforeseen },
    { "append", "codec-6", ERR_UNSUPPORTED_COMPRESSION_TYPE, unforeseen },
    { "append", "codec-7", ERR_UNSUPPORTED_COMPRESSION_TYPE, unforeseen },
    { "append", "not-gzip", ERR_INVALID_RECORD, unforeseen },
    { "append", "not-snappy", ERR_INVALID_RECORD, unforeseen },
    { "append", "not-lz4", ERR_INVALID_RECORD, unforeseen },
    { "append", "not-zstd", ERR_INVALID_RECORD, unforeseen },
    { "append", "truncated-gzip", ERR_INVALID_RECORD, unforeseen },
    { "append", "truncated-snappy", ERR_INVALID_RECORD, unforeseen },
    { "append", "truncated-lz4", ERR_INVALID_RECORD, unforeseen },
    { "append", "truncated-zstd", ERR_INVALID_RECORD, unforeseen },
    { "append", "no-payload-gzip", ERR_INVALID_RECORD, unforeseen },
    { "append", "no-payload-snappy", ERR_INVALID_RECORD, unforeseen },
    { "append", "no-payload-lz4", ERR_INVALID_RECORD, unforeseen },
    { "append", "garbage-after-snappy", ERR_INVALID_RECORD, unforeseen },
    { "append", "garbage-after-zstd", ERR_INVALID_RECORD, unforeseen },
    { "append", "lz4-two-frames", 0, lz4_legal },
    { "append", "lz4-linked-blocks", 0, lz4_legal },
    { "replica", "leader-epoch-none", ERR_CORRUPT_MESSAGE, unforeseen },
    { "replica", "length-huge", ERR_CORRUPT_MESSAGE, unforeseen },
    { "replica", "last-offset-delta-negative", ERR_CORRUPT_MESSAGE, unforeseen },
    { "replica", "base-offset-negative", ERR_CORRUPT_MESSAGE, unforeseen },
    { "replica", "two-batches-in-one", ERR_OFFSET_OUT_OF_RANGE, unforeseen },
    { "replica", "codec-5", ERR_UNSUPPORTED_COMPRESSION_TYPE, unforeseen },
    { "replica", "codec-6", ERR_UNSUPPORTED_COMPRESSION_TYPE, unforeseen },
    { "replica", "codec-7", ERR_UNSUPPORTED_COMPRESSION_TYPE, unforeseen },
    { "replica", "magic-0-none", ERR_CORRUPT_MESSAGE, old_format },
    { "replica", "magic-0-gzip", ERR_CORRUPT_MESSAGE, old_format },
    { "replica", "magic-0-snappy", ERR_CORRUPT_MESSAGE, old_format },
    { "replica", "magic-0-lz4", ERR_CORRUPT_MESSAGE, old_format },
    { "replica", "magic-1-none", ERR_CORRUPT_MESSAGE, old_format },
    { "replica", "magic-1-gzip", ERR_CORRUPT_MESSAGE, old_format },
    { "replica", "magic-1-snappy", ERR_CORRUPT_MESSAGE, old_format },
    { "replica", "magic-1-lz4", ERR_CORRUPT_MESSAGE, old_format },
    { "read", "lz4-two-frames", 0, lz4_legal },
    { "read", "lz4-linked-blocks", 0, lz4_legal },
};

#define DIFFERENCE_COUNT (sizeof differences / sizeof differences[0])

static bool was_met[DIFFERENCE_COUNT];

static const struct difference *difference(const char *test, const char *what)
{
    for (size_t i = 0; i < DIFFERENCE_COUNT; i++) {
        if (strcmp(differences[i].test, test) == 0 && strcmp(differences[i].what, what) == 0) {
            was_met[i] = true;
            return &differences[i];
        }
    }
    return NULL;
}

static void assert_all_were_met(const char *test)
{
    for (size_t i = 0; i < DIFFERENCE_COUNT; i++)
        if (strcmp(differences[i].test, test) == 0 && !was_met[i])
            fail_msg("%s: no such case", differences[i].what);
}

/* ---- reading the files */

struct blob {
    uint8_t *data; /* Exactly sized, so that a sanitizer sees one byte too many. */
    size_t length;
};

static struct blob blob_copy(const void *data, size_t length)
{
    struct blob blob = { malloc(length), length };
    assert_true(blob.data != NULL || length == 0);
    if (length > 0) memcpy(blob.data, data, length);
    return blob;
}

static struct blob from_hex(const char *hex)
{
    struct blob blob = { malloc(strlen(hex) / 2), strlen(hex) / 2 };
    for (size_t i = 0; i < blob.length; i++)
        assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &blob.data[i]), 1);
    return blob;
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static int64_t number_of(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    if (!json_is_integer(value)) fail_msg("no number %s", name);
    return json_integer_value(value);
}

/* Calls `check` with each line; returns how many. */
static unsigned each_line(const char *file, void (*check)(const json_t *line))
{
    FILE *in = fopen(test_data(file), "r");
    assert_non_null(in);
    char *text = NULL;
    size_t size = 0;
    unsigned count = 0;
    while (getline(&text, &size, in) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        assert_non_null(line);
        check(line);
        json_decref(line);
        count++;
    }
    free(text);
    fclose(in);
    return count;
}

static int err_named(const char *kafka_name)
{
    char ours[80];
    if (strcmp(kafka_name, "NONE") == 0) return 0;
    snprintf(ours, sizeof ours, "ERR_%s", kafka_name);
    for (int err = 1; err < ERR_COUNT; err++)
        if (strcmp(error_name(err), ours) == 0) return err;
    fail_msg("no error named %s", kafka_name);
    return 0;
}

/* ---- record-batches.jsonl: reading */

static void assert_bytes(const char *what, struct bytes bytes, const json_t *hex)
{
    if (json_is_null(hex)) {
        if (bytes.length >= 0) fail_msg("%s: not null", what);
        return;
    }
    struct blob expected = from_hex(json_string_value(hex));
    if (bytes.length != (int32_t)expected.length ||
        (bytes.length > 0 && memcmp(bytes.data, expected.data, expected.length) != 0))
        fail_msg("%s: other bytes", what);
    free(expected.data);
}

static void assert_headers(const char *what, const struct record *record, const json_t *expected)
{
    struct cursor cursor = cursor_over(record->headers.data, (size_t)record->headers.length);
    struct record_header header;
    size_t i;
    json_t *one;
    assert_int_equal(record->header_count, json_array_size(expected));
    json_array_foreach(expected, i, one)
    {
        assert_int_equal(record_next_header(&cursor, &header), 0);
        assert_bytes(what, header.key, json_object_get(one, "key"));
        assert_bytes(what, header.value, json_object_get(one, "value"));
    }
    assert_int_equal(record_next_header(&cursor, &header), ERR_NOT_FOUND);
}

static void assert_records(const char *what, const struct record_batch *batch,
                           const json_t *expected)
{
    struct record_walk *walk;
    struct record record;
    int32_t count = 0;
    assert_int_equal(record_walk_open(&walk, batch, DECOMPRESSED_MAX), 0);
    while (record_walk_next(walk, &record) == 0) {
        const json_t *one = json_array_get(expected, (size_t)count++);
        if (expected == NULL) continue; /* Too long to be listed. */
        assert_int_equal(record.offset, number_of(one, "offset"));
        assert_int_equal(record.timestamp, number_of(one, "timestamp"));
        assert_bytes(what, record.key, json_object_get(one, "key"));
        assert_bytes(what, record.value, json_object_get(one, "value"));
        assert_headers(what, &record, json_object_get(one, "headers"));
    }
    assert_int_equal(record_walk_next(walk, &record), ERR_NOT_FOUND);
    assert_int_equal(count, batch->record_count);
    record_walk_close(walk);
}

static void assert_payload(const struct record_batch *batch, const json_t *expected)
{
    const uint8_t *payload = batch->data + RECORD_BATCH_HEADER_SIZE;
    size_t length = batch->size - RECORD_BATCH_HEADER_SIZE;
    unsigned codec = batch->attributes & BATCH_CODEC_MASK;
    uint32_t crc = 0;
    int64_t total = 0;
    if (codec == CODEC_NONE) {
        crc = crc32c(payload, length);
        total = (int64_t)length;
    } else {
        struct decompressor *decompressor;
        uint8_t piece[1000];
        size_t got;
        assert_int_equal(decompressor_open(&decompressor, codec, payload, length, DECOMPRESSED_MAX),
                         0);
        do {
            assert_int_equal(decompressor_read(decompressor, piece, sizeof piece, &got), 0);
            crc = crc32c_more(crc, piece, got);
            total += (int64_t)got;
        } while (got > 0);
        decompressor_close(decompressor);
    }
    assert_int_equal(total, number_of(expected, "length"));
    assert_int_equal(crc, number_of(expected, "crc32c"));
}

static void assert_batch(const char *what, const struct record_batch *batch, const json_t *expected)
{
    const json_t *derived = json_object_get(expected, "derived");
    assert_int_equal(batch->size, number_of(expected, "batchLength") + RECORD_BATCH_OVERHEAD);
    assert_int_equal(batch->base_offset, number_of(expected, "baseOffset"));
    assert_int_equal(batch->leader_epoch, number_of(expected, "partitionLeaderEpoch"));
    assert_int_equal(batch->magic, 2);
    assert_int_equal(batch->crc, number_of(expected, "crc"));
    assert_int_equal(batch->attributes, number_of(expected, "attributes"));
    assert_int_equal(batch->last_offset_delta, number_of(expected, "lastOffsetDelta"));
    assert_int_equal(batch->base_timestamp, number_of(expected, "baseTimestamp"));
    assert_int_equal(batch->max_timestamp, number_of(expected, "maxTimestamp"));
    assert_int_equal(batch->producer_id, number_of(expected, "producerId"));
    assert_int_equal(batch->producer_epoch, number_of(expected, "producerEpoch"));
    assert_int_equal(batch->base_sequence, number_of(expected, "baseSequence"));
    assert_int_equal(batch->record_count, number_of(expected, "recordCount"));
    assert_int_equal(record_batch_last_offset(batch), number_of(derived, "lastOffset"));
    assert_int_equal(record_batch_last_sequence(batch), number_of(derived, "lastSequence"));
    assert_string_equal(codec_name(batch->attributes & BATCH_CODEC_MASK),
                        text_of(derived, "compression"));
    assert_true(record_batch_crc_is_right(batch));
    assert_payload(batch, json_object_get(expected, "uncompressed"));
    assert_records(what, batch, json_object_get(expected, "records"));
}

static void check_valid(const json_t *line)
{
    if (!json_is_true(json_object_get(line, "valid"))) return;
    struct blob blob = from_hex(text_of(line, "hex"));
    size_t at = 0, i;
    json_t *expected;
    json_array_foreach(json_object_get(line, "batches"), i, expected)
    {
        struct record_batch batch;
        assert_int_equal(record_batch_read_header(&batch, blob.data + at, blob.length - at), 0);
        assert_batch(text_of(line, "case"), &batch, expected);
        at += batch.size;
    }
    assert_int_equal(at, blob.length);
    free(blob.data);
}

TEST(batches_that_kafka_wrote_are_read_as_kafka_reads_them)
{
    assert_int_equal(each_line("data/record-batches.jsonl", check_valid), 195);
}

static int read_records(const struct record_batch *batch)
{
    struct record_walk *walk = NULL;
    struct record record;
    int err = record_walk_open(&walk, batch, DECOMPRESSED_MAX);
    while (err == 0)
        err = record_walk_next(walk, &record);
    record_walk_close(walk);
    return err == ERR_NOT_FOUND ? 0 : err;
}

/* As a reader of a file does it: an incomplete batch at the end is not there. */
static int read_batches(const struct blob *blob)
{
    size_t at = 0;
    int err = 0;
    while (err == 0 && blob->length - at >= RECORD_BATCH_HEADER_SIZE) {
        struct record_batch batch;
        err = record_batch_read_header(&batch, blob->data + at, blob->length - at);
        if (err != 0 || batch.size > blob->length - at) break;
        err = record_batch_crc_is_right(&batch) ? read_records(&batch) : ERR_CORRUPT_MESSAGE;
        at += batch.size;
    }
    return err;
}

static void check_invalid(const json_t *line)
{
    const char *what = text_of(line, "case");
    if (json_is_true(json_object_get(line, "valid"))) return;
    if (strncmp(what, "magic-0", 7) == 0 || strncmp(what, "magic-1", 7) == 0)
        return; /* Kafka still reads formats that it takes from nobody; we never had any. */
    struct blob blob = from_hex(text_of(line, "hex"));
    const json_t *kafka = json_object_get(line, "kafkaReader");
    bool kafka_fails = text_of(kafka, "exception") != NULL;
    const struct difference *known = difference("read", what);
    int err = read_batches(&blob);
    if (known != NULL && (err != known->err || kafka_fails == (err != 0)))
        fail_msg("%s: %s is no longer as listed", what, error_name(err));
    if (known == NULL && kafka_fails != (err != 0))
        fail_msg("%s: Kafka's reader %s, ours gives %s", what, kafka_fails ? "fails" : "succeeds",
                 error_name(err));
    free(blob.data);
}

TEST(bad_batches_fail_where_kafkas_reader_fails)
{
    each_line("data/record-batches.jsonl", check_invalid);
    assert_all_were_met("read");
}

/* ---- append.jsonl: what producers may send */

static void rules_from(struct batch_rules *rules, const json_t *config)
{
    struct topic_settings settings;
    const char *name;
    json_t *value;
    topic_settings_defaults(&settings);
    *rules = (struct batch_rules){
        .max_message_bytes = settings.max_message_bytes,
        .max_decompressed_bytes = settings.max_decompressed_message_bytes,
        .timestamp_before_max_ms = settings.timestamp_before_max_ms,
        .timestamp_after_max_ms = settings.timestamp_after_max_ms,
        .produce_version = 13,
    };
    json_object_foreach((json_t *)(uintptr_t)config, name, value)
    {
        const char *text = json_string_value(value);
        if (strcmp(name, "cleanup.policy") == 0)
            rules->is_compacted = strcmp(text, "compact") == 0;
        else if (strcmp(name, "message.timestamp.type") == 0)
            rules->log_append_time = strcmp(text, "LogAppendTime") == 0;
        else if (strcmp(name, "max.message.bytes") == 0)
            rules->max_message_bytes = atoi(text);
        else if (strcmp(name, "message.timestamp.before.max.ms") == 0)
            rules->timestamp_before_max_ms = atoll(text);
        else if (strcmp(name, "max.decompressed.message.bytes") == 0)
            rules->max_decompressed_bytes = atoll(text);
        else if (strcmp(name, "compression.type") == 0)
            continue; /* codec_from() */
        else
            fail_msg("unknown setting %s", name);
    }
}

/* The codec that the topic wants, or that of the batch. */
static enum codec codec_from(const json_t *config, const struct record_batch *batch)
{
    const char *wanted = json_string_value(json_object_get(config, "compression.type"));
    if (wanted == NULL) return batch->attributes & BATCH_CODEC_MASK;
    if (strcmp(wanted, "uncompressed") == 0) return CODEC_NONE;
    for (unsigned codec = CODEC_GZIP; codec <= CODEC_ZSTD; codec++)
        if (strcmp(wanted, codec_name(codec)) == 0) return codec;
    fail_msg("unknown codec %s", wanted);
    return CODEC_NONE;
}

static struct buffer uncompressed(const struct blob *blob)
{
    struct record_batch batch;
    struct buffer out;
    buffer_init(&out);
    assert_int_equal(record_batch_read_header(&batch, blob->data, blob->length), 0);
    assert_int_equal(batch.size, blob->length);
    assert_true(record_batch_crc_is_right(&batch));
    assert_int_equal(batch_recompress(&batch, CODEC_NONE, 0, INT32_MAX, INT32_MAX, &out), 0);
    return out;
}

/* Kafka's libraries may compress to other bytes: what comes out must be the same, and the header but for
 * length and CRC. */
static bool same_but_for_compression(const struct blob *blob, const struct blob *expected)
{
    struct buffer ours = uncompressed(blob), kafkas = uncompressed(expected);
    bool same = ours.length == kafkas.length && memcmp(ours.data, kafkas.data, ours.length) == 0 &&
                memcmp(blob->data + 21, expected->data + 21, RECORD_BATCH_HEADER_SIZE - 21) == 0;
    buffer_close(&ours);
    buffer_close(&kafkas);
    return same;
}

static void recompress(struct blob *blob, enum codec codec)
{
    struct record_batch batch;
    struct buffer out;
    buffer_init(&out);
    assert_int_equal(record_batch_read_header(&batch, blob->data, blob->length), 0);
    assert_int_equal(
        batch_recompress(&batch, codec, codec_default_level(codec), INT32_MAX, INT32_MAX, &out), 0);
    free(blob->data);
    *blob = blob_copy(out.data, out.length);
    buffer_close(&out);
}

static void assert_stored(const char *what, struct blob *blob, const struct batch_rules *rules,
                          const struct record_batch *batch, const struct batch_verdict *verdict,
                          const json_t *line)
{
    const char *hex = text_of(line, "stored");
    struct blob expected = from_hex(strcmp(hex, "same") == 0 ? text_of(line, "hex") : hex);
    enum codec codec = codec_from(json_object_get(line, "config"), batch);
    bool other_codec = codec != (batch->attributes & BATCH_CODEC_MASK);
    if (verdict->max_timestamp_differs)
        record_batch_set_max_timestamp(blob->data, blob->length, verdict->max_timestamp);
    if (other_codec) recompress(blob, codec);
    record_batch_set_position(blob->data, number_of(line, "startOffset"),
                              (int32_t)number_of(line, "leaderEpoch"));
    if (rules->log_append_time) record_batch_set_log_append_time(blob->data, blob->length, NOW_MS);
    bool same = other_codec ? same_but_for_compression(blob, &expected)
                            : blob->length == expected.length &&
                                  memcmp(blob->data, expected.data, expected.length) == 0;
    if (same == (difference("stored", what) != NULL))
        fail_msg("%s: Kafka stores %s bytes", what, same ? "the same" : "other");
    free(expected.data);
}

static unsigned appends_compared;

static void check_append(const json_t *line)
{
    const char *what = text_of(line, "case");
    if (strcmp(text_of(line, "origin"), "producer") != 0) return; /* A follower's come below. */
    struct blob blob = from_hex(text_of(line, "hex"));
    struct batch_rules rules;
    struct record_batch batch;
    struct batch_verdict verdict;
    rules_from(&rules, json_object_get(line, "config"));
    record_batch_validate(blob.data, blob.length, &rules, NOW_MS, &batch, &verdict);

    const struct difference *known = difference("append", what);
    int kafka = err_named(text_of(line, "error"));
    if (verdict.err != (known == NULL ? kafka : known->err))
        fail_msg("%s: %s (%s), Kafka %s", what, error_name(verdict.err),
                 verdict.why == NULL ? "" : verdict.why, error_name(kafka));
    if (known != NULL && known->err == kafka) fail_msg("%s: no longer a difference", what);
    const json_t *indexes = json_object_get(line, "recordErrors");
    if (json_array_size(indexes) != (size_t)verdict.record_error_count)
        fail_msg("%s: %d record errors", what, verdict.record_error_count);
    for (int32_t i = 0; i < verdict.record_error_count; i++)
        assert_int_equal(verdict.record_errors[i],
                         json_integer_value(json_array_get(indexes, (size_t)i)));
    if (verdict.err == 0 && kafka == 0) assert_stored(what, &blob, &rules, &batch, &verdict, line);
    appends_compared++;
    batch_verdict_release(&verdict);
    free(blob.data);
}

TEST(producers_batches_get_kafkas_verdict_or_a_listed_better_one)
{
    each_line("data/append.jsonl", check_append);
    assert_int_equal(appends_compared, 307);
    assert_all_were_met("append");
    assert_all_were_met("stored");
}

/* ---- append.jsonl: what a follower may append */

static struct log_fixture fixture;

/* As a follower does: all of it is checked first, then it is appended. */
static int replicate(const struct blob *blob)
{
    struct log_append *appends = calloc(blob->length / RECORD_BATCH_HEADER_SIZE + 1,
                                        sizeof *appends);
    struct log_append *rest = NULL;
    size_t at = 0, count = 0;
    int err;
    while ((err = record_batch_check_replicated(blob->data + at, blob->length - at,
                                                &appends[count].batch)) == 0) {
        appends[count].data = blob->data + at;
        if (count > 0) appends[count - 1].next = &appends[count];
        at += appends[count++].batch.size;
    }
    if (err == ERR_NOT_FOUND) err = 0; /* The end, or the beginning of what comes next. */
    if (err == 0 && count > 0)
        err = partition_log_append(fixture.log, appends, 7, NOW_MS, true, &rest);
    for (size_t i = 0; i < count && err == 0; i++)
        err = appends[i].err;
    free(appends);
    return err;
}

static void assert_log_holds(const char *what, const json_t *line)
{
    const char *hex = text_of(line, "stored");
    struct blob expected = from_hex(hex == NULL                ? ""
                                    : strcmp(hex, "same") == 0 ? text_of(line, "hex")
                                                               : hex);
    char name[64];
    struct buffer found;
    snprintf(name, sizeof name, "%020lld.log", (long long)number_of(line, "startOffset"));
    buffer_init(&found);
    fixture_load_file(&fixture, name, &found);
    if (found.length != expected.length ||
        (found.length > 0 && memcmp(found.data, expected.data, found.length) != 0))
        fail_msg("%s: Kafka stores other bytes", what);
    free(expected.data);
    buffer_close(&found);
}

static unsigned replicas_compared;

static void check_replica(const json_t *line)
{
    const char *what = text_of(line, "case");
    if (strcmp(text_of(line, "origin"), "leader") != 0) return;
    struct blob blob = from_hex(text_of(line, "hex"));
    if (replicas_compared++ == 0) fixture_start(&fixture);
    assert_int_equal(partition_log_restart_at(fixture.log, number_of(line, "startOffset")), 0);
    const struct difference *known = difference("replica", what);
    int kafka = err_named(text_of(line, "error"));
    int err = replicate(&blob);
    if (err != (known == NULL ? kafka : known->err))
        fail_msg("%s: %s, Kafka %s", what, error_name(err), error_name(kafka));
    if (known != NULL && known->err == kafka) fail_msg("%s: no longer a difference", what);
    if (err == 0) assert_log_holds(what, line);
    free(blob.data);
}

TEST(followers_append_what_kafkas_followers_append)
{
    replicas_compared = 0;
    each_line("data/append.jsonl", check_replica);
    assert_int_equal(replicas_compared, 195);
    assert_all_were_met("replica");
    fixture_close(&fixture);
}

/* ---- truncations */

static const struct batch_rules lenient = {
    .max_message_bytes = INT32_MAX,
    .max_decompressed_bytes = DECOMPRESSED_MAX,
    .timestamp_before_max_ms = INT64_MAX,
    .timestamp_after_max_ms = INT64_MAX,
    .produce_version = 13,
};

static bool is_accepted(const struct blob *blob)
{
    struct record_batch batch;
    struct batch_verdict verdict;
    record_batch_validate(blob->data, blob->length, &lenient, NOW_MS, &batch, &verdict);
    batch_verdict_release(&verdict);
    return verdict.err == 0;
}

static bool first_is_accepted(const struct blob *blob, size_t *size)
{
    struct record_batch batch;
    if (record_batch_read_header(&batch, blob->data, blob->length) != 0) return false;
    struct blob first = blob_copy(blob->data, batch.size);
    record_batch_set_position(first.data, 0, 0);
    bool accepted = is_accepted(&first);
    free(first.data);
    *size = batch.size;
    return accepted;
}

/* The cut batch, with a length and a CRC that fit: only its content shows that it was cut. */
static void mend(struct blob *cut)
{
    if (cut->length < RECORD_BATCH_HEADER_SIZE) return;
    record_batch_set_position(cut->data, 0, 0);
    store_i32(cut->data + 8, (int32_t)cut->length - RECORD_BATCH_OVERHEAD);
    record_batch_set_max_timestamp(cut->data, cut->length, load_i64(cut->data + 35));
}

static void check_cuts(const json_t *line)
{
    struct blob blob = from_hex(text_of(line, "hex"));
    size_t size, step = 1;
    const char *what = text_of(line, "case");
    if (json_is_true(json_object_get(line, "valid")) && first_is_accepted(&blob, &size)) {
        step = size > 3000 ? 61 : 1;
        for (size_t length = 0; length < size; length += step) {
            struct blob cut = blob_copy(blob.data, length);
            if (is_accepted(&cut))
                fail_msg("%s: accepted with %zu of %zu bytes", what, length, size);
            mend(&cut);
            if (is_accepted(&cut))
                fail_msg("%s: accepted, mended, with %zu of %zu bytes", what, length, size);
            struct record_batch batch;
            if (record_batch_read_header(&batch, cut.data, cut.length) == 0)
                assert_int_not_equal(read_records(&batch), 0);
            free(cut.data);
        }
    }
    free(blob.data);
}

TEST(no_truncated_batch_is_taken_for_a_whole_one)
{
    each_line("data/record-batches.jsonl", check_cuts);
}

/* ---- idempotence.jsonl */

static void step_to_batch(const json_t *step, struct record_batch *batch, int64_t end_offset)
{
    *batch = (struct record_batch){
        .base_offset = end_offset,
        .magic = 2,
        .attributes = json_is_true(json_object_get(step, "transactional")) ? BATCH_TRANSACTIONAL
                                                                           : 0,
        .last_offset_delta = (int32_t)number_of(step, "count") - 1,
        .record_count = (int32_t)number_of(step, "count"),
        .producer_id = number_of(step, "producerId"),
        .producer_epoch = (int16_t)number_of(step, "epoch"),
        .base_sequence = (int32_t)number_of(step, "sequence"),
    };
}

static void check_idempotence(const json_t *line)
{
    const char *what = text_of(line, "case");
    struct producer_history *history;
    int64_t end_offset = 0;
    size_t i;
    json_t *step;
    assert_int_equal(producer_history_open(&history), 0);
    json_array_foreach(json_object_get(line, "steps"), i, step)
    {
        struct record_batch batch;
        struct producer_verdict verdict;
        step_to_batch(step, &batch, end_offset);
        producer_history_check(history, &batch, &verdict);
        if (verdict.err != err_named(text_of(step, "error")))
            fail_msg("%s, step %zu: %s", what, i, error_name(verdict.err));
        bool append = verdict.err == 0 && !verdict.is_repeat;
        assert_int_equal(append, json_is_true(json_object_get(step, "appended")));
        if (verdict.err != 0) continue;
        int64_t base_offset = verdict.is_repeat ? verdict.base_offset : end_offset;
        assert_int_equal(base_offset, number_of(step, "baseOffset"));
        if (append) {
            assert_int_equal(producer_history_add(history, &batch, 0), 0);
            end_offset += batch.record_count;
        }
    }
    producer_history_close(history);
}

TEST(idempotent_producers_get_kafkas_answers)
{
    assert_int_equal(each_line("data/idempotence.jsonl", check_idempotence), 20);
}
