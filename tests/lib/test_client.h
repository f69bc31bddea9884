// SPDX-License-Identifier: Apache-2.0
/* A small blocking client: requests from message structs, replies decoded; raw bytes too.
 *
 * Whatever does not come within a generous deadline, or is not as the protocol says, fails the test. */

#ifndef TESTS_TEST_CLIENT_H
#define TESTS_TEST_CLIENT_H

#include "arena.h"
#include "codec.h"

enum api_key {
    PRODUCE = 0,
    FETCH = 1,
    LIST_OFFSETS = 2,
    METADATA = 3,
    API_VERSIONS = 18,
    CREATE_TOPICS = 19,
    DELETE_TOPICS = 20,
    DELETE_RECORDS = 21,
    INIT_PRODUCER_ID = 22,
    OFFSET_FOR_LEADER_EPOCH = 23,
    DESCRIBE_CONFIGS = 32,
    ALTER_CONFIGS = 33,
    DESCRIBE_LOG_DIRS = 35,
    CREATE_PARTITIONS = 37,
    INCREMENTAL_ALTER_CONFIGS = 44,
    DESCRIBE_CLUSTER = 60,
    DESCRIBE_PRODUCERS = 61,
    LIST_CONFIG_RESOURCES = 74,
    DESCRIBE_TOPIC_PARTITIONS = 75,
};

struct test_client {
    int fd;
    struct arena arena;     /* What requests are made of and replies decode into. */
    int32_t sent, received; /* Correlation ids count up from 1. */
};

/* Connects to 127.0.0.1. client_close() ends the connection and frees everything. */
struct test_client *client_open(uint16_t port);
void client_close(struct test_client *client);

/* One request, and its reply. What the reply holds lives until client_close(). */
void client_call(struct test_client *client, enum api_key key, int16_t version, const void *request,
                 void *response);

/* The two halves. The reply must be that of the oldest request that has none yet, must use all of
 * its bytes, and must be how its values are encoded. */
void client_send(struct test_client *client, enum api_key key, int16_t version,
                 const void *request);
void client_receive(struct test_client *client, enum api_key key, int16_t version, void *response);

/* The same, or false if the broker closed the connection instead. */
bool client_receive_unless_closed(struct test_client *client, enum api_key key, int16_t version,
                                  void *response);

/* The oldest request without a reply is not to get one (acks=0). */
void client_expect_no_reply(struct test_client *client);

/* A whole frame of a request, its length in front, appended to `frames`. */
void client_encode(struct test_client *client, enum api_key key, int16_t version,
                   const void *request, struct buffer *frames);

void client_send_bytes(struct test_client *client, const void *data, size_t length);

/* A frame without its length. */
struct bytes client_receive_frame(struct test_client *client);

/* The broker closes the connection, and sends nothing before. */
void assert_broker_closes(struct test_client *client);

/* Memory that lives until client_close(); zeroed. */
void *client_alloc(struct test_client *client, size_t count, size_t size);

#endif
