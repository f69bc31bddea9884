// SPDX-License-Identifier: Apache-2.0
/* What consumers get of transactions. The partition is one that a Kafka wrote: three producers whose
 * transactions were committed, aborted and left open, and records of others among them. */

#include <string.h>

#include "api_calls.h"
#include "kafkas_transactions.h"

#define OLDEST     4
#define END        KAFKAS_TRANSACTIONS_END
#define FIRST_OPEN KAFKAS_FIRST_OPEN

static const struct span {
    int64_t producer_id, first, last;
} aborted[] = {
#define ROW(producer, first, last, stable) { producer, first, last },
    KAFKAS_ABORTED_TRANSACTIONS(ROW)
#undef ROW
};
#define ABORTED_COUNT (int)(sizeof aborted / sizeof aborted[0])

/* As many bytes of the partition as the answer may have. */
static const int32_t limits[] = { 0, 1, 150, 400, 1 << 20 };
#define LIMIT_COUNT (sizeof limits / sizeof limits[0])

static struct test_client *open_on_kafkas_partition(struct test_broker *broker, struct topic *topic)
{
    test_broker_prepare_on(broker, NULL, "data/transactions");
    test_broker_start(broker);
    struct test_client *client = client_open(broker->port);
    *topic = await_topic(client, STR_LITERAL("orders"), 1);
    return client;
}

static struct fetch_response_partition fetch_isolated(struct test_client *client, int16_t version,
                                                      struct topic topic, int8_t isolation_level,
                                                      int64_t offset, int32_t limit)
{
    struct fetch_request request = fetch_request(client, topic, 0, offset);
    request.isolation_level = isolation_level;
    request.topics.items[0].partitions.items[0].partition_max_bytes = limit;
    struct fetch_response_partition answer = fetch_with(client, version, &request);
    assert_in_version(version, answer.error_code, 0);
    assert_in_version(version, answer.high_watermark, END);
    assert_in_version(version, answer.last_stable_offset, FIRST_OPEN);
    return answer;
}

static bool is_listed(const struct fetch_response_partition *answer, const struct span *span)
{
    for (int32_t i = 0; i < answer->aborted_transactions.count; i++)
        if (answer->aborted_transactions.items[i].producer_id == span->producer_id &&
            answer->aborted_transactions.items[i].first_offset == span->first)
            return true;
    return false;
}

/* All that overlap what was asked for and given, no others, the oldest first. */
static void assert_lists_what_was_aborted(const struct fetch_response_partition *answer,
                                          int16_t version, int64_t from, int64_t last)
{
    int32_t expected = 0;
    for (int i = 0; i < ABORTED_COUNT; i++) {
        if (aborted[i].last < from || aborted[i].first > last) continue;
        if (!is_listed(answer, &aborted[i]))
            fail_msg("version %d, %d to %d: what began at %d is missing", version, (int)from,
                     (int)last, (int)aborted[i].first);
        expected++;
    }
    assert_in_version(version, answer->aborted_transactions.count, expected);
    for (int32_t i = 1; i < answer->aborted_transactions.count; i++)
        assert_true(answer->aborted_transactions.items[i - 1].first_offset <
                    answer->aborted_transactions.items[i].first_offset);
}

TEST(a_reader_of_committed_records_is_told_of_every_aborted_transaction_in_what_it_gets)
{
    struct test_broker broker;
    struct topic topic;
    struct test_client *client = open_on_kafkas_partition(&broker, &topic);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        for (int64_t offset = 0; offset < FIRST_OPEN; offset++) {
            for (size_t i = 0; i < LIMIT_COUNT; i++) {
                struct fetch_response_partition answer = fetch_isolated(client, version, topic, 1,
                                                                        offset, limits[i]);
                int32_t count = records_batch_count(answer.records);
                assert_true(count > 0);
                int64_t last = batch_last_offset(records_batch(answer.records, count - 1));
                assert_true(last < FIRST_OPEN);
                assert_lists_what_was_aborted(&answer, version, offset, last);
            }
        }
    }
    client_close(client);
    test_broker_stop(&broker);
}

TEST(a_reader_of_committed_records_gets_nothing_of_an_open_transaction_and_no_error)
{
    struct test_broker broker;
    struct topic topic;
    struct test_client *client = open_on_kafkas_partition(&broker, &topic);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        for (int64_t offset = FIRST_OPEN; offset <= END; offset++) {
            struct fetch_response_partition answer = fetch_isolated(client, version, topic, 1,
                                                                    offset, 1 << 20);
            assert_in_version(version, answer.records.length, 0);
            assert_in_version(version, answer.aborted_transactions.count, 0); /* Not null. */
        }
    }
    client_close(client);
    test_broker_stop(&broker);
}

/* ---- a consumer as Java's is one */

struct consumer {
    struct test_client *client;
    struct topic topic;
    int32_t limit;
    int64_t position;
    bool is_aborted[3];  /* By producer: what comes of it belongs to an aborted transaction. */
    bool got[END];       /* By offset. */
    int32_t empty_polls; /* Answers of which nothing was for the user. */
};

static void take_batch(struct consumer *consumer, struct records batch,
                       const struct fetch_response_partition *answer, int32_t *next_aborted)
{
    int64_t producer_id = batch_producer_id(batch);
    bool is_in_transaction = (batch_attributes(batch) & BATCH_TRANSACTIONAL) != 0;
    for (; *next_aborted < answer->aborted_transactions.count; ++*next_aborted) {
        const struct fetch_response_aborted_transaction *begun =
            &answer->aborted_transactions.items[*next_aborted];
        if (begun->first_offset > batch_last_offset(batch)) break;
        assert_true(begun->producer_id >= 0 && begun->producer_id < 3);
        consumer->is_aborted[begun->producer_id] = true;
    }
    if ((batch_attributes(batch) & BATCH_CONTROL) != 0)
        consumer->is_aborted[producer_id] = false; /* Committed or aborted: it is over. */
    else if (!is_in_transaction || !consumer->is_aborted[producer_id])
        for (int64_t i = batch_base_offset(batch); i <= batch_last_offset(batch); i++)
            consumer->got[i] = true;
    consumer->position = batch_last_offset(batch) + 1;
}

static void poll_once(struct consumer *consumer)
{
    struct fetch_response_partition answer = fetch_isolated(
        consumer->client, FETCH_NEWEST, consumer->topic, 1, consumer->position, consumer->limit);
    int32_t count = records_batch_count(answer.records), next_aborted = 0;
    int64_t before = consumer->position;
    bool got_before[END];
    memcpy(got_before, consumer->got, sizeof got_before);
    memset(consumer->is_aborted, 0, sizeof consumer->is_aborted);
    for (int32_t i = 0; i < count; i++)
        take_batch(consumer, records_batch(answer.records, i), &answer, &next_aborted);
    if (consumer->position <= before) fail_msg("stuck at %d", (int)before);
    if (memcmp(got_before, consumer->got, sizeof got_before) == 0) consumer->empty_polls++;
}

/* What Kafka's bytes and its word of what was aborted say. */
static bool is_committed(struct records batch)
{
    int64_t offset = batch_base_offset(batch);
    if (offset >= FIRST_OPEN || (batch_attributes(batch) & BATCH_CONTROL) != 0) return false;
    if ((batch_attributes(batch) & BATCH_TRANSACTIONAL) == 0) return true;
    for (int i = 0; i < ABORTED_COUNT; i++)
        if (batch_producer_id(batch) == aborted[i].producer_id && offset >= aborted[i].first &&
            offset <= aborted[i].last)
            return false;
    return true;
}

TEST(a_consumer_of_committed_records_gets_just_those_from_any_offset_and_with_any_limit)
{
    struct test_broker broker;
    struct consumer consumer = { .position = 0 };
    consumer.client = open_on_kafkas_partition(&broker, &consumer.topic);
    bool committed[END];
    for (int64_t i = 0; i < END; i++)
        committed[i] = is_committed(
            records_batch(fetch(consumer.client, consumer.topic, 0, i).records, 0));
    for (int64_t from = 0; from < FIRST_OPEN; from++) {
        for (size_t i = 0; i < LIMIT_COUNT; i++) {
            memset(consumer.got, 0, sizeof consumer.got);
            consumer.limit = limits[i];
            consumer.position = from;
            while (consumer.position < FIRST_OPEN)
                poll_once(&consumer);
            for (int64_t k = from; k < END; k++)
                if (consumer.got[k] != committed[k])
                    fail_msg("from %d, limit %d: offset %d", (int)from, limits[i], (int)k);
        }
    }
    assert_true(consumer.empty_polls > 0); /* Markers and aborted records alone occurred. */
    client_close(consumer.client);
    test_broker_stop(&broker);
}

TEST(a_reader_of_all_records_gets_those_of_open_and_aborted_transactions_too)
{
    struct test_broker broker;
    struct topic topic;
    struct test_client *client = open_on_kafkas_partition(&broker, &topic);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        for (int64_t offset = 0; offset < END; offset++) {
            struct fetch_response_partition answer = fetch_isolated(client, version, topic, 0,
                                                                    offset, 1 << 20);
            assert_in_version(version, answer.aborted_transactions.count, -1);
            int32_t count = records_batch_count(answer.records);
            assert_true(count > 0); /* An answer ends where a segment does. */
            for (int32_t i = 0; i < count; i++) {
                struct records batch = records_batch(answer.records, i);
                assert_in_version(version, batch_base_offset(batch), offset + i);
                assert_in_version(version, batch_record_count(batch), 1);
            }
        }
    }
    client_close(client);
    test_broker_stop(&broker);
}
