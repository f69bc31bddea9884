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
        .from_offset = 5, .current_leader_epoch = -1, .last_fetched_epoch = 3, .max_bytes = 100
    };

    partition_read(fixture.partition, &read);

    assert_int_equal(read.err, 0);
    assert_true(read.has_diverged);
    assert_int_equal(read.diverging_epoch, 3);
    assert_int_equal(read.diverging_end, 2);

    read.last_fetched_epoch = 9; /* It has not begun here, so nobody can say where it ends. */
    read.has_diverged = false;
    partition_read(fixture.partition, &read);
    assert_int_equal(read.err, ERR_OFFSET_OUT_OF_RANGE);
    assert_false(read.has_diverged);
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

TEST(a_new_leaders_epoch_is_in_the_history_before_its_first_record)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    struct partition_lookup lookup = { .current_leader_epoch = -1,
                                       .timestamp = TIMESTAMP_EARLIEST };
    partition_find_offset(fixture.partition, &lookup);
    assert_int_equal(lookup.position.offset, 0);
    assert_int_equal(lookup.position.leader_epoch, 3);

    append_records(&fixture, 2);
    struct partition_role role = fixture.partition->role;
    struct topic_settings settings = fixture.partition->settings;
    role.leader_epoch = 7;
    partition_set_role(fixture.partition, &role, &settings);
    assert_int_equal(partition_log_last_epoch(fixture.partition->log), 7);
    /* Who has more of the epoch before learns where it ended. */
    struct partition_read read = {
        .from_offset = 2, .current_leader_epoch = -1, .last_fetched_epoch = 5, .max_bytes = 100
    };
    partition_read(fixture.partition, &read);
    assert_true(read.has_diverged);
    assert_int_equal(read.diverging_epoch, 3);
    assert_int_equal(read.diverging_end, 2);

    role.is_leader = false; /* A follower learns of epochs with their records. */
    role.leader_epoch = 8;
    partition_set_role(fixture.partition, &role, &settings);
    assert_int_equal(partition_log_last_epoch(fixture.partition->log), 7);
    fixture_close(&fixture);
}

/* ---- transactions */

/* Puts a batch of one record into the log, as a follower does: of data, or an end marker. */
static void replicate(struct partition_fixture *fixture, int64_t producer_id, const char *marker)
{
    uint8_t key[4] = { 0 }, value[6] = { 0 };
    struct batch_builder builder;
    struct buffer data;
    struct log_append *rest;

    batch_builder_init(&builder);
    buffer_init(&data);
    builder.base_offset = partition_log_end_offset(fixture->partition->log);
    builder.attributes = BATCH_TRANSACTIONAL;
    builder.producer_id = producer_id;
    builder.producer_epoch = 0;
    if (marker == NULL) builder.base_sequence = (int32_t)builder.base_offset;
    if (marker != NULL) builder.attributes |= BATCH_CONTROL;
    if (marker != NULL && strcmp(marker, "commit") == 0) key[3] = 1;
    batch_builder_append(&builder, 1700000000000, (struct bytes){ key, 4 },
                         (struct bytes){ value, 6 }, NULL, 0);
    assert_int_equal(batch_builder_finish(&builder, &data), 0);
    struct log_append append = { .data = data.data };
    assert_int_equal(record_batch_read_header(&append.batch, data.data, data.length), 0);
    assert_int_equal(
        partition_log_append(fixture->partition->log, &append, 3, 1700000000000, true, &rest), 0);
    assert_int_equal(append.err, 0);
    batch_builder_close(&builder);
    buffer_close(&data);
}

static void replicas_have(struct partition_fixture *fixture, int64_t high_watermark)
{
    pthread_mutex_lock(&fixture->partition->lock);
    fixture->partition->high_watermark = high_watermark;
    pthread_mutex_unlock(&fixture->partition->lock);
}

static struct partition_read read_committed(struct partition_fixture *fixture, size_t max_bytes)
{
    struct partition_read read = {
        .current_leader_epoch = -1,
        .last_fetched_epoch = -1,
        .max_bytes = max_bytes,
        .at_least_one = true,
        .may_block = true,
        .read_committed = true,
    };
    partition_read(fixture->partition, &read);
    assert_int_equal(read.err, 0);
    return read;
}

TEST(a_reader_of_committed_records_stops_at_the_first_open_transaction)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    replicate(&fixture, 7, NULL);
    replicate(&fixture, 7, "commit");
    replicate(&fixture, 8, NULL);
    replicate(&fixture, 7, NULL);
    replicas_have(&fixture, 4);
    struct partition_read read = read_committed(&fixture, 1 << 20);
    assert_int_equal(read.last_stable_offset, 2);
    assert_int_equal(read.high_watermark, 4);
    assert_true(read.slice.length > 0);
    assert_int_equal(read.aborted.count, 0);
    partition_read_release(&read);
    fixture_close(&fixture);
}

TEST(a_transaction_is_stable_when_the_replicas_have_its_marker)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    replicate(&fixture, 7, NULL);
    replicate(&fixture, 7, NULL);
    replicate(&fixture, 7, "commit");
    static const int64_t stable[] = { 0, 0, 0, 3 };
    for (int64_t high_watermark = 0; high_watermark <= 3; high_watermark++) {
        replicas_have(&fixture, high_watermark);
        struct partition_read read = read_committed(&fixture, 1 << 20);
        assert_int_equal(read.last_stable_offset, stable[high_watermark]);
        assert_true((read.slice.length > 0) == (high_watermark == 3));
        partition_read_release(&read);
    }
    fixture_close(&fixture);
}

TEST(a_reader_of_committed_records_is_told_what_was_aborted_in_what_it_reads)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    replicate(&fixture, 7, NULL);    /* 0 */
    replicate(&fixture, 8, NULL);    /* 1 */
    replicate(&fixture, 8, "abort"); /* 2 */
    replicate(&fixture, 7, "abort"); /* 3 */
    replicate(&fixture, 8, NULL);    /* 4 */
    replicate(&fixture, 8, "abort"); /* 5 */
    replicas_have(&fixture, 6);
    struct partition_read read = read_committed(&fixture, 1 << 20);
    assert_int_equal(read.last_stable_offset, 6);
    assert_int_equal(read.aborted.count, 3);
    static const struct {
        int64_t producer_id, first_offset;
    } expected[] = { { 7, 0 }, { 8, 1 }, { 8, 4 } };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(read.aborted.items[i].producer_id, expected[i].producer_id);
        assert_int_equal(read.aborted.items[i].first_offset, expected[i].first_offset);
    }
    partition_read_release(&read);

    /* Of a single batch: what began behind it does not matter yet. */
    read = read_committed(&fixture, 1);
    assert_int_equal(read.aborted.count, 1);
    assert_int_equal(read.aborted.items[0].producer_id, 7);
    partition_read_release(&read);
    fixture_close(&fixture);
}

/* As a follower, which hears of the high watermark only later. */
static void reopen_as_follower(struct partition_fixture *fixture, int64_t noted)
{
    struct topic_settings settings = fixture->partition->settings;
    struct uuid id = fixture->partition->topic_id;
    struct partition_role role = { false, 2, 4, 2, 2 };
    partition_retire(fixture->partition, false);
    run_jobs(&fixture->pool);
    partition_unref(fixture->partition);
    run_jobs(&fixture->pool);
    assert_int_equal(
        data_dir_set_checkpoint(fixture->dir, CHECKPOINT_HIGH_WATERMARK, "t", 0, noted), 0);
    assert_int_equal(partition_create(&fixture->partition, &fixture->owner, &fixture->pool.executor,
                                      &fixture->clock.clock, fixture->dir, "t", 0, &id, &settings,
                                      &role),
                     0);
    fixture_serve(fixture);
}

TEST(the_high_watermark_begins_where_it_was_noted_but_not_beyond_the_log)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_records(&fixture, 5);
    reopen_as_follower(&fixture, 3);
    assert_int_equal(fixture.partition->high_watermark, 3);
    reopen_as_follower(&fixture, 9);
    assert_int_equal(fixture.partition->high_watermark, 5);

    struct partition_role leader = { true, 1, 5, 2, 1 };
    reopen_as_follower(&fixture, 2);
    partition_set_role(fixture.partition, &leader, &fixture.partition->settings);
    assert_int_equal(fixture.partition->high_watermark,
                     5); /* Alone: what is here is what there is. */
    fixture_close(&fixture);
}

/* ---- producers */

TEST(producers_expire_on_the_pool_until_there_are_none)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    atomic_store(&fixture.owner.producer_expiration_ms, 1000);
    fixture_serve(&fixture);
    assert_false(partition_expire_soon(fixture.partition)); /* Nobody is there to expire. */
    replicate(&fixture, 7, NULL);
    replicate(&fixture, 7, "commit");
    replicate(&fixture, 8, NULL); /* Its transaction stays open. */
    const struct producer_history *producers = partition_log_producers(fixture.partition->log);

    assert_true(partition_expire_soon(fixture.partition));
    run_jobs(&fixture.pool);
    assert_int_equal(producer_history_count(producers), 2);
    clock_manual_advance_ms(&fixture.clock, 1001);
    assert_true(partition_expire_soon(fixture.partition));
    assert_true(partition_expire_soon(fixture.partition)); /* Asked for twice it is done once. */
    run_jobs(&fixture.pool);
    assert_int_equal(producer_history_count(producers), 1);
    assert_int_equal(producer_history_first_open(producers), 2);
    fixture_close(&fixture);
}

TEST(producers_do_not_expire_where_that_is_not_asked_for)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    replicate(&fixture, 7, NULL);
    replicate(&fixture, 7, "commit");
    clock_manual_advance_ms(&fixture.clock, INT64_C(1000000000));
    assert_false(partition_expire_soon(fixture.partition));
    fixture_close(&fixture);
}

static void assert_epoch_end(struct partition_fixture *fixture, int32_t current, int32_t epoch,
                             int err, int32_t found, int64_t offset)
{
    struct partition_epoch_end end = { .epoch = epoch, .current_leader_epoch = current };
    partition_find_epoch_end(fixture->partition, &end);
    assert_int_equal(end.err, err);
    assert_int_equal(end.found_epoch, found);
    assert_int_equal(end.end_offset, offset);
}

TEST(each_epoch_ends_where_the_next_begins)
{
    struct partition_fixture fixture;
    fixture_open(&fixture);
    assert_epoch_end(&fixture, -1, 3, ERR_LEADER_NOT_AVAILABLE, -1, -1);
    fixture_serve(&fixture);
    append_records(&fixture, 2);
    struct partition_role role = fixture.partition->role;
    role.leader_epoch = 5;
    partition_set_role(fixture.partition, &role, &fixture.partition->settings);
    append_records(&fixture, 1);

    assert_epoch_end(&fixture, -1, 5, 0, 5, 3);
    assert_epoch_end(&fixture, 5, 4, 0, 3, 2);
    assert_epoch_end(&fixture, 5, 3, 0, 3, 2);
    assert_epoch_end(&fixture, 5, 2, 0, 2, 0);
    assert_epoch_end(&fixture, -1, 6, 0, -1, -1);
    assert_epoch_end(&fixture, -1, -1, 0, -1, -1);
    assert_epoch_end(&fixture, 3, 3, ERR_FENCED_LEADER_EPOCH, -1, -1);
    assert_epoch_end(&fixture, 6, 3, ERR_UNKNOWN_LEADER_EPOCH, -1, -1);
    role.is_leader = false;
    partition_set_role(fixture.partition, &role, &fixture.partition->settings);
    assert_epoch_end(&fixture, -1, 3, ERR_NOT_LEADER_OR_FOLLOWER, -1, -1);
    fixture_close(&fixture);
}

TEST(a_log_is_measured_while_it_is_open)
{
    struct partition_fixture fixture;
    int64_t size = -1, lag = -1;
    size_t length;
    fixture_open(&fixture);
    assert_false(partition_measure(fixture.partition, &size, &lag));
    assert_int_equal(size, -1);
    fixture_serve(&fixture);
    append_records(&fixture, 3);
    assert_int_equal(read_from(&fixture, 0, &length), 0);
    assert_true(partition_measure(fixture.partition, &size, &lag));
    assert_int_equal(size, length);
    assert_int_equal(lag, 0);
    fixture.partition->high_watermark = 5; /* A follower that has heard of more than it has. */
    assert_true(partition_measure(fixture.partition, &size, &lag));
    assert_int_equal(lag, 2);
    partition_fail(fixture.partition);
    assert_false(partition_measure(fixture.partition, &size, &lag));
    fixture_close(&fixture);
}
