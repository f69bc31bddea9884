// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net_fixture.h"

#define FILE_BYTES (5u * 1024 * 1024)

static struct net_fixture net;

struct piece {
    uint32_t offset, length;
};

static void up_with_file(size_t sendfile_from_bytes)
{
    fixture_init(&net);
    net.config.sendfile_from_bytes = sendfile_from_bytes;
    fixture_make_file(&net, FILE_BYTES);
    fixture_up(&net, true);
}

static char asked = 'f';

static void ask(int client, const struct piece *pieces, unsigned count)
{
    uint8_t frame[1 + 8 * 64] = { (uint8_t)asked };
    for (unsigned i = 0; i < count; i++) {
        store_i32(frame + 1 + 8 * i, (int32_t)pieces[i].offset);
        store_i32(frame + 5 + 8 * i, (int32_t)pieces[i].length);
    }
    client_request(client, frame, 1 + 8 * count);
}

static void expect(int client, const struct piece *pieces, unsigned count)
{
    size_t length;
    const uint8_t *reply = client_reply(&net, client, &length), *at = reply;
    assert_int_equal(*at++, '|');
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t k = 0; k < pieces[i].length; k++)
            if (*at++ != file_byte(pieces[i].offset + k)) fail();
        assert_int_equal(*at++, '|');
    }
    assert_int_equal(at - reply, length);
}

/* Around the length of a piece of sendfile, of the threshold and of the loop's write buffer. */
static const struct piece pieces[] = {
    { 0, 1 },         { 7, 0 },           { 1, 65535 },     { 4096, 65536 }, { 3, 65537 },
    { 100, 262143 },  { 0, 262144 },      { 11, 262145 },   { 5, 524288 },   { 0, FILE_BYTES },
    { 1000000, 100 }, { 1000100, 90000 }, { 1090100, 100 }, { 0, 0 },        { 77, 3000000 },
};
#define PIECES (sizeof pieces / sizeof pieces[0])

static void expect_all_pieces_right(size_t sendfile_from_bytes)
{
    up_with_file(sendfile_from_bytes);
    int client = client_connect(&net);
    ask(client, pieces, PIECES);
    for (unsigned i = 0; i < PIECES; i++) {
        ask(client, &pieces[i], 1);
        client_text(client, "e-between");
    }
    expect(client, pieces, PIECES);
    for (unsigned i = 0; i < PIECES; i++) {
        expect(client, &pieces[i], 1);
        client_expect(&net, client, "e-between");
    }
    close(client);
    fixture_down(&net);
}

TEST(slices_leave_by_sendfile_with_the_right_bytes)
{
    expect_all_pieces_right(0);
}

TEST(short_slices_leave_with_the_bytes_around_them)
{
    expect_all_pieces_right(64 * 1024);
}

TEST(slices_of_memory_leave_with_the_right_bytes)
{
    asked = 'M';
    expect_all_pieces_right(0);
    expect_all_pieces_right(SIZE_MAX);
    asked = 'f';
}

TEST(all_slices_may_leave_through_memory)
{
    expect_all_pieces_right(SIZE_MAX);
}

/* A hundred clients that are owed much must not keep one waiting that is owed little. */
TEST(a_turn_of_the_loop_sends_so_much_and_then_others_come)
{
    enum { CLIENTS = 100, MOST = 3 * 1024 * 1024 };
    static const struct piece large = { 0, 300000 };
    int clients[CLIENTS];
    fixture_init(&net);
    net.config.loop_count = 1;
    fixture_make_file(&net, FILE_BYTES);
    fixture_up(&net, false);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = client_connect(&net);
    int small = client_connect(&net);
    asked = 'M';
    for (int i = 0; i < CLIENTS; i++)
        ask(clients[i], &large, 1);
    asked = 'f';
    unsigned turns = 0;
    for (uint64_t sent = 0; sent < (uint64_t)CLIENTS * large.length / 4; turns++) {
        assert_true(turns < 1000);
        client_text(small, "e-small");
        fixture_turn(&net);
        uint64_t now = fixture_stats(&net).bytes_out;
        assert_true(now - sent <= MOST);
        sent = now;
    }
    for (unsigned i = 0; i < turns; i++)
        client_expect(&net, small, "e-small");
    for (int i = 0; i < CLIENTS; i++) {
        expect(clients[i], &large, 1);
        close(clients[i]);
    }
    close(small);
    fixture_down(&net);
}

static bool is_cold(int fd)
{
    uint8_t byte;
    struct iovec one = { &byte, 1 };
    return preadv2(fd, &one, 1, 1024 * 1024, RWF_NOWAIT) < 0 &&
           (errno == EAGAIN || errno == EOPNOTSUPP);
}

/* True if the system let us put the file out of the page cache (a tmpfs cannot). */
static bool cool_down(void)
{
    assert_int_equal(fsync(net.file), 0);
    posix_fadvise(net.file, 0, 0, POSIX_FADV_DONTNEED);
    return is_cold(net.file);
}

static void expect_cold_slices_right(size_t sendfile_from_bytes)
{
    static const struct piece cold = { 4096, FILE_BYTES - 4096 };
    up_with_file(sendfile_from_bytes);
    bool was_cold = cool_down();
    int client = client_connect(&net), other = client_connect(&net);
    fixture_hold_jobs(&net, true);
    ask(client, &cold, 1);
    client_text(client, "e-behind");
    if (was_cold) fixture_await_jobs(&net, 1);
    client_text(other, "e-not-held-up");
    client_expect(&net, other, "e-not-held-up");
    fixture_hold_jobs(&net, false);
    expect(client, &cold, 1);
    client_expect(&net, client, "e-behind");
    if (was_cold) assert_true(net.jobs_run > 0);
    close(client);
    close(other);
    fixture_down(&net);
}

TEST(what_is_not_in_the_page_cache_is_brought_in_by_a_job_before_sendfile)
{
    expect_cold_slices_right(0);
}

TEST(what_is_not_in_the_page_cache_is_brought_in_by_a_job_before_a_read)
{
    expect_cold_slices_right(SIZE_MAX);
}

TEST(a_connection_may_close_while_its_slice_is_brought_in)
{
    static const struct piece cold = { 0, FILE_BYTES };
    up_with_file(0);
    bool was_cold = cool_down();
    int client = client_connect(&net);
    fixture_hold_jobs(&net, true);
    ask(client, &cold, 1);
    if (was_cold) fixture_await_jobs(&net, 1);
    close(client);
    fixture_await_connections(&net, 0);
    if (was_cold) assert_int_equal(net.slices_released, 0); /* The job still reads it. */
    fixture_hold_jobs(&net, false);
    fixture_down(&net); /* Asks that every slice was released. */
}

static void expect_closed_after_cut(size_t sendfile_from_bytes)
{
    static const struct piece all = { 0, FILE_BYTES };
    up_with_file(sendfile_from_bytes);
    assert_int_equal(ftruncate(net.file, 300000), 0);
    int client = client_connect(&net), other = client_connect(&net);
    ask(client, &all, 1);
    size_t seen = 0;
    uint8_t bytes[65536];
    for (ssize_t got; (got = client_recv(client, bytes, sizeof bytes, 0)) > 0;)
        seen += (size_t)got;
    assert_true(seen <= 300005);
    close(client);
    client_text(other, "e-fine");
    client_expect(&net, other, "e-fine");
    close(other);
    assert_int_equal(traced("closed:"), 1);
    fixture_down(&net);
}

TEST(a_file_that_was_cut_closes_the_connection)
{
    expect_closed_after_cut(0);
    expect_closed_after_cut(SIZE_MAX);
}

TEST(slices_of_a_client_that_leaves_are_released)
{
    static const struct piece all = { 0, FILE_BYTES };
    up_with_file(64 * 1024);
    for (unsigned i = 0; i < 20; i++) {
        int client = client_connect(&net);
        for (unsigned k = 0; k < 5; k++)
            ask(client, &all, 1);
        uint8_t bytes[1000];
        assert_true(client_recv(client, bytes, sizeof bytes, 0) > 0);
        close(client);
    }
    fixture_await_connections(&net, 0);
    fixture_down(&net);
}
