// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>
#include <unistd.h>

#include "bytes.h"
#include "error.h"
#include "log_fixture.h"
#include "offset_index.h"

#define BASE INT64_C(1000)

static struct folder_fixture fixture;
static struct fs_fault *disk = &fixture.disk;
static struct offset_index offsets;
static char path[PATH_MAX];

static void init(void)
{
    folder_fixture_start(&fixture, 100, 100);
    assert_int_equal(segment_path(fixture.folder->path, BASE, ".index", path), 0);
    offset_index_init(&offsets, fixture.folder, BASE);
}

static void start(void)
{
    init();
    assert_int_equal(index_file_begin_append(&offsets.file, true), 0);
}

/* Between begin and end of appending. */
static void stop(void)
{
    index_file_end_append(&offsets.file);
    offset_index_close(&offsets);
    folder_fixture_stop(&fixture);
}

/* Entry i says: the batch that ends at offset 1000 + 10 i starts at position 100 i. */
static void append(int from, int to)
{
    for (int i = from; i < to; i++)
        assert_int_equal(offset_index_append(&offsets, BASE + 10 * i, 100 * i), 0);
}

static int64_t position_of(int64_t offset, int64_t limit)
{
    struct offset_index_entry entry;

    assert_int_equal(offset_index_find(&offsets, true, offset, limit, &entry), 0);
    if (entry.last_offset >= 0) assert_int_equal(entry.position, (entry.last_offset - BASE) * 10);
    return entry.position;
}

static void assert_all_found(int count)
{
    assert_int_equal(position_of(BASE + 9, INT64_MAX), 0);
    for (int i = 1; i < count; i++) {
        assert_int_equal(position_of(BASE + 10 * i, INT64_MAX), 100 * i);
        assert_int_equal(position_of(BASE + 10 * i + 9, INT64_MAX), 100 * i);
        assert_int_equal(position_of(INT64_MAX, 100 * i + 99), 100 * i);
    }
    assert_int_equal(position_of(INT64_MAX, INT64_MAX), 100 * (count - 1));
}

TEST(an_empty_index_points_to_the_start)
{
    struct offset_index_entry entry;

    start();
    assert_int_equal(offset_index_find(&offsets, false, 5000, INT64_MAX, &entry), 0);
    assert_int_equal(entry.position, 0);
    assert_int_equal(entry.last_offset, -1);
    stop();
}

TEST(entries_are_found_in_memory_and_in_the_file_at_any_size)
{
    static const int counts[] = { 2, 3, 511, 512, 513, 514, 1024, 1026, 1537, 2600 };

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        start();
        append(1, counts[i]);
        assert_all_found(counts[i]);
        assert_int_equal(index_file_write_out(&offsets.file, true), 0);
        assert_all_found(counts[i]);
        stop();
    }
}

TEST(the_file_has_kafkas_bytes)
{
    uint8_t bytes[17];
    size_t got;
    int fd;

    start();
    offset_index_append(&offsets, BASE + 5, 0x7c);
    offset_index_append(&offsets, BASE + 8, 0xf8);
    assert_int_equal(index_file_write_out(&offsets.file, false), 0);
    assert_int_equal(disk->fs.open(&disk->fs, path, FS_READ, &fd), 0);
    assert_int_equal(disk->fs.read(&disk->fs, fd, bytes, sizeof bytes, 0, &got), 0);
    assert_int_equal(got, 16);
    assert_memory_equal(bytes, "\0\0\0\5\0\0\0\x7c\0\0\0\x08\0\0\0\xf8", 16);
    disk->fs.close(&disk->fs, fd);
    stop();
}

TEST(entries_are_written_in_blocks)
{
    start();
    append(1, 1 + 3 * 512);
    assert_int_equal(atomic_load(&disk->writes), 2); /* The third is full, and not yet written. */
    append(1 + 3 * 512, 2 + 3 * 512);
    assert_int_equal(atomic_load(&disk->writes), 3);
    stop();
}

TEST(an_index_that_is_not_in_memory_is_not_searched_on_a_loop)
{
    struct offset_index_entry entry;

    start();
    append(1, 100);
    index_file_write_out(&offsets.file, false);
    index_file_end_append(&offsets.file);
    index_file_let_go(&offsets.file);
    assert_null(offsets.file.tail);
    assert_int_equal(atomic_load(&disk->open_files), 0);
    assert_int_equal(offset_index_find(&offsets, false, 5000, INT64_MAX, &entry), ERR_NEEDS_IO);
    assert_all_found(100);
    /* Its only block is now known: the file need not be open. */
    index_file_let_go(&offsets.file);
    assert_int_equal(atomic_load(&disk->open_files), 0);
    assert_int_equal(offset_index_find(&offsets, false, BASE + 500, INT64_MAX, &entry), 0);
    assert_int_equal(entry.position, 5000);
    assert_int_equal(atomic_load(&disk->open_files), 0);
    offset_index_close(&offsets);
    folder_fixture_stop(&fixture);
}

TEST(a_truncated_index_goes_on_from_there)
{
    for (int written = 0; written < 2; written++) {
        start();
        append(1, 700);
        if (written) index_file_write_out(&offsets.file, false);
        assert_all_found(700);
        index_file_end_append(&offsets.file);
        assert_int_equal(offset_index_truncate(&offsets, BASE + 3000), 0);
        assert_int_equal(index_file_begin_append(&offsets.file, true), 0);
        assert_int_equal(offset_index_last_position(&offsets), 100 * 299);
        assert_all_found(300);
        append(300, 900);
        assert_all_found(900);
        stop();
    }
}

/* How many blocks are read from the file for one search? */
static long reads_for(int64_t offset)
{
    struct offset_index_entry entry;
    long before = atomic_load(&disk->operations);

    assert_int_equal(offset_index_find(&offsets, false, offset, INT64_MAX, &entry), 0);
    return atomic_load(&disk->operations) - before;
}

TEST(a_search_reads_a_block_for_each_halving_and_none_that_is_known)
{
    start();
    append(1, 1 + 512 * 256); /* 1 MiB. */
    assert_int_equal(index_file_write_out(&offsets.file, false), 0);
    long cold = reads_for(BASE + 10 * 77777);
    assert_true(cold > 1 && cold <= 9);
    assert_int_equal(reads_for(BASE + 10 * 77777), 0);
    /* The upper halvings are the same for all: they stay, whatever else is looked for. */
    long reads = 0;
    for (int i = 0; i < 200; i++)
        reads += reads_for(BASE + 10 * (1 + (i * 7919) % (512 * 256)));
    assert_true(reads <= 3 * 200);
    assert_true(block_cache_count(fixture.blocks) <= 100);
    stop();
}

static int load(const void *data, size_t length)
{
    init();
    assert_int_equal(fs_write_file(&disk->fs, path, data, length, false), 0);
    return offset_index_load(&offsets, false);
}

TEST(zeros_at_the_end_are_no_entries)
{
    static uint8_t bytes[80000];

    for (int i = 1; i < 700; i++) {
        store_i32(bytes + 8 * (i - 1), 10 * i);
        store_i32(bytes + 8 * (i - 1) + 4, 100 * i);
    }
    assert_int_equal(load(bytes, sizeof bytes), 0);
    assert_all_found(700);
    assert_int_equal(index_file_begin_append(&offsets.file, true), 0);
    assert_int_equal(offsets.file.count, 699);
    append(700, 1300);
    assert_all_found(1300);
    stop();
    assert_int_equal(load(bytes + 8 * 700, 4000), 0);
    assert_int_equal(index_file_begin_append(&offsets.file, true), 0);
    assert_int_equal(offsets.file.count, 0);
    stop();
}

TEST(what_cannot_be_an_index_is_refused)
{
    struct offset_index_entry entry;
    uint8_t bytes[8];

    assert_int_equal(load("1234567", 7), ERR_CORRUPT_MESSAGE);
    offset_index_close(&offsets);
    folder_fixture_stop(&fixture);
    store_i32(bytes, -5);
    store_i32(bytes + 4, 100);
    assert_int_equal(load(bytes, 8), 0);
    assert_int_equal(offset_index_find(&offsets, true, BASE, INT64_MAX, &entry),
                     ERR_CORRUPT_MESSAGE);
    offset_index_close(&offsets);
    folder_fixture_stop(&fixture);
    init();
    assert_int_equal(offset_index_load(&offsets, false), ERR_NOT_FOUND);
    offset_index_close(&offsets);
    folder_fixture_stop(&fixture);
}

TEST(an_index_that_became_shorter_is_no_broken_disk)
{
    struct offset_index_entry entry;

    start();
    append(1, 600);
    index_file_write_out(&offsets.file, false);
    assert_int_equal(disk->fs.truncate(&disk->fs, offsets.file.file->fd, 800), 0);
    assert_int_equal(offset_index_find(&offsets, true, BASE + 5000, INT64_MAX, &entry),
                     ERR_CORRUPT_MESSAGE);
    stop();
}

TEST(a_block_that_cannot_be_written_waits_and_loses_nothing)
{
    start();
    append(1, 513);
    fs_fault_fail_at(disk, 1, ERR_NO_SPACE);
    disk->keeps_failing = disk->only_writes = true;
    assert_int_equal(offset_index_append(&offsets, BASE + 5130, 51300), ERR_NO_SPACE);
    assert_int_equal(offset_index_append(&offsets, BASE + 5140, 51400), ERR_NO_SPACE);
    assert_all_found(513);
    fs_fault_fail_at(disk, 0, 0);
    append(513, 600);
    assert_all_found(600);
    stop();
}
