// SPDX-License-Identifier: Apache-2.0
/* Topics with a compression.type of their own. */

#include <string.h>

#include "api_calls.h"

static const char *const names[] = { "uncompressed", "gzip", "snappy", "lz4", "zstd" };

#define CODEC_COUNT        5
#define ZSTD               4
#define CODEC_BITS         0x07
#define LOG_APPEND_TIME    0x08
#define BULKY_BYTES        20000 /* More than a loop compresses by itself. */
#define BATCH_HEADER_BYTES 61

static struct topic topic_of(struct test_client *client, int codec, const char *name,
                             const char *value)
{
    struct topic_setting settings[] = { { "compression.type", names[codec] },
                                        { name, value },
                                        { NULL, NULL } };
    return topic_new_with(client, 1, settings);
}

static struct records batch_with(struct test_client *client, int32_t value_bytes)
{
    return batch_build(&client->arena, (struct batch){ .record_count = 5,
                                                       .value_bytes = value_bytes,
                                                       .is_keyed = true,
                                                       .is_idempotent = true,
                                                       .producer_id = producer_id_new(client),
                                                       .timestamp_step = -3 });
}

/* What the topic makes of a batch. */
static struct records stored_by(struct test_client *client, struct topic topic,
                                struct records batch)
{
    int64_t offset = produce(client, topic, 0, batch);
    return fetch(client, topic, 0, offset).records;
}

/* A stored batch as a producer would send it. */
static struct records as_sent(struct test_client *client, struct records stored)
{
    struct records copy = records_copy(&client->arena, stored);
    memset((uint8_t *)(uintptr_t)copy.data, 0, 8);
    return copy;
}

TEST(every_codec_becomes_the_topics_own_and_nothing_else_changes)
{
    static const int32_t sizes[] = { 10, BULKY_BYTES };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int from = 0; from < CODEC_COUNT; from++) {
            for (int to = 0; to < CODEC_COUNT; to++) {
                struct records plain = batch_with(client, sizes[i]);
                struct topic first = topic_of(client, from, NULL, NULL);
                struct topic second = topic_of(client, to, NULL, NULL);
                struct records packed = stored_by(client, first, plain);
                assert_int_equal(batch_attributes(packed) & CODEC_BITS, from);
                struct records other = stored_by(client, second, as_sent(client, packed));
                assert_int_equal(records_batch_count(other), 1);
                assert_int_equal(batch_attributes(other) & CODEC_BITS, to);
                /* Timestamps, producer, sequence, record count. */
                assert_memory_equal(other.data + 23, plain.data + 23, BATCH_HEADER_BYTES - 23);
                if (sizes[i] == BULKY_BYTES && to != 0)
                    assert_true(other.length < plain.length / 2);
                assert_same_batch(batch_uncompressed(client, other), plain);
                topic_delete(client, first);
                topic_delete(client, second);
            }
        }
    }
    client_close(client);
}

TEST(batches_of_one_connection_stay_in_order_whatever_their_size)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_of(client, ZSTD, NULL, NULL);
    produce_some(client, topic, 0, 1);
    for (int i = 0; i < 20; i++) {
        struct records batch = batch_build(
            &client->arena,
            (struct batch){ .record_count = 1, .value_bytes = i % 2 == 0 ? BULKY_BYTES * 4 : 5 });
        struct produce_request request = produce_request(client, topic, 0, batch);
        request.acks = -1;
        client_send(client, PRODUCE, PRODUCE_NEWEST, &request);
    }
    for (int i = 0; i < 20; i++) {
        struct produce_response response;
        client_receive(client, PRODUCE, PRODUCE_NEWEST, &response);
        struct produce_response_partition answer =
            response.responses.items[0].partition_responses.items[0];
        assert_int_equal(answer.error_code, 0);
        assert_int_equal(answer.base_offset, 1 + i);
    }
    client_close(client);
}

TEST(the_limit_holds_for_what_came_and_for_what_is_made_of_it)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic packing = topic_of(client, ZSTD, NULL, NULL);
    struct records plain = batch_with(client, BULKY_BYTES);
    struct records packed = as_sent(client, stored_by(client, packing, plain));
    assert_true(packed.length < 10000);

    struct topic small = topic_of(client, 0, "max.message.bytes", "10000");
    await_partition(client, small, 0);
    struct produce_response_partition answer = produce_to(client, PRODUCE_NEWEST, small, 0, -1,
                                                          packed);
    assert_int_equal(answer.error_code, 10);
    assert_int_equal(answer.base_offset, -1);
    assert_int_equal(end_offset(client, small, 0), 0);

    struct topic small_packing = topic_of(client, ZSTD, "max.message.bytes", "10000");
    answer = produce_to(client, PRODUCE_NEWEST, small_packing, 0, -1, plain);
    assert_int_equal(answer.error_code, 10); /* It would fit then, but came as it is. */
    answer = produce_to(client, PRODUCE_NEWEST, small_packing, 0, -1, packed);
    assert_int_equal(answer.error_code, 0);
    client_close(client);
}

/* Setting: message.timestamp.type, compression.type */
TEST(a_topic_may_have_a_codec_and_the_brokers_time)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int codec = 0; codec < CODEC_COUNT; codec++) {
        struct topic topic = topic_of(client, codec, "message.timestamp.type", "LogAppendTime");
        struct records plain = batch_build(
            &client->arena,
            (struct batch){ .record_count = 3, .first_timestamp = 5, .timestamp_step = 1 });
        struct produce_response_partition answer = produce_to(client, PRODUCE_NEWEST, topic, 0, -1,
                                                              plain);
        assert_int_equal(answer.error_code, 0);
        struct records stored = fetch(client, topic, 0, 0).records;
        assert_int_equal(batch_attributes(stored), codec | LOG_APPEND_TIME);
        assert_int_equal(batch_base_timestamp(stored), 5);
        assert_int_equal(batch_max_timestamp(stored), answer.log_append_time_ms);
        assert_int_equal(
            list_offset(client, LIST_OFFSETS_NEWEST, topic, 0, answer.log_append_time_ms).offset,
            0);
    }
    client_close(client);
}

TEST(a_repeat_is_known_although_it_was_compressed_anew)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_of(client, ZSTD, NULL, NULL);
    struct records batch = batch_with(client, BULKY_BYTES);
    assert_int_equal(produce(client, topic, 0, batch), 0);
    assert_int_equal(produce(client, topic, 0, batch), 0);
    assert_int_equal(end_offset(client, topic, 0), 5);
    client_close(client);
}

TEST(levels_are_taken_within_kafkas_ranges)
{
    static const struct {
        const char *name, *value;
        bool is_legal;
    } levels[] = {
        { "compression.gzip.level", "-1", true },  { "compression.gzip.level", "1", true },
        { "compression.gzip.level", "9", true },   { "compression.gzip.level", "0", false },
        { "compression.gzip.level", "10", false }, { "compression.lz4.level", "1", true },
        { "compression.lz4.level", "17", true },   { "compression.lz4.level", "0", false },
        { "compression.lz4.level", "18", false },  { "compression.zstd.level", "-131072", true },
        { "compression.zstd.level", "0", true },   { "compression.zstd.level", "22", true },
        { "compression.zstd.level", "23", false }, { "compression.zstd.level", "-131073", false },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        struct topic_setting settings[] = { { levels[i].name, levels[i].value }, { NULL, NULL } };
        struct topic topic;
        if (topic_try_new_with(client, 1, settings, &topic) != levels[i].is_legal)
            fail_msg("%s=%s", levels[i].name, levels[i].value);
    }
    client_close(client);
}
