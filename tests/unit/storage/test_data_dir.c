// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "data_dir.h"
#include "error.h"
#include "fs_fault.h"
#include "fs_sim.h"
#include "runner.h"
#include "trace.h"

static struct fs_fault disk;
static char path[PATH_MAX];
static char why[256];
static struct data_dir *dir;

static void start(void)
{
    fs_fault_init(&disk);
    assert_int_equal(fs_path(path, "%s/data", test_folder()), 0);
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), 0);
}

static void reopen(void)
{
    data_dir_close(dir);
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), 0);
}

static void save(const char *name, const char *text)
{
    char file[PATH_MAX];

    assert_int_equal(fs_path(file, "%s/%s", path, name), 0);
    assert_int_equal(fs_write_file(fs_posix(), file, text, strlen(text), false), 0);
}

static void assert_file_is(const char *name, const char *expected)
{
    char file[PATH_MAX];
    char *text;
    size_t length;

    assert_int_equal(fs_path(file, "%s/%s", path, name), 0);
    assert_int_equal(fs_read_file(fs_posix(), file, 4096, &text, &length), 0);
    assert_string_equal(text, expected);
    mem_free(text);
}

TEST(a_new_folder_is_made_and_gets_an_identity)
{
    start();
    const struct data_dir_identity *identity = data_dir_identity(dir);
    struct uuid id = identity->directory_id;
    assert_true(identity->is_new);
    assert_int_equal(identity->node_id, -1);
    assert_string_equal(identity->cluster_id, "");
    assert_false(uuid_is_zero(&id));
    assert_int_equal(data_dir_set_identity(dir, "5L6g3nShT-eMCtK--X86sw", 7), 0);
    reopen();
    identity = data_dir_identity(dir);
    assert_false(identity->is_new);
    assert_int_equal(identity->node_id, 7);
    assert_string_equal(identity->cluster_id, "5L6g3nShT-eMCtK--X86sw");
    assert_true(uuid_equal(&identity->directory_id, &id));
    data_dir_close(dir);
}

TEST(a_folder_lasts_that_a_life_made_which_ended_before_it_said_so_to_the_disk)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct fs_sim_options options = { .seed = seed, .names = FS_SIM_NAMES_EACH };
        struct fs_sim *sim = fs_sim_open(&options);
        struct fs *fs = fs_sim_fs(sim);
        assert_int_equal(fs->make_folder(fs, "/data"), 0);
        assert_int_equal(fs->make_folder(fs, "/data/logs"), 0);
        fs_sim_kill(sim);
        fs_sim_restart(sim);
        assert_int_equal(data_dir_open(&dir, fs, "/data/logs", why, sizeof why), 0);
        assert_int_equal(data_dir_set_identity(dir, "cluster", 1), 0);
        fs_sim_cut_power(sim);
        data_dir_close(dir);
        fs_sim_restart(sim);
        assert_int_equal(data_dir_open(&dir, fs, "/data/logs", why, sizeof why), 0);
        assert_false(data_dir_identity(dir)->is_new);
        data_dir_close(dir);
        fs_sim_close(sim);
    }
}

TEST(folders_above_it_are_made_too)
{
    fs_fault_init(&disk);
    assert_int_equal(fs_path(path, "%s/a/b/c", test_folder()), 0);
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), 0);
    data_dir_close(dir);
}

TEST(kafkas_identity_is_understood)
{
    start();
    data_dir_close(dir);
    save("meta.properties", "#\n#Tue Nov 14\nnode.id=1\r\ndirectory.id=PDw0ooCZRzCqBqkXk7W8CA\n"
                            "version=1\ncluster.id=5L6g3nShT-eMCtK--X86sw");
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), 0);
    assert_int_equal(data_dir_identity(dir)->node_id, 1);
    assert_string_equal(data_dir_identity(dir)->cluster_id, "5L6g3nShT-eMCtK--X86sw");
    data_dir_close(dir);
}

TEST(an_identity_that_makes_no_sense_is_refused_with_a_sentence)
{
    static const char *const bad[] = { "", "version=7\n", "version=1\nnode.id=x\n",
                                       "version=1\ndirectory.id=short\n" };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        start();
        data_dir_close(dir);
        save("meta.properties", bad[i]);
        assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), ERR_MALFORMED);
        assert_non_null(strstr(why, "meta.properties"));
    }
}

TEST(two_processes_do_not_share_a_folder)
{
    struct data_dir *second;

    start();
    assert_int_equal(data_dir_open(&second, &disk.fs, path, why, sizeof why), ERR_BUSY);
    assert_non_null(strstr(why, "another process"));
    data_dir_close(dir);
    assert_int_equal(atomic_load(&disk.open_files), 0);
}

TEST(the_clean_marker_is_kafkas_and_counts_once)
{
    start();
    assert_false(data_dir_was_clean(dir));
    assert_int_equal(data_dir_mark_clean(dir, 42), 0);
    assert_file_is(".kafka_cleanshutdown",
                   "{\"version\":0,\"brokerEpoch\":42,\"recoveryPointsCrc\":\"00000000\"}");
    reopen();
    assert_true(data_dir_was_clean(dir));
    reopen(); /* Nothing was begun. */
    assert_true(data_dir_was_clean(dir));
    assert_int_equal(data_dir_begin(dir), 0);
    assert_int_equal(data_dir_begin(dir), 0); /* There is none: as well. */
    reopen();
    assert_false(data_dir_was_clean(dir));
    data_dir_close(dir);
}

TEST(a_clean_marker_goes_with_the_recovery_points_that_were_left_with_it)
{
    static const char now[] = "0\n1\norders 0 45\n", older[] = "0\n1\norders 0 4\n";

    start();
    data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", 0, 45);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_int_equal(data_dir_mark_clean(dir, 42), 0);
    reopen();
    assert_true(data_dir_was_clean(dir));
    save("recovery-point-offset-checkpoint", older);
    reopen();
    assert_false(data_dir_was_clean(dir));
    save("recovery-point-offset-checkpoint", now);
    reopen();
    assert_true(data_dir_was_clean(dir));
    save(".kafka_cleanshutdown", "{\"version\":0,\"brokerEpoch\":42,\"recoveryPointsCrc\":\"");
    reopen();
    assert_false(data_dir_was_clean(dir));
    save("recovery-point-offset-checkpoint", older); /* Kafka's mark is for any. */
    save(".kafka_cleanshutdown", "{\"version\":0,\"brokerEpoch\":42}");
    reopen();
    assert_true(data_dir_was_clean(dir));
    data_dir_close(dir);
}

/* As one that only looks is told. */
static enum data_dir_mark mark_now(void)
{
    enum data_dir_mark mark;
    assert_int_equal(data_dir_look_at_mark(&disk.fs, path, &mark), 0);
    return mark;
}

TEST(a_clean_marker_can_be_looked_at_from_outside)
{
    start();
    assert_int_equal(mark_now(), DATA_DIR_NO_MARK);
    assert_int_equal(data_dir_mark_clean(dir, 42), 0);
    assert_int_equal(mark_now(), DATA_DIR_MARK_HOLDS);
    save("recovery-point-offset-checkpoint", "0\n1\norders 0 4\n");
    assert_int_equal(mark_now(), DATA_DIR_MARK_OF_OTHER_POINTS);
    reopen();
    assert_int_equal(data_dir_begin(dir), 0);
    assert_int_equal(mark_now(), DATA_DIR_NO_MARK);
    data_dir_close(dir);
}

static void make_folder_in_place_of(const char *name)
{
    char folder[PATH_MAX];

    assert_int_equal(fs_path(folder, "%s/%s", path, name), 0);
    assert_int_equal(mkdir(folder, 0755), 0);
}

static bool is_set_aside(const char *name)
{
    char folder[PATH_MAX];

    struct str topic;
    int32_t partition;

    assert_int_equal(fs_path(folder, "%s/%s.set-aside.1", path, name), 0);
    assert_false(data_dir_parse_folder(str_from(strrchr(folder, '/') + 1), &topic, &partition));
    return access(folder, F_OK) == 0;
}

TEST(a_folder_in_the_place_of_what_can_be_done_without_is_set_aside)
{
    static const char *const names[] = { ".kafka_cleanshutdown", "recovery-point-offset-checkpoint",
                                         "replication-offset-checkpoint",
                                         "cleaner-offset-checkpoint" };

    start();
    data_dir_close(dir);
    for (size_t i = 0; i < 4; i++)
        make_folder_in_place_of(names[i]);
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), 0);
    assert_false(data_dir_was_clean(dir));
    assert_false(is_set_aside(names[0])); /* Nothing was begun. */
    assert_int_equal(data_dir_begin(dir), 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(is_set_aside(names[i]));
    data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", 0, 45);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_int_equal(data_dir_mark_clean(dir, 1), 0);
    reopen();
    assert_true(data_dir_was_clean(dir));
    data_dir_close(dir);

    make_folder_in_place_of("log-start-offset-checkpoint");
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), ERR_MALFORMED);
    assert_non_null(strstr(why, "log-start-offset-checkpoint is no file; restore it"));
}

static bool is_of_orders(void *context, const char *topic, int32_t partition)
{
    (void)context;
    return strcmp(topic, "orders") == 0 && partition != 2;
}

TEST(what_is_remembered_of_partitions_that_are_no_more_is_forgotten)
{
    start();
    for (int32_t i = 0; i < 3; i++) {
        data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", i, 45);
        data_dir_set_checkpoint(dir, CHECKPOINT_HIGH_WATERMARK, "deleted", i, 45);
    }
    data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", 0, -1);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_int_equal(data_dir_forget_others(dir, is_of_orders, NULL), 4);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_file_is("recovery-point-offset-checkpoint", "0\n1\norders 1 45\n");
    assert_file_is("replication-offset-checkpoint", "0\n0\n");
    data_dir_close(dir);
}

TEST(a_clean_marker_that_a_kill_took_away_does_not_come_back)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct fs_sim_options options = { .seed = seed, .names = FS_SIM_NAMES_EACH };
        struct fs_sim *sim = fs_sim_open(&options);
        struct fs *fs = fs_sim_fs(sim);
        assert_int_equal(data_dir_open(&dir, fs, "/data", why, sizeof why), 0);
        assert_int_equal(data_dir_set_identity(dir, "cluster", 1), 0);
        assert_int_equal(data_dir_mark_clean(dir, 1), 0);
        data_dir_close(dir);
        assert_int_equal(fs->remove(fs, "/data/.kafka_cleanshutdown"), 0);
        fs_sim_kill(sim); /* In the middle of data_dir_begin(). */
        fs_sim_restart(sim);
        assert_int_equal(data_dir_open(&dir, fs, "/data", why, sizeof why), 0);
        assert_int_equal(data_dir_begin(dir), 0);
        fs_sim_cut_power(sim);
        data_dir_close(dir);
        fs_sim_restart(sim);
        assert_int_equal(data_dir_open(&dir, fs, "/data", why, sizeof why), 0);
        assert_false(data_dir_was_clean(dir));
        data_dir_close(dir);
        fs_sim_close(sim);
    }
}

/* It is not known what a failure left out that an earlier life, or nobody, was told of. */
TEST(a_failure_before_the_start_is_remembered)
{
    start();
    assert_int_equal(data_dir_set_identity(dir, "cluster", 1), 0);
    reopen();
    assert_false(data_dir_has_failed(dir));
    fs_fault_fail_at(&disk, 2, ERR_IO); /* The first is the removal of a clean marker. */
    assert_int_equal(data_dir_begin(dir), 0);
    assert_true(data_dir_has_failed(dir));
    reopen();
    assert_true(data_dir_has_failed(dir));
    assert_int_equal(data_dir_begin(dir), 0);
    assert_int_equal(data_dir_mark_clean(dir, 1), 0);
    reopen();
    assert_false(data_dir_has_failed(dir));
    data_dir_close(dir);
}

TEST(checkpoints_are_written_and_read_back)
{
    int64_t offset;

    start();
    assert_false(data_dir_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", 0, &offset));
    assert_int_equal(data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", 0, 45), 0);
    assert_int_equal(data_dir_set_checkpoint(dir, CHECKPOINT_LOG_START, "orders", 0, 4), 0);
    assert_int_equal(data_dir_set_checkpoint(dir, CHECKPOINT_HIGH_WATERMARK, "or.ders", 12, 7), 0);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_file_is("recovery-point-offset-checkpoint", "0\n1\norders 0 45\n");
    assert_file_is("log-start-offset-checkpoint", "0\n1\norders 0 4\n");
    assert_file_is("replication-offset-checkpoint", "0\n1\nor.ders 12 7\n");
    reopen();
    assert_true(data_dir_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", 0, &offset));
    assert_int_equal(offset, 45);
    assert_false(data_dir_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "or.ders", 12, &offset));
    assert_int_equal(data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", 0, -1), 0);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_file_is("recovery-point-offset-checkpoint", "0\n0\n");
    data_dir_close(dir);
}

TEST(which_recovery_points_a_crash_may_find_is_known)
{
    start();
    data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "a", 0, 10);
    assert_false(data_dir_may_name(dir, "a", 0, 10));
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "a", 0, 20);
    assert_true(data_dir_may_name(dir, "a", 0, 10));
    assert_false(data_dir_may_name(dir, "a", 0, 20));
    assert_false(data_dir_may_name(dir, "a", 1, 10));
    fs_fault_fail_at(&disk, 1, ERR_NO_SPACE);
    assert_int_equal(data_dir_write_checkpoints(dir), ERR_NO_SPACE);
    fs_fault_fail_at(&disk, 0, 0);
    assert_true(data_dir_may_name(dir, "a", 0, 10)); /* Either of them. */
    assert_true(data_dir_may_name(dir, "a", 0, 20));
    reopen();
    assert_true(data_dir_may_name(dir, "a", 0, 10));
    assert_false(data_dir_may_name(dir, "a", 0, 20));
    data_dir_close(dir);
}

TEST(only_what_changed_is_written)
{
    start();
    data_dir_set_checkpoint(dir, CHECKPOINT_LOG_START, "orders", 0, 4);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    long writes = atomic_load(&disk.writes);
    data_dir_set_checkpoint(dir, CHECKPOINT_LOG_START, "orders", 0, 4);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_int_equal(atomic_load(&disk.writes), writes);
    data_dir_close(dir);
}

TEST(a_checkpoint_that_could_not_be_written_is_written_next_time)
{
    for (long nth = 1;; nth++) {
        start();
        data_dir_set_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, "orders", 0, 4);
        fs_fault_fail_at(&disk, nth, ERR_NO_SPACE);
        int err = data_dir_write_checkpoints(dir);
        fs_fault_fail_at(&disk, 0, 0);
        assert_int_equal(data_dir_write_checkpoints(dir), 0);
        assert_file_is("recovery-point-offset-checkpoint", "0\n1\norders 0 4\n");
        data_dir_close(dir);
        if (err == 0) break;
    }
}

TEST(a_damaged_start_offset_file_stops_us)
{
    start();
    data_dir_close(dir);
    save("log-start-offset-checkpoint", "0\n2\norders 0 4\n");
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), ERR_MALFORMED);
    assert_non_null(strstr(why, "log-start-offset-checkpoint is damaged in line 4"));
    /* Offsets behind it would end where numbers do. */
    save("log-start-offset-checkpoint", "0\n1\norders 0 9223372036854775807\n");
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), ERR_MALFORMED);
    assert_non_null(strstr(why, "log-start-offset-checkpoint is damaged in line 3"));
}

static char told[1024];

static void take_told(void *context, const char *line)
{
    (void)context;
    snprintf(told, sizeof told, "%s", line);
}

TEST(damaged_high_watermarks_are_done_without)
{
    int64_t offset;

    start();
    data_dir_close(dir);
    save("replication-offset-checkpoint", "0\n2\norders 0 4\norders 1 x\n");
    trace_set_sink(take_told, NULL);
    assert_int_equal(data_dir_open(&dir, &disk.fs, path, why, sizeof why), 0);
    trace_set_sink(NULL, NULL);
    assert_non_null(strstr(told, "replication-offset-checkpoint is damaged in line 4"));
    assert_false(data_dir_checkpoint(dir, CHECKPOINT_HIGH_WATERMARK, "orders", 0, &offset));
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_file_is("replication-offset-checkpoint", "0\n0\n");
    data_dir_close(dir);
}

static char listed[512];

static int list(void *context, const char *folder, struct str topic, int32_t partition,
                bool is_deleted)
{
    size_t length = strlen(listed);

    (void)context;
    (void)folder;
    snprintf(listed + length, sizeof listed - length, "%.*s/%d%s;", (int)topic.length, topic.data,
             (int)partition, is_deleted ? "-" : "");
    return 0;
}

TEST(partition_folders_are_told_from_others)
{
    static const char *const folders[] = {
        "a-b-0",     "x.y-12",     "no",        "-1",
        "bad-01",    "bad-x",      "bad-",      "bad-99999999999",
        "o-0-stray", "o-0-future", "snapshots", "t.u-3.0123456789abcdef0123456789abcdef-delete"
    };

    start();
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char folder[PATH_MAX];
        assert_int_equal(fs_path(folder, "%s/%s", path, folders[i]), 0);
        assert_int_equal(mkdir(folder, 0755), 0);
    }
    save("file-0", "");
    listed[0] = '\0';
    assert_int_equal(data_dir_list(dir, list, NULL), 0);
    assert_non_null(strstr(listed, "a-b/0;"));
    assert_non_null(strstr(listed, "x.y/12;"));
    assert_non_null(strstr(listed, "t.u/3-;"));
    assert_int_equal(strlen(listed), strlen("a-b/0;x.y/12;t.u/3-;"));
    bool has_more;
    assert_int_equal(data_dir_sweep_deleted(dir, 10, &has_more), 0);
    assert_false(has_more);
    listed[0] = '\0';
    assert_int_equal(data_dir_list(dir, list, NULL), 0);
    assert_int_equal(strlen(listed), strlen("a-b/0;x.y/12;"));
    data_dir_close(dir);
}

static void count_deleted(unsigned *count)
{
    listed[0] = '\0';
    assert_int_equal(data_dir_list(dir, list, NULL), 0);
    *count = 0;
    for (const char *at = listed; (at = strstr(at, "-;")) != NULL; at++)
        ++*count;
}

TEST(many_folders_are_given_up_with_one_sync_and_removed_some_at_a_time)
{
    unsigned left;
    bool has_more;

    start();
    for (int i = 0; i < 20; i++) {
        char folder[PATH_MAX];
        assert_int_equal(fs_path(folder, "%s/a-%d", path, i), 0);
        assert_int_equal(mkdir(folder, 0755), 0);
    }
    long syncs = atomic_load(&disk.syncs);
    for (int32_t i = 0; i < 20; i++)
        assert_int_equal(data_dir_give_up(dir, "a", i), 0);
    assert_int_equal(atomic_load(&disk.syncs), syncs);

    assert_int_equal(data_dir_sweep_deleted(dir, 8, &has_more), 0);
    assert_int_equal(atomic_load(&disk.syncs), syncs + 1);
    assert_true(has_more);
    count_deleted(&left);
    assert_int_equal(left, 12);
    assert_int_equal(data_dir_sweep_deleted(dir, 12, &has_more), 0);
    assert_int_equal(atomic_load(&disk.syncs), syncs + 1);
    assert_false(has_more);
    count_deleted(&left);
    assert_int_equal(left, 0);
    data_dir_close(dir);
}

TEST(nothing_of_what_was_given_up_is_removed_before_that_is_on_disk)
{
    char folder[PATH_MAX];
    unsigned left;
    bool has_more;

    start();
    assert_int_equal(fs_path(folder, "%s/a-0", path), 0);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(data_dir_give_up(dir, "a", 0), 0);
    fs_fault_fail_at(&disk, 1, ERR_IO);
    assert_int_equal(data_dir_sweep_deleted(dir, 8, &has_more), ERR_IO);
    count_deleted(&left);
    assert_int_equal(left, 1);
    fs_fault_fail_at(&disk, 0, 0);
    assert_int_equal(data_dir_sweep_deleted(dir, 8, &has_more), 0);
    count_deleted(&left);
    assert_int_equal(left, 0);
    data_dir_close(dir);
}

TEST(the_space_that_is_reserved_ahead_is_bounded)
{
    int64_t free_bytes, total_bytes;

    start();
    assert_int_equal(disk.fs.free_bytes(&disk.fs, path, &free_bytes, &total_bytes), 0);
    assert_true(data_dir_take_reserve(dir, total_bytes / 100));
    assert_false(data_dir_take_reserve(dir, 1));
    data_dir_give_reserve(dir, 1);
    assert_true(data_dir_take_reserve(dir, 1));
    data_dir_close(dir);
}

TEST(opening_fails_cleanly_whatever_fails)
{
    for (long nth = 1;; nth++) {
        fs_fault_init(&disk);
        assert_int_equal(fs_path(path, "%s/data", test_folder()), 0);
        fs_fault_fail_at(&disk, nth, ERR_IO);
        int err = data_dir_open(&dir, &disk.fs, path, why, sizeof why);
        if (err == 0) break;
        assert_int_equal(err, ERR_IO);
        assert_true(strlen(why) > 0);
        assert_int_equal(atomic_load(&disk.open_files), 0);
    }
    data_dir_close(dir);
    for (long nth = 1;; nth++) {
        fs_fault_init(&disk);
        mem_fail_at(nth);
        int err = data_dir_open(&dir, &disk.fs, path, why, sizeof why);
        mem_fail_at(0);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
        assert_int_equal(atomic_load(&disk.open_files), 0);
    }
    data_dir_close(dir);
}
