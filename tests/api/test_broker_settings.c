// SPDX-License-Identifier: Apache-2.0
/* That a broker's settings do what they say. `Setting:` above a test names those that it fails without;
 * scripts/check-settings.sh compares them with what the program honours. */

#include <stdio.h>
#include <string.h>

#include "broker_inside.h"
#include "config_calls.h"

/* ---- who and where ---- */

static struct metadata_response metadata(struct test_client *client)
{
    struct metadata_request request = metadata_request_empty();
    struct metadata_response response;
    request.topics.count = 0;
    client_call(client, METADATA, METADATA_NEWEST, &request, &response);
    assert_int_equal(response.brokers.count, 1);
    return response;
}

/* Setting: node.id, broker.rack */
TEST(clients_are_told_who_a_broker_is_and_where_it_stands)
{
    static const char *const settings[] = { "node.id=7", "broker.rack=r-2", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct metadata_response told = metadata(client);
    assert_int_equal(told.brokers.items[0].node_id, 7);
    assert_true(str_equals_text(told.brokers.items[0].rack, "r-2"));
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: broker.id */
TEST(broker_id_names_a_broker_too)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "broker.id=4");
    struct test_client *client = client_open(broker.port);
    assert_int_equal(metadata(client).brokers.items[0].node_id, 4);
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: listeners, advertised.listeners, listener.security.protocol.map, controller.listener.names */
TEST(clients_are_told_the_address_of_the_listener_they_came_in_on)
{
    static const char *const settings[] = {
        "listener.security.protocol.map=IN:PLAINTEXT,OUT:PLAINTEXT,CONTROL:PLAINTEXT",
        "advertised.listeners=IN://inside.example:1,OUT://outside.example:2",
        "controller.listener.names=CONTROL", NULL
    };
    struct test_broker broker;
    char listeners[128];
    test_broker_prepare(&broker, settings);
    uint16_t other = (uint16_t)(broker.port + 1);
    snprintf(listeners, sizeof listeners,
             "listeners=IN://127.0.0.1:%d,OUT://127.0.0.1:%d,CONTROL://127.0.0.1:%d", broker.port,
             other, broker.port + 2);
    broker.settings[3] = listeners;
    test_broker_start(&broker);
    struct test_client *inside = client_open(broker.port), *outside = client_open(other);
    struct metadata_response told = metadata(inside);
    assert_true(str_equals_text(told.brokers.items[0].host, "inside.example"));
    assert_int_equal(told.brokers.items[0].port, 1);
    told = metadata(outside);
    assert_true(str_equals_text(told.brokers.items[0].host, "outside.example"));
    assert_int_equal(told.brokers.items[0].port, 2);
    struct socket_facts facts;
    broker.port = (uint16_t)(broker.port + 2);
    if (broker_socket(&broker, 0, &facts)) fail_msg("the listener for controllers is open");
    client_close(inside);
    client_close(outside);
    test_broker_stop(&broker);
}

/* ---- threads ---- */

/* Setting: num.io.threads, num.network.threads, log.cleaner.threads, log.cleaner.enable */
TEST(there_are_as_many_threads_as_the_operator_says)
{
    static const char *const settings[] = { "num.io.threads=5", "num.network.threads=3",
                                            "log.cleaner.threads=4", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    assert_int_equal(broker_threads(&broker, "disk-"), 5);
    assert_int_equal(broker_threads(&broker, "loop-"), 3);
    assert_int_equal(broker_threads(&broker, "cleaner-"), 4);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "num.io.threads", SET, "2"), 0);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "log.cleaner.threads", SET, "6"),
                     0);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "num.network.threads", SET, "6"),
                     0);
    AWAIT(broker_threads(&broker, "disk-") == 2);
    AWAIT(broker_threads(&broker, "loop-") == 6);
    AWAIT(broker_threads(&broker, "cleaner-") == 6);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "num.io.threads", DELETE, NULL), 0);
    AWAIT(broker_threads(&broker, "disk-") == 5);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "log.cleaner.threads", SET, "1025"),
                     42);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "log.cleaner.threads", SET, "0"),
                     42);
    /* At most twice, at least half of what they are. */
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "num.network.threads", SET, "13"),
                     42);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "num.network.threads", SET, "2"),
                     42);
    client_close(client);
    test_broker_stop(&broker);
    broker.settings[0] = "log.cleaner.enable=false";
    test_broker_start(&broker);
    assert_int_equal(broker_threads(&broker, "cleaner-"), 0);
    test_broker_stop(&broker);
}

static bool has_said_turns(const struct test_broker *broker, unsigned most)
{
    char text[64];
    snprintf(text, sizeof text, "logs that are opened at a time: %u (", most);
    return broker_has_said(broker, text);
}

/* Setting: num.recovery.threads.per.data.dir */
TEST(no_more_logs_are_opened_at_a_time_than_the_operator_says)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "num.recovery.threads.per.data.dir=2");
    struct test_client *client = client_open(broker.port);
    topic_new(client, 50);
    client_close(client);
    assert_false(has_said_turns(&broker, 2)); /* New ones have nothing to recover. */
    test_broker_stop(&broker);
    test_broker_start(&broker);
    assert_true(has_said_turns(&broker, 2));

    client = client_open(broker.port);
    const char *name = "num.recovery.threads.per.data.dir";
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, SET, "1"), 0);
    client_close(client);
    test_broker_stop(&broker);
    test_broker_start(&broker);
    assert_true(has_said_turns(&broker, 1));
    test_broker_stop(&broker);
}

/* ---- housekeeping ---- */

static struct topic topic_with_some(struct test_client *client)
{
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 5);
    return topic;
}

/* Setting: log.flush.offset.checkpoint.interval.ms */
TEST(it_is_noted_in_time_how_far_logs_are_on_disk)
{
    static const char *const settings[] = { "log.flush.offset.checkpoint.interval.ms=20",
                                            "sluice.flush.interval.ms=5", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_with_some(client);
    /* What one round finds out the next one writes. */
    AWAIT((produce_some(client, topic, 0, 1),
           broker_checkpoint(&broker, "recovery-point-offset-checkpoint", topic.name.data, 0) > 0));
    client_close(client);
    test_broker_stop(&broker);
}

#define DEFAULT_FLUSH_MS      1000
#define DEFAULT_WATERMARKS_MS 5000

/* Setting: sluice.flush.interval.ms, replica.high.watermark.checkpoint.interval.ms */
TEST(what_the_operator_puts_off_is_put_off)
{
    static const char *const settings[] = { "sluice.flush.interval.ms=600000",
                                            "replica.high.watermark.checkpoint.interval.ms=600000",
                                            "log.preallocate=true", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_with_some(client);
    poll(NULL, 0, DEFAULT_WATERMARKS_MS + DEFAULT_FLUSH_MS / 2);
    assert_int_equal(
        broker_checkpoint(&broker, "replication-offset-checkpoint", topic.name.data, 0), -1);
    /* The space of a segment is taken by its first sync. */
    assert_true(broker_file_disk_bytes(&broker, "%.*s-0/00000000000000000000.log",
                                       topic.name.length, topic.name.data) < 1 << 20);
    client_close(client);
    test_broker_stop(&broker);
    assert_int_equal(
        broker_checkpoint(&broker, "replication-offset-checkpoint", topic.name.data, 0), 5);
}

/* Setting: producer.id.expiration.ms, producer.id.expiration.check.interval.ms */
TEST(a_producer_that_is_silent_is_forgotten)
{
    static const char *const settings[] = { "producer.id.expiration.check.interval.ms=20", NULL };
    static const char *const names[] = { "producer.id.expiration.ms", "5" };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    for (int round = 0; round < 2; round++) {
        struct test_client *client = client_open(broker.port);
        struct topic topic = topic_new(client, 1);
        int64_t id = producer_id_new(client);
        struct batch batch = { .is_idempotent = true, .producer_id = id };
        produce(client, topic, 0, batch_build(&client->arena, batch));
        struct describe_producers_request request = describe_producers_request_empty();
        make_array(client, &describe_producers_request_topic_shape, 1, &request.topics);
        request.topics.items[0].name = topic.name;
        make_array_of_one(client, &request.topics.items[0].partition_indexes, 0);
        struct describe_producers_response response;
        client_call(client, DESCRIBE_PRODUCERS, 0, &request, &response);
        if (round == 0) { /* Changed while it runs; then said at the start. */
            assert_int_equal(response.topics.items[0].partitions.items[0].active_producers.count,
                             1);
            assert_int_equal(config_change(client, BROKER, THIS_BROKER, names[0], SET, names[1]),
                             0);
        }
        do {
            client_call(client, DESCRIBE_PRODUCERS, 0, &request, &response);
        } while (response.topics.items[0].partitions.items[0].active_producers.count > 0);
        assert_int_equal(config_change(client, BROKER, THIS_BROKER, names[0], DELETE, NULL), 0);
        client_close(client);
        test_broker_stop(&broker);
        if (round == 1) break;
        broker.settings[1] = "producer.id.expiration.ms=5";
        test_broker_start(&broker);
    }
}

/* In the data folder itself: those in the folders of logs are of producers. */
static bool has_metadata_snapshot(const struct test_broker *broker)
{
    return broker_files_like(broker, ".", ".snapshot") > 0;
}

/* Setting: metadata.log.max.record.bytes.between.snapshots */
TEST(the_metadata_is_written_as_a_snapshot_after_so_much)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "metadata.log.max.record.bytes.between.snapshots=5000");
    struct test_client *client = client_open(broker.port);
    assert_false(has_metadata_snapshot(&broker));
    for (int i = 0; i < 30; i++)
        topic_new(client, 1);
    AWAIT(has_metadata_snapshot(&broker));
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: metadata.log.max.snapshot.interval.ms */
TEST(the_metadata_is_written_as_a_snapshot_after_so_long)
{
    struct test_broker broker;
    test_broker_open_with(&broker, "metadata.log.max.snapshot.interval.ms=50");
    AWAIT(has_metadata_snapshot(&broker));
    test_broker_stop(&broker);
}

/* Setting: metadata.log.dir */
TEST(the_metadata_is_where_the_operator_says)
{
    struct test_broker broker;
    char setting[300];
    test_broker_prepare(&broker, NULL);
    snprintf(setting, sizeof setting, "metadata.log.dir=%s/metadata", broker.folder);
    broker.settings[0] = setting;
    test_broker_start(&broker);
    assert_int_equal(broker_file_size(&broker, "quorum-state"), -1);
    assert_true(broker_file_size(&broker, "../metadata/quorum-state") > 0);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_with_some(client);
    assert_true(broker_file_size(&broker, "%.*s-0/partition.metadata", topic.name.length,
                                 topic.name.data) > 0);
    test_broker_stop(&broker);
    assert_true(broker_file_size(&broker, "../metadata/.kafka_cleanshutdown") > 0);

    test_broker_start(&broker); /* It finds it again. */
    struct test_client *other = client_open(broker.port);
    await_partition(other, topic, 0);
    assert_int_equal(records_batch_count(fetch(other, topic, 0, 0).records), 5);
    client_close(other);
    client_close(client);
    test_broker_stop(&broker);

    broker.settings[0] = NULL; /* Nobody begins anew beside it. */
    assert_int_equal(test_broker_ends_by_itself(&broker), 1);
    assert_true(broker_has_said(&broker, "nor metadata.log.dir"));
}

/* "In use by another process" would send people looking for one. */
TEST(a_folder_that_log_dirs_names_twice_is_told_of)
{
    struct test_broker broker;
    char setting[600];
    test_broker_prepare(&broker, NULL);
    snprintf(setting, sizeof setting, "log.dirs=%s/data,%s/data/../data/", broker.folder,
             broker.folder);
    broker.settings[0] = setting;
    assert_int_equal(test_broker_ends_by_itself(&broker), 1);
    assert_true(broker_has_said(&broker, "are the same folder"));
}

/* Setting: server.max.startup.time.ms */
TEST(a_broker_that_is_not_ready_in_time_ends)
{
    struct test_broker broker;
    test_broker_prepare(&broker, NULL);
    broker.settings[0] = "server.max.startup.time.ms=0";
    assert_int_equal(test_broker_ends_by_itself(&broker), 1);
    assert_true(broker_has_said(&broker, "server.max.startup.time.ms"));
    broker.settings[0] = "server.max.startup.time.ms=60000";
    test_broker_start(&broker);
    test_broker_stop(&broker);
}

/* ---- what topics get ---- */

/* Each with a value that is not the default, and how a topic is told of it. Of several for one setting the
 * finest unit counts, so those come by themselves.
 *
 * Setting: compression.gzip.level, compression.lz4.level, compression.type, compression.zstd.level,
 * log.cleaner.delete.retention.ms, log.cleaner.max.compaction.lag.ms, log.cleaner.min.cleanable.ratio,
 * log.cleaner.min.compaction.lag.ms, log.cleanup.policy, log.flush.interval.messages,
 * log.flush.interval.ms, log.index.interval.bytes, log.index.size.max.bytes,
 * log.message.timestamp.after.max.ms, log.message.timestamp.before.max.ms, log.message.timestamp.type,
 * log.preallocate, log.retention.bytes, log.retention.ms, log.roll.jitter.ms, log.roll.ms,
 * log.segment.bytes, log.segment.delete.delay.ms, max.decompressed.message.bytes, message.max.bytes,
 * min.insync.replicas */
TEST(topics_get_what_the_operator_says)
{
    static const struct {
        const char *said, *setting, *value;
    } defaults[] = {
        { "compression.gzip.level=5", "compression.gzip.level", "5" },
        { "compression.lz4.level=3", "compression.lz4.level", "3" },
        { "compression.type=lz4", "compression.type", "lz4" },
        { "compression.zstd.level=7", "compression.zstd.level", "7" },
        { "log.cleaner.delete.retention.ms=11", "delete.retention.ms", "11" },
        { "log.cleaner.max.compaction.lag.ms=8000", "max.compaction.lag.ms", "8000" },
        { "log.cleaner.min.cleanable.ratio=0.25", "min.cleanable.dirty.ratio", "0.25" },
        { "log.cleaner.min.compaction.lag.ms=12", "min.compaction.lag.ms", "12" },
        { "log.cleanup.policy=compact", "cleanup.policy", "compact" },
        { "log.flush.interval.messages=13", "flush.messages", "13" },
        { "log.flush.interval.ms=14", "flush.ms", "14" },
        { "log.index.interval.bytes=15", "index.interval.bytes", "15" },
        { "log.index.size.max.bytes=1600", "segment.index.bytes", "1600" },
        { "log.message.timestamp.after.max.ms=17", "message.timestamp.after.max.ms", "17" },
        { "log.message.timestamp.before.max.ms=18", "message.timestamp.before.max.ms", "18" },
        { "log.message.timestamp.type=LogAppendTime", "message.timestamp.type", "LogAppendTime" },
        { "log.preallocate=true", "preallocate", "true" },
        { "log.retention.bytes=19", "retention.bytes", "19" },
        { "log.retention.ms=20", "retention.ms", "20" },
        { "log.roll.jitter.ms=21", "segment.jitter.ms", "21" },
        { "log.roll.ms=2200", "segment.ms", "2200" },
        { "log.segment.bytes=2300000", "segment.bytes", "2300000" },
        { "log.segment.delete.delay.ms=24", "file.delete.delay.ms", "24" },
        { "max.decompressed.message.bytes=25000", "max.decompressed.message.bytes", "25000" },
        { "message.max.bytes=26000", "max.message.bytes", "26000" },
        { "min.insync.replicas=2", "min.insync.replicas", "2" },
    };
    enum { COUNT = sizeof defaults / sizeof defaults[0] };
    const char *settings[COUNT + 1] = { NULL };
    struct test_broker broker;
    for (int i = 0; i < COUNT; i++)
        settings[i] = defaults[i].said;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    struct describe_configs_response_result told = config_describe(client, TOPIC, topic.name);
    for (int i = 0; i < COUNT; i++) {
        const struct describe_configs_response_config *config = config_find(&told,
                                                                            defaults[i].setting);
        char said[128];
        snprintf(said, sizeof said, "%.*s=%.*s", config->synonyms.items[0].name.length,
                 config->synonyms.items[0].name.data, config->value.length, config->value.data);
        assert_string_equal(said, defaults[i].said);
        assert_int_equal(config->config_source, FROM_OPERATOR);
    }
    client_close(client);
    test_broker_stop(&broker);
}

/* Setting: log.retention.minutes, log.roll.hours, log.roll.jitter.hours, log.flush.scheduler.interval.ms,
 * log.retention.hours */
TEST(topics_get_what_is_said_in_larger_units)
{
    static const char *const settings[] = { "log.retention.minutes=3", "log.roll.hours=2",
                                            "log.roll.jitter.hours=1",
                                            "log.flush.scheduler.interval.ms=77", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    config_await(client, TOPIC, topic.name, "retention.ms", "180000", FROM_DEFAULT);
    config_await(client, TOPIC, topic.name, "segment.ms", "7200000", FROM_DEFAULT);
    config_await(client, TOPIC, topic.name, "segment.jitter.ms", "3600000", FROM_DEFAULT);
    config_await(client, TOPIC, topic.name, "flush.ms", "77", FROM_DEFAULT);
    client_close(client);
    test_broker_stop(&broker);
    broker.settings[0] = "log.retention.hours=5";
    test_broker_start(&broker);
    client = client_open(broker.port);
    config_await(client, TOPIC, topic.name, "retention.ms", "18000000", FROM_DEFAULT);
    client_close(client);
    test_broker_stop(&broker);
}
