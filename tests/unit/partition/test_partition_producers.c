// SPDX-License-Identifier: Apache-2.0
#include "partition_fixture.h"

#include "alloc.h"
#include "partition_producers.h"

static unsigned done_count;

static void count_done(struct partition_producers *producers)
{
    (void)producers;
    done_count++;
}

static int list(struct partition_fixture *fixture, long long most,
                struct partition_producers *producers)
{
    atomic_llong left;
    atomic_init(&left, most);
    *producers = (struct partition_producers){ .left = &left, .done = count_done };
    done_count = 0;
    partition_list_producers(fixture->partition, producers);
    assert_int_equal(done_count, 0); /* Nothing of it on the caller's thread. */
    run_jobs(&fixture->pool);
    assert_int_equal(done_count, 1);
    producers->left = NULL;
    if (producers->err == 0)
        assert_int_equal(most - atomic_load(&left), producers->count);
    else
        assert_int_equal(atomic_load(&left), most);
    return producers->err;
}

static void append_as(struct partition_fixture *fixture, int64_t id, int16_t epoch, int32_t count)
{
    struct append *append = new_append(fixture, "v", count);
    store_i64(append->log.data + 43, id);
    store_i16(append->log.data + 51, epoch);
    store_i32(append->log.data + 53, 0);
    append->log.batch.producer_id = id;
    append->log.batch.producer_epoch = epoch;
    append->log.batch.base_sequence = 0;
    append_now(fixture, append);
    assert_int_equal(append->log.err, 0);
    free_append(append);
}

TEST(producers_are_listed_by_their_ids)
{
    struct partition_fixture fixture;
    struct partition_producers producers;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    assert_int_equal(list(&fixture, 10, &producers), 0);
    assert_int_equal(producers.count, 0);
    mem_free(producers.items);
    append_as(&fixture, 9, 2, 3);
    append_as(&fixture, 4, 0, 1);
    append_records(&fixture, 1); /* Of nobody. */
    assert_int_equal(list(&fixture, 2, &producers), 0);
    assert_int_equal(producers.count, 2);
    assert_int_equal(producers.items[0].id, 4);
    assert_int_equal(producers.items[0].last_sequence, 0);
    assert_int_equal(producers.items[1].id, 9);
    assert_int_equal(producers.items[1].epoch, 2);
    assert_int_equal(producers.items[1].last_sequence, 2);
    assert_int_equal(producers.items[1].first_open_offset, -1);
    mem_free(producers.items);
    append_records(&fixture, 1); /* The lane has given the log back. */
    fixture_close(&fixture);
}

TEST(more_producers_than_may_be_listed_are_refused)
{
    struct partition_fixture fixture;
    struct partition_producers producers;
    fixture_open(&fixture);
    fixture_serve(&fixture);
    append_as(&fixture, 9, 2, 3);
    append_as(&fixture, 4, 0, 1);
    assert_int_equal(list(&fixture, 1, &producers), ERR_LIMIT);
    assert_null(producers.items);
    fixture.partition->role.is_leader = false;
    assert_int_equal(list(&fixture, 5, &producers), ERR_NOT_LEADER_OR_FOLLOWER);
    assert_null(producers.items);
    fixture_close(&fixture);
}
