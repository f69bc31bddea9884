// SPDX-License-Identifier: Apache-2.0
/* Posts from many threads at once. Meant for the thread sanitizer, too. */

#include "runner.h"

#include <pthread.h>
#include <sched.h>

#include "alloc.h"
#include "loop.h"

static struct loop *loop;

#define POSTERS    4
#define POSTS_EACH 100000

struct numbered {
    struct message message;
    struct poster *poster;
    int number;
};

struct poster {
    pthread_t thread;
    struct numbered *numbers; /* POSTS_EACH of them. */
    int delivered;            /* The loop's. */
    int out_of_order;         /* The loop's. */
};

static struct poster posters[POSTERS];
static int posters_done; /* The loop's. */

static void deliver_numbered(struct message *message)
{
    struct numbered *numbered = (struct numbered *)message;
    struct poster *poster = numbered->poster;
    poster->out_of_order += numbered->number != poster->delivered;
    poster->delivered++;
    if (poster->delivered == POSTS_EACH && ++posters_done == POSTERS) loop_stop(loop);
}

static void *post_numbers(void *argument)
{
    struct poster *poster = argument;
    for (int i = 0; i < POSTS_EACH; i++) {
        struct numbered *numbered = &poster->numbers[i];
        message_init(&numbered->message, deliver_numbered);
        numbered->poster = poster;
        numbered->number = i;
        loop_post(loop, &numbered->message);
    }
    return NULL;
}

TEST(every_message_of_every_thread_comes_once_and_in_its_threads_order)
{
    posters_done = 0;
    assert_int_equal(loop_open(&loop, "test", clock_real()), 0);
    assert_int_equal(loop_start(loop), 0);
    for (int i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){ .numbers = mem_calloc(POSTS_EACH, sizeof(struct numbered)) };
        assert_non_null(posters[i].numbers);
        assert_int_equal(pthread_create(&posters[i].thread, NULL, post_numbers, &posters[i]), 0);
    }
    for (int i = 0; i < POSTERS; i++)
        pthread_join(posters[i].thread, NULL);
    loop_close(loop);
    for (int i = 0; i < POSTERS; i++) {
        assert_int_equal(posters[i].delivered, POSTS_EACH);
        assert_int_equal(posters[i].out_of_order, 0);
        mem_free(posters[i].numbers);
    }
}

/* One message that all threads post, each after it added to a sum. */
static struct message shared;
static atomic_int sum;
static atomic_bool is_last_post;
static int deliveries, sum_seen; /* The loop's. */

static void deliver_shared(struct message *message)
{
    (void)message;
    deliveries++;
    bool is_last = atomic_load_explicit(&is_last_post, memory_order_relaxed);
    sum_seen = atomic_load_explicit(&sum, memory_order_relaxed);
    if (is_last) loop_stop(loop);
}

static void *add_and_post(void *unused)
{
    (void)unused;
    for (int i = 0; i < POSTS_EACH; i++) {
        atomic_fetch_add_explicit(&sum, 1, memory_order_relaxed);
        loop_post(loop, &shared);
    }
    return NULL;
}

TEST(a_coalesced_post_is_not_lost_and_shows_what_came_before_it)
{
    pthread_t threads[POSTERS];
    message_init(&shared, deliver_shared);
    atomic_store(&sum, 0);
    atomic_store(&is_last_post, false);
    deliveries = sum_seen = 0;
    assert_int_equal(loop_open(&loop, "test", clock_real()), 0);
    assert_int_equal(loop_start(loop), 0);
    for (int i = 0; i < POSTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_post, NULL), 0);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    atomic_store_explicit(&is_last_post, true, memory_order_relaxed);
    loop_post(loop, &shared);
    loop_close(loop);
    assert_int_equal(sum_seen, POSTERS * POSTS_EACH);
    assert_in_range(deliveries, 1, POSTERS * POSTS_EACH + 1);
}

/* Plain memory, written before a post that changes nothing: the thread sanitizer watches. */
static int plain;
static atomic_bool is_gate_open;

static void wait_at_gate(struct message *message)
{
    (void)message;
    while (!atomic_load_explicit(&is_gate_open, memory_order_relaxed))
        sched_yield();
}

static void read_plain(struct message *message)
{
    (void)message;
    sum_seen = plain;
    loop_stop(loop);
}

static void *write_plain_and_post(void *unused)
{
    (void)unused;
    plain = 1;
    loop_post(loop, &shared);
    atomic_store_explicit(&is_gate_open, true, memory_order_relaxed);
    return NULL;
}

TEST(the_last_of_several_posts_is_seen_though_the_first_one_is_delivered)
{
    struct message gate;
    pthread_t thread;
    plain = sum_seen = 0;
    atomic_store(&is_gate_open, false);
    message_init(&gate, wait_at_gate);
    message_init(&shared, read_plain);
    assert_int_equal(loop_open(&loop, "test", clock_real()), 0);
    loop_post(loop, &gate);
    loop_post(loop, &shared);
    assert_int_equal(loop_start(loop), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_plain_and_post, NULL), 0);
    pthread_join(thread, NULL);
    loop_close(loop);
    assert_int_equal(sum_seen, 1);
}

/* Plain memory, handed over by one message that goes back and forth. */
static struct loop *left, *right;
static struct message ball;
static int bounces;

static void bounce(struct message *message)
{
    bounces++;
    if (bounces == 20000) {
        loop_stop(left);
        loop_stop(right);
    } else {
        loop_post(loop_is_current(left) ? right : left, message);
    }
}

TEST(two_loops_pass_a_message_back_and_forth)
{
    bounces = 0;
    message_init(&ball, bounce);
    assert_int_equal(loop_open(&left, "left", clock_real()), 0);
    assert_int_equal(loop_open(&right, "right", clock_real()), 0);
    assert_int_equal(loop_start(left), 0);
    assert_int_equal(loop_start(right), 0);
    loop_post(left, &ball);
    /* Either may be the one that stops both: both must be there until both have ended. */
    loop_close(left);
    loop_close(right);
    assert_int_equal(bounces, 20000);
}
