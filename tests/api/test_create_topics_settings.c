// SPDX-License-Identifier: Apache-2.0
/* What CreateTopics promises about the settings of a new topic. */

#include "api_calls.h"

#define SOURCE_TOPIC 1 /* ConfigSource: said for the topic itself. */

static struct create_topics_request with_setting(struct test_client *client, const char *name,
                                                 const char *value)
{
    struct create_topics_request request = create_request(client, topic_name_new());
    make_array(client, &create_topics_request_config_shape, 1, &request.topics.items[0].configs);
    request.topics.items[0].configs.items[0].name = str_from(name);
    request.topics.items[0].configs.items[0].value = str_from(value);
    return request;
}

static const struct create_topics_response_config *find_setting(
    const struct create_topics_response_topic *answer, const char *name)
{
    for (int32_t i = 0; i < answer->configs.count; i++)
        if (str_equals_text(answer->configs.items[i].name, name)) return &answer->configs.items[i];
    fail_msg("%s is not told", name);
    return NULL;
}

TEST(settings_are_told_in_the_answer)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 5; version <= CREATE_TOPICS_NEWEST; version++) {
        struct create_topics_request request = with_setting(client, "retention.ms", "12345");
        struct create_topics_response_topic answer = create_topic(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        const struct create_topics_response_config *setting = find_setting(&answer, "retention.ms");
        assert_true(str_equals_text(setting->value, "12345"));
        assert_in_version(version, setting->config_source, SOURCE_TOPIC);
        assert_false(setting->is_sensitive);
        setting = find_setting(&answer, "cleanup.policy");
        assert_true(str_equals_text(setting->value, "delete"));
        assert_int_not_equal(setting->config_source, SOURCE_TOPIC);
    }
    client_close(client);
}

/* Those of Kafka 4.4. Tools look them up and crash where one is missing. */
static const char *const kafkas_settings[] = {
    "cleanup.policy",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "delete.retention.ms",
    "errors.deadletterqueue.group.enable",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "follower.replication.throttled.replicas",
    "index.interval.bytes",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
    "unclean.leader.election.enable",
};

static struct describe_configs_response_result describe_topic(struct test_client *client,
                                                              int16_t version, struct str name)
{
    struct describe_configs_request request;
    struct describe_configs_response response;
    message_defaults(&describe_configs_request_shape, &request);
    make_array(client, &describe_configs_request_resource_shape, 1, &request.resources);
    request.resources.items[0].resource_type = 2; /* A topic. */
    request.resources.items[0].resource_name = name;
    request.resources.items[0].configuration_keys.count = -1;
    client_call(client, DESCRIBE_CONFIGS, version, &request, &response);
    assert_in_version(version, response.results.count, 1);
    assert_in_version(version, response.results.items[0].error_code, 0);
    return response.results.items[0];
}

static const struct describe_configs_response_config *find_described(
    const struct describe_configs_response_result *result, struct str name)
{
    for (int32_t i = 0; i < result->configs.count; i++)
        if (str_equal(result->configs.items[i].name, name)) return &result->configs.items[i];
    fail_msg("%.*s is not described", (int)name.length, name.data);
    return NULL;
}

TEST(every_setting_that_a_topic_has_is_described)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (int16_t version = 1; version <= DESCRIBE_CONFIGS_NEWEST; version++) {
        struct describe_configs_response_result result = describe_topic(client, version,
                                                                        topic.name);
        for (size_t i = 0; i < sizeof kafkas_settings / sizeof kafkas_settings[0]; i++)
            find_described(&result, str_from(kafkas_settings[i]));
    }
    client_close(client);
}

/* KIP-525: what is created is told as DescribeConfigs would. */
TEST(the_answer_has_all_settings_of_the_new_topic)
{
    struct test_client *client = client_open(shared_broker_port());
    for (int16_t version = 5; version <= CREATE_TOPICS_NEWEST; version++) {
        struct create_topics_request request = with_setting(client, "retention.ms", "12345");
        struct create_topics_response_topic answer = create_topic(client, version, &request);
        await_topic(client, answer.name, 1);
        struct describe_configs_response_result described = describe_topic(
            client, DESCRIBE_CONFIGS_NEWEST, answer.name);
        assert_in_version(version, answer.configs.count, described.configs.count);
        for (int32_t i = 0; i < answer.configs.count; i++) {
            const struct create_topics_response_config *told = &answer.configs.items[i];
            const struct describe_configs_response_config *setting = find_described(&described,
                                                                                    told->name);
            assert_true(str_equal(told->value, setting->value));
            assert_in_version(version, told->config_source, setting->config_source);
            assert_in_version(version, told->read_only, setting->read_only);
            assert_in_version(version, told->is_sensitive, setting->is_sensitive);
        }
    }
    client_close(client);
}

TEST(settings_that_clients_send_are_taken)
{
    static const struct topic_setting taken[] = {
        { "min.insync.replicas", "1" },
        { "retention.ms", "-1" },
        { "retention.ms", "60000" },
        { "retention.bytes", "-1" },
        { "retention.bytes", "1000000" },
        { "max.message.bytes", "2000000" },
        { "segment.bytes", "1048576" },
        { "segment.ms", "3600000" },
        { "cleanup.policy", "delete" },
        { "cleanup.policy", "compact" },
        { "cleanup.policy", "compact,delete" },
        { "min.cleanable.dirty.ratio", "0.01" },
        { "min.compaction.lag.ms", "1000" },
        { "max.compaction.lag.ms", "60000" },
        { "compression.type", "producer" },
        { "message.timestamp.type", "CreateTime" },
        { "flush.messages", "1" },
        { "flush.messages", "9223372036854775807" },
        { "flush.ms", "0" },
        { "flush.ms", "1000" },
        { "delete.retention.ms", "86400000" },
        { "delete.retention.ms", "1" },
        { "unclean.leader.election.enable", "false" },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        struct create_topics_request request = with_setting(client, taken[i].name, taken[i].value);
        struct create_topics_response_topic answer = create_topic(client, CREATE_TOPICS_NEWEST,
                                                                  &request);
        if (answer.error_code != 0)
            fail_msg("%s=%s: %d", taken[i].name, taken[i].value, answer.error_code);
        assert_true(str_equals_text(find_setting(&answer, taken[i].name)->value, taken[i].value));
    }
    client_close(client);
}

/* What nothing acts on yet, too (DESIGN 12). */
TEST(a_legal_setting_is_kept_and_told)
{
    static const struct topic_setting legal[] = {
        { "compression.type", "lz4" },
        { "message.timestamp.type", "LogAppendTime" },
        { "min.insync.replicas", "2" },
        { "preallocate", "true" },
        { "unclean.leader.election.enable", "true" },
        { "leader.replication.throttled.replicas", "0:1,1:1" },
        { "follower.replication.throttled.replicas", "*" },
        { "local.retention.ms", "1000" },
        { "remote.log.delete.on.disable", "true" },
        { "min.cleanable.dirty.ratio", "NaN" },
        { "min.cleanable.dirty.ratio", "0.5f" },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
        struct create_topics_request request = with_setting(client, legal[i].name, legal[i].value);
        struct create_topics_response_topic answer = create_topic(client, CREATE_TOPICS_NEWEST,
                                                                  &request);
        if (answer.error_code != 0)
            fail_msg("%s=%s: %d", legal[i].name, legal[i].value, answer.error_code);
        assert_true(str_equals_text(find_setting(&answer, legal[i].name)->value, legal[i].value));
    }
    client_close(client);
}

TEST(settings_that_are_not_legal_are_refused)
{
    static const struct topic_setting refused[] = {
        { "no.such.setting", "1" },
        { "retention.ms", "a week" },
        { "retention.ms", "-2" },
        { "retention.ms", "" },
        { "retention.ms", NULL },
        { "max.message.bytes", "-1" },
        { "max.message.bytes", "1e6" },
        { "segment.bytes", "1" },
        { "cleanup.policy", "shred" },
        { "compression.type", "rar" },
        { "message.timestamp.type", "Now" },
        { "min.insync.replicas", "0" },
        { "preallocate", "maybe" },
        { "flush.messages", "0" },
        { "flush.messages", "99999999999999999999" },
        { "flush.ms", "-1" },
        { "remote.storage.enable", "true" },
        { "message.format.version", "2.8" },
        { "RETENTION.MS", "1" },
    };
    struct test_client *client = client_open(shared_broker_port());
    int wrong = 0;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        for (int16_t version = 2; version <= CREATE_TOPICS_NEWEST; version += 5) {
            struct create_topics_request request = with_setting(client, refused[i].name,
                                                                refused[i].value);
            struct create_topics_response_topic answer = create_topic(client, version, &request);
            if (answer.error_code == 40 && answer.error_message.length > 0) continue;
            print_error("version %d: %s=%s: %d\n", version, refused[i].name,
                        refused[i].value != NULL ? refused[i].value : "(null)", answer.error_code);
            wrong++;
        }
    }
    client_close(client);
    assert_int_equal(wrong, 0);
}
