// SPDX-License-Identifier: Apache-2.0
/* What tests/large/ shows of a hundred gigabytes, of a few hundred small segments (DESIGN 4.2, 4.4). */

#include "error.h"
#include "log_fixture.h"

#define YOUNG 3
#define OLD   300
#define EACH  20 /* Batches in a segment. */

static struct log_fixture fixture;

static void start(int segments)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = EACH * 370;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, segments * EACH, 300);
    fixture_stop(&fixture);
}

static void reopen_cold(void)
{
    fixture_reopen(&fixture);
    atomic_store(&fixture.disk.operations, 0);
}

static void find_offset(int64_t offset)
{
    struct buffer data;
    struct log_read read = { .from_offset = offset,
                             .below_offset = INT64_MAX,
                             .max_bytes = 1,
                             .at_least_one = true,
                             .may_block = true };

    buffer_init(&data);
    assert_int_equal(fixture_read(&fixture, &read, &data), 0);
    assert_int_equal(read.next_offset, offset + 1);
    buffer_close(&data);
}

static void find_time(int64_t offset)
{
    struct log_position position;

    assert_int_equal(partition_log_find_timestamp(fixture.log, FIXTURE_NOW_MS + offset, INT64_MAX,
                                                  true, &position),
                     0);
    assert_int_equal(position.offset, offset);
}

/* Opening and reading, at most, where nothing is open and nothing known. */
static long most_for_an_offset(int segments)
{
    long most = 0;

    start(segments);
    for (int64_t offset = 0; offset < segments * EACH; offset += segments * EACH / 30 + 1) {
        reopen_cold();
        find_offset(offset);
        long operations = atomic_load(&fixture.disk.operations);
        most = operations > most ? operations : most;
        fixture_stop(&fixture);
    }
    return most;
}

TEST(an_offset_is_found_as_cheaply_in_an_old_log_as_in_a_young_one)
{
    long most = most_for_an_offset(YOUNG);

    assert_true(most > 0 && most <= 8);
    assert_true(most_for_an_offset(OLD) <= most);
}

TEST(a_time_is_found_as_cheaply_once_each_segment_was_asked_for_its_newest)
{
    start(OLD);
    reopen_cold();
    find_time(OLD * EACH - 1);
    /* Of each a time index was opened and one entry read, and no more but in the last. */
    assert_true(atomic_load(&fixture.disk.operations) <= 2 * OLD + 8);
    assert_true(atomic_load(&fixture.disk.log_reads) <= 4);
    for (int64_t offset = 0; offset < OLD * EACH; offset += 97) {
        atomic_store(&fixture.disk.operations, 0);
        find_time(offset);
        assert_true(atomic_load(&fixture.disk.operations) <= 8);
    }
    fixture_close(&fixture);
}

TEST(a_clean_start_opens_no_more_files_for_an_old_log)
{
    long opens[2];

    for (int i = 0; i < 2; i++) {
        start(i == 0 ? YOUNG : OLD);
        atomic_store(&fixture.disk.opens, 0);
        atomic_store(&fixture.disk.log_reads, 0);
        fixture_reopen(&fixture);
        opens[i] = atomic_load(&fixture.disk.opens);
        assert_int_equal(atomic_load(&fixture.disk.log_reads), 0);
        fixture_close(&fixture);
    }
    assert_int_equal(opens[1], opens[0]);
}

TEST(after_a_kill_only_what_was_not_synced_is_read_again)
{
    int64_t bytes[2];

    for (int i = 0; i < 2; i++) {
        fixture_start(&fixture);
        fixture.settings.segment_bytes = EACH * 370;
        fixture.settings.index_interval_bytes = 4096;
        partition_log_set_settings(fixture.log, &fixture.settings);
        fixture_append_many(&fixture, (i == 0 ? YOUNG : OLD) * EACH, 300);
        assert_int_equal(partition_log_checkpoint(fixture.log), 0);
        assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
        fixture_append_many(&fixture, 5, 300);
        fixture_kill(&fixture);
        assert_int_equal(partition_log_end_offset(fixture.log), (i == 0 ? YOUNG : OLD) * EACH + 5);
        assert_int_equal(fixture.recovery.indexes_rebuilt, 0);
        bytes[i] = fixture.recovery.bytes_read;
        fixture_close(&fixture);
    }
    assert_int_equal(bytes[1], bytes[0]);
}
