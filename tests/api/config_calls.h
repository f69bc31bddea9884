// SPDX-License-Identifier: Apache-2.0
/* Settings of topics and brokers, described and changed, as one call each. */

#ifndef TESTS_CONFIG_CALLS_H
#define TESTS_CONFIG_CALLS_H

#include "api_calls.h"

enum { SET, DELETE, APPEND, SUBTRACT };
enum { TOPIC = 2, BROKER = 4, LOGGER = 8, CLIENT_METRICS = 16, GROUP = 32 };
enum { FROM_TOPIC = 1, FROM_BROKER = 2, FROM_ALL_BROKERS = 3, FROM_OPERATOR = 4, FROM_DEFAULT = 5 };

#define THIS_BROKER STR_LITERAL("1")
#define ALL_BROKERS STR_LITERAL("")

/* For one resource, with synonyms; to be changed and sent. */
struct describe_configs_request config_describe_request(struct test_client *client, int8_t type,
                                                        struct str name);

/* Sends it; the reply's only resource. */
struct describe_configs_response_result config_describe_with(
    struct test_client *client, int16_t version, const struct describe_configs_request *request);
struct describe_configs_response_result config_describe(struct test_client *client, int8_t type,
                                                        struct str name);

/* NULL: it is not told. */
const struct describe_configs_response_config *config_find(
    const struct describe_configs_response_result *result, const char *name);

/* With that value from there; a Kafka takes a moment to know of a change. */
struct describe_configs_response_config config_await(struct test_client *client, int8_t type,
                                                     struct str name, const char *setting,
                                                     const char *value, int source);

struct config_change {
    const char *name;
    int op;
    const char *value;
};

struct config_answer {
    int error_code;
    bool has_sentence;
};

/* IncrementalAlterConfigs for one resource. */
struct config_answer config_change_some(struct test_client *client, int16_t version, int8_t type,
                                        struct str name, const struct config_change *changes,
                                        int32_t count, bool validate_only);

/* One change in the newest version; the error, which has a sentence. */
int config_change(struct test_client *client, int8_t type, struct str name, const char *setting,
                  int op, const char *value);

#endif
