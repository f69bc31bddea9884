// SPDX-License-Identifier: Apache-2.0
/* A log without memory: what cannot be done is refused, nothing of it is done, and it can be done later. */

#include "alloc.h"
#include "error.h"
#include "log_fixture.h"
#include "record_batch.h"

/* More than any of these needs. */
#define ALLOCATIONS 120

static struct log_fixture fixture;

/* Segments of a few batches, with a producer's, an aborted transaction, and epochs; nothing of them open. */
static void start_with_all_kinds(void)
{
    fixture_start(&fixture);
    fixture.settings.segment_bytes = 2000;
    partition_log_set_settings(fixture.log, &fixture.settings);
    for (int32_t i = 0; i < 20; i++) {
        struct batch_spec spec = { .value_bytes = 200, .producer_id = 7, .base_sequence = i };
        assert_int_equal(fixture_append_as(&fixture, &spec, i / 8), 0);
        struct batch_spec other = {
            .producer_id = 8,
            .base_sequence = i,
            .attributes = BATCH_TRANSACTIONAL,
            .timestamp = FIXTURE_NOW_MS + i,
        };
        assert_int_equal(fixture_append_as(&fixture, &other, i / 8), 0);
        if (i % 5 == 4)
            assert_int_equal(
                fixture_append_marker(&fixture, &(struct marker_spec){ .producer_id = 8 }), 0);
        if (i == 9) assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    }
    fixture_kill(&fixture);
}

static size_t count_aborted(void)
{
    struct log_aborted wanted = {
        .below_offset = partition_log_end_offset(fixture.log),
        .limit = SIZE_MAX,
        .may_block = true,
    };

    assert_int_equal(partition_log_aborted(fixture.log, &wanted), 0);
    size_t count = wanted.list.count;
    log_aborted_release(&wanted);
    return count;
}

/* Nothing of it was done. */
static void assert_is_as_before(int batches)
{
    struct batch_spec again = { .value_bytes = 200, .producer_id = 7, .base_sequence = 19 };

    assert_int_equal(partition_log_failed(fixture.log), 0);
    assert_int_equal(partition_log_end_offset(fixture.log), 44);
    assert_int_equal(partition_log_first_unstable_offset(fixture.log, INT64_MAX), -1);
    assert_int_equal(partition_log_last_epoch(fixture.log), 2);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), batches);
    assert_int_equal(count_aborted(), 4);
    assert_int_equal(fixture_append_as(&fixture, &again, 2), 0); /* It repeats. */
    assert_int_equal(partition_log_end_offset(fixture.log), 44);
}

static void assert_is_cut(int64_t offset, int64_t first_open, size_t aborted)
{
    assert_int_equal(partition_log_end_offset(fixture.log), offset);
    assert_int_equal(partition_log_first_unstable_offset(fixture.log, INT64_MAX), first_open);
    assert_int_equal(count_aborted(), aborted);
}

TEST(a_truncation_without_memory_is_refused_and_leaves_all_as_it_was)
{
    for (int64_t offset = 3; offset < 44; offset += 14) {
        size_t aborted = (size_t)(offset / 11);
        int64_t first_open = offset == 3 ? 1 : offset == 17 ? 12 : 23;
        int refused = 0;
        for (long nth = 1; nth < ALLOCATIONS; nth++) {
            start_with_all_kinds();
            mem_fail_at(nth);
            int err = partition_log_truncate(fixture.log, offset);
            mem_fail_at(0);
            if (err != 0) {
                refused++;
                assert_int_equal(err, ERR_NO_MEMORY);
                assert_is_as_before(44);
                assert_int_equal(partition_log_truncate(fixture.log, offset), 0);
            }
            assert_is_cut(offset, first_open, aborted);
            fixture_append_many(&fixture, 3, 100);
            fixture_kill(&fixture);
            assert_is_cut(offset + 3, first_open, aborted);
            fixture_close(&fixture);
        }
        assert_in_range(refused, 5, ALLOCATIONS - 10);
    }
}

TEST(a_new_beginning_without_memory_is_refused_and_leaves_all_as_it_was)
{
    int refused = 0;

    for (long nth = 1; nth < ALLOCATIONS; nth++) {
        start_with_all_kinds();
        mem_fail_at(nth);
        int err = partition_log_restart_at(fixture.log, 100);
        mem_fail_at(0);
        if (err != 0) {
            refused++;
            assert_int_equal(err, ERR_NO_MEMORY);
            assert_is_as_before(44);
            assert_int_equal(partition_log_restart_at(fixture.log, 100), 0);
        }
        assert_is_cut(100, -1, 0);
        fixture_append_many(&fixture, 3, 100);
        fixture_kill(&fixture);
        assert_is_cut(103, -1, 0);
        fixture_close(&fixture);
    }
    assert_in_range(refused, 2, ALLOCATIONS - 10);
}

TEST(a_flush_without_memory_is_refused_and_done_later)
{
    int refused = 0;

    for (long nth = 1; nth < ALLOCATIONS; nth++) {
        start_with_all_kinds();
        fixture_append_many(&fixture, 5, 1000); /* Closed segments, and names. */
        mem_fail_at(nth);
        int err = partition_log_flush(fixture.log);
        mem_fail_at(0);
        if (err != 0) {
            refused++;
            assert_int_equal(err, ERR_NO_MEMORY);
            assert_int_equal(partition_log_failed(fixture.log), 0);
            assert_true(partition_log_flushed_offset(fixture.log) < 49);
            atomic_store(&fixture.disk.syncs, 0);
            assert_int_equal(partition_log_flush(fixture.log), 0);
            assert_true(atomic_load(&fixture.disk.syncs) > 0);
        }
        assert_int_equal(partition_log_flushed_offset(fixture.log), 49);
        fixture_close(&fixture);
    }
    assert_in_range(refused, 2, ALLOCATIONS - 10);
}
