// SPDX-License-Identifier: Apache-2.0
/* That the settings of compaction do what they say; `Setting:` as in test_topic_settings.c. */

#include <stdio.h>
#include <string.h>

#include "broker_inside.h"
#include "config_calls.h"

#define SOON_MS 10000 /* By default the cleaner sleeps longer than that. */

/* A compacted topic in which every batch is a segment of its own. */
static struct topic compacted(struct test_client *client, const char *name, const char *value)
{
    struct topic_setting settings[] = {
        { "cleanup.policy", "compact" }, { "segment.ms", "1" }, { name, value }, { NULL, NULL }
    };
    return topic_new_with(client, 1, settings);
}

static int64_t time_ms = INT64_C(1700000000000);

static void put_one(struct test_client *client, struct topic topic, int32_t keys,
                    int32_t value_bytes)
{
    produce(client, topic, 0,
            batch_build(&client->arena, (struct batch){ .record_count = keys,
                                                        .value_bytes = value_bytes,
                                                        .first_timestamp = time_ms,
                                                        .is_keyed = true }));
}

/* So many batches of records with so many keys, the same in each. */
static void put(struct test_client *client, struct topic topic, int batches, int32_t keys,
                int32_t value_bytes)
{
    for (int i = 0; i < batches; i++, time_ms += 10)
        put_one(client, topic, keys, value_bytes);
}

/* How many keys the first pass over a topic found; -1: none has been yet. */
static int64_t keys_of_first_pass(const struct test_broker *broker, struct topic topic)
{
    char path[256], line[1024], begin[300];
    long long keys = -1, offset;
    snprintf(path, sizeof path, "%s/output", broker->folder);
    snprintf(begin, sizeof begin, " %.*s-0: compacted up to ", topic.name.length, topic.name.data);
    FILE *output = fopen(path, "r");
    assert_non_null(output);
    while (keys < 0 && fgets(line, sizeof line, output) != NULL) {
        const char *at = strstr(line, begin);
        if (at != NULL && sscanf(at + strlen(begin), "offset %lld: %lld keys", &offset, &keys) != 2)
            keys = -1;
    }
    fclose(output);
    return keys;
}

static bool was_compacted(const struct test_broker *broker, struct topic topic)
{
    return keys_of_first_pass(broker, topic) >= 0;
}

static struct test_client *open_with(struct test_broker *broker, const char *setting)
{
    const char *settings[] = { "log.cleaner.backoff.ms=10", setting, NULL };
    test_broker_open(broker, settings);
    return client_open(broker->port);
}

static void close_both(struct test_broker *broker, struct test_client *client)
{
    client_close(client);
    test_broker_stop(broker);
}

/* ---- the broker's ---- */

/* Setting: log.cleaner.backoff.ms */
TEST(the_cleaner_sleeps_as_long_as_the_operator_says)
{
    struct test_broker broker;
    struct test_client *client = open_with(&broker, NULL);
    int64_t begin = test_now_ms();
    struct topic topic = compacted(client, NULL, NULL);
    put(client, topic, 3, 5, 100);
    AWAIT(was_compacted(&broker, topic));
    assert_true(test_now_ms() - begin < SOON_MS);
    close_both(&broker, client);
}

/* Setting: log.cleaner.backoff.ms */
TEST(a_cleaner_that_sleeps_hears_that_it_should_not)
{
    static const char *const settings[] = { "log.cleaner.backoff.ms=600000", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct topic topic = compacted(client, NULL, NULL);
    put(client, topic, 3, 5, 100);
    int64_t begin = test_now_ms();
    assert_int_equal(
        config_change(client, BROKER, ALL_BROKERS, "log.cleaner.backoff.ms", SET, "10"), 0);
    AWAIT(was_compacted(&broker, topic));
    assert_true(test_now_ms() - begin < SOON_MS);
    close_both(&broker, client);
}

/* Setting: log.cleaner.enable, cleanup.policy */
TEST(only_logs_of_compacted_topics_are_compacted)
{
    struct test_broker broker;
    struct test_client *client = open_with(&broker, NULL);
    struct topic_setting settings[] = { { "segment.ms", "1" }, { NULL, NULL } };
    struct topic plain = topic_new_with(client, 1, settings);
    struct topic topic = compacted(client, NULL, NULL);
    put(client, plain, 9, 5, 100);
    put(client, topic, 3, 5, 100);
    AWAIT(was_compacted(&broker, topic));
    assert_false(was_compacted(&broker, plain));
    client_close(client);
    test_broker_stop(&broker);

    broker.settings[1] = "log.cleaner.enable=false";
    test_broker_start(&broker);
    client = client_open(broker.port);
    struct topic other = compacted(client, NULL, NULL);
    put(client, other, 3, 5, 100);
    poll(NULL, 0, 300);
    assert_false(was_compacted(&broker, other));
    close_both(&broker, client);
}

/* How many of so many keys the first pass over a new topic finds. */
static int64_t keys_found_of(struct test_broker *broker, struct test_client *client, int32_t keys)
{
    struct topic topic = compacted(client, NULL, NULL);
    put(client, topic, 3, keys, 1);
    AWAIT(was_compacted(broker, topic));
    return keys_of_first_pass(broker, topic);
}

/* A setting of which there is little at first, and then enough for so many keys. */
static void assert_limits_a_pass(const char *name, const char *little, const char *too_little,
                                 const char *enough, int32_t keys)
{
    struct test_broker broker;
    char setting[128];
    snprintf(setting, sizeof setting, "%s=%s", name, little);
    struct test_client *client = open_with(&broker, setting);
    assert_in_range(keys_found_of(&broker, client, keys), 1, keys - 1);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, SET, too_little), 42);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, SET, enough), 0);
    assert_int_equal(keys_found_of(&broker, client, keys), keys);
    close_both(&broker, client);
}

/* Setting: log.cleaner.dedupe.buffer.size */
TEST(a_pass_finds_as_many_keys_as_there_is_memory_for)
{
    assert_limits_a_pass("log.cleaner.dedupe.buffer.size", "1048577", "1000000", "16777216", 50000);
}

/* Setting: log.cleaner.io.buffer.load.factor */
TEST(the_memory_for_keys_is_filled_as_far_as_the_operator_says)
{
    assert_limits_a_pass("log.cleaner.io.buffer.load.factor", "0.00001", "0", "0.5", 500);
}

/* How often a pass over a segment of 150 KB reads. */
static uint64_t reads_of_pass(const struct test_broker *broker, struct test_client *client)
{
    struct topic topic = compacted(client, "min.cleanable.dirty.ratio", "1"); /* Not yet. */
    for (int i = 0; i < 200; i++) /* At one time, so in one segment. */
        put_one(client, topic, 5, 120);
    time_ms += 10;
    put(client, topic, 2, 5, 120);
    uint64_t before = broker_reads(broker);
    const char *name = "min.cleanable.dirty.ratio";
    assert_int_equal(config_change(client, TOPIC, topic.name, name, SET, "0.1"), 0);
    AWAIT(was_compacted(broker, topic));
    return broker_reads(broker) - before;
}

/* Setting: log.cleaner.io.buffer.size */
TEST(a_pass_reads_in_pieces_of_its_buffer)
{
    struct test_broker broker;
    struct test_client *client = open_with(&broker, "log.cleaner.io.buffer.size=1500000");
    uint64_t few = reads_of_pass(&broker, client);
    const char *name = "log.cleaner.io.buffer.size";
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, SET, "4096"), 0);
    uint64_t many = reads_of_pass(&broker, client);
    if (many < few + 50) fail_msg("%d reads, and %d", (int)few, (int)many);
    close_both(&broker, client);
}

/* Setting: log.cleaner.io.max.bytes.per.second */
TEST(compaction_is_as_slow_as_the_operator_says)
{
    struct test_broker broker;
    struct test_client *client = open_with(&broker, "log.cleaner.io.max.bytes.per.second=500000");
    struct topic topic = compacted(client, NULL, NULL);
    int64_t begin = test_now_ms();
    put(client, topic, 3, 500, 700); /* A megabyte, of which two parts are read twice. */
    AWAIT(was_compacted(&broker, topic));
    assert_true(test_now_ms() - begin > 1000);

    const char *name = "log.cleaner.io.max.bytes.per.second";
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, SET, "10000"), 0);
    struct topic other = compacted(client, NULL, NULL);
    put(client, other, 3, 500, 700);
    poll(NULL, 0, 1000);
    assert_false(was_compacted(&broker, other)); /* It would take minutes. */
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, SET, "1e9"), 0);
    AWAIT(was_compacted(&broker, other));
    close_both(&broker, client);
}

/* ---- the topic's ---- */

/* Of two dirty logs with one setting the one may be cleaned and the other may not. The latter is the
 * dirtier one, so that it would have been cleaned first. */
static void assert_only_second_is_compacted(const char *setting, const char *first,
                                            const char *second)
{
    struct test_broker broker;
    struct test_client *client = open_with(&broker, NULL);
    struct topic stays = compacted(client, setting, first);
    struct topic goes = compacted(client, setting, second);
    put(client, stays, 20, 5, 100);
    put(client, goes, 3, 5, 100);
    AWAIT(was_compacted(&broker, goes));
    assert_false(was_compacted(&broker, stays));
    close_both(&broker, client);
}

/* Setting: min.cleanable.dirty.ratio */
TEST(a_log_that_is_not_dirty_enough_is_not_compacted)
{
    assert_only_second_is_compacted("min.cleanable.dirty.ratio", "1", "0.9");
}

/* Setting: max.compaction.lag.ms */
TEST(a_log_that_is_overdue_is_compacted_however_clean_it_is)
{
    struct test_broker broker;
    struct test_client *client = open_with(&broker, "log.cleaner.min.cleanable.ratio=1");
    struct topic stays = compacted(client, NULL, NULL);
    struct topic goes = compacted(client, "max.compaction.lag.ms", "1");
    put(client, stays, 20, 5, 100);
    put(client, goes, 3, 5, 100);
    AWAIT(was_compacted(&broker, goes));
    assert_false(was_compacted(&broker, stays));
    close_both(&broker, client);
}
