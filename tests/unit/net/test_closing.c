// SPDX-License-Identifier: Apache-2.0
/* How clients and the broker part: what was asked and taken in is answered, and the answer arrives. */

#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net_fixture.h"
#include "net_loop.h"

static struct net_fixture net;
static struct clock_manual time_now;

/* What net.h promises. */
#define REPLIES_MS 2000
#define STUCK_MS   500
#define LINGER_MS  500

/* Time stands still: nothing ends because it took too long. */
static void up(unsigned loop_count)
{
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    net.config.clock = &time_now.clock;
    net.config.loop_count = loop_count;
    fixture_up(&net, true);
}

static int64_t look_and_move_on(struct clock *clock)
{
    clock_manual_advance_ms(&time_now, 1);
    (void)clock;
    return time_now.monotonic_us;
}

/* Time passes whenever somebody looks: net_close() may be called by the test itself, and how long it
 * took is the same on every machine. */
static void up_with_time_that_passes(void)
{
    static struct clock passing;
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    passing = (struct clock){ time_now.clock.wall_ms, look_and_move_on };
    net.config.clock = &passing;
    net.config.send_buffer_bytes = 16 * 1024;
    fixture_up(&net, false);
}

/* The kernel may still move bytes from one side to the other when the close begins, which counts as
 * progress: how often somebody looks until then is not the same on every machine. */
#define LOOKS 1200

static void expect_down_within_ms(int64_t least, int64_t most)
{
    int64_t before_us = time_now.monotonic_us;
    fixture_down(&net);
    assert_in_range((time_now.monotonic_us - before_us) / 1000, least, most + LOOKS);
}

/* Sends until nobody takes any more: part of it lies unread before the broker. */
static void send_all_that_fits(int client)
{
    static const uint8_t bytes[10000];
    while (send(client, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        ;
}

/* ---- replies ---- */

TEST(closing_tells_suspended_calls_and_sends_what_is_ready)
{
    up(2);
    int one = client_connect(&net), two = client_connect(&net);
    client_text(one, "e-ready");
    client_text(one, "sA");
    client_text(two, "sB");
    fixture_await_suspended(&net, 2);
    fixture_begin_close(&net);
    client_expect(&net, one, "e-ready");
    client_expect_end(&net, one);
    client_expect_end(&net, two);
    fixture_down(&net);
    assert_int_equal(net.abandoned, 2);
}

TEST(a_long_wait_that_the_close_ends_is_answered)
{
    up(1);
    int client = client_connect(&net);
    client_text(client, "l-first");
    client_text(client, "l-second");
    client_text(client, "n");
    fixture_await_calls(&net, 3);
    fixture_begin_close(&net);
    client_expect(&net, client, "l-first");
    client_expect(&net, client, "l-second");
    client_expect_end(&net, client);
    fixture_down(&net);
    assert_int_equal(net.abandoned, 2);
}

TEST(a_call_that_ends_while_the_net_closes_is_answered)
{
    up(1);
    int client = client_connect(&net), witness = client_connect(&net);
    client_text(client, "sA");
    client_text(client, "sB");
    client_text(witness, "l");
    fixture_await_suspended(&net, 3);
    for (unsigned i = 0; i < 3; i++)
        if (net.suspended[i]->frame.data[0] == 's') net.suspended[i]->abandoned = NULL;
    fixture_begin_close(&net);
    client_expect(&net, witness, "l");
    client_expect_end(&net, witness);
    fixture_answer(&net, "B");
    fixture_answer(&net, "A");
    client_expect(&net, client, "sA");
    client_expect(&net, client, "sB");
    client_expect_end(&net, client);
    fixture_down(&net);
}

TEST(a_large_reply_leaves_while_the_net_closes)
{
    up(1);
    int client = client_connect(&net);
    client_request(client, "m\2\0\0\0", 5); /* 32 MiB */
    fixture_await_calls(&net, 1);
    fixture_begin_close(&net);
    size_t length;
    const uint8_t *reply = client_reply(&net, client, &length);
    assert_int_equal(length, 32 * 1024 * 1024);
    for (size_t at = 0; at < length; at++)
        if (reply[at] != file_byte(at)) fail();
    client_expect_end(&net, client);
    fixture_down(&net);
}

TEST(unread_requests_do_not_reset_the_replies_of_those_before_them)
{
    up(1);
    int client = client_connect(&net), witness = client_connect(&net);
    client_text(witness, "l");
    client_text(client, "e-earlier");
    client_text(client, "SA");
    fixture_await_suspended(&net, 2);
    for (unsigned i = 0; i < 2; i++)
        if (net.suspended[i]->frame.data[0] == 'S') net.suspended[i]->abandoned = NULL;
    client_text(client, "e-behind");
    send_all_that_fits(client);
    fixture_begin_close(&net);
    client_expect(&net, witness, "l");
    fixture_answer(&net, "A");
    client_expect_end(&net, witness);
    client_expect(&net, client, "e-earlier");
    client_expect(&net, client, "SA");
    send_all_that_fits(client);
    client_expect_end(&net, client);
    fixture_down(&net);
    assert_int_equal(net.calls, 3); /* What was not handed over never is. */
}

TEST(a_half_read_frame_is_dropped_and_its_client_told)
{
    up(1);
    int half = client_connect(&net), waiting = client_connect(&net);
    client_send(half, "\3\xff\xff\xffsome", 8); /* 64 MiB: all memory there is. */
    fixture_await_connections(&net, 2);
    client_send(waiting, "\2\0\0\0some", 8);
    fixture_await_waiting_memory(&net, 1);
    fixture_begin_close(&net);
    client_expect_end(&net, half);
    client_expect_end(&net, waiting);
    fixture_down(&net);
    assert_int_equal(net.calls, 0);
}

/* ---- how long it may take ---- */

TEST(thousands_of_idle_clients_that_close_when_told_hold_nobody_up)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    unsigned count = limit.rlim_cur > 6200 ? 3000 : (unsigned)(limit.rlim_cur - 200) / 2;

    up(2);
    int *clients = calloc(count, sizeof *clients);
    for (unsigned i = 0; i < count; i++) {
        clients[i] = client_connect(&net);
        client_text(clients[i], "e");
        client_expect(&net, clients[i], "e");
    }
    fixture_begin_close(&net);
    for (unsigned i = 0; i < count; i++)
        client_expect_end(&net, clients[i]);
    free(clients);
    fixture_down(&net); /* Though time stands still. */
}

TEST(clients_that_do_not_close_are_waited_for_together_and_not_for_long)
{
    up_with_time_that_passes();
    int clients[10];
    for (unsigned i = 0; i < 10; i++) {
        clients[i] = client_connect(&net);
        client_text(clients[i], "e");
        client_expect(&net, clients[i], "e");
    }
    expect_down_within_ms(LINGER_MS, LINGER_MS);
    for (unsigned i = 0; i < 10; i++)
        client_expect_end(&net, clients[i]);
}

static void *send_for_ever(void *client)
{
    static const uint8_t bytes[10000];
    while (send(*(int *)client, bytes, sizeof bytes, MSG_NOSIGNAL) > 0)
        ;
    return NULL;
}

TEST(a_client_that_goes_on_sending_is_not_waited_for_any_longer)
{
    up_with_time_that_passes();
    pthread_t sender;
    int client = client_connect(&net);
    client_text(client, "SA");
    fixture_await_suspended(&net, 1);
    assert_int_equal(pthread_create(&sender, NULL, send_for_ever, &client), 0);
    expect_down_within_ms(LINGER_MS, LINGER_MS);
    pthread_join(sender, NULL);
    close(client);
    assert_int_equal(net.calls, 1);
}

TEST(a_client_that_takes_no_replies_is_not_waited_for_any_longer)
{
    up_with_time_that_passes();
    int client = client_connect(&net);
    client_request(client, "m\1\0\0\0", 5); /* 16 MiB */
    fixture_await_calls(&net, 1);
    fixture_settle(&net);
    expect_down_within_ms(STUCK_MS, STUCK_MS);
    close(client);
}

/* Something that a client does again and again while the test itself is in net_close(). */
struct habit {
    struct timer timer;
    int client;
    int64_t period_ms;
    uint64_t bytes;
    bool has_seen_end;
};

static struct loop *only_loop(void)
{
    return net_loop_base(net_loop_at(net.net, 0));
}

static void habit_take(struct timer *timer)
{
    struct habit *habit = LIST_OWNER(timer, struct habit, timer);
    static uint8_t bytes[100000];
    ssize_t got;
    while ((got = client_recv(habit->client, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        habit->bytes += (uint64_t)got;
    habit->has_seen_end = got == 0;
    timer_set(only_loop(), timer, habit->period_ms);
}

static void begin_to_take(struct habit *habit, int client, int64_t period_ms)
{
    *habit = (struct habit){ .client = client, .period_ms = period_ms };
    timer_init(&habit->timer, habit_take);
    timer_set(only_loop(), &habit->timer, period_ms);
}

TEST(a_client_that_takes_its_replies_slowly_is_waited_for_but_not_for_ever)
{
    up_with_time_that_passes();
    struct habit habit;
    int client = client_connect(&net);
    int small = 20000;
    setsockopt(client, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    client_request(client, "m\2\0\0\0", 5); /* 32 MiB */
    fixture_await_calls(&net, 1);
    begin_to_take(&habit, client, STUCK_MS / 2);
    expect_down_within_ms(REPLIES_MS, REPLIES_MS + LINGER_MS);
    assert_true(habit.bytes < 32 * 1024 * 1024);
    close(client);
}

/* ---- calls that do not end ---- */

static struct habit taking;

static void count_only(struct call *call)
{
    (void)call;
    net.abandoned++;
}

static void answer_at_last(struct timer *timer)
{
    (void)timer;
    assert_true(taking.has_seen_end);
    fixture_answer_all(&net);
}

TEST(a_call_that_does_not_end_costs_its_client_a_while_and_is_waited_for)
{
    up_with_time_that_passes();
    int client = client_connect(&net);
    client_text(client, "sA");
    client_text(client, "e-behind");
    fixture_await_suspended(&net, 1);
    net.suspended[0]->abandoned = NULL;
    begin_to_take(&taking, client, 100);
    struct timer end;
    timer_init(&end, answer_at_last);
    timer_set(only_loop(), &end, 10000);
    expect_down_within_ms(10000, 10000);
    assert_int_equal(taking.bytes, 0);
    close(client);
}

TEST(a_call_that_is_told_and_does_not_end_is_not_told_again)
{
    up_with_time_that_passes();
    int client = client_connect(&net);
    client_text(client, "sA");
    fixture_await_suspended(&net, 1);
    net.suspended[0]->abandoned = count_only;
    begin_to_take(&taking, client, 100);
    struct timer end;
    timer_init(&end, answer_at_last);
    timer_set(only_loop(), &end, 10000);
    expect_down_within_ms(10000, 10000);
    assert_int_equal(net.abandoned, 1);
    close(client);
}

/* ---- connections that end on their own ---- */

TEST(what_follows_a_bad_frame_does_not_reset_the_replies_before_it)
{
    up(1);
    int client = client_connect(&net);
    client_text(client, "e-before");
    client_send(client, "\xff\xff\xff\xff", 4);
    send_all_that_fits(client);
    client_expect(&net, client, "e-before");
    client_expect_end(&net, client);
    fixture_down(&net);
}

TEST(what_follows_a_refused_call_does_not_reset_the_replies_before_it)
{
    up(1);
    int client = client_connect(&net);
    client_text(client, "sA");
    client_text(client, "x");
    fixture_await_calls(&net, 2);
    send_all_that_fits(client);
    fixture_answer(&net, "A");
    client_expect(&net, client, "sA");
    client_expect_end(&net, client);
    fixture_down(&net);
}

TEST(a_refused_client_that_stays_keeps_its_socket_for_a_moment_and_no_memory)
{
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    net.config.clock = &time_now.clock;
    fixture_up(&net, false);
    int client = client_connect(&net);
    client_text(client, "x");
    send_all_that_fits(client);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 1);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    clock_manual_advance_ms(&time_now, LINGER_MS + 1);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 0);
    client_expect_closed(&net, client);
    fixture_down(&net);
}
