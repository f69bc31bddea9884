// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "alloc.h"
#include "partition_fixture.h"

/* The first append opens files, which is the pool's work; this is about all others. */
static void serve_warm(struct partition_fixture *fixture)
{
    fixture_open(fixture);
    fixture_serve(fixture);
    append_records(fixture, 1);
    fixture->dirty_count = 0;
    fixture->partition->is_dirty = false;
}

TEST(an_append_has_its_offsets_when_the_call_returns)
{
    struct partition_fixture fixture;
    serve_warm(&fixture);
    struct append *first = new_append(&fixture, "a", 3), *second = new_append(&fixture, "b", 2);

    partition_append(fixture.partition, first);
    partition_append(fixture.partition, second);

    assert_false(first->is_pending);
    assert_int_equal(first->log.base_offset, 1);
    assert_int_equal(first->log.last_offset, 3);
    assert_int_equal(second->log.base_offset, 4);
    assert_int_equal(second->high_watermark, 6);
    free_append(first);
    free_append(second);
    fixture_close(&fixture);
}

TEST(the_first_append_opens_files_on_the_pool)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    struct append *append = new_append(&fixture, "a", 1);

    partition_append(fixture.partition, append);
    assert_true(append->is_pending);
    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);
    assert_false(append->is_pending);
    assert_int_equal(append->log.base_offset, 0);
    assert_int_equal(append->high_watermark, 1);
    free_append(append);
    fixture_close(&fixture);
}

TEST(a_chain_is_appended_in_order)
{
    struct partition_fixture fixture;
    serve_warm(&fixture);
    struct append *appends[4];
    for (int i = 0; i < 4; i++) {
        appends[i] = new_append(&fixture, "x", i + 1);
        if (i > 0) appends[i - 1]->next = appends[i];
    }

    partition_append(fixture.partition, appends[0]);

    int64_t expected = 1;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(appends[i]->log.base_offset, expected);
        expected += i + 1;
        free_append(appends[i]);
    }
    fixture_close(&fixture);
}

TEST(appends_to_a_partition_that_is_opening_wait_and_keep_their_order)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    struct append *first = new_append(&fixture, "a", 1), *second = new_append(&fixture, "b", 1);
    partition_start_opening(fixture.partition, NULL);

    partition_append(fixture.partition, first);
    partition_append(fixture.partition, second);
    assert_true(first->is_pending);

    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);
    assert_false(first->is_pending);
    assert_int_equal(first->log.err, 0);
    assert_int_equal(first->log.base_offset, 0);
    assert_int_equal(second->log.base_offset, 1);
    free_append(first);
    free_append(second);
    fixture_close(&fixture);
}

TEST(after_a_slow_append_to_the_disk_appends_go_through_the_pool)
{
    struct partition_fixture fixture;
    serve_warm(&fixture);
    atomic_store(&fixture.owner.slow_until_us, clock_monotonic_us(&fixture.clock.clock) + 1000000);
    struct append *slow = new_append(&fixture, "a", 1), *healthy = new_append(&fixture, "b", 1);

    partition_append(fixture.partition, slow);
    assert_true(slow->is_pending);
    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);
    assert_int_equal(slow->log.base_offset, 1);

    clock_manual_advance_ms(&fixture.clock, 1001);
    partition_append(fixture.partition, healthy);
    assert_false(healthy->is_pending);
    assert_int_equal(healthy->log.base_offset, 2);
    free_append(slow);
    free_append(healthy);
    fixture_close(&fixture);
}

TEST(a_broker_that_does_not_lead_refuses)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    struct partition_role role = { false, 2, 4, 1, 1 };
    partition_set_role(fixture.partition, &role, &fixture.partition->settings);
    struct append *append = new_append(&fixture, "a", 1);

    partition_append(fixture.partition, append);

    assert_int_equal(append->log.err, ERR_NOT_LEADER_OR_FOLLOWER);
    assert_int_equal(append->leader, 2);
    assert_int_equal(append->leader_epoch, 4);
    assert_int_equal(partition_log_end_offset(fixture.partition->log), 0);
    free_append(append);
    fixture_close(&fixture);
}

TEST(acks_all_asks_for_enough_replicas_and_acks_one_does_not)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    struct topic_settings settings = fixture.partition->settings;
    settings.min_insync_replicas = 2;
    struct partition_role role = { true, 1, 3, 2, 1 };
    partition_set_role(fixture.partition, &role, &settings);
    struct append *all = new_append(&fixture, "a", 1), *one = new_append(&fixture, "b", 1);
    all->acks_all = true;
    all->next = one;

    partition_append(fixture.partition, all);
    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);

    assert_int_equal(all->log.err, ERR_NOT_ENOUGH_REPLICAS);
    assert_int_equal(one->log.err, 0);
    assert_int_equal(one->log.base_offset, 0);
    /* Below the minimum nothing becomes visible (DESIGN 5.2). */
    assert_int_equal(one->high_watermark, 0);
    free_append(all);
    free_append(one);
    fixture_close(&fixture);
}

TEST(the_minimum_cannot_ask_for_more_replicas_than_there_are)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    struct topic_settings settings = fixture.partition->settings;
    settings.min_insync_replicas = 2;
    partition_set_role(fixture.partition, &fixture.partition->role, &settings);
    struct append *append = new_append(&fixture, "a", 1);
    append->acks_all = true;

    append_now(&fixture, append);

    assert_int_equal(append->log.err, 0);
    assert_int_equal(append->high_watermark, 1);
    free_append(append);
    fixture_close(&fixture);
}

TEST(appends_that_wait_behind_housekeeping_are_queued_once)
{
    struct partition_fixture fixture;
    serve_warm(&fixture);
    int references = atomic_load(&fixture.partition->references);
    partition_checkpoint_soon(fixture.partition);
    atomic_store(&fixture.owner.slow_until_us, clock_monotonic_us(&fixture.clock.clock) + 1000000);
    struct append *first = new_append(&fixture, "a", 1), *second = new_append(&fixture, "b", 1);
    partition_append(fixture.partition, first);
    partition_retain_soon(fixture.partition);
    partition_append(fixture.partition, second);

    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);

    assert_int_equal(first->log.base_offset, 1);
    assert_int_equal(second->log.base_offset, 2);
    assert_false(fixture.partition->appending);
    free_append(first);
    free_append(second);
    /* Each job gave back what it took. */
    assert_int_equal(atomic_load(&fixture.partition->references), references);
    fixture_close(&fixture);
}

TEST(what_waits_when_a_partition_goes_is_refused)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    partition_start_opening(fixture.partition, NULL);
    struct append *append = new_append(&fixture, "a", 1);
    partition_append(fixture.partition, append);

    partition_retire(fixture.partition, true);
    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);

    assert_false(append->is_pending);
    assert_int_equal(append->log.err, ERR_NOT_LEADER_OR_FOLLOWER);
    free_append(append);
    fixture_close(&fixture);
}

/* A process that ends does not make folders first. */
TEST(what_is_new_and_not_opened_before_the_end_is_not_opened_any_more)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture.partition->is_new = true;
    partition_start_opening(fixture.partition, NULL);
    partition_retire(fixture.partition, false);
    run_jobs(&fixture.pool);
    assert_int_equal(fixture.opened_count, 1);
    assert_int_equal(fixture.opened_err, ERR_CANCELED);
    assert_int_equal(partition_wait_closed(fixture.partition), 0);
    fixture_close(&fixture);
}

/* It may have to be recovered: otherwise the end would not be in order. */
TEST(what_has_a_folder_is_opened_although_the_end_has_come)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    partition_start_opening(fixture.partition, NULL);
    partition_retire(fixture.partition, false);
    run_jobs(&fixture.pool);
    assert_int_equal(fixture.opened_err, 0);
    assert_int_equal(partition_wait_closed(fixture.partition), 0);
    fixture_close(&fixture);
}

TEST(a_partition_is_dirty_once_until_it_is_flushed)
{
    struct partition_fixture fixture;
    serve_warm(&fixture);
    struct append *first = new_append(&fixture, "a", 1), *second = new_append(&fixture, "b", 1);

    partition_append(fixture.partition, first);
    partition_append(fixture.partition, second);
    assert_int_equal(fixture.dirty_count, 1);

    partition_flush_soon(fixture.partition);
    run_jobs(&fixture.pool);
    assert_int_equal(partition_log_flushed_offset(fixture.partition->log), 3);
    assert_true(fixture.partition->needs_checkpoint);
    free_append(first);
    free_append(second);
    fixture_close(&fixture);
}

static int no_memory(struct fs *fs, const char *path)
{
    (void)fs;
    (void)path;
    return ERR_NO_MEMORY;
}

TEST(what_could_not_be_flushed_for_lack_of_memory_is_flushed_by_the_next_round)
{
    struct partition_fixture fixture;
    serve_warm(&fixture);
    struct append *append = new_append(&fixture, "a", 1);
    struct fs *fs = data_dir_fs(fixture.dir);
    int (*sync_folder)(struct fs *, const char *) = fs->sync_folder;
    partition_append(fixture.partition, append);
    int64_t end = partition_log_end_offset(fixture.partition->log);
    fixture.partition->is_dirty = false; /* As a round does that takes it. */

    fs->sync_folder = no_memory; /* Of a new log. */
    partition_flush_soon(fixture.partition);
    run_jobs(&fixture.pool);
    fs->sync_folder = sync_folder;

    assert_true(partition_log_flushed_offset(fixture.partition->log) < end);
    assert_int_equal(fixture.partition->state, PARTITION_SERVING);
    assert_false(fixture.partition->flush_runs);
    assert_int_equal(fixture.dirty_count, 2);
    partition_flush_soon(fixture.partition);
    run_jobs(&fixture.pool);
    assert_int_equal(partition_log_flushed_offset(fixture.partition->log), end);
    free_append(append);
    fixture_close(&fixture);
}

/* The disk's sync, during which another append comes and is to be flushed, too. */
static struct {
    int (*sync)(struct fs *fs, int fd);
    struct partition *partition;
    struct append *append;
} meanwhile;

static int sync_meanwhile(struct fs *fs, int fd)
{
    struct append *append = meanwhile.append;
    meanwhile.append = NULL;
    if (append != NULL) {
        partition_append(meanwhile.partition, append);
        partition_flush_soon(meanwhile.partition);
    }
    return meanwhile.sync(fs, fd);
}

/* The append comes while the disk is at its next sync. */
static void append_in_next_sync(struct partition_fixture *fixture, struct append *append)
{
    struct fs *fs = data_dir_fs(fixture->dir);
    meanwhile.sync = fs->sync;
    meanwhile.partition = fixture->partition;
    meanwhile.append = append;
    fs->sync = sync_meanwhile;
}

TEST(what_comes_while_a_flush_runs_is_flushed_by_the_next)
{
    struct partition_fixture fixture;
    serve_warm(&fixture);
    struct append *first = new_append(&fixture, "a", 1), *second = new_append(&fixture, "b", 1);
    partition_append(fixture.partition, first);
    append_in_next_sync(&fixture, second);

    partition_flush_soon(fixture.partition);
    run_jobs(&fixture.pool);

    data_dir_fs(fixture.dir)->sync = meanwhile.sync;
    assert_false(second->is_pending);
    assert_int_equal(partition_log_flushed_offset(fixture.partition->log), 3);
    assert_false(fixture.partition->flush_runs);
    free_append(first);
    free_append(second);
    fixture_close(&fixture);
}

TEST(the_syncs_of_a_checkpoint_hold_up_no_append)
{
    struct partition_fixture fixture;
    serve_warm(&fixture);
    struct append *first = new_append(&fixture, "a", 1), *second = new_append(&fixture, "b", 1);
    partition_append(fixture.partition, first);
    append_in_next_sync(&fixture, second);

    partition_checkpoint_soon(fixture.partition);
    run_jobs(&fixture.pool);

    data_dir_fs(fixture.dir)->sync = meanwhile.sync;
    assert_null(meanwhile.append);
    assert_false(second->is_pending);
    assert_int_equal(second->log.base_offset, 2);
    int64_t offset = -1;
    assert_true(data_dir_checkpoint(fixture.dir, CHECKPOINT_RECOVERY_POINT, "t", 0, &offset));
    assert_int_equal(offset, 2);
    assert_false(fixture.partition->checkpoint_waits);
    free_append(first);
    free_append(second);
    fixture_close(&fixture);
}

static struct append *checked;

static void note_checked(struct append *append)
{
    checked = append;
}

TEST(a_batch_that_waits_to_be_checked_when_the_broker_stops_is_refused)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    struct append *append = new_append(&fixture, "a", 1);
    append->done = note_checked;
    checked = NULL;
    assert_int_equal(partition_check_on_pool(append), 0);

    atomic_store(&fixture.owner.is_stopping, true);
    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);

    assert_ptr_equal(checked, append);
    assert_int_equal(append->leader, -1); /* Nobody is named that the client should go to. */
    assert_int_equal(append->log.err, ERR_NOT_LEADER_OR_FOLLOWER);
    free_append(append);
    fixture_close(&fixture);
}

/* ---- compression.type ---- */

static void no_call(struct append *append)
{
    (void)append;
}

/* An append that is not checked yet, of a batch whose records are `value_bytes` long. */
static struct append *unchecked_append(struct partition_fixture *fixture, size_t value_bytes)
{
    char *text = mem_zalloc(value_bytes + 1);
    memset(text, 'a', value_bytes);
    size_t size;
    uint8_t *data = batch_of(text, 2, &size);
    mem_free(text);
    record_batch_set_position(data, 0, -1);
    struct append *append = mem_alloc(sizeof *append);
    append_init(append, partition_ref(fixture->partition), data, size, 13, fixture->loop, no_call);
    return append;
}

static void serve_with_codec(struct partition_fixture *fixture, int codec)
{
    serve_warm(fixture);
    fixture->partition->settings.compression_type = codec;
    fixture->partition->settings.zstd_level = 3;
}

TEST(a_small_batch_is_compressed_anew_on_the_loop)
{
    struct partition_fixture fixture;
    serve_with_codec(&fixture, CODEC_ZSTD);
    struct append *append = unchecked_append(&fixture, 1000);
    uint8_t *sent = append->log.data;
    size_t size = append->log.batch.size;

    assert_true(partition_check(append));
    assert_int_equal(append->log.err, 0);
    assert_int_equal(append->log.batch.attributes & BATCH_CODEC_MASK, CODEC_ZSTD);
    assert_true(append->log.batch.size < size);
    assert_ptr_equal(append->log.data, append->owned);
    partition_append(fixture.partition, append);
    assert_int_equal(append->log.base_offset, 1);
    mem_free(sent);
    append_close(append);
    partition_unref(append->partition);
    mem_free(append);
    fixture_close(&fixture);
}

TEST(what_is_much_work_to_compress_goes_to_the_pool)
{
    struct partition_fixture fixture;
    serve_with_codec(&fixture, CODEC_ZSTD);
    struct append *append = unchecked_append(&fixture, APPEND_INLINE_RECOMPRESSED_BYTES);
    uint8_t *sent = append->log.data;

    assert_false(partition_check(append));
    assert_int_equal(partition_check_on_pool(append), 0);
    mem_free(sent); /* The frame goes with the burst. */
    run_jobs(&fixture.pool);
    loop_turn(fixture.loop);
    assert_int_equal(append->log.err, 0);
    assert_int_equal(append->log.batch.attributes & BATCH_CODEC_MASK, CODEC_ZSTD);
    append_close(append);
    partition_unref(append->partition);
    mem_free(append);
    fixture_close(&fixture);
}

TEST(a_batch_in_the_topics_codec_is_not_touched)
{
    struct partition_fixture fixture;
    serve_with_codec(&fixture, CODEC_NONE);
    struct append *append = unchecked_append(&fixture, 100000);

    assert_true(partition_check(append));
    assert_int_equal(append->log.err, 0);
    assert_null(append->owned);
    mem_free(append->log.data);
    append_close(append);
    partition_unref(append->partition);
    mem_free(append);
    fixture_close(&fixture);
}
