// SPDX-License-Identifier: Apache-2.0
/* Passes that Kafka's own cleaner made: each must come out of ours the same (tests/data/compaction). */

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>

#include "batch_builder.h"
#include "compaction_fixture.h"
#include "error.h"
#include "segment.h"
#include "txn_index.h"

static struct log_fixture fixture;

static int64_t number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* The files have no transaction indexes; what they said is in the JSON. */
static void write_txn_index(const json_t *segment)
{
    const json_t *entries = json_object_get(segment, "txnindex");
    char path[PATH_MAX];
    struct txn_index *index;
    json_t *entry;
    size_t i;

    if (json_array_size(entries) == 0) return;
    assert_int_equal(segment_path(fixture.folder, number(segment, "baseOffset"), ".txnindex", path),
                     0);
    assert_int_equal(txn_index_create(&index, fs_posix(), number(segment, "baseOffset")), 0);
    json_array_foreach(entries, i, entry)
    {
        struct aborted_transaction aborted = { number(entry, "producerId"),
                                               number(entry, "firstOffset"),
                                               number(entry, "lastOffset"),
                                               number(entry, "lastStableOffset") };
        assert_int_equal(txn_index_reserve(index, path, 1, true), 0);
        txn_index_append(index, &aborted);
    }
    assert_int_equal(txn_index_write_out(index, path, false), 0);
    txn_index_close(index);
}

static void assert_txn_index(const json_t *segment)
{
    const json_t *entries = json_object_get(segment, "txnindex");
    struct aborted_list list = { 0 };
    char path[PATH_MAX];
    struct txn_index *index;
    bool is_complete;
    json_t *entry;
    size_t i;

    assert_int_equal(segment_path(fixture.folder, number(segment, "baseOffset"), ".txnindex", path),
                     0);
    assert_int_equal(txn_index_create(&index, fs_posix(), number(segment, "baseOffset")), 0);
    int err = txn_index_load(index, path, false);
    if (json_array_size(entries) == 0) {
        assert_int_equal(err, ERR_NOT_FOUND);
        txn_index_close(index);
        return;
    }
    assert_int_equal(err, 0);
    assert_int_equal(txn_index_find(index, path, true, 0, INT64_MAX, 100, &list, &is_complete), 0);
    assert_int_equal(list.count, json_array_size(entries));
    json_array_foreach(entries, i, entry)
    {
        assert_int_equal(list.items[i].producer_id, number(entry, "producerId"));
        assert_int_equal(list.items[i].first_offset, number(entry, "firstOffset"));
        assert_int_equal(list.items[i].last_offset, number(entry, "lastOffset"));
        assert_int_equal(list.items[i].last_stable_offset, number(entry, "lastStableOffset"));
    }
    free(list.items);
    txn_index_close(index);
}

static void start(const json_t *before)
{
    char folder[PATH_MAX];
    json_t *segment;
    size_t i;

    fixture_init(&fixture, test_folder());
    assert_int_equal(fs_path(folder, "%s", test_data("data/compaction/before")), 0);
    copy_tree(folder, fixture.folder);
    json_array_foreach(json_object_get(before, "segments"), i, segment) write_txn_index(segment);
    fixture_write_metadata(&fixture);
    assert_int_equal(fixture_open(&fixture), 0);
    fixture.settings.delete_retention_ms = 60000;
    partition_log_set_settings(fixture.log, &fixture.settings);
}

/* The next segment's record, as it was appended between the passes. */
static void append_last_of(const json_t *step)
{
    const json_t *segments = json_object_get(step, "segments");
    const json_t *segment = json_array_get(segments, json_array_size(segments) - 1);
    char name[64];
    struct buffer data;
    struct log_append *rest;

    snprintf(name, sizeof name, "data/compaction/%s/%020" PRId64 ".log",
             json_string_value(json_object_get(step, "name")), number(segment, "baseOffset"));
    buffer_init(&data);
    FILE *file = fopen(test_data(name), "rb");
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        buffer_i8(&data, (int8_t)c);
    fclose(file);
    compaction_roll(&fixture);
    struct log_append append = { .data = data.data };
    assert_int_equal(record_batch_read_header(&append.batch, data.data, data.length), 0);
    assert_int_equal(partition_log_append(fixture.log, &append, 0, FIXTURE_NOW_MS, true, &rest), 0);
    assert_int_equal(append.err, 0);
    partition_log_set_settings(fixture.log, &fixture.settings);
    buffer_close(&data);
}

static void assert_hex(const json_t *expected, struct bytes found)
{
    char hex[256];

    if (json_is_null(expected)) {
        assert_true(found.length < 0);
        return;
    }
    assert_true(found.length >= 0);
    hex[0] = '\0';
    for (int32_t i = 0; i < found.length; i++)
        snprintf(hex + 2 * i, 3, "%02x", found.data[i]);
    assert_string_equal(hex, json_string_value(expected));
}

static void assert_records(const json_t *batch, const struct record_batch *found)
{
    struct record_walk *walk;
    struct record record;
    json_t *expected;
    size_t i;

    assert_int_equal(record_walk_open(&walk, found, INT64_MAX), 0);
    json_array_foreach(json_object_get(batch, "records"), i, expected)
    {
        assert_int_equal(record_walk_next(walk, &record), 0);
        assert_int_equal(record.offset, number(expected, "offset"));
        assert_int_equal(record.timestamp, number(expected, "timestamp"));
        assert_hex(json_object_get(expected, "key"), record.key);
        assert_hex(json_object_get(expected, "value"), record.value);
    }
    assert_int_equal(record_walk_next(walk, &record), ERR_NOT_FOUND);
    record_walk_close(walk);
}

static void assert_batch(const json_t *batch, const struct record_batch *found)
{
    assert_true(record_batch_crc_is_right(found));
    assert_int_equal(found->base_offset, number(batch, "baseOffset"));
    assert_int_equal(found->leader_epoch, number(batch, "partitionLeaderEpoch"));
    assert_int_equal(found->attributes, number(batch, "attributes"));
    assert_int_equal(found->last_offset_delta, number(batch, "lastOffsetDelta"));
    assert_int_equal(found->base_timestamp, number(batch, "baseTimestamp"));
    assert_int_equal(found->max_timestamp, number(batch, "maxTimestamp"));
    assert_int_equal(found->producer_id, number(batch, "producerId"));
    assert_int_equal(found->producer_epoch, number(batch, "producerEpoch"));
    assert_int_equal(found->base_sequence, number(batch, "baseSequence"));
    assert_int_equal(found->record_count, number(batch, "recordCount"));
    if ((found->attributes & BATCH_CODEC_MASK) == CODEC_NONE) /* Then every byte is the same. */
        assert_int_equal(found->crc, number(batch, "crc"));
    assert_records(batch, found);
}

static void assert_segments(const json_t *step)
{
    json_t *segment, *batch;
    size_t i, j;
    char bases[256] = "";

    json_array_foreach(json_object_get(step, "segments"), i, segment)
    {
        struct buffer data;
        char name[64];
        size_t at = 0;
        snprintf(bases + strlen(bases), sizeof bases - strlen(bases), "%s%" PRId64,
                 i > 0 ? " " : "", number(segment, "baseOffset"));
        snprintf(name, sizeof name, "%020" PRId64 ".log", number(segment, "baseOffset"));
        buffer_init(&data);
        fixture_load_file(&fixture, name, &data);
        json_array_foreach(json_object_get(segment, "batches"), j, batch)
        {
            struct record_batch found;
            assert_true(at < data.length);
            assert_int_equal(record_batch_read_header(&found, data.data + at, data.length - at), 0);
            assert_batch(batch, &found);
            at += found.size;
        }
        assert_int_equal(at, data.length);
        buffer_close(&data);
        assert_txn_index(segment);
    }
    assert_string_equal(compaction_segments(&fixture), bases);
}

TEST(every_pass_comes_out_as_from_kafkas_cleaner)
{
    json_t *expected = json_load_file(test_data("data/compaction/expected.json"), 0, NULL);
    json_t *step;
    size_t i;

    assert_non_null(expected);
    json_array_foreach(json_object_get(expected, "steps"), i, step)
    {
        if (i == 0) {
            start(step);
            assert_segments(step);
            continue;
        }
        if (i > 1) append_last_of(step);
        struct compaction_options options = compaction_plain(&fixture);
        struct compaction_result result;
        struct cleanable cleanable;
        options.now_ms = number(step, "time");
        assert_int_equal(
            partition_log_cleanable(fixture.log, options.below_offset, options.now_ms, &cleanable),
            0);
        assert_int_equal(cleanable.first_dirty_offset, number(step, "firstDirtyOffset"));
        assert_int_equal(compaction_pass(&fixture, &options, &result), 0);
        assert_int_equal(result.end_offset, number(step, "nextDirtyOffset"));
        assert_segments(step);
    }
    fixture_close(&fixture);
    json_decref(expected);
}
