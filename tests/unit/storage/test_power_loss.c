// SPDX-License-Identifier: Apache-2.0
/* What a log must be after a kill or a power cut, for the cases that tests/crash has found. Where chance
 * decides what the disk keeps, each is tried with many seeds, on a disk that orders nothing. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "batch_builder.h"
#include "error.h"
#include "fs_sim.h"
#include "partition_log.h"
#include "runner.h"
#include "trace.h"

#define SEEDS    60
#define FOLDER   "/logs"
#define LOG      FOLDER "/orders-0"
#define BEGIN_MS 1700000000000

static struct fs_sim *sim;
static struct fs *fs;
static struct clock_manual clock_now;
static struct data_dir *dir;
static struct partition_log *log_open;
static struct partition_log_recovery recovery;
static struct topic_settings settings;
static struct uuid topic_id;
static int64_t next_time;

static void drop_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static int try_open(void)
{
    char why[256];
    struct partition_log_open_options options = {
        .clock = &clock_now.clock,
        .topic = "orders",
        .topic_id = topic_id,
        .settings = settings,
        .cut_only_from = -1,
    };

    int err = data_dir_open(&dir, fs, FOLDER, why, sizeof why);
    options.dir = dir;
    if (err == 0) err = data_dir_begin(dir);
    if (err == 0) err = partition_log_open(&log_open, &options, &recovery);
    return err;
}

static void open_log(void)
{
    assert_int_equal(try_open(), 0);
}

static void start(uint64_t seed)
{
    if (getenv("SLUICE_TRACE") == NULL) trace_set_sink(drop_line, NULL);
    fs_sim_close(sim);
    sim = fs_sim_open(&(struct fs_sim_options){ .seed = seed, .names = FS_SIM_NAMES_EACH });
    fs = fs_sim_fs(sim);
    clock_manual_init(&clock_now, BEGIN_MS);
    topic_settings_defaults(&settings);
    settings.segment_bytes = 1000;
    settings.index_interval_bytes = 100;
    settings.file_delete_delay_ms = 0;
    memset(topic_id.bytes, 1, sizeof topic_id.bytes);
    next_time = BEGIN_MS;
    open_log();
}

static void close_all(void)
{
    partition_log_close(log_open);
    data_dir_close(dir);
    log_open = NULL;
    dir = NULL;
}

static void kill_process(void)
{
    fs_sim_kill(sim);
    close_all();
    fs_sim_restart(sim);
}

static void lose_power(void)
{
    fs_sim_cut_power(sim);
    close_all();
    fs_sim_restart(sim);
}

static void stop_cleanly(void)
{
    assert_int_equal(partition_log_checkpoint(log_open), 0);
    partition_log_close(log_open);
    log_open = NULL;
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_int_equal(data_dir_mark_clean(dir, 1), 0);
    close_all();
}

static void write_checkpoint(void)
{
    assert_int_equal(partition_log_checkpoint(log_open), 0);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
}

struct wish {
    int64_t offset; /* A replica's; -1: a client's. */
    int32_t epoch;
    int64_t producer_id;
    int32_t sequence;
    int32_t records;
    int16_t attributes;
};

static int append(struct wish wish)
{
    static const uint8_t value[100];
    static const uint8_t abort_marker[4]; /* Version 0, type 0. */
    bool is_marker = (wish.attributes & BATCH_CONTROL) != 0;
    struct batch_builder builder;
    struct buffer data;
    struct log_append *rest;

    batch_builder_init(&builder);
    buffer_init(&data);
    builder.attributes = wish.attributes;
    if (wish.producer_id > 0) {
        builder.producer_id = wish.producer_id;
        builder.producer_epoch = 0;
        builder.base_sequence = wish.sequence;
    }
    for (int32_t i = 0; i < (wish.records == 0 ? 1 : wish.records); i++)
        batch_builder_append(&builder, next_time++,
                             is_marker ? (struct bytes){ abort_marker, sizeof abort_marker }
                                       : BYTES_NULL,
                             (struct bytes){ value, sizeof value }, NULL, 0);
    assert_int_equal(batch_builder_finish(&builder, &data), 0);
    if (wish.offset >= 0) record_batch_set_position(data.data, wish.offset, wish.epoch);
    struct log_append appended = { .data = data.data, .from_client = wish.offset < 0 };
    assert_int_equal(record_batch_read_header(&appended.batch, data.data, data.length), 0);
    assert_int_equal(partition_log_append(log_open, &appended, wish.epoch, BEGIN_MS, true, &rest),
                     0);
    batch_builder_close(&builder);
    buffer_close(&data);
    return appended.err != 0 ? appended.err : appended.is_repeat ? ERR_DUPLICATE_RESOURCE : 0;
}

static void append_many(int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(append((struct wish){ .offset = -1 }), 0);
}

static int64_t end_offset(void)
{
    return partition_log_end_offset(log_open);
}

static int64_t start_offset(void)
{
    return partition_log_start_offset(log_open);
}

static int64_t find_time(int64_t timestamp)
{
    struct log_position position;

    assert_int_equal(partition_log_find_timestamp(log_open, timestamp, INT64_MAX, true, &position),
                     0);
    return position.offset;
}

static int64_t find_newest(void)
{
    struct log_position position;

    assert_int_equal(partition_log_find_max_timestamp(log_open, INT64_MAX, true, &position), 0);
    return position.offset;
}

static void retain(void)
{
    int64_t next_ms;

    assert_int_equal(
        partition_log_retain(log_open, end_offset(), clock_wall_ms(&clock_now.clock), &next_ms), 0);
}

static bool is_there(const char *path)
{
    bool exists = false;

    assert_int_equal(fs->exists(fs, path, &exists), 0);
    return exists;
}

TEST(a_search_for_a_time_begins_where_the_log_does)
{
    start(1);
    settings.segment_bytes = 100000;
    partition_log_set_settings(log_open, &settings);
    assert_int_equal(append((struct wish){ .offset = -1, .records = 10 }), 0);
    next_time = BEGIN_MS - 100;
    append_many(5);
    assert_int_equal(find_time(BEGIN_MS), 0);
    assert_int_equal(find_newest(), 9);
    assert_int_equal(partition_log_raise_start(log_open, 4), 0); /* In the middle of a batch. */
    assert_int_equal(find_time(BEGIN_MS), 4);
    assert_int_equal(find_newest(), 9);
    assert_int_equal(partition_log_raise_start(log_open, 12), 0);
    assert_int_equal(find_time(BEGIN_MS), -1);
    assert_int_equal(find_time(BEGIN_MS - 1000), 12);
    assert_int_equal(find_newest(), 14);
    close_all();
}

TEST(a_log_that_is_made_again_has_none_of_the_old_ones_checkpoints)
{
    for (int is_power_cut = 0; is_power_cut < 2; is_power_cut++) {
        start(1);
        append_many(20);
        assert_int_equal(partition_log_raise_start(log_open, 15), 0);
        write_checkpoint();
        assert_int_equal(partition_log_delete(log_open), 0);
        log_open = NULL;
        if (is_power_cut) lose_power();
        data_dir_close(dir);
        dir = NULL;
        topic_id.bytes[0]++;
        open_log();
        append_many(5);
        kill_process();
        open_log();
        assert_int_equal(start_offset(), 0);
        assert_int_equal(end_offset(), 5);
        assert_int_equal(find_time(0), 0);
        close_all();
    }
}

TEST(a_segment_rolled_by_retention_does_not_know_of_a_refused_batch)
{
    struct wish wish = { .offset = -1, .producer_id = 7 };

    start(1);
    append_many(8);
    fs_sim_set_total_bytes(sim, fs_sim_used_bytes(sim));
    wish.records = 8;
    while (append(wish) == 0) /* Until it needs a block more. */
        wish.sequence += 8;
    fs_sim_set_total_bytes(sim, 0);
    assert_int_equal(partition_log_raise_start(log_open, end_offset()), 0);
    retain();
    assert_int_equal(append(wish), 0); /* No repeat: it was never written. */
    close_all();
}

TEST(what_follows_a_cut_into_a_gap_survives_a_kill)
{
    start(1);
    append_many(3);
    assert_int_equal(append((struct wish){ .offset = 50 }), 0);
    assert_int_equal(partition_log_truncate(log_open, 30), 0);
    assert_int_equal(end_offset(), 30);
    for (int i = 0; i < 30; i++) /* Through several segments. */
        append_many(1);
    assert_int_equal(partition_log_flush(log_open), 0);
    kill_process();
    open_log();
    assert_int_equal(end_offset(), 60);
    assert_int_equal(recovery.cut_bytes, 0);
    close_all();
}

TEST(a_clean_stop_in_a_gap_is_a_clean_stop)
{
    start(1);
    append_many(3);
    assert_int_equal(append((struct wish){ .offset = 50 }), 0);
    assert_int_equal(partition_log_truncate(log_open, 30), 0);
    stop_cleanly();
    fs_sim_forget_reads(sim);
    open_log();
    assert_false(recovery.was_recovered);
    assert_int_equal(fs_sim_bytes_read(sim, ".log"), 0);
    close_all();
}

TEST(the_first_flush_of_a_log_that_was_stopped_empty_makes_its_folder_last)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start(seed);
        stop_cleanly();
        open_log();
        append_many(3);
        assert_int_equal(partition_log_flush(log_open), 0);
        lose_power();
        open_log();
        assert_int_equal(end_offset(), 3);
        close_all();
    }
}

TEST(the_first_flush_into_a_segment_that_was_begun_in_an_earlier_life_makes_its_name_last)
{
    static const struct fs_sim_fault full = {
        .calls = FS_SIM_WRITE, .suffix = ".log", .nth = 1, .error = ERR_NO_SPACE
    };

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start(seed);
        append_many(3);
        write_checkpoint();
        settings.segment_bytes = 600;
        partition_log_set_settings(log_open, &settings);
        fs_sim_fail(sim, &full); /* The segment is begun; nothing fits into it. */
        assert_int_equal(append((struct wish){ .offset = -1 }), ERR_KAFKA_STORAGE_ERROR);
        fs_sim_fail(sim, NULL);
        assert_true(is_there(LOG "/00000000000000000003.log"));
        int64_t end = end_offset();
        if (seed % 2 == 0)
            stop_cleanly();
        else
            kill_process();
        open_log();
        append_many(2);
        assert_int_equal(partition_log_flush(log_open), 0);
        lose_power();
        open_log();
        assert_int_equal(end_offset(), end + 2);
        close_all();
    }
}

TEST(the_indexes_of_a_segment_that_outlived_a_clean_stop_are_synced_when_it_is_closed)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start(seed);
        append_many(3);
        stop_cleanly();
        open_log();
        append_many(8); /* The first segment is closed. */
        write_checkpoint();
        lose_power();
        fs_sim_forget_reads(sim);
        open_log();
        assert_int_equal(recovery.indexes_rebuilt, 0);
        assert_int_equal(end_offset(), 11);
        for (int64_t i = 0; i < 11; i++)
            assert_int_equal(find_time(BEGIN_MS + i), i);
        close_all();
    }
}

TEST(a_segment_that_is_closed_right_after_a_cut_is_trusted_with_whole_indexes)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start(seed);
        append_many(5);
        write_checkpoint();
        assert_int_equal(partition_log_truncate(log_open, 4), 0);
        settings.segment_bytes = 600;
        partition_log_set_settings(log_open, &settings);
        append_many(3); /* In a new segment. */
        lose_power();
        open_log();
        assert_in_range(end_offset(), 4, 7);
        for (int64_t i = 0; i < 4; i++)
            assert_int_equal(find_time(BEGIN_MS + i), i);
        close_all();
    }
}

TEST(an_empty_time_index_of_a_segment_with_times_is_built_again)
{
    start(1);
    append_many(20);
    write_checkpoint();
    close_all();
    assert_int_equal(fs_write_file(fs, LOG "/00000000000000000000.timeindex", "", 0, true), 0);
    open_log();
    assert_int_equal(recovery.indexes_rebuilt, 1);
    assert_int_equal(find_time(BEGIN_MS + 2), 2);
    close_all();
}

TEST(an_index_whose_log_came_to_nothing_is_not_mistaken_for_that_of_a_lost_one)
{
    start(1);
    append_many(3);
    assert_int_equal(fs_write_file(fs, LOG "/00000000000000000006.index", "", 0, true), 0);
    kill_process();
    open_log();
    append_many(10);
    write_checkpoint();
    kill_process();
    open_log();
    assert_int_equal(end_offset(), 13);
    close_all();
}

TEST(a_recovery_point_above_the_end_is_taken_back_before_anything_is_appended)
{
    start(1);
    append_many(5);
    write_checkpoint();
    kill_process();
    int fd;
    assert_int_equal(fs->open(fs, LOG "/00000000000000000000.log", FS_WRITE, &fd), 0);
    assert_int_equal(fs->truncate(fs, fd, 300), 0);
    fs->close(fs, fd);
    open_log();
    assert_true(end_offset() < 5);
    kill_process();
    char *text = NULL;
    size_t length;
    assert_int_equal(
        fs_read_file(fs, FOLDER "/recovery-point-offset-checkpoint", 1000, &text, &length), 0);
    assert_null(strstr(text, "orders 0 5"));
    mem_free(text);
}

TEST(epochs_below_a_start_that_went_back_are_found_again)
{
    start(1);
    assert_int_equal(append((struct wish){ .offset = 0, .epoch = 3 }), 0);
    assert_int_equal(append((struct wish){ .offset = 1, .epoch = 5 }), 0);
    assert_int_equal(partition_log_raise_start(log_open, 2), 0);
    assert_int_equal(partition_log_checkpoint(log_open), 0);
    kill_process(); /* Before the data folder's checkpoints are written. */
    open_log();
    assert_int_equal(start_offset(), 0);
    assert_int_equal(partition_log_epoch_of(log_open, 0), 3);
    assert_int_equal(partition_log_last_epoch(log_open), 5);
    close_all();
}

TEST(removals_that_a_power_cut_undoes_leave_no_gap)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start(seed);
        append_many(30);
        assert_int_equal(partition_log_flush(log_open), 0);
        assert_int_equal(partition_log_raise_start(log_open, 25), 0);
        retain();
        append_many(1);
        assert_int_equal(partition_log_flush(log_open), 0);
        assert_int_equal(partition_log_raise_start(log_open, 31), 0);
        retain(); /* All of it: an empty segment remains. */
        lose_power();
        open_log();
        assert_int_equal(end_offset(), 31);
        close_all();
    }
}

TEST(a_restart_that_is_cut_short_leaves_nothing_of_the_old_log_in_the_new_one)
{
    for (long nth = 1; nth < 60; nth++) {
        start((uint64_t)nth);
        for (int32_t i = 0; i < 12; i++)
            assert_int_equal(append((struct wish){ .offset = -1,
                                                   .producer_id = 7,
                                                   .sequence = i,
                                                   .attributes = BATCH_TRANSACTIONAL }),
                             0);
        write_checkpoint();
        append_many(3); /* Not on disk. */
        fs_sim_cut_power_at(sim, nth);
        int err = partition_log_restart_at(log_open, 100);
        bool was_done = !fs_sim_is_off(sim);
        assert_int_equal(err, was_done ? 0 : ERR_KAFKA_STORAGE_ERROR);
        lose_power();
        open_log();
        if (start_offset() == 100) {
            assert_int_equal(end_offset(), 100);
            assert_int_equal(partition_log_first_unstable_offset(log_open, INT64_MAX), -1);
            assert_int_equal(append((struct wish){ .offset = -1, .producer_id = 7 }), 0);
        } else {
            assert_false(was_done);
            assert_in_range(end_offset(), 0, 15);
        }
        close_all();
        if (was_done) break;
    }
}

TEST(a_restart_that_finds_no_room_changes_nothing)
{
    start(1);
    append_many(12);
    write_checkpoint();
    fs_sim_set_total_bytes(sim, 1);
    assert_int_equal(partition_log_restart_at(log_open, 100), ERR_NO_SPACE);
    fs_sim_set_total_bytes(sim, 0);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    kill_process();
    open_log();
    assert_int_equal(start_offset(), 0);
    assert_int_equal(end_offset(), 12);
    close_all();
}

TEST(a_snapshot_that_comes_back_from_below_the_first_segment_is_not_believed)
{
    char *snapshot = NULL;
    size_t length;

    start(1);
    assert_int_equal(
        append((struct wish){ .offset = -1, .producer_id = 7, .attributes = BATCH_TRANSACTIONAL }),
        0);
    write_checkpoint();
    assert_int_equal(
        fs_read_file(fs, LOG "/00000000000000000001.snapshot", 1000, &snapshot, &length), 0);
    assert_int_equal(append((struct wish){ .offset = 1,
                                           .producer_id = 7,
                                           .sequence = -1,
                                           .attributes = BATCH_TRANSACTIONAL | BATCH_CONTROL }),
                     0);
    append_many(30);
    assert_int_equal(partition_log_raise_start(log_open, 25), 0);
    retain();
    kill_process();
    assert_int_equal(
        fs_write_file(fs, LOG "/00000000000000000001.snapshot", snapshot, length, true), 0);
    mem_free(snapshot);
    open_log();
    assert_true(start_offset() > 1);
    assert_int_equal(partition_log_first_unstable_offset(log_open, INT64_MAX), -1);
    close_all();
}

TEST(the_snapshot_that_the_recovery_point_on_disk_needs_is_kept)
{
    start(1);
    settings.segment_bytes = 100000;
    settings.index_interval_bytes = 1000;
    partition_log_set_settings(log_open, &settings);
    append_many(40);
    write_checkpoint();
    append_many(1);
    assert_int_equal(partition_log_checkpoint(log_open), 0);
    append_many(1);
    assert_int_equal(partition_log_checkpoint(log_open), 0);
    assert_true(is_there(LOG "/00000000000000000040.snapshot")); /* The file still says 40. */
    kill_process();
    open_log();
    assert_int_equal(end_offset(), 42);
    write_checkpoint();
    append_many(1);
    write_checkpoint();
    append_many(1);
    write_checkpoint();
    assert_false(is_there(LOG "/00000000000000000040.snapshot"));
    close_all();
    fs_sim_close(sim);
    sim = NULL;
}
