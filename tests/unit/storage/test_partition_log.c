// SPDX-License-Identifier: Apache-2.0

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "log_fixture.h"
#include "partition_log_inside.h"

static struct log_fixture fixture;

static int64_t end_offset(void)
{
    return partition_log_end_offset(fixture.log);
}

static void assert_bytes_equal(const struct buffer *a, const struct buffer *b)
{
    assert_int_equal(a->length, b->length);
    if (a->length > 0) assert_memory_equal(a->data, b->data, a->length);
}

static int read_from(int64_t offset, size_t max_bytes, struct log_read *read, struct buffer *out)
{
    *read = (struct log_read){ .from_offset = offset,
                               .below_offset = INT64_MAX,
                               .max_bytes = max_bytes,
                               .at_least_one = true,
                               .may_block = true };
    return fixture_read(&fixture, read, out);
}

/* Where a read from `offset` begins: the base offset of its first batch. -1: nothing there. */
static int64_t first_read_at(int64_t offset)
{
    struct log_read read;
    struct buffer data;
    struct record_batch batch;

    buffer_init(&data);
    assert_int_equal(read_from(offset, 1, &read, &data), 0);
    if (data.length == 0) return -1;
    assert_int_equal(record_batch_read_header(&batch, data.data, data.length), 0);
    buffer_close(&data);
    return batch.base_offset;
}

/* ---- appending */

TEST(an_empty_log_begins_and_ends_at_zero)
{
    fixture_start(&fixture);
    assert_int_equal(partition_log_start_offset(fixture.log), 0);
    assert_int_equal(end_offset(), 0);
    assert_int_equal(partition_log_last_epoch(fixture.log), -1);
    assert_int_equal(partition_log_size_bytes(fixture.log), 0);
    fixture_close(&fixture);
}

TEST(a_new_log_has_kafkas_files)
{
    struct buffer text;
    char id[UUID_TEXT_SIZE];
    char expected[64];

    fixture_start(&fixture);
    buffer_init(&text);
    fixture_load_file(&fixture, "partition.metadata", &text);
    uuid_print(&fixture.topic_id, id);
    int length = snprintf(expected, sizeof expected, "version: 0\ntopic_id: %s", id);
    assert_int_equal(text.length, length);
    assert_memory_equal(text.data, expected, (size_t)length);
    buffer_close(&text);
    assert_true(fixture_has_file(&fixture, "00000000000000000000.log"));
    assert_true(fixture_has_file(&fixture, "00000000000000000000.index"));
    assert_true(fixture_has_file(&fixture, "00000000000000000000.timeindex"));
    fixture_close(&fixture);
}

TEST(batches_get_offsets_and_the_leaders_epoch_and_are_read_back)
{
    struct log_read read;
    struct buffer data;
    struct record_batch batch;

    fixture_start(&fixture);
    assert_int_equal(fixture_append_as(&fixture, &(struct batch_spec){ .record_count = 3 }, 4), 0);
    assert_int_equal(fixture_append_as(&fixture, &(struct batch_spec){ .record_count = 2 }, 4), 0);
    assert_int_equal(end_offset(), 5);
    buffer_init(&data);
    assert_int_equal(read_from(4, 1 << 20, &read, &data), 0);
    assert_int_equal(record_batch_read_header(&batch, data.data, data.length), 0);
    assert_int_equal(batch.base_offset, 3);
    assert_int_equal(batch.leader_epoch, 4);
    assert_int_equal(read.next_offset, 5);
    buffer_close(&data);
    fixture_close(&fixture);
}

/* A chain of `count` batches of one record, with room behind each for nothing. */
struct chain {
    struct buffer data[600];
    struct log_append appends[600];
    int count;
};
static struct chain chain;

static void chain_add(const struct batch_spec *spec)
{
    struct buffer *data = &chain.data[chain.count];
    struct log_append *append = &chain.appends[chain.count];

    buffer_init(data);
    batch_spec_build(spec, data);
    *append = (struct log_append){ .data = data->data, .from_client = true };
    assert_int_equal(record_batch_read_header(&append->batch, data->data, data->length), 0);
    if (chain.count > 0) chain.appends[chain.count - 1].next = append;
    chain.count++;
}

static int chain_append(bool may_block, struct log_append **rest)
{
    return partition_log_append(fixture.log, chain.appends, 0, FIXTURE_NOW_MS, may_block, rest);
}

static void chain_clear(void)
{
    for (int i = 0; i < chain.count; i++)
        buffer_close(&chain.data[i]);
    chain.count = 0;
}

TEST(a_chain_is_written_with_one_write)
{
    struct log_append *rest;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 1, 10); /* Opens the files. */
    for (int i = 0; i < 20; i++)
        chain_add(&(struct batch_spec){ .record_count = 2 });
    long writes = atomic_load(&fixture.disk.writes);
    assert_int_equal(chain_append(false, &rest), 0);
    assert_null(rest);
    assert_int_equal(atomic_load(&fixture.disk.writes) - writes, 1);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(chain.appends[i].err, 0);
        assert_int_equal(chain.appends[i].base_offset, 1 + 2 * i);
        assert_int_equal(chain.appends[i].last_offset, 2 + 2 * i);
    }
    chain_clear();
    fixture_close(&fixture);
}

TEST(a_chain_longer_than_a_write_may_be_is_split)
{
    struct log_append *rest;

    fixture_start(&fixture);
    for (int i = 0; i < 600; i++)
        chain_add(&(struct batch_spec){ 0 });
    assert_int_equal(chain_append(true, &rest), 0);
    assert_int_equal(end_offset(), 600);
    assert_int_equal(fixture_read_all(&fixture, 5000, NULL), 600);
    chain_clear();
    fixture_close(&fixture);
}

TEST(without_waiting_a_chain_stops_where_a_segment_must_be_rolled)
{
    struct log_append *rest;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 1, 10);
    fixture.settings.segment_bytes = 4000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    for (int i = 0; i < 10; i++)
        chain_add(&(struct batch_spec){ .value_bytes = 1000 });
    assert_int_equal(chain_append(false, &rest), ERR_NEEDS_IO);
    assert_ptr_equal(rest, &chain.appends[3]);
    assert_int_equal(end_offset(), 4);
    assert_int_equal(partition_log_append(fixture.log, rest, 0, FIXTURE_NOW_MS, true, &rest), 0);
    assert_int_equal(end_offset(), 11);
    assert_int_equal(fixture_read_all(&fixture, 1, NULL), 11);
    chain_clear();
    fixture_close(&fixture);
}

TEST(an_append_that_may_not_wait_does_not_open_files)
{
    struct log_append *rest;

    fixture_start(&fixture);
    chain_add(&(struct batch_spec){ 0 });
    assert_int_equal(chain_append(false, &rest), ERR_NEEDS_IO);
    assert_ptr_equal(rest, chain.appends);
    assert_int_equal(chain_append(true, &rest), 0);
    chain_clear();
    fixture_close(&fixture);
}

TEST(a_batch_larger_than_a_segment_is_refused)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 1000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    assert_int_equal(fixture_append(&fixture, &(struct batch_spec){ .value_bytes = 1000 }),
                     ERR_RECORD_LIST_TOO_LARGE);
    assert_int_equal(fixture_append(&fixture, &(struct batch_spec){ .value_bytes = 900 }), 0);
    assert_int_equal(end_offset(), 1);
    fixture_close(&fixture);
}

TEST(log_append_time_replaces_the_timestamps)
{
    struct log_append *rest;
    struct log_position position;

    fixture_start(&fixture);
    fixture.settings.log_append_time = true;
    partition_log_set_settings(fixture.log, &fixture.settings);
    chain_add(&(struct batch_spec){ .timestamp = 1000, .record_count = 3 });
    assert_int_equal(chain_append(true, &rest), 0);
    assert_int_equal(chain.appends[0].append_time_ms, FIXTURE_NOW_MS);
    assert_int_equal(partition_log_find_timestamp(fixture.log, 2000, INT64_MAX, true, &position),
                     0);
    assert_int_equal(position.offset, 0);
    assert_int_equal(position.timestamp, FIXTURE_NOW_MS);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 1); /* With a right CRC. */
    chain_clear();
    fixture_close(&fixture);
}

TEST(a_repeated_batch_is_answered_with_its_first_offset)
{
    struct batch_spec spec = { .producer_id = 9, .record_count = 2 };
    struct log_append *rest;

    fixture_start(&fixture);
    chain_add(&spec);
    chain_add(&spec); /* In the same run. */
    assert_int_equal(chain_append(true, &rest), 0);
    assert_false(chain.appends[0].is_repeat);
    assert_true(chain.appends[1].is_repeat);
    assert_int_equal(chain.appends[1].err, 0);
    assert_int_equal(chain.appends[1].base_offset, 0);
    assert_int_equal(chain.appends[1].last_offset, 1);
    assert_int_equal(end_offset(), 2);
    chain_clear();
    fixture_close(&fixture);
}

TEST(a_gap_in_the_sequence_is_refused)
{
    fixture_start(&fixture);
    assert_int_equal(fixture_append(&fixture, &(struct batch_spec){ .producer_id = 9 }), 0);
    assert_int_equal(
        fixture_append(&fixture, &(struct batch_spec){ .producer_id = 9, .base_sequence = 2 }),
        ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(end_offset(), 1);
    fixture_close(&fixture);
}

static int append_replica(int64_t base_offset, int32_t leader_epoch)
{
    struct buffer data;
    struct log_append *rest;

    buffer_init(&data);
    batch_spec_build(&(struct batch_spec){ .record_count = 2 }, &data);
    record_batch_set_position(data.data, base_offset, leader_epoch);
    struct log_append append = { .data = data.data };
    assert_int_equal(record_batch_read_header(&append.batch, data.data, data.length), 0);
    assert_int_equal(partition_log_append(fixture.log, &append, 99, FIXTURE_NOW_MS, true, &rest),
                     0);
    buffer_close(&data);
    return append.err;
}

TEST(a_replica_keeps_offsets_and_epochs_and_its_leaders_holes)
{
    fixture_start(&fixture);
    assert_int_equal(append_replica(10, 2), 0);
    assert_int_equal(append_replica(20, 3), 0);
    assert_int_equal(append_replica(21, 3), ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(end_offset(), 22);
    assert_int_equal(partition_log_last_epoch(fixture.log), 3);
    assert_int_equal(first_read_at(0), 10);
    assert_int_equal(first_read_at(11), 10);
    assert_int_equal(first_read_at(12), 20);
    fixture_close(&fixture);
}

TEST(an_offset_too_far_from_the_segments_base_begins_a_new_one)
{
    fixture_start(&fixture);
    assert_int_equal(append_replica(INT64_C(1) << 40, 0), 0); /* Into an empty segment, even. */
    assert_int_equal(append_replica(INT64_C(1) << 41, 0), 0);
    assert_int_equal(first_read_at(0), INT64_C(1) << 40);
    assert_int_equal(first_read_at((INT64_C(1) << 40) + 5), INT64_C(1) << 41);
    assert_false(fixture_has_file(&fixture, "00000000000000000000.log"));
    assert_true(fixture_has_file(&fixture, "00000002199023255552.log"));
    fixture_stop(&fixture);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), (INT64_C(1) << 41) + 2);
    fixture_close(&fixture);
}

/* ---- rolling */

TEST(a_segment_is_rolled_by_size)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 2500;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 5, 1000);
    assert_true(fixture_has_file(&fixture, "00000000000000000002.log"));
    assert_true(fixture_has_file(&fixture, "00000000000000000002.snapshot"));
    assert_true(fixture_has_file(&fixture, "00000000000000000004.log"));
    assert_int_equal(fixture_read_all(&fixture, 1, NULL), 5);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 5);
    fixture_close(&fixture);
}

/* Or thousands of them, before the next flush, would have 8 KiB each. */
TEST(entries_of_indexes_leave_memory_when_their_segment_is_rolled)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 2500;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 5, 1000);
    assert_true(fixture_file_size(&fixture, "00000000000000000000.timeindex") > 0);
    assert_true(fixture_file_size(&fixture, "00000000000000000002.timeindex") > 0);
    for (int i = 0; i < 2; i++) {
        assert_null(fixture.log->segments[i]->times.file.tail);
        assert_null(fixture.log->segments[i]->offsets.file.tail);
    }
    assert_int_equal(partition_log_flush(fixture.log), 0);
    fixture_close(&fixture);
}

TEST(a_segment_is_rolled_by_the_age_of_its_first_batch)
{
    fixture_start(&fixture);
    fixture.settings.segment_ms = 1000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append(&fixture, &(struct batch_spec){ .timestamp = 5000 });
    fixture_append(&fixture, &(struct batch_spec){ .timestamp = 6000 });
    assert_false(fixture_has_file(&fixture, "00000000000000000001.log"));
    fixture_append(&fixture, &(struct batch_spec){ .timestamp = 6001 });
    assert_true(fixture_has_file(&fixture, "00000000000000000002.log"));
    fixture_close(&fixture);
}

TEST(a_segment_of_batches_without_time_is_rolled_by_the_clock)
{
    fixture_start(&fixture);
    fixture.settings.segment_ms = 1000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append(&fixture, &(struct batch_spec){ .timestamp = -1 });
    clock_manual_advance_ms(&fixture.clock, 1001);
    fixture_append(&fixture, &(struct batch_spec){ .timestamp = -1 });
    assert_true(fixture_has_file(&fixture, "00000000000000000001.log"));
    fixture_close(&fixture);
}

TEST(a_segment_is_rolled_when_its_index_is_full)
{
    fixture_start(&fixture);
    fixture.settings.segment_index_bytes = 48; /* Three entries in the time index, one kept back. */
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 6, 200);
    assert_true(fixture_has_file(&fixture, "00000000000000000004.log"));
    fixture_close(&fixture);
}

/* ---- reading */

TEST(a_read_beyond_either_end_is_out_of_range)
{
    struct log_read read;
    struct buffer data;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 3, 10);
    assert_int_equal(partition_log_raise_start(fixture.log, 1), 0);
    buffer_init(&data);
    assert_int_equal(read_from(0, 1, &read, &data), ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(read_from(4, 1, &read, &data), ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(read_from(3, 1, &read, &data), 0);
    assert_int_equal(data.length, 0);
    assert_int_equal(read.next_offset, 3);
    fixture_close(&fixture);
}

TEST(every_offset_is_found_from_every_reader)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 30000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    for (int i = 0; i < 200; i++)
        assert_int_equal(
            fixture_append(&fixture,
                           &(struct batch_spec){ .record_count = 3, .value_bytes = (size_t)i * 3 }),
            0);
    for (int64_t offset = 0; offset < 600; offset++)
        assert_int_equal(first_read_at(offset), offset / 3 * 3);
    for (int64_t offset = 599; offset >= 0; offset -= 7)
        assert_int_equal(first_read_at(offset), offset / 3 * 3);
    fixture_close(&fixture);
}

TEST(a_read_ends_at_max_bytes_whatever_they_are)
{
    struct buffer all;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 300, 150);
    buffer_init(&all);
    assert_int_equal(fixture_read_all(&fixture, INT32_MAX, &all), 300);
    for (size_t max_bytes = 1; max_bytes < 200000; max_bytes = max_bytes * 3 + 1) {
        struct buffer again;
        buffer_init(&again);
        assert_int_equal(fixture_read_all(&fixture, max_bytes, &again), 300);
        assert_bytes_equal(&again, &all);
        buffer_close(&again);
    }
    buffer_close(&all);
    fixture_close(&fixture);
}

TEST(a_read_never_gives_more_than_max_bytes_unless_one_batch_must_come)
{
    struct buffer data;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 10, 1000);
    buffer_init(&data);
    struct log_read read = {
        .from_offset = 0, .below_offset = INT64_MAX, .max_bytes = 500, .may_block = true
    };
    assert_int_equal(fixture_read(&fixture, &read, &data), 0);
    assert_int_equal(data.length, 0);
    assert_int_equal(read.next_offset, 0);
    read.at_least_one = true;
    assert_int_equal(fixture_read(&fixture, &read, &data), 0);
    assert_int_equal(read.next_offset, 1);
    read.max_bytes = 3000;
    assert_int_equal(fixture_read(&fixture, &read, &data), 0);
    assert_int_equal(read.next_offset, 2);
    buffer_close(&data);
    fixture_close(&fixture);
}

TEST(nothing_at_or_above_the_limit_is_read)
{
    fixture_start(&fixture);
    for (int i = 0; i < 100; i++)
        fixture_append(&fixture, &(struct batch_spec){ .record_count = 4, .value_bytes = 300 });
    for (int64_t below = 0; below <= 400; below++) {
        for (int64_t from = 0; from <= below; from += 37) {
            struct buffer data;
            struct log_read read = { .from_offset = from,
                                     .below_offset = below,
                                     .max_bytes = 1 << 30,
                                     .at_least_one = true,
                                     .may_block = true };
            buffer_init(&data);
            assert_int_equal(fixture_read(&fixture, &read, &data), 0);
            /* Whole batches of four only. */
            assert_int_equal(read.next_offset, from < below / 4 * 4 ? below / 4 * 4 : from);
            buffer_close(&data);
        }
    }
    fixture_close(&fixture);
}

TEST(a_sequential_reader_needs_no_index)
{
    struct buffer data;
    int64_t offset = 0;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 100, 1000);
    buffer_init(&data);
    fixture_remove_file(&fixture, "00000000000000000000.index");
    while (offset < 100) {
        struct log_read read = { .from_offset = offset,
                                 .below_offset = INT64_MAX,
                                 .max_bytes = 5000,
                                 .at_least_one = true };
        assert_int_equal(fixture_read(&fixture, &read, &data), 0);
        assert_true(read.next_offset > offset);
        offset = read.next_offset;
    }
    buffer_close(&data);
    fixture_close(&fixture);
}

TEST(a_read_that_may_not_wait_says_so_when_the_answer_is_not_in_memory)
{
    struct buffer data;
    struct log_read read = {
        .from_offset = 50, .below_offset = INT64_MAX, .max_bytes = 100, .at_least_one = true
    };

    fixture_start(&fixture);
    fixture_append_many(&fixture, 100, 1000);
    buffer_init(&data);
    fixture.disk.nothing_cached = true;
    assert_int_equal(fixture_read(&fixture, &read, &data), ERR_NEEDS_IO);
    read.may_block = true;
    assert_int_equal(fixture_read(&fixture, &read, &data), 0);
    assert_int_equal(read.next_offset, 51);
    buffer_close(&data);
    fixture_close(&fixture);
}

TEST(a_slice_outlives_the_log_and_its_files)
{
    uint8_t header[RECORD_BATCH_HEADER_SIZE];
    bool has_more;
    struct record_batch batch;
    struct log_read read = {
        .from_offset = 0, .below_offset = INT64_MAX, .max_bytes = 1 << 20, .may_block = true
    };

    fixture_start(&fixture);
    fixture_append_many(&fixture, 3, 100);
    assert_int_equal(partition_log_read(fixture.log, &read), 0);
    assert_int_equal(partition_log_delete(fixture.log), 0);
    fixture.log = NULL;
    assert_int_equal(data_dir_sweep_deleted(fixture.dir, 8, &has_more), 0);
    assert_int_equal(pread(read.slice.fd, header, sizeof header, read.slice.offset), sizeof header);
    assert_int_equal(record_batch_read_header(&batch, header, sizeof header), 0);
    assert_int_equal(batch.base_offset, 0);
    int open_files = atomic_load(&fixture.disk.open_files);
    file_slice_release(&read.slice);
    assert_int_equal(atomic_load(&fixture.disk.open_files), open_files - 1);
    fixture_close(&fixture);
}

TEST(a_wrong_index_costs_time_but_no_answer)
{
    static const uint8_t garbage[800] = { 0, 0, 0, 1, 0, 0, 0, 77 };

    fixture_start(&fixture);
    fixture_append_many(&fixture, 100, 1000);
    fixture_stop(&fixture);
    fixture_save_file(&fixture, "00000000000000000000.index", garbage, sizeof garbage);
    fixture_reopen(&fixture);
    for (int64_t offset = 0; offset < 100; offset += 9)
        assert_int_equal(first_read_at(offset), offset);
    fixture_close(&fixture);
}

/* ---- by time */

static int64_t offset_at(int64_t timestamp, int64_t below_offset)
{
    struct log_position position;

    assert_int_equal(
        partition_log_find_timestamp(fixture.log, timestamp, below_offset, true, &position), 0);
    return position.offset;
}

TEST(the_first_record_at_or_after_a_time_is_found)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 5000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    for (int i = 0; i < 50; i++)
        fixture_append(&fixture, &(struct batch_spec){ .record_count = 3,
                                                       .timestamp = 1000 + i * 10,
                                                       .value_bytes = 200 });
    assert_int_equal(offset_at(0, INT64_MAX), 0);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(offset_at(1000 + i * 10, INT64_MAX), i * 3);
        assert_int_equal(offset_at(1001 + i * 10, INT64_MAX), i * 3 + 1);
        assert_int_equal(offset_at(1003 + i * 10, INT64_MAX), i < 49 ? i * 3 + 3 : -1);
    }
    assert_int_equal(offset_at(1012, 5), -1); /* Record 5 has it, which is not below 5. */
    assert_int_equal(offset_at(1012, 6), 5);
    fixture_close(&fixture);
}

TEST(the_record_with_the_largest_time_is_found)
{
    static const int64_t timestamps[] = { 100, 500, 300, 900, 200, 900 };
    static const int64_t expected[] = { -1, 0, 1, 1, 3, 3, 3 };
    struct log_position position;

    fixture_start(&fixture);
    fixture.settings.segment_bytes = 600;
    partition_log_set_settings(fixture.log, &fixture.settings);
    for (size_t i = 0; i < 6; i++)
        fixture_append_as(&fixture,
                          &(struct batch_spec){ .timestamp = timestamps[i], .value_bytes = 200 },
                          (int32_t)i);
    for (int64_t below = 0; below <= 6; below++) {
        assert_int_equal(partition_log_find_max_timestamp(fixture.log, below, true, &position), 0);
        assert_int_equal(position.offset, expected[below]);
    }
    assert_int_equal(position.timestamp, 900);
    assert_int_equal(position.leader_epoch, 3);
    fixture_close(&fixture);
}

/* ---- epochs */

TEST(the_log_knows_where_epochs_began_and_ended)
{
    int32_t found;
    int64_t end;

    fixture_start(&fixture);
    fixture_append_as(&fixture, &(struct batch_spec){ .record_count = 5 }, 1);
    fixture_append_as(&fixture, &(struct batch_spec){ .record_count = 5 }, 4);
    partition_log_epoch_end(fixture.log, 3, &found, &end);
    assert_int_equal(found, 1);
    assert_int_equal(end, 5);
    partition_log_epoch_end(fixture.log, 4, &found, &end);
    assert_int_equal(found, 4);
    assert_int_equal(end, 10);
    assert_int_equal(partition_log_epoch_of(fixture.log, 4), 1);
    assert_int_equal(partition_log_epoch_of(fixture.log, 5), 4);
    fixture_close(&fixture);
}

TEST(an_epoch_is_known_from_its_leaders_first_moment_on)
{
    int32_t found;
    int64_t end;

    fixture_start(&fixture);
    assert_int_equal(partition_log_begin_epoch(fixture.log, 3), 0);
    assert_int_equal(partition_log_last_epoch(fixture.log), 3);
    assert_int_equal(partition_log_epoch_of(fixture.log, 0), 3);
    fixture_append_as(&fixture, &(struct batch_spec){ .record_count = 5 }, 3);
    assert_int_equal(partition_log_begin_epoch(fixture.log, 5), 0);
    partition_log_epoch_end(fixture.log, 3, &found, &end);
    assert_int_equal(found, 3);
    assert_int_equal(end, 5);
    partition_log_epoch_end(fixture.log, 5, &found, &end);
    assert_int_equal(found, 5);
    assert_int_equal(end, 5);
    assert_int_equal(partition_log_begin_epoch(fixture.log, 4), 0); /* Late, or again: no news. */
    assert_int_equal(partition_log_last_epoch(fixture.log), 5);

    fixture_stop(&fixture);
    fixture_reopen(&fixture);
    assert_int_equal(partition_log_last_epoch(fixture.log), 5);
    assert_int_equal(partition_log_begin_epoch(fixture.log, 6), 0); /* Instead of it. */
    partition_log_epoch_end(fixture.log, 5, &found, &end);
    assert_int_equal(found, 3);
    fixture_close(&fixture);
}

TEST(an_epoch_without_records_goes_with_a_truncation)
{
    fixture_start(&fixture);
    fixture_append_as(&fixture, &(struct batch_spec){ .record_count = 5 }, 3);
    fixture_append_as(&fixture, &(struct batch_spec){ .record_count = 5 }, 4);
    assert_int_equal(partition_log_begin_epoch(fixture.log, 5), 0);
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_int_equal(partition_log_truncate(fixture.log, 5), 0);
    assert_int_equal(partition_log_last_epoch(fixture.log), 3);
    fixture_kill(&fixture);
    assert_int_equal(partition_log_last_epoch(fixture.log), 3);
    fixture_close(&fixture);
}

TEST(an_epoch_in_an_empty_log_costs_no_write)
{
    fixture_start(&fixture);
    atomic_store(&fixture.disk.operations, 0);
    assert_int_equal(partition_log_begin_epoch(fixture.log, 3), 0);
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_int_equal(atomic_load(&fixture.disk.operations), 0);
    fixture_close(&fixture);
}

/* ---- flushing */

TEST(a_flush_syncs_the_data_once_and_only_if_there_is_some)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 5, 100);
    assert_int_equal(partition_log_flushed_offset(fixture.log), 0);
    assert_int_equal(partition_log_flush(fixture.log), 0); /* With the names of a new log. */
    assert_int_equal(partition_log_flushed_offset(fixture.log), 5);
    fixture_append_many(&fixture, 5, 100);
    long syncs = atomic_load(&fixture.disk.syncs);
    assert_int_equal(partition_log_flush(fixture.log), 0);
    assert_int_equal(atomic_load(&fixture.disk.syncs) - syncs, 1);
    assert_int_equal(partition_log_flush(fixture.log), 0);
    assert_int_equal(atomic_load(&fixture.disk.syncs) - syncs, 1);
    assert_int_equal(partition_log_flushed_offset(fixture.log), 10);
    fixture_close(&fixture);
}

TEST(a_checkpoint_of_a_log_at_rest_touches_no_disk)
{
    fixture_start(&fixture);
    for (int round = 0; round < 3; round++) { /* Empty, with data, after a kill. */
        atomic_store(&fixture.disk.operations, 0);
        assert_int_equal(partition_log_checkpoint(fixture.log), 0);
        assert_int_equal(atomic_load(&fixture.disk.operations), 0);
        fixture_append_many(&fixture, round < 2 ? 5 : 0, 100);
        assert_int_equal(partition_log_checkpoint(fixture.log), 0);
        assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
        if (round == 1) fixture_kill(&fixture);
    }
    fixture_close(&fixture);
}

TEST(space_is_reserved_only_for_a_partition_that_earns_it_and_given_back)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 1, 1000);
    partition_log_flush(fixture.log);
    assert_int_equal(atomic_load(&fixture.disk.reserves), 0);
    fixture_append_many(&fixture, 100, 1000);
    partition_log_flush(fixture.log);
    assert_int_equal(atomic_load(&fixture.disk.reserves), 1);
    fixture_append_many(&fixture, 1, 1000);
    partition_log_flush(fixture.log);
    assert_int_equal(atomic_load(&fixture.disk.reserves), 1);
    fixture_append_many(&fixture, 100, 1000);
    partition_log_flush(fixture.log);
    assert_int_equal(atomic_load(&fixture.disk.reserves), 2);
    assert_int_equal(fixture_file_size(&fixture, "00000000000000000000.log"),
                     partition_log_size_bytes(fixture.log));
    fixture_close(&fixture);
}

TEST(a_failed_sync_puts_the_log_out_of_use_until_it_is_opened_again)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 5, 100);
    fs_fault_fail_at(&fixture.disk, 1, ERR_IO);
    assert_int_equal(partition_log_flush(fixture.log), ERR_KAFKA_STORAGE_ERROR);
    fs_fault_fail_at(&fixture.disk, 0, ERR_IO);
    assert_int_equal(partition_log_failed(fixture.log), ERR_IO);
    assert_int_equal(partition_log_flush(fixture.log), ERR_KAFKA_STORAGE_ERROR);
    assert_int_equal(fixture_append(&fixture, &(struct batch_spec){ 0 }), ERR_KAFKA_STORAGE_ERROR);
    struct log_read read = { .below_offset = INT64_MAX, .max_bytes = 100 };
    assert_int_equal(partition_log_read(fixture.log, &read), ERR_KAFKA_STORAGE_ERROR);
    fixture_close(&fixture);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 5);
    fixture_close(&fixture);
}

/* A client could make nothing of it, and whoever runs the broker would hear nothing. */
TEST(a_segment_that_may_not_be_read_puts_the_log_out_of_use)
{
    static const int errors[] = { ERR_NOT_PERMITTED, ERR_NOT_A_FILE, ERR_IO };

    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        fixture_start(&fixture);
        fixture_append_many(&fixture, 5, 100);
        fixture_stop(&fixture);
        fixture_reopen(&fixture);
        fs_fault_fail_at(&fixture.disk, 1, errors[i]);
        struct log_read read = { .below_offset = INT64_MAX, .max_bytes = 100, .may_block = true };
        assert_int_equal(partition_log_read(fixture.log, &read), ERR_KAFKA_STORAGE_ERROR);
        assert_int_equal(partition_log_failed(fixture.log), errors[i]);
        fs_fault_fail_at(&fixture.disk, 0, ERR_IO);
        fixture_close(&fixture);
    }
}

/* ---- a full disk, failures, lack of memory */

TEST(a_full_disk_refuses_and_leaves_no_trace)
{
    struct log_append *rest;

    fixture_start(&fixture);
    fixture_append(&fixture, &(struct batch_spec){ .producer_id = 5, .value_bytes = 100 });
    int64_t size = partition_log_size_bytes(fixture.log);
    for (int i = 1; i < 4; i++)
        chain_add(&(struct batch_spec){ .producer_id = 5, .base_sequence = i, .value_bytes = 100 });
    fixture.disk.only_writes = fixture.disk.writes_a_part = true;
    fs_fault_fail_at(&fixture.disk, 1, ERR_NO_SPACE);
    assert_int_equal(chain_append(false, &rest), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(chain.appends[i].err, ERR_KAFKA_STORAGE_ERROR);
    assert_int_equal(fixture_file_size(&fixture, "00000000000000000000.log"), size);
    assert_int_equal(partition_log_failed(fixture.log), 0);
    /* And there is room again. The producers had been told too much, so they are read again. */
    assert_int_equal(chain_append(false, &rest), ERR_NEEDS_IO);
    assert_int_equal(chain_append(true, &rest), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chain.appends[i].err, 0);
        assert_int_equal(chain.appends[i].base_offset, i + 1);
    }
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 4);
    chain_clear();
    fixture_close(&fixture);
}

/* What the log is asked to do in the tests that let something fail; the number of batches that were
 * acknowledged. */
static int work_a_little(void)
{
    int acknowledged = 0;
    int64_t next_ms;

    for (int i = 0; i < 12; i++) {
        struct batch_spec spec = { .timestamp = FIXTURE_NOW_MS + i, .value_bytes = 300 };
        int err = fixture_append_as(&fixture, &spec, i / 3);
        acknowledged += err == 0;
        if (i % 4 == 3) partition_log_flush(fixture.log);
        if (i == 6) partition_log_checkpoint(fixture.log);
    }
    partition_log_retain(fixture.log, end_offset(), FIXTURE_NOW_MS, &next_ms);
    partition_log_checkpoint(fixture.log);
    return acknowledged;
}

/* Whatever fails, what was acknowledged can be read after the log is opened again. */
static void fail_every_operation(int error, bool keeps_failing)
{
    for (long nth = 1;; nth++) {
        fixture_init(&fixture, test_folder());
        fixture.settings.segment_bytes = 1500;
        fixture.disk.writes_a_part = true;
        fixture.disk.keeps_failing = keeps_failing;
        fs_fault_fail_at(&fixture.disk, nth, error);
        int acknowledged = 0;
        int err = fixture_open(&fixture);
        if (err == 0) acknowledged = work_a_little();
        bool has_failed = atomic_load(&fixture.disk.has_failed);
        fs_fault_fail_at(&fixture.disk, 0, error);
        if (err == 0)
            fixture_kill(&fixture);
        else
            fixture_reopen(&fixture);
        assert_true(fixture_read_all(&fixture, 1 << 20, NULL) >= acknowledged);
        if (error == ERR_NO_SPACE) /* What was refused left nothing. */
            assert_int_equal(end_offset(), acknowledged);
        assert_int_equal(fixture_append(&fixture, &(struct batch_spec){ 0 }), 0);
        fixture_close(&fixture);
        assert_int_equal(atomic_load(&fixture.disk.open_files), 0);
        if (!has_failed) break;
    }
}

TEST(one_failing_operation_loses_nothing_that_was_acknowledged)
{
    fail_every_operation(ERR_IO, false);
}

TEST(a_dying_disk_loses_nothing_that_was_acknowledged)
{
    fail_every_operation(ERR_IO, true);
}

TEST(a_disk_that_fills_up_loses_nothing_that_was_acknowledged)
{
    fail_every_operation(ERR_NO_SPACE, true);
}

TEST(a_disk_that_is_full_for_a_moment_leaves_no_trace)
{
    fail_every_operation(ERR_NO_SPACE, false);
}

TEST(lack_of_memory_loses_nothing_and_leaks_nothing)
{
    for (long nth = 1;; nth++) {
        struct log_append *rest;
        int err;

        fixture_init(&fixture, test_folder());
        fixture.settings.segment_bytes = 1000;
        for (int i = 0; i < 4; i++)
            chain_add(&(struct batch_spec){ .value_bytes = 300, .producer_id = 1 + i });
        mem_fail_at(nth);
        err = fixture_open(&fixture);
        if (err == 0) err = chain_append(true, &rest);
        if (err == 0) err = partition_log_checkpoint(fixture.log);
        mem_fail_at(0);
        int refused = 0;
        if (fixture.log != NULL) {
            assert_int_equal(partition_log_failed(fixture.log), 0);
            for (int i = 0; i < 4; i++) {
                assert_true(chain.appends[i].err == 0 || chain.appends[i].err == ERR_NO_MEMORY ||
                            chain.appends[i].err == ERR_KAFKA_STORAGE_ERROR);
                refused += chain.appends[i].err != 0;
            }
            assert_int_equal(end_offset(), 4 - refused);
            assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 4 - refused);
            fixture_close(&fixture);
        } else {
            assert_int_equal(err, ERR_NO_MEMORY);
        }
        fixture.log = NULL;
        chain_clear();
        if (err == 0 && refused == 0) break;
    }
}

/* ---- taking away */

TEST(a_truncated_log_ends_there_and_goes_on_there)
{
    for (int64_t offset = 0; offset <= 20; offset++) {
        fixture_start(&fixture);
        fixture.settings.segment_bytes = 1500;
        partition_log_set_settings(fixture.log, &fixture.settings);
        for (int i = 0; i < 20; i++)
            fixture_append_as(&fixture,
                              &(struct batch_spec){ .value_bytes = 300,
                                                    .timestamp = FIXTURE_NOW_MS + i,
                                                    .producer_id = 3,
                                                    .base_sequence = i },
                              i / 5);
        partition_log_checkpoint(fixture.log);
        assert_int_equal(partition_log_truncate(fixture.log, offset), 0);
        assert_int_equal(end_offset(), offset);
        assert_int_equal(partition_log_last_epoch(fixture.log), (offset + 4) / 5 - 1);
        assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), offset);
        struct batch_spec next = { .producer_id = 3,
                                   .base_sequence = (int32_t)offset,
                                   .timestamp = FIXTURE_NOW_MS + 100 };
        assert_int_equal(fixture_append_as(&fixture, &next, 9), 0);
        assert_int_equal(partition_log_epoch_of(fixture.log, offset), 9);
        assert_int_equal(offset_at(FIXTURE_NOW_MS + 50, INT64_MAX), offset);
        fixture_kill(&fixture);
        assert_int_equal(end_offset(), offset + 1);
        assert_int_equal(partition_log_last_epoch(fixture.log), 9);
        assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), offset + 1);
        fixture_close(&fixture);
    }
}

TEST(a_batch_across_the_cut_goes_whole)
{
    fixture_start(&fixture);
    fixture_append(&fixture, &(struct batch_spec){ .record_count = 5 });
    fixture_append(&fixture, &(struct batch_spec){ .record_count = 5 });
    assert_int_equal(partition_log_truncate(fixture.log, 7), 0);
    assert_int_equal(end_offset(), 7);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 1);
    assert_int_equal(fixture_append(&fixture, &(struct batch_spec){ 0 }), 0);
    assert_int_equal(first_read_at(5), 7);
    fixture_close(&fixture);
}

TEST(a_restarted_log_is_empty_and_stays_so)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 10, 100);
    assert_int_equal(partition_log_restart_at(fixture.log, 1000), 0);
    assert_int_equal(partition_log_start_offset(fixture.log), 1000);
    assert_int_equal(end_offset(), 1000);
    assert_int_equal(partition_log_size_bytes(fixture.log), 0);
    assert_int_equal(partition_log_last_epoch(fixture.log), -1);
    fixture_kill(&fixture);
    assert_int_equal(partition_log_start_offset(fixture.log), 1000);
    assert_int_equal(end_offset(), 1000);
    fixture_append_many(&fixture, 1, 100);
    assert_int_equal(first_read_at(1000), 1000);
    assert_int_equal(partition_log_restart_at(fixture.log, 5), 0); /* Also backwards. */
    assert_int_equal(end_offset(), 5);
    fixture_close(&fixture);
}

TEST(deleted_records_stay_deleted)
{
    fixture_start(&fixture);
    for (int i = 0; i < 10; i++)
        fixture_append_as(&fixture, &(struct batch_spec){ 0 }, i);
    assert_int_equal(partition_log_raise_start(fixture.log, 11), ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(partition_log_raise_start(fixture.log, 4), 0);
    assert_int_equal(partition_log_raise_start(fixture.log, 2), 0); /* Never back. */
    assert_int_equal(partition_log_start_offset(fixture.log), 4);
    assert_int_equal(partition_log_epoch_of(fixture.log, 3), -1);
    data_dir_write_checkpoints(fixture.dir);
    fixture_kill(&fixture);
    assert_int_equal(partition_log_start_offset(fixture.log), 4);
    assert_int_equal(partition_log_epoch_of(fixture.log, 4), 4);
    fixture_close(&fixture);
}

TEST(a_deleted_log_leaves_a_folder_that_is_swept)
{
    char path[PATH_MAX];
    bool has_more;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 3, 100);
    snprintf(path, sizeof path, "%s", fixture.folder);
    assert_int_equal(partition_log_delete(fixture.log), 0);
    fixture.log = NULL;
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(data_dir_sweep_deleted(fixture.dir, 8, &has_more), 0);
    fixture_close(&fixture);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 0);
    fixture_close(&fixture);
}

/* ---- retention */

static int64_t retain(int64_t below_offset, int64_t now_ms)
{
    int64_t next_ms = 0;

    assert_int_equal(partition_log_retain(fixture.log, below_offset, now_ms, &next_ms), 0);
    return next_ms;
}

/* Ten batches, one second apart, two per segment. */
static void start_with_old_segments(void)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 800;
    partition_log_set_settings(fixture.log, &fixture.settings);
    for (int i = 0; i < 10; i++)
        fixture_append(&fixture,
                       &(struct batch_spec){ .timestamp = 1000 + i * 1000, .value_bytes = 300 });
    assert_true(fixture_has_file(&fixture, "00000000000000000008.log"));
}

TEST(segments_older_than_retention_ms_go)
{
    start_with_old_segments();
    fixture.settings.retention_ms = 5000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    int64_t next_ms = retain(INT64_MAX, 9500); /* Older than 4500: those up to 4000. */
    assert_int_equal(partition_log_start_offset(fixture.log), 4);
    assert_true(fixture_has_file(&fixture, "00000000000000000002.log.deleted"));
    assert_int_equal(next_ms, 11001); /* The next newest record is of 6000. */
    retain(INT64_MAX, 9500 + fixture.settings.file_delete_delay_ms);
    assert_false(fixture_has_file(&fixture, "00000000000000000002.log.deleted"));
    fixture_close(&fixture);
}

TEST(an_active_segment_past_its_time_is_rolled_and_goes_too)
{
    start_with_old_segments();
    fixture.settings.retention_ms = 5000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    retain(INT64_MAX, 100000);
    assert_int_equal(partition_log_start_offset(fixture.log), 10);
    assert_int_equal(end_offset(), 10);
    assert_int_equal(partition_log_size_bytes(fixture.log), 0);
    assert_true(fixture_has_file(&fixture, "00000000000000000010.log"));
    fixture_append_many(&fixture, 1, 10);
    assert_int_equal(first_read_at(10), 10);
    fixture_kill(&fixture);
    assert_int_equal(partition_log_start_offset(fixture.log), 10);
    assert_int_equal(end_offset(), 11);
    fixture_close(&fixture);
}

TEST(what_is_too_much_for_retention_bytes_goes)
{
    start_with_old_segments();
    int64_t segment = partition_log_size_bytes(fixture.log) / 5;
    fixture.settings.retention_ms = -1;
    fixture.settings.retention_bytes = 2 * segment + 1;
    partition_log_set_settings(fixture.log, &fixture.settings);
    retain(INT64_MAX, 1000);
    assert_int_equal(partition_log_start_offset(fixture.log), 4);
    fixture_close(&fixture);
}

TEST(nothing_at_or_above_the_high_watermark_goes)
{
    start_with_old_segments();
    fixture.settings.retention_ms = 0;
    partition_log_set_settings(fixture.log, &fixture.settings);
    retain(5, 100000);
    assert_int_equal(partition_log_start_offset(fixture.log), 4);
    fixture_close(&fixture);
}

TEST(segments_below_the_start_offset_go_even_if_the_topic_is_compacted)
{
    start_with_old_segments();
    fixture.settings.cleanup_policy = CLEANUP_COMPACT;
    fixture.settings.retention_ms = 0;
    partition_log_set_settings(fixture.log, &fixture.settings);
    assert_int_equal(partition_log_raise_start(fixture.log, 5), 0);
    retain(INT64_MAX, 100000);
    assert_false(fixture_has_file(&fixture, "00000000000000000002.log"));
    assert_true(fixture_has_file(&fixture, "00000000000000000004.log"));
    assert_int_equal(partition_log_start_offset(fixture.log), 5);
    fixture_close(&fixture);
}

TEST(a_start_offset_above_all_records_does_not_roll_the_active_segment)
{
    start_with_old_segments();
    fixture.settings.retention_ms = -1;
    partition_log_set_settings(fixture.log, &fixture.settings);
    assert_int_equal(partition_log_raise_start(fixture.log, 10), 0);
    retain(INT64_MAX, 100000);
    assert_false(fixture_has_file(&fixture, "00000000000000000006.log"));
    assert_true(fixture_has_file(&fixture, "00000000000000000008.log"));
    assert_true(partition_log_size_bytes(fixture.log) > 0);
    assert_int_equal(partition_log_start_offset(fixture.log), 10);
    fixture_close(&fixture);
}

/* ---- files */

TEST(an_idle_log_holds_no_files_open)
{
    fixture_start(&fixture);
    assert_int_equal(atomic_load(&fixture.disk.open_files), 1); /* The folder's lock. */
    fixture_append_many(&fixture, 100, 1000);
    assert_int_equal(atomic_load(&fixture.disk.open_files), 2); /* And the .log. */
    fixture_stop(&fixture);
    fixture_reopen(&fixture);
    assert_int_equal(atomic_load(&fixture.disk.open_files), 1);
    fixture_close(&fixture);
    assert_int_equal(atomic_load(&fixture.disk.open_files), 0);
}

TEST(a_closed_segment_holds_its_data_file_open_and_no_other)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 5000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 40, 1000); /* Ten segments. */
    assert_int_equal(partition_log_flush(fixture.log), 0);
    assert_int_equal(atomic_load(&fixture.disk.open_files), 1 + 9 + 1);
    fixture_close(&fixture);
}

TEST(a_log_of_many_segments_can_be_used_with_a_few_descriptors)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 5000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    file_cache_set_limit(data_dir_files(fixture.dir), 4);
    for (int i = 0; i < 40; i++) {
        fixture_append_many(&fixture, 4, 1000);
        assert_true(atomic_load(&fixture.disk.open_files) <= 1 + 4);
    }
    assert_int_equal(fixture_read_all(&fixture, 10000, NULL), 160);
    assert_int_equal(partition_log_flush(fixture.log), 0);
    assert_true(atomic_load(&fixture.disk.open_files) <= 1 + 4);
    fixture_stop(&fixture);
    fixture_reopen(&fixture);
    assert_int_equal(fixture_read_all(&fixture, 10000, NULL), 160);
    fixture_close(&fixture);
}

TEST(a_slice_stays_readable_whatever_becomes_of_its_segment)
{
    uint8_t bytes[1000];
    struct log_read read = {
        .below_offset = INT64_MAX, .max_bytes = 1000, .at_least_one = true, .may_block = true
    };

    fixture_start(&fixture);
    fixture.settings.segment_bytes = 5000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 40, 1000);
    assert_int_equal(partition_log_read(fixture.log, &read), 0);
    /* Its descriptor is wanted by others, its file is removed, its log is closed. */
    file_cache_set_limit(data_dir_files(fixture.dir), 1);
    assert_int_equal(fixture_read_all(&fixture, 10000, NULL), 40);
    assert_int_equal(partition_log_raise_start(fixture.log, 20), 0);
    fixture.settings.file_delete_delay_ms = 0;
    partition_log_set_settings(fixture.log, &fixture.settings);
    int64_t next_ms;
    assert_int_equal(partition_log_retain(fixture.log, INT64_MAX, FIXTURE_NOW_MS, &next_ms), 0);
    assert_false(fixture_has_file(&fixture, "00000000000000000000.log"));
    fixture_close(&fixture);
    assert_int_equal(pread(read.slice.fd, bytes, sizeof bytes, read.slice.offset), sizeof bytes);
    assert_int_equal(atomic_load(&fixture.disk.open_files), 1);
    file_slice_release(&read.slice);
    assert_int_equal(atomic_load(&fixture.disk.open_files), 0);
}

/* ---- readers beside the writer and the flusher */

static atomic_bool writer_is_done;

static void *read_along(void *context)
{
    struct partition_log *log = context;
    int64_t offset = 0;

    while (!atomic_load(&writer_is_done) || offset < partition_log_end_offset(log)) {
        struct log_read read = { .from_offset = offset,
                                 .below_offset = partition_log_end_offset(log),
                                 .max_bytes = 3000,
                                 .at_least_one = true,
                                 .may_block = true };
        uint8_t header[RECORD_BATCH_HEADER_SIZE];
        struct record_batch batch;
        if (partition_log_read(log, &read) != 0) return context;
        if (read.slice.length > 0) {
            bool is_right = pread(read.slice.fd, header, sizeof header, read.slice.offset) ==
                                (ssize_t)sizeof header &&
                            record_batch_read_header(&batch, header, sizeof header) == 0 &&
                            batch.base_offset == offset;
            file_slice_release(&read.slice);
            if (!is_right) return context;
        }
        offset = read.next_offset;
    }
    return NULL;
}

static void *flush_along(void *context)
{
    while (!atomic_load(&writer_is_done)) {
        if (partition_log_flush(context) != 0) return context;
    }
    return NULL;
}

TEST(readers_and_a_flusher_run_beside_the_writer)
{
    pthread_t readers[2], flusher;
    void *failed;

    fixture_start(&fixture);
    fixture.settings.segment_bytes = 50000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    atomic_store(&writer_is_done, false);
    pthread_create(&readers[0], NULL, read_along, fixture.log);
    pthread_create(&readers[1], NULL, read_along, fixture.log);
    pthread_create(&flusher, NULL, flush_along, fixture.log);
    for (int i = 0; i < 2000; i++) {
        fixture_append_many(&fixture, 1, 200);
        if (i % 500 == 250) assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    }
    atomic_store(&writer_is_done, true);
    pthread_join(flusher, &failed);
    assert_null(failed);
    for (int i = 0; i < 2; i++) {
        pthread_join(readers[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(partition_log_flush(fixture.log), 0);
    assert_int_equal(partition_log_flushed_offset(fixture.log), 2000);
    fixture_close(&fixture);
}
