// SPDX-License-Identifier: Apache-2.0
/* Segments whose files were cut, or have something behind their last batch, after a clean stop. */

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "log_fixture.h"
#include "trace.h"

/* Three closed segments and the active one, of one batch for each offset. */
#define EACH       20
#define DAMAGED    EACH /* Base of the second, which is damaged here. */
#define NEXT       (2 * EACH)
#define END        (3 * EACH + 5)
#define LOG        "00000000000000000020.log"
#define ACTIVE_LOG "00000000000000000060.log"
#define ADDED_MAX  4096

static struct log_fixture fixture;
static struct buffer good;   /* The file, as it was. */
static size_t batch_bytes;   /* All are alike. */
static int lines;            /* That tell of damage, */
static char line_told[1024]; /* the last of them. */

static void take_line(void *context, const char *line)
{
    (void)context;
    if (strstr(line, "is damaged") == NULL) return;
    lines++;
    snprintf(line_told, sizeof line_told, "%s", line);
}

static void start(size_t value_bytes)
{
    struct batch_spec spec = { .value_bytes = value_bytes };
    struct buffer batch;

    fixture_start(&fixture);
    buffer_init(&batch);
    batch_spec_build(&spec, &batch);
    batch_bytes = batch.length;
    buffer_close(&batch);
    fixture.settings.segment_bytes = (int32_t)(EACH * batch_bytes);
    partition_log_set_settings(fixture.log, &fixture.settings);
    fixture_append_many(&fixture, END, value_bytes);
    fixture_stop(&fixture);
    buffer_init(&good);
    fixture_load_file(&fixture, LOG, &good);
    assert_int_equal(good.length, EACH * batch_bytes);
}

static void finish(void)
{
    buffer_close(&good);
}

/* The file becomes this, and the broker starts. */
static void open_with(const char *name, const void *data, size_t length)
{
    fixture_save_file(&fixture, name, data, length);
    fixture_reopen(&fixture);
    lines = 0;
    trace_set_sink(take_line, NULL);
}

static void assert_told(size_t position)
{
    char expected[128];

    snprintf(expected, sizeof expected, LOG " is damaged from position %zu on", position);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(line_told, expected));
}

/* Reads once; whatever comes are the batches from `offset` on, whole, and nothing else. */
static int read_at(int64_t offset, size_t max_bytes, bool may_block, int64_t *next)
{
    struct buffer data;
    struct log_read read = { .from_offset = offset,
                             .below_offset = INT64_MAX,
                             .max_bytes = max_bytes,
                             .at_least_one = true,
                             .may_block = may_block };

    buffer_init(&data);
    int err = fixture_read(&fixture, &read, &data);
    *next = err == 0 ? read.next_offset : offset;
    assert_int_equal(data.length % batch_bytes, 0);
    for (size_t at = 0; at < data.length; at += batch_bytes) {
        struct record_batch batch;
        assert_int_equal(record_batch_read_header(&batch, data.data + at, data.length - at), 0);
        assert_int_equal(batch.size, batch_bytes);
        assert_true(record_batch_crc_is_right(&batch));
        assert_true(batch.base_offset >= offset && batch.base_offset < *next);
        offset = batch.base_offset + 1;
    }
    assert_true(offset <= *next);
    buffer_close(&data);
    return err;
}

/* Reads all there is. What is missing begins at `lost` and goes up to the next segment: readers in there are told,
 * and all others get theirs. */
static void read_across(int64_t lost, size_t max_bytes)
{
    int64_t next;

    for (int64_t offset = 0; offset < END; offset = next) {
        int err = read_at(offset, max_bytes, true, &next);
        if (offset >= lost && offset < NEXT) {
            assert_int_equal(err, ERR_CORRUPT_MESSAGE);
            next = offset + 1;
        } else {
            assert_int_equal(err, 0);
            assert_true(next > offset && (offset >= NEXT || next <= lost));
        }
    }
}

static void read_across_with_any_limit(int64_t lost, size_t first)
{
    static const size_t limits[] = { 1 << 20, 1, 500, 2000 };

    for (size_t i = 0; i < 4; i++)
        read_across(lost, limits[(first + i) % 4]);
}

TEST(of_a_closed_segment_that_was_cut_the_whole_batches_are_read)
{
    start(30);
    for (size_t length = good.length - 1; length > 0; length--) {
        bool is_between_batches = length % batch_bytes == 0;
        int64_t lost = DAMAGED + (int64_t)(length / batch_bytes);
        int64_t next;
        open_with(LOG, good.data, length);
        if (is_between_batches) { /* As if compaction had taken them. */
            assert_int_equal(read_at(DAMAGED, 1 << 20, true, &next), 0);
            assert_int_equal(read_at(lost, 1 << 20, true, &next), 0);
            assert_int_equal(next, NEXT + EACH);
            assert_int_equal(lines, 0);
        } else {
            read_across_with_any_limit(lost, length);
            assert_told(length - length % batch_bytes);
        }
        fixture_stop(&fixture);
    }
    finish();
}

/* `fill` 0: zeros, otherwise a different byte each. */
static void open_with_more(const char *name, size_t added, unsigned fill)
{
    struct buffer data;

    buffer_init(&data);
    buffer_put(&data, good.data, good.length);
    for (size_t i = 0; i < added; i++) {
        uint8_t byte = (uint8_t)(fill * (i * 7 + i / 251 + added));
        buffer_put(&data, &byte, 1);
    }
    open_with(name, data.data, data.length);
    buffer_close(&data);
}

TEST(what_lies_behind_the_last_batch_of_a_closed_segment_goes_to_nobody)
{
    start(30);
    for (unsigned fill = 0; fill < 2; fill++)
        for (size_t added = 1; added <= ADDED_MAX; added += added < 130 ? 1 : 61) {
            open_with_more(LOG, added, fill);
            read_across_with_any_limit(NEXT, added);
            assert_told(good.length);
            fixture_stop(&fixture);
        }
    finish();
}

TEST(zeros_in_the_place_of_the_last_batches_go_to_nobody)
{
    start(30);
    for (size_t zeros = 1; zeros <= good.length; zeros += 5) {
        struct buffer data;
        size_t left = good.length - zeros;
        size_t whole = left / batch_bytes * batch_bytes;
        buffer_init(&data);
        buffer_put(&data, good.data, good.length);
        memset(data.data + left, 0, zeros);
        /* The last byte of a batch is a zero anyway. */
        if (memcmp(data.data + whole, good.data + whole, batch_bytes) == 0) whole += batch_bytes;
        open_with(LOG, data.data, data.length);
        read_across(DAMAGED + (int64_t)(whole / batch_bytes), 1 << 20);
        if (whole < good.length) assert_told(whole);
        fixture_stop(&fixture);
        buffer_close(&data);
    }
    finish();
}

#define AT_LAST_OFFSET_DELTA 23

TEST(a_batch_that_reaches_into_the_next_segment_is_damage)
{
    start(30);
    open_with(LOG, good.data, good.length);
    read_across_with_any_limit(NEXT, 0);
    assert_int_equal(lines, 0);
    fixture_stop(&fixture);
    store_i32(good.data + good.length - batch_bytes + AT_LAST_OFFSET_DELTA, 1);
    open_with(LOG, good.data, good.length);
    read_across_with_any_limit(NEXT - 1, 0);
    assert_told(good.length - batch_bytes);
    fixture_stop(&fixture);
    finish();
}

TEST(an_index_that_is_wrong_is_not_taken_for_a_damaged_end)
{
    struct buffer index;

    start(30);
    buffer_init(&index);
    fixture_load_file(&fixture, "00000000000000000020.index", &index);
    for (size_t at = 0; at < index.length; at += 8)
        store_i32(index.data + at + 4, load_i32(index.data + at + 4) + 7);
    fixture_save_file(&fixture, "00000000000000000020.index", index.data, index.length);
    open_with(LOG, good.data, good.length);
    read_across_with_any_limit(NEXT, 0);
    assert_int_equal(lines, 0);
    fixture_stop(&fixture);
    buffer_close(&index);
    finish();
}

TEST(the_end_of_a_segment_is_looked_at_once_and_never_where_that_would_wait)
{
    int64_t next;

    start(300);
    open_with_more(LOG, 5000, 0);
    assert_int_equal(read_at(DAMAGED, 1, true, &next), 0); /* The file is open. */
    fixture.disk.nothing_cached = true;
    atomic_store(&fixture.disk.log_reads, 0);
    assert_int_equal(read_at(DAMAGED, 1 << 20, false, &next), ERR_NEEDS_IO);
    assert_int_equal(lines, 0);
    assert_int_equal(read_at(DAMAGED, 1 << 20, true, &next), 0);
    assert_int_equal(next, NEXT);
    /* One that did not wait, some that come to the end, and one for the last CRC. */
    assert_true(atomic_load(&fixture.disk.log_reads) <= 5);
    atomic_store(&fixture.disk.log_reads, 0);
    assert_int_equal(read_at(DAMAGED, 1 << 20, false, &next), 0);
    assert_int_equal(next, NEXT);
    assert_int_equal(atomic_load(&fixture.disk.log_reads), 0);
    fixture.disk.nothing_cached = false;
    fixture_stop(&fixture);
    finish();
}

TEST(a_disk_that_fails_while_the_end_is_looked_at_is_not_taken_for_damage)
{
    int64_t next;

    start(30);
    open_with(LOG, good.data, good.length - 1);
    fs_fault_fail_at(&fixture.disk, 1, ERR_IO);
    assert_int_equal(read_at(DAMAGED, 1 << 20, true, &next), ERR_KAFKA_STORAGE_ERROR);
    assert_int_equal(lines, 0);
    fixture_close(&fixture);
    finish();
}

TEST(a_time_is_found_on_both_sides_of_a_damaged_end)
{
    start(30);
    for (size_t cut = 1; cut < 3 * batch_bytes; cut += 29) {
        int64_t lost = NEXT - (int64_t)((cut + batch_bytes - 1) / batch_bytes);
        struct log_position position;
        open_with(LOG, good.data, good.length - cut);
        for (int64_t offset = 0; offset < END; offset++) {
            assert_int_equal(partition_log_find_timestamp(fixture.log, FIXTURE_NOW_MS + offset,
                                                          INT64_MAX, true, &position),
                             0);
            assert_int_equal(position.offset, offset >= lost && offset < NEXT ? NEXT : offset);
        }
        assert_int_equal(partition_log_find_max_timestamp(fixture.log, INT64_MAX, true, &position),
                         0);
        assert_int_equal(position.offset, END - 1);
        assert_int_equal(lines, cut % batch_bytes == 0 ? 0 : 1);
        fixture_stop(&fixture);
    }
    finish();
}

TEST(producers_go_on_beside_a_damaged_segment)
{
    int64_t next;

    start(30);
    open_with(LOG, good.data, good.length - 1);
    read_across_with_any_limit(NEXT - 1, 0);
    fixture_append_many(&fixture, 3, 30);
    assert_int_equal(read_at(END, 1 << 20, true, &next), 0);
    assert_int_equal(next, END + 3);
    assert_int_equal(partition_log_failed(fixture.log), 0);
    fixture_stop(&fixture);
    finish();
}

TEST(a_log_that_is_cut_in_front_of_damage_is_whole_again)
{
    int64_t next;

    start(30);
    open_with_more(LOG, 500, 0);
    read_across_with_any_limit(NEXT, 0);
    assert_int_equal(partition_log_truncate(fixture.log, DAMAGED + 7), 0);
    fixture_append_many(&fixture, 2 * EACH, 30);
    for (int64_t offset = DAMAGED; offset < DAMAGED + 7 + 2 * EACH; offset = next) {
        assert_int_equal(read_at(offset, 1 << 20, true, &next), 0);
        assert_true(next > offset);
    }
    fixture_stop(&fixture);
    finish();
}

TEST(what_lies_behind_the_last_batch_of_all_goes_to_nobody)
{
    int64_t next;

    start(30);
    good.length = 0;
    fixture_load_file(&fixture, ACTIVE_LOG, &good);
    open_with_more(ACTIVE_LOG, 300, 0);
    assert_int_equal(read_at(3 * EACH, 1 << 20, true, &next), 0);
    assert_int_equal(next, END);
    assert_int_equal(read_at(END, 1 << 20, true, &next), 0);
    assert_int_equal(lines, 1);
    fixture_close(&fixture);
    finish();
}
