// SPDX-License-Identifier: Apache-2.0
/* What DescribeConfigs, AlterConfigs, IncrementalAlterConfigs and ListConfigResources promise. */

#include "config_calls.h"

#include <string.h>

#define TYPES_SINCE  3 /* Of DescribeConfigs: type and documentation. */
#define LISTED_SINCE 1 /* Of ListConfigResources: all types. */

/* ---- calls ---- */

static int describe_error(struct test_client *client, int8_t type, const char *name)
{
    struct describe_configs_response_result result = config_describe(client, type, str_from(name));
    if (result.error_code != 0) assert_int_equal(result.configs.count, 0);
    return result.error_code;
}

static int alter(struct test_client *client, int16_t version, int8_t type, struct str name,
                 const struct config_change *changes, int32_t count)
{
    struct alter_configs_request request;
    struct alter_configs_response response;
    message_defaults(&alter_configs_request_shape, &request);
    make_array(client, &alter_configs_request_resource_shape, 1, &request.resources);
    request.resources.items[0].resource_type = type;
    request.resources.items[0].resource_name = name;
    make_array(client, &alter_configs_request_config_shape, count,
               &request.resources.items[0].configs);
    for (int32_t i = 0; i < count; i++)
        request.resources.items[0].configs.items[i] = (struct alter_configs_request_config){
            str_from(changes[i].name), str_from(changes[i].value)
        };
    client_call(client, ALTER_CONFIGS, version, &request, &response);
    assert_in_version(version, response.responses.count, 1);
    assert_true(str_equal(response.responses.items[0].resource_name, name));
    return response.responses.items[0].error_code;
}

static struct topic new_topic(struct test_client *client, const char *name, const char *value)
{
    struct topic_setting settings[] = { { name, value }, { NULL, NULL } };
    return topic_new_with(client, 1, settings);
}

/* ---- describing topics ---- */

TEST(every_version_describes_a_topic)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = new_topic(client, "retention.ms", "12345");
    for (int16_t version = 1; version <= DESCRIBE_CONFIGS_NEWEST; version++) {
        struct describe_configs_request request = config_describe_request(client, TOPIC,
                                                                          topic.name);
        request.include_documentation = version >= TYPES_SINCE;
        struct describe_configs_response_result result = config_describe_with(client, version,
                                                                              &request);
        assert_in_version(version, result.error_code, 0);
        assert_in_version(version, result.error_message.length, 0); /* Not null. */
        assert_in_version(version, result.configs.count, 37);

        const struct describe_configs_response_config *set = config_find(&result, "retention.ms");
        assert_true(str_equals_text(set->value, "12345"));
        assert_in_version(version, set->config_source, FROM_TOPIC);
        assert_false(set->read_only);
        assert_false(set->is_sensitive);
        assert_in_version(version, set->synonyms.count, 1);
        assert_true(str_equals_text(set->synonyms.items[0].name, "retention.ms"));
        assert_in_version(version, set->synonyms.items[0].source, FROM_TOPIC);

        const struct describe_configs_response_config *unset = config_find(&result,
                                                                           "segment.index.bytes");
        assert_true(str_equals_text(unset->value, "10485760"));
        assert_in_version(version, unset->config_source, FROM_DEFAULT);
        assert_in_version(version, unset->synonyms.count, 1);
        assert_true(str_equals_text(unset->synonyms.items[0].name, "log.index.size.max.bytes"));
        if (version >= TYPES_SINCE) {
            assert_in_version(version, set->config_type, 5); /* Long. */
            assert_in_version(version, unset->config_type, 3);
            assert_in_version(version, config_find(&result, "cleanup.policy")->config_type, 7);
            for (int32_t i = 0; i < result.configs.count; i++)
                assert_true(result.configs.items[i].documentation.length > 0);
        }
    }
    client_close(client);
}

TEST(only_what_is_asked_for_is_told)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct describe_configs_request request = config_describe_request(client, TOPIC, topic.name);
    struct str keys[] = { STR_LITERAL("segment.ms"), STR_LITERAL("no.such"),
                          STR_LITERAL("segment.ms") };
    request.include_synonyms = false;
    request.resources.items[0].configuration_keys.items = keys;
    request.resources.items[0].configuration_keys.count = 3;
    struct describe_configs_response_result result = config_describe_with(
        client, DESCRIBE_CONFIGS_NEWEST, &request);
    assert_int_equal(result.error_code, 0);
    assert_int_equal(result.configs.count, 1);
    assert_int_equal(result.configs.items[0].synonyms.count, 0);
    assert_true(str_is_null(result.configs.items[0].documentation));

    request.resources.items[0].configuration_keys.count = 0; /* As if null. */
    result = config_describe_with(client, DESCRIBE_CONFIGS_NEWEST, &request);
    assert_int_equal(result.configs.count, 37);
    client_close(client);
}

TEST(what_cannot_be_described_says_why)
{
    struct test_client *client = client_open(shared_broker_port());
    assert_int_equal(describe_error(client, TOPIC, "no-such-topic"), 3);
    assert_int_equal(describe_error(client, TOPIC, ""), 17);
    assert_int_equal(describe_error(client, TOPIC, "a b"), 17);
    assert_int_equal(describe_error(client, BROKER, "77"), 42);
    assert_int_equal(describe_error(client, BROKER, "+1"), 0); /* As Java reads a number. */
    assert_int_equal(describe_error(client, BROKER, "x"), 42);
    assert_int_equal(describe_error(client, LOGGER, ""), 42);
    assert_int_equal(describe_error(client, LOGGER, "77"), 42);
    assert_int_equal(describe_error(client, CLIENT_METRICS, ""), 42);
    assert_int_equal(describe_error(client, GROUP, ""), 42);
    assert_int_equal(describe_error(client, 0, "x"), 42);
    assert_int_equal(describe_error(client, 99, "x"), 42);
    client_close(client);
}

/* ---- changing topics ---- */

TEST(every_version_changes_a_single_setting)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = new_topic(client, "segment.ms", "777");
    for (int16_t version = 0; version <= INCREMENTAL_ALTER_CONFIGS_NEWEST; version++) {
        struct config_change set = { "retention.ms", SET, version == 0 ? "5000" : " 6000 " };
        struct config_answer answer = config_change_some(client, version, TOPIC, topic.name, &set,
                                                         1, false);
        assert_in_version(version, answer.error_code, 0);
        assert_false(answer.has_sentence);
        config_await(client, TOPIC, topic.name, "retention.ms", version == 0 ? "5000" : "6000",
                     FROM_TOPIC);
        config_await(client, TOPIC, topic.name, "segment.ms", "777", FROM_TOPIC);
    }
    assert_int_equal(config_change(client, TOPIC, topic.name, "retention.ms", DELETE, NULL), 0);
    config_await(client, TOPIC, topic.name, "retention.ms", "604800000", FROM_DEFAULT);
    client_close(client);
}

TEST(every_version_replaces_all_settings)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = new_topic(client, "segment.ms", "777");
    for (int16_t version = 0; version <= ALTER_CONFIGS_NEWEST; version++) {
        struct config_change set[] = { { "retention.ms", SET, "5000" },
                                       { "flush.messages", SET, "9" } };
        assert_in_version(version, alter(client, version, TOPIC, topic.name, set, 2), 0);
        config_await(client, TOPIC, topic.name, "retention.ms", "5000", FROM_TOPIC);
        config_await(client, TOPIC, topic.name, "segment.ms", "604800000", FROM_DEFAULT);
        assert_in_version(version, alter(client, version, TOPIC, topic.name, set + 1, 1), 0);
        config_await(client, TOPIC, topic.name, "retention.ms", "604800000", FROM_DEFAULT);
        config_await(client, TOPIC, topic.name, "flush.messages", "9", FROM_TOPIC);
    }
    struct config_change null = { "segment.ms", SET, NULL };
    assert_int_equal(alter(client, ALTER_CONFIGS_NEWEST, TOPIC, topic.name, &null, 1), 42);
    assert_int_equal(alter(client, ALTER_CONFIGS_NEWEST, TOPIC, topic.name, NULL, 0), 0);
    config_await(client, TOPIC, topic.name, "flush.messages", "9223372036854775807", FROM_DEFAULT);
    client_close(client);
}

TEST(items_are_added_to_a_list_and_taken_from_it)
{
    static const struct {
        int op;
        const char *value, *result;
        int source;
    } steps[] = {
        { APPEND, "compact", "delete,compact", FROM_TOPIC },
        { APPEND, "compact", "delete,compact", FROM_TOPIC },
        { SUBTRACT, "delete", "compact", FROM_TOPIC },
        { SUBTRACT, "other", "compact", FROM_TOPIC },
        { SUBTRACT, "compact", "", FROM_TOPIC },
        { DELETE, "ignored", "delete", FROM_DEFAULT },
        { SET, " compact , delete,compact", "compact,delete", FROM_TOPIC },
    };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(
            config_change(client, TOPIC, topic.name, "cleanup.policy", steps[i].op, steps[i].value),
            0);
        config_await(client, TOPIC, topic.name, "cleanup.policy", steps[i].result, steps[i].source);
    }
    assert_int_equal(config_change(client, TOPIC, topic.name, "cleanup.policy", APPEND, "other"),
                     40);
    client_close(client);
}

TEST(what_a_topic_cannot_have_is_refused)
{
    static const struct {
        struct config_change change;
        int code;
    } cases[] = {
        { { "no.such", SET, "1" }, 40 },           { { "no.such", APPEND, "1" }, 40 },
        { { "no.such", DELETE, NULL }, 0 },        { { "retention.ms", SET, "abc" }, 40 },
        { { "retention.ms", SET, "-5" }, 40 },     { { "retention.ms", APPEND, "1" }, 40 },
        { { "retention.ms", SET, NULL }, 42 },     { { "min.insync.replicas", SET, "0" }, 40 },
        { { "segment.ms", SET, "" }, 40 },         { { "segment.ms", 7, "5" }, -1 },
        { { "cleanup.policy", APPEND, "" }, 40 },  { { "cleanup.policy", APPEND, ",compact" }, 40 },
        { { "cleanup.policy", APPEND, "," }, 0 },  { { "cleanup.policy", APPEND, "compact,," }, 0 },
        { { "cleanup.policy", SUBTRACT, "" }, 0 },
    };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = new_topic(client, "retention.ms", "1000000");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(config_change(client, TOPIC, topic.name, cases[i].change.name,
                                       cases[i].change.op, cases[i].change.value),
                         cases[i].code);
    config_await(client, TOPIC, topic.name, "retention.ms", "1000000", FROM_TOPIC);

    struct str name = topic.name;
    assert_int_equal(config_change(client, TOPIC, STR_LITERAL("no-such"), "segment.ms", SET, "1"),
                     3);
    assert_int_equal(config_change(client, TOPIC, STR_LITERAL("no-such"), "no.such", SET, "1"), 40);
    assert_int_equal(config_change(client, TOPIC, STR_LITERAL(""), "segment.ms", SET, "1"), 42);
    assert_int_equal(config_change(client, TOPIC, STR_LITERAL("a b"), "segment.ms", SET, "1"), 17);
    assert_int_equal(config_change(client, 99, name, "segment.ms", SET, "1"), 42);
    assert_int_equal(config_change(client, LOGGER, THIS_BROKER, "no.such", SET, "INFO"), 40);
    assert_int_equal(config_change(client, LOGGER, STR_LITERAL("77"), "no.such", SET, "INFO"), 42);
    client_close(client);
}

TEST(one_wrong_change_keeps_the_others_of_its_resource_back)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct config_change changes[] = { { "retention.ms", SET, "5" }, { "segment.ms", SET, "x" } };
    struct config_change twice[] = { { "retention.ms", SET, "5" },
                                     { "retention.ms", DELETE, NULL } };
    int16_t version = INCREMENTAL_ALTER_CONFIGS_NEWEST;
    assert_int_equal(
        config_change_some(client, version, TOPIC, topic.name, changes, 2, false).error_code, 40);
    assert_int_equal(
        config_change_some(client, version, TOPIC, topic.name, twice, 2, false).error_code, 42);
    config_await(client, TOPIC, topic.name, "retention.ms", "604800000", FROM_DEFAULT);
    client_close(client);
}

TEST(resources_are_answered_each_for_itself)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic one = topic_new(client, 1), other = topic_new(client, 1);
    struct incremental_alter_configs_request request;
    struct incremental_alter_configs_response response;
    struct incremental_alter_configs_request_config set = { STR_LITERAL("retention.ms"), SET,
                                                            STR_LITERAL("5000") };
    struct str names[] = { one.name, STR_LITERAL("no-such"), other.name, other.name };
    static const int codes[] = { 0, 3, 42, 42 };
    message_defaults(&incremental_alter_configs_request_shape, &request);
    make_array(client, &incremental_alter_configs_request_resource_shape, 4, &request.resources);
    for (int i = 0; i < 4; i++) {
        request.resources.items[i].resource_type = TOPIC;
        request.resources.items[i].resource_name = names[i];
        make_array_of_one(client, &request.resources.items[i].configs, set);
    }
    client_call(client, INCREMENTAL_ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS_NEWEST, &request,
                &response);
    assert_int_equal(response.responses.count, 4);
    for (int i = 0; i < 4; i++) {
        const struct incremental_alter_configs_response_resource *found = NULL;
        for (int j = 0; j < 4; j++) /* In any order. */
            if (str_equal(response.responses.items[j].resource_name, names[i]))
                found = &response.responses.items[j];
        assert_non_null(found);
        assert_int_equal(found->error_code, codes[i]);
    }
    config_await(client, TOPIC, one.name, "retention.ms", "5000", FROM_TOPIC);
    config_await(client, TOPIC, other.name, "retention.ms", "604800000", FROM_DEFAULT);
    client_close(client);
}

TEST(what_is_only_validated_is_not_done)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct config_change good = { "retention.ms", SET, "77" }, bad = { "retention.ms", SET, "x" };
    int16_t version = INCREMENTAL_ALTER_CONFIGS_NEWEST;
    assert_int_equal(
        config_change_some(client, version, TOPIC, topic.name, &good, 1, true).error_code, 0);
    assert_int_equal(
        config_change_some(client, version, TOPIC, topic.name, &bad, 1, true).error_code, 40);
    config_await(client, TOPIC, topic.name, "retention.ms", "604800000", FROM_DEFAULT);
    client_close(client);
}

/* ---- a change works ---- */

static int produce_of_size(struct test_client *client, struct topic topic, int32_t bytes)
{
    struct records records = batch_build(&client->arena,
                                         (struct batch){ .record_count = 1, .value_bytes = bytes });
    return produce_to(client, PRODUCE_NEWEST, topic, 0, -1, records).error_code;
}

static void await_produce(struct test_client *client, struct topic topic, int32_t bytes, int code)
{
    if (!shared_broker_is_foreign()) assert_int_equal(produce_of_size(client, topic, bytes), code);
    while (produce_of_size(client, topic, bytes) != code) {}
}

/* Setting: max.message.bytes */
TEST(a_smaller_limit_of_messages_counts_from_the_next_one_on)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    assert_int_equal(produce_of_size(client, topic, 5000), 0);
    assert_int_equal(config_change(client, TOPIC, topic.name, "max.message.bytes", SET, "1000"), 0);
    await_produce(client, topic, 5000, 10);
    assert_int_equal(produce_of_size(client, topic, 500), 0);
    assert_int_equal(config_change(client, TOPIC, topic.name, "max.message.bytes", DELETE, NULL),
                     0);
    await_produce(client, topic, 5000, 0);
    client_close(client);
}

/* Setting: log.retention.check.interval.ms */
TEST(shorter_retention_removes_what_is_there)
{
    static const char *const often[] = { "log.retention.check.interval.ms=20", NULL };
    struct test_broker broker;
    test_broker_open(&broker, often);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 5);
    assert_int_equal(list_offset(client, LIST_OFFSETS_NEWEST, topic, 0, -2).offset, 0);
    assert_int_equal(config_change(client, TOPIC, topic.name, "retention.ms", SET, "1"), 0);
    while (list_offset(client, LIST_OFFSETS_NEWEST, topic, 0, -2).offset != 5) {}
    client_close(client);
    test_broker_stop(&broker);
}

TEST(what_was_changed_is_still_so_after_a_restart)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 1), other = topic_new(client, 1);
    assert_int_equal(config_change(client, TOPIC, topic.name, "max.message.bytes", SET, "1000"), 0);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, "message.max.bytes", SET, "2000"),
                     0);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, "log.retention.ms", SET, "7000000"),
                     0);
    client_close(client);
    for (int round = 0; round < 2; round++) {
        if (round == 0)
            test_broker_kill(&broker);
        else
            test_broker_stop(&broker);
        test_broker_start(&broker);
        client = client_open(broker.port);
        await_topic(client, topic.name, 1);
        await_topic(client, other.name, 1);
        config_await(client, TOPIC, topic.name, "max.message.bytes", "1000", FROM_TOPIC);
        config_await(client, TOPIC, other.name, "max.message.bytes", "2000", FROM_ALL_BROKERS);
        config_await(client, TOPIC, topic.name, "retention.ms", "7000000", FROM_BROKER);
        assert_int_equal(produce_of_size(client, topic, 1500), 10);
        assert_int_equal(produce_of_size(client, other, 1500), 0);
        assert_int_equal(produce_of_size(client, other, 2500), 10);
        client_close(client);
    }
    test_broker_stop(&broker);
}

/* ---- brokers ---- */

TEST(every_version_describes_this_broker)
{
    static const char *const wanted[] = {
        "num.partitions",    "default.replication.factor", "log.retention.hours",
        "message.max.bytes", "auto.create.topics.enable",  "offsets.topic.num.partitions",
        "listeners",         "advertised.listeners",       "inter.broker.listener.name",
        "log.dirs"
    };
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 1; version <= DESCRIBE_CONFIGS_NEWEST; version++) {
        struct describe_configs_request request = config_describe_request(client, BROKER,
                                                                          THIS_BROKER);
        request.include_documentation = version >= TYPES_SINCE;
        struct describe_configs_response_result result = config_describe_with(client, version,
                                                                              &request);
        assert_in_version(version, result.error_code, 0);
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            assert_non_null(config_find(&result, wanted[i]));
        const struct describe_configs_response_config *hours = config_find(&result,
                                                                           "log.retention.hours");
        assert_true(str_equals_text(hours->value, "168"));
        assert_true(hours->read_only);
        assert_in_version(version, hours->synonyms.count, 1);
        assert_in_version(version, hours->config_source, FROM_DEFAULT);
        assert_false(config_find(&result, "message.max.bytes")->read_only);
        const struct describe_configs_response_config *secret = config_find(&result,
                                                                            "ssl.key.password");
        assert_true(secret->is_sensitive && str_is_null(secret->value));
        assert_true(str_equals_text(config_find(&result, "node.id")->value, "1"));
        if (version >= TYPES_SINCE) {
            assert_in_version(version, secret->config_type, 9);
            assert_true(hours->documentation.length > 0);
        }
    }
    client_close(client);
}

TEST(values_are_told_as_they_are_read)
{
    static const struct {
        const char *name, *value, *told;
    } cases[] = {
        { "retention.ms", "+7", "7" },
        { "retention.ms", " 007 ", "7" },
        { "retention.ms", "-1", "-1" },
        { "preallocate", "FALSE", "false" },
        { "min.cleanable.dirty.ratio", ".5", "0.5" },
        { "min.cleanable.dirty.ratio", "1", "1.0" },
        { "min.cleanable.dirty.ratio", "25e-2f", "0.25" },
        { "leader.replication.throttled.replicas", "0:1, 1:1", "0:1,1:1" },
    };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(
            config_change(client, TOPIC, topic.name, cases[i].name, SET, cases[i].value), 0);
        config_await(client, TOPIC, topic.name, cases[i].name, cases[i].told, FROM_TOPIC);
    }
    client_close(client);
}

/* As Kafka, which has them for itself; and its own names for one thing. */
TEST(what_kafka_does_not_tell_of_a_broker_is_not_told)
{
    static const char *const untold[] = { "super.users", "unstable.api.versions.enable",
                                          "producer.id.expiration.check.interval.ms",
                                          "internal.metadata.delete.delay.millis" };
    static const char *const settings[] = { "node.id=1", "log.retention.hours=300", NULL };
    struct test_broker broker;
    test_broker_open(&broker, settings);
    struct test_client *client = client_open(broker.port);
    struct describe_configs_request request = config_describe_request(client, BROKER, THIS_BROKER);
    struct describe_configs_response_result all = config_describe_with(
        client, DESCRIBE_CONFIGS_NEWEST, &request);
    for (size_t i = 0; i < sizeof untold / sizeof untold[0]; i++)
        assert_null(config_find(&all, untold[i]));
    const struct describe_configs_response_config *old = config_find(&all, "broker.id");
    assert_true(str_equals_text(old->value, "1"));
    assert_int_equal(old->config_source, FROM_OPERATOR);

    const char *hours = "log.retention.hours";
    config_await(client, BROKER, THIS_BROKER, hours, "300", FROM_OPERATOR);
    assert_int_equal(
        config_change(client, BROKER, ALL_BROKERS, "log.retention.ms", SET, "4000000000"), 0);
    config_await(client, BROKER, THIS_BROKER, hours, "168", FROM_OPERATOR);
    client_close(client);
    test_broker_stop(&broker);
}

/* Kafka's rules for them count, though nothing acts on them. */
TEST(settings_without_effect_are_changed_as_in_kafka)
{
    static const struct {
        const char *name, *value;
        int code;
    } cases[] = {
        { "num.replica.fetchers", "2", 0 },
        { "num.replica.fetchers", "3", 42 },
        { "num.replica.fetchers", "0", 42 },
        { "background.threads", "20", 0 },
        { "background.threads", "4", 42 },
        { "background.threads", "21", 42 },
        { "log.cleaner.threads", "0", 42 },
        { "log.cleaner.threads", "2", 0 },
        { "log.cleaner.threads", "3", 42 },
        { "remote.log.reader.threads", "x", 42 },
        { "metric.reporters", "x", 42 },
        { "metric.reporters", "", 0 },
        { "leader.replication.throttled.rate", "1000", 0 },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name = cases[i].name;
        int code = config_change(client, BROKER, THIS_BROKER, name, SET, cases[i].value);
        if (code != cases[i].code) fail_msg("%s=%s: %d", name, cases[i].value, code);
        assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, DELETE, NULL), 0);
    }
    const char *name = "num.replica.fetchers";
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, SET, "2"), 0);
    config_await(client, BROKER, THIS_BROKER, name, "2", FROM_BROKER);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, DELETE, NULL), 0);
    client_close(client);
}

TEST(settings_of_brokers_come_in_layers)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    const char *name = "log.cleaner.delete.retention.ms";
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, SET, "4000000"), 0);
    config_await(client, BROKER, ALL_BROKERS, name, "4000000", FROM_ALL_BROKERS);
    config_await(client, BROKER, THIS_BROKER, name, "4000000", FROM_ALL_BROKERS);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, SET, "3000000"), 0);
    struct describe_configs_response_config config = config_await(client, BROKER, THIS_BROKER, name,
                                                                  "3000000", FROM_BROKER);
    static const int sources[] = { FROM_BROKER, FROM_ALL_BROKERS, FROM_DEFAULT };
    assert_int_equal(config.synonyms.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(config.synonyms.items[i].source, sources[i]);
    config = config_await(client, TOPIC, topic.name, "delete.retention.ms", "3000000", FROM_BROKER);
    assert_int_equal(config.synonyms.count, 3);
    assert_true(str_equals_text(config.synonyms.items[0].name, name));

    assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, DELETE, NULL), 0);
    config_await(client, TOPIC, topic.name, "delete.retention.ms", "4000000", FROM_ALL_BROKERS);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, DELETE, NULL), 0);
    config_await(client, TOPIC, topic.name, "delete.retention.ms", "86400000", FROM_DEFAULT);
    client_close(client);
}

TEST(any_retention_of_a_broker_below_zero_is_none)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    const char *name = "log.retention.ms";
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, SET, "-7"), 0);
    config_await(client, BROKER, THIS_BROKER, name, "-7", FROM_BROKER);
    config_await(client, TOPIC, topic.name, "retention.ms", "-1", FROM_BROKER);
    produce_some(client, topic, 0, 1); /* Of 2023. */
    assert_int_equal(fetch(client, topic, 0, 0).error_code, 0);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, DELETE, NULL), 0);
    client_close(client);
}

TEST(retention_of_brokers_is_told_with_its_other_names)
{
    struct test_client *client = client_open(shared_broker_port());
    assert_int_equal(
        config_change(client, BROKER, THIS_BROKER, "log.retention.ms", SET, "4000000000"), 0);
    struct describe_configs_response_config config = config_await(
        client, BROKER, THIS_BROKER, "log.retention.ms", "4000000000", FROM_BROKER);
    assert_int_equal(config.synonyms.count, 2);
    assert_true(str_equals_text(config.synonyms.items[1].name, "log.retention.hours"));
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, "log.retention.ms", DELETE, NULL),
                     0);
    client_close(client);
}

TEST(a_brokers_limit_counts_for_topics_without_one_at_once)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1), own = new_topic(client, "max.message.bytes", "9000");
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, "message.max.bytes", SET, "1000"),
                     0);
    await_produce(client, topic, 5000, 10);
    assert_int_equal(produce_of_size(client, own, 5000), 0);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, "message.max.bytes", DELETE, NULL),
                     0);
    await_produce(client, topic, 5000, 0);
    client_close(client);
}

TEST(the_limit_of_connections_can_be_changed_at_run_time)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    const char *name = "max.connections.per.ip";
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, name, SET, "1"), 0);
    struct test_client *other = client_open(broker.port);
    assert_broker_closes(other);
    client_close(other);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, SET, "2"), 0);
    other = client_open(broker.port);
    assert_int_equal(describe_error(other, BROKER, "1"), 0);
    client_close(other);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, name, SET, "-1"), 42);
    client_close(client);
    test_broker_stop(&broker);
}

TEST(what_a_broker_cannot_change_is_refused)
{
    static const struct {
        struct config_change change;
        int code;
    } cases[] = {
        { { "auto.create.topics.enable", SET, "false" }, 42 },
        { { "auto.create.topics.enable", DELETE, NULL }, 0 },
        { { "log.retention.hours", SET, "5" }, 42 },
        { { "message.max.bytes", SET, "abc" }, 42 },
        { { "message.max.bytes", SET, "-1" }, 42 },
        { { "message.max.bytes", SET, NULL }, 42 },
        { { "message.max.bytes", APPEND, "1" }, 40 },
        { { "log.cleanup.policy", SET, "other" }, 42 },
        { { "no.such", DELETE, NULL }, 0 },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct config_change *change = &cases[i].change;
        assert_int_equal(
            config_change(client, BROKER, THIS_BROKER, change->name, change->op, change->value),
            cases[i].code);
        assert_int_equal(
            config_change(client, BROKER, ALL_BROKERS, change->name, change->op, change->value),
            cases[i].code);
    }
    const char *name = "message.max.bytes";
    assert_int_equal(config_change(client, BROKER, STR_LITERAL("77"), name, SET, "5000"), 42);
    assert_int_equal(config_change(client, BROKER, STR_LITERAL("-1"), name, SET, "5000"), 42);
    assert_int_equal(config_change(client, BROKER, STR_LITERAL("x"), name, SET, "5000"), 42);
    client_close(client);
}

/* ---- listing ---- */

static struct list_config_resources_response list(struct test_client *client, int16_t version,
                                                  const int8_t *types, int32_t count)
{
    struct list_config_resources_request request;
    struct list_config_resources_response response;
    message_defaults(&list_config_resources_request_shape, &request);
    request.resource_types.items = client_alloc(client, 8, sizeof(int8_t));
    request.resource_types.count = count;
    for (int32_t i = 0; i < count; i++)
        request.resource_types.items[i] = types[i];
    client_call(client, LIST_CONFIG_RESOURCES, version, &request, &response);
    return response;
}

static bool lists(const struct list_config_resources_response *response, int8_t type,
                  struct str name)
{
    for (int32_t i = 0; i < response->config_resources.count; i++)
        if (response->config_resources.items[i].resource_type == type &&
            str_equal(response->config_resources.items[i].resource_name, name))
            return true;
    return false;
}

TEST(topics_and_brokers_are_listed)
{
    static const int8_t topics[] = { TOPIC }, brokers[] = { BROKER, BROKER }, unknown[] = { 99 },
                        zero[] = { 0 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct list_config_resources_response all = list(client, LISTED_SINCE, NULL, 0);
    assert_int_equal(all.error_code, 0);
    assert_true(lists(&all, TOPIC, topic.name));
    assert_true(lists(&all, BROKER, THIS_BROKER));
    assert_true(lists(&all, LOGGER, THIS_BROKER));
    struct list_config_resources_response some = list(client, LISTED_SINCE, topics, 1);
    assert_true(lists(&some, TOPIC, topic.name));
    assert_false(lists(&some, BROKER, THIS_BROKER));
    some = list(client, LISTED_SINCE, brokers, 2);
    assert_int_equal(some.config_resources.count, 1);
    assert_int_equal(list(client, LISTED_SINCE, unknown, 1).error_code, 35);
    assert_int_equal(list(client, LISTED_SINCE, zero, 1).error_code, 35);
    assert_int_equal(list(client, 0, NULL, 0).error_code, 0);
    assert_int_equal(list(client, 0, NULL, 0).config_resources.count, 0); /* Of client metrics. */
    client_close(client);
}
