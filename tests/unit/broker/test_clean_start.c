// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clean_start.h"
#include "error.h"
#include "fs.h"

#define CLUSTER "5L6g3nShT-eMCtK--X86sw"
#define OTHER   "AAAAAAAAAAAAAAAAAAAAAA"

static char paths[2][512];
static struct data_dir *dirs[2];

static void open_dir(unsigned i)
{
    char why[256];
    assert_int_equal(data_dir_open(&dirs[i], fs_posix(), paths[i], why, sizeof why), 0);
}

static void close_dirs(void)
{
    for (unsigned i = 0; i < 2; i++) {
        data_dir_close(dirs[i]);
        dirs[i] = NULL;
    }
}

static void make_metadata(unsigned i)
{
    char path[600];
    snprintf(path, sizeof path, "%s/__sluice_metadata-0", paths[i]);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* Two folders of node 1, stopped politely; the metadata is in the first. */
static void given_two_folders(void)
{
    for (unsigned i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/disk", test_folder());
        open_dir(i);
    }
    make_metadata(0);
    assert_int_equal(clean_start_check(dirs, 2, 1), 0);
    assert_int_equal(clean_start_claim(dirs, 2, CLUSTER, 1), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(data_dir_mark_clean(dirs[i], 5), 0);
    close_dirs();
}

static void empty(unsigned i)
{
    assert_int_equal(fs_remove_tree(fs_posix(), paths[i]), 0);
}

static void assert_refused(unsigned count, int32_t node_id)
{
    assert_int_equal(clean_start_check(dirs, count, node_id), ERR_INCONSISTENT_CLUSTER_ID);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(clean_start_page_cache_survived(&dirs[i], 1),
                         !data_dir_identity(dirs[i])->is_new);
    close_dirs();
}

TEST(the_folders_of_a_node_are_its_own_again)
{
    given_two_folders();
    for (unsigned i = 0; i < 2; i++)
        open_dir(i);
    assert_int_equal(clean_start_check(dirs, 2, 1), 0);
    assert_true(clean_start_page_cache_survived(dirs, 2));
    assert_int_equal(clean_start_claim(dirs, 2, CLUSTER, 1), 0);
    close_dirs();
}

TEST(a_disk_that_was_emptied_does_not_come_back_as_a_new_one)
{
    given_two_folders();
    empty(1);
    for (unsigned i = 0; i < 2; i++)
        open_dir(i);
    assert_refused(2, 1);
}

TEST(a_disk_that_is_not_named_any_more_is_missed)
{
    given_two_folders();
    open_dir(0);
    assert_refused(1, 1);
}

TEST(the_folder_with_the_metadata_must_be_the_first)
{
    given_two_folders();
    char first[512];
    memcpy(first, paths[0], sizeof first);
    memcpy(paths[0], paths[1], sizeof first);
    memcpy(paths[1], first, sizeof first);
    for (unsigned i = 0; i < 2; i++)
        open_dir(i);
    assert_refused(2, 1);

    empty(0); /* And a new one in front of it is not. */
    for (unsigned i = 0; i < 2; i++)
        open_dir(i);
    assert_refused(2, 1);
}

TEST(folders_of_another_node_or_cluster_are_left_as_they_are)
{
    given_two_folders();
    for (unsigned i = 0; i < 2; i++)
        open_dir(i);
    assert_refused(2, 2);

    open_dir(1);
    assert_int_equal(data_dir_set_identity(dirs[1], OTHER, 1), 0);
    data_dir_close(dirs[1]);
    for (unsigned i = 0; i < 2; i++)
        open_dir(i);
    assert_refused(2, 1);
}

TEST(a_kafkas_folder_is_refused_until_it_is_adopted)
{
    given_two_folders();
    empty(0);
    open_dir(0);
    assert_int_equal(data_dir_set_identity(dirs[0], OTHER, 1), 0); /* And no metadata of ours. */
    close_dirs();
    open_dir(0);
    assert_int_equal(clean_start_check(dirs, 1, 1), ERR_INCONSISTENT_CLUSTER_ID);
    assert_int_equal(clean_start_adopt(dirs, 1), 0);
    assert_true(data_dir_identity(dirs[0])->is_new);
    assert_int_equal(clean_start_check(dirs, 1, 1), 0);
    make_metadata(0);
    assert_int_equal(clean_start_claim(dirs, 1, CLUSTER, 1), 0);
    close_dirs();
    open_dir(0); /* Ours from now on, also if asked again. */
    assert_int_equal(clean_start_adopt(dirs, 1), 0);
    assert_string_equal(data_dir_identity(dirs[0])->cluster_id, CLUSTER);
    close_dirs();
}

TEST(a_kafkas_disk_beside_ours_can_be_adopted)
{
    given_two_folders();
    open_dir(1);
    assert_int_equal(data_dir_set_sisters(dirs[1], ""), 0);
    assert_int_equal(data_dir_set_identity(dirs[1], OTHER, 7), 0);
    close_dirs();
    for (unsigned i = 0; i < 2; i++)
        open_dir(i);
    assert_int_equal(clean_start_adopt(dirs, 2), 0);
    assert_string_equal(data_dir_identity(dirs[0])->cluster_id, CLUSTER);
    assert_true(data_dir_identity(dirs[1])->is_new);
    close_dirs();
}

static unsigned syncs_of_all;
static int (*real_sync_all)(struct fs *fs, int fd);

static int count_sync_all(struct fs *fs, int fd)
{
    syncs_of_all++;
    return real_sync_all(fs, fd);
}

static unsigned syncs_while_beginning(bool adopt)
{
    open_dir(0);
    open_dir(1);
    syncs_of_all = 0;
    real_sync_all = fs_posix()->sync_all;
    fs_posix()->sync_all = count_sync_all;
    if (adopt) assert_int_equal(clean_start_adopt(dirs, 2), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(data_dir_begin(dirs[i]), 0);
    fs_posix()->sync_all = real_sync_all;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(data_dir_mark_clean(dirs[i], 5), 0);
    close_dirs();
    return syncs_of_all;
}

/* The copy may be a moment old, and its clean marker is no word on where it is. */
TEST(what_is_adopted_is_on_disk_before_the_metadata_knows_of_it)
{
    given_two_folders();
    assert_int_equal(syncs_while_beginning(false), 0);
    assert_int_equal(syncs_while_beginning(true), 2);
    assert_int_equal(syncs_while_beginning(false), 0);
}

TEST(a_disk_can_be_added)
{
    given_two_folders();
    empty(1);
    empty(0);
    open_dir(0);
    make_metadata(0);
    assert_int_equal(clean_start_claim(dirs, 1, CLUSTER, 1), 0);
    open_dir(1);
    assert_int_equal(clean_start_check(dirs, 2, 1), 0);
    assert_int_equal(clean_start_claim(dirs, 2, CLUSTER, 1), 0);
    close_dirs();
    open_dir(0); /* From now on the other is missed. */
    assert_int_equal(clean_start_check(dirs, 1, 1), ERR_INCONSISTENT_CLUSTER_ID);
    close_dirs();
}
