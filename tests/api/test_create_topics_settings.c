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

/* KIP-525: tools look these up and crash without them. */
TEST(the_answer_has_the_settings_that_tools_look_for)
{
    struct test_client *client = client_open(shared_broker_port());
    struct create_topics_request request = create_request(client, topic_name_new());
    struct create_topics_response_topic answer = create_topic(client, CREATE_TOPICS_NEWEST,
                                                              &request);
    static const char *const names[] = {
        "cleanup.policy",      "retention.ms",     "retention.bytes",
        "min.insync.replicas", "compression.type", "max.message.bytes",
        "segment.bytes",       "segment.ms",       "message.timestamp.type",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        find_setting(&answer, names[i]);
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

/* What is legal in Kafka and not served yet is refused: a setting without effect would be a promise
 * that is not kept. */
TEST(a_legal_setting_is_kept_or_refused_but_never_forgotten)
{
    static const struct topic_setting legal[] = {
        { "compression.type", "lz4" },
        { "message.timestamp.type", "LogAppendTime" },
        { "min.insync.replicas", "2" },
        { "preallocate", "true" },
        { "unclean.leader.election.enable", "true" },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
        struct create_topics_request request = with_setting(client, legal[i].name, legal[i].value);
        struct create_topics_response_topic answer = create_topic(client, CREATE_TOPICS_NEWEST,
                                                                  &request);
        if (answer.error_code == 40 && answer.error_message.length > 0) continue;
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
