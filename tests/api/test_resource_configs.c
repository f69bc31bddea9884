// SPDX-License-Identifier: Apache-2.0
/* What settings of groups and of subscriptions to clients' metrics promise. */

#include "config_calls.h"

#include <string.h>

#define LISTED_SINCE 1 /* Of ListConfigResources: all types. */
enum { FROM_CLIENT_METRICS = 7, FROM_GROUP = 8 };

#define TIMEOUT_NAME "consumer.session.timeout.ms"

static bool is_listed(struct test_client *client, int8_t type, struct str name, int16_t version)
{
    struct list_config_resources_request request;
    struct list_config_resources_response response;
    message_defaults(&list_config_resources_request_shape, &request);
    request.resource_types.items = client_alloc(client, 1, sizeof(int8_t));
    request.resource_types.items[0] = type;
    request.resource_types.count = version >= LISTED_SINCE ? 1 : 0;
    client_call(client, LIST_CONFIG_RESOURCES, version, &request, &response);
    assert_int_equal(response.error_code, 0);
    for (int32_t i = 0; i < response.config_resources.count; i++) {
        if (version >= LISTED_SINCE)
            assert_int_equal(response.config_resources.items[i].resource_type, type);
        if (str_equal(response.config_resources.items[i].resource_name, name)) return true;
    }
    return false;
}

static int replace_all(struct test_client *client, int8_t type, struct str name)
{
    struct alter_configs_request request;
    struct alter_configs_response response;
    message_defaults(&alter_configs_request_shape, &request);
    make_array(client, &alter_configs_request_resource_shape, 1, &request.resources);
    request.resources.items[0].resource_type = type;
    request.resources.items[0].resource_name = name;
    client_call(client, ALTER_CONFIGS, ALTER_CONFIGS_NEWEST, &request, &response);
    return response.responses.items[0].error_code;
}

static void assert_synonym(const struct describe_configs_response_config *config, int32_t index,
                           const char *name, const char *value, int source)
{
    assert_true(index < config->synonyms.count);
    assert_true(str_equals_text(config->synonyms.items[index].name, name));
    assert_true(str_equals_text(config->synonyms.items[index].value, value));
    assert_int_equal(config->synonyms.items[index].source, source);
}

TEST(a_group_has_defaults_that_come_from_the_broker)
{
    struct test_client *client = client_open(shared_broker_port());
    struct describe_configs_response_result result = config_describe(client, GROUP,
                                                                     STR_LITERAL("untouched"));
    assert_int_equal(result.error_code, 0);
    assert_int_equal(result.configs.count, 21);
    const struct describe_configs_response_config *config = config_find(&result, TIMEOUT_NAME);
    assert_true(str_equals_text(config->value, "45000"));
    assert_int_equal(config->config_source, FROM_DEFAULT);
    assert_int_equal(config->config_type, 3); /* int */
    assert_false(config->read_only);
    assert_false(config->is_sensitive);
    assert_synonym(config, 0, "group.consumer.session.timeout.ms", "45000", FROM_DEFAULT);
    config = config_find(&result, "share.isolation.level");
    assert_synonym(config, 0, "share.isolation.level", "read_uncommitted", FROM_DEFAULT);
    config = config_find(&result, "streams.assignor.name");
    assert_true(str_equals_text(config->value, "sticky"));
    assert_null(config_find(&result, "consumer.assignor.offload.enable"));
    assert_int_equal(config_describe(client, GROUP, STR_LITERAL("")).error_code, 42);
    client_close(client);
}

TEST(a_group_that_is_not_there_yet_can_have_settings)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str name = STR_LITERAL("future group");
    assert_int_equal(config_change(client, GROUP, name, TIMEOUT_NAME, SET, " +050000 "), 0);
    struct describe_configs_response_config config = config_await(client, GROUP, name, TIMEOUT_NAME,
                                                                  "50000", FROM_GROUP);
    assert_synonym(&config, 0, TIMEOUT_NAME, "50000", FROM_GROUP);
    assert_synonym(&config, 1, "group.consumer.session.timeout.ms", "45000", FROM_DEFAULT);
    assert_true(is_listed(client, GROUP, name, LISTED_SINCE));
    assert_false(is_listed(client, CLIENT_METRICS, name, LISTED_SINCE));

    /* What is only told where it was set. */
    assert_int_equal(config_change(client, GROUP, name, "streams.num.warmup.replicas", SET, "3"),
                     0);
    config_await(client, GROUP, name, "streams.num.warmup.replicas", "3", FROM_GROUP);

    assert_int_equal(config_change(client, GROUP, name, TIMEOUT_NAME, DELETE, NULL), 0);
    config_await(client, GROUP, name, TIMEOUT_NAME, "45000", FROM_DEFAULT);
    assert_true(is_listed(client, GROUP, name, LISTED_SINCE));
    assert_int_equal(replace_all(client, GROUP, name), 0);
    config_await(client, GROUP, name, TIMEOUT_NAME, "45000", FROM_DEFAULT);
    assert_false(is_listed(client, GROUP, name, LISTED_SINCE));
    client_close(client);
}

TEST(what_is_set_on_brokers_counts_for_groups_without_it)
{
    static const char setting[] = "consumer.assignment.interval.ms",
                      of_brokers[] = "group.consumer.assignment.interval.ms";
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct str name = STR_LITERAL("g");
    assert_int_equal(config_change(client, BROKER, ALL_BROKERS, of_brokers, SET, "3000"), 0);
    config_await(client, GROUP, name, setting, "3000", FROM_ALL_BROKERS);
    assert_int_equal(config_change(client, GROUP, name, setting, SET, "4000"), 0);
    struct describe_configs_response_config config = config_await(client, GROUP, name, setting,
                                                                  "4000", FROM_GROUP);
    assert_int_equal(config.synonyms.count, 3);
    assert_synonym(&config, 1, of_brokers, "3000", FROM_ALL_BROKERS);
    assert_synonym(&config, 2, of_brokers, "1000", FROM_DEFAULT);
    client_close(client);
    test_broker_stop(&broker);
}

TEST(a_subscription_is_listed_as_long_as_it_has_a_setting)
{
    struct test_client *client = client_open(shared_broker_port());
    struct str name = STR_LITERAL("slow clients");
    struct describe_configs_response_result result = config_describe(client, CLIENT_METRICS, name);
    assert_int_equal(result.configs.count, 3);
    assert_int_equal(config_find(&result, "interval.ms")->synonyms.count, 0);
    assert_int_equal(config_change(client, CLIENT_METRICS, name, "match", SET,
                                   " client_id=a , client_source_port=[0-9]+ "),
                     0);
    struct describe_configs_response_config config = config_await(
        client, CLIENT_METRICS, name, "match", "client_id=a,client_source_port=[0-9]+",
        FROM_CLIENT_METRICS);
    assert_int_equal(config.synonyms.count, 1);
    assert_true(is_listed(client, CLIENT_METRICS, name, 0));
    assert_true(is_listed(client, CLIENT_METRICS, name, LISTED_SINCE));
    assert_int_equal(config_change(client, CLIENT_METRICS, name, "match", DELETE, NULL), 0);
    config_await(client, CLIENT_METRICS, name, "match", "", FROM_DEFAULT);
    assert_false(is_listed(client, CLIENT_METRICS, name, 0));
    client_close(client);
}

TEST(what_groups_and_subscriptions_cannot_have_is_refused)
{
    static const struct {
        int8_t type;
        struct config_change change;
        int code;
    } cases[] = {
        { GROUP, { TIMEOUT_NAME, SET, "60000" }, 0 },
        { GROUP, { TIMEOUT_NAME, SET, "60001" }, 40 },
        { GROUP, { TIMEOUT_NAME, SET, "x" }, 40 },
        { GROUP, { TIMEOUT_NAME, SET, NULL }, 42 },
        { GROUP, { TIMEOUT_NAME, APPEND, "60000" }, 40 },
        { GROUP, { "streams.rack.aware.assignment.tags", APPEND, "a" }, 40 },
        { GROUP, { "streams.rack.aware.assignment.tags", SUBTRACT, "a" }, 40 },
        { GROUP, { "no.such", SET, "1" }, 40 },
        { GROUP, { "no.such", DELETE, NULL }, 0 },
        { GROUP, { "interval.ms", SET, "1000" }, 40 },
        { CLIENT_METRICS, { "interval.ms", SET, "100" }, 0 },
        { CLIENT_METRICS, { "interval.ms", SET, "99" }, 42 },
        { CLIENT_METRICS, { "interval.ms", SET, "x" }, 40 },
        { CLIENT_METRICS, { "match", SET, "client_id=(" }, 40 },
        { CLIENT_METRICS, { "metrics", APPEND, "a" }, 40 },
        { CLIENT_METRICS, { "metrics", SET, "a,,b" }, 40 },
        { CLIENT_METRICS, { "no.such", SET, "1" }, 42 },
        { CLIENT_METRICS, { "no.such", DELETE, NULL }, 0 },
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct config_change *change = &cases[i].change;
        if (config_change(client, cases[i].type, STR_LITERAL("r"), change->name, change->op,
                          change->value) != cases[i].code)
            fail_msg("%s=%s: not %d", change->name, change->value, cases[i].code);
    }
    assert_int_equal(config_change(client, GROUP, STR_LITERAL(""), TIMEOUT_NAME, SET, "60000"), 42);
    assert_int_equal(config_change(client, CLIENT_METRICS, STR_LITERAL(""), "metrics", SET, "a"),
                     42);
    assert_int_equal(replace_all(client, GROUP, STR_LITERAL("r")), 0);
    assert_int_equal(replace_all(client, CLIENT_METRICS, STR_LITERAL("r")), 0);
    client_close(client);
}

TEST(a_groups_name_may_be_anything_without_a_zero)
{
    static const char *const names[] = {
        " ", "a b", "\xc3\xa9", ".", "..", "a/b", "*", "<default>"
    };
    struct test_client *client = client_open(shared_broker_port());
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct str name = str_from(names[i]);
        assert_int_equal(config_change(client, GROUP, name, TIMEOUT_NAME, SET, "50000"), 0);
        config_await(client, GROUP, name, TIMEOUT_NAME, "50000", FROM_GROUP);
        assert_int_equal(replace_all(client, GROUP, name), 0);
    }
    struct str zero = { "a\0b", 3 };
    assert_int_equal(config_change(client, GROUP, zero, TIMEOUT_NAME, SET, "50000"), 42);
    client_close(client);
}

TEST(what_groups_and_subscriptions_have_survives_a_restart)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    struct test_client *client = client_open(broker.port);
    struct str name = STR_LITERAL("kept");
    assert_int_equal(config_change(client, GROUP, name, TIMEOUT_NAME, SET, "50000"), 0);
    assert_int_equal(config_change(client, CLIENT_METRICS, name, "metrics", SET, "a,b"), 0);
    client_close(client);
    for (int round = 0; round < 2; round++) {
        if (round == 0)
            test_broker_kill(&broker);
        else
            test_broker_stop(&broker);
        test_broker_start(&broker);
        client = client_open(broker.port);
        config_await(client, GROUP, name, TIMEOUT_NAME, "50000", FROM_GROUP);
        config_await(client, CLIENT_METRICS, name, "metrics", "a,b", FROM_CLIENT_METRICS);
        assert_true(is_listed(client, GROUP, name, LISTED_SINCE));
        client_close(client);
    }
    test_broker_stop(&broker);
}
