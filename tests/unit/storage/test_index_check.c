// SPDX-License-Identifier: Apache-2.0
/* Indexes below the recovery point that say less than they should. */

#include "error.h"
#include "fs_sim.h"
#include "log_fixture.h"

#define CLOSED 3 /* Segments in front of the active one. */

static struct log_fixture fixture;
static const char *const times_of[CLOSED + 1] = {
    "00000000000000000000.timeindex",
    "00000000000000000100.timeindex",
    "00000000000000000200.timeindex",
    "00000000000000000300.timeindex",
};

/* Segments of 100 batches, all below the recovery point; the next start is not clean. */
static void start_with(size_t value_bytes, int64_t (*timestamp)(int64_t offset))
{
    fixture_start(&fixture);
    for (int64_t offset = 0; offset < 100 * CLOSED + 50; offset++) {
        struct topic_settings settings = fixture.settings;
        struct batch_spec spec = { .value_bytes = value_bytes, .timestamp = timestamp(offset) };
        /* So that segments are as long as they should be. */
        settings.segment_bytes = (int32_t)(value_bytes + 80);
        if (offset % 100 != 0) settings.segment_bytes *= 1000;
        partition_log_set_settings(fixture.log, &settings);
        assert_int_equal(fixture_append(&fixture, &spec), 0);
    }
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
    for (int i = 0; i <= CLOSED; i++)
        assert_true(fixture_has_file(&fixture, times_of[i]));
    fixture_kill_only(&fixture);
}

static int64_t growing(int64_t offset)
{
    return FIXTURE_NOW_MS + offset;
}

static int64_t constant(int64_t offset)
{
    (void)offset;
    return FIXTURE_NOW_MS;
}

static int64_t falling(int64_t offset)
{
    return FIXTURE_NOW_MS - offset;
}

static int64_t none(int64_t offset)
{
    (void)offset;
    return -1;
}

static void keep_entries(const char *name, size_t bytes)
{
    struct buffer data;

    buffer_init(&data);
    fixture_load_file(&fixture, name, &data);
    assert_true(data.length > bytes);
    fixture_save_file(&fixture, name, data.data, bytes);
    buffer_close(&data);
}

TEST(good_indexes_are_believed_and_of_the_data_the_last_batch_is_read_at_most)
{
    start_with(100, growing);
    fixture_reopen(&fixture);
    assert_int_equal(fixture.recovery.indexes_rebuilt, 0);
    assert_true(fixture.recovery.bytes_read <= (CLOSED + 1) * 180);
    fixture_close(&fixture);
}

TEST(an_index_that_has_little_to_say_is_not_taken_for_a_bad_one)
{
    int64_t (*const orders[])(int64_t) = { constant, falling, none };

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        start_with(100, orders[i]);
        fixture_reopen(&fixture);
        assert_int_equal(fixture.recovery.indexes_rebuilt, 0);
        fixture_close(&fixture);
    }
}

TEST(a_time_index_that_lags_behind_is_found_out_and_rebuilt)
{
    /* From nothing to all but the last two of its entries. */
    for (size_t kept = 0; kept <= 480; kept += 120) {
        for (int which = 0; which <= CLOSED; which++) {
            struct log_position position;
            start_with(100, growing);
            keep_entries(times_of[which], kept);
            fixture_reopen(&fixture);
            assert_int_equal(fixture.recovery.indexes_rebuilt, 1);
            for (int64_t offset = 0; offset < 100 * CLOSED + 50; offset += 7) {
                assert_int_equal(partition_log_find_timestamp(fixture.log, growing(offset),
                                                              INT64_MAX, true, &position),
                                 0);
                assert_int_equal(position.offset, offset);
            }
            assert_int_equal(
                partition_log_find_max_timestamp(fixture.log, INT64_MAX, true, &position), 0);
            assert_int_equal(position.offset, 100 * CLOSED + 49);
            fixture_close(&fixture);
        }
    }
}

TEST(an_offset_index_that_lags_behind_is_found_out_and_rebuilt)
{
    start_with(30000, growing); /* 3 MB. */
    keep_entries("00000000000000000100.index", 80);
    fixture_reopen(&fixture);
    assert_int_equal(fixture.recovery.indexes_rebuilt, 1);
    assert_int_equal(fixture_file_size(&fixture, "00000000000000000100.index"), 99 * 8);
    fixture_close(&fixture);
}

TEST(an_empty_time_index_is_found_out_after_a_clean_stop_too)
{
    start_with(100, growing);
    fixture_reopen(&fixture);
    fixture_stop(&fixture);
    keep_entries(times_of[1], 0);
    fixture_reopen(&fixture);
    assert_int_equal(fixture.recovery.indexes_rebuilt, 1);
    fixture_close(&fixture);
}

/* ---- on a disk that loses power */

static struct fs_sim *sim;
static struct data_dir *dir;
static struct partition_log *log_on_sim;
static struct partition_log_recovery recovery;

static void open_on_sim(void)
{
    char why[256];
    struct partition_log_open_options options = {
        .clock = clock_real(),
        .topic = FIXTURE_TOPIC,
        .settings = fixture.settings,
        .cut_only_from = -1,
    };

    assert_int_equal(data_dir_open(&dir, fs_sim_fs(sim), "/data", why, sizeof why), 0);
    assert_int_equal(data_dir_begin(dir), 0);
    options.dir = dir;
    assert_int_equal(partition_log_open(&log_on_sim, &options, &recovery), 0);
}

static void close_on_sim(void)
{
    partition_log_close(log_on_sim);
    data_dir_close(dir);
}

/* Appends until the power goes, with a checkpoint now and then. */
static void fill_until_dark(void)
{
    for (int64_t i = partition_log_end_offset(log_on_sim); !fs_sim_is_off(sim); i++) {
        struct buffer data;
        struct log_append *rest;
        buffer_init(&data);
        batch_spec_build(&(struct batch_spec){ .value_bytes = 100, .timestamp = growing(i) },
                         &data);
        struct log_append append = { .data = data.data, .from_client = true };
        assert_int_equal(record_batch_read_header(&append.batch, data.data, data.length), 0);
        assert_int_equal(partition_log_append(log_on_sim, &append, 0, FIXTURE_NOW_MS, true, &rest),
                         0);
        buffer_close(&data);
        if (i % 300 == 299 && partition_log_checkpoint(log_on_sim) == 0)
            data_dir_write_checkpoints(dir);
    }
}

static void assert_all_found_on_sim(void)
{
    int64_t count = partition_log_end_offset(log_on_sim);

    for (int64_t offset = 0; offset < count; offset += 13) {
        struct log_position position;
        struct log_read read = { .from_offset = offset,
                                 .below_offset = INT64_MAX,
                                 .max_bytes = 1,
                                 .at_least_one = true,
                                 .may_block = true };
        assert_int_equal(partition_log_read(log_on_sim, &read), 0);
        assert_int_equal(read.next_offset, offset + 1);
        file_slice_release(&read.slice);
        assert_int_equal(
            partition_log_find_timestamp(log_on_sim, growing(offset), INT64_MAX, true, &position),
            0);
        assert_int_equal(position.offset, offset);
    }
}

TEST(index_blocks_that_a_power_cut_took_are_made_again)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fs_sim_options options = { .seed = seed };
        fixture_init(&fixture, "/data");         /* For its settings. */
        fixture.settings.segment_bytes = 150000; /* More than one block of each index. */
        sim = fs_sim_open(&options);
        for (int life = 0; life < 3; life++) {
            open_on_sim();
            assert_all_found_on_sim();
            fs_sim_cut_power_at(sim, 300 + (long)seed * 61);
            fill_until_dark();
            close_on_sim();
            fs_sim_restart(sim);
        }
        open_on_sim();
        assert_true(partition_log_end_offset(log_on_sim) > 300);
        assert_all_found_on_sim();
        close_on_sim();
        fs_sim_close(sim);
    }
}
