// SPDX-License-Identifier: Apache-2.0
/* A partition that a real Kafka (4.4) wrote: three transactional producers, an idempotent one and another,
 * with transactions that were committed, aborted and left open. What it says of itself (its dump tool)
 * is what we say of it; and its batches give the same files here. */

#include "runner.h"

#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "kafkas_transactions.h"
#include "log_fixture.h"

static struct log_fixture fixture;

#define FIRST_SEGMENT  "00000000000000000000"
#define SECOND_SEGMENT "00000000000000000028"
#define SECOND_BASE    28
#define END_OFFSET     KAFKAS_TRANSACTIONS_END
#define FIRST_OPEN     KAFKAS_FIRST_OPEN

static const struct aborted_transaction aborted[] = {
#define ROW(producer, first, last, stable) { producer, first, last, stable },
    KAFKAS_ABORTED_TRANSACTIONS(ROW)
#undef ROW
};
#define ABORTED_COUNT (sizeof aborted / sizeof aborted[0])

static void init_with_kafkas_folder(void)
{
    char topic_id[] = "s3Gu1hlvSdC7nMTQ2Ruodw";
    const char *folder = test_folder();
    copy_tree(test_data("data/transactions"), folder);
    fixture_init(&fixture, folder);
    assert_int_equal(uuid_parse(&fixture.topic_id, topic_id), 0);
}

static void assert_aborted_are_kafkas(void)
{
    for (int64_t from = 0; from < FIRST_OPEN; from++) {
        for (int64_t below = from + 1; below <= FIRST_OPEN; below++) {
            struct log_aborted wanted = { from, below, SIZE_MAX, true, { 0 } };
            size_t expected = 0;
            assert_int_equal(partition_log_aborted(fixture.log, &wanted), 0);
            for (size_t i = 0; i < ABORTED_COUNT; i++) {
                if (aborted[i].last_offset < from || aborted[i].first_offset >= below) continue;
                expected++;
                bool is_there = false;
                for (size_t k = 0; k < wanted.list.count; k++)
                    is_there |= memcmp(&wanted.list.items[k], &aborted[i], sizeof aborted[i]) == 0;
                assert_true(is_there);
            }
            assert_int_equal(wanted.list.count, expected);
            log_aborted_release(&wanted);
        }
    }
}

static void assert_producers_are_kafkas(void)
{
    /* id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, open from */
    static const struct producer_snapshot expected[] = {
        { 0, 7, -1, -1, 0, 1796048921777, 0, -1 }, { 1, 7, -1, -1, 0, 1796048921789, 0, -1 },
        { 2, 1, 1, 50, 0, 1796048921931, 0, 48 },  { 3, 0, 8, 44, 0, 1796048921768, -1, -1 },
        { 4, 0, 0, 49, 0, 1796048921877, -1, -1 },
    };
    const struct producer_history *producers = partition_log_producers(fixture.log);
    assert_int_equal(producer_history_count(producers), 5);
    for (size_t i = 0; i < 5; i++) {
        struct producer_snapshot found;
        assert_true(producer_history_find(producers, expected[i].id, &found));
        assert_int_equal(found.epoch, expected[i].epoch);
        assert_int_equal(found.last_sequence, expected[i].last_sequence);
        assert_int_equal(found.last_offset, expected[i].last_offset);
        assert_int_equal(found.timestamp, expected[i].timestamp);
        assert_int_equal(found.coordinator_epoch, expected[i].coordinator_epoch);
        assert_int_equal(found.first_open_offset, expected[i].first_open_offset);
    }
}

static void assert_all_is_as_kafka_says(void)
{
    assert_int_equal(partition_log_end_offset(fixture.log), END_OFFSET);
    assert_int_equal(partition_log_first_unstable_offset(fixture.log, END_OFFSET), FIRST_OPEN);
    assert_aborted_are_kafkas();
    assert_producers_are_kafkas();
}

static void assert_is_kafkas_file(const char *name)
{
    struct log_fixture original;
    struct buffer ours, kafkas;
    fixture_init(&original, test_data("data/transactions"));
    buffer_init(&ours);
    buffer_init(&kafkas);
    fixture_load_file(&original, name, &kafkas);
    fixture_load_file(&fixture, name, &ours);
    if (ours.length != kafkas.length || memcmp(ours.data, kafkas.data, ours.length) != 0)
        fail_msg("%s has other bytes than Kafka's", name);
    buffer_close(&ours);
    buffer_close(&kafkas);
}

static void forget_where_it_is_on_disk(int recovery_point)
{
    char text[64];
    int length = snprintf(text, sizeof text, "0\n1\norders 0 %d\n", recovery_point);
    fixture_remove_file(&fixture, "../.kafka_cleanshutdown");
    fixture_save_file(&fixture, "../recovery-point-offset-checkpoint", text, (size_t)length);
}

TEST(kafkas_transactions_are_what_kafka_says)
{
    init_with_kafkas_folder();
    fixture_reopen(&fixture);
    assert_int_equal(atomic_load(&fixture.disk.log_reads), 0); /* A clean start. */
    assert_all_is_as_kafka_says();
    fixture_close(&fixture);
}

TEST(so_they_are_when_kafka_was_killed)
{
    for (int recovery_point = 0; recovery_point <= END_OFFSET; recovery_point += 3) {
        init_with_kafkas_folder();
        forget_where_it_is_on_disk(recovery_point);
        fixture_remove_file(&fixture, "00000000000000000051.snapshot");
        fixture_reopen(&fixture);
        assert_all_is_as_kafka_says();
        fixture_close(&fixture);
        assert_is_kafkas_file(FIRST_SEGMENT ".txnindex");
        assert_is_kafkas_file(SECOND_SEGMENT ".txnindex");
    }
}

TEST(kafkas_transaction_indexes_are_built_again_byte_for_byte)
{
    static const char *const names[] = { FIRST_SEGMENT ".txnindex", SECOND_SEGMENT ".txnindex" };
    for (int which = 0; which < 4; which++) {
        init_with_kafkas_folder();
        fixture_save_file(&fixture, names[which % 2], "torn", 4);
        if (which >= 2) {
            forget_where_it_is_on_disk(40);
            fixture_remove_file(&fixture, SECOND_SEGMENT ".snapshot");
        }
        fixture_reopen(&fixture);
        assert_all_is_as_kafka_says();
        fixture_close(&fixture);
        assert_is_kafkas_file(FIRST_SEGMENT ".txnindex");
        assert_is_kafkas_file(SECOND_SEGMENT ".txnindex");
    }
}

/* As a follower does it, and rolled where Kafka rolled. */
static void replicate(const struct log_fixture *original, const char *segment)
{
    char name[64];
    struct buffer log;
    snprintf(name, sizeof name, "%s.log", segment);
    buffer_init(&log);
    fixture_load_file(original, name, &log);
    for (size_t at = 0; at < log.length;) {
        struct log_append append = { .data = log.data + at };
        struct log_append *rest;
        assert_int_equal(record_batch_read_header(&append.batch, log.data + at, log.length - at),
                         0);
        fixture.settings.segment_bytes = append.batch.base_offset == SECOND_BASE
                                             ? (int32_t)append.batch.size
                                             : 1 << 20;
        partition_log_set_settings(fixture.log, &fixture.settings);
        assert_int_equal(partition_log_append(fixture.log, &append, 0, FIXTURE_NOW_MS, true, &rest),
                         0);
        assert_int_equal(append.err, 0);
        at += append.batch.size;
    }
    buffer_close(&log);
}

TEST(kafkas_batches_give_kafkas_files_here)
{
    static const char *const names[] = {
        FIRST_SEGMENT ".log",       SECOND_SEGMENT ".log",      FIRST_SEGMENT ".txnindex",
        SECOND_SEGMENT ".txnindex", SECOND_SEGMENT ".snapshot", "00000000000000000051.snapshot",
        FIRST_SEGMENT ".index",     SECOND_SEGMENT ".index",    "leader-epoch-checkpoint",
    };
    struct log_fixture original;
    fixture_init(&original, test_data("data/transactions"));
    fixture_start(&fixture);
    replicate(&original, FIRST_SEGMENT);
    replicate(&original, SECOND_SEGMENT);
    assert_all_is_as_kafka_says();
    fixture_stop(&fixture);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_is_kafkas_file(names[i]);
}
