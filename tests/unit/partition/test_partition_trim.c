// SPDX-License-Identifier: Apache-2.0
#include "partition_fixture.h"

#include "partition_trim.h"

static unsigned done_count;

static void count_done(struct partition_trim *trim)
{
    (void)trim;
    done_count++;
}

static int trim(struct partition_fixture *fixture, int64_t offset, int64_t *start_offset)
{
    struct partition_trim wanted = { .offset = offset, .done = count_done };
    done_count = 0;
    partition_trim(fixture->partition, &wanted);
    assert_int_equal(done_count, 0); /* Nothing of it on the caller's thread. */
    run_jobs(&fixture->pool);
    assert_int_equal(done_count, 1);
    *start_offset = wanted.start_offset;
    return wanted.err;
}

TEST(a_trimmed_log_begins_at_the_offset)
{
    struct partition_fixture fixture;
    int64_t start;
    size_t length;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 5);
    assert_int_equal(trim(&fixture, 3, &start), 0);
    assert_int_equal(start, 3);
    assert_int_equal(read_from(&fixture, 2, &length), ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(read_from(&fixture, 3, &length), 0);
    assert_int_equal(trim(&fixture, 1, &start), 0);
    assert_int_equal(start, 3);
    assert_int_equal(trim(&fixture, TRIM_TO_HIGH_WATERMARK, &start), 0);
    assert_int_equal(start, 5);
    append_records(&fixture, 1); /* The lane has given the log back. */
    assert_int_equal(read_from(&fixture, 5, &length), 0);
    assert_true(length > 0);
    fixture_close(&fixture);
}

/* What no consumer may see yet may still be needed by a replica. */
TEST(nothing_is_trimmed_above_the_high_watermark)
{
    struct partition_fixture fixture;
    int64_t start;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 2);
    fixture.partition->role.isr_count = 2; /* The follower has not said what it has. */
    fixture.partition->role.replica_count = 2;
    append_records(&fixture, 2);
    assert_int_equal(fixture.partition->high_watermark, 2);
    assert_int_equal(trim(&fixture, 3, &start), ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(trim(&fixture, -2, &start), ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(trim(&fixture, TRIM_TO_HIGH_WATERMARK, &start), 0);
    assert_int_equal(start, 2);
    fixture_close(&fixture);
}

TEST(who_does_not_lead_or_may_not_delete_does_not_trim)
{
    struct partition_fixture fixture;
    int64_t start;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 2);
    fixture.partition->settings.cleanup_policy = CLEANUP_COMPACT;
    assert_int_equal(trim(&fixture, 1, &start), ERR_POLICY_VIOLATION);
    fixture.partition->settings.cleanup_policy = CLEANUP_COMPACT | CLEANUP_DELETE;
    fixture.partition->role.is_leader = false;
    assert_int_equal(trim(&fixture, 1, &start), ERR_NOT_LEADER_OR_FOLLOWER);
    fixture.partition->role.is_leader = true;
    partition_fail(fixture.partition);
    assert_int_equal(trim(&fixture, 1, &start), ERR_KAFKA_STORAGE_ERROR);
    fixture_close(&fixture);
}
