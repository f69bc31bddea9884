// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net_fixture.h"

static struct net_fixture net;

static void up(void)
{
    fixture_init(&net);
    fixture_up(&net, true);
}

static const char two_frames[] = "\0\0\0\6e-one-\0\0\0\7e--two-";

TEST(frames_come_whole_wherever_the_stream_is_cut)
{
    fixture_init(&net);
    fixture_up(&net, false);
    int client = client_connect(&net);
    size_t length = sizeof two_frames - 1;
    for (size_t cut = 1; cut < length; cut++) {
        client_send(client, two_frames, cut);
        fixture_settle(&net);
        client_send(client, two_frames + cut, length - cut);
        client_expect(&net, client, "e-one-");
        client_expect(&net, client, "e--two-");
    }
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    close(client);
    fixture_down(&net);
}

TEST(frames_come_whole_byte_by_byte)
{
    fixture_init(&net);
    fixture_up(&net, false);
    int client = client_connect(&net);
    for (size_t i = 0; i < sizeof two_frames - 1; i++) {
        client_send(client, &two_frames[i], 1);
        fixture_settle(&net);
    }
    client_expect(&net, client, "e-one-");
    client_expect(&net, client, "e--two-");
    close(client);
    fixture_down(&net);
}

/* Returns in how many bursts that many frames, written at once, were handed over. */
static unsigned count_bursts(unsigned frames)
{
    uint8_t bytes[65 * 7];
    fixture_init(&net);
    fixture_up(&net, false);
    int client = client_connect(&net);
    fixture_settle(&net);
    for (unsigned i = 0; i < frames; i++)
        memcpy(bytes + i * 7, (uint8_t[]){ 0, 0, 0, 3, 'b', (uint8_t)i, '.' }, 7);
    client_send(client, bytes, frames * 7);
    for (unsigned i = 0; i < frames; i++) {
        size_t length;
        const uint8_t *reply = client_reply(&net, client, &length);
        assert_int_equal(length, 3);
        assert_int_equal(reply[1], i);
    }
    close(client);
    fixture_down(&net);
    return net.bursts;
}

TEST(frames_of_one_write_are_one_burst)
{
    assert_int_equal(count_bursts(2), 1);
    assert_int_equal(count_bursts(32), 1);
}

TEST(a_burst_has_32_frames_at_the_most)
{
    assert_int_equal(count_bursts(33), 2);
    assert_int_equal(count_bursts(64), 2);
    assert_int_equal(count_bursts(65), 3);
}

TEST(a_hundred_thousand_small_frames_lose_nothing)
{
    up();
    int client = client_connect(&net);
    enum { COUNT = 100000, AHEAD = 500 };
    uint8_t frame[12] = { 0, 0, 0, 8, 'e' };
    for (uint32_t sent = 0, seen = 0; seen < COUNT; seen++) {
        for (; sent < COUNT && sent < seen + AHEAD; sent++) {
            memcpy(frame + 8, &sent, sizeof sent);
            client_send(client, frame, sizeof frame);
        }
        size_t length;
        const uint8_t *reply = client_reply(&net, client, &length);
        assert_int_equal(length, 8);
        assert_memory_equal(reply + 4, &seen, sizeof seen);
    }
    assert_int_equal(fixture_stats(&net).frames, COUNT);
    close(client);
    fixture_down(&net);
}

static uint8_t *make_frame(size_t length)
{
    uint8_t *frame = malloc(length);
    for (size_t i = 0; i < length; i++)
        frame[i] = file_byte(i);
    frame[0] = 's';
    return frame;
}

TEST(large_frames_come_whole_with_small_ones_between_them)
{
    static const size_t sizes[] = { 300000,  262140,  262144, 262145, 1,
                                    5000000, 1000000, 20000,  1000000 };
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    fixture_init(&net);
    net.config.memory_bytes = 64 * 1024 * 1024;
    fixture_up(&net, true);
    int client = client_connect(&net);
    for (unsigned i = 0; i < COUNT; i++) {
        uint8_t *frame = make_frame(sizes[i]);
        client_request(client, frame, sizes[i]);
        client_text(client, "e");
        free(frame);
    }
    fixture_await_suspended(&net, COUNT);
    assert_true(fixture_stats(&net).memory_reserved > 8000000);
    fixture_answer_all(&net);
    for (unsigned i = 0; i < COUNT; i++) {
        size_t length;
        uint8_t *frame = make_frame(sizes[i]);
        const uint8_t *reply = client_reply(&net, client, &length);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(reply, frame, length);
        client_expect(&net, client, "e");
        free(frame);
    }
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    close(client);
    fixture_down(&net);
}

static void expect_refused(const char *length)
{
    int bystander = client_connect(&net);
    int client = client_connect(&net);
    client_text(client, "e-before");
    client_send(client, length, 4);
    client_expect(&net, client, "e-before");
    client_expect_closed(&net, client);
    client_text(bystander, "e-fine");
    client_expect(&net, bystander, "e-fine");
    close(bystander);
}

TEST(a_length_that_is_none_closes_that_connection_only)
{
    up();
    expect_refused("\x80\0\0\0");
    expect_refused("\xff\xff\xff\xff");
    expect_refused("\0\0\0\0");
    expect_refused("GET ");
    assert_int_equal(traced("closed: a frame of"), 4);
    fixture_down(&net);
}

TEST(a_frame_may_be_as_long_as_allowed_and_no_longer)
{
    fixture_init(&net);
    net.config.max_frame_bytes = 1000;
    fixture_up(&net, true);
    int client = client_connect(&net);
    uint8_t *frame = make_frame(1000);
    frame[0] = 'e';
    size_t length;
    client_request(client, frame, 1000);
    client_reply(&net, client, &length);
    assert_int_equal(length, 1000);
    client_send(client, "\0\0\3\xe9", 4);
    client_expect_closed(&net, client);
    free(frame);
    fixture_down(&net);
}

TEST(a_kept_frame_outlives_its_burst)
{
    up();
    int client = client_connect(&net);
    client_text(client, "sA-the-first");
    fixture_await_suspended(&net, 1);
    for (unsigned i = 0; i < 100; i++) {
        int other = client_connect(&net);
        client_text(other, "e-something-else-in-the-buffer");
        client_expect(&net, other, "e-something-else-in-the-buffer");
        close(other);
    }
    assert_true(fixture_stats(&net).memory_reserved > 0);
    fixture_answer(&net, "A");
    client_expect(&net, client, "sA-the-first");
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    close(client);
    fixture_down(&net);
}

TEST(a_released_frame_gives_its_bytes_back_while_the_call_waits)
{
    up();
    int client = client_connect(&net);
    uint8_t *frame = make_frame(1000000);
    frame[0] = 'r';
    client_request(client, frame, 1000000);
    free(frame);
    fixture_await_suspended(&net, 1);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    fixture_answer_all(&net);
    client_expect(&net, client, "r");
    close(client);
    fixture_down(&net);
}

/* Nobody waits for all that others have asked for. */
TEST(requests_that_take_long_are_handed_over_in_turns)
{
    enum { BUSY = 3, EACH = 40 };
    struct clock_manual time_now;
    int busy[BUSY];
    fixture_init(&net);
    clock_manual_init(&time_now, 1000000);
    net.config.clock = &time_now.clock;
    fixture_up(&net, false);
    for (unsigned i = 0; i < BUSY; i++)
        busy[i] = client_connect(&net);
    int other = client_connect(&net);
    fixture_settle(&net);
    for (unsigned i = 0; i < BUSY; i++)
        for (unsigned k = 0; k < EACH; k++)
            client_text(busy[i], "w");
    client_text(other, "e-one");
    client_expect(&net, other, "e-one");
    assert_true(net.calls < BUSY * 4);
    client_text(other, "e-two");
    client_expect(&net, other, "e-two");
    assert_true(net.calls < BUSY * EACH / 2);
    for (unsigned i = 0; i < BUSY; i++) {
        for (unsigned k = 0; k < EACH; k++)
            client_expect(&net, busy[i], "w");
        close(busy[i]);
    }
    close(other);
    fixture_settle(&net);
    assert_int_equal(fixture_stats(&net).memory_reserved, 0);
    fixture_down(&net);
}
