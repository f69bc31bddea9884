// SPDX-License-Identifier: Apache-2.0
/* The two halves of a checkpoint. */

#include "runner.h"

#include "error.h"
#include "log_fixture.h"

static struct log_fixture fixture;

static int64_t recovery_point(void)
{
    int64_t offset = -1;
    (void)data_dir_checkpoint(fixture.dir, CHECKPOINT_RECOVERY_POINT, FIXTURE_TOPIC, 0, &offset);
    return offset;
}

static void begin(struct log_checkpoint *checkpoint)
{
    assert_int_equal(partition_log_begin_checkpoint(fixture.log, checkpoint), 0);
}

TEST(the_writers_half_of_a_checkpoint_syncs_nothing)
{
    struct log_checkpoint checkpoint;
    fixture_start(&fixture);
    fixture_append_many(&fixture, 50, 200);
    atomic_store(&fixture.disk.syncs, 0);

    begin(&checkpoint);
    assert_int_equal(atomic_load(&fixture.disk.syncs), 0);
    assert_int_equal(recovery_point(), 0);

    assert_int_equal(partition_log_end_checkpoint(fixture.log, &checkpoint, true), 0);
    assert_true(atomic_load(&fixture.disk.syncs) > 0);
    assert_int_equal(recovery_point(), 50);
    fixture_close(&fixture);
}

TEST(the_recovery_point_is_where_the_checkpoint_began)
{
    struct log_checkpoint checkpoint;
    fixture_start(&fixture);
    fixture_append_many(&fixture, 50, 200);
    begin(&checkpoint);
    fixture_append_many(&fixture, 30, 200); /* The writer goes on. */
    assert_int_equal(partition_log_end_checkpoint(fixture.log, &checkpoint, true), 0);
    assert_int_equal(recovery_point(), 50);
    assert_true(fixture_has_file(&fixture, "00000000000000000050.snapshot"));

    assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
    fixture_kill(&fixture);
    assert_int_equal(partition_log_end_offset(fixture.log), 80);
    assert_int_equal(fixture_read_all(&fixture, 4096, NULL), 80);
    fixture_close(&fixture);
}

TEST(segments_may_be_begun_and_removed_between_the_halves)
{
    struct log_checkpoint checkpoint;
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 4096;
    fixture.settings.retention_bytes = 4096;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 10, 200);
    begin(&checkpoint);
    fixture_append_many(&fixture, 100, 200);
    int64_t next_ms;
    assert_int_equal(partition_log_retain(fixture.log, INT64_MAX, FIXTURE_NOW_MS, &next_ms), 0);
    assert_true(partition_log_start_offset(fixture.log) > 10);

    assert_int_equal(partition_log_end_checkpoint(fixture.log, &checkpoint, true), 0);
    assert_int_equal(recovery_point(), 10);
    assert_int_equal(partition_log_failed(fixture.log), 0);
    fixture_close(&fixture);
}

TEST(a_truncation_makes_a_checkpoint_that_has_begun_void)
{
    struct log_checkpoint checkpoint;
    fixture_start(&fixture);
    fixture_append_many(&fixture, 50, 200);
    begin(&checkpoint);
    assert_int_equal(partition_log_truncate(fixture.log, 20), 0);
    fixture_append_many(&fixture, 50, 100);
    assert_int_equal(partition_log_end_checkpoint(fixture.log, &checkpoint, true), 0);
    assert_int_equal(recovery_point(), 0);
    assert_false(fixture_has_file(&fixture, "00000000000000000050.snapshot"));
    fixture_close(&fixture);
}

TEST(a_checkpoint_can_leave_all_syncs_to_one)
{
    struct log_checkpoint checkpoint;
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 4096;
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, 100, 200);
    begin(&checkpoint);
    atomic_store(&fixture.disk.syncs, 0);
    assert_int_equal(partition_log_end_checkpoint(fixture.log, &checkpoint, false), 0);
    assert_int_equal(atomic_load(&fixture.disk.syncs), 0);
    assert_int_equal(partition_log_flushed_offset(fixture.log), 0); /* It promises nothing. */
    assert_int_equal(recovery_point(), 100);

    assert_int_equal(data_dir_sync_all(fixture.dir), 0);
    assert_int_equal(atomic_load(&fixture.disk.syncs), 1);
    assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
    assert_int_equal(data_dir_mark_clean(fixture.dir, 1), 0);
    fixture_close(&fixture);
    fixture_reopen(&fixture);
    assert_false(fixture.recovery.was_recovered);
    assert_int_equal(fixture_read_all(&fixture, 4096, NULL), 100);
    fixture_close(&fixture);
}

TEST(a_checkpoint_that_cannot_be_synced_moves_nothing)
{
    struct log_checkpoint checkpoint;
    fixture_start(&fixture);
    fixture_append_many(&fixture, 50, 200);
    begin(&checkpoint);
    fs_fault_fail_at(&fixture.disk, 1, ERR_IO);
    assert_int_equal(partition_log_end_checkpoint(fixture.log, &checkpoint, true),
                     ERR_KAFKA_STORAGE_ERROR);
    fs_fault_fail_at(&fixture.disk, 0, ERR_IO);
    assert_int_equal(partition_log_failed(fixture.log), ERR_IO);
    assert_int_equal(recovery_point(), 0);
    fixture_close(&fixture);
}
