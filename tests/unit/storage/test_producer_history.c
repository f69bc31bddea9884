// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "batch_builder.h"
#include "crc32c.h"
#include "error.h"
#include "producer_history.h"

static struct producer_history *opened(void)
{
    struct producer_history *history;
    assert_int_equal(producer_history_open(&history), 0);
    return history;
}

/* A batch of `count` records, as it lies in the log. */
static struct record_batch data(int64_t base_offset, int64_t producer_id, int16_t epoch,
                                int32_t sequence, int32_t count, int64_t timestamp)
{
    return (struct record_batch){ .base_offset = base_offset,
                                  .magic = 2,
                                  .last_offset_delta = count - 1,
                                  .max_timestamp = timestamp,
                                  .producer_id = producer_id,
                                  .producer_epoch = epoch,
                                  .base_sequence = sequence,
                                  .record_count = count };
}

static struct record_batch transactional(struct record_batch batch)
{
    batch.attributes |= BATCH_TRANSACTIONAL;
    return batch;
}

static void add(struct producer_history *history, struct record_batch batch)
{
    assert_int_equal(producer_history_add(history, &batch, batch.max_timestamp), 0);
}

static void add_marker_of_type(struct producer_history *history, int64_t offset,
                               int64_t producer_id, int16_t epoch, int16_t type, int64_t timestamp)
{
    uint8_t key[4] = { 0 }, value[6] = { 0 };
    struct batch_builder builder;
    struct buffer out;
    struct record_batch batch;
    store_i16(key + 2, type);
    store_i32(value + 2, 13);
    batch_builder_init(&builder);
    buffer_init(&out);
    builder.base_offset = offset;
    builder.attributes = BATCH_CONTROL | BATCH_TRANSACTIONAL;
    builder.producer_id = producer_id;
    builder.producer_epoch = epoch;
    batch_builder_append(&builder, timestamp, (struct bytes){ key, 4 }, (struct bytes){ value, 6 },
                         NULL, 0);
    assert_int_equal(batch_builder_finish(&builder, &out), 0);
    assert_int_equal(record_batch_read_header(&batch, out.data, out.length), 0);
    add(history, batch);
    batch_builder_close(&builder);
    buffer_close(&out);
}

static void add_commit(struct producer_history *history, int64_t offset, int64_t producer_id,
                       int16_t epoch)
{
    add_marker_of_type(history, offset, producer_id, epoch, 1, 500);
}

static int answer(const struct producer_history *history, struct record_batch batch)
{
    struct producer_verdict verdict;
    producer_history_check(history, &batch, &verdict);
    return verdict.err;
}

static struct buffer snapshot_of(const struct producer_history *history)
{
    struct buffer out;
    buffer_init(&out);
    assert_int_equal(producer_history_write(history, &out), 0);
    return out;
}

static struct buffer file(const char *name)
{
    char path[100];
    struct buffer out;
    snprintf(path, sizeof path, "data/segment/%s.snapshot", name);
    FILE *in = fopen(test_data(path), "rb");
    assert_non_null(in);
    buffer_init(&out);
    out.length = fread(buffer_extend(&out, 4096), 1, 4096, in);
    fclose(in);
    return out;
}

static void assert_snapshot_is(const struct producer_history *history, const char *name)
{
    struct buffer expected = file(name), written = snapshot_of(history);
    assert_int_equal(written.length, expected.length);
    assert_memory_equal(written.data, expected.data, expected.length);
    buffer_close(&expected);
    buffer_close(&written);
}

TEST(kafkas_snapshots_survive_reading_and_writing_byte_by_byte)
{
    static const char *const names[] = { "00000000000000000018", "00000000000000000024",
                                         "00000000000000000045" };
    struct producer_history *history = opened();
    for (size_t i = 0; i < 3; i++) {
        struct buffer snapshot = file(names[i]);
        assert_int_equal(
            producer_history_read(history, snapshot.data, snapshot.length, INT64_MIN, INT64_MAX),
            0);
        assert_snapshot_is(history, names[i]);
        buffer_close(&snapshot);
    }
    assert_int_equal(producer_history_count(history), 3);
    assert_int_equal(producer_history_first_open(history), 24);
    producer_history_close(history);
}

/* The batches of that log, in order. */
TEST(replaying_a_log_of_kafkas_gives_kafkas_snapshots)
{
    struct producer_history *history = opened();
    add(history, data(12, 4711, 0, 0, 1, 1700000005000));
    add(history, data(13, 4711, 0, 1, 5, 1700000005104));
    assert_snapshot_is(history, "00000000000000000018");
    add(history, transactional(data(18, 9000, 0, 0, 1, 1700000006000)));
    add(history, transactional(data(19, 9001, 3, 0, 1, 1700000006001)));
    add(history, transactional(data(20, 9000, 0, 1, 1, 1700000006002)));
    assert_int_equal(producer_history_first_open(history), 18);
    add_marker_of_type(history, 21, 9000, 0, 0, 1700000006100);
    assert_int_equal(producer_history_first_open(history), 19);
    add_marker_of_type(history, 22, 9001, 3, 1, 1700000006200);
    assert_int_equal(producer_history_first_open(history), -1);
    add(history, data(23, -1, -1, -1, 1, 1700000006300));
    assert_snapshot_is(history, "00000000000000000024");
    add(history, transactional(data(24, 9000, 0, 2, 1, 1700000007000)));
    assert_snapshot_is(history, "00000000000000000045");
    producer_history_close(history);
}

TEST(a_damaged_snapshot_is_refused_and_changes_nothing)
{
    struct producer_history *history = opened();
    add(history, data(5, 77, 0, 0, 1, 100));
    struct buffer snapshot = file("00000000000000000045"), before = snapshot_of(history);
    for (size_t i = 0; i < snapshot.length; i++) {
        snapshot.data[i] ^= 1;
        assert_int_equal(
            producer_history_read(history, snapshot.data, snapshot.length, INT64_MIN, INT64_MAX),
            ERR_CORRUPT_MESSAGE);
        snapshot.data[i] ^= 1;
        uint8_t *cut = malloc(i);
        memcpy(cut, snapshot.data, i);
        assert_int_equal(producer_history_read(history, cut, i, INT64_MIN, INT64_MAX),
                         ERR_CORRUPT_MESSAGE);
        free(cut);
    }
    struct buffer after = snapshot_of(history);
    assert_int_equal(after.length, before.length);
    assert_memory_equal(after.data, before.data, before.length);
    buffer_close(&snapshot);
    buffer_close(&before);
    buffer_close(&after);
    producer_history_close(history);
}

TEST(after_a_snapshot_only_the_newest_batch_is_known)
{
    struct producer_history *history = opened(), *later = opened();
    for (int i = 0; i < 3; i++)
        add(history, data(10 + i, 1, 0, i, 1, 100));
    struct buffer snapshot = snapshot_of(history);
    assert_int_equal(
        producer_history_read(later, snapshot.data, snapshot.length, INT64_MIN, INT64_MAX), 0);
    struct producer_verdict verdict;
    struct record_batch repeat = data(0, 1, 0, 2, 1, 100);
    producer_history_check(later, &repeat, &verdict);
    assert_true(verdict.is_repeat);
    assert_int_equal(verdict.base_offset, 12);
    assert_int_equal(answer(later, data(0, 1, 0, 1, 1, 100)), ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(answer(later, data(0, 1, 0, 3, 1, 100)), 0);
    buffer_close(&snapshot);
    producer_history_close(history);
    producer_history_close(later);
}

TEST(a_repeat_is_answered_with_the_original)
{
    struct producer_history *history = opened();
    add(history, data(40, 1, 0, INT32_MAX - 1, 4, 123));
    struct record_batch repeat = data(0, 1, 0, INT32_MAX - 1, 4, 999);
    struct producer_verdict verdict;
    producer_history_check(history, &repeat, &verdict);
    assert_int_equal(verdict.err, 0);
    assert_true(verdict.is_repeat);
    assert_int_equal(verdict.base_offset, 40);
    assert_int_equal(verdict.last_offset, 43);
    assert_int_equal(verdict.timestamp, 123);
    producer_history_close(history);
}

TEST(a_batch_without_producer_id_is_always_fine)
{
    struct producer_history *history = opened();
    assert_int_equal(answer(history, data(0, -1, -1, -1, 1, 0)), 0);
    add(history, data(0, -1, -1, -1, 1, 0));
    assert_int_equal(producer_history_count(history), 0);
    producer_history_close(history);
}

TEST(a_client_cannot_send_what_only_brokers_write)
{
    struct producer_history *history = opened();
    struct record_batch batch = data(0, 1, 0, 0, 1, 0);
    batch.attributes = BATCH_CONTROL;
    assert_int_equal(answer(history, batch), ERR_INVALID_RECORD);
    assert_int_equal(answer(history, data(0, 1, 0, -1, 1, 0)), ERR_INVALID_RECORD);
    producer_history_close(history);
}

/* KIP-890: the marker has the next epoch, in which sequences begin at 0. */
TEST(a_marker_with_a_new_epoch_fences_the_old_one)
{
    struct producer_history *history = opened();
    add(history, transactional(data(0, 1, 4, 0, 10, 100)));
    add_commit(history, 10, 1, 5);
    assert_int_equal(answer(history, transactional(data(0, 1, 4, 10, 1, 100))),
                     ERR_INVALID_PRODUCER_EPOCH);
    assert_int_equal(answer(history, transactional(data(0, 1, 5, 10, 1, 100))),
                     ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_int_equal(answer(history, transactional(data(0, 1, 5, 0, 1, 100))), 0);
    producer_history_close(history);
}

TEST(a_control_record_that_ends_nothing_is_passed_over)
{
    struct producer_history *history = opened();
    add(history, transactional(data(0, 1, 0, 0, 1, 100)));
    add_marker_of_type(history, 1, 1, 0, 2, 100);
    assert_int_equal(producer_history_first_open(history), 0);
    add_marker_of_type(history, 2, 1, 0, 0, 100);
    assert_int_equal(producer_history_first_open(history), -1);
    producer_history_close(history);
}

TEST(the_oldest_open_transaction_is_known_in_any_order_of_ending)
{
    struct producer_history *history = opened();
    for (int i = 0; i < 4; i++)
        add(history, transactional(data(100 + i, i, 0, 0, 1, 100)));
    add_commit(history, 104, 2, 0);
    assert_int_equal(producer_history_first_open(history), 100);
    add_commit(history, 105, 0, 0);
    assert_int_equal(producer_history_first_open(history), 101);
    add_commit(history, 106, 1, 0);
    assert_int_equal(producer_history_first_open(history), 103);
    add_commit(history, 107, 3, 0);
    assert_int_equal(producer_history_first_open(history), -1);
    producer_history_close(history);
}

TEST(idle_producers_expire_but_none_with_an_open_transaction)
{
    struct producer_history *history = opened();
    add(history, data(0, 1, 0, 7, 1, 100));
    add(history, data(1, 2, 0, 7, 1, 200));
    add(history, transactional(data(2, 3, 0, 7, 1, 100)));
    producer_history_expire(history, 200);
    assert_int_equal(producer_history_count(history), 2);
    assert_int_equal(producer_history_first_open(history), 2);
    assert_int_equal(answer(history, data(0, 1, 0, 50, 1, 300)), 0);
    assert_int_equal(answer(history, data(0, 2, 0, 50, 1, 300)), ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    producer_history_clear(history);
    assert_int_equal(producer_history_count(history), 0);
    assert_int_equal(producer_history_first_open(history), -1);
    producer_history_close(history);
}

TEST(a_producer_expires_by_when_it_was_heard_of_not_by_what_it_says)
{
    struct producer_history *history = opened();
    struct record_batch late = data(0, 1, 0, 0, 1, INT64_MAX), old = data(1, 2, 0, 0, 1, 5);
    assert_int_equal(producer_history_add(history, &late, 100), 0);
    assert_int_equal(producer_history_add(history, &old, 200), 0);
    producer_history_expire(history, 150);
    assert_int_equal(producer_history_count(history), 1);
    assert_int_equal(answer(history, data(0, 2, 0, 5, 1, 5)), ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    producer_history_close(history);
}

TEST(producers_that_have_expired_are_not_read_back)
{
    struct producer_history *history = opened(), *later = opened();
    add(history, data(0, 1, 0, 0, 1, 100));
    add(history, data(1, 2, 0, 0, 1, 200));
    add(history, data(2, 3, 0, 0, 1, INT64_MAX));
    add(history, transactional(data(3, 4, 0, 0, 1, 100)));
    struct buffer snapshot = snapshot_of(history);
    assert_int_equal(producer_history_read(later, snapshot.data, snapshot.length, 200, 1000), 0);
    assert_int_equal(producer_history_count(later), 3);
    assert_int_equal(producer_history_first_open(later), 3);
    /* Nobody was heard of after now. */
    producer_history_expire(later, 1001);
    assert_int_equal(producer_history_count(later), 1);
    buffer_close(&snapshot);
    producer_history_close(history);
    producer_history_close(later);
}

TEST(where_there_are_too_many_who_was_heard_of_longest_ago_is_forgotten)
{
    struct producer_history *history = opened();
    struct record_batch open = transactional(data(0, 1, 0, 0, 1, 0));
    assert_int_equal(producer_history_add(history, &open, 0), 0);
    for (int64_t i = 2; i < 3 * PRODUCERS_MAX; i++) {
        struct record_batch batch = data(i, i, 0, 0, 1, i);
        assert_int_equal(producer_history_add(history, &batch, i), 0);
        assert_true(producer_history_count(history) <= PRODUCERS_MAX);
    }
    assert_true(producer_history_count(history) > PRODUCERS_MAX / 2);
    assert_int_equal(producer_history_first_open(history), 0);
    /* The last half of the limit is still known. */
    for (int64_t i = 3 * PRODUCERS_MAX - PRODUCERS_MAX / 2; i < 3 * PRODUCERS_MAX; i++) {
        struct producer_snapshot found;
        assert_true(producer_history_find(history, i, &found));
    }
    producer_history_close(history);
}

/* ---- the file of recent batches */

static struct buffer batches_of(const struct producer_history *history, size_t expected)
{
    struct buffer out;
    size_t count = 0;
    buffer_init(&out);
    assert_int_equal(producer_history_write_batches(history, &out, &count), 0);
    assert_int_equal(count, expected);
    return out;
}

static bool is_repeat(const struct producer_history *history, struct record_batch batch,
                      int64_t base_offset)
{
    struct producer_verdict verdict;
    producer_history_check(history, &batch, &verdict);
    return verdict.err == 0 && verdict.is_repeat && verdict.base_offset == base_offset;
}

/* Seven batches of two records, of which the last five are remembered. */
static struct producer_history *with_seven_batches(void)
{
    struct producer_history *history = opened();
    for (int i = 0; i < 7; i++)
        add(history, data(100 + 2 * i, 1, 3, 2 * i, 2, 50));
    add(history, data(200, 2, 0, 0, 1, 50)); /* One with a single batch. */
    return history;
}

static void assert_repeats_known(const struct producer_history *history, int from, int to)
{
    for (int i = 0; i < 7; i++)
        if (is_repeat(history, data(0, 1, 3, 2 * i, 2, 50), 100 + 2 * i) != (i >= from && i < to))
            fail_msg("the batch at %d", 100 + 2 * i);
}

TEST(with_the_file_of_recent_batches_the_last_five_are_known_again)
{
    struct producer_history *history = with_seven_batches(), *later = opened();
    struct buffer snapshot = snapshot_of(history), batches = batches_of(history, 1);
    bool has_more;
    assert_int_equal(
        producer_history_read(later, snapshot.data, snapshot.length, INT64_MIN, INT64_MAX), 0);
    assert_repeats_known(later, 6, 7);
    assert_int_equal(
        producer_history_merge_batches(later, batches.data, batches.length, 201, &has_more), 0);
    assert_false(has_more);
    assert_repeats_known(later, 2, 7);
    assert_int_equal(answer(later, data(0, 1, 3, 14, 1, 50)), 0); /* And the next one is. */
    buffer_close(&snapshot);
    buffer_close(&batches);
    producer_history_close(history);
    producer_history_close(later);
}

TEST(batches_that_the_log_has_lost_are_not_known_again)
{
    struct producer_history *history = with_seven_batches(), *later = opened();
    struct buffer batches = batches_of(history, 1);
    bool has_more;
    add(later, data(110, 1, 3, 10, 2, 50)); /* The log was cut behind it. */
    assert_int_equal(
        producer_history_merge_batches(later, batches.data, batches.length, 112, &has_more), 0);
    assert_true(has_more);
    assert_repeats_known(later, 2, 6);
    buffer_close(&batches);
    producer_history_close(history);
    producer_history_close(later);
}

TEST(recent_batches_of_another_epoch_or_of_nobody_are_passed_over)
{
    struct producer_history *history = with_seven_batches(), *later = opened();
    struct buffer batches = batches_of(history, 1);
    bool has_more;
    add(later, data(300, 1, 4, 0, 1, 50));
    assert_int_equal(
        producer_history_merge_batches(later, batches.data, batches.length, 301, &has_more), 0);
    assert_int_equal(producer_history_count(later), 1);
    assert_int_equal(answer(later, data(0, 1, 3, 12, 2, 50)), ERR_INVALID_PRODUCER_EPOCH);
    struct buffer none = batches_of(later, 0);
    buffer_close(&none);
    buffer_close(&batches);
    producer_history_close(history);
    producer_history_close(later);
}

TEST(a_damaged_file_of_recent_batches_is_refused)
{
    struct producer_history *history = with_seven_batches();
    struct buffer batches = batches_of(history, 1);
    bool has_more;
    for (size_t i = 0; i < batches.length; i++) {
        batches.data[i] ^= 1;
        assert_int_equal(
            producer_history_merge_batches(history, batches.data, batches.length, 1000, &has_more),
            ERR_CORRUPT_MESSAGE);
        batches.data[i] ^= 1;
        uint8_t *cut = malloc(i);
        memcpy(cut, batches.data, i);
        assert_int_equal(producer_history_merge_batches(history, cut, i, 1000, &has_more),
                         ERR_CORRUPT_MESSAGE);
        free(cut);
    }
    /* Counts that promise more than there is, with a CRC that fits. */
    static const struct {
        size_t at;
        uint8_t value;
    } lies[] = { { 6, 0x7f }, { 6, 0xff }, { 9, 2 }, { 20, 1 }, { 20, 6 }, { 20, 4 } };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        uint8_t before = batches.data[lies[i].at];
        batches.data[lies[i].at] = lies[i].value;
        store_i32(batches.data + 2, (int32_t)crc32c(batches.data + 6, batches.length - 6));
        assert_int_equal(
            producer_history_merge_batches(history, batches.data, batches.length, 1000, &has_more),
            ERR_CORRUPT_MESSAGE);
        batches.data[lies[i].at] = before;
    }
    buffer_close(&batches);
    producer_history_close(history);
}

TEST(a_snapshot_whose_open_transactions_stand_in_the_worst_order_is_read_at_once)
{
    enum { COUNT = 90000 };
    struct buffer snapshot;
    struct producer_history *history = opened();
    buffer_init(&snapshot);
    buffer_i16(&snapshot, 1);
    buffer_i32(&snapshot, 0);
    buffer_i32(&snapshot, COUNT);
    for (int i = 0; i < COUNT; i++) {
        buffer_i64(&snapshot, i);
        buffer_i16(&snapshot, 0);
        buffer_i32(&snapshot, 0);
        buffer_i64(&snapshot, 1000000 - i);
        buffer_i32(&snapshot, 0);
        buffer_i64(&snapshot, 100);
        buffer_i32(&snapshot, -1);
        buffer_i64(&snapshot, 1000000 - i);
    }
    store_i32(snapshot.data + 2, (int32_t)crc32c(snapshot.data + 6, snapshot.length - 6));
    assert_int_equal(
        producer_history_read(history, snapshot.data, snapshot.length, INT64_MIN, INT64_MAX), 0);
    assert_int_equal(producer_history_first_open(history), 1000000 - COUNT + 1);
    buffer_close(&snapshot);
    producer_history_close(history);
}

TEST(thousands_of_producers_are_told_apart)
{
    struct producer_history *history = opened(), *copy = opened();
    for (int i = 0; i < 5000; i++)
        add(history, data(i, (int64_t)i << 20, (int16_t)(i % 7), i, 1, i));
    struct buffer snapshot = snapshot_of(history);
    assert_int_equal(snapshot.length, 10 + 5000 * 46);
    assert_int_equal(
        producer_history_read(copy, snapshot.data, snapshot.length, INT64_MIN, INT64_MAX), 0);
    for (int i = 0; i < 5000; i++) {
        int64_t id = (int64_t)i << 20;
        assert_int_equal(answer(copy, data(0, id, (int16_t)(i % 7), i + 1, 1, 0)), 0);
        assert_int_equal(answer(copy, data(0, id, (int16_t)(i % 7), i + 2, 1, 0)),
                         ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    }
    buffer_close(&snapshot);
    producer_history_close(history);
    producer_history_close(copy);
}

TEST(lack_of_memory_changes_nothing_and_leaks_nothing)
{
    struct producer_history *history = opened();
    add(history, data(0, 1, 0, 0, 1, 100));
    struct record_batch batch = transactional(data(1, 2, 0, 0, 1, 100));
    int err = ERR_NO_MEMORY;
    for (int nth = 1; err != 0; nth++) {
        mem_fail_at(nth);
        err = producer_history_add(history, &batch, batch.max_timestamp);
        mem_fail_at(0);
        assert_int_equal(producer_history_count(history), err == 0 ? 2 : 1);
        assert_int_equal(producer_history_first_open(history), err == 0 ? 1 : -1);
    }
    struct buffer snapshot = snapshot_of(history);
    err = ERR_NO_MEMORY;
    for (int nth = 1; err != 0; nth++) {
        struct buffer out;
        buffer_init(&out);
        mem_fail_at(nth);
        err = producer_history_read(history, snapshot.data, snapshot.length, INT64_MIN, INT64_MAX);
        if (err == 0) err = producer_history_write(history, &out);
        mem_fail_at(0);
        assert_int_equal(producer_history_count(history), 2);
        assert_int_equal(producer_history_first_open(history), 1);
        buffer_close(&out);
    }
    buffer_close(&snapshot);
    producer_history_close(history);
}
