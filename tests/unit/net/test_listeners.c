// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "net_fixture.h"
#include "net_loop.h"

static struct net_fixture net;

static int connect_to(const char *address, uint16_t port)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
    bool is_six = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
    if (!is_six) assert_int_equal(inet_pton(AF_INET, address, &four.sin_addr), 1);
    int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = { 20, 0 };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const void *to = is_six ? (const void *)&six : &four;
    if (client_connect_to(fd, to, is_six ? sizeof six : sizeof four) == 0) return fd;
    close(fd);
    return -1;
}

static void expect_served(int client)
{
    client_text(client, "e-served");
    client_expect(&net, client, "e-served");
}

/* A fixture whose second listener is on `host`. */
static uint16_t up_with(const char *host)
{
    char why[200];
    unsigned index;
    uint16_t port = 0;
    fixture_init(&net);
    assert_int_equal(net_open(&net.net, &net.config), 0);
    int err = net_listen(net.net, host, 0, &index, &port, why, sizeof why);
    assert_int_equal(err, 0);
    assert_int_equal(index, 0);
    assert_true(port > 0);
    assert_int_equal(net_start(net.net), 0);
    net_accept(net.net);
    net.has_threads = true;
    return port;
}

static bool has_ipv6(void)
{
    struct sockaddr_in6 loopback = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = fd >= 0 && bind(fd, (struct sockaddr *)&loopback, sizeof loopback) == 0;
    if (fd >= 0) close(fd);
    return has;
}

TEST(no_host_means_every_address_of_both_kinds)
{
    uint16_t port = up_with("");
    int four = connect_to("127.0.0.1", port);
    expect_served(four);
    assert_string_equal(net.peer, "127.0.0.1");
    close(four);
    if (has_ipv6()) {
        int six = connect_to("::1", port);
        expect_served(six);
        assert_string_equal(net.peer, "::1");
        close(six);
    }
    net_close(net.net);
}

TEST(an_ipv6_address_can_be_listened_on)
{
    if (!has_ipv6()) return;
    uint16_t port = up_with("::1");
    int six = connect_to("::1", port);
    expect_served(six);
    assert_int_equal(connect_to("127.0.0.1", port), -1);
    close(six);
    net_close(net.net);
}

TEST(a_name_is_listened_on_at_each_of_its_addresses)
{
    uint16_t port = up_with("localhost");
    int four = connect_to("127.0.0.1", port);
    expect_served(four);
    close(four);
    net_close(net.net);
}

TEST(a_call_knows_its_listener)
{
    char why[200];
    unsigned index;
    uint16_t first, second;
    fixture_init(&net);
    net.has_threads = true;
    assert_int_equal(net_open(&net.net, &net.config), 0);
    assert_int_equal(net_listen(net.net, "127.0.0.1", 0, &index, &first, why, sizeof why), 0);
    assert_int_equal(net_listen(net.net, "127.0.0.1", 0, &index, &second, why, sizeof why), 0);
    assert_int_equal(index, 1);
    assert_int_equal(net_start(net.net), 0);
    net_accept(net.net);
    int client = connect_to("127.0.0.1", second);
    expect_served(client);
    assert_int_equal(net.listener, 1);
    close(client);
    client = connect_to("127.0.0.1", first);
    expect_served(client);
    assert_int_equal(net.listener, 0);
    close(client);
    net_close(net.net);
}

TEST(what_cannot_be_listened_on_is_said_in_a_sentence)
{
    char why[200] = "";
    unsigned index;
    uint16_t port, other;
    fixture_init(&net);
    assert_int_equal(net_open(&net.net, &net.config), 0);
    assert_int_equal(net_listen(net.net, "127.0.0.1", 0, &index, &port, why, sizeof why), 0);
    assert_int_equal(net_listen(net.net, "127.0.0.1", port, &index, &other, why, sizeof why),
                     ERR_IO);
    assert_non_null(strstr(why, "cannot listen on 127.0.0.1:"));
    assert_int_equal(net_listen(net.net, "no such host", 0, &index, &other, why, sizeof why),
                     ERR_USAGE);
    assert_non_null(strstr(why, "cannot resolve"));
    net_close(net.net); /* Never started: closes all the same. */
}

TEST(clients_wait_in_the_backlog_until_accepting_begins)
{
    char why[200];
    unsigned index;
    uint16_t port;
    fixture_init(&net);
    net.has_threads = true;
    assert_int_equal(net_open(&net.net, &net.config), 0);
    assert_int_equal(net_listen(net.net, "127.0.0.1", 0, &index, &port, why, sizeof why), 0);
    assert_int_equal(net_start(net.net), 0);
    int client = connect_to("127.0.0.1", port);
    client_text(client, "e-early");
    net_accept(net.net);
    client_expect(&net, client, "e-early");
    net_stop_accepting(net.net);
    assert_int_equal(connect_to("127.0.0.1", port), -1);
    expect_served(client); /* Those who are in stay in. */
    close(client);
    net_close(net.net);
}

TEST(above_the_limit_of_an_address_a_connection_is_closed_at_once)
{
    fixture_init(&net);
    net.config.limits.max_connections_per_ip = 2;
    fixture_up(&net, true);
    int one = client_connect(&net), two = client_connect(&net);
    expect_served(one);
    expect_served(two);
    client_expect_closed(&net, client_connect(&net));
    client_expect_closed(&net, client_connect(&net));
    assert_int_equal(fixture_stats(&net).connections_refused, 2);
    assert_int_equal(traced("too many from that address"), 1); /* Not a line for each. */
    int elsewhere = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in from = { .sin_family = AF_INET }, to = { .sin_family = AF_INET };
    inet_pton(AF_INET, "127.0.0.2", &from.sin_addr);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    to.sin_port = htons(net.port);
    assert_int_equal(bind(elsewhere, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(elsewhere, (struct sockaddr *)&to, sizeof to), 0);
    expect_served(elsewhere);
    close(one);
    fixture_await_connections(&net, 2);
    one = client_connect(&net);
    expect_served(one);
    close(one);
    close(two);
    close(elsewhere);
    fixture_down(&net);
}

TEST(an_address_may_have_a_limit_of_its_own)
{
    fixture_init(&net);
    net.config.limits.max_connections_per_ip = 0;
    net.config.limits.per_ip_overrides = "10.0.0.1:5,127.0.0.1:2";
    fixture_up(&net, true);
    int one = client_connect(&net), two = client_connect(&net);
    expect_served(one);
    expect_served(two);
    client_expect_closed(&net, client_connect(&net));
    struct net_limits others = { INT32_MAX, 1, INT32_MAX, "127.0.0.1:3" };
    assert_int_equal(net_set_limits(net.net, &others), 0);
    int three = client_connect(&net);
    expect_served(three);
    others.per_ip_overrides = "nobody";
    assert_int_equal(net_set_limits(net.net, &others), ERR_USAGE); /* Nothing has changed. */
    client_expect_closed(&net, client_connect(&net));
    close(one);
    close(two);
    close(three);
    fixture_down(&net);
}

TEST(who_comes_too_fast_waits)
{
    struct clock_manual time_now;
    int clients[6];
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    net.config.clock = &time_now.clock;
    net.config.limits.max_connections_per_second = 2;
    fixture_up(&net, false);
    for (unsigned i = 0; i < 6; i++)
        clients[i] = client_connect(&net);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 2);
    assert_int_equal(traced("more than 2 connections a second, the limit: others wait"), 1);
    clock_manual_advance_ms(&time_now, 499);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 2);
    clock_manual_advance_ms(&time_now, 1);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 3);
    clock_manual_advance_ms(&time_now, 500);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 4);

    struct net_limits others = { INT32_MAX, INT32_MAX, 0, "" }; /* Nobody any more. */
    assert_int_equal(net_set_limits(net.net, &others), 0);
    for (unsigned i = 0; i < 5; i++) {
        clock_manual_advance_ms(&time_now, 1000);
        fixture_settle(&net);
    }
    assert_int_equal(fixture_stats(&net).connections_open, 4);
    others.max_connections_per_second = INT32_MAX;
    assert_int_equal(net_set_limits(net.net, &others), 0);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 6);
    for (unsigned i = 0; i < 6; i++)
        close(clients[i]);
    fixture_down(&net);
}

TEST(above_the_total_limit_clients_wait_until_another_leaves)
{
    fixture_init(&net);
    net.config.limits.max_connections = 2;
    net.config.loop_count = 2;
    fixture_up(&net, true);
    int one = client_connect(&net), two = client_connect(&net), three = client_connect(&net);
    expect_served(one);
    expect_served(two);
    client_text(three, "e-patient");
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 2);
    close(two);
    client_expect(&net, three, "e-patient");
    assert_int_equal(fixture_stats(&net).connections_refused, 0);
    close(one);
    close(three);
    fixture_down(&net);
}

TEST(connections_go_to_the_loop_with_the_fewest)
{
    fixture_init(&net);
    net.config.loop_count = 3;
    fixture_up(&net, true);
    int clients[9];
    for (unsigned i = 0; i < 9; i++) {
        clients[i] = client_connect(&net);
        expect_served(clients[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(atomic_load(&net_loop_at(net.net, i)->connections_open), 3);
    for (unsigned i = 0; i < 9; i++)
        close(clients[i]);
    fixture_down(&net);
}

TEST(without_descriptors_accepting_pauses_and_goes_on)
{
    struct clock_manual time_now;
    struct rlimit limit, before;
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    net.config.clock = &time_now.clock;
    fixture_up(&net, false);
    getrlimit(RLIMIT_NOFILE, &before);
    int client = client_connect(&net);
    limit = before;
    limit.rlim_cur = (rlim_t)client + 1; /* Not one more. */
    setrlimit(RLIMIT_NOFILE, &limit);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 0);
    assert_int_equal(traced("cannot accept"), 1);
    setrlimit(RLIMIT_NOFILE, &before);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).connections_open, 0); /* No spinning: it waits. */
    clock_manual_advance_ms(&time_now, 101);
    expect_served(client);
    close(client);
    fixture_down(&net);
}

TEST(thousands_of_connections_are_served)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    enum { MOST = 3000 };
    static int clients[MOST];
    unsigned count = limit.rlim_cur > 2 * MOST + 100 ? MOST : (unsigned)(limit.rlim_cur - 100) / 2;
    fixture_init(&net);
    net.config.loop_count = 2;
    fixture_up(&net, true);
    for (unsigned i = 0; i < count; i++)
        clients[i] = client_connect(&net);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < count; i++)
            client_text(clients[i], "e-hello");
        for (unsigned i = 0; i < count; i++)
            client_expect(&net, clients[i], "e-hello");
    }
    assert_int_equal(fixture_stats(&net).connections_open, count);
    for (unsigned i = 0; i < count; i++)
        close(clients[i]);
    fixture_await_connections(&net, 0);
    fixture_down(&net);
}

static uint64_t open_on(unsigned loop)
{
    struct net_loop_stats stats;
    net_loop_stats(net_loop_at(net.net, loop), &stats);
    return stats.connections_open;
}

/* num.network.threads at run time. */
TEST(loops_in_use_can_become_more_and_fewer)
{
    int clients[6];
    fixture_init(&net);
    net.config.loop_count = 2;
    fixture_up(&net, true);
    assert_int_equal(net_loop_count(net.net), 2);
    for (unsigned i = 0; i < 2; i++)
        expect_served(clients[i] = client_connect(&net));
    assert_int_equal(net_use_loops(net.net, 3), 0);
    assert_int_equal(net_loop_count(net.net), 3);
    for (unsigned i = 2; i < 6; i++)
        expect_served(clients[i] = client_connect(&net));
    for (unsigned loop = 0; loop < 3; loop++)
        assert_int_equal(open_on(loop), 2);

    /* Who is there stays, and nobody new comes to a loop that is not in use. */
    assert_int_equal(net_use_loops(net.net, 1), 0);
    close(clients[0]);
    close(clients[1]);
    fixture_await_connections(&net, 4);
    for (unsigned i = 0; i < 2; i++)
        expect_served(clients[i] = client_connect(&net));
    assert_int_equal(open_on(0), 3);
    assert_int_equal(open_on(1), 1);
    assert_int_equal(open_on(2), 2);
    for (unsigned i = 0; i < 6; i++)
        expect_served(clients[i]);

    /* A loop that is wanted again is the one that was there. */
    assert_int_equal(net_use_loops(net.net, 2), 0);
    assert_int_equal(net_loop_count(net.net), 3);
    for (unsigned i = 0; i < 6; i++)
        close(clients[i]);
    fixture_await_connections(&net, 0);
    fixture_down(&net);
}

TEST(a_loop_that_cannot_be_made_leaves_those_that_there_are)
{
    fixture_init(&net);
    net.config.loop_count = 2;
    fixture_up(&net, true);
    for (long nth = 1;; nth++) {
        mem_fail_at(nth);
        int err = net_use_loops(net.net, 3);
        mem_fail_at(0);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
        assert_int_equal(net_loop_count(net.net), 2);
        int client = client_connect(&net);
        expect_served(client);
        close(client);
    }
    assert_int_equal(net_loop_count(net.net), 3);
    fixture_down(&net);
}

TEST(opening_fails_cleanly_at_every_allocation)
{
    char why[200];
    unsigned index;
    uint16_t port;
    fixture_init(&net);
    net.config.loop_count = 2;
    for (long nth = 1;; nth++) {
        net.net = NULL;
        mem_fail_at(nth);
        int err = net_open(&net.net, &net.config);
        if (err == 0) err = net_listen(net.net, "", 0, &index, &port, why, sizeof why);
        mem_fail_at(0);
        net_close(net.net);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
    }
}
