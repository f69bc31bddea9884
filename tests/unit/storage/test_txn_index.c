// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "fs_fault.h"
#include "txn_index.h"

#define BASE 1000

static struct fs_fault disk;
static char path[PATH_MAX];

static struct txn_index *new_index(void)
{
    struct txn_index *index;
    fs_fault_init(&disk);
    assert_int_equal(fs_path(path, "%s/00000000000000001000.txnindex", test_folder()), 0);
    assert_int_equal(txn_index_create(&index, &disk.fs, BASE), 0);
    return index;
}

static struct txn_index *loaded_index(void)
{
    struct txn_index *index;
    assert_int_equal(txn_index_create(&index, &disk.fs, BASE), 0);
    assert_int_equal(txn_index_load(index, path, false), 0);
    return index;
}

/* Transactions of ten offsets, one after the other: the nth is [1000 + 10n, 1009 + 10n]. */
static struct aborted_transaction nth(int n)
{
    return (struct aborted_transaction){ 7, BASE + 10 * n, BASE + 10 * n + 9, BASE + 10 * n + 10 };
}

static void append(struct txn_index *index, struct aborted_transaction aborted)
{
    assert_int_equal(txn_index_reserve(index, path, 1, true), 0);
    txn_index_append(index, &aborted);
}

static void append_many(struct txn_index *index, int from, int to)
{
    for (int n = from; n < to; n++)
        append(index, nth(n));
}

/* How many must a reader of [from, below) be told of? */
static size_t count_in(struct txn_index *index, int64_t from, int64_t below, bool *is_complete)
{
    struct aborted_list list = { 0 };
    assert_int_equal(txn_index_find(index, path, true, from, below, SIZE_MAX, &list, is_complete),
                     0);
    for (size_t i = 0; i < list.count; i++) {
        assert_true(list.items[i].last_offset >= from && list.items[i].first_offset < below);
        if (i > 0) assert_true(list.items[i].last_offset > list.items[i - 1].last_offset);
    }
    mem_free(list.items);
    return list.count;
}

static void assert_finds_all(struct txn_index *index, int count)
{
    bool is_complete;
    assert_int_equal(txn_index_count(index), count);
    assert_int_equal(count_in(index, 0, INT64_MAX, &is_complete), count);
    assert_false(is_complete);
    for (int n = 0; n < count; n++) {
        assert_int_equal(count_in(index, BASE + 10 * n, BASE + 10 * n + 1, &is_complete), 1);
        assert_true(is_complete);
        assert_int_equal(count_in(index, BASE + 10 * n + 9, BASE + 10 * n + 11, &is_complete),
                         n + 1 < count ? 2 : 1);
    }
}

TEST(entries_are_found_in_memory_in_the_file_and_in_both)
{
    struct txn_index *index = new_index();
    append_many(index, 0, 100);
    assert_finds_all(index, 100);
    assert_int_equal(txn_index_write_out(index, path, false), 0);
    assert_finds_all(index, 100);
    append_many(index, 100, 500); /* Many: some of them are written on the way. */
    assert_finds_all(index, 500);
    assert_int_equal(txn_index_write_out(index, path, true), 0);
    txn_index_close(index);
    index = loaded_index();
    assert_finds_all(index, 500);
    append_many(index, 500, 510);
    assert_finds_all(index, 510);
    txn_index_close(index);
    assert_int_equal(atomic_load(&disk.open_files), 0);
}

TEST(the_file_has_kafkas_bytes)
{
    static const uint8_t expected[TXN_INDEX_ENTRY_SIZE] = {
        0, 0,                         /* version */
        0, 0, 0, 0, 0, 0, 0x23, 0x28, /* producer 9000 */
        0, 0, 0, 0, 0, 0, 0x04, 0x00, /* 1024 */
        0, 0, 0, 0, 0, 0, 0x04, 0x03, /* 1027 */
        0, 0, 0, 0, 0, 0, 0x04, 0x01, /* 1025 */
    };
    struct txn_index *index = new_index();
    char *data;
    size_t length;
    append(index, (struct aborted_transaction){ 9000, 1024, 1027, 1025 });
    assert_int_equal(txn_index_write_out(index, path, true), 0);
    assert_int_equal(fs_read_file(&disk.fs, path, 100, &data, &length), 0);
    assert_int_equal(length, sizeof expected);
    assert_memory_equal(data, expected, sizeof expected);
    mem_free(data);
    txn_index_close(index);
}

TEST(a_search_ends_where_the_last_stable_offset_says_that_no_more_can_come)
{
    struct txn_index *index = new_index();
    bool is_complete;
    /* The second one was open all the while. */
    append(index, (struct aborted_transaction){ 1, 1010, 1020, 1005 });
    append(index, (struct aborted_transaction){ 3, 1021, 1030, 1005 });
    append(index, (struct aborted_transaction){ 2, 1005, 1040, 1041 });
    assert_int_equal(count_in(index, 1006, 1011, &is_complete), 2);
    assert_true(is_complete);
    assert_int_equal(count_in(index, 1000, 1005, &is_complete), 0);
    assert_true(is_complete);
    assert_int_equal(count_in(index, 1000, 1100, &is_complete), 3);
    assert_false(is_complete);
    txn_index_close(index);
}

TEST(a_segment_without_aborts_has_no_file)
{
    struct txn_index *index = new_index();
    bool exists = true;
    assert_int_equal(txn_index_write_out(index, path, true), 0);
    assert_int_equal(disk.fs.exists(&disk.fs, path, &exists), 0);
    assert_false(exists);
    txn_index_close(index);
}

TEST(a_search_that_may_not_wait_reads_no_file)
{
    struct txn_index *index = new_index();
    struct aborted_list list = { 0 };
    bool is_complete;
    append_many(index, 0, 10);
    assert_int_equal(txn_index_write_out(index, path, false), 0);
    append_many(index, 10, 11);
    assert_int_equal(
        txn_index_find(index, path, false, BASE, BASE + 5, SIZE_MAX, &list, &is_complete),
        ERR_NEEDS_IO);
    /* What ended in front of the range need not be looked at. */
    assert_int_equal(
        txn_index_find(index, path, false, BASE + 100, BASE + 200, SIZE_MAX, &list, &is_complete),
        0);
    assert_int_equal(list.count, 1);
    mem_free(list.items);
    txn_index_close(index);
}

TEST(an_append_that_may_not_wait_says_when_entries_must_be_written_first)
{
    struct txn_index *index = new_index();
    int n = 0;
    int err;
    while ((err = txn_index_reserve(index, path, 1, false)) == 0) {
        struct aborted_transaction aborted = nth(n++);
        txn_index_append(index, &aborted);
    }
    assert_int_equal(err, ERR_NEEDS_IO);
    assert_in_range(n, 100, 200); /* Memory is bounded. */
    append_many(index, n, n + 1);
    assert_finds_all(index, n + 1);
    txn_index_close(index);
}

TEST(more_than_the_limit_is_refused)
{
    struct txn_index *index = new_index();
    struct aborted_list list = { 0 };
    bool is_complete;
    append_many(index, 0, 50);
    assert_int_equal(txn_index_find(index, path, true, 0, INT64_MAX, 49, &list, &is_complete),
                     ERR_LIMIT);
    assert_true(list.count <= 49);
    mem_free(list.items);
    txn_index_close(index);
}

TEST(a_truncated_index_knows_nothing_of_what_ended_behind)
{
    for (int written = 0; written <= 300; written += 100) {
        struct txn_index *index = new_index();
        append_many(index, 0, written);
        assert_int_equal(txn_index_write_out(index, path, false), 0);
        append_many(index, written, 300);
        assert_int_equal(txn_index_truncate(index, path, BASE + 10 * 250 + 10), 0);
        assert_finds_all(index, 251);
        assert_int_equal(txn_index_truncate(index, path, BASE + 10 * 90 + 9), 0);
        assert_finds_all(index, 90);
        append_many(index, 90, 95);
        assert_finds_all(index, 95);
        assert_int_equal(txn_index_write_out(index, path, true), 0);
        txn_index_close(index);
        index = loaded_index();
        assert_finds_all(index, 95);
        txn_index_close(index);
    }
}

static void save(const void *data, size_t length)
{
    assert_int_equal(fs_write_file(&disk.fs, path, data, length, false), 0);
}

static int load_err(void)
{
    struct txn_index *index;
    assert_int_equal(txn_index_create(&index, &disk.fs, BASE), 0);
    int err = txn_index_load(index, path, false);
    if (err != 0) assert_int_equal(txn_index_count(index), 0);
    txn_index_close(index);
    return err;
}

TEST(what_cannot_be_a_transaction_index_is_refused)
{
    struct txn_index *index = new_index();
    char *good;
    size_t length;
    append_many(index, 0, 200);
    assert_int_equal(txn_index_write_out(index, path, false), 0);
    txn_index_close(index);
    assert_int_equal(fs_read_file(&disk.fs, path, 1 << 20, &good, &length), 0);

    for (size_t cut = 1; cut < TXN_INDEX_ENTRY_SIZE; cut++) {
        save(good, length - cut);
        assert_int_equal(load_err(), ERR_CORRUPT_MESSAGE);
    }
    static const size_t places[] = { 0, 1, 2, 10, 18, 26 }; /* Version, and each field's sign. */
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *bad = mem_dup(good, length);
        bad[150 * TXN_INDEX_ENTRY_SIZE + places[i]] ^= (char)0x80;
        save(bad, length);
        assert_int_equal(load_err(), ERR_CORRUPT_MESSAGE);
        mem_free(bad);
    }
    char *swapped = mem_dup(good, length);
    memcpy(swapped, good + TXN_INDEX_ENTRY_SIZE, TXN_INDEX_ENTRY_SIZE);
    memcpy(swapped + TXN_INDEX_ENTRY_SIZE, good, TXN_INDEX_ENTRY_SIZE);
    save(swapped, length);
    assert_int_equal(load_err(), ERR_CORRUPT_MESSAGE);
    mem_free(swapped);

    save(good, length);
    assert_int_equal(load_err(), 0);
    assert_int_equal(disk.fs.remove(&disk.fs, path), 0);
    assert_int_equal(load_err(), ERR_NOT_FOUND);
    mem_free(good);
}

TEST(an_index_of_zeros_is_refused)
{
    static const uint8_t zeros[2 * TXN_INDEX_ENTRY_SIZE];
    struct txn_index *index = new_index();
    txn_index_close(index);
    save(zeros, sizeof zeros);
    assert_int_equal(load_err(), ERR_CORRUPT_MESSAGE);
}

TEST(a_write_that_fails_loses_no_entry)
{
    struct txn_index *index = new_index();
    append_many(index, 0, 20);
    for (long at = 1; at <= 3; at++) { /* Open, write, sync. */
        fs_fault_fail_at(&disk, at, ERR_NO_SPACE);
        assert_int_equal(txn_index_write_out(index, path, true), ERR_NO_SPACE);
        disk.fail_at = 0;
        assert_finds_all(index, 20);
    }
    assert_int_equal(txn_index_write_out(index, path, true), 0);
    txn_index_close(index);
    index = loaded_index();
    assert_finds_all(index, 20);
    txn_index_close(index);
}
