// SPDX-License-Identifier: Apache-2.0
#include "test_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "header.h"
#include "runner.h"
#include "wire_shapes.h"

#define DEADLINE_S      20
#define FRAME_BYTES_MAX (128 << 20)

struct test_client *client_open(uint16_t port)
{
    struct test_client *client = calloc(1, sizeof *client);
    assert_non_null(client);
    arena_init(&client->arena, NULL, 0, SIZE_MAX);
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval deadline = { .tv_sec = DEADLINE_S };
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
    int yes = 1;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(client->fd, (struct sockaddr *)&address, sizeof address), 0);
    return client;
}

void client_close(struct test_client *client)
{
    close(client->fd);
    arena_close(&client->arena);
    free(client);
}

void *client_alloc(struct test_client *client, size_t count, size_t size)
{
    void *memory = arena_calloc(&client->arena, count, size);
    assert_non_null(memory);
    return memory;
}

/* ---- sending ---- */

void client_encode(struct test_client *client, enum api_key key, int16_t version,
                   const void *request, struct buffer *frames)
{
    const struct message_shape *shape = wire_api_by_key(key)->request;
    struct request_header header = {
        .api_key = (int16_t)key,
        .api_version = version,
        .correlation_id = ++client->sent,
        .client_id = STR_LITERAL("test"),
    };
    struct encoder encoder;
    encoder_init(&encoder);
    buffer_i32(&encoder.bytes, 0);
    int err = request_header_encode(request_header_version(version, shape->flexible_from), &header,
                                    &encoder.bytes);
    if (err == 0) err = message_encode(shape, version, request, &encoder);
    if (err != 0 || encoder.bytes.failed)
        fail_msg("%s v%d cannot be encoded: %d", shape->name, version, err);
    store_i32(encoder.bytes.data, (int32_t)encoder.bytes.length - 4);
    buffer_put(frames, encoder.bytes.data, encoder.bytes.length);
    assert_false(frames->failed);
    encoder_close(&encoder);
}

void client_send_bytes(struct test_client *client, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0) {
        ssize_t sent = send(client->fd, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) fail_msg("sending failed: %s", strerror(errno));
        at += sent;
        length -= (size_t)sent;
    }
}

void client_send(struct test_client *client, enum api_key key, int16_t version, const void *request)
{
    struct buffer frame;
    buffer_init(&frame);
    client_encode(client, key, version, request, &frame);
    client_send_bytes(client, frame.data, frame.length);
    buffer_close(&frame);
}

/* ---- receiving ---- */

/* Whether all came; false if the broker closed the connection before the first byte. */
static bool receive(struct test_client *client, uint8_t *to, size_t length)
{
    for (size_t got = 0; got < length;) {
        ssize_t more = recv(client->fd, to + got, length - got, 0);
        if (more < 0 && errno == EINTR) continue;
        if (got == 0 && (more == 0 || (more < 0 && errno == ECONNRESET))) return false;
        if (more < 0) fail_msg("receiving failed: %s", strerror(errno));
        if (more == 0) fail_msg("the broker closed the connection within a frame");
        got += (size_t)more;
    }
    return true;
}

/* False if the broker closed the connection instead. */
static bool receive_frame(struct test_client *client, struct bytes *frame)
{
    uint8_t prefix[4];
    if (!receive(client, prefix, sizeof prefix)) return false;
    int32_t length = load_i32(prefix);
    if (length < 4 || length > FRAME_BYTES_MAX) fail_msg("a frame of %d bytes", length);
    uint8_t *data = client_alloc(client, (size_t)length, 1);
    if (!receive(client, data, (size_t)length)) fail_msg("no body after a frame's length");
    *frame = (struct bytes){ data, length };
    return true;
}

struct bytes client_receive_frame(struct test_client *client)
{
    struct bytes frame;
    if (!receive_frame(client, &frame)) fail_msg("the broker closed the connection");
    return frame;
}

void assert_broker_closes(struct test_client *client)
{
    uint8_t byte;
    if (receive(client, &byte, 1)) fail_msg("the broker answers instead of closing");
}

/* A reply has one right form: no default that is spelled out, no length in more bytes than needed. */
static void assert_encodes_to(const struct message_shape *shape, int16_t version,
                              const void *message, const uint8_t *data, size_t length)
{
    struct encoder encoder;
    encoder_init(&encoder);
    int err = message_encode(shape, version, message, &encoder);
    if (err != 0) fail_msg("%s v%d cannot be encoded again: %d", shape->name, version, err);
    if (encoder.bytes.length != length || memcmp(encoder.bytes.data, data, length) != 0)
        fail_msg("%s v%d is not encoded as it should", shape->name, version);
    encoder_close(&encoder);
}

bool client_receive_unless_closed(struct test_client *client, enum api_key key, int16_t version,
                                  void *response)
{
    const struct message_shape *shape = wire_api_by_key(key)->response;
    struct bytes frame;
    if (!receive_frame(client, &frame)) return false;
    struct cursor in = cursor_over(frame.data, (size_t)frame.length);
    struct response_header header;
    int16_t header_version = response_header_version((int16_t)key, version, shape->flexible_from);
    assert_int_equal(response_header_decode(header_version, &in, &header), 0);
    if (header.correlation_id != ++client->received)
        fail_msg("%s v%d: correlation id %d instead of %d", shape->name, version,
                 header.correlation_id, client->received);

    const uint8_t *body = in.at;
    size_t length = cursor_left(&in);
    int err = message_decode(shape, version, &in, &client->arena, response);
    if (err != 0) fail_msg("%s v%d cannot be decoded: %d", shape->name, version, err);
    if (cursor_left(&in) != 0)
        fail_msg("%s v%d: %zu bytes too many", shape->name, version, cursor_left(&in));
    assert_encodes_to(shape, version, response, body, length);
    return true;
}

void client_receive(struct test_client *client, enum api_key key, int16_t version, void *response)
{
    if (!client_receive_unless_closed(client, key, version, response))
        fail_msg("the broker closed the connection");
}

void client_call(struct test_client *client, enum api_key key, int16_t version, const void *request,
                 void *response)
{
    client_send(client, key, version, request);
    client_receive(client, key, version, response);
}

void client_expect_no_reply(struct test_client *client)
{
    client->received++;
}
