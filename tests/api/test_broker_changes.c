// SPDX-License-Identifier: Apache-2.0
/* Which changes of a broker's settings are refused for what the broker would be afterwards. */

#include <string.h>

#include "config_calls.h"

#define CHANGES_MAX 3

struct attempt {
    struct config_change changes[CHANGES_MAX]; /* At once; those without a name are none. */
    int code;
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* What it would be answered; nothing is changed. */
static struct config_answer try_change(struct test_client *client, int8_t type, struct str name,
                                       const struct config_change *changes)
{
    int32_t count = 0;
    while (count < CHANGES_MAX && changes[count].name != NULL)
        count++;
    return config_change_some(client, INCREMENTAL_ALTER_CONFIGS_NEWEST, type, name, changes, count,
                              true);
}

/* For this broker, and for all. */
static void assert_answers(const struct attempt *attempts, size_t count)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str names[] = { THIS_BROKER, ALL_BROKERS };
    for (size_t i = 0; i < count; i++) {
        for (unsigned j = 0; j < 2; j++) {
            const struct config_change *changes = attempts[i].changes;
            struct config_answer answer = try_change(client, BROKER, names[j], changes);
            if (answer.error_code != attempts[i].code)
                fail_msg("%s=%s for '%s': %d", changes[0].name, changes[0].value, names[j].data,
                         answer.error_code);
            assert_int_equal(answer.has_sentence, answer.error_code != 0);
        }
    }
    client_close(client);
}

TEST(nobody_is_locked_out)
{
    static const struct attempt attempts[] = {
        { { { "max.connections", SET, "0" } }, 42 },
        { { { "max.connections", SET, "1" } }, 0 },
        { { { "max.connection.creation.rate", SET, "0" } }, 42 },
        { { { "max.connection.creation.rate", SET, "1" } }, 0 },
        { { { "max.connections.per.ip", SET, "0" } }, 42 },
        { { { "max.connections.per.ip", SET, "0" },
            { "max.connections.per.ip.overrides", SET, "" } },
          42 },
        { { { "max.connections.per.ip", SET, "0" },
            { "max.connections.per.ip.overrides", SET, "127.0.0.1:5" } },
          0 },
    };
    assert_answers(attempts, COUNT_OF(attempts));
}

TEST(nobody_is_locked_out_by_what_is_taken_away)
{
    struct test_broker broker;
    const char *limit = "max.connections.per.ip", *of_some = "max.connections.per.ip.overrides";
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, of_some, SET, "127.0.0.1:9"), 0);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, limit, SET, "0"), 0);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, of_some, DELETE, NULL), 42);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, of_some, SET, ""), 42);
    /* Another broker would have no more than what is set for all. */
    const char *all = "max.connections";
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, all, SET, "9"), 0);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, all, SET, "0"), 42);
    struct test_client *other = client_open(broker.port);
    assert_int_equal(config_describe(other, BROKER, THIS_BROKER).error_code, 0);
    client_close(other);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, limit, DELETE, NULL), 0);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, of_some, DELETE, NULL), 0);
    client_close(client);
    test_broker_stop(&broker);
}

TEST(settings_must_fit_each_other)
{
    static const struct attempt attempts[] = {
        { { { "log.retention.ms", SET, "1000" }, { "log.local.retention.ms", SET, "1000" } }, 0 },
        { { { "log.retention.ms", SET, "1000" }, { "log.local.retention.ms", SET, "1001" } }, 42 },
        { { { "log.retention.ms", SET, "1000" }, { "log.local.retention.ms", SET, "-1" } }, 42 },
        { { { "log.retention.ms", SET, "-1" }, { "log.local.retention.ms", SET, "-1" } }, 0 },
        { { { "log.retention.ms", SET, "-7" }, { "log.local.retention.ms", SET, "5" } }, 0 },
        /* Of log.retention.hours: a week. */
        { { { "log.local.retention.ms", SET, "604800000" } }, 0 },
        { { { "log.local.retention.ms", SET, "604800001" } }, 42 },
        { { { "log.local.retention.bytes", SET, "5" } }, 0 },
        { { { "log.retention.bytes", SET, "9" }, { "log.local.retention.bytes", SET, "9" } }, 0 },
        { { { "log.retention.bytes", SET, "9" }, { "log.local.retention.bytes", SET, "10" } }, 42 },
        { { { "log.retention.bytes", SET, "0" }, { "log.local.retention.bytes", SET, "-1" } }, 42 },
        { { { "log.remote.copy.lag.ms", SET, "604800000" } }, 0 },
        { { { "log.remote.copy.lag.ms", SET, "604800001" } }, 42 },
        { { { "log.remote.copy.lag.ms", SET, "6" }, { "log.local.retention.ms", SET, "5" } }, 42 },
        { { { "log.remote.copy.lag.ms", SET, "-1" }, { "log.local.retention.ms", SET, "0" } }, 0 },
        { { { "log.remote.copy.lag.bytes", SET, "9" } }, 0 },
        { { { "log.remote.copy.lag.bytes", SET, "9" }, { "log.retention.bytes", SET, "8" } }, 42 },
        { { { "log.cleaner.dedupe.buffer.size", SET, "1048576" } }, 42 },
        { { { "log.cleaner.dedupe.buffer.size", SET, "1048577" } }, 0 },
        { { { "log.cleaner.dedupe.buffer.size", SET, "2097153" },
            { "log.cleaner.threads", SET, "2" } },
          42 },
        { { { "log.cleaner.dedupe.buffer.size", SET, "2097154" },
            { "log.cleaner.threads", SET, "2" } },
          0 },
        { { { "group.consumer.assignment.interval.ms", SET, "15000" } }, 0 },
        { { { "group.consumer.assignment.interval.ms", SET, "15001" } }, 42 },
        { { { "group.share.assignment.interval.ms", SET, "15001" } }, 42 },
        { { { "group.streams.assignment.interval.ms", SET, "15001" } }, 42 },
    };
    assert_answers(attempts, COUNT_OF(attempts));
}

TEST(what_is_set_already_counts_beside_a_change)
{
    struct test_broker broker;
    const char *whole = "log.retention.ms", *local = "log.local.retention.ms";
    test_broker_open_with(&broker, "log.retention.minutes=1");
    struct test_client *client = client_open(broker.port);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, local, SET, "60001"), 42);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, whole, SET, "70000"), 0);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, local, SET, "60001"), 0);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, whole, SET, "60000"), 42);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, whole, DELETE, NULL), 42);
    assert_int_equal(config_change(client, BROKER, THIS_BROKER, local, DELETE, NULL), 0);
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, whole, DELETE, NULL), 0);
    client_close(client);
    test_broker_stop(&broker);
}

TEST(what_nothing_acts_on_is_changed_as_in_kafka)
{
    static const struct attempt attempts[] = {
        { { { "log.cleanup.policy", SET, "delete,compact" } }, 0 },
        { { { "log.cleanup.policy", SET, "delete, delete" } }, 42 },
        { { { "log.cleanup.policy", APPEND, "compact,compact" } }, 42 },
        { { { "log.cleanup.policy", SUBTRACT, "delete,delete" } }, 0 },
        { { { "group.consumer.assignor.offload.enable", SET, "false" } }, 0 },
        { { { "group.share.assignor.offload.enable", SET, "false" } }, 0 },
        { { { "group.streams.assignor.offload.enable", SET, "x" } }, 42 },
        { { { "remote.log.manager.copier.thread.pool.size", SET, "20" } }, 0 },
        { { { "remote.log.manager.copier.thread.pool.size", SET, "21" } }, 42 },
        { { { "remote.log.manager.expiration.thread.pool.size", SET, "4" } }, 42 },
        { { { "remote.log.manager.follower.thread.pool.size", SET, "5" } }, 42 },
        { { { "remote.log.reader.threads", SET, "21" } }, 42 },
    };
    assert_answers(attempts, COUNT_OF(attempts));
}

/* As folders of one broker, which are not those of another. */
TEST(folders_are_put_out_of_use_on_the_broker_that_has_them)
{
    static const struct attempt of_one[] = {
        { { { "cordoned.log.dirs", SET, "" } }, 0 },
        { { { "cordoned.log.dirs", SET, "*" } }, 0 },
        { { { "cordoned.log.dirs", SET, "/none" } }, 42 },
        { { { "cordoned.log.dirs", APPEND, "/none" } }, 42 },
        { { { "cordoned.log.dirs", SET, "*,/none" } }, 42 },
        { { { "cordoned.log.dirs", SUBTRACT, "/none" } }, 0 },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < COUNT_OF(of_one); i++) {
        const struct config_change *changes = of_one[i].changes;
        assert_int_equal(try_change(client, BROKER, THIS_BROKER, changes).error_code,
                         of_one[i].code);
        assert_int_equal(try_change(client, BROKER, ALL_BROKERS, changes).error_code, 42);
    }
    struct describe_configs_response_result told = config_describe(client, BROKER, THIS_BROKER);
    char folders[1024] = "";
    struct str value = config_find(&told, "log.dirs")->value;
    assert_in_range(value.length, 1, sizeof folders - 1);
    memcpy(folders, value.data, (size_t)value.length);
    struct config_change ours[CHANGES_MAX] = { { "cordoned.log.dirs", SET, folders } };
    assert_int_equal(try_change(client, BROKER, THIS_BROKER, ours).error_code, 0);
    struct config_change none[CHANGES_MAX] = { { "cordoned.log.dirs", DELETE, NULL } };
    assert_int_equal(try_change(client, BROKER, ALL_BROKERS, none).error_code, 0);
    client_close(client);
}

TEST(an_unknown_operation_on_a_broker_is_refused_with_a_sentence)
{
    static const int operations[] = { 4, 127, -1 };
    static const struct str names[] = { THIS_BROKER, ALL_BROKERS };
    static const char *const settings[] = { "log.retention.ms", "no.such", "num.partitions" };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        struct config_change change[CHANGES_MAX] = { { "log.retention.ms", operations[i], "1" } };
        for (size_t j = 0; j < COUNT_OF(names) * COUNT_OF(settings); j++) {
            change[0].name = settings[j % COUNT_OF(settings)];
            struct config_answer answer = try_change(client, BROKER, names[j / COUNT_OF(settings)],
                                                     change);
            assert_int_equal(answer.error_code, 42);
            assert_true(answer.has_sentence);
        }
        assert_int_equal(try_change(client, LOGGER, THIS_BROKER, change).error_code, 42);
        assert_int_equal(try_change(client, 3, STR_LITERAL("none"), change).error_code, 42);
        /* Of a topic Kafka does not know what to say. */
        assert_int_equal(try_change(client, TOPIC, STR_LITERAL("none"), change).error_code, -1);
    }
    client_close(client);
}
