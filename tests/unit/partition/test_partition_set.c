// SPDX-License-Identifier: Apache-2.0
#include "partition_fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "trace.h"

static struct data_dir *told_of;

static void note_failed_folder(void *context, struct data_dir *dir)
{
    (void)context;
    told_of = dir;
}

struct set_fixture {
    struct clock_manual clock;
    struct disk_pool *pool;
    struct executor gate; /* Before the pool: while it is shut the test runs the jobs. */
    bool is_shut;
    struct list held;
    unsigned held_count;
    unsigned recovery_threads;
    struct loop *loop;
    struct data_dir *dirs[2];
    char paths[2][512];
    struct partition_set *set;
};

static const struct uuid topic_id = { { 9, 9 } };
static const struct partition_role leader = { true, 1, 0, 1, 1 };

static void arrive(struct executor *executor, struct job *job)
{
    struct set_fixture *fixture = LIST_OWNER(executor, struct set_fixture, gate);
    if (!fixture->is_shut) {
        executor_submit(disk_pool_executor(fixture->pool), job);
        return;
    }
    list_push_back(&fixture->held, &job->node);
    fixture->held_count++;
}

/* On this thread; what it submits is held again. */
static void run_one_held(struct set_fixture *fixture)
{
    struct list *node = list_pop_front(&fixture->held);
    fixture->held_count--;
    struct job *job = LIST_OWNER(node, struct job, node);
    job->run(job);
}

/* On the folders that it was closed on. */
static void set_fixture_start(struct set_fixture *fixture)
{
    clock_manual_init(&fixture->clock, 1700000000000);
    assert_int_equal(disk_pool_open(&fixture->pool, 2), 0);
    assert_int_equal(loop_open(&fixture->loop, "test", &fixture->clock.clock), 0);
    for (int i = 0; i < 2; i++) {
        char why[256];
        assert_int_equal(
            data_dir_open(&fixture->dirs[i], fs_posix(), fixture->paths[i], why, sizeof why), 0);
    }
    fixture->gate.submit = arrive;
    struct partition_set_options options = {
        .dirs = fixture->dirs,
        .dir_count = 2,
        .disk = &fixture->gate,
        .recovery_threads = fixture->recovery_threads,
        .clock = &fixture->clock.clock,
        .loop = fixture->loop,
        .flush_interval_ms = 1000,
        .checkpoint_interval_ms = 60000,
        .high_watermark_interval_ms = 5000,
        .folder_failed = note_failed_folder,
        .retention_interval_ms = 300000,
    };
    assert_int_equal(partition_set_open(&fixture->set, &options), 0);
    loop_turn(fixture->loop);
}

static void set_fixture_open(struct set_fixture *fixture, const char *name)
{
    memset(fixture, 0, sizeof *fixture);
    for (int i = 0; i < 2; i++)
        snprintf(fixture->paths[i], sizeof fixture->paths[i], "%s/set-%s-%d", test_folder(), name,
                 i);
    set_fixture_start(fixture);
}

static void add_of(struct set_fixture *fixture, const struct uuid *id, int32_t index)
{
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    assert_int_equal(partition_set_add(fixture->set, "topic", index, id, &settings, &leader), 0);
}

static void add(struct set_fixture *fixture, int32_t index)
{
    add_of(fixture, &topic_id, index);
}

static bool folder_exists(struct set_fixture *fixture, int dir, int32_t index)
{
    char path[600];
    snprintf(path, sizeof path, "%s/topic-%d", fixture->paths[dir], index);
    return access(path, F_OK) == 0;
}

static int count_entry(void *context, const struct fs_entry *entry)
{
    (void)entry;
    ++*(int *)context;
    return 0;
}

/* Of both data folders. */
static int count_folders(struct set_fixture *fixture)
{
    int count = 0;
    for (int i = 0; i < 2; i++) {
        struct fs *fs = fs_posix();
        int files = 0;
        assert_int_equal(fs->list(fs, fixture->paths[i], count_entry, &files), 0);
        count += files;
        static const char *const others[] = { ".lock",
                                              ".kafka_cleanshutdown",
                                              "recovery-point-offset-checkpoint",
                                              "log-start-offset-checkpoint",
                                              "replication-offset-checkpoint",
                                              "meta.properties" };
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            char path[600];
            snprintf(path, sizeof path, "%s/%s", fixture->paths[i], others[k]);
            if (access(path, F_OK) == 0) count--;
        }
    }
    return count;
}

/* Waits until whatever was submitted before has begun, and with one free thread ended. */
struct barrier {
    struct job job;
    pthread_mutex_t lock;
    pthread_cond_t passed;
    bool is_passed;
};

static void run_barrier(struct job *job)
{
    struct barrier *barrier = LIST_OWNER(job, struct barrier, job);
    pthread_mutex_lock(&barrier->lock);
    barrier->is_passed = true;
    pthread_cond_signal(&barrier->passed);
    pthread_mutex_unlock(&barrier->lock);
}

static void pass_barrier(struct set_fixture *fixture)
{
    struct barrier barrier = { .job.run = run_barrier };
    pthread_mutex_init(&barrier.lock, NULL);
    pthread_cond_init(&barrier.passed, NULL);
    executor_submit(disk_pool_executor(fixture->pool), &barrier.job);
    pthread_mutex_lock(&barrier.lock);
    while (!barrier.is_passed)
        pthread_cond_wait(&barrier.passed, &barrier.lock);
    pthread_mutex_unlock(&barrier.lock);
    pthread_cond_destroy(&barrier.passed);
    pthread_mutex_destroy(&barrier.lock);
}

static void set_fixture_close(struct set_fixture *fixture)
{
    /* What is new and not opened yet would not get its folder any more. */
    while (partition_set_opening(fixture->set) > 0)
        pass_barrier(fixture);
    partition_set_close(fixture->set, 5, true);
    disk_pool_close(fixture->pool);
    for (int i = 0; i < 2; i++)
        data_dir_close(fixture->dirs[i]);
    loop_close(fixture->loop);
}

TEST(a_partition_is_found_by_topic_id_and_index)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "find");
    add(&fixture, 0);

    struct partition *found = partition_set_find(fixture.set, &topic_id, 0);
    assert_non_null(found);
    assert_int_equal(found->index, 0);
    partition_unref(found);
    assert_null(partition_set_find(fixture.set, &topic_id, 1));
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    assert_int_equal(partition_set_add(fixture.set, "topic", 0, &topic_id, &settings, &leader),
                     ERR_EXISTS);
    set_fixture_close(&fixture);
}

TEST(new_partitions_are_spread_over_the_data_folders)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "spread");
    for (int32_t i = 0; i < 4; i++)
        add(&fixture, i);
    assert_int_equal(partition_set_count(fixture.set), 4);
    set_fixture_close(&fixture);

    int in_first = 0, in_second = 0;
    for (int32_t i = 0; i < 4; i++) {
        in_first += folder_exists(&fixture, 0, i);
        in_second += folder_exists(&fixture, 1, i);
    }
    assert_int_equal(in_first, 2);
    assert_int_equal(in_second, 2);
}

TEST(a_polite_end_leaves_the_clean_marker)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "marker");
    add(&fixture, 0);
    set_fixture_close(&fixture);

    struct data_dir *dir;
    char why[256];
    assert_int_equal(data_dir_open(&dir, fs_posix(), fixture.paths[0], why, sizeof why), 0);
    assert_true(data_dir_was_clean(dir));
    data_dir_close(dir);
}

TEST(a_set_closes_without_memory)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "no-memory");
    add(&fixture, 0);
    while (partition_set_opening(fixture.set) > 0)
        pass_barrier(&fixture);
    mem_fail_at(1);
    set_fixture_close(&fixture);
    mem_fail_at(0);
}

TEST(a_removed_partition_gives_up_its_folder)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "remove");
    add(&fixture, 0);
    struct partition *partition = partition_set_find(fixture.set, &topic_id, 0);

    partition_set_remove(fixture.set, &topic_id, 0);

    assert_int_equal(partition_wait_closed(partition), 0);
    partition_unref(partition);
    assert_null(partition_set_find(fixture.set, &topic_id, 0));
    assert_false(folder_exists(&fixture, 0, 0));
    assert_int_equal(partition_set_count(fixture.set), 0);
    set_fixture_close(&fixture);
}

TEST(no_more_logs_of_a_folder_are_opened_at_a_time_than_may_be)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "turns");
    for (int32_t i = 0; i < 10; i++) /* Five in each folder. */
        add(&fixture, i);
    set_fixture_close(&fixture);

    fixture.recovery_threads = 2;
    fixture.is_shut = true;
    list_init(&fixture.held);
    set_fixture_start(&fixture);
    for (int32_t i = 0; i < 10; i++)
        add(&fixture, i);
    assert_int_equal(fixture.held_count, 4);
    partition_set_remove(fixture.set, &topic_id, 9); /* While it waits for its turn. */
    add(&fixture, 10); /* Nothing of it is there, so it need not wait. */
    assert_int_equal(fixture.held_count, 5);
    for (unsigned opening = 11; opening > 5; opening--) {
        assert_int_equal(partition_set_opening(fixture.set), opening);
        run_one_held(&fixture); /* The next one takes its place. */
        assert_in_range(fixture.held_count, 4, 5);
    }
    while (fixture.held_count > 0)
        run_one_held(&fixture);
    assert_int_equal(partition_set_opening(fixture.set), 0);
    assert_int_equal(partition_set_count(fixture.set), 10);
    assert_false(folder_exists(&fixture, 0, 9) || folder_exists(&fixture, 1, 9));
    fixture.is_shut = false;
    set_fixture_close(&fixture);
}

TEST(a_topic_that_is_made_again_waits_until_the_old_one_has_left_its_folder)
{
    static const struct uuid second_id = { { 7, 7 } }, third_id = { { 8, 8 } };
    struct set_fixture fixture;
    set_fixture_open(&fixture, "again");
    add(&fixture, 0);
    struct partition *old = partition_set_find(fixture.set, &topic_id, 0);
    while (partition_set_opening(fixture.set) > 0)
        sched_yield();
    pthread_mutex_lock(&old->lock);
    assert_non_null(partition_pin_log(old)); /* A reader: the close waits for it. */
    pthread_mutex_unlock(&old->lock);

    partition_set_remove(fixture.set, &topic_id, 0);
    add_of(&fixture, &second_id, 0);
    partition_set_remove(fixture.set, &second_id, 0); /* Before it could open. */
    add_of(&fixture, &third_id, 0);
    pass_barrier(&fixture);
    assert_int_equal(partition_set_opening(fixture.set), 2);

    partition_unpin_log(old);
    assert_int_equal(partition_wait_closed(old), 0);
    partition_unref(old);
    set_fixture_close(&fixture);
    assert_true(folder_exists(&fixture, 0, 0) || folder_exists(&fixture, 1, 0));
    assert_int_equal(count_folders(&fixture), 1); /* Nothing put aside. */
}

TEST(a_stop_leaves_what_is_still_to_be_swept_to_the_next_start)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "later");
    add(&fixture, 0);
    set_fixture_close(&fixture);

    set_fixture_start(&fixture);
    partition_set_give_up(fixture.set, "topic", 0, &topic_id);
    partition_set_announce_stop(fixture.set);
    partition_set_sweep(fixture.set);
    set_fixture_close(&fixture);
    assert_false(folder_exists(&fixture, 0, 0) || folder_exists(&fixture, 1, 0));
    assert_int_equal(count_folders(&fixture), 1);

    set_fixture_start(&fixture);
    partition_set_sweep(fixture.set);
    set_fixture_close(&fixture);
    assert_int_equal(count_folders(&fixture), 0);
}

TEST(what_a_crash_left_of_a_deleted_topic_is_swept)
{
    static const struct uuid other_id = { { 7, 7 } };
    struct set_fixture fixture;
    set_fixture_open(&fixture, "left");
    add(&fixture, 0);
    add(&fixture, 1);
    set_fixture_close(&fixture);

    set_fixture_start(&fixture);
    partition_set_give_up(fixture.set, "topic", 0, &topic_id);
    partition_set_give_up(fixture.set, "topic", 1, &other_id); /* Not that one's. */
    partition_set_sweep(fixture.set);
    set_fixture_close(&fixture);
    assert_false(folder_exists(&fixture, 0, 0) || folder_exists(&fixture, 1, 0));
    assert_true(folder_exists(&fixture, 0, 1) || folder_exists(&fixture, 1, 1));
    assert_int_equal(count_folders(&fixture), 1);
}

static pthread_mutex_t pool_is_held = PTHREAD_MUTEX_INITIALIZER;

static void run_held(struct job *job)
{
    (void)job;
    pthread_mutex_lock(&pool_is_held);
    pthread_mutex_unlock(&pool_is_held);
}

/* What is submitted from now on begins when the pool is released: one job for each of its threads waits. */
static void hold_pool(struct set_fixture *fixture, struct job held[2])
{
    pthread_mutex_lock(&pool_is_held);
    for (int i = 0; i < 2; i++) {
        job_init(&held[i], run_held);
        executor_submit(disk_pool_executor(fixture->pool), &held[i]);
    }
}

static void release_pool(void)
{
    pthread_mutex_unlock(&pool_is_held);
}

static struct {
    atomic_uint syncs, lists;
    int (*sync_folder)(struct fs *fs, const char *path);
    int (*list)(struct fs *fs, const char *path,
                int (*each)(void *context, const struct fs_entry *entry), void *context);
} folder_calls;

static int count_sync_folder(struct fs *fs, const char *path)
{
    atomic_fetch_add(&folder_calls.syncs, 1);
    return folder_calls.sync_folder(fs, path);
}

static int count_list(struct fs *fs, const char *path,
                      int (*each)(void *context, const struct fs_entry *entry), void *context)
{
    atomic_fetch_add(&folder_calls.lists, 1);
    return folder_calls.list(fs, path, each, context);
}

static void count_folder_calls(void)
{
    struct fs *fs = fs_posix();
    folder_calls.sync_folder = fs->sync_folder;
    folder_calls.list = fs->list;
    atomic_store(&folder_calls.syncs, 0);
    atomic_store(&folder_calls.lists, 0);
    fs->sync_folder = count_sync_folder;
    fs->list = count_list;
}

static void count_no_more_folder_calls(void)
{
    fs_posix()->sync_folder = folder_calls.sync_folder;
    fs_posix()->list = folder_calls.list;
}

/* A stop must not wait for them (DESIGN 13): what a topic of thousands has is renamed, no more. */
TEST(a_stop_in_the_middle_of_a_deletion_leaves_folders_to_the_next_start)
{
    enum { COUNT = 200 };
    struct set_fixture fixture;
    set_fixture_open(&fixture, "deleting");
    for (int32_t i = 0; i < COUNT; i++)
        add(&fixture, i);
    while (partition_set_opening(fixture.set) > 0)
        pass_barrier(&fixture);
    partition_set_announce_stop(fixture.set);
    for (int32_t i = 0; i < COUNT; i++)
        partition_set_remove(fixture.set, &topic_id, i);
    set_fixture_close(&fixture);
    assert_false(folder_exists(&fixture, 0, 0) || folder_exists(&fixture, 1, 0));
    assert_int_equal(count_folders(&fixture), COUNT);

    set_fixture_start(&fixture);
    partition_set_sweep(fixture.set);
    set_fixture_close(&fixture);
    assert_int_equal(count_folders(&fixture), 0);
}

TEST(a_topic_of_many_partitions_is_deleted_with_few_syncs_and_few_looks_at_the_folder)
{
    enum { COUNT = 200 };
    struct set_fixture fixture;
    set_fixture_open(&fixture, "few");
    for (int32_t i = 0; i < COUNT; i++)
        add(&fixture, i);
    while (partition_set_opening(fixture.set) > 0)
        pass_barrier(&fixture);
    struct job held[2];
    hold_pool(&fixture, held);
    count_folder_calls();
    for (int32_t i = 0; i < COUNT; i++)
        partition_set_remove(fixture.set, &topic_id, i);
    release_pool();
    set_fixture_close(&fixture);
    count_no_more_folder_calls();
    assert_int_equal(count_folders(&fixture), 0);
    assert_true(atomic_load(&folder_calls.syncs) < COUNT / 4);
    /* Each folder that is removed is listed, too. */
    assert_true(atomic_load(&folder_calls.lists) < COUNT + COUNT / 4);
}

/* ---- the end of many ---- */

static struct {
    atomic_uint syncs, all_syncs;
    int all_fails_with;
    int (*sync)(struct fs *fs, int fd);
    int (*sync_all)(struct fs *fs, int fd);
} counted;

static int count_sync(struct fs *fs, int fd)
{
    (void)fs;
    (void)fd;
    atomic_fetch_add(&counted.syncs, 1);
    return 0;
}

static int count_sync_all(struct fs *fs, int fd)
{
    (void)fs;
    (void)fd;
    atomic_fetch_add(&counted.all_syncs, 1);
    return counted.all_fails_with;
}

static void count_syncs(int all_fails_with)
{
    struct fs *fs = fs_posix();
    counted.sync = fs->sync;
    counted.sync_all = fs->sync_all;
    counted.all_fails_with = all_fails_with;
    atomic_store(&counted.syncs, 0);
    atomic_store(&counted.all_syncs, 0);
    fs->sync = count_sync;
    fs->sync_all = count_sync_all;
}

static void count_no_more(void)
{
    fs_posix()->sync = counted.sync;
    fs_posix()->sync_all = counted.sync_all;
}

static void note_ended(struct append *append)
{
    (void)append; /* is_pending tells. */
}

/* One record in each of `count` new partitions. */
static void write_to(struct set_fixture *fixture, int32_t index)
{
    struct partition *partition = partition_set_find(fixture->set, &topic_id, index);
    size_t size;
    uint8_t *data = batch_of("x", 1, &size);
    struct append append;
    append_init(&append, partition, data, size, 9, fixture->loop, note_ended);
    assert_true(partition_check(&append));
    partition_append(partition, &append);
    while (append.is_pending) {
        sched_yield();
        loop_turn(fixture->loop);
    }
    assert_int_equal(append.log.err, 0);
    append_close(&append);
    mem_free(data);
    partition_unref(partition);
}

static void write_to_all(struct set_fixture *fixture, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        add(fixture, i);
    while (partition_set_opening(fixture->set) > 0)
        pass_barrier(fixture);
    for (int32_t i = 0; i < count; i++)
        write_to(fixture, i);
}

static bool was_left_clean(const struct set_fixture *fixture, int dir)
{
    char path[600];
    snprintf(path, sizeof path, "%s/.kafka_cleanshutdown", fixture->paths[dir]);
    return access(path, F_OK) == 0;
}

TEST(many_partitions_end_with_one_sync_for_each_folder)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "many");
    write_to_all(&fixture, 200);
    count_syncs(0);
    set_fixture_close(&fixture);
    count_no_more();
    assert_int_equal(atomic_load(&counted.all_syncs), 2);
    assert_true(atomic_load(&counted.syncs) < 20); /* Checkpoints and markers. */
    assert_true(was_left_clean(&fixture, 0) && was_left_clean(&fixture, 1));

    set_fixture_start(&fixture);
    add(&fixture, 7);
    set_fixture_close(&fixture);
}

TEST(a_sync_of_all_that_fails_leaves_no_checkpoint_and_no_marker)
{
    struct set_fixture fixture;
    char path[600];
    set_fixture_open(&fixture, "many-failed");
    write_to_all(&fixture, 200);
    count_syncs(ERR_IO);
    set_fixture_close(&fixture);
    count_no_more();
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/recovery-point-offset-checkpoint", fixture.paths[i]);
        assert_int_equal(access(path, F_OK), -1);
        assert_false(was_left_clean(&fixture, i));
    }
}

/* ---- high watermarks ---- */

static int64_t noted_watermark(struct set_fixture *fixture, int dir, int32_t index)
{
    int64_t offset = -1;
    (void)data_dir_checkpoint(fixture->dirs[dir], CHECKPOINT_HIGH_WATERMARK, "topic", index,
                              &offset);
    return offset;
}

TEST(high_watermarks_are_noted_in_time_and_at_the_end)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "watermark");
    write_to_all(&fixture, 1);
    loop_turn(fixture.loop); /* Somebody is dirty: timers run. */
    assert_int_equal(noted_watermark(&fixture, 0, 0), -1);
    clock_manual_advance_ms(&fixture.clock, 5001);
    for (int i = 0; i < 4; i++) /* A distant timer takes a few turns. */
        loop_turn(fixture.loop);
    assert_int_equal(noted_watermark(&fixture, 0, 0), 1);
    set_fixture_close(&fixture);

    set_fixture_start(&fixture);
    assert_int_equal(noted_watermark(&fixture, 0, 0), 1); /* From the file. */
    set_fixture_close(&fixture);
}

static void pass_ms(struct set_fixture *fixture, int64_t ms)
{
    clock_manual_advance_ms(&fixture->clock, ms);
    for (int i = 0; i < 4; i++) /* A distant timer takes a few turns. */
        loop_turn(fixture->loop);
}

/* It is dirty already when the second record comes, so only the flush can ask for another round. */
TEST(what_comes_between_a_round_and_the_next_flush_is_noted_too)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "round");
    write_to_all(&fixture, 1);
    loop_turn(fixture.loop);
    pass_ms(&fixture, 4500); /* Flushed long ago. */
    write_to(&fixture, 0);
    loop_turn(fixture.loop); /* Dirty from here on. */
    pass_ms(&fixture, 501);  /* The round. */
    assert_int_equal(noted_watermark(&fixture, 0, 0), 2);
    write_to(&fixture, 0);
    pass_ms(&fixture, 600); /* The flush. */
    pass_ms(&fixture, 5001);
    assert_int_equal(noted_watermark(&fixture, 0, 0), 3);
    set_fixture_close(&fixture);
}

/* ---- folders that fail ---- */

static struct {
    const char *folder; /* Nothing in it can be opened. */
    atomic_bool next_sync_fails;
    int (*open)(struct fs *fs, const char *path, enum fs_open_mode mode, int *fd);
    int (*sync)(struct fs *fs, int fd);
} broken;

static int open_unless_broken(struct fs *fs, const char *path, enum fs_open_mode mode, int *fd)
{
    if (broken.folder != NULL && strncmp(path, broken.folder, strlen(broken.folder)) == 0) {
        errno = EIO;
        return ERR_IO;
    }
    return broken.open(fs, path, mode, fd);
}

static int sync_unless_broken(struct fs *fs, int fd)
{
    (void)fs;
    (void)fd;
    errno = EIO;
    return atomic_exchange(&broken.next_sync_fails, false) ? ERR_IO : 0;
}

static enum partition_state state_of(struct set_fixture *fixture, int32_t index)
{
    struct partition *partition = partition_set_find(fixture->set, &topic_id, index);
    pthread_mutex_lock(&partition->lock);
    enum partition_state state = partition->state;
    pthread_mutex_unlock(&partition->lock);
    partition_unref(partition);
    return state;
}

/* Partitions 0 and 2 are in the first folder, 1 and 3 in the second; 1 cannot be synced. */
static void fail_one_of_four(struct set_fixture *fixture, bool whole_folder)
{
    struct fs *fs = fs_posix();
    write_to_all(fixture, 4);
    broken.open = fs->open;
    broken.sync = fs->sync;
    broken.folder = whole_folder ? fixture->paths[1] : NULL;
    told_of = NULL;
    atomic_store(&broken.next_sync_fails, true);
    fs->open = open_unless_broken;
    fs->sync = sync_unless_broken;
    struct partition *partition = partition_set_find(fixture->set, &topic_id, 1);
    partition_flush_soon(partition);
    partition_unref(partition);
    while (state_of(fixture, 1) != PARTITION_OFFLINE)
        sched_yield();
}

static void end_of_failure(struct set_fixture *fixture)
{
    set_fixture_close(fixture);
    fs_posix()->open = broken.open;
    fs_posix()->sync = broken.sync;
}

TEST(a_file_that_fails_takes_one_partition_with_it)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "bad-file");
    fail_one_of_four(&fixture, false);
    for (int i = 0; i < 3; i++)
        pass_barrier(&fixture);
    assert_int_equal(state_of(&fixture, 3), PARTITION_SERVING);
    assert_null(told_of);
    end_of_failure(&fixture);
    assert_false(was_left_clean(&fixture, 0) || was_left_clean(&fixture, 1));
}

TEST(a_folder_that_fails_takes_its_partitions_with_it_and_no_others)
{
    struct set_fixture fixture;
    set_fixture_open(&fixture, "bad-folder");
    fail_one_of_four(&fixture, true);
    while (state_of(&fixture, 3) != PARTITION_OFFLINE)
        sched_yield();
    assert_int_equal(state_of(&fixture, 0), PARTITION_SERVING);
    assert_int_equal(state_of(&fixture, 2), PARTITION_SERVING);

    add(&fixture, 4); /* Although the failed folder has no more than the other. */
    add(&fixture, 5);
    assert_true(partition_set_opening(fixture.set) <= 2);
    while (partition_set_opening(fixture.set) > 0)
        pass_barrier(&fixture);
    assert_int_equal(state_of(&fixture, 4), PARTITION_SERVING);
    assert_int_equal(state_of(&fixture, 5), PARTITION_SERVING);
    struct data_dir *failed = fixture.dirs[1];
    end_of_failure(&fixture);
    assert_ptr_equal(told_of, failed);
}

static void count_losses(void *context, const char *line)
{
    if (strstr(line, " is gone, but was on disk") != NULL ||
        strstr(line, " but a log of that name was on disk up to offset 1:") != NULL)
        ++*(int *)context;
}

TEST(a_partition_whose_folder_is_gone_does_not_come_back_empty_without_a_word)
{
    struct set_fixture fixture;
    int losses = 0;
    set_fixture_open(&fixture, "gone");
    assert_int_equal(
        data_dir_set_checkpoint(fixture.dirs[1], CHECKPOINT_RECOVERY_POINT, "topic", 0, 5), 0);
    set_fixture_close(&fixture);

    trace_set_sink(count_losses, &losses);
    set_fixture_start(&fixture);
    add(&fixture, 0);
    assert_int_equal(losses, 1);
    set_fixture_close(&fixture);
    assert_true(
        folder_exists(&fixture, 1, 0)); /* Where the checkpoint is, which is of no use now. */

    /* Once is enough; and a topic that is deleted and made again has lost nothing. */
    static const struct uuid second_id = { { 7, 7 } };
    set_fixture_start(&fixture);
    add(&fixture, 0);
    while (partition_set_opening(fixture.set) > 0)
        pass_barrier(&fixture);
    assert_int_equal(
        data_dir_set_checkpoint(fixture.dirs[1], CHECKPOINT_RECOVERY_POINT, "topic", 0, 5), 0);
    partition_set_remove(fixture.set, &topic_id, 0);
    add_of(&fixture, &second_id, 0);
    set_fixture_close(&fixture);
    assert_int_equal(losses, 1);

    /* Nor has a new topic, whatever a killed process has left of a deleted one of its name. */
    set_fixture_start(&fixture);
    partition_set_sweep(fixture.set);
    assert_int_equal(
        data_dir_set_checkpoint(fixture.dirs[1], CHECKPOINT_RECOVERY_POINT, "topic", 3, 5), 0);
    add(&fixture, 3);
    set_fixture_close(&fixture);
    trace_set_sink(NULL, NULL);
    assert_int_equal(losses, 1);
}

TEST(folders_that_changed_names_are_missed_with_an_error)
{
    struct set_fixture fixture;
    char names[3][600];
    int losses = 0;
    set_fixture_open(&fixture, "swapped");
    static const struct uuid other_id = { { 7, 7 } };
    write_to_all(&fixture, 1);
    add_of(&fixture, &other_id, 2);
    set_fixture_close(&fixture);
    assert_true(folder_exists(&fixture, 1, 2));
    snprintf(names[0], sizeof names[0], "%s/topic-0", fixture.paths[0]);
    snprintf(names[1], sizeof names[1], "%s/topic-2", fixture.paths[1]);
    snprintf(names[2], sizeof names[2], "%s/between", fixture.paths[0]);
    assert_int_equal(rename(names[0], names[2]), 0);
    assert_int_equal(rename(names[1], names[0]), 0);
    assert_int_equal(rename(names[2], names[1]), 0);

    trace_set_sink(count_losses, &losses);
    set_fixture_start(&fixture);
    add(&fixture, 0);
    add_of(&fixture, &other_id, 2); /* Nothing was in it. */
    set_fixture_close(&fixture);
    trace_set_sink(NULL, NULL);
    assert_int_equal(losses, 1);
}

TEST(a_folder_that_is_a_link_to_one_is_the_partitions)
{
    struct set_fixture fixture;
    char name[600], elsewhere[600], file[700];
    struct stat status;
    int losses = 0;
    set_fixture_open(&fixture, "linked");
    write_to_all(&fixture, 1);
    set_fixture_close(&fixture);
    assert_true(folder_exists(&fixture, 0, 0));
    snprintf(name, sizeof name, "%s/topic-0", fixture.paths[0]);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", fixture.paths[0]);
    assert_int_equal(rename(name, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, name), 0);

    trace_set_sink(count_losses, &losses);
    set_fixture_start(&fixture);
    assert_false(data_dir_syncs_all_logs(fixture.dirs[0]));
    assert_true(data_dir_syncs_all_logs(fixture.dirs[1]));
    add(&fixture, 0);
    partition_set_sweep(fixture.set);
    while (partition_set_opening(fixture.set) > 0)
        pass_barrier(&fixture);
    assert_int_equal(losses, 0);
    write_to(&fixture, 0);
    struct partition *partition = partition_set_find(fixture.set, &topic_id, 0);
    assert_int_equal(partition_log_end_offset(partition->log), 2);
    partition_unref(partition);
    partition_set_remove(fixture.set, &topic_id, 0); /* The records go, too. */
    set_fixture_close(&fixture);
    set_fixture_start(&fixture);
    partition_set_sweep(fixture.set);
    set_fixture_close(&fixture);
    trace_set_sink(NULL, NULL);
    snprintf(file, sizeof file, "%s/00000000000000000000.log", elsewhere);
    assert_int_equal(lstat(name, &status), -1);
    assert_int_equal(access(file, F_OK), -1);
}

TEST(what_checkpoints_say_of_deleted_partitions_is_forgotten_once_all_are_known)
{
    struct set_fixture fixture;
    int64_t offset;
    set_fixture_open(&fixture, "stale");
    write_to_all(&fixture, 2);
    set_fixture_close(&fixture);

    set_fixture_start(&fixture);
    add(&fixture, 0);
    for (int i = 0; i < 2; i++) {
        data_dir_set_checkpoint(fixture.dirs[i], CHECKPOINT_RECOVERY_POINT, "deleted", 0, 5);
        data_dir_set_checkpoint(fixture.dirs[i], CHECKPOINT_RECOVERY_POINT, "topic", 0, 1);
        data_dir_set_checkpoint(fixture.dirs[i], CHECKPOINT_RECOVERY_POINT, "__sluice_metadata", 0,
                                9);
    }
    partition_set_sweep(fixture.set);
    set_fixture_close(&fixture);
    for (int i = 0; i < 2; i++) {
        char why[256];
        struct data_dir *dir;
        assert_int_equal(data_dir_open(&dir, fs_posix(), fixture.paths[i], why, sizeof why), 0);
        assert_false(data_dir_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "deleted", 0, &offset));
        assert_true(
            data_dir_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "__sluice_metadata", 0, &offset));
        /* Where it is; and that of a folder that is there, though no topic claims it. */
        assert_int_equal(data_dir_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "topic", 0, &offset),
                         i == 0);
        assert_int_equal(data_dir_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "topic", 1, &offset),
                         i == 1);
        data_dir_close(dir);
    }
}

TEST(a_partition_that_is_in_two_folders_is_refused)
{
    struct set_fixture fixture;
    char path[600];
    set_fixture_open(&fixture, "twice");
    add(&fixture, 0);
    set_fixture_close(&fixture);
    snprintf(path, sizeof path, "%s/topic-0", fixture.paths[1]);
    assert_int_equal(mkdir(path, 0755), 0);

    char why[256];
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            data_dir_open(&fixture.dirs[i], fs_posix(), fixture.paths[i], why, sizeof why), 0);
    struct partition_set *set = NULL;
    struct partition_set_options options = { .dirs = fixture.dirs, .dir_count = 2 };
    assert_int_equal(partition_set_open(&set, &options), ERR_EXISTS);
    assert_null(set);
    for (int i = 0; i < 2; i++)
        data_dir_close(fixture.dirs[i]);
}
