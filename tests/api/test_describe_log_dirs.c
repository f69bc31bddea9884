// SPDX-License-Identifier: Apache-2.0
/* What DescribeLogDirs promises to clients. */

#include <stdio.h>

#include "api_calls.h"

#define OLDEST      1
#define WITH_TOTALS 4 /* From this version on. */

static struct describe_log_dirs_request request_for(struct test_client *client, struct str topic,
                                                    const int32_t *partitions, int32_t count)
{
    struct describe_log_dirs_request request = describe_log_dirs_request_empty();
    make_array(client, &describe_log_dirs_request_topic_shape, 1, &request.topics);
    request.topics.items[0].topic = topic;
    request.topics.items[0].partitions.items = client_alloc(client, (size_t)count + 1,
                                                            sizeof(int32_t));
    request.topics.items[0].partitions.count = count;
    for (int32_t i = 0; i < count; i++)
        request.topics.items[0].partitions.items[i] = partitions[i];
    return request;
}

/* The only folder of the broker. */
static struct describe_log_dirs_response_result describe(
    struct test_client *client, int16_t version, const struct describe_log_dirs_request *request)
{
    struct describe_log_dirs_response response;
    client_call(client, DESCRIBE_LOG_DIRS, version, request, &response);
    assert_in_version(version, response.error_code, 0);
    assert_in_version(version, response.results.count, 1);
    struct describe_log_dirs_response_result result = response.results.items[0];
    assert_in_version(version, result.error_code, 0);
    assert_in_version(version, result.log_dir.data[0], '/');
    if (version < WITH_TOTALS) {
        assert_in_version(version, result.total_bytes, -1);
        assert_in_version(version, result.usable_bytes, -1);
    } else {
        assert_true(result.usable_bytes > 0 && result.total_bytes >= result.usable_bytes);
    }
    assert_false(result.is_cordoned);
    return result;
}

static const struct describe_log_dirs_response_topic *find_topic(
    const struct describe_log_dirs_response_result *result, struct str name)
{
    const struct describe_log_dirs_response_topic *found = NULL;
    for (int32_t i = 0; i < result->topics.count; i++) {
        if (!str_equal(result->topics.items[i].name, name)) continue;
        assert_null(found);
        found = &result->topics.items[i];
    }
    return found;
}

static int64_t stored_bytes(struct test_client *client, struct topic topic, int32_t partition)
{
    return fetch(client, topic, partition, 0).records.length;
}

static const struct describe_log_dirs_response_partition *find_partition(
    const struct describe_log_dirs_response_topic *topic, int32_t index)
{
    const struct describe_log_dirs_response_partition *found = NULL;
    for (int32_t i = 0; i < topic->partitions.count; i++) {
        if (topic->partitions.items[i].partition_index != index) continue;
        assert_null(found);
        found = &topic->partitions.items[i];
    }
    assert_non_null(found);
    return found;
}

TEST(every_version_tells_how_much_a_partition_takes)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 3);
    static const int32_t all[] = { 0, 1, 2 };
    produce_some(client, topic, 0, 5);
    produce_some(client, topic, 2, 1);
    for (int16_t version = OLDEST; version <= DESCRIBE_LOG_DIRS_NEWEST; version++) {
        struct describe_log_dirs_request request = request_for(client, topic.name, all, 3);
        struct describe_log_dirs_response_result result = describe(client, version, &request);
        assert_in_version(version, result.topics.count, 1);
        const struct describe_log_dirs_response_topic *told = find_topic(&result, topic.name);
        assert_in_version(version, told->partitions.count, 3);
        for (int32_t i = 0; i < 3; i++) {
            const struct describe_log_dirs_response_partition *partition = find_partition(told, i);
            assert_in_version(version, partition->partition_size, stored_bytes(client, topic, i));
            assert_in_version(version, partition->offset_lag, 0);
            assert_false(partition->is_future_key);
        }
    }
    client_close(client);
}

TEST(who_names_no_topic_is_told_how_much_all_take)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic one = topic_new(client, 1), two = topic_new(client, 2);
    produce_some(client, one, 0, 2);
    for (int16_t version = OLDEST; version <= DESCRIBE_LOG_DIRS_NEWEST; version++) {
        struct describe_log_dirs_request request = describe_log_dirs_request_empty();
        request.topics.count = -1;
        struct describe_log_dirs_response_result result = describe(client, version, &request);
        const struct describe_log_dirs_response_topic *told = find_topic(&result, one.name);
        assert_non_null(told);
        assert_in_version(version, find_partition(told, 0)->partition_size,
                          stored_bytes(client, one, 0));
        told = find_topic(&result, two.name);
        assert_non_null(told);
        assert_in_version(version, told->partitions.count, 2);
    }
    client_close(client);
}

TEST(what_is_not_here_is_left_out_and_what_is_named_twice_is_told_once)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    static const int32_t wanted[] = { 1, 7, 1, -1 }, missing[] = { 2 };
    for (int16_t version = OLDEST; version <= DESCRIBE_LOG_DIRS_NEWEST; version++) {
        struct describe_log_dirs_request request = request_for(client, topic.name, wanted, 4);
        struct describe_log_dirs_response_result result = describe(client, version, &request);
        assert_in_version(version, result.topics.count, 1);
        assert_in_version(version, result.topics.items[0].partitions.count, 1);
        assert_in_version(version, result.topics.items[0].partitions.items[0].partition_index, 1);
        request = request_for(client, topic.name, missing, 1);
        assert_in_version(version, describe(client, version, &request).topics.count, 0);
        request = request_for(client, topic_name_new(), wanted, 1);
        assert_in_version(version, describe(client, version, &request).topics.count, 0);
        request = describe_log_dirs_request_empty();
        assert_in_version(version, describe(client, version, &request).topics.count, 0);
    }
    client_close(client);
}

/* The answer of a broker with two folders, of all partitions. */
static struct describe_log_dirs_response describe_two(struct test_client *client)
{
    struct describe_log_dirs_request request = describe_log_dirs_request_empty();
    struct describe_log_dirs_response response;
    request.topics.count = -1;
    client_call(client, DESCRIBE_LOG_DIRS, DESCRIBE_LOG_DIRS_NEWEST, &request, &response);
    assert_int_equal(response.error_code, 0);
    assert_int_equal(response.results.count, 2);
    return response;
}

static int partitions_in(const struct describe_log_dirs_response_result *result)
{
    int count = 0;
    for (int32_t i = 0; i < result->topics.count; i++)
        count += result->topics.items[i].partitions.count;
    return count;
}

/* A folder that is taken away cannot be written to any more. */
TEST(a_folder_that_is_offline_is_told_as_such)
{
    struct test_broker broker;
    char log_dirs[400], folder[160], gone[170];
    test_broker_prepare(&broker, NULL);
    snprintf(folder, sizeof folder, "%s/other", broker.folder);
    snprintf(gone, sizeof gone, "%s-gone", folder);
    snprintf(log_dirs, sizeof log_dirs, "log.dirs=%s/data,%s", broker.folder, folder);
    broker.settings[0] = log_dirs;
    broker.settings[1] = "sluice.flush.interval.ms=5";
    test_broker_start(&broker);
    struct test_client *client = client_open(broker.port);
    struct topic topic = topic_new(client, 4);
    struct describe_log_dirs_response told = describe_two(client);
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(told.results.items[i].error_code, 0);
        assert_int_equal(partitions_in(&told.results.items[i]), 2);
    }

    assert_int_equal(rename(folder, gone), 0);
    int refused = 0;
    while (refused < 2) { /* New segments and the names of files cannot be had there. */
        refused = 0;
        for (int32_t i = 0; i < 4; i++)
            refused += produce_to(client, PRODUCE_NEWEST, topic, i, -1,
                                  batch_build(&client->arena, (struct batch){ .value_bytes = 9 }))
                           .error_code == 56;
    }
    told = describe_two(client);
    assert_int_equal(told.results.items[0].error_code, 0);
    assert_int_equal(partitions_in(&told.results.items[0]), 2);
    assert_int_equal(told.results.items[1].error_code, 56);
    assert_int_equal(told.results.items[1].total_bytes, -1);
    assert_int_equal(partitions_in(&told.results.items[1]), 0);
    client_close(client);
    assert_int_equal(rename(gone, folder), 0);
    test_broker_kill(&broker);
}
