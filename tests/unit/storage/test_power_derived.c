// SPDX-License-Identifier: Apache-2.0
/* What is derived from a log's data, after a power cut: it is right, and the data is not read again for it
 * (DESIGN 4.4). As test_power_loss.c, from what tests/crash has found. */

#include <string.h>

#include "alloc.h"
#include "bytes.h"
#include "error.h"
#include "power_fixture.h"
#include "runner.h"

static struct power_batch of_producer(int32_t sequence)
{
    return (struct power_batch){ .offset = -1, .producer_id = 7, .sequence = sequence };
}

/* ---- recent batches */

TEST(batches_that_were_cut_off_are_not_taken_for_what_is_repeated_later)
{
    power_start(1);
    assert_int_equal(power_append(of_producer(0)), 0);
    assert_int_equal(power_append(of_producer(1)), 0);
    power_checkpoint();
    assert_int_equal(partition_log_truncate(power.log, 0), 0);
    power_append_many(5);
    assert_int_equal(power_append(of_producer(0)), 0);
    power_kill();
    power_open();
    assert_int_equal(power_append(of_producer(1)), 0);
    power_close();
}

/* Leaves the log without syncing its data, but with all files of a checkpoint in the page cache. */
static void checkpoint_in_page_cache(void)
{
    struct log_checkpoint checkpoint;

    assert_int_equal(partition_log_begin_checkpoint(power.log, &checkpoint), 0);
    assert_int_equal(partition_log_end_checkpoint(power.log, &checkpoint, false), 0);
}

TEST(a_file_of_batches_that_the_disk_has_lost_does_not_come_back)
{
    for (uint64_t seed = 0; seed < 10 * POWER_SEEDS; seed++) {
        power_start(seed);
        assert_int_equal(partition_log_flush(power.log), 0);
        assert_int_equal(power_append(of_producer(0)), 0);
        assert_int_equal(power_append(of_producer(1)), 0);
        checkpoint_in_page_cache();
        power_lose();
        power_open();
        if (power_end() == 0) {
            power_append_many(5);
            assert_int_equal(power_append(of_producer(0)), 0);
            assert_int_equal(partition_log_flush(power.log), 0);
            power_lose();
            power_open();
            assert_int_equal(power_append(of_producer(1)), 0);
        }
        power_close();
    }
}

/* Of a stop, while another partition's last job writes the checkpoints. */
TEST(checkpoints_that_are_written_before_the_sync_of_a_stop_wait_for_it)
{
    for (uint64_t seed = 0; seed < 10 * POWER_SEEDS; seed++) {
        power_start(seed);
        assert_int_equal(partition_log_flush(power.log), 0);
        power_append_many(20);
        checkpoint_in_page_cache();
        assert_int_equal(data_dir_write_checkpoints(power.dir), 0);
        power_lose();
        power_open();
        assert_int_equal(power_end(), 20);
        power_close();
    }
}

/* No later one brings to the disk what that one has lost. */
TEST(checkpoints_are_not_written_after_the_sync_that_they_wait_for_has_failed)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        struct fs_sim_fault fault = { .calls = FS_SIM_SYNC, .nth = 1, .error = ERR_IO };
        power_start(seed);
        power_append_many(10);
        power_checkpoint();
        power_append_many(10);
        checkpoint_in_page_cache();
        fs_sim_fail(power.sim, &fault);
        assert_int_equal(data_dir_write_checkpoints(power.dir), ERR_IO);
        fs_sim_fail(power.sim, NULL);
        assert_int_equal(data_dir_write_checkpoints(power.dir), ERR_IO);
        power_lose();
        power_open();
        assert_true(power_end() >= 10);
        assert_true(power.recovery.was_recovered || power_end() == 10);
        power_close();
    }
}

/* ---- indexes */

static void lengthen(const char *path, const void *data, size_t length)
{
    struct iovec part = { (void *)(uintptr_t)data, length };
    int64_t size;
    int fd;

    assert_int_equal(power.fs->open(power.fs, path, FS_WRITE, &fd), 0);
    assert_int_equal(power.fs->size(power.fs, fd, &size), 0);
    assert_int_equal(power.fs->write(power.fs, fd, &part, 1, size), 0);
    power.fs->close(power.fs, fd);
}

static int abort_transaction(int64_t offset, int32_t sequence)
{
    int err = power_append((struct power_batch){
        .offset = -1, .producer_id = 7, .sequence = sequence, .attributes = BATCH_TRANSACTIONAL });

    return err != 0 ? err
                    : power_append((struct power_batch){ .offset = offset + 1,
                                                         .producer_id = 7,
                                                         .sequence = -1,
                                                         .attributes = BATCH_TRANSACTIONAL |
                                                                       BATCH_CONTROL });
}

static size_t count_aborted(void)
{
    struct log_aborted wanted = {
        .below_offset = INT64_MAX,
        .limit = SIZE_MAX,
        .may_block = true,
    };

    assert_int_equal(partition_log_aborted(power.log, &wanted), 0);
    size_t count = wanted.list.count;
    log_aborted_release(&wanted);
    return count;
}

/* A segment with all kinds of indexes, with the recovery point in it. */
static void start_with_indexes(void)
{
    power_start(1);
    power.settings.segment_bytes = 1000000;
    partition_log_set_settings(power.log, &power.settings);
    assert_int_equal(abort_transaction(0, 0), 0);
    power_append_many(200);
    power_checkpoint();
    power_append_many(3);
    power_kill();
}

static void open_reading_little(void)
{
    fs_sim_forget_reads(power.sim);
    power_open();
    assert_int_equal(power.recovery.indexes_rebuilt, 0);
    assert_true(fs_sim_bytes_read(power.sim, ".log") < 5000);
    assert_int_equal(power_end(), 205);
    assert_int_equal(count_aborted(), 1);
    assert_int_equal(power_find_newest(), 204);
    assert_int_equal(power_find_time(POWER_BEGIN_MS + 100), 100);
}

TEST(indexes_that_are_torn_above_the_recovery_point_cost_nothing_below_it)
{
    static const uint8_t zeros[80];
    uint8_t half[34] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9 };

    start_with_indexes();
    lengthen(POWER_LOG "/00000000000000000000.index", zeros, 5);
    lengthen(POWER_LOG "/00000000000000000000.timeindex", zeros, 17);
    lengthen(POWER_LOG "/00000000000000000000.txnindex", half, sizeof half);
    lengthen(POWER_LOG "/00000000000000000000.txnindex", zeros, sizeof zeros);
    open_reading_little();
    assert_int_equal(abort_transaction(205, 1), 0);
    power_stop(); /* What was cut off is not in the way. */
    fs_sim_forget_reads(power.sim);
    power_open();
    assert_int_equal(fs_sim_bytes_read(power.sim, ".log"), 0);
    assert_int_equal(count_aborted(), 2);
    power_close();
}

TEST(a_time_without_its_offset_is_not_one_of_those_below_the_recovery_point)
{
    uint8_t torn[12] = { 0 };

    start_with_indexes();
    store_i64(torn, POWER_BEGIN_MS + 100000);
    lengthen(POWER_LOG "/00000000000000000000.timeindex", torn, sizeof torn);
    open_reading_little();
    power_close();
}

/* 21 records, of which the last is the newest, in a segment of which few batches are indexed, not that one. */
static void append_newest_at_the_end(void)
{
    power.settings.segment_bytes = 1000000;
    power.settings.index_interval_bytes = 1500;
    partition_log_set_settings(power.log, &power.settings);
    power_append_many(20);
    power.next_time += 1000;
    power_append_many(1);
    power.next_time -= 1000;
}

static const struct fs_sim_fault full_for_times = {
    .calls = FS_SIM_WRITE,
    .suffix = ".timeindex",
    .nth = 1,
    .keeps_failing = true,
    .error = ERR_NO_SPACE,
};

/* With the checkpoint of a stop in good order, or without. */
static void close_and_open_in_order(bool with_checkpoint)
{
    if (with_checkpoint) {
        power_stop();
    } else {
        partition_log_close(power.log);
        power.log = NULL;
        assert_int_equal(data_dir_write_checkpoints(power.dir), 0);
        assert_int_equal(data_dir_mark_clean(power.dir, 1), 0);
        data_dir_close(power.dir);
        power.dir = NULL;
    }
    fs_sim_forget_reads(power.sim);
    power_open();
    assert_int_equal(fs_sim_bytes_read(power.sim, ".log") == 0, with_checkpoint);
}

TEST(indexes_that_a_full_disk_kept_in_memory_at_a_start_are_complete_after_a_stop)
{
    for (int has_checkpoint = 0; has_checkpoint < 2; has_checkpoint++) {
        power_start(1);
        append_newest_at_the_end();
        power_checkpoint();
        power_kill();
        assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/00000000000000000000.index"), 0);
        fs_sim_fail(power.sim, &full_for_times);
        power_open();
        fs_sim_fail(power.sim, NULL);
        close_and_open_in_order(has_checkpoint);
        assert_int_equal(power_find_newest(), 20);
        power_close();
    }
}

TEST(a_transaction_index_without_batches_does_not_outlive_the_start_that_finds_it)
{
    uint8_t torn[34] = { 1 };

    power_start(1);
    assert_int_equal(abort_transaction(0, 0), 0);
    power_checkpoint();
    assert_int_equal(partition_log_truncate(power.log, 0), 0);
    power_kill();
    lengthen(POWER_LOG "/00000000000000000000.txnindex", torn, sizeof torn);
    power_open();
    assert_false(power_has(POWER_LOG "/00000000000000000000.txnindex"));
    power_append_many(3);
    power_stop();
    fs_sim_forget_reads(power.sim);
    power_open();
    assert_int_equal(fs_sim_bytes_read(power.sim, ".log"), 0);
    power_close();
}

/* Two segments, of which the first has an aborted transaction and neither index, below the recovery point. */
static void start_without_indexes(void)
{
    power_start(1);
    assert_int_equal(abort_transaction(0, 0), 0);
    power_append_many(5);
    assert_true(power_has(POWER_LOG "/00000000000000000005.log"));
    power_checkpoint();
    power_kill();
    assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/00000000000000000000.index"), 0);
    assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/00000000000000000000.txnindex"), 0);
    assert_int_equal(power.fs->sync_folder(power.fs, POWER_LOG), 0);
}

static const struct fs_sim_fault full_for_transactions = {
    .calls = FS_SIM_WRITE,
    .suffix = ".txnindex.tmp",
    .nth = 1,
    .keeps_failing = true,
    .error = ERR_NO_SPACE,
};

static void open_without_room(void)
{
    start_without_indexes();
    fs_sim_fail(power.sim, &full_for_transactions);
    power_open();
    assert_true(fs_sim_has_failed(power.sim));
    assert_int_equal(count_aborted(), 1);
    assert_int_equal(partition_log_checkpoint(power.log), ERR_NO_SPACE);
    assert_int_equal(count_aborted(), 1);
    fs_sim_fail(power.sim, NULL);
}

TEST(a_transaction_index_that_a_full_disk_kept_in_memory_is_written_when_there_is_room)
{
    for (int has_checkpoint = 0; has_checkpoint < 2; has_checkpoint++) {
        open_without_room();
        close_and_open_in_order(has_checkpoint);
        assert_int_equal(count_aborted(), 1);
        assert_true(power_has(POWER_LOG "/00000000000000000000.txnindex"));
        assert_false(power_has(POWER_LOG "/00000000000000000000.txnindex.tmp"));
        power_close();
    }
}

TEST(a_transaction_index_that_a_full_disk_kept_in_memory_is_not_forgotten_by_a_kill)
{
    open_without_room();
    power_kill();
    power_open();
    assert_int_equal(count_aborted(), 1);
    power_close();
}

TEST(after_a_cut_nothing_is_twice_in_a_transaction_index_that_waits_for_room)
{
    open_without_room();
    assert_int_equal(partition_log_truncate(power.log, 4), 0);
    assert_int_equal(count_aborted(), 1);
    assert_int_equal(abort_transaction(4, 1), 0);
    assert_int_equal(count_aborted(), 2);
    close_and_open_in_order(true);
    assert_int_equal(count_aborted(), 2);
    power_close();
}

TEST(a_transaction_index_with_many_entries_waits_for_room)
{
    power_start(1);
    power.settings.segment_bytes = 1000000;
    partition_log_set_settings(power.log, &power.settings);
    for (int i = 0; i < 500; i++)
        assert_int_equal(abort_transaction(2 * i, i), 0);
    power_checkpoint();
    power_kill();
    assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/00000000000000000000.txnindex"), 0);
    assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/00000000000000000000.index"), 0);
    fs_sim_fail(power.sim, &full_for_transactions);
    power_open();
    assert_int_equal(count_aborted(), 500);
    fs_sim_fail(power.sim, NULL);
    close_and_open_in_order(true);
    assert_int_equal(count_aborted(), 500);
    power_close();
}

/* Whenever the power goes while indexes are made again. */
TEST(that_a_transaction_index_is_lost_is_known_until_it_is_there_again)
{
    bool is_done = false;

    for (long nth = 1; !is_done; nth++) {
        start_without_indexes();
        fs_sim_cut_power_at(power.sim, nth);
        is_done = power_try_open() == 0 && !fs_sim_is_off(power.sim);
        if (!is_done) {
            power_lose();
            power_open();
        }
        fs_sim_cut_power_at(power.sim, 0);
        assert_int_equal(count_aborted(), 1);
        power_close();
    }
}

/* Of a segment's files the power may have let go of the transaction index alone. */
TEST(a_segment_whose_removal_a_power_cut_undid_knows_what_was_aborted)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        assert_int_equal(abort_transaction(0, 0), 0);
        power_append_many(10);
        power_checkpoint();
        assert_true(power_has(POWER_LOG "/00000000000000000000.txnindex"));
        assert_int_equal(partition_log_raise_start(power.log, 5), 0);
        power_retain();
        assert_false(power_has(POWER_LOG "/00000000000000000000.log"));
        power_lose();
        power_open();
        assert_int_equal(count_aborted(), power_start_offset() == 0 ? 1 : 0);
        power_close();
    }
}

TEST(a_segment_below_the_start_gets_no_new_indexes)
{
    power_start(1);
    power_append_many(50);
    assert_true(power_has(POWER_LOG "/00000000000000000000.index"));
    assert_int_equal(partition_log_raise_start(power.log, 40), 0);
    power_checkpoint();
    power_kill();
    assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/00000000000000000000.index"), 0);
    fs_sim_forget_reads(power.sim);
    power_open();
    assert_int_equal(power.recovery.indexes_rebuilt, 0);
    assert_int_equal(power_start_offset(), 40);
    assert_int_equal(power_find_newest(), 49);
    assert_int_equal(power_find_time(0), 40);
    power_close();
}

TEST(an_empty_segment_inside_the_one_before_it_hides_nothing)
{
    for (int is_last = 0; is_last < 2; is_last++) {
        power_start(1);
        power_append_many(is_last ? 5 : 12);
        assert_int_equal(partition_log_flush(power.log), 0);
        power_kill();
        assert_int_equal(
            fs_write_file(power.fs, POWER_LOG "/00000000000000000003.log", "", 0, false), 0);
        power_open();
        assert_false(power_has(POWER_LOG "/00000000000000000003.log"));
        assert_int_equal(power_end(), is_last ? 5 : 12);
        assert_int_equal(power_find_time(POWER_BEGIN_MS + 3), 3);
        power_append_many(1);
        power_close();
    }
}

TEST(behind_an_empty_segment_inside_the_one_before_it_a_gap_ends_the_log)
{
    power_start(1);
    power_append_many(5);
    assert_int_equal(partition_log_flush(power.log), 0);
    power_kill();
    assert_int_equal(fs_write_file(power.fs, POWER_LOG "/00000000000000000003.log", "", 0, false),
                     0);
    assert_int_equal(fs_write_file(power.fs, POWER_LOG "/00000000000000000008.log", "", 0, false),
                     0);
    power_open();
    assert_false(power_has(POWER_LOG "/00000000000000000003.log"));
    assert_false(power_has(POWER_LOG "/00000000000000000008.log"));
    assert_int_equal(power_end(), 5);
    power_close();
}

/* ---- epochs and snapshots */

TEST(a_clean_start_of_a_log_whose_records_are_all_deleted_reads_nothing)
{
    power_start(1);
    power_append_many(10);
    assert_int_equal(partition_log_raise_start(power.log, 10), 0);
    power_stop();
    assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/leader-epoch-checkpoint"), 0);
    fs_sim_forget_reads(power.sim);
    power_open();
    assert_int_equal(fs_sim_bytes_read(power.sim, ".log"), 0);
    power_close();
}

static void read_snapshot(char **data, size_t *length)
{
    assert_int_equal(
        fs_read_file(power.fs, POWER_LOG "/00000000000000000005.snapshot", 1000, data, length), 0);
}

TEST(the_snapshot_at_the_recovery_point_outlives_a_roll_there)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        char *before = NULL, *after = NULL;
        size_t length_before = 0, length_after = 0;
        power_start(seed);
        assert_int_equal(power_append(of_producer(0)), 0);
        power_append_many(4);
        power_checkpoint();
        read_snapshot(&before, &length_before);
        power_append_many(1); /* The next segment begins at 5. */
        assert_true(power_has(POWER_LOG "/00000000000000000005.log"));
        power_lose();
        read_snapshot(&after, &length_after);
        assert_int_equal(length_after, length_before);
        assert_memory_equal(after, before, length_before);
        mem_free(before);
        mem_free(after);
    }
}

/* Checkpoints of the log that the data folder's file has not been told of. */
static void checkpoint_three_times(void)
{
    for (int i = 0; i < 3; i++) {
        power_append_many(1);
        assert_int_equal(partition_log_checkpoint(power.log), 0);
    }
}

TEST(the_snapshot_that_a_crash_needs_outlives_any_number_of_checkpoints)
{
    static const char snapshot[] = POWER_LOG "/00000000000000000005.snapshot";

    power_start(1);
    power.settings.segment_bytes = 1000000;
    partition_log_set_settings(power.log, &power.settings);
    power_append_many(5);
    power_checkpoint();
    checkpoint_three_times();
    assert_true(power_has(snapshot));
    power_kill();
    power_open();
    checkpoint_three_times();
    assert_true(power_has(snapshot));
    assert_int_equal(data_dir_write_checkpoints(power.dir), 0);
    checkpoint_three_times();
    assert_false(power_has(snapshot)); /* And no longer. */
    assert_true(power_has(POWER_LOG "/00000000000000000011.snapshot"));
    assert_false(power_has(POWER_LOG "/00000000000000000012.snapshot"));
    power_close();
}

TEST(the_snapshot_at_a_cut_is_on_disk_with_it)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        assert_int_equal(power_append(of_producer(0)), 0);
        power_append_many(4);
        /* The next segment begins at 5, with a gap. */
        assert_int_equal(power_append((struct power_batch){ .offset = 10, .records = 8 }), 0);
        power_checkpoint();
        assert_true(power_has(POWER_LOG "/00000000000000000005.snapshot"));
        assert_int_equal(partition_log_truncate(power.log, 7), 0);
        power_stop();
        power_lose();
        fs_sim_forget_reads(power.sim);
        power_open();
        assert_int_equal(fs_sim_bytes_read(power.sim, ".log"), 0);
        power_close();
    }
}

/* A large segment, below the recovery point, and others. */
static void start_with_a_large_segment(uint64_t seed)
{
    power_start(seed);
    power.settings.segment_bytes = 1 << 20;
    partition_log_set_settings(power.log, &power.settings);
    power_append_many(3000);
    power.settings.segment_bytes = 1000;
    partition_log_set_settings(power.log, &power.settings);
    power_append_many(3);
    power_checkpoint();
    power_kill();
}

/* Torn in the middle: their ends, which are looked at, may be right. */
TEST(indexes_that_the_power_took_while_they_were_made_again_are_not_believed)
{
    bool is_done = false;

    for (long nth = 1; !is_done; nth++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            start_with_a_large_segment(seed);
            assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/00000000000000000000.index"),
                             0);
            assert_int_equal(power.fs->sync_folder(power.fs, POWER_LOG), 0);
            fs_sim_cut_power_at(power.sim, nth);
            is_done = power_try_open() == 0 && !fs_sim_is_off(power.sim);
            power_lose();
            power_open();
            for (int i = 0; i < 3003; i += 7)
                assert_int_equal(power_find_time(POWER_BEGIN_MS + i), i);
            power_close();
        }
    power_end_disk();
}
