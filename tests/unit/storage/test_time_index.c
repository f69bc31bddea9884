// SPDX-License-Identifier: Apache-2.0

#include "bytes.h"
#include "error.h"
#include "log_fixture.h"
#include "time_index.h"

#define BASE INT64_C(1000)

static struct folder_fixture fixture;
static struct time_index times;
static char path[PATH_MAX];

static void init(void)
{
    folder_fixture_start(&fixture, 100, 100);
    assert_int_equal(segment_path(fixture.folder->path, BASE, ".timeindex", path), 0);
    time_index_init(&times, fixture.folder, BASE);
}

static void start(void)
{
    init();
    assert_int_equal(index_file_begin_append(&times.file, true), 0);
}

/* Between begin and end of appending. */
static void stop(void)
{
    index_file_end_append(&times.file);
    time_index_close(&times);
    folder_fixture_stop(&fixture);
}

static struct time_index_entry find(int64_t timestamp, int64_t below_offset)
{
    struct time_index_entry entry;

    assert_int_equal(time_index_find(&times, true, timestamp, below_offset, &entry), 0);
    return entry;
}

TEST(a_timestamp_that_is_no_news_gets_no_entry)
{
    start();
    assert_int_equal(time_index_append(&times, -1, BASE), 0);
    assert_int_equal(times.file.count, 0);
    assert_int_equal(time_index_append(&times, 500, BASE + 3), 0);
    assert_int_equal(time_index_append(&times, 500, BASE + 3), 0);
    assert_int_equal(time_index_append(&times, 400, BASE + 9), 0);
    assert_int_equal(times.file.count, 1);
    stop();
}

TEST(the_last_entry_before_a_time_is_found)
{
    for (int count = 1; count < 1500; count = count * 3 + 1) {
        start();
        for (int i = 1; i <= count; i++)
            assert_int_equal(time_index_append(&times, 100 * i, BASE + 10 * i), 0);
        assert_int_equal(find(100, INT64_MAX).timestamp, -1);
        assert_int_equal(find(100, INT64_MAX).offset, BASE);
        for (int i = 1; i <= count; i++) {
            assert_int_equal(find(100 * i + 1, INT64_MAX).offset, BASE + 10 * i);
            assert_int_equal(find(INT64_MAX, BASE + 10 * i + 1).timestamp, 100 * i);
        }
        stop();
    }
}

TEST(the_file_has_kafkas_bytes_and_is_read_back)
{
    uint8_t bytes[13];
    size_t got;
    int fd;

    start();
    assert_int_equal(time_index_append(&times, 0x18bcfe56bea, BASE + 5), 0);
    assert_int_equal(index_file_write_out(&times.file, false), 0);
    assert_int_equal(fixture.disk.fs.open(&fixture.disk.fs, path, FS_READ, &fd), 0);
    assert_int_equal(fixture.disk.fs.read(&fixture.disk.fs, fd, bytes, sizeof bytes, 0, &got), 0);
    assert_int_equal(got, 12);
    assert_memory_equal(bytes, "\0\0\1\x8b\xcf\xe5\x6b\xea\0\0\0\5", 12);
    fixture.disk.fs.close(&fixture.disk.fs, fd);
    index_file_end_append(&times.file);
    time_index_close(&times);
    time_index_init(&times, fixture.folder, BASE);
    assert_int_equal(time_index_load(&times, false), 0);
    assert_int_equal(index_file_begin_append(&times.file, true), 0);
    assert_int_equal(time_index_last(&times).timestamp, 0x18bcfe56bea);
    assert_int_equal(time_index_last(&times).offset, BASE + 5);
    stop();
}

TEST(a_truncated_time_index_knows_what_came_last)
{
    start();
    for (int i = 1; i <= 300; i++)
        assert_int_equal(time_index_append(&times, 100 * i, BASE + 10 * i), 0);
    index_file_end_append(&times.file);
    assert_int_equal(time_index_truncate(&times, BASE + 1000), 0);
    assert_int_equal(index_file_begin_append(&times.file, true), 0);
    assert_int_equal(time_index_last(&times).timestamp, 9900);
    assert_int_equal(time_index_append(&times, 9901, BASE + 1000), 0);
    assert_int_equal(find(INT64_MAX, INT64_MAX).timestamp, 9901);
    index_file_end_append(&times.file);
    assert_int_equal(time_index_truncate(&times, BASE), 0);
    assert_int_equal(index_file_begin_append(&times.file, true), 0);
    assert_int_equal(time_index_last(&times).timestamp, -1);
    stop();
}

TEST(what_cannot_be_a_time_index_is_refused)
{
    uint8_t bytes[12] = { 0 };
    struct time_index_entry entry;

    for (int i = 0; i < 3; i++) {
        init();
        store_i64(bytes, i == 0 ? -5 : 5);
        store_i32(bytes + 8, i == 1 ? -5 : 5);
        assert_int_equal(
            fs_write_file(&fixture.disk.fs, path, bytes, i == 2 ? 11 : sizeof bytes, false), 0);
        int err = time_index_load(&times, false);
        if (err == 0) err = time_index_find(&times, true, INT64_MAX, INT64_MAX, &entry);
        assert_int_equal(err, ERR_CORRUPT_MESSAGE);
        time_index_close(&times);
        folder_fixture_stop(&fixture);
    }
}
