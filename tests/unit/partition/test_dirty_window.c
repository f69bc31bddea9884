// SPDX-License-Identifier: Apache-2.0
#include "partition_fixture.h"

#include <errno.h>

#include "dirty_window.h"

TEST(a_window_tells_once_that_it_is_half_full)
{
    struct dirty_window window;
    dirty_window_init(&window, 100);
    assert_false(dirty_window_add(&window, 50));
    assert_true(dirty_window_add(&window, 1));
    assert_false(dirty_window_add(&window, 49));
    assert_false(dirty_window_is_full(&window));
    assert_false(dirty_window_add(&window, 1));
    assert_true(dirty_window_is_full(&window));

    dirty_window_remove(&window, 60);
    assert_false(dirty_window_is_full(&window));
    assert_true(dirty_window_add(&window, 20));
}

TEST(without_a_limit_a_window_is_never_full)
{
    struct dirty_window window;
    dirty_window_init(&window, 0);
    assert_false(dirty_window_add(&window, INT64_MAX / 2));
    assert_false(dirty_window_is_full(&window));
}

static unsigned syncs;
static int (*real_sync)(struct fs *fs, int fd);

static int count_sync(struct fs *fs, int fd)
{
    (void)fs;
    (void)fd;
    syncs++;
    return 0;
}

static void serve_with_window(struct partition_fixture *fixture, int64_t limit)
{
    fixture_open(fixture);
    fixture_serve(fixture);
    append_records(fixture, 1); /* Opens files, on the pool. */
    partition_flush_soon(fixture->partition);
    run_jobs(&fixture->pool);
    assert_int_equal(atomic_load(&fixture->owner.window.unsynced), 0);
    fixture->owner.window.limit = limit;
    fixture->hurry_count = 0;
    real_sync = data_dir_fs(fixture->dir)->sync;
    data_dir_fs(fixture->dir)->sync = count_sync;
    syncs = 0;
}

static void end(struct partition_fixture *fixture)
{
    data_dir_fs(fixture->dir)->sync = real_sync;
    fixture_close(fixture);
    assert_int_equal(atomic_load(&fixture->owner.window.unsynced), 0);
}

TEST(what_is_written_counts_until_it_is_synced)
{
    struct partition_fixture fixture;
    serve_with_window(&fixture, 1 << 20);
    struct append *append = new_append(&fixture, "a", 5);
    int64_t size = (int64_t)append->log.batch.size;
    partition_append(fixture.partition, append);
    assert_int_equal(atomic_load(&fixture.owner.window.unsynced), size);
    assert_int_equal(fixture.hurry_count, 0);
    partition_flush_soon(fixture.partition);
    run_jobs(&fixture.pool);
    assert_int_equal(atomic_load(&fixture.owner.window.unsynced), 0);
    free_append(append);
    end(&fixture);
}

TEST(beyond_half_a_window_the_owner_is_told_to_flush)
{
    struct partition_fixture fixture;
    serve_with_window(&fixture, 150);
    struct append *append = new_append(&fixture, "a", 5);
    partition_append(fixture.partition, append);
    assert_false(append->is_pending);
    assert_int_equal(fixture.hurry_count, 1);
    free_append(append);
    end(&fixture);
}

TEST(beyond_the_window_an_append_syncs_on_the_pool_before_it_writes_more)
{
    struct partition_fixture fixture;
    serve_with_window(&fixture, 50);
    struct append *first = new_append(&fixture, "a", 5), *second = new_append(&fixture, "b", 1);
    partition_append(fixture.partition, first);
    assert_false(first->is_pending);
    assert_int_equal(syncs, 0);

    partition_append(fixture.partition, second);
    assert_true(second->is_pending); /* No loop waits for the disk. */
    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);
    assert_int_equal(second->log.err, 0);
    assert_int_equal(syncs, 1);
    assert_int_equal(partition_log_flushed_offset(fixture.partition->log), 6);
    free_append(first);
    free_append(second);
    end(&fixture);
}
