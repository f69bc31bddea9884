// SPDX-License-Identifier: Apache-2.0
#include "config_calls.h"

struct describe_configs_request config_describe_request(struct test_client *client, int8_t type,
                                                        struct str name)
{
    struct describe_configs_request request;
    message_defaults(&describe_configs_request_shape, &request);
    make_array(client, &describe_configs_request_resource_shape, 1, &request.resources);
    request.resources.items[0].resource_type = type;
    request.resources.items[0].resource_name = name;
    request.resources.items[0].configuration_keys.count = -1;
    request.include_synonyms = true;
    return request;
}

struct describe_configs_response_result config_describe_with(
    struct test_client *client, int16_t version, const struct describe_configs_request *request)
{
    struct describe_configs_response response;
    client_call(client, DESCRIBE_CONFIGS, version, request, &response);
    assert_in_version(version, response.results.count, 1);
    assert_true(str_equal(response.results.items[0].resource_name,
                          request->resources.items[0].resource_name));
    assert_in_version(version, response.results.items[0].resource_type,
                      request->resources.items[0].resource_type);
    return response.results.items[0];
}

struct describe_configs_response_result config_describe(struct test_client *client, int8_t type,
                                                        struct str name)
{
    struct describe_configs_request request = config_describe_request(client, type, name);
    return config_describe_with(client, DESCRIBE_CONFIGS_NEWEST, &request);
}

const struct describe_configs_response_config *config_find(
    const struct describe_configs_response_result *result, const char *name)
{
    for (int32_t i = 0; i < result->configs.count; i++)
        if (str_equals_text(result->configs.items[i].name, name)) return &result->configs.items[i];
    return NULL;
}

struct describe_configs_response_config config_await(struct test_client *client, int8_t type,
                                                     struct str name, const char *setting,
                                                     const char *value, int source)
{
    for (;;) {
        struct describe_configs_response_result result = config_describe(client, type, name);
        assert_int_equal(result.error_code, 0);
        const struct describe_configs_response_config *config = config_find(&result, setting);
        if (config != NULL && str_equals_text(config->value, value) &&
            config->config_source == source)
            return *config;
        if (!shared_broker_is_foreign()) {
            assert_non_null(config);
            assert_true(str_equals_text(config->value, value));
            assert_int_equal(config->config_source, source);
        }
    }
}

struct config_answer config_change_some(struct test_client *client, int16_t version, int8_t type,
                                        struct str name, const struct config_change *changes,
                                        int32_t count, bool validate_only)
{
    struct incremental_alter_configs_request request;
    struct incremental_alter_configs_response response;
    message_defaults(&incremental_alter_configs_request_shape, &request);
    make_array(client, &incremental_alter_configs_request_resource_shape, 1, &request.resources);
    request.validate_only = validate_only;
    request.resources.items[0].resource_type = type;
    request.resources.items[0].resource_name = name;
    make_array(client, &incremental_alter_configs_request_config_shape, count,
               &request.resources.items[0].configs);
    for (int32_t i = 0; i < count; i++)
        request.resources.items[0].configs.items[i] =
            (struct incremental_alter_configs_request_config){ str_from(changes[i].name),
                                                               (int8_t)changes[i].op,
                                                               str_from(changes[i].value) };
    client_call(client, INCREMENTAL_ALTER_CONFIGS, version, &request, &response);
    assert_int_equal(response.responses.count, 1);
    assert_true(str_equal(response.responses.items[0].resource_name, name));
    assert_int_equal(response.responses.items[0].resource_type, type);
    return (struct config_answer){ response.responses.items[0].error_code,
                                   !str_is_null(response.responses.items[0].error_message) };
}

int config_change(struct test_client *client, int8_t type, struct str name, const char *setting,
                  int op, const char *value)
{
    struct config_change change = { setting, op, value };
    struct config_answer answer = config_change_some(client, INCREMENTAL_ALTER_CONFIGS_NEWEST, type,
                                                     name, &change, 1, false);
    if (answer.error_code >= 0) /* A Kafka has no words for what it did not expect. */
        assert_int_equal(answer.has_sentence, answer.error_code != 0);
    return answer.error_code;
}
