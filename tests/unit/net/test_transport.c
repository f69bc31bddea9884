// SPDX-License-Identifier: Apache-2.0
/* The seam between a connection and its socket: a second kind that behaves like TLS at its
 * worst. */

#include "runner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "net_fixture.h"
#include "transport.h"

/* It must write before it reads for the first time and before it finishes, takes in more than it is asked for, gives
 * out a few bytes at a time, writes a few bytes at a time, and sees every byte of a file. */
struct awkward {
    bool has_greeted, has_parted;
    uint8_t taken[5000];
    size_t length, at;
    unsigned calls;
};

#define GIVES_BYTES  777
#define WRITES_BYTES 1111

static int awkward_open(struct transport *transport)
{
    transport->state = mem_zalloc(sizeof(struct awkward));
    return transport->state == NULL ? ERR_NO_MEMORY : 0;
}

static ssize_t awkward_read(struct transport *transport, const struct iovec *pieces, int count)
{
    struct awkward *awkward = transport->state;
    (void)count;
    if (!awkward->has_greeted) {
        awkward->has_greeted = true;
        return TRANSPORT_WANT_WRITE;
    }
    if (awkward->at == awkward->length) {
        struct iovec all = { awkward->taken, sizeof awkward->taken };
        ssize_t got = transport_plain.read(transport, &all, 1);
        if (got <= 0) return got;
        awkward->at = 0;
        awkward->length = (size_t)got;
    }
    size_t gives = awkward->length - awkward->at;
    if (gives > GIVES_BYTES) gives = GIVES_BYTES;
    if (gives > pieces[0].iov_len) gives = pieces[0].iov_len;
    memcpy(pieces[0].iov_base, awkward->taken + awkward->at, gives);
    awkward->at += gives;
    return (ssize_t)gives;
}

static ssize_t awkward_write(struct transport *transport, const struct iovec *pieces, int count,
                             bool more)
{
    struct awkward *awkward = transport->state;
    (void)count;
    if (++awkward->calls % 3 == 0) return TRANSPORT_WANT_WRITE;
    struct iovec some = pieces[0];
    if (some.iov_len > WRITES_BYTES) some.iov_len = WRITES_BYTES;
    return transport_plain.write(transport, &some, 1, more);
}

static bool awkward_has_buffered(const struct transport *transport)
{
    const struct awkward *awkward = transport->state;
    return awkward->at < awkward->length;
}

static int awkward_finish(struct transport *transport)
{
    struct awkward *awkward = transport->state;
    if (awkward->has_parted) return transport_plain.finish(transport);
    awkward->has_parted = true;
    return TRANSPORT_WANT_WRITE;
}

static void awkward_close(struct transport *transport)
{
    mem_free(transport->state);
    transport_plain.close(transport);
}

static const struct transport_kind awkward_kind = {
    .open = awkward_open,
    .read = awkward_read,
    .write = awkward_write,
    .has_buffered = awkward_has_buffered,
    .finish = awkward_finish,
    .close = awkward_close,
};

static struct net_fixture net;

TEST(a_transport_that_buffers_chops_and_wants_the_other_way_round_loses_nothing)
{
    fixture_init(&net);
    net.config.transport = &awkward_kind;
    net.config.sendfile_from_bytes = 0;
    fixture_make_file(&net, 1000000);
    fixture_up(&net, true);
    int client = client_connect(&net);
    enum { COUNT = 1000, LARGE = 300000 };
    uint8_t *large = calloc(1, LARGE);
    large[0] = 'e';
    for (unsigned i = 0; i < COUNT; i++)
        client_text(client, "e-twenty-bytes-or-so");
    client_request(client, large, LARGE);
    client_request(client, "f\0\0\0\7\0\1\x86\xa0", 9); /* 100,000 bytes from 7 on. */
    for (unsigned i = 0; i < COUNT; i++)
        client_expect(&net, client, "e-twenty-bytes-or-so");
    size_t length;
    const uint8_t *reply = client_reply(&net, client, &length);
    assert_int_equal(length, LARGE);
    assert_memory_equal(reply, large, LARGE);
    reply = client_reply(&net, client, &length);
    assert_int_equal(length, 100002);
    for (size_t i = 0; i < 100000; i++)
        if (reply[1 + i] != file_byte(7 + i)) fail();
    free(large);
    close(client);
    fixture_await_connections(&net, 0);
    fixture_down(&net);
}

TEST(a_transport_finishes_when_it_can_and_what_it_has_buffered_is_thrown_away)
{
    struct clock_manual time_now;
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    net.config.clock = &time_now.clock;
    net.config.transport = &awkward_kind;
    fixture_up(&net, true);
    int client = client_connect(&net);
    uint8_t behind[20000] = { 0 };
    client_text(client, "SA");
    client_send(client, behind, sizeof behind);
    fixture_await_suspended(&net, 1);
    fixture_begin_close(&net);
    client_expect_end(&net, client);
    fixture_down(&net);
    assert_int_equal(net.calls, 1);
}

TEST(an_allocation_that_fails_costs_that_connection_at_most)
{
    fixture_init(&net);
    net.config.transport = &awkward_kind;
    fixture_up(&net, false);
    enum { LARGE = 300000 };
    uint8_t *large = calloc(1, LARGE);
    unsigned served = 0;
    large[0] = 'e';
    for (long nth = 1; nth <= 20; nth++) {
        int client = client_connect(&net);
        mem_fail_at(nth);
        client_send(client, "\0\0\0\7e-small\0\4\x93\xe0", 15);
        fixture_settle(&net);
        for (size_t at = 0; at < LARGE && fixture_stats(&net).connections_open > 0; at += 50000) {
            client_send(client, large + at, 50000);
            fixture_settle(&net);
        }
        mem_fail_at(0);
        served += fixture_stats(&net).connections_open > 0;
        close(client);
        fixture_await_connections(&net, 0);
        fixture_settle(&net);
        assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    }
    assert_in_range(served, 1, 19);
    free(large);
    fixture_down(&net);
}
