// SPDX-License-Identifier: Apache-2.0
/* Frames that come slowly, or never whole, and the memory that they may take (DESIGN 2.4). */

#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net_fixture.h"

#define MIB (1024 * 1024)

static struct net_fixture net;
static struct clock_manual time_now;

static void up(uint64_t memory_bytes)
{
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    net.config.clock = &time_now.clock;
    net.config.memory_bytes = memory_bytes;
    fixture_up(&net, false);
}

static void time_passes_ms(int64_t ms)
{
    clock_manual_advance_ms(&time_now, ms);
    fixture_settle(&net);
}

/* Announces a frame and sends a part of it. */
static int half_send(int32_t length, size_t part)
{
    int client = client_connect(&net);
    uint8_t *bytes = calloc(1, 4 + part);
    store_i32(bytes, length);
    memset(bytes + 4, 'e', part);
    client_send(client, bytes, 4 + part);
    free(bytes);
    fixture_settle(&net);
    return client;
}

static void send_rest(int client, size_t length)
{
    uint8_t *bytes = malloc(length);
    memset(bytes, 'e', length);
    while (length > 0) { /* In parts that a socket takes while nobody reads. */
        size_t part = length < 50000 ? length : 50000;
        client_send(client, bytes, part);
        fixture_settle(&net);
        length -= part;
    }
    free(bytes);
}

static void expect_reply_of(int client, size_t length)
{
    size_t got;
    const uint8_t *reply = client_reply(&net, client, &got);
    assert_int_equal(got, length);
    for (size_t i = 0; i < length; i++)
        if (reply[i] != 'e') fail();
}

TEST(a_whole_frame_is_reserved_before_its_body_is_read)
{
    up(16 * MIB);
    int client = half_send(5 * MIB, 10);
    assert_in_range(fixture_stats(&net).memory_reserved, 5 * MIB, 5 * MIB + 4096);
    close(client);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    fixture_down(&net);
}

TEST(frames_that_do_not_fit_wait_and_are_served_in_order)
{
    up(16 * MIB);
    int first = half_send(10 * MIB, 100000);
    int second = half_send(8 * MIB, 100000);
    int third = half_send(8 * MIB, 100000);
    assert_in_range(fixture_stats(&net).memory_waiting, 16 * MIB, 16 * MIB + 8192);
    /* What has come of them was not taken in, except perhaps once. */
    assert_true(fixture_stats(&net).memory_reserved <= 16 * MIB);
    close(first);
    fixture_settle(&net);
    assert_in_range(fixture_stats(&net).memory_waiting, 8 * MIB, 8 * MIB + 4096);
    send_rest(second, 8 * MIB - 100000);
    expect_reply_of(second, 8 * MIB);
    assert_int_equal(fixture_stats(&net).memory_waiting, 0);
    send_rest(third, 8 * MIB - 100000);
    expect_reply_of(third, 8 * MIB);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    close(second);
    close(third);
    fixture_down(&net);
}

TEST(small_requests_go_on_while_large_half_sent_frames_hold_all_memory)
{
    up(16 * MIB);
    int holder = half_send(15 * MIB, 10), waiting = half_send(15 * MIB, 10);
    int client = client_connect(&net);
    for (unsigned i = 0; i < 50; i++) {
        client_text(client, "e-one");
        client_text(client, "e-two");
        client_expect(&net, client, "e-one");
        client_expect(&net, client, "e-two");
    }
    close(holder);
    close(waiting);
    close(client);
    fixture_down(&net);
}

TEST(a_frame_larger_than_the_whole_budget_is_served_when_it_is_alone)
{
    up(1 * MIB);
    int client = half_send(3 * MIB, 10);
    send_rest(client, 3 * MIB - 10);
    expect_reply_of(client, 3 * MIB);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    close(client);
    fixture_down(&net);
}

TEST(a_frame_larger_than_the_whole_budget_does_not_wait_for_its_own_first_bytes)
{
    up(1 * MIB);
    int other = client_connect(&net), client = client_connect(&net);
    uint8_t prefix[4];
    fixture_settle(&net);
    uint8_t *wait = calloc(1, 200000); /* The second one does not fit into the usual share. */
    wait[0] = 's';
    for (unsigned i = 1; i <= 2; i++) {
        store_i32(prefix, 200000);
        client_send(other, prefix, 4);
        client_send(other, wait, 200000);
        fixture_await_suspended(&net, i);
    }
    static uint8_t begin[80000] = { 0, 3 * MIB >> 16, 0, 0 }; /* These come with the length. */
    memset(begin + 4, 'e', sizeof begin - 4);
    client_send(client, begin, sizeof begin);
    fixture_settle(&net);
    assert_true(fixture_stats(&net).memory_waiting > 0);
    fixture_answer_all(&net);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).memory_waiting, 0);
    send_rest(client, 3 * MIB - (sizeof begin - 4));
    expect_reply_of(client, 3 * MIB);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    free(wait);
    close(other);
    close(client);
    fixture_down(&net);
}

TEST(with_a_tiny_budget_every_frame_still_comes_whole)
{
    up(100 * 1024); /* Less than a read: always careful. */
    int client = client_connect(&net);
    static const size_t sizes[] = { 1, 3, 100, 20000, 16384, 16385, 90000, 200000, 5 };
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *frame = malloc(sizes[i]);
        memset(frame, 'e', sizes[i]);
        uint8_t prefix[4];
        store_i32(prefix, (int32_t)sizes[i]);
        client_send(client, prefix, 4);
        send_rest(client, sizes[i]);
        expect_reply_of(client, sizes[i]);
        free(frame);
    }
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    close(client);
    fixture_down(&net);
}

TEST(whoever_leaves_while_his_frame_waits_for_memory_is_gone_at_once)
{
    up(16 * MIB);
    int holder = half_send(10 * MIB, 10);
    int gone[5];
    for (unsigned i = 0; i < 5; i++)
        gone[i] = half_send(8 * MIB, 10);
    assert_int_equal(fixture_stats(&net).connections_open, 6);
    for (unsigned i = 0; i < 5; i++)
        close(gone[i]);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 1);
    assert_int_equal(fixture_stats(&net).memory_waiting, 0);
    close(holder);
    fixture_down(&net);
}

TEST(suspended_calls_stop_reading_when_the_budget_is_used_up)
{
    up(1 * MIB);
    enum { CLIENTS = 8, EACH = 200 };
    int clients[CLIENTS];
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = client_connect(&net);
        for (unsigned k = 0; k < EACH; k++)
            client_text(clients[i], "s-wait");
        fixture_settle(&net);
    }
    assert_true(net.suspended_count < CLIENTS * EACH);
    /* One connection's burst at most is on top. */
    assert_true(fixture_stats(&net).memory_reserved < 2 * MIB);
    while (net.calls < CLIENTS * EACH) {
        fixture_answer_all(&net);
        fixture_settle(&net);
    }
    fixture_answer_all(&net);
    for (unsigned i = 0; i < CLIENTS; i++) {
        for (unsigned k = 0; k < EACH; k++)
            client_expect(&net, clients[i], "s-wait");
        close(clients[i]);
    }
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    fixture_down(&net);
}

TEST(a_half_read_frame_without_progress_is_closed_when_others_wait)
{
    up(16 * MIB);
    int lazy = half_send(15 * MIB, 10);
    time_passes_ms(60000);
    time_passes_ms(60000);
    assert_int_equal(fixture_stats(&net).connections_open, 1); /* Nobody waits. */
    int client = half_send(4 * MIB, 10);
    assert_true(fixture_stats(&net).memory_waiting > 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(fixture_stats(&net).connections_open, 2);
        time_passes_ms(1001);
    }
    client_expect_closed(&net, lazy);
    send_rest(client, 4 * MIB - 10);
    expect_reply_of(client, 4 * MIB);
    assert_int_equal(traced("others wait"), 1);
    close(client);
    fixture_down(&net);
}

TEST(a_half_read_frame_that_goes_on_is_not_closed)
{
    up(16 * MIB);
    int slow = half_send(15 * MIB, 10), waiting = half_send(4 * MIB, 10);
    for (unsigned i = 0; i < 10; i++) {
        if (i % 3 != 2) send_rest(slow, MIB); /* Something may be lost on its way. */
        time_passes_ms(1001);
    }
    assert_int_equal(fixture_stats(&net).connections_open, 2);
    close(slow);
    close(waiting);
    fixture_down(&net);
}

TEST(a_half_read_frame_that_comes_in_drops_is_closed_when_others_wait)
{
    up(16 * MIB);
    int slow = half_send(15 * MIB, 10), waiting = half_send(4 * MIB, 10);
    for (unsigned i = 0; i < 3; i++) {
        send_rest(slow, 100000);
        time_passes_ms(1001);
    }
    client_expect_closed(&net, slow);
    close(waiting);
    fixture_down(&net);
}

TEST(frames_of_a_usual_size_go_on_while_large_half_sent_ones_hold_the_rest)
{
    up(16 * MIB);
    int holder = half_send(15 * MIB, 10), waiting = half_send(15 * MIB, 10);
    assert_int_equal(traced("a request waits for memory"), 1);
    int client = half_send(1 * MIB, 10);
    for (unsigned i = 0; i < 3; i++) {
        uint8_t prefix[4];
        send_rest(client, 1 * MIB - (i == 0 ? 10 : 0));
        expect_reply_of(client, 1 * MIB);
        store_i32(prefix, 1 * MIB);
        client_send(client, prefix, 4);
    }
    assert_int_equal(fixture_stats(&net).connections_open, 3);
    close(holder);
    close(waiting);
    close(client);
    fixture_down(&net);
}

/* ---- idle ---- */

static void up_with_idle(int64_t idle_ms)
{
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    net.config.clock = &time_now.clock;
    net.config.idle_ms = idle_ms;
    fixture_up(&net, false);
}

TEST(an_idle_connection_is_closed_and_an_active_one_is_not)
{
    up_with_idle(10000);
    int idle = client_connect(&net), active = client_connect(&net);
    fixture_settle(&net);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(fixture_stats(&net).connections_open, 2);
        client_text(active, "e");
        client_expect(&net, active, "e");
        time_passes_ms(i < 2 ? 4000 : 2001);
    }
    assert_int_equal(fixture_stats(&net).connections_open, 1);
    client_expect_closed(&net, idle);
    client_text(active, "e");
    client_expect(&net, active, "e");
    close(active);
    fixture_down(&net);
}

TEST(a_client_that_waits_for_us_is_not_idle)
{
    up_with_idle(10000);
    int client = client_connect(&net);
    client_text(client, "sA");
    fixture_await_suspended(&net, 1);
    time_passes_ms(30000);
    time_passes_ms(30000);
    fixture_answer(&net, "A");
    client_expect(&net, client, "sA");
    close(client);
    fixture_down(&net);
}

TEST(a_half_sent_frame_is_idle)
{
    up_with_idle(10000);
    int client = half_send(1 * MIB, 1000);
    time_passes_ms(10001);
    client_expect_closed(&net, client);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    fixture_down(&net);
}

/* ---- many ---- */

static long resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &pages, &resident), 2);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

TEST(thousands_of_half_sent_large_frames_do_not_grow_memory_nor_stop_others)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    unsigned count = limit.rlim_cur > 4100 ? 2000 : (unsigned)(limit.rlim_cur - 100) / 2;

    fixture_init(&net);
    net.config.loop_count = 2;
    net.config.memory_bytes = 256 * MIB;
    fixture_up(&net, true);
    int *clients = calloc(count, sizeof *clients);
    long before = resident_bytes();
    static uint8_t part[20000] = { 6, 0, 0, 0 }; /* 100 MB and a bit are announced. */
    store_i32(part, 100 * MIB);
    for (unsigned i = 0; i < count; i++) {
        clients[i] = client_connect(&net);
        client_send(clients[i], part, sizeof part);
    }
    fixture_await_waiting_memory(&net, (uint64_t)(count - 2) * 100 * MIB);
    assert_true(fixture_stats(&net).memory_reserved <= 256 * MIB);
    int client = client_connect(&net);
    client_text(client, "e-fine");
    client_expect(&net, client, "e-fine");
    /* What is ours: under 1.5 KiB each, and what a few reads had in hand. */
    print_message("%u connections, %ld bytes each\n", count,
                  (resident_bytes() - before) / (long)count);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(resident_bytes() - before < (long)count * 1536 + 2 * MIB);
#endif
    for (unsigned i = 0; i < count; i++)
        close(clients[i]);
    close(client);
    free(clients);
    fixture_await_connections(&net, 0);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    fixture_down(&net);
}
