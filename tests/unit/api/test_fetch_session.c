// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "fetch_session.h"

#define BY_IDS 13
#define MANY   100
#define PLENTY (UINT64_C(1) << 30)

struct fixture {
    struct clock_manual clock;
    struct fetch_sessions *sessions;
    struct fetch_request_partition wanted[MANY];
    struct fetch_request_topic topic;
    struct fetch_response_partition answers[MANY];
};

static void start(struct fixture *fixture, unsigned slots, uint64_t max_bytes)
{
    memset(fixture, 0, sizeof *fixture);
    clock_manual_init(&fixture->clock, 1700000000000);
    assert_int_equal(
        fetch_sessions_open(&fixture->sessions, slots, max_bytes, &fixture->clock.clock), 0);
    for (int i = 0; i < MANY; i++) {
        fixture->wanted[i].partition = i;
        fixture->answers[i].partition_index = i;
        fixture->answers[i].preferred_read_replica = -1;
        fixture->answers[i].diverging_epoch.epoch = -1;
    }
    fixture->topic.topic_id.bytes[0] = 7;
    fixture->topic.partitions.items = fixture->wanted;
}

static struct fetch_request request_of(struct fixture *fixture, int count, int32_t id,
                                       int32_t epoch)
{
    struct fetch_request request = { .session_id = id, .session_epoch = epoch };
    fixture->topic.partitions.count = count;
    request.topics.items = &fixture->topic;
    request.topics.count = count > 0;
    return request;
}

/* A session of the first `count` partitions; its id. */
static int32_t create(struct fixture *fixture, int count)
{
    struct fetch_request request = request_of(fixture, count, 0, 0);
    return fetch_session_create(fixture->sessions, &request, BY_IDS, fixture->answers);
}

/* One round of a session in which nothing changes. */
static int use(struct fixture *fixture, int32_t id, int32_t epoch)
{
    struct fetch_request request = request_of(fixture, 0, id, epoch);
    struct fetch_session *session = NULL;
    int err = fetch_session_begin(fixture->sessions, &request, BY_IDS, &session);
    if (err == 0) {
        assert_non_null(session);
        fetch_session_unlock(session);
        fetch_session_unref(session);
    }
    return err;
}

TEST(when_all_slots_are_taken_a_larger_session_takes_that_of_a_smaller_one_that_is_old)
{
    struct fixture fixture;
    start(&fixture, 2, PLENTY);
    int32_t small = create(&fixture, 3), large = create(&fixture, 5);
    assert_int_equal(create(&fixture, 100), 0); /* Both are young. */

    clock_manual_advance_ms(&fixture.clock, FETCH_SESSION_EVICTION_MS);
    assert_int_equal(use(&fixture, small, 1), 0);
    assert_int_equal(use(&fixture, large, 1), 0);
    assert_int_equal(create(&fixture, 100), 0); /* Not older than that yet. */

    clock_manual_advance_ms(&fixture.clock, 1);
    assert_int_equal(use(&fixture, small, 2), 0);
    assert_int_equal(use(&fixture, large, 2), 0);
    assert_int_equal(create(&fixture, 3), 0); /* Not larger. */
    assert_int_not_equal(create(&fixture, 4), 0);
    assert_int_equal(use(&fixture, small, 3), ERR_FETCH_SESSION_ID_NOT_FOUND);
    assert_int_equal(use(&fixture, large, 3), 0);
    fetch_sessions_close(fixture.sessions);
}

TEST(a_session_that_was_not_used_for_long_makes_room_for_any)
{
    struct fixture fixture;
    start(&fixture, 2, PLENTY);
    int32_t silent = create(&fixture, 100), busy = create(&fixture, 100);
    clock_manual_advance_ms(&fixture.clock, FETCH_SESSION_EVICTION_MS);
    assert_int_equal(use(&fixture, busy, 1), 0);
    assert_int_equal(create(&fixture, 1), 0);
    clock_manual_advance_ms(&fixture.clock, 1);
    assert_int_not_equal(create(&fixture, 1), 0);
    assert_int_equal(use(&fixture, silent, 1), ERR_FETCH_SESSION_ID_NOT_FOUND);
    assert_int_equal(use(&fixture, busy, 2), 0);
    assert_int_equal(fetch_sessions_count(fixture.sessions), 2);
    fetch_sessions_close(fixture.sessions);
}

TEST(all_sessions_together_have_so_much_memory)
{
    struct fixture fixture;
    start(&fixture, 1000000, 1 << 20);
    unsigned made = 0;
    while (create(&fixture, MANY) != 0)
        made++;
    assert_true(made > 10 && made < (1 << 20) / (MANY * (int)sizeof(struct session_partition)));
    int32_t id = create(&fixture, 1);
    for (int32_t epoch = 1; id != 0; epoch++) { /* What grows beyond is given up. */
        struct fetch_request request = request_of(&fixture, epoch < MANY ? epoch : MANY, id, epoch);
        struct fetch_session *session = NULL;
        fixture.topic.topic_id.bytes[1] = (uint8_t)(epoch / MANY);
        int err = fetch_session_begin(fixture.sessions, &request, BY_IDS, &session);
        if (err == ERR_FETCH_SESSION_ID_NOT_FOUND) break;
        assert_int_equal(err, 0);
        fetch_session_unlock(session);
        fetch_session_unref(session);
        assert_true(epoch < 100000);
    }
    assert_int_equal(fetch_sessions_count(fixture.sessions), made);
    fetch_sessions_close(fixture.sessions);
}

TEST(without_slots_there_are_no_sessions)
{
    struct fixture fixture;
    start(&fixture, 0, PLENTY);
    assert_int_equal(create(&fixture, 1), 0);
    fetch_sessions_close(fixture.sessions);
}

TEST(a_session_that_was_removed_lasts_for_the_request_that_has_it)
{
    struct fixture fixture;
    start(&fixture, 2, PLENTY);
    int32_t id = create(&fixture, 3);
    struct fetch_request request = request_of(&fixture, 0, id, 1);
    struct fetch_session *session;
    assert_int_equal(fetch_session_begin(fixture.sessions, &request, BY_IDS, &session), 0);
    fetch_session_unlock(session);
    fetch_sessions_remove(fixture.sessions, id);
    assert_int_equal(fetch_sessions_count(fixture.sessions), 0);
    assert_true(fetch_session_lock(session, 1));
    assert_int_equal(fetch_session_size(session), 3);
    fetch_session_unlock(session);
    fetch_session_unref(session);
    fetch_sessions_close(fixture.sessions);
}

TEST(what_is_known_already_is_no_news)
{
    struct fixture fixture;
    start(&fixture, 2, PLENTY);
    fixture.answers[0].high_watermark = 10;
    int32_t id = create(&fixture, 2);
    struct fetch_request request = request_of(&fixture, 0, id, 1);
    struct fetch_session *session;
    assert_int_equal(fetch_session_begin(fixture.sessions, &request, BY_IDS, &session), 0);
    struct list *partitions = fetch_session_partitions(session);
    struct session_partition *first = LIST_OWNER(partitions->next, struct session_partition, node);
    struct fetch_response_partition answer = fixture.answers[0];
    assert_false(fetch_session_tell(session, first, &answer, 0));
    answer.last_stable_offset = 5;
    assert_false(fetch_session_tell(session, first, &answer, 0)); /* As in Kafka. */
    answer.log_start_offset = 4;
    assert_true(fetch_session_tell(session, first, &answer, 0));
    assert_false(fetch_session_tell(session, first, &answer, 0));
    answer.error_code = 6;
    assert_true(fetch_session_tell(session, first, &answer, 0));
    assert_true(fetch_session_tell(session, first, &answer, 0));
    answer.error_code = 0;
    assert_true(fetch_session_tell(session, first, &answer, 0));
    answer.diverging_epoch.epoch = 3;
    assert_true(fetch_session_tell(session, first, &answer, 0));
    answer.diverging_epoch.epoch = -1;
    assert_ptr_equal(partitions->next, &first->node);
    assert_true(fetch_session_tell(session, first, &answer, 100));
    assert_ptr_equal(partitions->prev, &first->node);
    fetch_session_unlock(session);
    fetch_session_unref(session);
    fetch_sessions_close(fixture.sessions);
}

TEST(without_memory_there_is_no_session_or_it_is_given_up)
{
    struct fixture fixture;
    start(&fixture, 10, PLENTY);
    int32_t id = 0;
    for (long nth = 1; id == 0; nth++) {
        mem_fail_at(nth);
        id = create(&fixture, 5);
        mem_fail_at(0);
        assert_int_equal(fetch_sessions_count(fixture.sessions), id != 0);
    }
    struct fetch_request request = request_of(&fixture, 6, id, 1);
    struct fetch_session *session;
    mem_fail_at(1);
    int err = fetch_session_begin(fixture.sessions, &request, BY_IDS, &session);
    mem_fail_at(0);
    assert_int_equal(err, ERR_FETCH_SESSION_ID_NOT_FOUND);
    assert_int_equal(fetch_sessions_count(fixture.sessions), 0);
    fetch_sessions_close(fixture.sessions);
}

/* ---- several loops ---- */

#define THREADS 4
#define ROUNDS  2000

struct user {
    struct fixture fixture; /* Its requests; the sessions are everybody's. */
    const int32_t *ids;
    pthread_t thread;
    unsigned won;
};

/* Uses everybody's sessions at whatever epoch they may have, and opens and closes one of its own. */
static void *use_sessions(void *context)
{
    struct user *user = context;
    for (int round = 0; round < ROUNDS; round++) {
        struct fetch_request request = request_of(&user->fixture, round % 3, user->ids[round % 2],
                                                  1 + round / 4);
        struct fetch_session *session = NULL;
        if (fetch_session_begin(user->fixture.sessions, &request, BY_IDS, &session) == 0 &&
            session != NULL) {
            fetch_session_unlock(session);
            if (fetch_session_lock(session, request.session_epoch)) {
                struct list *first = fetch_session_partitions(session)->next;
                fetch_session_tell(session, LIST_OWNER(first, struct session_partition, node),
                                   &user->fixture.answers[0], round % 2);
                fetch_session_unlock(session);
                user->won++;
            }
            fetch_session_unref(session);
        }
        if (round % 10 == 0)
            fetch_sessions_remove(user->fixture.sessions, create(&user->fixture, 1 + round % 50));
    }
    return NULL;
}

TEST(sessions_are_used_by_several_loops_at_once)
{
    static struct user users[THREADS];
    struct fixture fixture;
    start(&fixture, 4, PLENTY);
    int32_t ids[2] = { create(&fixture, 5), create(&fixture, 5) };
    for (int i = 0; i < THREADS; i++) {
        start(&users[i].fixture, 0, 0);
        fetch_sessions_close(users[i].fixture.sessions);
        users[i].fixture.sessions = fixture.sessions;
        users[i].ids = ids;
        users[i].won = 0;
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&users[i].thread, NULL, use_sessions, &users[i]), 0);
    unsigned won = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(users[i].thread, NULL);
        won += users[i].won;
    }
    assert_true(won > 0 && won <= ROUNDS); /* Each epoch is one request's. */
    assert_int_equal(fetch_sessions_count(fixture.sessions), 2);
    fetch_sessions_close(fixture.sessions);
}
