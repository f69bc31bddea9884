// SPDX-License-Identifier: Apache-2.0
/* Batches, and rows of idempotent batches, are taken or refused as Kafka does; what is stored of them
 * is what Kafka stores. */

#include <stdlib.h>
#include <string.h>

#include "api_calls.h"
#include "vectors.h"

static struct {
    const char *name;
    int16_t code;
} const error_names[] = {
    { "NONE", 0 },
    { "CORRUPT_MESSAGE", 2 },
    { "MESSAGE_TOO_LARGE", 10 },
    { "INVALID_TIMESTAMP", 32 },
    { "OUT_OF_ORDER_SEQUENCE_NUMBER", 45 },
    { "INVALID_PRODUCER_EPOCH", 47 },
    { "INVALID_TXN_STATE", 48 },
    { "INVALID_RECORD", 87 },
};

static int16_t error_code_of(const char *name)
{
    for (size_t i = 0; i < sizeof error_names / sizeof error_names[0]; i++)
        if (strcmp(error_names[i].name, name) == 0) return error_names[i].code;
    fail_msg("no error is called %s", name);
    return -1;
}

/* ---- single batches ---- */

/* Where we decide otherwise than Kafka, each for a reason in docs/compatibility.md. */
static const struct {
    const char *test_case;
    int16_t error;
} decided_otherwise[] = {
    /* Input that Kafka did not foresee. */
    { "length-huge", 2 },
    { "record-length-overlong", 87 },
    { "codec-5", 76 },
    { "codec-6", 76 },
    { "codec-7", 76 },
    { "not-gzip", 87 },
    { "truncated-gzip", 87 },
    { "no-payload-gzip", 87 },
    { "not-snappy", 87 },
    { "truncated-snappy", 87 },
    { "no-payload-snappy", 87 },
    { "garbage-after-snappy", 87 },
    { "not-lz4", 87 },
    { "truncated-lz4", 87 },
    { "no-payload-lz4", 87 },
    { "not-zstd", 87 },
    { "truncated-zstd", 87 },
    { "garbage-after-zstd", 87 },
    { "lz4-linked-blocks", 0 },
    { "lz4-two-frames", 0 },
    /* What would break a reader. */
    { "second-batch-truncated", 2 },
    { "garbage-after-batch", 2 },
    { "offset-deltas-not-consecutive", 87 },
    { "offset-deltas-repeat", 87 },
    { "offset-delta-starts-at-one", 87 },
    { "offset-delta-negative", 87 },
};

/* The request as a whole gets 53, whatever the batch is: it names no transactional id. */
static bool is_transactional(const struct vector *vector)
{
    return vector->length > 22 && (vector->data[22] & BATCH_TRANSACTIONAL) != 0;
}

/* These hang on the clock, which stood still in 2023 when the vectors were made. */
static bool depends_on_clock(const struct vector *vector)
{
    return strcmp(vector->test_case, "timestamp-too-far-ahead") == 0;
}

static int16_t expected_error(const struct vector *vector)
{
    const char *kafka_says = vector_text(vector, "error");
    if (!shared_broker_is_foreign()) {
        for (size_t i = 0; i < sizeof decided_otherwise / sizeof decided_otherwise[0]; i++)
            if (strcmp(decided_otherwise[i].test_case, vector->test_case) == 0)
                return decided_otherwise[i].error;
    }
    return strcmp(kafka_says, "UNKNOWN_SERVER_ERROR") == 0 ? -1 : error_code_of(kafka_says);
}

static struct test_client *client;
static unsigned wrong;

/* A topic for each case: the log must be empty. False if its settings are not served yet. */
static bool topic_for(const struct vector *vector, struct topic *topic)
{
    struct topic_setting settings[4] = { { NULL, NULL } };
    const char *name;
    json_t *value;
    unsigned count = 0;
    json_object_foreach(json_object_get(vector->json, "config"), name, value)
    {
        assert_true(count < 3);
        settings[count++] = (struct topic_setting){ name, json_string_value(value) };
        settings[count].name = NULL;
    }
    return topic_try_new_with(client, 1, settings, topic);
}

static bool sets_codec(const struct vector *vector)
{
    return json_object_get(json_object_get(vector->json, "config"), "compression.type") != NULL;
}

/* The clock of the vectors stood still in 2023, so what the append time makes is not comparable. */
static bool sets_time(const struct vector *vector)
{
    return json_object_get(json_object_get(vector->json, "config"), "message.timestamp.type") !=
           NULL;
}

static void check_stored(const struct vector *vector, struct topic topic)
{
    if (sets_time(vector)) return;
    const char *hex = vector_text(vector, "stored");
    size_t length;
    uint8_t *stored = bytes_from_hex(strcmp(hex, "same") == 0 ? vector_text(vector, "hex") : hex,
                                     &length);
    struct records got = fetch(client, topic, 0, 0).records;
    struct records expected = { stored, (int32_t)length, NULL };
    if (sets_codec(vector)) { /* Two libraries may compress to different bytes. */
        assert_int_equal(batch_attributes(got), batch_attributes(expected));
        got = batch_uncompressed(client, got);
        expected = batch_uncompressed(client, expected);
    }
    if (got.length != expected.length ||
        memcmp(got.data + 16, expected.data + 16, (size_t)expected.length - 16) != 0) {
        print_error("%s: stored otherwise than Kafka does: %d bytes, %d expected\n",
                    vector->test_case, got.length, expected.length);
        wrong++;
    }
    free(stored);
}

static void check_appended_batch(const struct vector *vector)
{
    if (strcmp(vector_text(vector, "origin"), "producer") != 0) return;
    if (depends_on_clock(vector)) return;
    struct topic topic;
    if (!topic_for(vector, &topic)) return;
    struct records records = { vector->data, (int32_t)vector->length, NULL };
    struct produce_response_partition answer = produce_to(client, PRODUCE_NEWEST, topic, 0, -1,
                                                          records);
    int16_t expected = expected_error(vector);
    if (is_transactional(vector)) expected = 53;
    bool should_store = expected == 0;
    if (answer.error_code != expected) {
        print_error("%s: error %d, not %d\n", vector->test_case, answer.error_code, expected);
        wrong++;
        return;
    }
    if (answer.base_offset != (should_store ? 0 : -1)) {
        print_error("%s: base offset %lld\n", vector->test_case, (long long)answer.base_offset);
        wrong++;
    }
    if (should_store && strcmp(vector_text(vector, "error"), "NONE") == 0)
        check_stored(vector, topic);
    if (!should_store) assert_int_equal(end_offset(client, topic, 0), 0);
    topic_delete(client, topic);
}

TEST(batches_are_taken_refused_and_stored_as_kafka_does)
{
    wrong = 0;
    client = client_open(shared_broker_port());
    vectors_each("data/append.jsonl", check_appended_batch);
    client_close(client);
    assert_int_equal(wrong, 0);
}

/* KIP-110: the codec came with version 7 of Produce. */
static void check_zstd_version(const struct vector *vector)
{
    if (strcmp(vector->test_case, "create-time-zstd") != 0) return;
    if (strcmp(vector_text(vector, "origin"), "producer") != 0) return;
    if (json_object_size(json_object_get(vector->json, "config")) != 0) return;
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    struct records records = { vector->data, (int32_t)vector->length, NULL };
    for (int16_t version = 3; version <= PRODUCE_NEWEST; version++) {
        int64_t before = end_offset(client, topic, 0);
        struct produce_response_partition answer = produce_to(client, version, topic, 0, -1,
                                                              records);
        assert_in_version(version, answer.error_code, version < 7 ? 76 : 0);
        assert_in_version(version, answer.base_offset, version < 7 ? -1 : before);
    }
    /* Fetch gives the stored bytes at every version. */
    for (int16_t version = 4; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topic, 0, 1);
        struct fetch_response_partition answer = fetch_with(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, records_batch_count(answer.records), PRODUCE_NEWEST - 6);
        assert_same_batch(records_batch(answer.records, 0), records);
    }
    wrong++; /* That is: seen. */
}

TEST(zstd_before_version_7_is_refused)
{
    wrong = 0;
    client = client_open(shared_broker_port());
    vectors_each("data/append.jsonl", check_zstd_version);
    client_close(client);
    assert_int_equal(wrong, 1);
}

/* ---- rows of idempotent batches ---- */

static int64_t integer(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static bool has_transaction(const json_t *steps)
{
    size_t i;
    json_t *step;
    json_array_foreach(steps, i,
                       step) if (json_is_true(json_object_get(step, "transactional"))) return true;
    return false;
}

static void check_step(const char *test_case, size_t nth, const json_t *step, struct topic topic)
{
    int64_t producer_id = integer(step, "producerId");
    struct records records = batch_build(
        &client->arena, (struct batch){ .is_idempotent = producer_id >= 0,
                                        .producer_id = producer_id,
                                        .producer_epoch = (int16_t)integer(step, "epoch"),
                                        .base_sequence = (int32_t)integer(step, "sequence"),
                                        .record_count = (int32_t)integer(step, "count") });
    int64_t before = end_offset(client, topic, 0);
    struct produce_response_partition answer = produce_to(client, PRODUCE_NEWEST, topic, 0, -1,
                                                          records);
    int16_t expected = error_code_of(json_string_value(json_object_get(step, "error")));
    int64_t offset = expected == 0 ? integer(step, "baseOffset") : -1;
    bool is_appended = json_is_true(json_object_get(step, "appended"));
    int64_t end = before + (is_appended ? integer(step, "count") : 0);
    if (answer.error_code == expected && answer.base_offset == offset &&
        end_offset(client, topic, 0) == end)
        return;
    print_error("%s, step %zu: error %d, not %d; base offset %lld, not %lld; end %lld, not %lld\n",
                test_case, nth + 1, answer.error_code, expected, (long long)answer.base_offset,
                (long long)offset, (long long)end_offset(client, topic, 0), (long long)end);
    wrong++;
}

/* The lines have no `hex`, so they are read here. */
TEST(rows_of_idempotent_batches_are_answered_as_kafka_does)
{
    FILE *lines = fopen(test_data("data/idempotence.jsonl"), "r");
    assert_non_null(lines);
    wrong = 0;
    client = client_open(shared_broker_port());
    char *line = NULL;
    size_t capacity = 0, i;
    while (getline(&line, &capacity, lines) > 0) {
        json_t *json = json_loads(line, 0, NULL), *step;
        assert_non_null(json);
        const json_t *steps = json_object_get(json, "steps");
        if (!has_transaction(steps)) {
            struct topic topic = topic_new(client, 1);
            json_array_foreach(steps, i, step)
                check_step(json_string_value(json_object_get(json, "case")), i, step, topic);
        }
        json_decref(json);
    }
    free(line);
    fclose(lines);
    client_close(client);
    assert_int_equal(wrong, 0);
}
