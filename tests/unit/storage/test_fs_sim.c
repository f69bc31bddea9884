// SPDX-License-Identifier: Apache-2.0
/* Both halves: what the simulated disk must keep, and that it loses the rest. A disk that never loses
 * anything would let every test of storage pass. */

#include "fs_sim.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "runner.h"

#define SEEDS 300

static struct fs_sim *sim;
static struct fs *fs;

static void start(struct fs_sim_options options)
{
    fs_sim_close(sim);
    sim = fs_sim_open(&options);
    fs = fs_sim_fs(sim);
    assert_int_equal(fs->make_folder(fs, "/d"), 0);
    assert_int_equal(fs->sync_folder(fs, "/"), 0);
}

static void start_seed(uint64_t seed)
{
    start((struct fs_sim_options){ .seed = seed });
}

static void lose_power(void)
{
    fs_sim_cut_power(sim);
    fs_sim_restart(sim);
}

static int open_file(const char *path, enum fs_open_mode mode)
{
    int fd = -1;

    assert_int_equal(fs->open(fs, path, mode, &fd), 0);
    return fd;
}

static int put(int fd, char byte, size_t length, int64_t offset)
{
    static char bytes[1 << 16];
    struct iovec part = { bytes, length };

    memset(bytes, byte, length);
    return fs->write(fs, fd, &part, 1, offset);
}

static bool is_there(const char *path)
{
    bool exists = false;

    assert_int_equal(fs->exists(fs, path, &exists), 0);
    return exists;
}

/* The whole file; its length. */
static size_t get(const char *path, char *to, size_t room)
{
    size_t got = 0;
    int fd = open_file(path, FS_READ);

    assert_int_equal(fs->read(fs, fd, to, room, 0, &got), 0);
    fs->close(fs, fd);
    return got;
}

static void make_synced(const char *path, char byte, size_t length)
{
    int fd = open_file(path, FS_CREATE);

    assert_int_equal(put(fd, byte, length, 0), 0);
    assert_int_equal(fs->sync(fs, fd), 0);
    fs->close(fs, fd);
    assert_int_equal(fs->sync_folder(fs, "/d"), 0);
}

/* How many bytes of `data` are `byte`. */
static size_t count_byte(const char *data, size_t length, char byte)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += data[i] == byte;
    return count;
}

TEST(the_simulated_disk_reads_what_was_written_while_it_is_on)
{
    char data[20001];
    int64_t size;

    start_seed(1);
    int fd = open_file("/d/f", FS_CREATE_NEW);
    assert_int_equal(put(fd, 'a', 10000, 0), 0);
    assert_int_equal(put(fd, 'b', 5000, 15000), 0);
    assert_int_equal(fs->size(fs, fd, &size), 0);
    assert_int_equal(size, 20000);
    fs->close(fs, fd);
    assert_int_equal(get("/d/f", data, sizeof data), 20000);
    assert_int_equal(count_byte(data, 10000, 'a'), 10000);
    assert_int_equal(count_byte(data + 10000, 5000, '\0'), 5000);
    assert_int_equal(count_byte(data + 15000, 5000, 'b'), 5000);

    fd = open_file("/d/f", FS_WRITE);
    assert_int_equal(fs->truncate(fs, fd, 100), 0);
    assert_int_equal(fs->truncate(fs, fd, 8192), 0);
    fs->close(fs, fd);
    assert_int_equal(get("/d/f", data, sizeof data), 8192);
    assert_int_equal(count_byte(data, 8192, 'a'), 100);
    assert_int_equal(count_byte(data, 8192, '\0'), 8092);
    assert_int_equal(fs_sim_open_files(sim), 0);
    assert_int_equal(fs_sim_misuses(sim), 0);
}

TEST(what_was_synced_with_its_name_survives_every_power_cut)
{
    static char data[20001];

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start_seed(seed);
        make_synced("/d/f", 'a', 20000);
        for (int cut = 0; cut < 3; cut++) {
            lose_power();
            assert_int_equal(get("/d/f", data, sizeof data), 20000);
            assert_int_equal(count_byte(data, 20000, 'a'), 20000);
        }
    }
}

TEST(what_was_not_synced_is_kept_lost_or_torn)
{
    static char data[16384];
    unsigned kept = 0, lost = 0, torn = 0, mixed = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        unsigned new_blocks = 0, old_blocks = 0;
        start_seed(seed);
        make_synced("/d/f", 'a', 16384);
        int fd = open_file("/d/f", FS_WRITE);
        assert_int_equal(put(fd, 'b', 16384, 0), 0);
        lose_power();
        assert_int_equal(get("/d/f", data, sizeof data), 16384);
        for (size_t at = 0; at < 16384; at += 4096) {
            size_t new_bytes = count_byte(data + at, 4096, 'b');
            assert_int_equal(new_bytes + count_byte(data + at, 4096, 'a'), 4096);
            assert_int_equal(new_bytes % 512, 0);
            new_blocks += new_bytes == 4096;
            old_blocks += new_bytes == 0;
            torn += new_bytes != 0 && new_bytes != 4096;
        }
        kept += new_blocks == 4;
        lost += old_blocks == 4;
        mixed += new_blocks > 0 && old_blocks > 0;
    }
    assert_true(kept > SEEDS / 20 && lost > SEEDS / 20 && mixed > SEEDS / 20 && torn > SEEDS / 20);
}

TEST(a_file_that_grew_without_sync_has_any_size_and_may_hold_zeros)
{
    static char data[16385];
    unsigned old_size = 0, new_size = 0, between = 0, zeros = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start_seed(seed);
        make_synced("/d/f", 'a', 1000);
        int fd = open_file("/d/f", FS_WRITE);
        assert_int_equal(put(fd, 'b', 15384, 1000), 0);
        lose_power();
        size_t length = get("/d/f", data, sizeof data);
        old_size += length == 1000;
        new_size += length == 16384;
        between += length > 1000 && length < 16384;
        assert_in_range(length, 1000, 16384);
        assert_int_equal(count_byte(data, 1000, 'a'), 1000);
        zeros += count_byte(data, length, '\0') > 0;
        assert_int_equal(count_byte(data, length, '\0') + count_byte(data, length, 'b'),
                         length - 1000);
    }
    assert_true(old_size > 20 && new_size > 20 && between > 20 && zeros > 20);
}

TEST(a_synced_size_survives_and_a_truncation_that_was_not_synced_may_be_undone)
{
    static char data[10001];
    unsigned undone = 0, done = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start_seed(seed);
        make_synced("/d/f", 'a', 10000);
        int fd = open_file("/d/f", FS_WRITE);
        assert_int_equal(fs->truncate(fs, fd, 5000), 0);
        if (seed % 2 == 0) assert_int_equal(fs->sync(fs, fd), 0);
        lose_power();
        size_t length = get("/d/f", data, sizeof data);
        if (seed % 2 == 0) assert_int_equal(length, 5000);
        undone += length == 10000;
        done += length == 5000;
        assert_int_equal(count_byte(data, 5000, 'a'), 5000);
    }
    assert_int_equal(undone + done, SEEDS);
    assert_true(undone > 20);
}

TEST(a_new_file_without_a_synced_folder_may_vanish_though_it_was_synced)
{
    unsigned vanished = 0, there = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        char data[10];
        start_seed(seed);
        int fd = open_file("/d/f", FS_CREATE_NEW);
        assert_int_equal(put(fd, 'a', 10, 0), 0);
        assert_int_equal(fs->sync(fs, fd), 0);
        lose_power();
        if (!is_there("/d/f")) {
            vanished++;
            continue;
        }
        there++;
        assert_int_equal(get("/d/f", data, 10), 10);
        assert_int_equal(count_byte(data, 10, 'a'), 10);
    }
    assert_true(vanished > 20 && there > 20);
}

TEST(a_rename_without_a_synced_folder_leaves_one_name_or_the_other)
{
    unsigned undone = 0, done = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        char data[20];
        start_seed(seed);
        make_synced("/d/f", 'o', 10);
        make_synced("/d/f.tmp", 'n', 20);
        assert_int_equal(fs->rename(fs, "/d/f.tmp", "/d/f"), 0);
        lose_power();
        size_t length = get("/d/f", data, 20);
        assert_true(length == 10 ? is_there("/d/f.tmp") : !is_there("/d/f.tmp"));
        assert_int_equal(count_byte(data, length, length == 10 ? 'o' : 'n'), length);
        undone += length == 10;
        done += length == 20;
    }
    assert_true(undone > 20 && done > 20);
}

TEST(a_rename_over_a_file_brings_what_was_synced_of_it)
{
    unsigned empty = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        char data[10];
        start_seed(seed);
        make_synced("/d/f", 'o', 10);
        assert_int_equal(fs_write_file(fs, "/d/f.tmp", "nnnnnnnnnn", 10, false), 0);
        assert_int_equal(fs->rename(fs, "/d/f.tmp", "/d/f"), 0);
        assert_int_equal(fs->sync_folder(fs, "/d"), 0);
        lose_power();
        size_t length = get("/d/f", data, 10);
        assert_int_equal(count_byte(data, length, 'o'), 0);
        empty += count_byte(data, length, 'n') < 10;

        assert_int_equal(fs_replace_file(fs, "/d/f", "rrrrr", 5), 0);
        lose_power();
        assert_int_equal(get("/d/f", data, 10), 5);
    }
    assert_true(empty > 20);
}

TEST(removed_names_may_come_back_until_the_folder_is_synced)
{
    unsigned back = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start_seed(seed);
        make_synced("/d/f", 'a', 10);
        assert_int_equal(fs->remove(fs, "/d/f"), 0);
        if (seed % 2 == 0) assert_int_equal(fs->sync_folder(fs, "/d"), 0);
        lose_power();
        if (seed % 2 == 0) assert_false(is_there("/d/f"));
        back += is_there("/d/f");
    }
    assert_true(back > 20);
}

/* Makes three files in two folders; which of them survive, as bits. */
static unsigned survivors(enum fs_sim_names names, uint64_t seed)
{
    start((struct fs_sim_options){ .seed = seed, .names = names });
    assert_int_equal(fs->make_folder(fs, "/e"), 0);
    assert_int_equal(fs->sync_folder(fs, "/"), 0);
    fs->close(fs, open_file("/d/1", FS_CREATE_NEW));
    fs->close(fs, open_file("/e/2", FS_CREATE_NEW));
    fs->close(fs, open_file("/d/3", FS_CREATE_NEW));
    lose_power();
    return is_there("/d/1") + 2u * is_there("/e/2") + 4u * is_there("/d/3");
}

TEST(a_journal_keeps_what_came_first_and_the_stricter_disk_any_of_it)
{
    unsigned ordered = 0, each = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ordered |= 1u << survivors(FS_SIM_NAMES_ORDERED, seed);
        each |= 1u << survivors(FS_SIM_NAMES_EACH, seed);
    }
    assert_int_equal(ordered, 1u << 0 | 1u << 1 | 1u << 3 | 1u << 7);
    assert_int_equal(each, 0xff);
}

TEST(no_power_cut_makes_one_name_two_or_loses_what_was_only_renamed)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        char data[10];
        start_seed(seed);
        make_synced("/d/a", 'a', 10);
        assert_int_equal(fs->rename(fs, "/d/a", "/d/b"), 0);
        fs->close(fs, open_file("/d/a", FS_CREATE_NEW));
        lose_power();
        const char *path = is_there("/d/b") ? "/d/b" : "/d/a";
        assert_int_equal(get(path, data, 10), 10);
        assert_int_equal(count_byte(data, 10, 'a'), 10);
    }
}

TEST(a_folder_that_was_renamed_keeps_what_is_in_it)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        char data[10];
        start_seed(seed);
        make_synced("/d/f", 'a', 10);
        assert_int_equal(fs->rename(fs, "/d", "/d-delete"), 0);
        assert_int_equal(fs->make_folder(fs, "/d"), 0);
        lose_power();
        assert_int_equal(get(is_there("/d-delete") ? "/d-delete/f" : "/d/f", data, 10), 10);
    }
}

TEST(a_failed_sync_forgets_and_the_next_one_says_nothing)
{
    static char data[40960];
    struct fs_sim_fault fault = { .calls = FS_SIM_SYNC, .nth = 1, .error = ERR_IO };
    unsigned lost = 0, seen_gone = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        start_seed(seed);
        make_synced("/d/f", 'a', 40960);
        int fd = open_file("/d/f", FS_WRITE);
        assert_int_equal(put(fd, 'b', 40960, 0), 0);
        fs_sim_fail(sim, &fault);
        assert_int_equal(fs->sync(fs, fd), ERR_IO);
        assert_true(fs_sim_has_failed(sim));
        assert_int_equal(fs->sync(fs, fd), 0);
        get("/d/f", data, sizeof data);
        seen_gone += count_byte(data, sizeof data, 'a') > 0;
        lose_power();
        get("/d/f", data, sizeof data);
        lost += count_byte(data, sizeof data, 'a') > 0;
    }
    assert_true(lost > SEEDS / 2 && seen_gone > SEEDS / 4);
}

TEST(a_full_disk_takes_what_fits_and_goes_on_when_there_is_room)
{
    char data[16384];
    int64_t free_bytes, total_bytes;

    start((struct fs_sim_options){ .seed = 1, .total_bytes = 5 * 4096 });
    int fd = open_file("/d/f", FS_CREATE_NEW);
    int reserved = open_file("/d/r", FS_CREATE_NEW);
    assert_int_equal(fs->reserve(fs, reserved, 0, 2 * 4096), 0);
    assert_int_equal(put(fd, 'a', 16384, 0), ERR_NO_SPACE);
    assert_int_equal(get("/d/f", data, sizeof data), 3 * 4096);
    assert_int_equal(fs->free_bytes(fs, "/d", &free_bytes, &total_bytes), 0);
    assert_int_equal(free_bytes, 0);
    assert_int_equal(total_bytes, 5 * 4096);
    assert_int_equal(fs->reserve(fs, fd, 0, 16384), ERR_NO_SPACE);
    assert_int_equal(put(reserved, 'b', 8192, 0), 0); /* Its own room. */
    assert_int_equal(put(fd, 'b', 4096, 0), 0);       /* In place. */

    assert_int_equal(fs->truncate(fs, reserved, 0), 0);
    assert_int_equal(put(fd, 'c', 4096, 12288), 0);
    assert_int_equal(fs->remove(fs, "/d/f"), 0);
    assert_int_equal(fs_sim_used_bytes(sim), 16384); /* It is open. */
    fs->close(fs, fd);
    fs->close(fs, reserved);
    assert_int_equal(fs->sync_folder(fs, "/d"), 0);
    assert_int_equal(fs_sim_used_bytes(sim), 0);
}

TEST(space_behind_the_end_is_given_back_by_truncating_to_the_same_size)
{
    start((struct fs_sim_options){ .seed = 1, .total_bytes = 1 << 20 });
    int fd = open_file("/d/f", FS_CREATE_NEW);
    assert_int_equal(put(fd, 'a', 100, 0), 0);
    assert_int_equal(fs->reserve(fs, fd, 0, 65536), 0);
    assert_int_equal(fs_sim_used_bytes(sim), 65536);
    assert_int_equal(fs->truncate(fs, fd, 100), 0);
    assert_int_equal(fs_sim_used_bytes(sim), 4096);
    lose_power();
    assert_true(fs_sim_used_bytes(sim) <= 4096);
}

TEST(the_planned_call_fails_and_no_other)
{
    struct fs_sim_fault fault = {
        .calls = FS_SIM_RENAME, .suffix = ".tmp", .nth = 2, .error = ERR_IO
    };

    start_seed(1);
    fs_sim_fail(sim, &fault);
    assert_int_equal(fs_replace_file(fs, "/d/a", "1", 1), 0);
    assert_int_equal(fs_replace_file(fs, "/d/a", "2", 1), ERR_IO);
    assert_int_equal(fs_replace_file(fs, "/d/a", "3", 1), 0);

    fault = (struct fs_sim_fault){ .calls = FS_SIM_READ, .nth = 1 };
    fs_sim_fail(sim, &fault);
    char data[1];
    get("/d/a", data, 1);
    assert_int_equal(__builtin_popcount((unsigned)(data[0] ^ '3')), 1);
    get("/d/a", data, 1);
    assert_int_equal(data[0], '3');
}

TEST(a_power_cut_comes_before_the_change_it_was_set_to)
{
    for (long nth = 1; nth <= 6; nth++) {
        char *text = NULL;
        size_t length;
        start((struct fs_sim_options){ .seed = 3 });
        assert_int_equal(fs_replace_file(fs, "/d/a", "old", 3), 0);
        fs_sim_cut_power_at(sim, nth);
        int err = fs_replace_file(fs, "/d/a", "newer", 5);
        assert_int_equal(err, nth <= 5 ? ERR_IO : 0);
        assert_int_equal(fs_sim_is_off(sim), nth <= 5);
        assert_int_equal(fs_sim_open_files(sim), 0);
        fs_sim_restart(sim);
        assert_int_equal(fs_read_file(fs, "/d/a", 10, &text, &length), 0);
        if (nth > 5) assert_string_equal(text, "newer");
        assert_true(strcmp(text, "old") == 0 || strcmp(text, "newer") == 0);
        mem_free(text);
    }
}

TEST(a_killed_process_keeps_the_page_cache_but_no_descriptor)
{
    char data[10];
    size_t got;

    start_seed(1);
    int fd = open_file("/d/f", FS_CREATE_NEW);
    assert_int_equal(fs->lock(fs, fd), 0);
    assert_int_equal(put(fd, 'a', 10, 0), 0);
    fs_sim_kill(sim);
    assert_true(fs_sim_is_off(sim));
    assert_int_equal(put(fd, 'b', 10, 0), ERR_IO);
    assert_int_equal(fs->remove(fs, "/d/f"), ERR_IO);
    fs_sim_restart(sim);
    assert_int_equal(put(fd, 'b', 10, 0), ERR_IO);
    int other = open_file("/d/f", FS_WRITE);
    assert_int_equal(fs->lock(fs, other), 0);
    assert_int_not_equal(fd, other);
    fs->close(fs, fd);
    assert_int_equal(fs->read(fs, other, data, 10, 0, &got), 0);
    assert_int_equal(count_byte(data, got, 'a'), 10);
    assert_int_equal(fs_sim_misuses(sim), 0);
    fs->close(fs, other);
    fs->close(fs, other);
    assert_int_equal(fs_sim_misuses(sim), 1);
}

TEST(a_lock_is_held_by_one_descriptor_of_the_simulated_disk)
{
    start_seed(1);
    int first = open_file("/d/f", FS_CREATE);
    int second = open_file("/d/f", FS_CREATE);
    assert_int_equal(fs->lock(fs, first), 0);
    assert_int_equal(fs->lock(fs, second), ERR_BUSY);
    fs->close(fs, first);
    assert_int_equal(fs->lock(fs, second), 0);
}

TEST(copies_of_a_disk_end_each_in_a_power_cut_of_their_own)
{
    unsigned lost = 0;

    start_seed(7);
    make_synced("/d/f", 'a', 10);
    int fd = open_file("/d/f", FS_WRITE);
    assert_int_equal(put(fd, 'b', 10, 0), 0);
    for (uint64_t seed = 0; seed < 100; seed++) {
        char data[10];
        struct fs_sim *copy = fs_sim_copy(sim, seed);
        fs_sim_cut_power(copy);
        fs_sim_restart(copy);
        struct fs *copied = fs_sim_fs(copy);
        size_t got;
        int opened;
        assert_int_equal(copied->open(copied, "/d/f", FS_READ, &opened), 0);
        assert_int_equal(copied->read(copied, opened, data, 10, 0, &got), 0);
        lost += data[0] == 'a';
        fs_sim_close(copy);
    }
    assert_in_range(lost, 10, 90);
    char data[10];
    get("/d/f", data, 10);
    assert_int_equal(count_byte(data, 10, 'b'), 10);
}

TEST(the_same_seed_loses_the_same)
{
    static char first[65536], second[65536];

    for (uint64_t seed = 0; seed < 20; seed++) {
        char *data[] = { first, second };
        size_t length[2];
        for (int i = 0; i < 2; i++) {
            start_seed(seed);
            make_synced("/d/f", 'a', 40000);
            int fd = open_file("/d/f", FS_WRITE);
            assert_int_equal(put(fd, 'b', 60000, 1000), 0);
            lose_power();
            length[i] = get("/d/f", data[i], 65536);
        }
        assert_int_equal(length[0], length[1]);
        assert_memory_equal(first, second, length[0]);
    }
}

TEST(a_sync_that_is_ignored_keeps_nothing)
{
    unsigned lost = 0, vanished = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        char data[10];
        start_seed(seed);
        make_synced("/d/f.log", 'a', 10);
        fs_sim_ignore(sim, FS_SIM_SYNC, ".log");
        fs_sim_ignore(sim, FS_SIM_SYNC_FOLDER, "/d");
        make_synced("/d/f.log", 'b', 10);
        make_synced("/d/new", 'c', 10);
        lose_power();
        get("/d/f.log", data, 10);
        lost += data[0] == 'a';
        vanished += !is_there("/d/new");
    }
    assert_true(lost > 20 && vanished > 20);
}

TEST(reads_are_counted_by_suffix)
{
    char data[10];

    start_seed(1);
    make_synced("/d/0.log", 'a', 10);
    make_synced("/d/0.index", 'a', 4);
    fs_sim_forget_reads(sim);
    get("/d/0.log", data, 10);
    get("/d/0.log", data, 10);
    get("/d/0.index", data, 10);
    assert_int_equal(fs_sim_bytes_read(sim, ".log"), 20);
    assert_int_equal(fs_sim_bytes_read(sim, ".index"), 4);
    assert_int_equal(fs_sim_bytes_read(sim, ".timeindex"), 0);
}

TEST(a_sync_of_all_makes_every_file_and_name_last)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        char data[16];
        start_seed(seed);
        int a = open_file("/d/a", FS_CREATE), b = open_file("/d/b", FS_CREATE);
        assert_int_equal(put(a, 'a', 5, 0), 0);
        assert_int_equal(put(b, 'b', 6, 0), 0);
        assert_int_equal(fs->rename(fs, "/d/b", "/d/c"), 0);
        fs->close(fs, b);
        fs->close(fs, open_file("/d/gone", FS_CREATE));
        assert_int_equal(fs->remove(fs, "/d/gone"), 0);
        assert_int_equal(fs->sync_all(fs, a), 0);
        assert_int_equal(put(a, 'x', 5, 5), 0);
        lose_power();
        assert_true(get("/d/a", data, sizeof data) >= 5);
        assert_int_equal(memcmp(data, "aaaaa", 5), 0);
        assert_int_equal(get("/d/c", data, sizeof data), 6);
        assert_false(is_there("/d/b") || is_there("/d/gone"));
    }
    fs_sim_close(sim);
    sim = NULL;
}

static void *write_much(void *context)
{
    const char *path = context;
    int fd;

    if (fs->open(fs, path, FS_CREATE, &fd) != 0) return NULL;
    for (int i = 0; i < 500; i++) {
        uint8_t byte = (uint8_t)i;
        struct iovec part = { &byte, 1 };
        if (fs->write(fs, fd, &part, 1, i) != 0 || fs->sync(fs, fd) != 0) break;
    }
    fs->close(fs, fd);
    return NULL;
}

TEST(threads_share_a_simulated_disk)
{
    static char paths[3][8] = { "/d/1", "/d/2", "/d/2" };
    static char data[501];
    pthread_t threads[3];

    start_seed(1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_much, paths[i]), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(get("/d/1", data, 501), 500);
    assert_int_equal(get("/d/2", data, 501), 500);
    assert_int_equal(fs_sim_open_files(sim), 0);
    fs_sim_close(sim);
    sim = NULL;
}
