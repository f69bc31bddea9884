// SPDX-License-Identifier: Apache-2.0
#include "partition_fixture.h"

static unsigned woken;

static void count_wake(struct message *message)
{
    (void)message;
    woken++;
}

TEST(records_are_read_back_from_where_they_were_appended)
{
    struct partition_fixture fixture;
    size_t length;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 3);

    assert_int_equal(read_from(&fixture, 0, &length), 0);
    assert_true(length > 0);
    assert_int_equal(read_from(&fixture, 3, &length), 0);
    assert_int_equal(length, 0);
    assert_int_equal(read_from(&fixture, 4, &length), ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(read_from(&fixture, -1, &length), ERR_OFFSET_OUT_OF_RANGE);
    fixture_close(&fixture);
}

TEST(a_reader_of_another_epoch_is_told)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    struct partition_read read = { .last_fetched_epoch = -1, .max_bytes = 100 };

    read.current_leader_epoch = 2;
    partition_read(fixture.partition, &read);
    assert_int_equal(read.err, ERR_FENCED_LEADER_EPOCH);
    read.current_leader_epoch = 4;
    partition_read(fixture.partition, &read);
    assert_int_equal(read.err, ERR_UNKNOWN_LEADER_EPOCH);
    read.current_leader_epoch = 3;
    partition_read(fixture.partition, &read);
    assert_int_equal(read.err, 0);
    fixture_close(&fixture);
}

TEST(a_reader_with_a_longer_history_learns_where_ours_ends)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 2);
    struct partition_read read = {
        .from_offset = 2, .current_leader_epoch = -1, .last_fetched_epoch = 9, .max_bytes = 100
    };

    partition_read(fixture.partition, &read);

    assert_int_equal(read.err, 0);
    assert_true(read.has_diverged);
    fixture_close(&fixture);
}

TEST(a_waiter_is_woken_by_the_next_append)
{
    struct partition_fixture fixture;
    struct message message;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    woken = 0;
    message_init(&message, count_wake);
    struct waiter waiter = { .loop = fixture.loop, .wake = &message };
    list_init(&waiter.node);

    assert_true(partition_wait(fixture.partition, &waiter, 0, false));
    loop_turn(fixture.loop);
    assert_int_equal(woken, 0);
    append_records(&fixture, 1);
    loop_turn(fixture.loop);
    assert_int_equal(woken, 1);
    fixture_close(&fixture);
}

TEST(who_registers_too_late_is_told_to_look_again)
{
    struct partition_fixture fixture;
    struct message message;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 1);
    message_init(&message, count_wake);
    struct waiter waiter = { .loop = fixture.loop, .wake = &message };
    list_init(&waiter.node);

    assert_false(partition_wait(fixture.partition, &waiter, 0, false));
    assert_true(list_is_empty(&waiter.node));
    fixture_close(&fixture);
}

TEST(a_waiter_on_a_partition_that_is_opening_is_woken_when_it_opens)
{
    struct partition_fixture fixture;
    struct message message;
    fixture_open(&fixture);
    woken = 0;
    message_init(&message, count_wake);
    struct waiter waiter = { .loop = fixture.loop, .wake = &message };
    list_init(&waiter.node);
    size_t length;

    assert_int_equal(read_from(&fixture, 0, &length), ERR_LEADER_NOT_AVAILABLE);
    assert_true(partition_wait(fixture.partition, &waiter, 0, false));
    fixture_serve(&fixture);
    loop_turn(fixture.loop);
    assert_int_equal(woken, 1);
    fixture_close(&fixture);
}

TEST(the_ends_of_the_log_are_found_by_their_special_timestamps)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 4);
    struct partition_lookup lookup = { .current_leader_epoch = -1, .timestamp = TIMESTAMP_LATEST };

    partition_find_offset(fixture.partition, &lookup);
    assert_int_equal(lookup.err, 0);
    assert_int_equal(lookup.position.offset, 4);
    assert_int_equal(lookup.position.leader_epoch, 3);
    lookup.timestamp = TIMESTAMP_EARLIEST;
    partition_find_offset(fixture.partition, &lookup);
    assert_int_equal(lookup.position.offset, 0);
    lookup.timestamp = TIMESTAMP_LATEST_TIERED;
    partition_find_offset(fixture.partition, &lookup);
    assert_int_equal(lookup.err, 0);
    assert_int_equal(lookup.position.offset, -1);
    fixture_close(&fixture);
}
