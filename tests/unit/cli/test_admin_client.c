// SPDX-License-Identifier: Apache-2.0
/* The broker here is the other end of a socket pair; what it will answer is written before it is
 * asked. */
#include "runner.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin_client.h"
#include "api_versions.h"
#include "error.h"
#include "metadata.h"

static struct admin_client client;
static int broker;

static void write_bytes(const void *bytes, size_t length)
{
    assert_int_equal(write(broker, bytes, length), length);
}

#define WRITE(...) \
    write_bytes((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static int client_fd;

static void open_pair(void)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    client_fd = pair[0];
    broker = pair[1];
}

static int open_client(void)
{
    return admin_client_open_socket(&client, client_fd, "broker:1", 1000);
}

static void close_pair(void)
{
    admin_client_close(&client);
    close(broker);
}

/* ApiVersions 4: Metadata 0 to 4, answered to correlation id 1. */
#define VERSIONS_ANSWER 0, 0, 0, 19, 0, 0, 0, 1, 0, 0, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0

TEST(the_highest_version_that_both_know_is_used)
{
    open_pair();
    WRITE(VERSIONS_ANSWER);
    assert_int_equal(open_client(), 0);
    int16_t version = -1;
    assert_int_equal(admin_client_version(&client, &admin_metadata, &version), 0);
    assert_int_equal(version, 4);
    close_pair();
}

TEST(an_api_that_the_broker_lacks_is_named)
{
    open_pair();
    WRITE(VERSIONS_ANSWER);
    assert_int_equal(open_client(), 0);
    int16_t version = -1;
    assert_int_equal(admin_client_version(&client, &admin_create_topics, &version),
                     ERR_UNSUPPORTED_VERSION);
    assert_string_equal(client.failure, "broker:1 does not offer CreateTopics");
    assert_int_equal(version, -1);
    close_pair();
}

/* KIP-511: refused in version 0, with what it does know; asked again in that. */
TEST(an_old_broker_is_asked_again_in_a_version_that_it_knows)
{
    open_pair();
    WRITE(0, 0, 0, 16, 0, 0, 0, 1, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 0);
    WRITE(0, 0, 0, 16, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 3, 0, 2, 0, 9);
    assert_int_equal(open_client(), 0);
    int16_t version = -1;
    assert_int_equal(admin_client_version(&client, &admin_metadata, &version), 0);
    assert_int_equal(version, 9);
    close_pair();
}

TEST(a_reply_of_absurd_length_is_refused)
{
    open_pair();
    write_bytes("HTTP/1.1 400 Bad Request\r\n", 26);
    assert_int_equal(open_client(), ERR_MALFORMED);
    assert_string_equal(client.failure, "broker:1 answered with a frame of 1213486160 bytes");
    close_pair();
    open_pair();
    WRITE(255, 255, 255, 255);
    assert_int_equal(open_client(), ERR_MALFORMED);
    close_pair();
}

TEST(a_reply_to_another_request_is_refused)
{
    open_pair();
    WRITE(0, 0, 0, 19, 0, 0, 0, 9, 0, 0, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0);
    assert_int_equal(open_client(), ERR_MALFORMED);
    close_pair();
}

TEST(a_reply_that_is_cut_or_lies_about_its_counts_is_refused)
{
    static const uint8_t whole[] = { VERSIONS_ANSWER };
    for (uint8_t length = 4; length < sizeof whole - 4; length++) {
        open_pair();
        uint8_t prefix[4] = { 0, 0, 0, length };
        write_bytes(prefix, sizeof prefix);
        write_bytes(whole + 4, length);
        assert_int_equal(open_client(), ERR_MALFORMED);
        close_pair();
    }
    open_pair();
    WRITE(0, 0, 0, 11, 0, 0, 0, 1, 0, 0, 255, 255, 255, 255, 15);
    assert_int_equal(open_client(), ERR_MALFORMED);
    close_pair();
}

TEST(a_broker_that_hangs_up_is_an_error)
{
    open_pair();
    shutdown(broker, SHUT_WR);
    assert_int_equal(open_client(), ERR_NETWORK);
    assert_string_equal(client.failure, "broker:1 closed the connection");
    close_pair();
}

static void assert_next(const char **list, const char *host, const char *port)
{
    char found_host[256], found_port[6];
    assert_int_equal(bootstrap_next(list, found_host, found_port), 0);
    assert_string_equal(found_host, host);
    assert_string_equal(found_port, port);
}

TEST(a_list_of_brokers_is_read_one_by_one)
{
    char host[256], port[6];
    const char *list = "one:1,two, [::1]:3 ,[fe80::1]";
    assert_next(&list, "one", "1");
    assert_next(&list, "two", "9092");
    assert_next(&list, "::1", "3");
    assert_next(&list, "fe80::1", "9092");
    assert_int_equal(bootstrap_next(&list, host, port), ERR_NOT_FOUND);
}

TEST(what_is_no_broker_is_refused)
{
    static const char *const wrong[] = { ":1", "a:", "a:b", "a:1:2", "[::1", "[::1]2", "a:123456" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char host[256], port[6];
        const char *list = wrong[i];
        assert_int_equal(bootstrap_next(&list, host, port), ERR_USAGE);
    }
}
