// SPDX-License-Identifier: Apache-2.0
/* What compacted topics promise to clients: no offset that is gone stops a consumer, and no record
 * without a key comes in. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_calls.h"
#include "clock.h"

#define OLDEST_FETCH 4
#define PATIENCE_US  (60 * INT64_C(1000000))

/* ---- a log as it lies there, batch by batch */

#define BATCHES_MAX 256

struct batches {
    struct records items[BATCHES_MAX];
    int32_t count;
    int64_t end_offset;
};

static void add_batches(struct batches *batches, struct records records)
{
    for (int32_t i = 0, n = records_batch_count(records); i < n; i++) {
        assert_true(batches->count < BATCHES_MAX);
        batches->items[batches->count++] = records_batch(records, i);
    }
}

static int64_t next_offset(const struct batches *batches)
{
    return batches->count == 0 ? 0 : batch_last_offset(batches->items[batches->count - 1]) + 1;
}

/* As a consumer does: from behind one batch to the next. */
static void read_all(struct batches *batches, struct test_client *client, struct topic topic)
{
    batches->count = 0;
    batches->end_offset = end_offset(client, topic, 0);
    while (next_offset(batches) < batches->end_offset) {
        struct fetch_response_partition answer = fetch(client, topic, 0, next_offset(batches));
        assert_int_equal(answer.error_code, 0);
        if (answer.records.length <= 0) fail_msg("stuck at %d", (int)next_offset(batches));
        add_batches(batches, answer.records);
    }
}

/* The first that does not end before `offset`. */
static struct records batch_at_or_after(const struct batches *batches, int64_t offset)
{
    int32_t i = 0;
    while (i < batches->count && batch_last_offset(batches->items[i]) < offset)
        i++;
    assert_true(i < batches->count);
    return batches->items[i];
}

/* Whatever the offset, the version and the limits. */
static void assert_every_offset_leads_to_the_next_batch(struct test_client *client,
                                                        struct topic topic,
                                                        const struct batches *batches)
{
    for (int64_t offset = 0; offset < batches->end_offset; offset++) {
        struct records expected = batch_at_or_after(batches, offset);
        for (int16_t version = OLDEST_FETCH; version <= FETCH_NEWEST; version += 7) {
            for (int way = 0; way < 4; way++) {
                struct fetch_request request = fetch_request(client, topic, 0, offset);
                request.isolation_level = (int8_t)(way & 1);
                request.max_bytes = way >= 2 ? 1 : 1 << 17;
                struct fetch_response_partition answer = fetch_with(client, version, &request);
                assert_in_version(version, answer.error_code, 0);
                if (answer.records.length <= 0) fail_msg("nothing at %d", (int)offset);
                struct records got = records_batch(answer.records, 0);
                struct records next = expected;
                /* Those without records are left out where they are all that a segment has. */
                while (batch_record_count(next) == 0 &&
                       batch_base_offset(next) < batch_base_offset(got))
                    next = batch_at_or_after(batches, batch_last_offset(next) + 1);
                assert_in_version(version, batch_base_offset(got), batch_base_offset(next));
                assert_same_batch(got, next);
            }
        }
    }
}

/* ---- a log that Kafka's cleaner left */

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_int_equal(system(command), 0);
}

static void add_file(struct test_client *client, struct batches *batches, const char *path)
{
    enum { SIZE = 65536 };
    uint8_t *data = client_alloc(client, SIZE, 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(data, 1, SIZE, file);
    fclose(file);
    add_batches(batches, (struct records){ data, (int32_t)length, NULL });
}

/* A folder of Kafka's with a log that its cleaner has gone over `pass` times: two segments, the second
 * of which begins at `second`. */
static void prepare_on_pass(struct test_broker *broker, int pass)
{
    test_broker_prepare_on(broker, NULL, "data/segment-data");
    run("cd '%s/data' && rm *-checkpoint orders-0/0* orders-0/*-checkpoint && "
        "cp '%s'/pass-%d/*.log orders-0",
        broker->folder, test_data("data/compaction"), pass);
}

/* Starts the broker on it; all that is asked for is found. Adds how many batches had no records. */
static void assert_serves_all(struct test_broker *broker, int64_t second, int32_t *emptied,
                              bool is_cut)
{
    struct batches batches = { .count = 0 };
    char path[512];
    test_broker_start(broker);
    struct test_client *client = client_open(broker->port);
    struct topic topic = await_topic(client, STR_LITERAL("orders"), 1);
    snprintf(path, sizeof path, "%s/data/orders-0/%020d.log", broker->folder, 0);
    add_file(client, &batches, path);
    assert_true((next_offset(&batches) < second) == is_cut);
    snprintf(path, sizeof path, "%s/data/orders-0/%020d.log", broker->folder, (int)second);
    add_file(client, &batches, path);
    batches.end_offset = next_offset(&batches);
    assert_int_equal(end_offset(client, topic, 0), batches.end_offset);
    for (int32_t i = 0; i < batches.count; i++)
        *emptied += batch_record_count(batches.items[i]) == 0;
    assert_every_offset_leads_to_the_next_batch(client, topic, &batches);
    client_close(client);
    test_broker_stop(broker);
}

TEST(no_offset_of_a_log_that_kafka_compacted_stops_a_consumer)
{
    static const int64_t second_segments[] = { 23, 24, 25, 26 };
    int32_t emptied = 0;
    for (int pass = 1; pass <= 4; pass++) {
        struct test_broker broker;
        prepare_on_pass(&broker, pass);
        assert_serves_all(&broker, second_segments[pass - 1], &emptied, false);
    }
    assert_true(emptied > 0);
}

/* Cleaners of older Kafkas did not keep the last batch of a segment. */
TEST(an_offset_that_is_missing_at_the_end_of_a_segment_leads_into_the_next_one)
{
    enum { LAST_BATCH_BYTES = 78 };
    struct test_broker broker;
    int32_t emptied = 0;
    prepare_on_pass(&broker, 4);
    run("cd '%s/data' && truncate -s -%d orders-0/%020d.log && "
        "printf '0\\n1\\norders 0 26\\n' >cleaner-offset-checkpoint",
        broker.folder, LAST_BATCH_BYTES, 0);
    assert_serves_all(&broker, 26, &emptied, true);
}

/* ---- a log that ours compacts */

#define START_MS    INT64_C(1700000000000)
#define SEGMENT_MS  1000
#define LOG_BATCHES 120
#define KEYS        25
#define RECORDS_MAX 3
#define VALUE_BYTES 40000 /* So much that what is left is more than one segment. */

static const char *const clean_often[] = { "log.cleaner.backoff.ms=2", NULL };
static const struct topic_setting compacted[] = { { "cleanup.policy", "compact" },
                                                  { "segment.ms", "1000" },
                                                  { "segment.bytes", "1048576" },
                                                  { "min.cleanable.dirty.ratio", "0.0001" },
                                                  { NULL, NULL } };

/* What was sent, and what must be left of it: records, by offset. */
struct sent {
    int32_t key[LOG_BATCHES * RECORDS_MAX];
    int64_t count;
};

static bool is_the_last_of_its_key(const struct sent *sent, int64_t offset)
{
    for (int64_t later = offset + 1; later < sent->count; later++)
        if (sent->key[later] == sent->key[offset]) return false;
    return true;
}

static int32_t left_of(const struct sent *sent, int64_t from, int64_t to)
{
    int32_t left = 0;
    for (int64_t offset = from; offset < to; offset++)
        left += is_the_last_of_its_key(sent, offset);
    return left;
}

/* Each batch in a segment of its own: it is that much younger. The last segment is the active one,
 * which is not compacted; its key is no other's. */
static void send_log(struct test_client *client, struct topic topic, struct sent *sent)
{
    uint64_t chance = test_seed();
    for (int i = 0; i < LOG_BATCHES; i++) {
        chance = chance * 6364136223846793005 + 1442695040888963407;
        bool is_last = i == LOG_BATCHES - 1;
        struct batch batch = {
            .first_timestamp = START_MS + i * (SEGMENT_MS + 1),
            .record_count = is_last ? 1 : 1 + (int32_t)(chance >> 33) % RECORDS_MAX,
            .first_key = is_last ? KEYS + RECORDS_MAX : (int32_t)(chance >> 40) % KEYS,
            .value_bytes = VALUE_BYTES,
            .is_keyed = true,
        };
        assert_int_equal(produce(client, topic, 0, batch_build(&client->arena, batch)),
                         sent->count);
        for (int32_t k = 0; k < batch.record_count; k++)
            sent->key[sent->count++] = batch.first_key + k;
    }
}

/* Every batch has what must be left of it, and between batches nothing is missing. */
static bool is_compacted(const struct batches *batches, const struct sent *sent)
{
    int64_t offset = 0;
    bool is_done = true;
    for (int32_t i = 0; i < batches->count; i++) {
        int64_t base = batch_base_offset(batches->items[i]);
        int64_t end = batch_last_offset(batches->items[i]) + 1;
        assert_true(base >= offset && end <= sent->count);
        assert_int_equal(left_of(sent, offset, base), 0); /* The hole before it. */
        int32_t count = batch_record_count(batches->items[i]), left = left_of(sent, base, end);
        assert_true(count >= left);
        is_done &= count == left;
        offset = end;
    }
    return is_done && offset == sent->count;
}

TEST(no_offset_of_a_compacted_topic_stops_a_consumer)
{
    static struct sent sent;
    static struct batches batches;
    struct test_broker broker;
    test_broker_open(&broker, clean_often);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new_with(client, 1, compacted);
    send_log(client, topic, &sent);
    int64_t deadline_us = clock_monotonic_us(clock_real()) + PATIENCE_US;
    struct test_client *reader;
    for (;;) {
        reader = client_open(broker.port); /* Its arena has what it read. */
        read_all(&batches, reader, topic);
        if (is_compacted(&batches, &sent)) break;
        if (clock_monotonic_us(clock_real()) > deadline_us) fail_msg("it is not compacted");
        client_close(reader);
    }
    assert_true(batches.count < LOG_BATCHES / 2);
    assert_every_offset_leads_to_the_next_batch(reader, topic, &batches);
    client_close(reader);
    client_close(client);
    test_broker_stop(&broker);
}

/* The last batch of a producer stays when none of its records does: its sequence is still needed. */
TEST(a_batch_that_compaction_emptied_is_served_with_its_offsets_and_its_producer)
{
    struct test_broker broker;
    test_broker_open(&broker, clean_often);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new_with(client, 1, compacted);
    /* Not long ago: who was not heard of for a day is forgotten. */
    int64_t start_ms = clock_wall_ms(clock_real()) - 10 * SEGMENT_MS;
    struct batch batch = {
        .first_timestamp = start_ms,
        .record_count = 3,
        .is_keyed = true,
        .is_idempotent = true,
        .producer_id = producer_id_new(client),
        .producer_epoch = 4,
    };
    produce(client, topic, 0, batch_build(&client->arena, batch));
    batch.base_sequence = 3;
    struct records last_of_producer = batch_build(&client->arena, batch);
    assert_int_equal(produce(client, topic, 0, last_of_producer), 3);
    for (int i = 1; i <= 2; i++) { /* The same keys again, and the active segment. */
        struct batch later = { .first_timestamp = start_ms + i * (SEGMENT_MS + 1),
                               .record_count = 3,
                               .first_key = i == 1 ? 0 : 10,
                               .is_keyed = true };
        produce(client, topic, 0, batch_build(&client->arena, later));
    }

    int64_t deadline_us = clock_monotonic_us(clock_real()) + PATIENCE_US;
    struct records first;
    do { /* Then the first batch is gone, and the second one has no records. */
        if (clock_monotonic_us(clock_real()) > deadline_us) fail_msg("it is not compacted");
        first = records_batch(fetch(client, topic, 0, 0).records, 0);
    } while (batch_base_offset(first) != 3 || batch_record_count(first) > 0);
    for (int16_t version = OLDEST_FETCH; version <= FETCH_NEWEST; version++) {
        for (int64_t offset = 0; offset <= 5; offset++) {
            struct fetch_request request = fetch_request(client, topic, 0, offset);
            request.max_bytes = 1; /* Nothing else is in the answer. */
            struct fetch_response_partition answer = fetch_with(client, version, &request);
            assert_in_version(version, answer.error_code, 0);
            assert_in_version(version, records_batch_count(answer.records), 1);
            assert_in_version(version, batch_record_count(answer.records), 0);
            assert_in_version(version, batch_base_offset(answer.records), 3);
            assert_in_version(version, batch_last_offset(answer.records), 5);
            assert_in_version(version, batch_producer_id(answer.records), batch.producer_id);
            assert_in_version(version, batch_producer_epoch(answer.records), 4);
            assert_in_version(version, batch_base_sequence(answer.records), 3);
        }
    }
    assert_int_equal(batch_base_offset(fetch(client, topic, 0, 6).records), 6);
    /* And the producer goes on where it was, also after a kill. */
    client_close(client);
    test_broker_kill(&broker);
    test_broker_start(&broker);
    client = client_open(broker.port);
    await_partition(client, topic, 0);
    batch.base_sequence = 7;
    assert_int_equal(
        produce_to(client, PRODUCE_NEWEST, topic, 0, -1, batch_build(&client->arena, batch))
            .error_code,
        45);
    batch.base_sequence = 6;
    assert_int_equal(produce(client, topic, 0, batch_build(&client->arena, batch)), 12);
    client_close(client);
    test_broker_stop(&broker);
}

/* ---- records without a key */

static void assert_refused_for_want_of_keys(struct test_client *client, struct topic topic)
{
    int64_t end = end_offset(client, topic, 0);
    struct records some = batch_build(
        &client->arena,
        (struct batch){ .record_count = 5, .is_keyed = true, .keyless = 1 << 1 | 1 << 4 });
    for (int16_t version = 3; version <= PRODUCE_NEWEST; version++) {
        struct produce_response_partition answer = produce_to(client, version, topic, 0, -1, some);
        assert_in_version(version, answer.error_code, 87);
        assert_in_version(version, answer.base_offset, -1);
        if (version < 8) continue; /* KIP-467 */
        assert_in_version(version, answer.record_errors.count, 2);
        assert_in_version(version, answer.record_errors.items[0].batch_index, 1);
        assert_in_version(version, answer.record_errors.items[1].batch_index, 4);
        assert_true(answer.error_message.length > 0);
    }
    assert_int_equal(end_offset(client, topic, 0), end);
}

TEST(a_compacted_topic_takes_no_record_without_a_key_and_names_those_that_have_none)
{
    static const char *const policies[] = { "compact", "compact,delete", "delete,compact" };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        struct topic_setting settings[] = { { "cleanup.policy", policies[i] }, { NULL, NULL } };
        struct topic topic = topic_new_with(client, 1, settings);
        struct records keyed = batch_build(&client->arena,
                                           (struct batch){ .record_count = 5, .is_keyed = true });
        produce(client, topic, 0, keyed);
        assert_refused_for_want_of_keys(client, topic);
        assert_int_equal(produce(client, topic, 0, keyed), 5);
    }
    client_close(client);
}

static void set_cleanup_policy(struct test_client *client, struct topic topic, const char *value)
{
    struct incremental_alter_configs_request request;
    struct incremental_alter_configs_response response;
    struct incremental_alter_configs_request_config config = {
        .name = STR_LITERAL("cleanup.policy"), .value = str_from(value)
    };
    message_defaults(&incremental_alter_configs_request_shape, &request);
    make_array(client, &incremental_alter_configs_request_resource_shape, 1, &request.resources);
    request.resources.items[0].resource_type = 2; /* A topic. */
    request.resources.items[0].resource_name = topic.name;
    make_array_of_one(client, &request.resources.items[0].configs, config);
    client_call(client, INCREMENTAL_ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS_NEWEST, &request,
                &response);
    assert_int_equal(response.responses.items[0].error_code, 0);
}

TEST(a_topic_that_becomes_compacted_takes_no_record_without_a_key_from_then_on)
{
    if (shared_broker_is_foreign()) skip(); /* A Kafka takes a moment to know of a change. */
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 2);
    set_cleanup_policy(client, topic, "compact");
    assert_refused_for_want_of_keys(client, topic);
    set_cleanup_policy(client, topic, "delete");
    produce_some(client, topic, 0, 1);
    client_close(client);
}
