// SPDX-License-Identifier: Apache-2.0
#include "partition_fixture.h"

#include <stdio.h>
#include <unistd.h>

struct set_fixture {
    struct clock_manual clock;
    struct disk_pool *pool;
    struct loop *loop;
    struct data_dir *dirs[2];
    char paths[2][512];
    struct partition_set *set;
};

static const struct uuid topic_id = { { 9, 9 } };
static const struct partition_role leader = { true, 1, 0, 1, 1 };

static void set_fixture_open(struct set_fixture *fixture, const char *name)
{
    memset(fixture, 0, sizeof *fixture);
    clock_manual_init(&fixture->clock, 1700000000000);
    assert_int_equal(disk_pool_open(&fixture->pool, 1), 0);
    assert_int_equal(loop_open(&fixture->loop, "test", &fixture->clock.clock), 0);
    for (int i = 0; i < 2; i++) {
        char why[256];
        snprintf(fixture->paths[i], sizeof fixture->paths[i], "%s/set-%s-%d", test_folder(), name,
                 i);
        assert_int_equal(
            data_dir_open(&fixture->dirs[i], fs_posix(), fixture->paths[i], why, sizeof why), 0);
    }
    struct partition_set_options options = {
        .dirs = fixture->dirs,
        .dir_count = 2,
        .disk = disk_pool_executor(fixture->pool),
        .clock = &fixture->clock.clock,
        .loop = fixture->loop,
        .flush_interval_ms = 1000,
        .checkpoint_interval_ms = 60000,
        .retention_interval_ms = 300000,
    };
    assert_int_equal(partition_set_open(&fixture->set, &options), 0);
    loop_turn(fixture->loop);
}

static void set_fixture_close(struct set_fixture *fixture)
{
    partition_set_close(fixture->set, 5, true);
    disk_pool_close(fixture->pool);
    for (int i = 0; i < 2; i++)
        data_dir_close(fixture->dirs[i]);
    loop_close(fixture->loop);
}

static void add(struct set_fixture *fixture, int32_t index)
{
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    assert_int_equal(partition_set_add(fixture->set, "topic", index, &topic_id, &settings, &leader),
                     0);
}

static bool folder_exists(struct set_fixture *fixture, int dir, int32_t index)
{
    char path[600];
    snprintf(path, sizeof path, "%s/topic-%d", fixture->paths[dir], index);
    return access(path, F_OK) == 0;
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
    partition_set_close(fixture.set, 5, true);

    int in_first = 0, in_second = 0;
    for (int32_t i = 0; i < 4; i++) {
        in_first += folder_exists(&fixture, 0, i);
        in_second += folder_exists(&fixture, 1, i);
    }
    assert_int_equal(in_first, 2);
    assert_int_equal(in_second, 2);
    disk_pool_close(fixture.pool);
    for (int i = 0; i < 2; i++)
        data_dir_close(fixture.dirs[i]);
    loop_close(fixture.loop);
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
