// SPDX-License-Identifier: Apache-2.0
#include "partition_fixture.h"

#include <errno.h>

#include "partition_acks.h"

/* Serves with such settings, its files open; the disk's sync is the test's. */
static struct {
    int (*real)(struct fs *fs, int fd);
    unsigned syncs;
    int fails_with;
    struct partition_fixture *fixture; /* With `meanwhile`: */
    struct append *meanwhile;          /* Appended during the next sync. */
} disk;

static int sync_counted(struct fs *fs, int fd)
{
    (void)fs;
    (void)fd;
    struct append *append = disk.meanwhile;
    disk.meanwhile = NULL;
    if (append != NULL) partition_append(disk.fixture->partition, append);
    disk.syncs++;
    errno = EIO;
    return disk.fails_with;
}

static void serve_with(struct partition_fixture *fixture, int64_t messages, int64_t ms)
{
    fixture_open(fixture);
    fixture_serve(fixture);
    append_records(fixture, 1); /* Opens files, on the pool. */
    struct topic_settings settings = fixture->partition->settings;
    settings.flush_messages = messages;
    settings.flush_ms = ms;
    partition_set_role(fixture->partition, &fixture->partition->role, &settings);
    run_jobs(&fixture->pool);
    partition_flush_soon(fixture->partition);
    run_jobs(&fixture->pool);
    struct fs *fs = data_dir_fs(fixture->dir);
    memset(&disk, 0, sizeof disk);
    disk.real = fs->sync;
    disk.fixture = fixture;
    fs->sync = sync_counted;
}

static void end(struct partition_fixture *fixture)
{
    data_dir_fs(fixture->dir)->sync = disk.real;
    fixture_close(fixture);
}

static void let_run(struct partition_fixture *fixture)
{
    run_jobs(&fixture->pool);
    loop_turn(fixture->loop);
}

TEST(with_flush_messages_1_an_append_is_acknowledged_when_it_is_on_disk)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct append *append = new_append(&fixture, "a", 2);

    partition_append(fixture.partition, append);
    assert_true(append->is_pending);
    assert_true(append->is_written);
    loop_turn(fixture.loop);
    assert_true(append->is_pending);
    assert_int_equal(disk.syncs, 0);

    let_run(&fixture);
    assert_false(append->is_pending);
    assert_int_equal(append->log.err, 0);
    assert_int_equal(append->log.base_offset, 1);
    assert_int_equal(append->high_watermark, 3);
    assert_int_equal(disk.syncs, 1);
    free_append(append);
    end(&fixture);
}

TEST(acks_all_waits_for_the_disk_too_and_acks_0_for_nothing)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct append *all = new_append(&fixture, "a", 1), *none = new_append(&fixture, "b", 1);
    all->acks_all = true;
    none->acks_none = true;

    partition_append(fixture.partition, all);
    partition_append(fixture.partition, none);
    assert_true(all->is_pending);
    assert_false(none->is_pending);

    let_run(&fixture);
    assert_false(all->is_pending);
    assert_int_equal(all->log.err, 0);
    assert_int_equal(partition_log_flushed_offset(fixture.partition->log), 3);
    free_append(all);
    free_append(none);
    end(&fixture);
}

static unsigned wakes;

static void note_wake(struct message *message)
{
    (void)message;
    wakes++;
}

TEST(nobody_sees_what_is_not_on_disk)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct append *append = new_append(&fixture, "a", 1);
    struct message wake;
    message_init(&wake, note_wake);
    wakes = 0;
    struct waiter waiter = { .offset = 0, .loop = fixture.loop, .wake = &wake };
    list_init(&waiter.node);
    assert_true(partition_wait(fixture.partition, &waiter, 1, false));

    partition_append(fixture.partition, append);
    size_t length;
    assert_int_equal(read_from(&fixture, 1, &length), 0);
    assert_int_equal(length, 0);
    assert_int_equal(fixture.partition->high_watermark, 1);
    loop_turn(fixture.loop);
    assert_int_equal(wakes, 0);

    let_run(&fixture);
    assert_int_equal(wakes, 1); /* The flush wakes who waits for records. */
    assert_int_equal(read_from(&fixture, 1, &length), 0);
    assert_true(length > 0);
    free_append(append);
    end(&fixture);
}

TEST(one_sync_acknowledges_everybody_who_waited_when_it_began)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct append *appends[8];
    for (int i = 0; i < 8; i++) {
        appends[i] = new_append(&fixture, "a", 1);
        partition_append(fixture.partition, appends[i]);
    }
    let_run(&fixture);
    assert_int_equal(disk.syncs, 1);
    for (int i = 0; i < 8; i++) {
        assert_false(appends[i]->is_pending);
        assert_int_equal(appends[i]->log.base_offset, i + 1);
        free_append(appends[i]);
    }
    end(&fixture);
}

TEST(what_comes_during_a_sync_waits_for_the_next)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct append *first = new_append(&fixture, "a", 1), *second = new_append(&fixture, "b", 1);
    disk.meanwhile = second;

    partition_append(fixture.partition, first);
    struct list *node = list_pop_front(&fixture.pool.jobs);
    struct job *flush = LIST_OWNER(node, struct job, node);
    flush->run(flush);
    loop_turn(fixture.loop);
    assert_false(first->is_pending);
    assert_true(second->is_pending);
    assert_int_equal(fixture.partition->high_watermark, 2);

    let_run(&fixture);
    assert_false(second->is_pending);
    assert_int_equal(disk.syncs, 2);
    assert_int_equal(fixture.partition->high_watermark, 3);
    free_append(first);
    free_append(second);
    end(&fixture);
}

TEST(a_failed_sync_acknowledges_nobody_and_the_partition_is_offline)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct append *one = new_append(&fixture, "a", 1), *all = new_append(&fixture, "b", 1),
                  *later = new_append(&fixture, "c", 1);
    all->acks_all = true;
    disk.fails_with = ERR_IO;

    partition_append(fixture.partition, one);
    partition_append(fixture.partition, all);
    let_run(&fixture);
    assert_int_equal(one->log.err, ERR_KAFKA_STORAGE_ERROR);
    assert_int_equal(all->log.err, ERR_KAFKA_STORAGE_ERROR);
    assert_int_equal(fixture.partition->state, PARTITION_OFFLINE);
    assert_int_equal(fixture.partition->high_watermark, 1);

    disk.fails_with = 0; /* The next sync would say that all is well (fsync does not tell twice). */
    partition_append(fixture.partition, later);
    assert_int_equal(later->log.err, ERR_KAFKA_STORAGE_ERROR);
    partition_flush_soon(fixture.partition);
    let_run(&fixture);
    size_t length;
    assert_int_equal(read_from(&fixture, 0, &length), ERR_KAFKA_STORAGE_ERROR);
    free_append(one);
    free_append(all);
    free_append(later);
    end(&fixture);
}

/* Setting: flush.messages */
TEST(with_flush_messages_n_a_flush_begins_when_there_are_n)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 3, INT64_MAX);
    struct append *first = new_append(&fixture, "a", 2), *second = new_append(&fixture, "b", 1);

    partition_append(fixture.partition, first);
    let_run(&fixture);
    assert_true(first->is_pending);
    assert_int_equal(disk.syncs, 0);

    partition_append(fixture.partition, second);
    let_run(&fixture);
    assert_false(first->is_pending);
    assert_false(second->is_pending);
    assert_int_equal(disk.syncs, 1);
    free_append(first);
    free_append(second);
    end(&fixture);
}

/* Setting: flush.ms */
TEST(with_flush_ms_the_housekeeping_begins_the_flush_and_0_is_at_once)
{
    struct partition_fixture fixture;
    serve_with(&fixture, INT64_MAX, 100);
    struct append *first = new_append(&fixture, "a", 1), *second = new_append(&fixture, "b", 1);

    partition_append(fixture.partition, first);
    let_run(&fixture);
    assert_true(first->is_pending);
    partition_flush_soon(fixture.partition); /* As the timer does. */
    let_run(&fixture);
    assert_false(first->is_pending);

    struct topic_settings settings = fixture.partition->settings;
    settings.flush_ms = 0;
    partition_set_role(fixture.partition, &fixture.partition->role, &settings);
    partition_append(fixture.partition, second);
    let_run(&fixture);
    assert_false(second->is_pending);
    free_append(first);
    free_append(second);
    end(&fixture);
}

TEST(a_broker_that_stops_flushes_for_those_who_wait_at_once)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1000, INT64_MAX);
    struct append *append = new_append(&fixture, "a", 1);
    atomic_store(&fixture.owner.is_stopping, true);

    partition_append(fixture.partition, append);
    let_run(&fixture);
    assert_false(append->is_pending);
    assert_int_equal(append->log.err, 0);
    free_append(append);
    end(&fixture);
}

TEST(whose_time_is_up_is_answered_without_the_disk_and_once)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct append *append = new_append(&fixture, "a", 1);

    partition_append(fixture.partition, append);
    assert_true(partition_stop_waiting_for_ack(append));
    assert_int_equal(append->log.err, ERR_REQUEST_TIMED_OUT);
    assert_false(append->is_pending);
    append->done = NULL; /* Another answer would call it. */

    let_run(&fixture);
    assert_false(partition_stop_waiting_for_ack(append));
    free_append(append);
    end(&fixture);
}

TEST(whose_time_is_up_in_the_queue_is_answered_when_it_is_written)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    atomic_store(&fixture.owner.slow_until_us, clock_monotonic_us(&fixture.clock.clock) + 1000);
    struct append *append = new_append(&fixture, "a", 1);

    partition_append(fixture.partition, append);
    assert_false(append->is_written);
    assert_false(partition_stop_waiting_for_ack(append));
    let_run(&fixture);
    assert_false(append->is_pending);
    assert_int_equal(append->log.err, ERR_REQUEST_TIMED_OUT);
    free_append(append);
    end(&fixture);
}

TEST(what_waits_for_the_disk_is_refused_when_another_leads_or_all_ends)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct append *first = new_append(&fixture, "a", 1), *second = new_append(&fixture, "b", 1);
    struct partition_role role = fixture.partition->role, other = role;
    other.is_leader = false;
    other.leader = 2;

    partition_append(fixture.partition, first);
    partition_set_role(fixture.partition, &other, &fixture.partition->settings);
    loop_turn(fixture.loop);
    assert_int_equal(first->log.err, ERR_NOT_LEADER_OR_FOLLOWER);
    assert_int_equal(first->leader, 2);

    partition_set_role(fixture.partition, &role, &fixture.partition->settings);
    partition_append(fixture.partition, second);
    partition_retire(fixture.partition, false);
    loop_turn(fixture.loop);
    assert_int_equal(second->log.err, ERR_NOT_LEADER_OR_FOLLOWER);
    free_append(first);
    free_append(second);
    end(&fixture);
}

TEST(acks_all_hears_that_the_isr_has_become_too_small)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1, INT64_MAX);
    struct topic_settings settings = fixture.partition->settings;
    settings.min_insync_replicas = 2;
    struct partition_role two = { true, 1, 3, 2, 2 }, one = { true, 1, 3, 2, 1 };
    struct append *all = new_append(&fixture, "a", 1), *leader = new_append(&fixture, "b", 1);
    all->acks_all = true;
    partition_set_role(fixture.partition, &two, &settings);

    partition_append(fixture.partition, all);
    partition_append(fixture.partition, leader);
    partition_set_role(fixture.partition, &one, &settings);
    loop_turn(fixture.loop);
    assert_int_equal(all->log.err, ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND);
    assert_true(leader->is_pending);

    let_run(&fixture);
    assert_int_equal(leader->log.err, 0); /* acks=1 needs this replica's disk only. */
    assert_int_equal(fixture.partition->high_watermark, 1);
    free_append(all);
    free_append(leader);
    end(&fixture);
}

TEST(a_topic_that_no_longer_asks_for_flushes_lets_go_of_who_waited)
{
    struct partition_fixture fixture;
    serve_with(&fixture, 1000, INT64_MAX);
    struct append *append = new_append(&fixture, "a", 1);
    struct topic_settings settings = fixture.partition->settings;
    settings.flush_messages = INT64_MAX;

    partition_append(fixture.partition, append);
    partition_set_role(fixture.partition, &fixture.partition->role, &settings);
    loop_turn(fixture.loop);
    assert_false(append->is_pending);
    assert_int_equal(fixture.partition->high_watermark, 2);
    free_append(append);
    end(&fixture);
}

TEST(what_was_recovered_is_made_durable_and_seen_at_once)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 3);
    partition_retire(fixture.partition, false);
    run_jobs(&fixture.pool);
    struct topic_settings settings = fixture.partition->settings;
    settings.flush_messages = 1;
    struct uuid id = fixture.partition->topic_id;
    struct partition_role role = fixture.partition->role;
    partition_unref(fixture.partition);
    run_jobs(&fixture.pool);
    /* As after a kill: nothing is known to be on disk. */
    assert_int_equal(data_dir_set_checkpoint(fixture.dir, CHECKPOINT_RECOVERY_POINT, "t", 0, 0), 0);

    assert_int_equal(partition_create(&fixture.partition, &fixture.owner, &fixture.pool.executor,
                                      &fixture.clock.clock, fixture.dir, "t", 0, &id, &settings,
                                      &role),
                     0);
    fixture_serve(&fixture);
    assert_int_equal(partition_log_flushed_offset(fixture.partition->log), 3);
    assert_int_equal(fixture.partition->high_watermark, 3);
    fixture_close(&fixture);
}
