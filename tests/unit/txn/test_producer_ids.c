// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "clock.h"
#include "error.h"
#include "producer_ids.h"

/* The quorum: the test answers what it was asked last. */
static struct meta_request *asked;

void meta_quorum_request(struct meta_quorum *quorum, struct meta_request *request)
{
    (void)quorum;
    assert_null(asked);
    asked = request;
}

static void answer_with(int err, int64_t first)
{
    struct meta_request *request = asked;
    asked = NULL;
    request->err = err;
    request->as.producer_ids.first = first;
    request->done(request);
}

struct ids_fixture {
    struct clock_manual clock;
    struct loop *loop;
    struct producer_ids *ids;
};

struct taken {
    struct producer_id_request request;
    int count; /* How often it was answered. */
};

static void note_taken(struct producer_id_request *request)
{
    LIST_OWNER(request, struct taken, request)->count++;
}

static void ids_open(struct ids_fixture *fixture)
{
    asked = NULL;
    clock_manual_init(&fixture->clock, 1700000000000);
    assert_int_equal(loop_open(&fixture->loop, "test", &fixture->clock.clock), 0);
    assert_int_equal(producer_ids_open(&fixture->ids, NULL, &fixture->clock.clock), 0);
}

static void ids_close(struct ids_fixture *fixture)
{
    producer_ids_close(fixture->ids);
    loop_close(fixture->loop);
}

static void take(struct ids_fixture *fixture, struct taken *taken)
{
    *taken = (struct taken){ .request = { .loop = fixture->loop, .done = note_taken } };
    producer_ids_take(fixture->ids, &taken->request);
}

static void expect_id(struct ids_fixture *fixture, const struct taken *taken, int64_t producer_id)
{
    loop_turn(fixture->loop);
    assert_int_equal(taken->count, 1);
    assert_int_equal(taken->request.err, 0);
    assert_int_equal(taken->request.producer_id, producer_id);
}

/* Any other loop may have stopped already when the broker does, while its clients are still answered. */
TEST(a_block_comes_on_the_loop_of_one_who_waits_for_it)
{
    struct ids_fixture fixture;
    struct taken taken;
    ids_open(&fixture);
    take(&fixture, &taken);
    assert_non_null(asked);
    assert_ptr_equal(asked->loop, fixture.loop);
    answer_with(0, 5000);
    expect_id(&fixture, &taken, 5000);
    ids_close(&fixture);
}

TEST(every_id_is_given_once_and_the_next_block_follows)
{
    struct ids_fixture fixture;
    struct taken taken;
    ids_open(&fixture);
    take(&fixture, &taken);
    answer_with(0, 0);
    expect_id(&fixture, &taken, 0);
    for (int64_t id = 1; id < PRODUCER_ID_BLOCK; id++) {
        take(&fixture, &taken);
        assert_null(asked);
        expect_id(&fixture, &taken, id);
    }
    take(&fixture, &taken);
    assert_non_null(asked);
    answer_with(0, 7000);
    expect_id(&fixture, &taken, 7000);
    ids_close(&fixture);
}

TEST(all_who_wait_for_a_block_hear_that_there_is_none)
{
    struct ids_fixture fixture;
    struct taken taken[2];
    ids_open(&fixture);
    take(&fixture, &taken[0]);
    take(&fixture, &taken[1]);
    answer_with(ERR_NOT_CONTROLLER, -1);
    loop_turn(fixture.loop);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(taken[i].count, 1);
        assert_int_equal(taken[i].request.err, ERR_NOT_CONTROLLER);
    }
    assert_null(asked);
    ids_close(&fixture);
}
