// SPDX-License-Identifier: Apache-2.0
/* What InitProducerId promises to idempotent producers. */

#include "api_calls.h"

static struct init_producer_id_response init_producer_id(
    struct test_client *client, int16_t version, const struct init_producer_id_request *request)
{
    struct init_producer_id_response response;
    do { /* Kafka says 14 while it gets a block of ids. */
        client_call(client, INIT_PRODUCER_ID, version, request, &response);
    } while (shared_broker_is_foreign() && response.error_code == 14);
    return response;
}

static struct init_producer_id_request plain(void)
{
    struct init_producer_id_request request = init_producer_id_request_empty();
    request.transactional_id = STR_NULL;
    request.transaction_timeout_ms = 60000;
    return request;
}

TEST(every_version_gives_an_id_of_its_own)
{
    struct test_client *client = client_open(shared_broker_port());
    struct init_producer_id_request request = plain();
    int64_t seen[2 * (INIT_PRODUCER_ID_NEWEST + 1)];
    int count = 0;
    for (int round = 0; round < 2; round++) {
        for (int16_t version = 0; version <= INIT_PRODUCER_ID_NEWEST; version++) {
            struct init_producer_id_response answer = init_producer_id(client, version, &request);
            assert_in_version(version, answer.error_code, 0);
            assert_in_version(version, answer.producer_epoch, 0);
            assert_true(answer.producer_id >= 0);
            for (int i = 0; i < count; i++)
                assert_true(seen[i] != answer.producer_id);
            seen[count++] = answer.producer_id;
        }
    }
    client_close(client);
}

/* Ids come in blocks: more than one block's worth must not repeat. */
TEST(thousands_of_ids_are_all_different)
{
    enum { IDS = 5000, BURST = 100 };
    struct test_client *client = client_open(shared_broker_port());
    struct init_producer_id_request request = plain();
    int64_t last = -1;
    for (int sent = 0; sent < IDS; sent += BURST) {
        for (int i = 0; i < BURST; i++)
            client_send(client, INIT_PRODUCER_ID, 4, &request);
        for (int i = 0; i < BURST; i++) {
            struct init_producer_id_response answer;
            client_receive(client, INIT_PRODUCER_ID, 4, &answer);
            if (shared_broker_is_foreign() && answer.error_code == 14) continue;
            assert_int_equal(answer.error_code, 0);
            assert_true(answer.producer_id > last);
            last = answer.producer_id;
        }
    }
    client_close(client);
}

TEST(an_id_without_its_epoch_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 3; version <= INIT_PRODUCER_ID_NEWEST; version++) {
        struct init_producer_id_request request = plain();
        request.producer_id = 5;
        assert_in_version(version, init_producer_id(client, version, &request).error_code, 42);
        request = plain();
        request.producer_epoch = 5;
        assert_in_version(version, init_producer_id(client, version, &request).error_code, 42);
    }
    client_close(client);
}

/* Only transactional producers keep theirs. */
TEST(a_plain_producer_that_shows_its_id_gets_a_new_one)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 3; version <= INIT_PRODUCER_ID_NEWEST; version++) {
        struct init_producer_id_request request = plain();
        request.producer_id = producer_id_new(client);
        request.producer_epoch = 0;
        struct init_producer_id_response answer = init_producer_id(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_true(answer.producer_id > request.producer_id);
        assert_in_version(version, answer.producer_epoch, 0);
    }
    client_close(client);
}

/* As in Kafka: it does not stand for none. */
TEST(an_empty_transactional_id_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct init_producer_id_request request = plain();
    request.transactional_id = STR_LITERAL("");
    for (int16_t version = 0; version <= INIT_PRODUCER_ID_NEWEST; version++) {
        struct init_producer_id_response answer = init_producer_id(client, version, &request);
        assert_in_version(version, answer.error_code, 42);
        assert_in_version(version, answer.producer_id, -1);
    }
    client_close(client);
}

/* Until transactions work. */
TEST(a_transactional_id_is_refused)
{
    if (shared_broker_is_foreign()) skip();
    struct test_client *client = client_open(shared_broker_port());
    struct init_producer_id_request request = plain();
    request.transactional_id = STR_LITERAL("transfers");
    for (int16_t version = 0; version <= INIT_PRODUCER_ID_NEWEST; version++) {
        struct init_producer_id_response answer = init_producer_id(client, version, &request);
        assert_in_version(version, answer.error_code, 42);
        assert_in_version(version, answer.producer_id, -1);
    }
    client_close(client);
}
