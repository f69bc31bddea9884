// SPDX-License-Identifier: Apache-2.0
/* What compaction keeps and what it takes (DESIGN 4.5), and how it gets on with whatever else happens to
 * a log. What Kafka's cleaner makes of a log with everything in it is in test_compaction_vectors.c. */

#include "compaction.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "compaction_fixture.h"
#include "error.h"
#include "segment.h"

static struct log_fixture fixture;

static void start(void)
{
    fixture_start(&fixture);
    fixture.settings.delete_retention_ms = 1000;
    partition_log_set_settings(fixture.log, &fixture.settings);
}

/* A segment with one batch. */
static void segment_of(const char *records)
{
    compaction_roll(&fixture);
    compaction_append(&fixture, records);
}

static void assert_log(const char *expected)
{
    assert_string_equal(compaction_text(&fixture), expected);
}

static bool has_leftovers(void)
{
    static const char *const names[] = { ".log", ".index", ".timeindex", ".txnindex" };
    static const char *const suffixes[] = { ".cleaned", ".swap", ".deleted" };
    for (int64_t base = 0; base < 64; base++)
        for (size_t i = 0; i < 4; i++)
            for (size_t k = 0; k < 3; k++) {
                char name[64];
                snprintf(name, sizeof name, "%020d%s%s", (int)base, names[i], suffixes[k]);
                if (fixture_has_file(&fixture, name)) return true;
            }
    return false;
}

/* ---- what stays ---- */

TEST(the_last_record_of_each_key_stays_where_it_was)
{
    start();
    segment_of("a=1 b=1 a=2");
    segment_of("c=1 a=3");
    segment_of("b=2");
    compaction_run(&fixture);
    assert_log("1:b=1 3:c=1 4:a=3 5:b=2");
    fixture_close(&fixture);
}

/* With LogAppendTime a batch has one time, but not a record at each of its offsets any more. */
TEST(a_time_is_found_at_a_record_that_is_left)
{
    struct log_position position;

    start();
    fixture.settings.log_append_time = true;
    partition_log_set_settings(fixture.log, &fixture.settings);
    segment_of("a=1 b=1");
    segment_of("a=2");
    segment_of("c=1");
    compaction_run(&fixture);
    assert_log("1:b=1 2:a=2 3:c=1");
    assert_int_equal(partition_log_find_timestamp(fixture.log, 0, 4, true, &position), 0);
    assert_int_equal(position.offset, 1);
    fixture_close(&fixture);
}

/* A bare header says the time of records that are gone. */
TEST(the_newest_record_is_one_that_is_left)
{
    struct log_position position;

    start();
    compaction_append_as(&fixture, "b=1", &(struct batch_spec){ .timestamp = FIXTURE_NOW_MS + 5 });
    /* The last of its producer, so that its header stays. */
    compaction_append_as(&fixture, "a=1",
                         &(struct batch_spec){ .timestamp = FIXTURE_NOW_MS + 9, .producer_id = 7 });
    segment_of("a=2");
    segment_of("c=1");
    compaction_run(&fixture);
    assert_log("0:b=1 [1-1] 2:a=2 3:c=1");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(partition_log_find_max_timestamp(fixture.log, 4, true, &position), 0);
        assert_int_equal(position.offset, 0);
        assert_int_equal(position.timestamp, FIXTURE_NOW_MS + 5);
        assert_int_equal(
            partition_log_find_timestamp(fixture.log, FIXTURE_NOW_MS + 6, 4, true, &position), 0);
        assert_int_equal(position.offset, -1);
        fixture_kill(&fixture);
    }
    fixture_close(&fixture);
}

TEST(the_active_segment_is_not_touched)
{
    start();
    segment_of("a=1");
    segment_of("a=2 a=3");
    compaction_run(&fixture);
    assert_log("0:a=1 1:a=2 2:a=3");
    fixture_close(&fixture);
}

TEST(a_segment_that_reaches_to_the_last_stable_offset_is_not_touched)
{
    start();
    segment_of("a=1 a=2");
    segment_of("a=3 a=4");
    segment_of("a=5");
    struct compaction_options options = compaction_plain(&fixture);
    options.below_offset = 3;
    assert_int_equal(compaction_pass(&fixture, &options, NULL), 0);
    assert_log("1:a=2 2:a=3 3:a=4 4:a=5");
    fixture_close(&fixture);
}

/* Setting: min.compaction.lag.ms */
TEST(young_records_are_not_touched)
{
    start();
    segment_of("a=1 a=2");
    compaction_roll(&fixture);
    compaction_append_as(&fixture, "a=3 a=4",
                         &(struct batch_spec){ .timestamp = FIXTURE_NOW_MS + 100000 });
    segment_of("b=1");
    clock_manual_advance_ms(&fixture.clock, 100000);
    fixture.settings.min_compaction_lag_ms = 50000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    compaction_run(&fixture);
    assert_log("1:a=2 2:a=3 3:a=4 4:b=1");
    clock_manual_advance_ms(&fixture.clock, 50002);
    compaction_run(&fixture);
    assert_log("3:a=4 4:b=1");
    fixture_close(&fixture);
}

/* Setting: delete.retention.ms */
TEST(a_tombstone_stays_for_the_time_of_delete_retention)
{
    start();
    segment_of("a=1 b=1");
    segment_of("a");
    segment_of("z=1");
    compaction_run(&fixture);
    assert_log("1:b=1 2:a 3:z=1");
    segment_of("z=2");
    clock_manual_advance_ms(&fixture.clock, 999);
    compaction_run(&fixture);
    assert_log("1:b=1 2:a 3:z=1 4:z=2");
    segment_of("z=3");
    clock_manual_advance_ms(&fixture.clock, 1);
    compaction_run(&fixture);
    assert_log("1:b=1 4:z=2 5:z=3");
    fixture_close(&fixture);
}

TEST(a_key_that_was_deleted_and_written_again_stays)
{
    start();
    segment_of("a=1");
    segment_of("a");
    segment_of("a=2");
    segment_of("z=1");
    compaction_run(&fixture);
    assert_log("2:a=2 3:z=1");
    fixture_close(&fixture);
}

TEST(records_without_a_key_go)
{
    start();
    compaction_roll(&fixture);
    assert_int_equal(fixture_append(&fixture, &(struct batch_spec){ .record_count = 2 }), 0);
    segment_of("a=1");
    segment_of("z=1");
    compaction_run(&fixture);
    assert_log("2:a=1 3:z=1");
    fixture_close(&fixture);
}

TEST(a_producers_last_batch_stays_without_records)
{
    start();
    compaction_roll(&fixture);
    compaction_append_as(&fixture, "a=1", &(struct batch_spec){ .producer_id = 5 });
    compaction_append_as(&fixture, "a=2",
                         &(struct batch_spec){ .producer_id = 5, .base_sequence = 1 });
    segment_of("a=3");
    segment_of("z=1");
    compaction_run(&fixture);
    assert_log("[1-1] 2:a=3 3:z=1");
    /* Also if nothing else knows of it any more, the next batch is in order, another is not. */
    fixture_kill(&fixture);
    compaction_append_as(&fixture, "a=4",
                         &(struct batch_spec){ .producer_id = 5, .base_sequence = 2 });
    fixture_close(&fixture);
}

TEST(a_segment_keeps_its_last_batch_so_that_it_ends_where_the_next_begins)
{
    start();
    segment_of("a=1 b=1");
    segment_of("a=2 b=2");
    compaction_run(&fixture);
    assert_log("0:a=1 1:b=1 2:a=2 3:b=2");
    segment_of("z=1");
    compaction_run(&fixture);
    assert_log("2:a=2 3:b=2 4:z=1");
    segment_of("a=3");
    segment_of("b=3");
    segment_of("y=1");
    compaction_run(&fixture);
    assert_log("4:z=1 5:a=3 6:b=3 7:y=1");
    /* Now so that nothing is wanted of the end of a segment of its own. */
    fixture.settings.segment_bytes = 100;
    partition_log_set_settings(fixture.log, &fixture.settings);
    segment_of("b=4");
    segment_of("y=2");
    segment_of("y=3");
    compaction_run(&fixture);
    assert_string_equal(compaction_segments(&fixture), "0 7 8 9 10");
    assert_log("4:z=1 5:a=3 [6-6] [7-7] 8:b=4 9:y=2 10:y=3");
    fixture_close(&fixture);
}

/* ---- transactions ---- */

static struct batch_spec transactional(int64_t producer_id, int32_t base_sequence)
{
    return (struct batch_spec){ .producer_id = producer_id,
                                .base_sequence = base_sequence,
                                .attributes = BATCH_TRANSACTIONAL };
}

TEST(committed_records_replace_older_ones_and_keep_their_marker)
{
    start();
    segment_of("a=1");
    struct batch_spec spec = transactional(7, 0);
    compaction_append_as(&fixture, "a=2", &spec);
    compaction_append_marker(&fixture, 7, true);
    segment_of("z=1");
    compaction_run(&fixture);
    assert_log("1:a=2 2! 3:z=1");
    fixture_close(&fixture);
}

TEST(a_commit_marker_goes_when_its_records_are_gone_and_its_time_has_come)
{
    start();
    compaction_roll(&fixture);
    struct batch_spec spec = transactional(7, 0);
    compaction_append_as(&fixture, "a=1", &spec);
    compaction_append_marker(&fixture, 7, true);
    spec.base_sequence = 1;
    compaction_append_as(&fixture, "b=1", &spec);
    compaction_append_marker(&fixture, 7, true);
    segment_of("a=2");
    segment_of("z=1");
    compaction_run(&fixture); /* Takes the records. */
    assert_log("1! 2:b=1 3! 4:a=2 5:z=1");
    segment_of("z=2");
    compaction_run(&fixture); /* Sets the horizon. */
    assert_log("1! 2:b=1 3! 4:a=2 5:z=1 6:z=2");
    segment_of("z=3");
    clock_manual_advance_ms(&fixture.clock, 1000);
    compaction_run(&fixture);
    assert_log("2:b=1 3! 4:a=2 6:z=2 7:z=3");
    fixture_close(&fixture);
}

/* ---- segments ---- */

TEST(small_segments_become_one)
{
    start();
    for (int i = 0; i < 10; i++)
        segment_of("a=1 b=2");
    assert_string_equal(compaction_segments(&fixture), "0 2 4 6 8 10 12 14 16 18");
    compaction_run(&fixture);
    assert_string_equal(compaction_segments(&fixture), "0 18");
    assert_log("16:a=1 17:b=2 18:a=1 19:b=2");
    assert_false(has_leftovers());
    assert_int_equal(partition_log_size_bytes(fixture.log),
                     fixture_file_size(&fixture, "00000000000000000000.log") +
                         fixture_file_size(&fixture, "00000000000000000018.log"));
    fixture_close(&fixture);
}

TEST(a_new_segment_is_not_made_of_more_than_segment_bytes)
{
    start();
    for (int i = 0; i < 6; i++)
        segment_of("a=1");
    fixture.settings.segment_bytes = 150; /* Two of 70 bytes. */
    partition_log_set_settings(fixture.log, &fixture.settings);
    compaction_run(&fixture);
    assert_string_equal(compaction_segments(&fixture), "0 2 4 5");
    assert_log("[1-1] [3-3] 4:a=1 5:a=1");
    fixture_close(&fixture);
}

/* Where a reader from the log's beginning is led to: the offset behind what it gets. */
static int64_t read_from_begin(bool skips_empty, int64_t below_offset)
{
    struct log_read read = {
        .below_offset = below_offset,
        .max_bytes = 1 << 20,
        .skips_empty = skips_empty,
        .may_block = true,
    };
    assert_int_equal(partition_log_read(fixture.log, &read), 0);
    assert_true(read.slice.length > 0);
    file_slice_release(&read.slice);
    return read.next_offset;
}

TEST(a_reader_who_wants_records_is_led_past_segments_that_have_none)
{
    start();
    for (int i = 0; i < 100; i++)
        segment_of("a=1");
    fixture.settings.segment_bytes = 80; /* One of 70 bytes: none is joined to another. */
    partition_log_set_settings(fixture.log, &fixture.settings);
    compaction_run(&fixture);
    assert_int_equal(read_from_begin(false, INT64_MAX), 1);
    assert_int_equal(read_from_begin(true, 60), 60); /* There is nothing else: that much further. */
    assert_int_equal(read_from_begin(true, INT64_MAX), 64); /* So many at once, not more. */
    fixture_close(&fixture);
}

TEST(damage_costs_who_reads_it_and_nobody_else)
{
    start();
    segment_of("a=1");
    segment_of("b=1");
    segment_of("c=1");
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%020d.log", fixture.folder, 1);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "?", 1, 16), 1); /* The magic byte. */
    close(fd);

    struct log_read read = {
        .from_offset = 1, .below_offset = 2, .max_bytes = 1, .may_block = true
    };
    read.at_least_one = true;
    assert_int_equal(partition_log_read(fixture.log, &read), ERR_CORRUPT_MESSAGE);
    assert_int_equal(read.slice.length, 0);
    read.from_offset = 2;
    read.below_offset = 3;
    assert_int_equal(partition_log_read(fixture.log, &read), 0);
    file_slice_release(&read.slice);
    segment_of("d=1");
    fixture_close(&fixture);
}

TEST(a_new_segment_spans_fewer_offsets_than_31_bits_say)
{
    start();
    segment_of("a=1");
    static const int64_t offsets[] = { 1000000000, 2000000000, 3000000000, 3000000001 };
    for (size_t i = 0; i < 4; i++) {
        struct buffer data;
        struct log_append *rest;
        buffer_init(&data);
        batch_spec_build(&(struct batch_spec){ .record_count = 1 }, &data);
        record_batch_set_position(data.data, offsets[i], 0);
        struct log_append append = { .data = data.data };
        assert_int_equal(record_batch_read_header(&append.batch, data.data, data.length), 0);
        compaction_roll(&fixture);
        assert_int_equal(partition_log_append(fixture.log, &append, 0, FIXTURE_NOW_MS, true, &rest),
                         0);
        assert_int_equal(append.err, 0);
        buffer_close(&data);
    }
    partition_log_set_settings(fixture.log, &fixture.settings);
    segment_of("z=1");
    compaction_run(&fixture);
    /* Segments begin where the one before ended. */
    assert_string_equal(compaction_segments(&fixture), "0 2000000001 3000000002");
    assert_log("0:a=1 [2000000000-2000000000] [3000000001-3000000001] 3000000002:z=1");
    fixture_close(&fixture);
}

TEST(a_reader_finds_the_next_record_from_any_offset)
{
    char name[16];
    start();
    for (int i = 0; i < 60; i++) {
        compaction_roll(&fixture);
        for (int j = 0; j < 4; j++) {
            snprintf(name, sizeof name, "k%d=%d", i % 7, j);
            compaction_append(&fixture, name);
        }
    }
    segment_of("z=1");
    compaction_run(&fixture);
    static char all[4096];
    snprintf(all, sizeof all, "%s", compaction_text(&fixture));
    assert_string_equal(all,
                        "215:k4=3 219:k5=3 223:k6=3 227:k0=3 231:k1=3 235:k2=3 239:k3=3 240:z=1");
    const char *rest = all;
    for (int64_t offset = 0; offset < 241; offset++) {
        while (strtoll(rest, NULL, 10) < offset)
            rest = strchr(rest, ' ') + 1;
        assert_string_equal(compaction_text_from(&fixture, offset), rest);
    }
    fixture_close(&fixture);
}

TEST(indexes_of_a_new_segment_lead_to_its_batches)
{
    char name[16];
    struct log_position position;
    start();
    for (int i = 0; i < 50; i++) {
        compaction_roll(&fixture);
        snprintf(name, sizeof name, "k%d=v", i);
        compaction_append_as(&fixture, name,
                             &(struct batch_spec){ .timestamp = FIXTURE_NOW_MS + i });
    }
    segment_of("z=1");
    compaction_run(&fixture);
    assert_string_equal(compaction_segments(&fixture), "0 50");
    /* 71 bytes a batch, an entry when more than 100 went by: every second. */
    assert_int_equal(fixture_file_size(&fixture, "00000000000000000000.index"), 24 * 8);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(partition_log_find_timestamp(fixture.log, FIXTURE_NOW_MS + i, INT64_MAX,
                                                      true, &position),
                         0);
        assert_int_equal(position.offset, i == 0 ? 0 : i);
    }
    assert_int_equal(partition_log_find_max_timestamp(fixture.log, INT64_MAX, true, &position), 0);
    assert_int_equal(position.offset, 49);
    fixture_close(&fixture);
}

TEST(batches_keep_their_codec)
{
    start();
    for (int codec = CODEC_NONE; codec <= CODEC_ZSTD; codec++) {
        compaction_roll(&fixture);
        compaction_append_as(&fixture, "a=1 b=2 c=3",
                             &(struct batch_spec){ .attributes = (int16_t)codec });
        compaction_append_as(&fixture, "x=1 y=2",
                             &(struct batch_spec){ .attributes = (int16_t)codec });
        segment_of("a=2 y=3");
        segment_of("z=1");
        compaction_run(&fixture);
        struct buffer data;
        int found = 0;
        buffer_init(&data);
        fixture_read_all(&fixture, 1 << 20, &data);
        for (size_t at = 0; at < data.length;) {
            struct record_batch batch;
            assert_int_equal(record_batch_read_header(&batch, data.data + at, data.length - at), 0);
            if (batch.base_offset == 9 * codec || batch.base_offset == 9 * codec + 3) {
                assert_int_equal(batch.attributes & BATCH_CODEC_MASK, codec);
                found++;
            }
            at += batch.size;
        }
        assert_int_equal(found, 2);
        buffer_close(&data);
        partition_log_restart_at(fixture.log, 9 * (codec + 1));
    }
    fixture_close(&fixture);
}

/* ---- bounded memory ---- */

TEST(a_pass_ends_where_the_map_is_full_and_the_next_goes_on)
{
    struct compaction_result result;
    start();
    segment_of("a=1 b=1 c=1 d=1");
    segment_of("e=1 f=1 a=2 g=1");
    segment_of("a=3 b=2 c=2");
    segment_of("z=1");
    struct compaction_options options = compaction_plain(&fixture);
    options.map_bytes = 7 * 24;
    options.map_load = 0.9; /* Six keys. */
    assert_int_equal(compaction_pass(&fixture, &options, &result), 0);
    assert_int_equal(result.keys, 6);
    assert_int_equal(result.end_offset, 7);
    assert_log("1:b=1 2:c=1 3:d=1 4:e=1 5:f=1 6:a=2 7:g=1 8:a=3 9:b=2 10:c=2 11:z=1");
    assert_int_equal(compaction_pass(&fixture, &options, &result), 0);
    assert_int_equal(result.end_offset, 11);
    assert_log("3:d=1 4:e=1 5:f=1 7:g=1 8:a=3 9:b=2 10:c=2 11:z=1");
    fixture_close(&fixture);
}

TEST(passes_with_a_map_for_one_key_come_to_the_same_end)
{
    struct compaction_result result = { 0 };
    start();
    segment_of("a=1 b=1 a=2 c=1");
    segment_of("b=2 a=3");
    segment_of("c=2");
    segment_of("z=1");
    struct compaction_options options = compaction_plain(&fixture);
    options.map_bytes = 0;
    for (int i = 0; i < 20 && result.end_offset < 7; i++)
        assert_int_equal(compaction_pass(&fixture, &options, &result), 0);
    assert_int_equal(result.end_offset, 7);
    assert_log("4:b=2 5:a=3 6:c=2 7:z=1");
    fixture_close(&fixture);
}

/* ---- beside others ---- */

static void append_beside(void *owner, int64_t bytes)
{
    (void)bytes;
    int *left = owner;
    if ((*left)-- > 0) compaction_append(&fixture, "a=beside");
}

TEST(a_writer_goes_on_while_a_pass_runs)
{
    int left = 3;
    start();
    segment_of("a=1 b=1");
    segment_of("a=2");
    segment_of("z=1");
    struct compaction_options options = compaction_plain(&fixture);
    options.owner = &left;
    options.spend = append_beside;
    assert_int_equal(compaction_pass(&fixture, &options, NULL), 0);
    assert_log("1:b=1 2:a=2 3:z=1 4:a=beside 5:a=beside 6:a=beside");
    fixture_close(&fixture);
}

TEST(a_reader_in_the_middle_of_a_segment_that_was_replaced_reads_on)
{
    struct log_read read = {
        .below_offset = INT64_MAX, .max_bytes = 1 << 20, .at_least_one = true, .may_block = true
    };
    uint8_t bytes[256];
    size_t got;
    start();
    segment_of("a=1 b=1");
    segment_of("a=2");
    segment_of("z=1");
    assert_int_equal(partition_log_read(fixture.log, &read), 0);
    size_t length = read.slice.length;
    struct buffer before;
    buffer_init(&before);
    fixture_load_file(&fixture, "00000000000000000000.log", &before);
    compaction_run(&fixture);
    assert_int_equal(
        fs_posix()->read(fs_posix(), read.slice.fd, bytes, length, read.slice.offset, &got), 0);
    assert_int_equal(got, length);
    assert_memory_equal(bytes, before.data, length);
    file_slice_release(&read.slice);
    buffer_close(&before);
    fixture_close(&fixture);
}

static bool cancel_third(void *owner)
{
    int *calls = owner;
    return ++*calls == 3;
}

TEST(a_cancelled_pass_changes_nothing)
{
    int calls = 0;
    start();
    segment_of("a=1 b=1");
    segment_of("a=2");
    segment_of("z=1");
    struct compaction_options options = compaction_plain(&fixture);
    options.owner = &calls;
    options.is_cancelled = cancel_third;
    assert_int_equal(compaction_pass(&fixture, &options, NULL), ERR_CANCELED);
    assert_log("0:a=1 1:b=1 2:a=2 3:z=1");
    assert_false(has_leftovers());
    compaction_run(&fixture);
    assert_log("1:b=1 2:a=2 3:z=1");
    fixture_close(&fixture);
}

/* A pass that is ready to swap. */
static struct compaction *half_a_pass(void)
{
    struct compaction *compaction;
    bool is_ready;
    start();
    segment_of("a=1 b=1");
    segment_of("a=2");
    segment_of("b=2 c=1");
    segment_of("z=1");
    struct compaction_options options = compaction_plain(&fixture);
    assert_int_equal(compaction_begin(&compaction, fixture.log, &options), 0);
    assert_int_equal(compaction_next(compaction, &is_ready), 0);
    assert_true(is_ready);
    return compaction;
}

TEST(a_pass_that_a_truncation_overtook_is_given_up)
{
    struct compaction *compaction = half_a_pass();
    assert_int_equal(partition_log_truncate(fixture.log, 3), 0);
    compaction_append(&fixture, "b=other");
    assert_int_equal(compaction_swap(compaction), ERR_CANCELED);
    compaction_close(compaction);
    assert_log("0:a=1 1:b=1 2:a=2 3:b=other");
    assert_false(has_leftovers());
    fixture_close(&fixture);
}

TEST(a_pass_that_retention_overtook_is_given_up)
{
    struct compaction *compaction = half_a_pass();
    int64_t next_ms;
    assert_int_equal(partition_log_raise_start(fixture.log, 2), 0);
    assert_int_equal(partition_log_retain(fixture.log, 6, FIXTURE_NOW_MS, &next_ms), 0);
    assert_int_equal(compaction_swap(compaction), ERR_CANCELED);
    compaction_close(compaction);
    assert_log("2:a=2 3:b=2 4:c=1 5:z=1");
    fixture_close(&fixture);
}

TEST(a_log_may_close_in_the_middle_of_a_pass)
{
    struct compaction *compaction = half_a_pass();
    fixture_stop(&fixture);
    compaction_close(compaction);
    fixture_reopen(&fixture);
    assert_log("0:a=1 1:b=1 2:a=2 3:b=2 4:c=1 5:z=1");
    assert_false(has_leftovers());
    fixture_close(&fixture);
}

TEST(retention_removes_compacted_segments_too)
{
    int64_t next_ms;
    start();
    segment_of("a=1 b=1");
    segment_of("a=2");
    segment_of("z=1");
    compaction_run(&fixture);
    fixture.settings.cleanup_policy = CLEANUP_COMPACT | CLEANUP_DELETE;
    fixture.settings.retention_ms = 1000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    clock_manual_advance_ms(&fixture.clock, 10000);
    compaction_append_as(&fixture, "y=1",
                         &(struct batch_spec){ .timestamp = FIXTURE_NOW_MS + 9999 });
    assert_int_equal(partition_log_retain(fixture.log, 5, FIXTURE_NOW_MS + 10000, &next_ms), 0);
    assert_log("3:z=1 4:y=1");
    fixture_close(&fixture);
}

/* ---- what is remembered ---- */

TEST(what_was_cleaned_is_remembered_in_kafkas_checkpoint)
{
    struct cleanable cleanable;
    char path[PATH_MAX];
    char *content;
    size_t length;
    start();
    segment_of("a=1 b=1");
    segment_of("z=1");
    compaction_run(&fixture);
    fixture_stop(&fixture);
    assert_int_equal(fs_path(path, "%s/cleaner-offset-checkpoint", fixture.path), 0);
    assert_int_equal(fs_read_file(fs_posix(), path, 1000, &content, &length), 0);
    assert_string_equal(content, "0\n1\norders 0 2\n");
    mem_free(content);
    fixture_reopen(&fixture);
    assert_int_equal(partition_log_cleanable(fixture.log, 3, FIXTURE_NOW_MS, &cleanable), 0);
    assert_int_equal(cleanable.first_dirty_offset, 2);
    assert_int_equal(cleanable.dirty_bytes, 0);
    fixture_close(&fixture);
}

TEST(a_truncation_makes_what_it_cut_dirty_again)
{
    struct cleanable cleanable;
    start();
    segment_of("a=1 b=1");
    segment_of("a=2");
    segment_of("z=1");
    compaction_run(&fixture);
    assert_int_equal(partition_log_truncate(fixture.log, 2), 0);
    compaction_append(&fixture, "b=2");
    segment_of("z=1");
    assert_int_equal(partition_log_cleanable(fixture.log, 4, FIXTURE_NOW_MS, &cleanable), 0);
    assert_int_equal(cleanable.first_dirty_offset, 2);
    assert_int_equal(cleanable.first_uncleanable_offset, 3);
    compaction_run(&fixture);
    assert_log("2:b=2 3:z=1");
    fixture_close(&fixture);
}

TEST(how_dirty_a_log_is_counts_from_the_last_pass)
{
    struct cleanable cleanable;
    start();
    segment_of("a=1");
    segment_of("a=1");
    segment_of("a=1");
    assert_int_equal(partition_log_cleanable(fixture.log, 3, FIXTURE_NOW_MS, &cleanable), 0);
    assert_int_equal(cleanable.clean_bytes, 0);
    int64_t one = cleanable.dirty_bytes / 2;
    compaction_run(&fixture);
    segment_of("a=1");
    assert_int_equal(partition_log_cleanable(fixture.log, 4, FIXTURE_NOW_MS, &cleanable), 0);
    assert_int_equal(cleanable.clean_bytes, one);
    assert_int_equal(cleanable.dirty_bytes, one);
    fixture_close(&fixture);
}

TEST(a_log_with_a_record_older_than_the_longest_lag_is_overdue)
{
    struct cleanable cleanable;
    start();
    fixture.settings.max_compaction_lag_ms = 1000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    segment_of("a=1");
    segment_of("z=1");
    assert_int_equal(partition_log_cleanable(fixture.log, 2, FIXTURE_NOW_MS + 1000, &cleanable), 0);
    assert_false(cleanable.is_overdue);
    assert_int_equal(partition_log_cleanable(fixture.log, 2, FIXTURE_NOW_MS + 1001, &cleanable), 0);
    assert_true(cleanable.is_overdue);
    compaction_run(&fixture);
    assert_int_equal(partition_log_cleanable(fixture.log, 2, FIXTURE_NOW_MS + 1001, &cleanable), 0);
    assert_false(cleanable.is_overdue);
    fixture_close(&fixture);
}

TEST(a_segment_is_closed_in_time_to_be_compacted)
{
    start();
    fixture.settings.cleanup_policy = CLEANUP_COMPACT;
    fixture.settings.max_compaction_lag_ms = 1000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    compaction_append(&fixture, "a=1");
    compaction_append_as(&fixture, "a=2",
                         &(struct batch_spec){ .timestamp = FIXTURE_NOW_MS + 1000 });
    assert_string_equal(compaction_segments(&fixture), "0");
    compaction_append_as(&fixture, "a=3",
                         &(struct batch_spec){ .timestamp = FIXTURE_NOW_MS + 1001 });
    assert_string_equal(compaction_segments(&fixture), "0 2");
    fixture_close(&fixture);
}

TEST(a_compacted_log_opens_again_as_it_was)
{
    start();
    segment_of("a=1 b=1 c=1");
    segment_of("a=2 b");
    segment_of("c=2");
    segment_of("z=1");
    compaction_run(&fixture);
    static const char *const expected = "3:a=2 4:b 5:c=2 6:z=1";
    assert_log(expected);
    fixture_kill(&fixture);
    assert_log(expected);
    fixture_stop(&fixture);
    fixture_reopen(&fixture);
    assert_log(expected);
    assert_int_equal(fixture.recovery.indexes_rebuilt, 0);
    fixture_close(&fixture);
}

TEST(a_compacted_log_opens_without_any_checkpoint)
{
    char path[PATH_MAX];
    start();
    segment_of("a=1 b=1 c=1");
    segment_of("a=2 b");
    segment_of("c=2");
    segment_of("c=3");
    segment_of("z=1");
    fixture.settings.segment_bytes = 200;
    partition_log_set_settings(fixture.log, &fixture.settings);
    compaction_run(&fixture);
    static const char *const expected = "3:a=2 4:b 6:c=3 7:z=1";
    assert_log(expected);
    fixture_kill_only(&fixture);
    static const char *const files[] = { "recovery-point-offset-checkpoint",
                                         "cleaner-offset-checkpoint" };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(fs_path(path, "%s/%s", fixture.path, files[i]), 0);
        fs_posix()->remove(fs_posix(), path);
    }
    fixture_reopen(&fixture);
    assert_int_equal(fixture.recovery.cut_bytes, 0);
    assert_log(expected);
    fixture_close(&fixture);
}

TEST(holes_between_segments_that_kafkas_cleaner_left_are_no_loss)
{
    char path[PATH_MAX];
    start();
    segment_of("a=1");
    compaction_append(&fixture, "b=1");
    segment_of("b=2");
    segment_of("z=1");
    fixture_stop(&fixture);
    /* The first segment without its second batch. */
    struct buffer data;
    buffer_init(&data);
    fixture_load_file(&fixture, "00000000000000000000.log", &data);
    fixture_save_file(&fixture, "00000000000000000000.log", data.data, data.length / 2);
    buffer_close(&data);
    assert_int_equal(fs_path(path, "%s/.kafka_cleanshutdown", fixture.path), 0);
    fs_posix()->remove(fs_posix(), path);
    assert_int_equal(fs_path(path, "%s/recovery-point-offset-checkpoint", fixture.path), 0);
    fs_posix()->remove(fs_posix(), path);
    assert_int_equal(fs_path(path, "%s/cleaner-offset-checkpoint", fixture.path), 0);
    static const char cleaned[] = "0\n1\norders 0 3\n";
    assert_int_equal(fs_write_file(fs_posix(), path, cleaned, strlen(cleaned), false), 0);
    fixture_reopen(&fixture);
    assert_log("0:a=1 2:b=2 3:z=1");
    fixture_close(&fixture);
}

/* ---- what a crash left ---- */

static void rename_file(const char *from, const char *to)
{
    char from_path[PATH_MAX], to_path[PATH_MAX];
    fixture_file(&fixture, from, from_path);
    fixture_file(&fixture, to, to_path);
    assert_int_equal(fs_posix()->rename(fs_posix(), from_path, to_path), 0);
}

/* A log of three closed segments, and beside them the segment that they would become. */
static void start_beside_a_cleaned_one(const char *suffix)
{
    static const char *const parts[] = { ".log", ".index", ".timeindex" };
    struct compaction *compaction = half_a_pass();
    fixture_kill_only(&fixture); /* The files as they are: all `.cleaned`. */
    compaction_close(compaction);
    for (size_t i = 0; i < 3; i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "%020d%s.cleaned", 0, parts[i]);
        snprintf(to, sizeof to, "%020d%s%s", 0, parts[i], suffix);
        rename_file(from, to);
    }
    fixture_remove_file(&fixture, "00000000000000000000.txnindex.cleaned"); /* Kafka makes none. */
}

TEST(what_was_not_completed_before_the_old_segments_went_is_dropped)
{
    start_beside_a_cleaned_one(".cleaned");
    /* Kafka renames the .log first. */
    rename_file("00000000000000000000.log.cleaned", "00000000000000000000.log.swap");
    fixture_reopen(&fixture);
    assert_log("0:a=1 1:b=1 2:a=2 3:b=2 4:c=1 5:z=1");
    assert_false(has_leftovers());
    fixture_close(&fixture);
}

TEST(what_was_to_take_the_place_of_old_segments_does)
{
    start_beside_a_cleaned_one(".swap");
    rename_file("00000000000000000002.log", "00000000000000000002.log.deleted");
    fixture_reopen(&fixture);
    assert_log("2:a=2 3:b=2 4:c=1 5:z=1");
    assert_string_equal(compaction_segments(&fixture), "0 5");
    assert_false(has_leftovers());
    fixture_close(&fixture);
}

TEST(what_had_its_place_already_gets_its_indexes)
{
    start_beside_a_cleaned_one(".swap");
    fixture_remove_file(&fixture, "00000000000000000002.log");
    fixture_remove_file(&fixture, "00000000000000000002.index");
    fixture_remove_file(&fixture, "00000000000000000002.timeindex");
    fixture_remove_file(&fixture, "00000000000000000003.log");
    fixture_remove_file(&fixture, "00000000000000000003.index");
    fixture_remove_file(&fixture, "00000000000000000003.timeindex");
    rename_file("00000000000000000000.log.swap", "00000000000000000000.log");
    fixture_reopen(&fixture);
    assert_log("2:a=2 3:b=2 4:c=1 5:z=1");
    assert_false(has_leftovers());
    fixture_close(&fixture);
}

/* ---- what goes wrong ---- */

TEST(a_damaged_batch_ends_the_pass_and_nothing_else)
{
    start();
    segment_of("a=1 b=1");
    segment_of("a=2");
    segment_of("z=1");
    fixture_stop(&fixture);
    struct buffer data;
    buffer_init(&data);
    fixture_load_file(&fixture, "00000000000000000002.log", &data);
    data.data[data.length - 1] ^= 1;
    fixture_save_file(&fixture, "00000000000000000002.log", data.data, data.length);
    buffer_close(&data);
    fixture_reopen(&fixture);
    struct compaction_options options = compaction_plain(&fixture);
    assert_int_equal(compaction_pass(&fixture, &options, NULL), ERR_CORRUPT_MESSAGE);
    assert_int_equal(partition_log_failed(fixture.log), 0);
    assert_false(has_leftovers());
    assert_string_equal(compaction_segments(&fixture), "0 2 3");
    compaction_append(&fixture, "y=1");
    fixture_close(&fixture);
}

TEST(without_memory_a_pass_ends_and_the_log_is_as_it_was)
{
    start();
    segment_of("a=1 b=1");
    struct batch_spec spec = transactional(7, 0);
    compaction_append_as(&fixture, "a=2 c=1", &spec);
    compaction_append_marker(&fixture, 7, true);
    segment_of("c=2");
    segment_of("z=1");
    struct compaction_options options = compaction_plain(&fixture);
    int nth = 1;
    for (;; nth++) {
        mem_fail_at(nth);
        int err = compaction_pass(&fixture, &options, NULL);
        mem_fail_at(0);
        if (err == 0) break;
        if (partition_log_failed(fixture.log) != 0) { /* In the middle of the swap. */
            fixture_kill(&fixture);
            continue;
        }
        assert_int_equal(err, ERR_NO_MEMORY);
        assert_log("0:a=1 1:b=1 2:a=2 3:c=1 4! 5:c=2 6:z=1");
        assert_false(has_leftovers());
    }
    assert_true(nth > 10);
    assert_log("1:b=1 2:a=2 4! 5:c=2 6:z=1");
    fixture_close(&fixture);
}
