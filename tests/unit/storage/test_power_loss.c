// SPDX-License-Identifier: Apache-2.0
/* What a log must be after a kill or a power cut, for the cases that tests/crash has found. Where chance
 * decides what the disk keeps, each is tried with many seeds, on a disk that orders nothing. */

#include <inttypes.h>

#include "alloc.h"
#include "error.h"
#include "power_fixture.h"
#include "runner.h"

/* After a failed sync the page cache shows what the disk does not have. */
TEST(what_a_failed_sync_left_out_is_written_again_before_more_is_acknowledged)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        assert_int_equal(partition_log_flush(power.log), 0);
        power_append_many(3);
        fs_sim_fail(power.sim,
                    &(struct fs_sim_fault){
                        .calls = FS_SIM_SYNC, .suffix = ".log", .nth = 1, .error = ERR_IO });
        assert_int_equal(partition_log_flush(power.log), ERR_KAFKA_STORAGE_ERROR);
        fs_sim_fail(power.sim, NULL);
        power_kill();
        power_open();
        power_append_many(1);
        int64_t acknowledged = power_end();
        assert_int_equal(partition_log_flush(power.log), 0);
        power_lose();
        power_open();
        assert_int_equal(power_end(), acknowledged);
        power_stop();
        assert_false(power_has(POWER_FOLDER "/.sluice-write-failed"));
    }
}

/* Opened from the page cache, after a life that ended in the middle of a change, the log is as far as that got;
 * no power cut takes it back from there. */
static void assert_what_was_opened_lasts(void)
{
    power_kill();
    power_open();
    int64_t start = power_start_offset();
    int64_t end = power_end();
    power_lose();
    power_open();
    assert_int_equal(power_start_offset(), start);
    assert_int_equal(power_end(), end);
    power_close();
}

static void start_with_segments(uint64_t seed)
{
    power_start(seed);
    power_append_many(30);
    power_checkpoint();
}

/* Does `change` with a failure of its first disk call of those kinds, its second, …, until it has none. */
static void fail_everywhere(int (*change)(void), unsigned calls)
{
    bool has_failed = true;

    for (long nth = 1; has_failed; nth++)
        for (uint64_t seed = 0; seed < 10; seed++) {
            start_with_segments(seed);
            fs_sim_fail(power.sim,
                        &(struct fs_sim_fault){ .calls = calls, .nth = nth, .error = ERR_IO });
            int err = change();
            has_failed = fs_sim_has_failed(power.sim);
            assert_int_equal(err, has_failed ? ERR_KAFKA_STORAGE_ERROR : 0);
            fs_sim_fail(power.sim, NULL);
            assert_what_was_opened_lasts();
        }
}

static int restart_lower(void)
{
    return partition_log_restart_at(power.log, 9);
}

static int restart_higher(void)
{
    return partition_log_restart_at(power.log, 100);
}

static int truncate_some(void)
{
    return partition_log_truncate(power.log, 17);
}

TEST(a_restart_that_failed_is_not_undone_once_it_was_seen)
{
    fail_everywhere(restart_lower, FS_SIM_CHANGES);
    fail_everywhere(restart_higher, FS_SIM_CHANGES);
}

TEST(a_truncation_that_failed_is_not_undone_once_it_was_seen)
{
    fail_everywhere(truncate_some, FS_SIM_CHANGES);
}

/* Without a failure, and without a mark: a kill is enough. */
static void kill_at(void *context, const struct fs_sim_event *event)
{
    long *left = context;

    if ((event->call & FS_SIM_CHANGES) != 0 && --*left == 0) fs_sim_kill(power.sim);
}

TEST(a_change_that_a_kill_cut_short_is_not_undone_once_it_was_seen)
{
    static int (*const changes[])(void) = { restart_lower, restart_higher, truncate_some };

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        bool was_killed = true;
        for (long nth = 1; was_killed; nth++)
            for (uint64_t seed = 0; seed < 10; seed++) {
                long left = nth;
                start_with_segments(seed);
                fs_sim_set_hook(power.sim, kill_at, &left);
                changes[i]();
                fs_sim_set_hook(power.sim, NULL, NULL);
                was_killed = fs_sim_is_off(power.sim);
                assert_what_was_opened_lasts();
            }
    }
}

TEST(a_search_for_a_time_begins_where_the_log_does)
{
    power_start(1);
    power.settings.segment_bytes = 100000;
    partition_log_set_settings(power.log, &power.settings);
    assert_int_equal(power_append((struct power_batch){ .offset = -1, .records = 10 }), 0);
    power.next_time = POWER_BEGIN_MS - 100;
    power_append_many(5);
    assert_int_equal(power_find_time(POWER_BEGIN_MS), 0);
    assert_int_equal(power_find_newest(), 9);
    assert_int_equal(partition_log_raise_start(power.log, 4), 0); /* In the middle of a batch. */
    assert_int_equal(power_find_time(POWER_BEGIN_MS), 4);
    assert_int_equal(power_find_newest(), 9);
    assert_int_equal(partition_log_raise_start(power.log, 12), 0);
    assert_int_equal(power_find_time(POWER_BEGIN_MS), -1);
    assert_int_equal(power_find_time(POWER_BEGIN_MS - 1000), 12);
    assert_int_equal(power_find_newest(), 9); /* Its segment is there still. */
    power_close();
}

TEST(a_log_that_is_made_again_has_none_of_the_old_ones_checkpoints)
{
    for (int is_power_cut = 0; is_power_cut < 2; is_power_cut++) {
        power_start(1);
        power_append_many(20);
        assert_int_equal(partition_log_raise_start(power.log, 15), 0);
        power_checkpoint();
        assert_int_equal(partition_log_delete(power.log), 0);
        power.log = NULL;
        if (is_power_cut) power_lose();
        data_dir_close(power.dir);
        power.dir = NULL;
        power.topic_id.bytes[0]++;
        power_open();
        power_append_many(5);
        power_kill();
        power_open();
        assert_int_equal(power_start_offset(), 0);
        assert_int_equal(power_end(), 5);
        assert_int_equal(power_find_time(0), 0);
        power_close();
    }
}

TEST(a_segment_rolled_by_retention_does_not_know_of_a_refused_batch)
{
    struct power_batch wish = { .offset = -1, .producer_id = 7 };

    power_start(1);
    power_append_many(8);
    fs_sim_set_total_bytes(power.sim, fs_sim_used_bytes(power.sim));
    wish.records = 8;
    while (power_append(wish) == 0) /* Until it needs a block more. */
        wish.sequence += 8;
    fs_sim_set_total_bytes(power.sim, 0);
    assert_int_equal(partition_log_raise_start(power.log, power_end()), 0);
    power_retain();
    assert_int_equal(power_append(wish), 0); /* No repeat: it was never written. */
    power_close();
}

TEST(what_follows_a_cut_into_a_gap_survives_a_kill)
{
    power_start(1);
    power_append_many(3);
    assert_int_equal(power_append((struct power_batch){ .offset = 50 }), 0);
    assert_int_equal(partition_log_truncate(power.log, 30), 0);
    assert_int_equal(power_end(), 30);
    for (int i = 0; i < 30; i++) /* Through several segments. */
        power_append_many(1);
    assert_int_equal(partition_log_flush(power.log), 0);
    power_kill();
    power_open();
    assert_int_equal(power_end(), 60);
    assert_int_equal(power.recovery.cut_bytes, 0);
    power_close();
}

TEST(a_clean_stop_in_a_gap_is_a_clean_stop)
{
    power_start(1);
    power_append_many(3);
    assert_int_equal(power_append((struct power_batch){ .offset = 50 }), 0);
    assert_int_equal(partition_log_truncate(power.log, 30), 0);
    power_stop();
    fs_sim_forget_reads(power.sim);
    power_open();
    assert_false(power.recovery.was_recovered);
    assert_int_equal(fs_sim_bytes_read(power.sim, ".log"), 0);
    power_close();
}

TEST(the_first_flush_of_a_log_that_was_stopped_empty_makes_its_folder_last)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        power_stop();
        power_open();
        power_append_many(3);
        assert_int_equal(partition_log_flush(power.log), 0);
        power_lose();
        power_open();
        assert_int_equal(power_end(), 3);
        power_close();
    }
}

TEST(the_first_flush_into_a_segment_that_was_begun_in_an_earlier_life_makes_its_name_last)
{
    static const struct fs_sim_fault full = {
        .calls = FS_SIM_WRITE, .suffix = ".log", .nth = 1, .error = ERR_NO_SPACE
    };

    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        power_append_many(3);
        power_checkpoint();
        power.settings.segment_bytes = 600;
        partition_log_set_settings(power.log, &power.settings);
        fs_sim_fail(power.sim, &full); /* The segment is begun; nothing fits into it. */
        assert_int_equal(power_append((struct power_batch){ .offset = -1 }),
                         ERR_KAFKA_STORAGE_ERROR);
        fs_sim_fail(power.sim, NULL);
        assert_true(power_has(POWER_LOG "/00000000000000000003.log"));
        int64_t end = power_end();
        if (seed % 2 == 0)
            power_stop();
        else
            power_kill();
        power_open();
        power_append_many(2);
        assert_int_equal(partition_log_flush(power.log), 0);
        power_lose();
        power_open();
        assert_int_equal(power_end(), end + 2);
        power_close();
    }
}

TEST(the_indexes_of_a_segment_that_outlived_a_clean_stop_are_synced_when_it_is_closed)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        power_append_many(3);
        power_stop();
        power_open();
        power_append_many(8); /* The first segment is closed. */
        power_checkpoint();
        power_lose();
        fs_sim_forget_reads(power.sim);
        power_open();
        assert_int_equal(power.recovery.indexes_rebuilt, 0);
        assert_int_equal(power_end(), 11);
        for (int64_t i = 0; i < 11; i++)
            assert_int_equal(power_find_time(POWER_BEGIN_MS + i), i);
        power_close();
    }
}

TEST(a_segment_that_is_closed_right_after_a_cut_is_trusted_with_whole_indexes)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        power_append_many(5);
        power_checkpoint();
        assert_int_equal(partition_log_truncate(power.log, 4), 0);
        power.settings.segment_bytes = 600;
        partition_log_set_settings(power.log, &power.settings);
        power_append_many(3); /* In a new segment. */
        power_lose();
        power_open();
        assert_in_range(power_end(), 4, 7);
        for (int64_t i = 0; i < 4; i++)
            assert_int_equal(power_find_time(POWER_BEGIN_MS + i), i);
        power_close();
    }
}

TEST(an_empty_time_index_of_a_segment_with_times_is_built_again)
{
    power_start(1);
    power_append_many(20);
    power_checkpoint();
    power_close();
    assert_int_equal(
        fs_write_file(power.fs, POWER_LOG "/00000000000000000000.timeindex", "", 0, true), 0);
    power_open();
    assert_int_equal(power.recovery.indexes_rebuilt, 1);
    assert_int_equal(power_find_time(POWER_BEGIN_MS + 2), 2);
    power_close();
}

TEST(an_index_whose_log_came_to_nothing_is_not_mistaken_for_that_of_a_lost_one)
{
    power_start(1);
    power_append_many(3);
    assert_int_equal(fs_write_file(power.fs, POWER_LOG "/00000000000000000006.index", "", 0, true),
                     0);
    power_kill();
    power_open();
    power_append_many(10);
    power_checkpoint();
    power_kill();
    power_open();
    assert_int_equal(power_end(), 13);
    power_close();
}

TEST(an_index_below_the_start_is_not_mistaken_for_that_of_a_lost_segment_later)
{
    static const char index[] = POWER_LOG "/00000000000000000017.index";

    power_start(1);
    power_append_many(18);
    assert_int_equal(partition_log_raise_start(power.log, 18), 0);
    power_stop();
    assert_int_equal(fs_write_file(power.fs, index, "", 0, false), 0);
    power_open();
    assert_false(power_has(index));
    power_append_many(20);
    power_stop();
    power_open();
    assert_int_equal(power_end(), 38);
    power_close();
}

TEST(a_recovery_point_above_the_end_is_taken_back_before_anything_is_appended)
{
    power_start(1);
    power_append_many(5);
    power_checkpoint();
    power_kill();
    int fd;
    assert_int_equal(power.fs->open(power.fs, POWER_LOG "/00000000000000000000.log", FS_WRITE, &fd),
                     0);
    assert_int_equal(power.fs->truncate(power.fs, fd, 300), 0);
    power.fs->close(power.fs, fd);
    power_open();
    assert_true(power_end() < 5);
    power_kill();
    char *text = NULL;
    size_t length;
    assert_int_equal(fs_read_file(power.fs, POWER_FOLDER "/recovery-point-offset-checkpoint", 1000,
                                  &text, &length),
                     0);
    assert_null(strstr(text, "orders 0 5"));
    mem_free(text);
}

TEST(epochs_below_a_start_that_went_back_are_found_again)
{
    power_start(1);
    assert_int_equal(power_append((struct power_batch){ .offset = 0, .epoch = 3 }), 0);
    assert_int_equal(power_append((struct power_batch){ .offset = 1, .epoch = 5 }), 0);
    assert_int_equal(partition_log_raise_start(power.log, 2), 0);
    assert_int_equal(partition_log_checkpoint(power.log), 0);
    power_kill(); /* Before the data folder's checkpoints are written. */
    power_open();
    assert_int_equal(power_start_offset(), 0);
    assert_int_equal(partition_log_epoch_of(power.log, 0), 3);
    assert_int_equal(partition_log_last_epoch(power.log), 5);
    power_close();
}

/* What an opening reads of the data when the recovery point is the end. */
static int64_t bytes_of_an_opening(void)
{
    power_checkpoint();
    power_kill();
    fs_sim_forget_reads(power.sim);
    power_open();
    return fs_sim_bytes_read(power.sim, ".log");
}

/* Batches 0 to 99, a hole, and 200 to 299; the log begins in the hole. */
static void start_in_a_hole(void)
{
    power_start(1);
    power.settings.segment_bytes = 1000000;
    partition_log_set_settings(power.log, &power.settings);
    power_append_many(100);
    assert_int_equal(power_append((struct power_batch){ .offset = 200 }), 0);
    assert_int_equal(partition_log_raise_start(power.log, 150), 0);
    assert_int_equal(partition_log_truncate(power.log, 150), 0);
    assert_int_equal(power_append((struct power_batch){ .offset = 200, .epoch = 2 }), 0);
    power_append_many(99);
}

TEST(epochs_of_a_log_that_begins_in_a_hole_are_not_looked_for_at_each_start)
{
    for (int is_lost = 0; is_lost < 2; is_lost++) {
        start_in_a_hole();
        if (is_lost) { /* Then they are, once. */
            power_checkpoint();
            assert_int_equal(power.fs->remove(power.fs, POWER_LOG "/leader-epoch-checkpoint"), 0);
            power_kill();
            power_open();
        }
        int64_t bytes = bytes_of_an_opening();
        assert_int_equal(partition_log_epoch_of(power.log, 200), 2);
        assert_int_equal(partition_log_raise_start(power.log, 200), 0);
        assert_int_equal(bytes, bytes_of_an_opening());
        power_close();
    }
}

TEST(removals_that_a_power_cut_undoes_leave_no_gap)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        power_append_many(30);
        assert_int_equal(partition_log_flush(power.log), 0);
        assert_int_equal(partition_log_raise_start(power.log, 25), 0);
        power_retain();
        power_append_many(1);
        assert_int_equal(partition_log_flush(power.log), 0);
        assert_int_equal(partition_log_raise_start(power.log, 31), 0);
        power_retain(); /* All of it: an empty segment remains. */
        power_lose();
        power_open();
        assert_int_equal(power_end(), 31);
        power_close();
    }
}

static void start_strict(uint64_t seed)
{
    power_start(seed);
    power_close();
    power.cut_only_from = 0;
    power_open();
}

TEST(a_segment_that_was_begun_before_the_one_before_it_was_on_disk_is_cut_off)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        start_strict(seed);
        power_append_many(3);
        assert_int_equal(partition_log_flush(power.log), 0);
        power_append_many(12);
        power_lose();
        power.cut_only_from = 3;
        power_open();
        assert_true(power_end() >= 3);
        power_close();
    }
}

TEST(a_truncation_across_segments_that_is_cut_short_leaves_a_log_without_a_gap)
{
    bool is_done = false;

    for (long nth = 1; !is_done; nth++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            start_strict(seed);
            power_append_many(30);
            assert_int_equal(partition_log_flush(power.log), 0);
            fs_sim_cut_power_at(power.sim, nth);
            is_done = partition_log_truncate(power.log, 7) == 0;
            power_lose();
            power.cut_only_from = 7;
            power_open();
            assert_true(power_end() >= 7);
            power_close();
        }
}

TEST(a_restart_that_is_cut_short_begins_where_it_was_to_by_the_strict_rule)
{
    bool is_done = false;

    for (long nth = 1; !is_done; nth++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            start_strict(seed);
            power_append_many(30);
            assert_int_equal(partition_log_flush(power.log), 0);
            fs_sim_cut_power_at(power.sim, nth);
            is_done = partition_log_restart_at(power.log, 100) == 0;
            power_lose();
            power.cut_only_from = 28;
            power.may_restart_at = 100;
            power_open();
            assert_true(power_end() == 30 || power_end() == 100);
            power_close();
        }
}

/* Its name is all that says where the log is. */
TEST(an_empty_segment_goes_when_the_one_that_replaces_it_is_on_disk)
{
    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        power_append_many(30);
        assert_int_equal(partition_log_flush(power.log), 0);
        assert_int_equal(partition_log_raise_start(power.log, 30), 0);
        power.settings.retention_bytes = 0;
        partition_log_set_settings(power.log, &power.settings);
        power_retain();
        assert_int_equal(partition_log_flush(power.log), 0);
        assert_int_equal(power_append((struct power_batch){ .offset = INT64_C(5000000000) }), 0);
        power_lose();
        power_open();
        assert_true(power_end() >= 30);
        power_close();
    }
}

TEST(a_restart_that_is_cut_short_leaves_nothing_of_the_old_log_in_the_new_one)
{
    for (long nth = 1; nth < 60; nth++) {
        power_start((uint64_t)nth);
        for (int32_t i = 0; i < 12; i++)
            assert_int_equal(
                power_append((struct power_batch){ .offset = -1,
                                                   .producer_id = 7,
                                                   .sequence = i,
                                                   .attributes = BATCH_TRANSACTIONAL }),
                0);
        power_checkpoint();
        power_append_many(3); /* Not on disk. */
        fs_sim_cut_power_at(power.sim, nth);
        int err = partition_log_restart_at(power.log, 100);
        bool was_done = !fs_sim_is_off(power.sim);
        assert_int_equal(err, was_done ? 0 : ERR_KAFKA_STORAGE_ERROR);
        power_lose();
        power_open();
        if (power_start_offset() == 100) {
            assert_int_equal(power_end(), 100);
            assert_int_equal(partition_log_first_unstable_offset(power.log, INT64_MAX), -1);
            assert_int_equal(power_append((struct power_batch){ .offset = -1, .producer_id = 7 }),
                             0);
        } else {
            assert_false(was_done);
            assert_in_range(power_end(), 0, 15);
        }
        power_close();
        if (was_done) break;
    }
}

TEST(what_a_restart_removed_does_not_come_back_once_the_log_was_seen_empty)
{
    bool was_interrupted = false;

    for (uint64_t seed = 0; seed < POWER_SEEDS; seed++) {
        power_start(seed);
        power_append_many(12);
        power_checkpoint();
        /* All is done but for making it last. */
        fs_sim_fail(power.sim, &(struct fs_sim_fault){ .calls = FS_SIM_SYNC_FOLDER,
                                                       .suffix = "orders-0",
                                                       .nth = 2,
                                                       .error = ERR_IO });
        int err = partition_log_restart_at(power.log, 7);
        fs_sim_fail(power.sim, NULL);
        power_kill();
        power_open();
        if (err != 0 && power_end() == 7) {
            was_interrupted = true;
            power_lose();
            power_open();
            assert_int_equal(power_end(), 7);
        }
        power_close();
    }
    assert_true(was_interrupted);
}

TEST(a_restart_that_finds_no_room_changes_nothing)
{
    power_start(1);
    power_append_many(12);
    power_checkpoint();
    fs_sim_set_total_bytes(power.sim, 1);
    assert_int_equal(partition_log_restart_at(power.log, 100), ERR_NO_SPACE);
    fs_sim_set_total_bytes(power.sim, 0);
    assert_int_equal(data_dir_write_checkpoints(power.dir), 0);
    power_kill();
    power_open();
    assert_int_equal(power_start_offset(), 0);
    assert_int_equal(power_end(), 12);
    power_close();
}

TEST(a_restart_that_finds_room_for_half_of_its_announcement_changes_nothing)
{
    int err = ERR_NO_SPACE;

    for (int64_t total = 1; err == ERR_NO_SPACE; total += 16) {
        power_start(1);
        power_append_many(12);
        power_checkpoint();
        assert_int_equal(data_dir_set_checkpoint(power.dir, CHECKPOINT_CLEANED, "orders", 0, 5), 0);
        assert_int_equal(data_dir_write_checkpoints(power.dir), 0);
        fs_sim_set_total_bytes(power.sim, total);
        err = partition_log_restart_at(power.log, 100);
        fs_sim_set_total_bytes(power.sim, 0);
        power_kill();
        power_open();
        assert_int_equal(power_start_offset(), err == 0 ? 100 : 0);
        assert_int_equal(power_end(), err == 0 ? 100 : 12);
        power_close();
    }
    assert_int_equal(err, 0);
}

TEST(a_snapshot_that_comes_back_from_below_the_first_segment_is_not_believed)
{
    char *snapshot = NULL;
    size_t length;

    power_start(1);
    assert_int_equal(power_append((struct power_batch){
                         .offset = -1, .producer_id = 7, .attributes = BATCH_TRANSACTIONAL }),
                     0);
    power_checkpoint();
    assert_int_equal(fs_read_file(power.fs, POWER_LOG "/00000000000000000001.snapshot", 1000,
                                  &snapshot, &length),
                     0);
    assert_int_equal(
        power_append((struct power_batch){ .offset = 1,
                                           .producer_id = 7,
                                           .sequence = -1,
                                           .attributes = BATCH_TRANSACTIONAL | BATCH_CONTROL }),
        0);
    power_append_many(30);
    assert_int_equal(partition_log_raise_start(power.log, 25), 0);
    power_retain();
    power_kill();
    assert_int_equal(
        fs_write_file(power.fs, POWER_LOG "/00000000000000000001.snapshot", snapshot, length, true),
        0);
    mem_free(snapshot);
    power_open();
    assert_true(power_start_offset() > 1);
    assert_int_equal(partition_log_first_unstable_offset(power.log, INT64_MAX), -1);
    power_close();
}

TEST(the_snapshot_that_the_recovery_point_on_disk_needs_is_kept)
{
    power_start(1);
    power.settings.segment_bytes = 100000;
    power.settings.index_interval_bytes = 1000;
    partition_log_set_settings(power.log, &power.settings);
    power_append_many(40);
    power_checkpoint();
    power_append_many(1);
    assert_int_equal(partition_log_checkpoint(power.log), 0);
    power_append_many(1);
    assert_int_equal(partition_log_checkpoint(power.log), 0);
    assert_true(
        power_has(POWER_LOG "/00000000000000000040.snapshot")); /* The file still says 40. */
    power_kill();
    power_open();
    assert_int_equal(power_end(), 42);
    power_checkpoint();
    power_append_many(1);
    power_checkpoint();
    power_append_many(1);
    power_checkpoint();
    assert_false(power_has(POWER_LOG "/00000000000000000040.snapshot"));
    power_close();
    power_end_disk();
}
