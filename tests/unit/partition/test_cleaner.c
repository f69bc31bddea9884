// SPDX-License-Identifier: Apache-2.0
#include "cleaner.h"

#include <sched.h>
#include <stdio.h>

#include "alloc.h"
#include "partition_fixture.h"

#define NOW_MS INT64_C(1700000000000)

static const struct uuid topic_id = { { 4, 2 } };
static const struct partition_role leader = { true, 1, 0, 1, 1 };

/* Partitions of one compacted topic, in which every batch is a segment of its own. */
struct cleaning {
    struct clock_manual clock;
    struct disk_pool *pool;
    struct loop *loop;
    struct data_dir *dir;
    struct partition_set *set;
    struct topic_settings settings;
    char path[512];
    int64_t timestamp;
};

static void start_with(struct cleaning *cleaning, unsigned threads)
{
    char why[256];
    memset(cleaning, 0, sizeof *cleaning);
    snprintf(cleaning->path, sizeof cleaning->path, "%s", test_folder());
    clock_manual_init(&cleaning->clock, NOW_MS);
    cleaning->timestamp = NOW_MS;
    topic_settings_defaults(&cleaning->settings);
    cleaning->settings.cleanup_policy = CLEANUP_COMPACT;
    cleaning->settings.segment_ms = 0;
    assert_int_equal(disk_pool_open(&cleaning->pool, 2), 0);
    assert_int_equal(loop_open(&cleaning->loop, "test", &cleaning->clock.clock), 0);
    assert_int_equal(data_dir_open(&cleaning->dir, fs_posix(), cleaning->path, why, sizeof why), 0);
    struct partition_set_options options = {
        .dirs = &cleaning->dir,
        .dir_count = 1,
        .disk = disk_pool_executor(cleaning->pool),
        .clock = &cleaning->clock.clock,
        .loop = cleaning->loop,
        .flush_interval_ms = 1000,
        .checkpoint_interval_ms = 60000,
        .high_watermark_interval_ms = 5000,
        .retention_interval_ms = 300000,
        .cleaner = { .threads = threads,
                     .map_bytes = 1 << 20,
                     .buffer_bytes = 1 << 16,
                     .map_load = 0.9,
                     .bytes_per_second = 1e300,
                     .backoff_ms = 1 },
    };
    assert_int_equal(partition_set_open(&cleaning->set, &options), 0);
}

static void start(struct cleaning *cleaning)
{
    start_with(cleaning, 0);
}

static void stop(struct cleaning *cleaning)
{
    partition_set_close(cleaning->set, 1, true);
    disk_pool_close(cleaning->pool);
    data_dir_close(cleaning->dir);
    loop_close(cleaning->loop);
}

/* With a reference, open. */
static struct partition *add(struct cleaning *cleaning, int32_t index)
{
    assert_int_equal(
        partition_set_add(cleaning->set, "topic", index, &topic_id, &cleaning->settings, &leader),
        0);
    struct partition *partition = partition_set_find(cleaning->set, &topic_id, index);
    while (partition_set_opening(cleaning->set) > 0)
        sched_yield();
    return partition;
}

static void note_answer(struct append *append)
{
    (void)append; /* It is not pending any more: that is all. */
}

/* One record, as a client sends it on this thread's loop, and waits for the answer. */
static int put(struct cleaning *cleaning, struct partition *partition, const char *key,
               const char *value)
{
    struct batch_builder builder;
    struct buffer data;
    struct append append;
    batch_builder_init(&builder);
    buffer_init(&data);
    batch_builder_append(&builder, cleaning->timestamp++,
                         (struct bytes){ (const uint8_t *)key, (int32_t)strlen(key) },
                         (struct bytes){ (const uint8_t *)value, (int32_t)strlen(value) }, NULL, 0);
    assert_int_equal(batch_builder_finish(&builder, &data), 0);
    batch_builder_close(&builder);
    append_init(&append, partition_ref(partition), data.data, data.length, 9, cleaning->loop,
                note_answer);
    assert_true(partition_check(&append));
    assert_int_equal(append.log.err, 0);
    partition_append(partition, &append);
    while (append.is_pending) {
        loop_turn(cleaning->loop);
        sched_yield();
    }
    int err = append.log.err;
    append_close(&append);
    partition_unref(partition);
    buffer_close(&data);
    return err;
}

static int64_t size_of(struct partition *partition)
{
    pthread_mutex_lock(&partition->lock);
    int64_t size = partition_log_size_bytes(partition->log);
    pthread_mutex_unlock(&partition->lock);
    return size;
}

/* `count` records of `keys` keys. */
static void fill(struct cleaning *cleaning, struct partition *partition, int count, int keys)
{
    char key[16];
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "key-%d", i % keys);
        assert_int_equal(put(cleaning, partition, key, "value"), 0);
    }
}

TEST(the_dirtiest_log_is_cleaned_first)
{
    struct cleaning cleaning;
    start(&cleaning);
    struct partition *a = add(&cleaning, 0), *b = add(&cleaning, 1);
    fill(&cleaning, a, 10, 2);
    fill(&cleaning, b, 10, 2);
    assert_true(partition_set_clean_one(cleaning.set));
    assert_true(partition_set_clean_one(cleaning.set));
    assert_false(partition_set_clean_one(cleaning.set));
    /* Two clean ones (and an empty batch); of one two more, of the other six. */
    fill(&cleaning, a, 4, 2);
    fill(&cleaning, b, 8, 2);
    int64_t a_size = size_of(a), b_size = size_of(b);
    assert_true(partition_set_clean_one(cleaning.set));
    assert_int_equal(size_of(a), a_size);
    assert_true(size_of(b) < b_size);
    assert_true(partition_set_clean_one(cleaning.set));
    assert_true(size_of(a) < a_size);
    assert_false(partition_set_clean_one(cleaning.set));
    partition_unref(a);
    partition_unref(b);
    stop(&cleaning);
}

TEST(a_log_that_is_not_dirty_enough_is_left_alone_unless_it_is_overdue)
{
    struct cleaning cleaning;
    start(&cleaning);
    struct partition *partition = add(&cleaning, 0);
    fill(&cleaning, partition, 20, 10);
    assert_true(partition_set_clean_one(cleaning.set));
    fill(&cleaning, partition, 3, 3);
    assert_false(partition_set_clean_one(cleaning.set));
    cleaning.settings.max_compaction_lag_ms = 1000;
    partition_set_role(partition, &leader, &cleaning.settings);
    assert_false(partition_set_clean_one(cleaning.set));
    clock_manual_advance_ms(&cleaning.clock, 2000);
    assert_true(partition_set_clean_one(cleaning.set));
    assert_false(partition_set_clean_one(cleaning.set));
    partition_unref(partition);
    stop(&cleaning);
}

TEST(a_log_is_cleaned_from_when_its_topic_is_compacted)
{
    struct cleaning cleaning;
    start(&cleaning);
    cleaning.settings.cleanup_policy = CLEANUP_DELETE;
    struct partition *partition = add(&cleaning, 0);
    fill(&cleaning, partition, 10, 2);
    assert_false(partition_set_clean_one(cleaning.set));
    cleaning.settings.cleanup_policy = CLEANUP_DELETE | CLEANUP_COMPACT;
    partition_set_role(partition, &leader, &cleaning.settings);
    assert_true(partition_set_clean_one(cleaning.set));
    partition_unref(partition);
    stop(&cleaning);
}

TEST(what_is_not_below_the_high_watermark_is_not_cleaned)
{
    struct cleaning cleaning;
    static const struct partition_role two = { true, 1, 0, 2, 2 };
    start(&cleaning);
    struct partition *partition = add(&cleaning, 0);
    partition_set_role(partition, &two, &cleaning.settings);
    fill(&cleaning, partition, 10, 2);
    assert_false(partition_set_clean_one(cleaning.set));
    partition_set_role(partition, &leader, &cleaning.settings);
    assert_true(partition_set_clean_one(cleaning.set));
    partition_unref(partition);
    stop(&cleaning);
}

TEST(a_log_that_cannot_be_cleaned_is_not_tried_again)
{
    struct cleaning cleaning;
    char path[600];
    int fd;
    uint8_t byte = 0x55;
    struct iovec part = { &byte, 1 };
    start(&cleaning);
    struct partition *bad = add(&cleaning, 0), *good = add(&cleaning, 1);
    fill(&cleaning, bad, 10, 2);
    snprintf(path, sizeof path, "%s/topic-0/00000000000000000003.log", cleaning.path);
    assert_int_equal(fs_posix()->open(fs_posix(), path, FS_WRITE, &fd), 0);
    assert_int_equal(fs_posix()->write(fs_posix(), fd, &part, 1, 65), 0);
    fs_posix()->close(fs_posix(), fd);
    assert_false(partition_set_clean_one(cleaning.set));
    fill(&cleaning, good, 10, 2);
    assert_true(partition_set_clean_one(cleaning.set));
    assert_false(partition_set_clean_one(cleaning.set));
    assert_int_equal(put(&cleaning, bad, "key", "value"), 0);
    partition_unref(bad);
    partition_unref(good);
    stop(&cleaning);
}

TEST(a_deleted_topic_is_not_cleaned)
{
    struct cleaning cleaning;
    start(&cleaning);
    struct partition *partition = add(&cleaning, 0);
    fill(&cleaning, partition, 10, 2);
    partition_set_remove(cleaning.set, &topic_id, 0);
    assert_false(partition_set_clean_one(cleaning.set));
    partition_unref(partition);
    stop(&cleaning);
}

TEST(threads_clean_while_clients_write_and_a_topic_is_deleted)
{
    struct cleaning cleaning;
    start_with(&cleaning, 2);
    struct partition *partitions[3];
    for (int32_t i = 0; i < 3; i++)
        partitions[i] = add(&cleaning, i);
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < 3; k++)
            fill(&cleaning, partitions[k], 3, 3);
    fill(&cleaning, partitions[2], 40, 2);
    partition_set_remove(cleaning.set, &topic_id, 2);
    /* 160 segments; what a pass over them leaves is far less. */
    for (int i = 0; i < 2; i++)
        while (size_of(partitions[i]) > 100 * 73)
            sched_yield();
    for (int i = 0; i < 3; i++)
        partition_unref(partitions[i]);
    stop(&cleaning);
}

TEST(an_end_does_not_wait_for_a_pass)
{
    struct cleaning cleaning;
    start_with(&cleaning, 1);
    struct partition *partition = add(&cleaning, 0);
    fill(&cleaning, partition, 200, 100);
    partition_unref(partition);
    stop(&cleaning);
}

TEST(the_rate_is_kept_over_all_that_was_read_and_written)
{
    struct cleaner_rate rate = { .bytes_per_second = 1000000 };
    /* Little in a short time: not worth a wait. */
    assert_int_equal(cleaner_rate_spend(&rate, 100000, 0), 0);
    /* 400,000 bytes take 0.4 s, of which 0.3 have passed. */
    assert_int_equal(cleaner_rate_spend(&rate, 300000, 300000), 100000);
    /* From the end of the wait on: slower than allowed is fine. */
    assert_int_equal(cleaner_rate_spend(&rate, 100000, 900000), 0);
    /* Much at once waits at once, */
    assert_int_equal(cleaner_rate_spend(&rate, 5000000, 900000), 5000000);
    /* but not for ever. */
    rate.bytes_per_second = 1;
    assert_int_equal(cleaner_rate_spend(&rate, 5000000, 5900000), 60000000);
}

TEST(without_a_limit_nothing_waits)
{
    struct cleaner_rate rate = { .bytes_per_second = 1.7976931348623157E308 };
    assert_int_equal(cleaner_rate_spend(&rate, INT64_MAX / 4, 0), 0);
    assert_int_equal(cleaner_rate_spend(&rate, INT64_MAX / 4, 1000000), 0);
}
