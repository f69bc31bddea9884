// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net_fixture.h"

static struct net_fixture net;

static void up(void)
{
    fixture_init(&net);
    fixture_up(&net, true);
}

TEST(replies_leave_in_the_order_of_requests_though_they_end_in_reverse)
{
    up();
    int client = client_connect(&net);
    const char *frames[] = { "sA", "sB", "e-between", "sC" };
    for (unsigned i = 0; i < 4; i++)
        client_text(client, frames[i]);
    fixture_await_suspended(&net, 3);
    fixture_answer(&net, "C");
    fixture_answer(&net, "B");
    fixture_answer(&net, "A");
    for (unsigned i = 0; i < 4; i++)
        client_expect(&net, client, frames[i]);
    close(client);
    fixture_down(&net);
}

TEST(a_silent_end_leaves_nothing_and_holds_nobody_up)
{
    up();
    int client = client_connect(&net);
    client_text(client, "n");
    client_text(client, "e-one");
    client_text(client, "n");
    client_text(client, "n");
    client_text(client, "e-two");
    client_expect(&net, client, "e-one");
    client_expect(&net, client, "e-two");
    close(client);
    fixture_down(&net);
}

TEST(silent_ends_behind_a_waiting_call_do_not_pile_up)
{
    fixture_init(&net);
    net.config.max_calls_per_connection = 4;
    fixture_up(&net, true);
    int client = client_connect(&net);
    client_text(client, "sA");
    for (unsigned i = 0; i < 1000; i++)
        client_text(client, "n");
    fixture_await_calls(&net, 1001);
    fixture_answer(&net, "A");
    client_expect(&net, client, "sA");
    close(client);
    fixture_down(&net);
}

/* Ready replies are no request's memory any more, but they are memory. */
TEST(clients_that_ask_and_do_not_read_cost_little_each)
{
    fixture_init(&net);
    net.config.memory_bytes = 512 * 1024;
    fixture_up(&net, true);
    int client = client_connect(&net);
    client_text(client, "sA"); /* What is ready behind it cannot be sent. */
    for (unsigned i = 0; i < 200; i++)
        client_text(client, "e");
    fixture_await_suspended(&net, 1);
    int other = client_connect(&net);
    for (unsigned i = 0; i < 200; i++) {
        client_text(other, "e-other");
        client_expect(&net, other, "e-other");
    }
    assert_in_range(net.calls, 201, 201 + 60);
    fixture_answer(&net, "A");
    client_expect(&net, client, "sA");
    for (unsigned i = 0; i < 200; i++)
        client_expect(&net, client, "e");
    assert_int_equal(net.calls, 401);
    close(client);
    close(other);
    fixture_down(&net);
}

TEST(nothing_overtakes_a_serial_call)
{
    up();
    int client = client_connect(&net);
    /* One write: the frames behind it are in our hands already. */
    client_send(client, "\0\0\0\2SA\0\0\0\2eb\0\0\0\2SC\0\0\0\2ed", 24);
    fixture_await_suspended(&net, 1);
    client_text(client, "ee");
    assert_int_equal(net.calls, 1);
    assert_true(fixture_stats(&net).memory_reserved > 0); /* What is held aside is counted. */
    fixture_answer(&net, "A");
    client_expect(&net, client, "SA");
    client_expect(&net, client, "eb");
    fixture_await_suspended(&net, 1);
    fixture_answer(&net, "C");
    client_expect(&net, client, "SC");
    client_expect(&net, client, "ed");
    client_expect(&net, client, "ee");
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    close(client);
    fixture_down(&net);
}

TEST(a_large_frame_waits_behind_a_serial_call)
{
    up();
    int client = client_connect(&net);
    uint8_t *frame = calloc(1, 700000);
    frame[0] = 'e';
    client_text(client, "SA");
    client_request(client, frame, 700000);
    client_text(client, "e-last");
    fixture_await_suspended(&net, 1);
    assert_int_equal(net.calls, 1);
    fixture_answer(&net, "A");
    client_expect(&net, client, "SA");
    size_t length;
    const uint8_t *reply = client_reply(&net, client, &length);
    assert_int_equal(length, 700000);
    assert_memory_equal(reply, frame, length);
    client_expect(&net, client, "e-last");
    free(frame);
    close(client);
    fixture_down(&net);
}

/* Otherwise whoever sends rubbish fills the disk with lines about it. */
TEST(of_many_connections_that_are_refused_for_one_reason_some_are_told)
{
    fixture_init(&net);
    net.config.loop_count = 1;
    fixture_up(&net, true);
    for (int i = 0; i < 40; i++) {
        int client = client_connect(&net);
        client_text(client, "x");
        client_expect_closed(&net, client);
    }
    int client = client_connect(&net);
    client_send(client, "\xff\xff\xff\xff", 4);
    client_expect_closed(&net, client);
    assert_int_equal(traced("closed: the test says so"), 10);
    assert_int_equal(traced("closed: a frame of"), 1);
    fixture_down(&net);
}

TEST(a_refused_call_closes_after_the_earlier_replies)
{
    up();
    int client = client_connect(&net);
    client_text(client, "sA");
    client_text(client, "x");
    client_text(client, "e-never-seen");
    fixture_await_calls(&net, 2);
    fixture_answer(&net, "A");
    client_expect(&net, client, "sA");
    client_expect_closed(&net, client);
    assert_int_equal(net.calls, 2);
    assert_int_equal(traced("closed: the test says so"), 1);
    fixture_down(&net);
}

TEST(calls_behind_a_refused_one_are_abandoned)
{
    up();
    int client = client_connect(&net);
    client_text(client, "SA"); /* So that both of the others come in one burst. */
    client_send(client, "\0\0\0\2sB\0\0\0\1x", 11);
    fixture_await_suspended(&net, 1);
    fixture_answer(&net, "A");
    client_expect(&net, client, "SA");
    fixture_await_calls(&net, 3);
    fixture_answer(&net, "B");
    client_expect(&net, client, "sB");
    client_expect_closed(&net, client);
    fixture_down(&net);
}

TEST(a_suspended_call_is_told_when_its_connection_closes)
{
    up();
    int client = client_connect(&net);
    client_text(client, "sA");
    client_text(client, "sB");
    fixture_await_suspended(&net, 2);
    close(client);
    fixture_await_abandoned(&net, 2);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 0);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    fixture_down(&net);
}

TEST(a_reset_is_seen_although_nothing_is_read)
{
    up();
    int client = client_connect(&net);
    client_text(client, "SA");
    fixture_await_suspended(&net, 1);
    struct linger abort = { 1, 0 };
    setsockopt(client, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
    close(client);
    fixture_await_abandoned(&net, 1);
    fixture_await_connections(&net, 0);
    fixture_down(&net);
}

TEST(requests_before_the_peers_end_are_served_though_they_had_to_wait)
{
    fixture_init(&net);
    net.tells_nobody = true;
    fixture_up(&net, true);
    int client = client_connect(&net);
    client_text(client, "SA");
    fixture_await_suspended(&net, 1);
    client_text(client, "n");
    client_text(client, "n");
    shutdown(client, SHUT_WR);
    fixture_answer(&net, "A");
    client_expect(&net, client, "SA");
    fixture_await_calls(&net, 3);
    client_expect_closed(&net, client);
    fixture_down(&net);
}

TEST(a_call_that_waits_is_told_that_its_peer_has_ended)
{
    up();
    int client = client_connect(&net);
    client_text(client, "SA");
    fixture_await_suspended(&net, 1);
    client_text(client, "n");
    shutdown(client, SHUT_WR);
    fixture_await_calls(&net, 2);
    assert_int_equal(net.abandoned, 1);
    client_expect_closed(&net, client);
    fixture_down(&net);
}

TEST(a_call_may_end_after_its_connection)
{
    fixture_init(&net);
    net.tells_nobody = true; /* It ends when it ends. */
    fixture_up(&net, true);
    int client = client_connect(&net);
    client_text(client, "f");
    client_text(client, "sA");
    fixture_await_suspended(&net, 1);
    close(client);
    fixture_await_connections(&net, 0);
    assert_string_equal(call_peer(net.suspended[0]), "127.0.0.1");
    fixture_answer(&net, "A");
    fixture_down(&net);
}

TEST(a_client_that_does_not_read_stalls_itself_only_and_loses_nothing)
{
    fixture_init(&net);
    net.config.max_calls_per_connection = 16;
    net.config.send_buffer_bytes = 16 * 1024;
    fixture_up(&net, false);
    int slow = client_connect(&net), other = client_connect(&net);
    enum { COUNT = 300 };
    const char request[] = "\0\0\0\5m\0\1\0\0"; /* 64 KiB each, 19 MB in total. */
    for (unsigned i = 0; i < COUNT; i++)
        client_send(slow, request, sizeof request - 1);
    fixture_settle(&net);
    unsigned calls = net.calls;
    assert_true(calls < COUNT);
    fixture_settle(&net);
    assert_int_equal(net.calls, calls);
    client_text(other, "e-fine");
    client_expect(&net, other, "e-fine");
    for (unsigned i = 0; i < COUNT; i++) {
        size_t length;
        const uint8_t *reply = client_reply(&net, slow, &length);
        assert_int_equal(length, 65536);
        for (size_t at = 0; at < length; at++)
            if (reply[at] != file_byte(at)) fail();
    }
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    close(slow);
    close(other);
    fixture_down(&net);
}

TEST(too_many_suspended_calls_stop_the_reading_and_it_goes_on_later)
{
    fixture_init(&net);
    net.config.max_calls_per_connection = 3;
    fixture_up(&net, false);
    int client = client_connect(&net);
    for (const char *name = "ABCDEFGH"; *name != '\0'; name++)
        client_text(client, (char[]){ 's', *name, '\0' });
    fixture_settle(&net);
    assert_int_equal(net.suspended_count, 3);
    fixture_answer(&net, "B");
    fixture_settle(&net);
    assert_int_equal(net.calls, 3); /* A, the front, keeps B's reply in the line. */
    fixture_answer(&net, "A");
    fixture_settle(&net);
    assert_int_equal(net.calls, 5);
    client_expect(&net, client, "sA");
    client_expect(&net, client, "sB");
    for (const char *name = "CDEFGH"; *name != '\0'; name++) {
        fixture_answer(&net, (char[]){ *name, '\0' });
        client_expect(&net, client, (char[]){ 's', *name, '\0' });
        fixture_settle(&net);
    }
    close(client);
    fixture_down(&net);
}

TEST(many_ends_in_one_turn_leave_with_one_write)
{
    fixture_init(&net);
    fixture_up(&net, false);
    int client = client_connect(&net);
    for (unsigned i = 0; i < 100; i++)
        client_text(client, "s-");
    fixture_settle(&net);
    assert_int_equal(net.suspended_count, 100);
    fixture_answer_all(&net);
    char bytes[1000];
    /* Nothing yet: the loop has not come to its end of turn. */
    assert_int_equal(client_recv(client, bytes, sizeof bytes, MSG_DONTWAIT), -1);
    fixture_turn(&net);
    assert_int_equal(client_recv(client, bytes, sizeof bytes, MSG_DONTWAIT), 600);
    close(client);
    fixture_down(&net);
}

TEST(a_reply_may_be_large)
{
    up();
    int client = client_connect(&net);
    client_request(client, "m\2\0\0\0", 5); /* 32 MiB */
    client_text(client, "e-behind");
    size_t length;
    const uint8_t *reply = client_reply(&net, client, &length);
    assert_int_equal(length, 32 * 1024 * 1024);
    for (size_t at = 0; at < length; at++)
        if (reply[at] != file_byte(at)) fail();
    client_expect(&net, client, "e-behind");
    close(client);
    fixture_down(&net);
}
