// SPDX-License-Identifier: Apache-2.0
/* That the settings of connections and requests do what they say; `Setting:` as in test_broker_settings.c. */

#include <sys/socket.h>

#include "broker_inside.h"
#include "config_calls.h"

/* What should not come is given so long. */
#define A_MOMENT_MS 150

/* ---- connections ---- */

static bool is_answered_within(struct test_client *client, int64_t ms)
{
    struct pollfd answer = { .fd = client->fd, .events = POLLIN };
    return poll(&answer, 1, (int)ms) == 1;
}

static void ask(struct test_client *client)
{
    struct metadata_request request = metadata_request_empty();
    client_send(client, METADATA, METADATA_NEWEST, &request);
}

static void hear(struct test_client *client)
{
    struct metadata_response response;
    client_receive(client, METADATA, METADATA_NEWEST, &response);
}

static void assert_waits(struct test_client *client)
{
    if (is_answered_within(client, A_MOMENT_MS)) fail_msg("it need not wait");
}

/* A connection more, which is not let in for now. */
static struct test_client *open_waiting(const struct test_broker *broker)
{
    struct test_client *client = client_open(broker->port);
    ask(client);
    assert_waits(client);
    return client;
}

static void assert_served(struct test_client *client)
{
    ask(client);
    hear(client);
}

/* Setting: connections.max.idle.ms */
TEST(a_connection_without_requests_is_closed)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "connections.max.idle.ms=100");
    struct test_client *client = client_open(broker.port);
    int64_t begin = test_now_ms();
    assert_served(client);
    assert_broker_closes(client);
    assert_true(test_now_ms() - begin >= 100);
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: max.connections */
TEST(connections_above_the_limit_wait)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "max.connections=1");
    /* The connection by which it was seen to answer may still be open. */
    struct test_client *first = client_open(broker.port);
    assert_served(first);
    struct test_client *second = open_waiting(&broker);
    client_close(first);
    hear(second);
    client_close(second);
    test_broker_stop(&broker);
}

/* Setting: max.connections.per.ip, max.connections.per.ip.overrides */
TEST(connections_from_one_address_are_counted)
{
    static const char *const settings[] = { "max.connections.per.ip=1",
                                            "max.connections.per.ip.overrides=10.0.0.1:5", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *first = client_open(broker.port);
    AWAIT(config_describe(first, BROKER, THIS_BROKER).error_code == 0);
    struct test_client *second = client_open(broker.port);
    assert_broker_closes(second);
    client_close(second);
    const char *name = "max.connections.per.ip.overrides";
    assert_int_equal(config_change(first, BROKER, ALL_BROKERS, name, SET, "127.0.0.1:2"), 0);
    second = client_open(broker.port);
    assert_served(second);
    struct test_client *third = client_open(broker.port);
    assert_broker_closes(third);
    client_close(third);
    assert_int_equal(config_change(first, BROKER, ALL_BROKERS, name, SET, "localhost:2"), 42);
    assert_int_equal(config_change(first, BROKER, ALL_BROKERS, name, DELETE, NULL), 0);
    client_close(second);
    client_close(first);
    test_broker_stop(&broker);
}

/* Setting: max.connections.per.ip.overrides */
TEST(an_address_may_have_a_limit_of_its_own_from_the_start)
{
    static const char *const settings[] = { "max.connections.per.ip=0",
                                            "max.connections.per.ip.overrides=127.0.0.1:3", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    assert_served(client);
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: max.connection.creation.rate */
TEST(connections_that_come_too_fast_wait)
{
    struct test_broker broker;
    struct test_client *clients[7];
    test_broker_open_with(&broker, "max.connection.creation.rate=5");
    int64_t begin = test_now_ms();
    for (int i = 0; i < 7; i++) {
        clients[i] = client_open(broker.port);
        assert_served(clients[i]);
    }
    assert_true(test_now_ms() - begin >= 200); /* Five at once, one each 200 ms. */
    const char *name = "max.connection.creation.rate";
    assert_int_equal(config_change(clients[0], BROKER, ALL_BROKERS, name, SET, "1"), 0);
    struct test_client *next = client_open(broker.port);
    assert_served(next);
    struct test_client *late = open_waiting(&broker);
    assert_int_equal(config_change(clients[0], BROKER, ALL_BROKERS, name, SET, "1000"), 0);
    hear(late);
    client_close(late);
    client_close(next);
    for (int i = 0; i < 7; i++)
        client_close(clients[i]);
    test_broker_stop(&broker);
}

/* Whatever is asked for, no more than there are descriptors for. */
TEST(a_limit_of_connections_does_not_outgrow_the_descriptors)
{
    struct test_broker broker;
    test_broker_prepare(&broker, NULL);
    broker.descriptor_limit = 64;
    test_broker_start(&broker);
    struct test_client *clients[64];
    clients[0] = client_open(broker.port);
    assert_int_equal(
        config_change(clients[0], BROKER, ALL_BROKERS, "max.connections", SET, "1000000"), 0);
    int open = 1;
    for (bool is_served = true; is_served && open < 64; open++) {
        clients[open] = client_open(broker.port);
        ask(clients[open]);
        is_served = is_answered_within(clients[open], 1000);
    }
    assert_true(broker_has_said(&broker, "connections are open, the limit: others wait"));
    for (int i = 0; i < open; i++)
        client_close(clients[i]);
    test_broker_stop(&broker);
}

/* Setting: socket.send.buffer.bytes, socket.receive.buffer.bytes, socket.listen.backlog.size */
TEST(sockets_have_what_the_operator_says)
{
    static const char *const settings[] = { "socket.send.buffer.bytes=50000",
                                            "socket.receive.buffer.bytes=40000",
                                            "socket.listen.backlog.size=17", NULL };
    struct test_broker broker;
    struct socket_facts facts;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    assert_served(client);
    if (broker_socket(&broker, 0, &facts)) {
        assert_int_equal(facts.backlog, 17);
        assert_true(broker_socket(&broker, local_port(client->fd), &facts));
        assert_int_equal(facts.send_buffer, 2 * 50000);
        assert_int_equal(facts.receive_buffer, 2 * 40000);
    }
    client_close(client);
    test_broker_stop(&broker);
}

/* ---- requests ---- */

static struct records batch_of(struct test_client *client, int32_t bytes)
{
    return batch_build(&client->arena, (struct batch){ .value_bytes = bytes });
}

/* Setting: socket.request.max.bytes */
TEST(a_request_that_is_too_long_closes_its_connection)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "socket.request.max.bytes=5000");
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    produce(client, topic, 0, batch_of(client, 4000));
    struct produce_request request = produce_request(client, topic, 0, batch_of(client, 6000));
    client_send(client, PRODUCE, PRODUCE_NEWEST, &request);
    assert_broker_closes(client);
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: queued.max.request.bytes */
TEST(a_request_waits_while_others_have_the_memory)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "queued.max.request.bytes=1048576");
    struct test_client *first = client_open(broker.port), *second = client_open(broker.port);
    struct topic topic = topic_new(second, 1);
    static const uint8_t half[] = { 0, 0x0d, 0, 0, 0, 18 }; /* 851,968 bytes, and the first two. */
    client_send_bytes(first, half, sizeof half);
    assert_served(second); /* Small ones go on. */
    struct produce_request request = produce_request(second, topic, 0, batch_of(second, 270000));
    client_send(second, PRODUCE, PRODUCE_NEWEST, &request);
    assert_waits(second);
    client_close(first);
    struct produce_response response;
    client_receive(second, PRODUCE, PRODUCE_NEWEST, &response);
    client_close(second);
    test_broker_stop(&broker);
}

/* Setting: fetch.max.bytes */
TEST(a_fetch_gets_no_more_than_the_broker_allows)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "fetch.max.bytes=3000");
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    for (int i = 0; i < 5; i++)
        produce(client, topic, 0, batch_of(client, 1000));
    assert_int_equal(records_batch_count(fetch(client, topic, 0, 0).records), 2);
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: max.request.partition.size.limit */
TEST(an_answer_tells_of_no_more_partitions_than_the_broker_allows)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "max.request.partition.size.limit=3");
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 5);
    struct describe_topic_partitions_request request = describe_topic_partitions_request_empty();
    struct describe_topic_partitions_response response;
    make_array(client, &describe_topic_partitions_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = topic.name;
    client_call(client, DESCRIBE_TOPIC_PARTITIONS, 0, &request, &response);
    assert_int_equal(response.topics.items[0].partitions.count, 3);
    assert_int_equal(response.next_cursor->partition_index, 3);
    client_close(client);
    test_broker_stop(&broker);
}
