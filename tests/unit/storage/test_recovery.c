// SPDX-License-Identifier: Apache-2.0

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "log_fixture.h"

#define FIRST_LOG   "00000000000000000000.log"
#define FIRST_INDEX "00000000000000000000.index"
#define FIRST_TIMES "00000000000000000000.timeindex"

static struct log_fixture fixture;

static int64_t end_offset(void)
{
    return partition_log_end_offset(fixture.log);
}

static void assert_file_is(const char *name, const struct buffer *expected)
{
    struct buffer found;

    buffer_init(&found);
    fixture_load_file(&fixture, name, &found);
    assert_int_equal(found.length, expected->length);
    if (expected->length > 0) assert_memory_equal(found.data, expected->data, expected->length);
    buffer_close(&found);
}

/* ---- after a clean stop */

TEST(a_clean_start_reads_no_log_data)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 5000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    for (int i = 0; i < 30; i++)
        fixture_append_as(&fixture,
                          &(struct batch_spec){ .value_bytes = 500,
                                                .producer_id = 4,
                                                .base_sequence = i,
                                                .timestamp = FIXTURE_NOW_MS + i },
                          i / 10);
    fixture_stop(&fixture);
    atomic_store(&fixture.disk.log_reads, 0);
    fixture_reopen(&fixture);
    assert_int_equal(atomic_load(&fixture.disk.log_reads), 0);
    assert_false(fixture.recovery.was_recovered);
    assert_int_equal(end_offset(), 30);
    assert_int_equal(partition_log_flushed_offset(fixture.log), 30);
    assert_int_equal(partition_log_last_epoch(fixture.log), 2);
    /* And it goes on where it was, for its producer too. */
    struct batch_spec again = { .value_bytes = 500, .producer_id = 4, .base_sequence = 29 };
    assert_int_equal(fixture_append_as(&fixture, &again, 2), 0);
    assert_int_equal(end_offset(), 30);
    again.base_sequence = 30;
    assert_int_equal(fixture_append_as(&fixture, &again, 2), 0);
    assert_int_equal(end_offset(), 31);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 31);
    fixture_close(&fixture);
}

TEST(a_clean_marker_counts_once)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 3, 100);
    fixture_stop(&fixture);
    fixture_reopen(&fixture);
    assert_true(data_dir_was_clean(fixture.dir));
    fixture_kill(&fixture);
    assert_false(data_dir_was_clean(fixture.dir));
    assert_int_equal(end_offset(), 3);
    fixture_close(&fixture);
}

TEST(a_log_closed_without_checkpoint_is_looked_at_in_spite_of_a_clean_marker)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 3, 100);
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    fixture_append_many(&fixture, 3, 100);
    partition_log_close(fixture.log);
    fixture.log = NULL;
    data_dir_write_checkpoints(fixture.dir);
    data_dir_mark_clean(fixture.dir, 1);
    fixture_close(&fixture);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 6);
    fixture_close(&fixture);
}

TEST(an_older_recovery_point_after_a_clean_stop_hides_nothing)
{
    struct buffer older;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 30, 100);
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
    buffer_init(&older);
    fixture_load_file(&fixture, "../recovery-point-offset-checkpoint", &older);
    fixture_append_many(&fixture, 30, 100);
    fixture_stop(&fixture);
    fixture_save_file(&fixture, "../recovery-point-offset-checkpoint", older.data, older.length);
    buffer_close(&older);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 60);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 60);
    assert_int_equal(fixture_append_as(&fixture, &(struct batch_spec){ .value_bytes = 9 }, 0), 0);
    fixture_close(&fixture);
}

TEST(behind_damage_that_a_clean_start_has_not_seen_nothing_is_appended)
{
    for (int damage = 0; damage < 4; damage++) {
        fixture_start(&fixture);
        fixture_append_many(&fixture, 5, 100);
        fixture_stop(&fixture);
        struct buffer data;
        buffer_init(&data);
        fixture_load_file(&fixture, FIRST_LOG, &data);
        if (damage == 0) buffer_put(&data, "garbage", 7);
        size_t batch_bytes = data.length / 5;
        uint8_t last[1000];
        assert_true(batch_bytes <= sizeof last);
        memcpy(last, data.data + 4 * batch_bytes, batch_bytes);
        if (damage == 1) buffer_put(&data, last, batch_bytes); /* Once more. */
        size_t lost = damage == 2 ? 1 : damage == 3 ? data.length : 0;
        int64_t left = damage == 2 ? 4 : damage == 3 ? 0 : 5;
        fixture_save_file(&fixture, FIRST_LOG, data.data, data.length - lost);
        buffer_close(&data);
        fixture_reopen(&fixture);
        assert_true(data_dir_was_clean(fixture.dir));
        assert_int_equal(end_offset(), 5);
        assert_int_equal(fixture_append_as(&fixture, &(struct batch_spec){ .value_bytes = 9 }, 0),
                         ERR_KAFKA_STORAGE_ERROR);
        /* It says so, and the next start looks. */
        fixture_kill(&fixture);
        assert_int_equal(end_offset(), left);
        assert_int_equal(fixture_append_as(&fixture, &(struct batch_spec){ .value_bytes = 9 }, 0),
                         0);
        fixture_kill(&fixture);
        assert_int_equal(end_offset(), left + 1);
        assert_int_equal(fixture.recovery.cut_bytes, 0);
        fixture_close(&fixture);
    }
}

/* ---- after a kill */

TEST(a_killed_log_has_all_that_was_written)
{
    for (int checkpoint_at = 0; checkpoint_at <= 20; checkpoint_at += 4) {
        fixture_start(&fixture);
        fixture.settings.segment_bytes = 2000;
        partition_log_set_settings(fixture.log, &fixture.settings);
        for (int i = 0; i < 20; i++) {
            struct batch_spec spec = { .value_bytes = 300,
                                       .producer_id = 8,
                                       .base_sequence = i,
                                       .timestamp = FIXTURE_NOW_MS + i };
            fixture_append_as(&fixture, &spec, i / 6);
            if (i + 1 == checkpoint_at) {
                partition_log_checkpoint(fixture.log);
                data_dir_write_checkpoints(fixture.dir);
            }
        }
        fixture_kill(&fixture);
        assert_int_equal(end_offset(), 20);
        assert_true(fixture.recovery.was_recovered);
        assert_int_equal(fixture.recovery.cut_bytes, 0);
        assert_int_equal(fixture_read_all(&fixture, 700, NULL), 20);
        for (int i = 0; i < 20; i++)
            assert_int_equal(partition_log_epoch_of(fixture.log, i), i / 6);
        struct batch_spec repeat = { .value_bytes = 300,
                                     .producer_id = 8,
                                     .base_sequence = 19,
                                     .timestamp = FIXTURE_NOW_MS + 19 };
        assert_int_equal(fixture_append_as(&fixture, &repeat, 3), 0);
        assert_int_equal(end_offset(), 20);
        fixture_close(&fixture);
    }
}

TEST(a_segment_that_lost_whole_batches_at_its_end_is_the_last)
{
    /* A power cut may leave its file with any length, also none. */
    for (int64_t kept = 0; kept < 4; kept++) {
        struct buffer data;
        fixture_start(&fixture);
        fixture_append_many(&fixture, 1, 1000);
        int64_t batch_bytes = partition_log_size_bytes(fixture.log);
        fixture.settings.segment_bytes = (int32_t)(4 * batch_bytes);
        partition_log_set_settings(fixture.log, &fixture.settings);
        fixture_append_many(&fixture, 10, 1000);
        assert_true(fixture_has_file(&fixture, "00000000000000000008.log"));
        fixture_kill_only(&fixture);
        buffer_init(&data);
        fixture_load_file(&fixture, "00000000000000000004.log", &data);
        fixture_save_file(&fixture, "00000000000000000004.log", data.data,
                          (size_t)(kept * batch_bytes));
        fixture_reopen(&fixture);
        assert_int_equal(end_offset(), 4 + kept);
        assert_int_equal(fixture.recovery.cut_at_offset, 4 + kept);
        assert_false(fixture_has_file(&fixture, "00000000000000000008.log"));
        assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 4 + kept);
        fixture_close(&fixture);
        buffer_close(&data);
    }
}

TEST(a_segment_that_was_emptied_below_the_recovery_point_is_missed)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 2500;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 5, 1000);
    fixture_stop(&fixture);
    fixture_save_file(&fixture, "00000000000000000002.log", "", 0);
    assert_int_equal(fixture_open(&fixture), ERR_CORRUPT_MESSAGE);
    fixture_remove_file(&fixture, "00000000000000000002.log");
    assert_int_equal(fixture_open(&fixture), ERR_CORRUPT_MESSAGE);
}

TEST(damage_in_front_of_what_is_read_is_not_in_the_way)
{
    static const uint8_t zeros[40];
    struct buffer data;
    struct log_read read = {
        .from_offset = 7, .below_offset = 10, .max_bytes = 1 << 20, .may_block = true
    };

    fixture_start(&fixture);
    fixture_append_many(&fixture, 10, 100);
    fixture_stop(&fixture);
    buffer_init(&data);
    fixture_load_file(&fixture, FIRST_LOG, &data);
    memcpy(data.data, zeros, sizeof zeros);
    fixture_save_file(&fixture, FIRST_LOG, data.data, data.length);
    fixture_reopen(&fixture);
    data.length = 0;
    assert_int_equal(fixture_read(&fixture, &read, &data), 0);
    assert_int_equal(read.next_offset, 10);
    read.from_offset = 1;
    read.next_offset = 0;
    assert_int_equal(fixture_read(&fixture, &read, &data), 0);
    buffer_close(&data);
    fixture_close(&fixture);
}

TEST(nothing_below_the_recovery_point_is_read_again)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 200, 5000);
    partition_log_checkpoint(fixture.log);
    data_dir_write_checkpoints(fixture.dir);
    fixture_append_many(&fixture, 2, 5000);
    fixture_kill(&fixture);
    assert_int_equal(end_offset(), 202);
    assert_true(fixture.recovery.bytes_read < 40000); /* Of a million. */
    fixture_close(&fixture);
}

/* A log of ten batches, of which the last lies at `*position`, killed and not opened. */
static void start_with_tail(int64_t *position, struct buffer *data)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 9, 50);
    *position = partition_log_size_bytes(fixture.log);
    fixture_append_many(&fixture, 1, 50);
    fixture_kill_only(&fixture);
    buffer_init(data);
    fixture_load_file(&fixture, FIRST_LOG, data);
}

TEST(a_tail_torn_at_any_byte_is_cut)
{
    struct buffer data;
    int64_t position;

    start_with_tail(&position, &data);
    for (size_t length = (size_t)position; length <= data.length; length++) {
        fixture_save_file(&fixture, FIRST_LOG, data.data, length);
        fixture_reopen(&fixture);
        bool is_whole = length == data.length;
        assert_int_equal(end_offset(), is_whole ? 10 : 9);
        assert_int_equal(fixture.recovery.cut_bytes, is_whole ? 0 : (int64_t)length - position);
        assert_int_equal(fixture_file_size(&fixture, FIRST_LOG),
                         is_whole ? (int64_t)data.length : position);
        assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), is_whole ? 10 : 9);
        fixture_close(&fixture);
    }
    buffer_close(&data);
}

TEST(a_tail_with_any_bit_flipped_is_cut)
{
    struct buffer data;
    int64_t position;

    start_with_tail(&position, &data);
    for (size_t at = (size_t)position; at < data.length; at++) {
        for (int bit = 0; bit < 8; bit++) {
            size_t field = at - (size_t)position;
            data.data[at] ^= (uint8_t)(1 << bit);
            fixture_save_file(&fixture, FIRST_LOG, data.data, data.length);
            fixture_reopen(&fixture);
            /* No CRC covers base offset and leader epoch, in Kafka's format. */
            if (field >= 16 || (field >= 8 && field < 12)) assert_int_equal(end_offset(), 9);
            assert_true(fixture_read_all(&fixture, 1 << 20, NULL) >= 9);
            fixture_close(&fixture);
            data.data[at] ^= (uint8_t)(1 << bit);
        }
    }
    buffer_close(&data);
}

TEST(zeros_and_garbage_behind_the_tail_are_cut)
{
    static const uint8_t fill[] = { 0x00, 0xff, 0x02 };
    struct buffer data;
    int64_t position;

    start_with_tail(&position, &data);
    size_t length = data.length;
    for (size_t i = 0; i < sizeof fill; i++) {
        data.length = length;
        memset(buffer_extend(&data, 5000), fill[i], 5000);
        fixture_save_file(&fixture, FIRST_LOG, data.data, data.length);
        fixture_reopen(&fixture);
        assert_int_equal(end_offset(), 10);
        assert_int_equal(fixture.recovery.cut_bytes, 5000);
        assert_int_equal(fixture.recovery.cut_at_offset, 10);
        fixture_close(&fixture);
    }
    buffer_close(&data);
}

/* Five segments of two batches, killed and not opened; recovery point at the third. */
static void start_with_segments(void)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 800;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 4, 300);
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
    fixture_append_many(&fixture, 6, 300);
    fixture_kill_only(&fixture);
}

static void flip_last_byte(const char *name)
{
    struct buffer data;

    buffer_init(&data);
    fixture_load_file(&fixture, name, &data);
    data.data[data.length - 1] ^= 1;
    fixture_save_file(&fixture, name, data.data, data.length);
    buffer_close(&data);
}

TEST(everything_behind_a_bad_batch_goes_later_segments_too)
{
    start_with_segments();
    flip_last_byte("00000000000000000004.log");
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 5);
    assert_false(fixture_has_file(&fixture, "00000000000000000006.log"));
    assert_false(fixture_has_file(&fixture, "00000000000000000008.index"));
    assert_false(fixture_has_file(&fixture, "00000000000000000006.snapshot"));
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 5);
    fixture_append_many(&fixture, 5, 300);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 10);
    fixture_close(&fixture);
}

TEST(a_segment_below_the_recovery_point_is_trusted)
{
    start_with_segments();
    flip_last_byte(FIRST_LOG);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 10);
    assert_int_equal(fixture.recovery.cut_bytes, 0);
    fixture_close(&fixture);
}

TEST(what_was_cut_does_not_come_back)
{
    start_with_segments();
    flip_last_byte("00000000000000000004.log");
    fixture_reopen(&fixture);
    fixture_kill(&fixture);
    assert_int_equal(end_offset(), 5);
    assert_int_equal(fixture.recovery.cut_bytes, 0);
    fixture_close(&fixture);
}

TEST(a_checkpoint_ahead_of_the_log_loses_nothing_more)
{
    struct buffer data;
    int64_t position;

    start_with_tail(&position, &data);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "../recovery-point-offset-checkpoint");
    fixture_save_file(&fixture, path, "0\n1\norders 0 5000\n", 18);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 10);
    fixture_append_many(&fixture, 1, 50);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 11);
    fixture_kill(&fixture);
    assert_int_equal(end_offset(), 11);
    fixture_close(&fixture);
    buffer_close(&data);
}

TEST(a_damaged_recovery_point_file_means_that_all_is_checked)
{
    start_with_segments();
    fixture_save_file(&fixture, "../recovery-point-offset-checkpoint", "0\n7\nord", 7);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 10);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 10);
    fixture_close(&fixture);
}

/* ---- what is missing or wrong beside the data */

static void damage(const char *name, int how)
{
    static const uint8_t garbage[100] = { 0x55, 0xaa, 0x55 };
    struct buffer data;

    buffer_init(&data);
    fixture_load_file(&fixture, name, &data);
    if (how == 4) /* Half an entry. */
        buffer_i8(&data, 0);
    switch (how) {
    case 0: fixture_remove_file(&fixture, name); break;
    case 1: fixture_save_file(&fixture, name, "", 0); break;
    case 2: fixture_save_file(&fixture, name, garbage, 24); break;
    case 3: fixture_save_file(&fixture, name, garbage, sizeof garbage); break;
    case 4: fixture_save_file(&fixture, name, data.data, data.length); break;
    case 5: /* As Kafka leaves it when it is killed. */
        memset(buffer_extend(&data, 24000), 0, 24000);
        fixture_save_file(&fixture, name, data.data, data.length);
        break;
    default: break;
    }
    buffer_close(&data);
}

TEST(a_missing_or_bad_index_is_never_fatal)
{
    static const char *const names[] = { FIRST_INDEX,
                                         FIRST_TIMES,
                                         "00000000000000000004.index",
                                         "00000000000000000004.timeindex",
                                         "00000000000000000008.index",
                                         "00000000000000000008.timeindex" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int how = 0; how < 6; how++) {
            for (int is_clean = 0; is_clean < 2; is_clean++) {
                struct log_position position;
                start_with_segments();
                if (is_clean) {
                    fixture_reopen(&fixture);
                    fixture_stop(&fixture);
                }
                damage(names[i], how);
                fixture_reopen(&fixture);
                assert_int_equal(end_offset(), 10);
                assert_int_equal(fixture.recovery.cut_bytes, 0);
                assert_int_equal(fixture_read_all(&fixture, 400, NULL), 10);
                for (int64_t offset = 0; offset < 10; offset++) {
                    assert_int_equal(partition_log_find_timestamp(fixture.log,
                                                                  FIXTURE_NOW_MS + offset,
                                                                  INT64_MAX, true, &position),
                                     0);
                    assert_int_equal(position.offset, offset);
                }
                fixture_append_many(&fixture, 3, 300);
                assert_int_equal(fixture_read_all(&fixture, 400, NULL), 13);
                fixture_close(&fixture);
            }
        }
    }
}

TEST(without_its_snapshots_a_log_knows_its_producers_from_the_batches)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 800;
    partition_log_set_settings(fixture.log, &fixture.settings);
    for (int i = 0; i < 7; i++)
        fixture_append(&fixture, &(struct batch_spec){
                                     .value_bytes = 300, .producer_id = 6, .base_sequence = i });
    fixture_stop(&fixture);
    fixture_remove_file(&fixture, "00000000000000000007.snapshot");
    fixture_save_file(&fixture, "00000000000000000006.snapshot", "\0\1xxxxxx", 8);
    fixture_remove_file(&fixture, "00000000000000000002.snapshot");
    fixture_reopen(&fixture);
    struct batch_spec next = { .producer_id = 6, .base_sequence = 8 };
    assert_int_equal(fixture_append(&fixture, &next), ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    next.base_sequence = 7;
    assert_int_equal(fixture_append(&fixture, &next), 0);
    fixture_close(&fixture);
}

/* ---- repeats */

static void append_of_producer(int sequence)
{
    struct batch_spec spec = { .producer_id = 5, .base_sequence = sequence, .value_bytes = 50 };
    assert_int_equal(fixture_append(&fixture, &spec), 0);
}

/* The last five batches, and no more, are answered as repeats. */
static void assert_last_five_are_known(int next_sequence)
{
    int64_t before = end_offset();
    for (int sequence = next_sequence - 5; sequence < next_sequence; sequence++)
        append_of_producer(sequence);
    assert_int_equal(end_offset(), before);
}

TEST(the_last_five_batches_are_known_wherever_a_kill_comes)
{
    for (int at = 5; at < 40; at++) {
        fixture_init(&fixture, test_folder());
        fixture.settings.segment_bytes = 1000;
        fixture_reopen(&fixture);
        for (int i = 0; i < at; i++) {
            append_of_producer(i);
            if (i % 7 == 6) assert_int_equal(partition_log_checkpoint(fixture.log), 0);
            if (i % 11 == 10) assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
        }
        if (at % 3 == 0) assert_int_equal(partition_log_checkpoint(fixture.log), 0);
        fixture_kill(&fixture);
        assert_last_five_are_known(at);
        fixture_kill(&fixture);
        assert_last_five_are_known(at);
        append_of_producer(at);
        fixture_stop(&fixture);
        fixture_reopen(&fixture);
        assert_last_five_are_known(at + 1);
        fixture_close(&fixture);
    }
}

TEST(after_a_truncation_no_batch_is_known_that_was_cut_off)
{
    fixture_start(&fixture);
    for (int i = 0; i < 10; i++)
        append_of_producer(i);
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_int_equal(partition_log_truncate(fixture.log, 8), 0);
    assert_int_equal(end_offset(), 8);
    append_of_producer(7); /* A repeat; */
    assert_int_equal(end_offset(), 8);
    append_of_producer(8); /* that is none any more. */
    assert_int_equal(end_offset(), 9);
    fixture_kill(&fixture);
    assert_last_five_are_known(9);
    append_of_producer(9);
    assert_int_equal(end_offset(), 10);
    fixture_close(&fixture);
}

static unsigned count_snapshots(int64_t below)
{
    unsigned count = 0;
    for (int64_t offset = 0; offset <= below; offset++) {
        char name[64];
        snprintf(name, sizeof name, "%020ld.snapshot", (long)offset);
        count += fixture_has_file(&fixture, name);
    }
    return count;
}

TEST(snapshots_are_kept_of_segments_and_the_newest)
{
    fixture_init(&fixture, test_folder());
    fixture.settings.segment_bytes = 1000;
    fixture_reopen(&fixture);
    for (int i = 0; i < 40; i++) {
        append_of_producer(i);
        assert_int_equal(partition_log_checkpoint(fixture.log), 0);
        /* Two more, which the data folder's checkpoint may be at. */
        assert_true(count_snapshots(100) <= 1 + 2 + 40 / 5);
    }
    fixture_kill(&fixture); /* Nothing was written of where the checkpoints are. */
    assert_last_five_are_known(40);
    fixture_stop(&fixture);
    unsigned bases = 0;
    for (int64_t offset = 1; offset <= 40; offset++) {
        char name[64];
        snprintf(name, sizeof name, "%020ld.log", (long)offset);
        bases += fixture_has_file(&fixture, name);
    }
    assert_true(bases > 3);
    assert_int_equal(count_snapshots(100), bases + 1);
}

TEST(producers_expire)
{
    fixture_start(&fixture);
    append_of_producer(0);
    partition_log_expire_producers(fixture.log, FIXTURE_NOW_MS);
    assert_int_equal(producer_history_count(partition_log_producers(fixture.log)), 1);
    partition_log_expire_producers(fixture.log, FIXTURE_NOW_MS + 1);
    assert_int_equal(producer_history_count(partition_log_producers(fixture.log)), 0);
    append_of_producer(70); /* Whoever is not known may go on anywhere. */
    assert_int_equal(end_offset(), 2);
    fixture_close(&fixture);
}

TEST(who_has_expired_is_not_read_back)
{
    for (int way = 0; way < 2; way++) {
        fixture_init(&fixture, test_folder());
        fixture.producer_expiration_ms = 1000;
        fixture_reopen(&fixture);
        append_of_producer(0);
        if (way == 0) fixture_stop(&fixture);
        if (way == 1) fixture_kill_only(&fixture);
        clock_manual_advance_ms(&fixture.clock, 1000);
        fixture_reopen(&fixture);
        assert_int_equal(producer_history_count(partition_log_producers(fixture.log)), 1);
        fixture_close(&fixture);
        clock_manual_advance_ms(&fixture.clock, 1);
        fixture_reopen(&fixture);
        assert_int_equal(producer_history_count(partition_log_producers(fixture.log)), 0);
        fixture_close(&fixture);
    }
}

TEST(without_its_file_a_log_knows_its_epochs_from_the_batches)
{
    static const char *const damages[] = { NULL, "", "0\n5\n1 1\n", "1\n0\n", "0\n2\n3 0\n1 4\n" };

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        fixture_start(&fixture);
        for (int epoch = 0; epoch < 5; epoch++)
            fixture_append_as(&fixture, &(struct batch_spec){ .record_count = 2 }, epoch * 2);
        fixture_stop(&fixture);
        if (damages[i] == NULL)
            fixture_remove_file(&fixture, "leader-epoch-checkpoint");
        else
            fixture_save_file(&fixture, "leader-epoch-checkpoint", damages[i], strlen(damages[i]));
        fixture_reopen(&fixture);
        for (int64_t offset = 0; offset < 10; offset++)
            assert_int_equal(partition_log_epoch_of(fixture.log, offset), offset / 2 * 2);
        fixture_close(&fixture);
    }
}

TEST(files_on_their_way_out_are_removed)
{
    start_with_segments();
    fixture_save_file(&fixture, "00000000000000000000.log.deleted", "x", 1);
    fixture_save_file(&fixture, "leader-epoch-checkpoint.tmp", "x", 1);
    fixture_save_file(&fixture, "a stranger", "x", 1);
    fixture_reopen(&fixture);
    assert_false(fixture_has_file(&fixture, "00000000000000000000.log.deleted"));
    assert_false(fixture_has_file(&fixture, "leader-epoch-checkpoint.tmp"));
    assert_true(fixture_has_file(&fixture, "a stranger"));
    fixture_close(&fixture);
}

TEST(a_lost_segment_in_the_middle_is_not_passed_over)
{
    start_with_segments();
    fixture_reopen(&fixture);
    fixture_stop(&fixture);
    fixture_remove_file(&fixture, "00000000000000000004.log");
    assert_int_equal(fixture_open(&fixture), ERR_CORRUPT_MESSAGE);
}

/* A crash of Kafka between the renames: it was to go. */
TEST(an_index_of_a_segment_on_its_way_out_is_not_that_of_a_lost_one)
{
    char from[PATH_MAX], to[PATH_MAX];

    start_with_segments();
    fixture_reopen(&fixture);
    fixture_stop(&fixture);
    fixture_file(&fixture, "00000000000000000004.log", from);
    fixture_file(&fixture, "00000000000000000004.log.deleted", to);
    assert_int_equal(rename(from, to), 0);
    fixture_reopen(&fixture);
    assert_false(fixture_has_file(&fixture, "00000000000000000004.log.deleted"));
    assert_false(fixture_has_file(&fixture, "00000000000000000004.index"));
    assert_false(fixture_has_file(&fixture, "00000000000000000004.timeindex"));
    fixture_close(&fixture);
}

/* The files of its successor, by compaction for example, have the same names. */
TEST(a_segment_keeps_its_indexes_when_one_that_it_replaced_goes)
{
    start_with_segments();
    fixture_reopen(&fixture);
    fixture_stop(&fixture);
    fixture_save_file(&fixture, "00000000000000000004.log.deleted", "x", 1);
    fixture_reopen(&fixture);
    assert_false(fixture_has_file(&fixture, "00000000000000000004.log.deleted"));
    assert_true(fixture_has_file(&fixture, "00000000000000000004.index"));
    fixture_close(&fixture);
}

TEST(another_topic_of_the_same_name_is_refused)
{
    fixture_start(&fixture);
    fixture_close(&fixture);
    fixture.topic_id.bytes[0] ^= 1;
    assert_int_equal(fixture_open(&fixture), ERR_INCONSISTENT_TOPIC_ID);
    fixture_save_file(&fixture, "partition.metadata", "ver", 3); /* Torn by a crash. */
    fixture_reopen(&fixture);
    fixture_close(&fixture);
    fixture_reopen(&fixture);
    fixture_close(&fixture);
}

/* What a power cut brought back may be the folder of a topic that was deleted. */
TEST(data_that_was_never_flushed_and_does_not_say_whose_it_is_is_nobodys)
{
    fixture_start(&fixture);
    fixture_append_many(&fixture, 3, 100);
    fixture_close(&fixture);
    fixture_save_file(&fixture, "partition.metadata", "ver", 3);
    assert_int_equal(fixture_open(&fixture), ERR_INCONSISTENT_TOPIC_ID);
    fixture_write_metadata(&fixture);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 3);

    /* It was flushed before, so it was whole: then this is damage, and the log is known by its checkpoint. */
    fixture_stop(&fixture);
    fixture_save_file(&fixture, "partition.metadata", "ver", 3);
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 3);
    fixture_close(&fixture);
}

TEST(a_log_whose_data_ends_below_its_start_begins_anew_there)
{
    start_with_segments();
    fixture_save_file(&fixture, "../log-start-offset-checkpoint", "0\n1\norders 0 77\n", 16);
    fixture_reopen(&fixture);
    assert_int_equal(partition_log_start_offset(fixture.log), 77);
    assert_int_equal(end_offset(), 77);
    fixture_close(&fixture);
}

/* The number that says so may be wrong. */
TEST(what_lies_below_the_start_of_such_a_log_is_set_aside)
{
    static const char *const names[] = { "00000000000000000000.log", "00000000000000000004.log",
                                         "00000000000000000008.log" };
    char aside[64];
    struct buffer data[3];

    start_with_segments();
    for (size_t i = 0; i < 3; i++) {
        buffer_init(&data[i]);
        fixture_load_file(&fixture, names[i], &data[i]);
    }
    fixture_save_file(&fixture, "../log-start-offset-checkpoint", "0\n1\norders 0 77\n", 16);
    for (int life = 0; life < 2; life++) { /* The second finds nothing to set aside. */
        fixture_reopen(&fixture);
        fixture_close(&fixture);
        for (size_t i = 0; i < 3; i++) {
            struct buffer kept;
            buffer_init(&kept);
            assert_false(fixture_has_file(&fixture, names[i]));
            snprintf(aside, sizeof aside, "%s.set-aside.1", names[i]);
            fixture_load_file(&fixture, aside, &kept);
            assert_int_equal(kept.length, data[i].length);
            assert_memory_equal(kept.data, data[i].data, kept.length);
            buffer_close(&kept);
        }
        assert_false(fixture_has_file(&fixture, "00000000000000000077.log.set-aside.1"));
    }
    for (size_t i = 0; i < 3; i++)
        buffer_close(&data[i]);
}

TEST(an_empty_segment_that_a_crash_left_below_the_start_is_not_missed)
{
    fixture_start(&fixture);
    assert_int_equal(partition_log_restart_at(fixture.log, 1), 0);
    fixture_append_many(&fixture, 3, 100);
    fixture_kill_only(&fixture);
    /* Made when the folder was, and its removal undone by the power cut. */
    fixture_save_file(&fixture, FIRST_LOG, "", 0);
    fixture.cut_only_from = 0;
    fixture_reopen(&fixture);
    assert_int_equal(partition_log_start_offset(fixture.log), 1);
    assert_int_equal(end_offset(), 4);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 3);
    fixture_close(&fixture);
}

/* ---- the stricter rule of the metadata log */

TEST(under_the_strict_rule_what_was_acknowledged_is_never_cut)
{
    struct buffer data;
    int64_t position;

    start_with_tail(&position, &data);
    fixture_save_file(&fixture, FIRST_LOG, data.data, data.length - 1);
    fixture.cut_only_from = 10;
    assert_int_equal(fixture_open(&fixture), ERR_CORRUPT_MESSAGE);
    assert_int_equal(fixture_file_size(&fixture, FIRST_LOG), data.length - 1); /* As it was. */
    fixture.cut_only_from = 9;
    fixture_reopen(&fixture);
    assert_int_equal(end_offset(), 9);
    fixture_close(&fixture);
    fixture.cut_only_from = 10; /* Also if the end is missing without a trace. */
    assert_int_equal(fixture_open(&fixture), ERR_CORRUPT_MESSAGE);
    buffer_close(&data);
}

TEST(under_the_strict_rule_the_end_is_looked_at_after_a_clean_stop)
{
    struct buffer data;

    fixture_start(&fixture);
    fixture_append_many(&fixture, 20, 100);
    fixture_stop(&fixture);
    buffer_init(&data);
    fixture_load_file(&fixture, FIRST_LOG, &data);
    fixture_save_file(&fixture, FIRST_LOG, data.data, data.length / 2); /* An older copy. */
    buffer_close(&data);
    fixture.cut_only_from = 20;
    assert_int_equal(fixture_open(&fixture), ERR_CORRUPT_MESSAGE);
    assert_int_equal(fixture.recovery.refused_segment, 0);
    assert_int_equal(fixture.recovery.refused_offset, 10);
}

TEST(under_the_strict_rule_a_log_begins_beyond_its_end_only_where_that_was_meant)
{
    for (int way = 0; way < 3; way++) {
        fixture_start(&fixture);
        fixture_append_many(&fixture, 20, 100);
        data_dir_set_checkpoint(fixture.dir, CHECKPOINT_LOG_START, FIXTURE_TOPIC, 0, 30);
        data_dir_set_checkpoint(fixture.dir, CHECKPOINT_RECOVERY_POINT, FIXTURE_TOPIC, 0,
                                way == 1 ? 31 : 20);
        assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
        fixture_kill_only(&fixture);
        fixture.cut_only_from = 20;
        fixture.may_restart_at = way == 2 ? 29 : 30;
        assert_int_equal(fixture_open(&fixture), way == 0 ? 0 : ERR_CORRUPT_MESSAGE);
        if (way != 0) continue;
        assert_int_equal(partition_log_start_offset(fixture.log), 30);
        assert_int_equal(end_offset(), 30);
        fixture_close(&fixture);
    }
}

TEST(under_the_strict_rule_only_the_last_segment_is_cut)
{
    start_with_segments();
    flip_last_byte("00000000000000000004.log");
    fixture.cut_only_from = 0;
    assert_int_equal(fixture_open(&fixture), ERR_CORRUPT_MESSAGE);
    assert_true(fixture_has_file(&fixture, "00000000000000000008.log"));
}

/* ---- a folder of Kafka's */

static void init_with_kafkas_folder(void)
{
    const char *folder = test_folder();
    char text[] = "MkZ0J2mMSiqQXHZLyqsl5g";

    copy_tree(test_data("data/segment-data"), folder);
    fixture_init(&fixture, folder);
    assert_int_equal(uuid_parse(&fixture.topic_id, text), 0);
}

static void assert_kafkas_content(void)
{
    json_t *expected = json_load_file(test_data("data/segment-expected.json"), 0, NULL);
    json_t *segment, *batch;
    size_t i, j;
    struct buffer data;
    size_t at = 0;

    assert_non_null(expected);
    assert_int_equal(partition_log_start_offset(fixture.log),
                     json_integer_value(json_object_get(expected, "logStartOffset")));
    assert_int_equal(end_offset(), json_integer_value(json_object_get(expected, "logEndOffset")));
    assert_int_equal(partition_log_first_unstable_offset(fixture.log, INT64_MAX),
                     json_integer_value(json_object_get(expected, "lastStableOffset")));
    buffer_init(&data);
    fixture_read_all(&fixture, 1 << 20, &data);
    json_array_foreach(json_object_get(expected, "segments"), i, segment)
    {
        json_array_foreach(json_object_get(segment, "batches"), j, batch)
        {
            struct record_batch found;
            int64_t base = json_integer_value(json_object_get(batch, "baseOffset"));
            if (base + json_integer_value(json_object_get(batch, "lastOffsetDelta")) < 4)
                continue; /* Below the start. */
            assert_int_equal(record_batch_read_header(&found, data.data + at, data.length - at), 0);
            assert_int_equal(found.base_offset, base);
            assert_int_equal(found.crc, json_integer_value(json_object_get(batch, "crc")));
            assert_int_equal(partition_log_epoch_of(fixture.log, base < 4 ? 4 : base),
                             json_integer_value(json_object_get(batch, "partitionLeaderEpoch")));
            at += found.size;
        }
    }
    assert_int_equal(at, data.length);
    buffer_close(&data);
    json_decref(expected);
}

static const char *const kafkas_files[] = {
    "00000000000000000000.index",    "00000000000000000000.timeindex",
    "00000000000000000018.index",    "00000000000000000018.timeindex",
    "00000000000000000024.index",    "00000000000000000024.timeindex",
    "00000000000000000000.log",      "00000000000000000018.log",
    "00000000000000000018.txnindex", "00000000000000000024.log",
    "00000000000000000045.snapshot", "00000000000000000018.snapshot",
    "leader-epoch-checkpoint",       "partition.metadata",
};
#define INDEX_FILES 6

static void load_kafkas_file(const char *name, struct buffer *out)
{
    struct log_fixture original;

    fixture_init(&original, test_data("data/segment-data"));
    buffer_init(out);
    fixture_load_file(&original, name, out);
}

static void assert_kafkas_files(void)
{
    for (size_t i = 0; i < sizeof kafkas_files / sizeof kafkas_files[0]; i++) {
        struct buffer original;
        load_kafkas_file(kafkas_files[i], &original);
        assert_file_is(kafkas_files[i], &original);
        buffer_close(&original);
    }
}

TEST(a_folder_of_kafkas_opens_without_reading_the_log)
{
    init_with_kafkas_folder();
    fixture_reopen(&fixture);
    assert_int_equal(atomic_load(&fixture.disk.log_reads), 0);
    assert_kafkas_content();
    fixture_close(&fixture);
    assert_kafkas_files();
}

TEST(rebuilt_indexes_are_kafkas_byte_for_byte)
{
    for (int is_clean = 0; is_clean < 2; is_clean++) {
        init_with_kafkas_folder();
        for (size_t i = 0; i < INDEX_FILES; i++)
            fixture_remove_file(&fixture, kafkas_files[i]);
        if (!is_clean) {
            fixture_remove_file(&fixture, "../.kafka_cleanshutdown");
            fixture_remove_file(&fixture, "../recovery-point-offset-checkpoint");
        }
        fixture_reopen(&fixture);
        assert_kafkas_content();
        fixture_close(&fixture);
        assert_kafkas_files();
    }
}

TEST(a_folder_that_kafka_left_when_it_was_killed_opens)
{
    for (int recovery_point = 0; recovery_point <= 45; recovery_point++) {
        char text[64];
        init_with_kafkas_folder();
        fixture_remove_file(&fixture, "../.kafka_cleanshutdown");
        int length = snprintf(text, sizeof text, "0\n1\norders 0 %d\n", recovery_point);
        fixture_save_file(&fixture, "../recovery-point-offset-checkpoint", text, (size_t)length);
        for (size_t i = 0; i < INDEX_FILES; i++)
            damage(kafkas_files[i], 5); /* Reserved and not cut. */
        fixture_remove_file(&fixture, "00000000000000000045.snapshot");
        fixture_reopen(&fixture);
        assert_kafkas_content();
        fixture_append_as(&fixture, &(struct batch_spec){ .timestamp = 1700000008000 }, 3);
        assert_int_equal(end_offset(), 46);
        fixture_close(&fixture);
    }
}

TEST(our_segments_have_the_bytes_that_kafkas_rule_gives_them)
{
    struct buffer log, original;
    struct log_append *rest;

    /* Kafka's own batches, appended one by one as a replica does, give Kafka's own files. */
    init_with_kafkas_folder();
    struct log_fixture copy = fixture;
    fixture_start(&fixture);
    static const char *const bases[] = { "00000000000000000000", "00000000000000000018",
                                         "00000000000000000024" };
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.log", bases[i]);
        buffer_init(&log);
        fixture_load_file(&copy, name, &log);
        for (size_t at = 0; at < log.length;) {
            struct log_append append = { .data = log.data + at };
            assert_int_equal(
                record_batch_read_header(&append.batch, log.data + at, log.length - at), 0);
            fixture.settings.segment_bytes = at == 0 ? 1000 : 1 << 20; /* Rolls where Kafka did. */
            if (at == 0 && i > 0) fixture.settings.segment_bytes = (int32_t)append.batch.size;
            partition_log_set_settings(fixture.log, &fixture.settings);
            assert_int_equal(
                partition_log_append(fixture.log, &append, 0, FIXTURE_NOW_MS, true, &rest), 0);
            assert_int_equal(append.err, 0);
            at += append.batch.size;
        }
        buffer_close(&log);
    }
    fixture_stop(&fixture);
    for (size_t i = 0; i < sizeof kafkas_files / sizeof kafkas_files[0]; i++) {
        if (strstr(kafkas_files[i], "partition.metadata") != NULL ||
            strstr(kafkas_files[i], "leader-epoch") != NULL)
            continue;
        load_kafkas_file(kafkas_files[i], &original);
        assert_file_is(kafkas_files[i], &original);
        buffer_close(&original);
    }
}
