// SPDX-License-Identifier: Apache-2.0

#include "batch_scan.h"
#include "buffer.h"
#include "error.h"
#include "log_fixture.h"
#include "segment.h"
#include "segment_find.h"

static struct folder_fixture fixture;
static struct fs_fault *disk = &fixture.disk;
static struct segment *segment;
static int log_fd;
static int64_t end_offset;

static void start(void)
{
    folder_fixture_start(&fixture, 100, 100);
    assert_int_equal(segment_create(&segment, fixture.folder, 1000, 0), 0);
    assert_int_equal(segment_begin_append(segment, true, &log_fd), 0);
    end_offset = 1000;
}

static void stop(void)
{
    segment_end_append(segment);
    segment_release(segment);
    folder_fixture_stop(&fixture);
}

/* One batch of `count` records, as a log would write it. */
static void append(int32_t count, size_t value_bytes)
{
    struct buffer data;
    struct record_batch batch;

    buffer_init(&data);
    batch_spec_build(&(struct batch_spec){ .record_count = count,
                                           .value_bytes = value_bytes,
                                           .timestamp = 10 * end_offset },
                     &data);
    record_batch_set_position(data.data, end_offset, 0);
    assert_int_equal(record_batch_read_header(&batch, data.data, data.length), 0);
    struct iovec part = { data.data, data.length };
    assert_int_equal(disk->fs.write(&disk->fs, log_fd, &part, 1, segment->size), 0);
    assert_int_equal(segment_index_batch(segment, &batch, segment->size, 4096), 0);
    segment->size += (int64_t)data.length;
    segment->top = segment->newest;
    end_offset += count;
    buffer_close(&data);
}

static struct segment_view view(bool may_block)
{
    return (struct segment_view){ .segment = segment,
                                  .size = segment->size,
                                  .end_offset = end_offset,
                                  .top = segment->top,
                                  .damage = segment->damage,
                                  .may_block = may_block };
}

TEST(a_new_segment_has_three_empty_files_and_keeps_one_open_at_most)
{
    start();
    assert_int_equal(atomic_load(&disk->open_files), 1); /* Since appending began. */
    segment_end_append(segment);
    segment_let_go(segment);
    assert_int_equal(atomic_load(&disk->open_files), 0);
    segment_release(segment);
    folder_fixture_stop(&fixture);
}

TEST(a_closed_segment_takes_little_memory)
{
    /* DESIGN 4.2: what a log keeps in memory must not grow with its age, but for this. */
    assert_true(sizeof(struct segment) <= 256);
}

TEST(a_pinned_file_is_open_although_it_was_removed)
{
    uint8_t byte;
    size_t got;
    int fd;

    start();
    append(1, 10);
    assert_int_equal(segment_pin(segment, false, &fd), 0);
    segment_end_append(segment);
    assert_int_equal(segment_remove_files(&disk->fs, fixture.folder->path, 1000, ""), 0);
    segment_let_go(segment);
    assert_int_equal(atomic_load(&disk->open_files), 1);
    assert_int_equal(disk->fs.read(&disk->fs, fd, &byte, 1, 0, &got), 0);
    assert_int_equal(got, 1);
    segment_unpin(segment);
    assert_int_equal(atomic_load(&disk->open_files), 0);
    segment_release(segment);
    folder_fixture_stop(&fixture);
}

TEST(hints_go_with_the_open_file)
{
    int64_t position;
    int fd;

    start();
    append(1, 10);
    segment_hint_appended(segment, end_offset, segment->size);
    assert_true(segment_hint(segment, end_offset, &position));
    segment_end_append(segment);
    segment_let_go(segment);
    assert_false(segment_hint(segment, end_offset, &position));
    segment_hint_appended(segment, end_offset, segment->size); /* Nowhere to keep it. */
    assert_int_equal(segment_pin(segment, true, &fd), 0);
    assert_false(segment_hint(segment, end_offset, &position));
    segment_unpin(segment);
    segment_release(segment);
    folder_fixture_stop(&fixture);
}

TEST(names_of_segments_are_20_digits_and_nothing_else)
{
    const char *suffix = "";

    assert_int_equal(segment_parse_name("00000000000000000018.log", &suffix), 18);
    assert_string_equal(suffix, ".log");
    assert_int_equal(segment_parse_name("04611686018427387903.index", &suffix), INT64_MAX / 2);
    assert_int_equal(segment_parse_name("04611686018427387904.index", &suffix), -1);
    assert_int_equal(segment_parse_name("09223372036854775807.index", &suffix), -1);
    assert_int_equal(segment_parse_name("09223372036854775808.index", &suffix), -1);
    assert_int_equal(segment_parse_name("99999999999999999999.index", &suffix), -1);
    assert_int_equal(segment_parse_name("0000000000000000018.log", &suffix), -1);
    assert_int_equal(segment_parse_name("000000000000000000018.log", &suffix), -1);
    assert_int_equal(segment_parse_name("", &suffix), -1);
}

TEST(looking_for_an_offset_costs_a_few_reads_in_a_large_segment)
{
    start();
    for (int i = 0; i < 20000; i++)
        append(1, 100);
    segment_forget_hints(segment);
    for (int64_t offset = 1000; offset < end_offset; offset += 997) {
        struct segment_view now = view(false);
        struct segment_range range;
        long before = atomic_load(&disk->operations);
        assert_int_equal(segment_find(&now, offset, INT64_MAX, 1, true, &range), 0);
        assert_int_equal(range.next_offset, offset + 1);
        assert_true(atomic_load(&disk->operations) - before <= 8);
    }
    stop();
}

TEST(a_hint_saves_even_those)
{
    start();
    for (int i = 0; i < 1000; i++)
        append(1, 100);
    struct segment_view now = view(false);
    struct segment_range range;
    int64_t position;
    assert_int_equal(segment_find_position(&now, 1900, &position), 0);
    segment_hint_handed_out(segment, 1900, position);
    long before = atomic_load(&disk->operations);
    assert_int_equal(segment_find(&now, 1900, INT64_MAX, 1 << 20, true, &range), 0);
    assert_int_equal(atomic_load(&disk->operations) - before, 0);
    assert_int_equal(range.position, position);
    assert_int_equal(range.next_offset, end_offset);
    segment_forget_hints(segment);
    assert_false(segment_hint(segment, 1900, &position));
    stop();
}

TEST(a_closed_segment_is_walked_on_a_loop_only_so_far)
{
    struct segment_range range;

    start();
    for (int i = 0; i < 20000; i++)
        append(1, 100);
    assert_int_equal(segment_write_indexes(segment, false), 0);
    segment_end_append(segment);
    segment_let_go(segment);
    assert_int_equal(segment_pin(segment, true, &log_fd), 0);
    struct segment_view now = view(false);
    /* Where it begins is known; where it ends is looked for in a bounded number of steps. */
    assert_int_equal(segment_find(&now, 1000, 15000, 1 << 30, true, &range), 0);
    assert_true(range.length > 100000);
    assert_true(range.next_offset < 15000);
    now.may_block = true;
    assert_int_equal(segment_find(&now, 1000, 15000, 1 << 30, true, &range), 0);
    assert_int_equal(range.next_offset, 15000);
    segment_unpin(segment);
    segment_release(segment);
    folder_fixture_stop(&fixture);
}

TEST(a_walk_stops_at_what_is_no_whole_batch)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t position;

    start();
    append(3, 100);
    append(2, 5000);
    int64_t whole = segment->size;
    batch_scan_init(&scan, &disk->fs, log_fd, 0, whole - 1, true);
    assert_int_equal(batch_scan_next(&scan, &batch, &position), 0);
    assert_int_equal(batch.base_offset, 1000);
    assert_int_equal(position, 0);
    assert_int_equal(batch_scan_next(&scan, &batch, &position), ERR_CORRUPT_MESSAGE);
    scan.end = whole;
    assert_int_equal(batch_scan_next(&scan, &batch, &position), 0);
    assert_int_equal(batch.base_offset, 1003);
    assert_int_equal(batch_scan_next(&scan, &batch, &position), ERR_NOT_FOUND);
    stop();
}

TEST(a_crc_is_checked_through_a_small_buffer)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t position;
    uint8_t buffer[1000];

    start();
    append(2, 5000);
    batch_scan_init(&scan, &disk->fs, log_fd, 0, segment->size, true);
    assert_int_equal(batch_scan_next(&scan, &batch, &position), 0);
    assert_int_equal(batch_scan_check_crc(&scan, &batch, position, buffer, sizeof buffer), 0);
    struct iovec part = { buffer, 1 };
    buffer[0] ^= 1;
    assert_int_equal(disk->fs.write(&disk->fs, log_fd, &part, 1, segment->size - 1), 0);
    assert_int_equal(batch_scan_check_crc(&scan, &batch, position, buffer, sizeof buffer),
                     ERR_CORRUPT_MESSAGE);
    stop();
}

TEST(files_are_renamed_and_removed_the_log_last)
{
    bool exists;
    char path[PATH_MAX];

    start();
    disk->only_writes = true;
    fs_fault_fail_at(disk, 3, ERR_IO); /* The third rename: .index and .timeindex are done. */
    assert_int_equal(segment_rename_deleted(segment), ERR_IO);
    assert_int_equal(segment_path(fixture.folder->path, 1000, ".log", path), 0);
    assert_int_equal(disk->fs.exists(&disk->fs, path, &exists), 0);
    assert_true(exists);
    fs_fault_fail_at(disk, 0, 0);
    assert_int_equal(segment_rename_deleted(segment), 0);
    assert_int_equal(segment_remove_files(&disk->fs, fixture.folder->path, 1000, ".deleted"), 0);
    assert_int_equal(segment_remove_files(&disk->fs, fixture.folder->path, 1000, ".deleted"), 0);
    assert_int_equal(disk->fs.remove_folder(&disk->fs, fixture.folder->path), 0); /* Empty. */
    stop();
}
