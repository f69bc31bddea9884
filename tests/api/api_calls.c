// SPDX-License-Identifier: Apache-2.0
#include "api_calls.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define READY_US  (40 * INT64_C(1000000))
#define NAME_SIZE 48
#define NAMES_MAX 10000

void assert_in_version_at(int version, int64_t got, int64_t expected, const char *what,
                          const char *file, int line)
{
    if (got == expected) return;
    print_error("version %d: %s is %lld, not %lld\n", version, what, (long long)got,
                (long long)expected);
    _fail(file, line);
}

#define EMPTY(stem)                                \
    struct stem stem##_empty(void)                 \
    {                                              \
        struct stem request;                       \
        message_defaults(&stem##_shape, &request); \
        return request;                            \
    }
/* clang-format off */
EMPTY(produce_request)
EMPTY(fetch_request)
EMPTY(list_offsets_request)
EMPTY(metadata_request)
EMPTY(delete_topics_request)
EMPTY(init_producer_id_request)
EMPTY(describe_producers_request)
EMPTY(describe_log_dirs_request)
EMPTY(describe_topic_partitions_request)
EMPTY(offset_for_leader_epoch_request)
EMPTY(delete_records_request)
EMPTY(create_partitions_request)
EMPTY(describe_cluster_request)
/* clang-format on */

/* ---- topics ---- */

struct str topic_name_new(void)
{
    static unsigned count;
    static char names[NAMES_MAX][NAME_SIZE];
    assert_true(count < NAMES_MAX);
    char *name = names[count];
    snprintf(name, NAME_SIZE, "topic-%d-%llx-%u", (int)getpid(),
             (unsigned long long)clock_wall_ms(clock_real()), ++count);
    return str_from(name);
}

struct create_topics_request create_request(struct test_client *client, struct str name)
{
    struct create_topics_request request;
    message_defaults(&create_topics_request_shape, &request);
    make_array(client, &create_topics_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = name;
    request.topics.items[0].num_partitions = 1;
    request.topics.items[0].replication_factor = 1;
    return request;
}

struct create_topics_response_topic create_topic(struct test_client *client, int16_t version,
                                                 const struct create_topics_request *request)
{
    struct create_topics_response response;
    client_call(client, CREATE_TOPICS, version, request, &response);
    assert_in_version(version, response.topics.count, 1);
    return response.topics.items[0];
}

struct metadata_response_topic metadata_of(struct test_client *client, int16_t version,
                                           struct str name, const struct uuid *id,
                                           bool allow_auto_creation)
{
    struct metadata_request request = metadata_request_empty();
    make_array(client, &metadata_request_topic_shape, 1, &request.topics);
    request.topics.items[0].name = name;
    if (id != NULL) request.topics.items[0].topic_id = *id;
    request.allow_auto_topic_creation = allow_auto_creation;
    struct metadata_response response;
    client_call(client, METADATA, version, &request, &response);
    assert_in_version(version, response.topics.count, 1);
    return response.topics.items[0];
}

bool topic_exists(struct test_client *client, struct str name)
{
    return metadata_of(client, METADATA_NEWEST, name, NULL, false).error_code == 0;
}

int32_t leader_epoch_of(struct test_client *client, struct str topic)
{
    return metadata_of(client, METADATA_NEWEST, topic, NULL, false)
        .partitions.items[0]
        .leader_epoch;
}

static bool is_ready(const struct metadata_response_topic *topic, int32_t partition_count)
{
    if (topic->error_code != 0 || topic->partitions.count != partition_count) return false;
    for (int32_t i = 0; i < topic->partitions.count; i++)
        if (topic->partitions.items[i].error_code != 0) return false;
    return true;
}

void await_partition(struct test_client *client, struct topic topic, int32_t partition)
{
    int16_t error;
    do { /* What all clients retry. */
        error = list_offset(client, LIST_OFFSETS_NEWEST, topic, partition, -1).error_code;
    } while (error == 5 || error == 6 || error == 78);
    assert_int_equal(error, 0);
}

bool topic_try_new_with(struct test_client *client, int32_t partition_count,
                        const struct topic_setting *settings, struct topic *topic)
{
    struct create_topics_request request = create_request(client, topic_name_new());
    struct create_topics_request_topic *wanted = &request.topics.items[0];
    wanted->num_partitions = partition_count;
    int32_t count = 0;
    while (settings != NULL && settings[count].name != NULL)
        count++;
    make_array(client, &create_topics_request_config_shape, count, &wanted->configs);
    for (int32_t i = 0; i < count; i++) {
        wanted->configs.items[i].name = str_from(settings[i].name);
        wanted->configs.items[i].value = str_from(settings[i].value);
    }
    int16_t error = create_topic(client, CREATE_TOPICS_NEWEST, &request).error_code;
    if (error == 40) return false;
    if (error != 0) fail_msg("a topic cannot be created: %d", error);
    *topic = await_topic(client, wanted->name, partition_count);
    return true;
}

struct topic await_topic(struct test_client *client, struct str name, int32_t partition_count)
{
    struct topic topic = { name, { { 0 } }, partition_count };
    int64_t deadline_us = clock_monotonic_us(clock_real()) + READY_US;
    for (;;) {
        struct metadata_response_topic seen = metadata_of(client, METADATA_NEWEST, name, NULL,
                                                          false);
        topic.id = seen.topic_id;
        if (is_ready(&seen, partition_count)) break;
        if (clock_monotonic_us(clock_real()) > deadline_us) fail_msg("a topic has no leaders");
    }
    for (int32_t i = 0; i < partition_count; i++)
        await_partition(client, topic, i);
    return topic;
}

struct topic topic_new_with(struct test_client *client, int32_t partition_count,
                            const struct topic_setting *settings)
{
    struct topic topic;
    if (!topic_try_new_with(client, partition_count, settings, &topic))
        fail_msg("a topic's setting is refused");
    return topic;
}

struct topic topic_new(struct test_client *client, int32_t partition_count)
{
    return topic_new_with(client, partition_count, NULL);
}

void topic_delete(struct test_client *client, struct topic topic)
{
    struct delete_topics_request request = delete_topics_request_empty();
    make_array(client, &delete_topics_request_topic_shape, 1, &request.topics);
    request.topics.items[0].topic_id = topic.id;
    request.topics.items[0].name = STR_NULL;
    request.timeout_ms = 30000;
    struct delete_topics_response response;
    client_call(client, DELETE_TOPICS, DELETE_TOPICS_NEWEST, &request, &response);
    assert_int_equal(response.responses.count, 1);
    assert_int_equal(response.responses.items[0].error_code, 0);
}

/* ---- produce ---- */

struct produce_request produce_request(struct test_client *client, struct topic topic,
                                       int32_t partition, struct records records)
{
    struct produce_request request = produce_request_empty();
    request.acks = -1;
    request.timeout_ms = 30000;
    make_array(client, &produce_request_topic_shape, 1, &request.topic_data);
    struct produce_request_topic *data = &request.topic_data.items[0];
    data->name = topic.name;
    data->topic_id = topic.id;
    make_array(client, &produce_request_partition_shape, 1, &data->partition_data);
    data->partition_data.items[0].index = partition;
    data->partition_data.items[0].records = records;
    return request;
}

struct produce_response_partition produce_to(struct test_client *client, int16_t version,
                                             struct topic topic, int32_t partition, int16_t acks,
                                             struct records records)
{
    struct produce_request request = produce_request(client, topic, partition, records);
    request.acks = acks;
    struct produce_response response;
    client_call(client, PRODUCE, version, &request, &response);
    assert_in_version(version, response.responses.count, 1);
    struct produce_response_topic *answer = &response.responses.items[0];
    if (version < TOPIC_IDS_IN_PRODUCE)
        assert_true(str_equal(answer->name, topic.name));
    else
        assert_true(uuid_equal(&answer->topic_id, &topic.id));
    assert_in_version(version, answer->partition_responses.count, 1);
    assert_in_version(version, answer->partition_responses.items[0].index, partition);
    return answer->partition_responses.items[0];
}

int64_t produce(struct test_client *client, struct topic topic, int32_t partition,
                struct records records)
{
    struct produce_response_partition answer = produce_to(client, PRODUCE_NEWEST, topic, partition,
                                                          -1, records);
    assert_int_equal(answer.error_code, 0);
    return answer.base_offset;
}

void produce_some(struct test_client *client, struct topic topic, int32_t partition, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        produce(client, topic, partition, batch_build(&client->arena, (struct batch){ 0 }));
}

int64_t producer_id_new(struct test_client *client)
{
    struct init_producer_id_request request = init_producer_id_request_empty();
    request.transactional_id = STR_NULL;
    struct init_producer_id_response response;
    do { /* Kafka says 14 while it gets a block of ids. */
        client_call(client, INIT_PRODUCER_ID, INIT_PRODUCER_ID_NEWEST, &request, &response);
    } while (shared_broker_is_foreign() && response.error_code == 14);
    assert_int_equal(response.error_code, 0);
    return response.producer_id;
}

/* ---- fetch ---- */

struct fetch_request fetch_request(struct test_client *client, struct topic topic,
                                   int32_t partition, int64_t offset)
{
    struct fetch_request request = fetch_request_empty();
    request.max_bytes = 50 << 20;
    make_array(client, &fetch_request_topic_shape, 1, &request.topics);
    request.topics.items[0].topic = topic.name;
    request.topics.items[0].topic_id = topic.id;
    make_array(client, &fetch_request_partition_shape, 1, &request.topics.items[0].partitions);
    struct fetch_request_partition *wanted = &request.topics.items[0].partitions.items[0];
    wanted->partition = partition;
    wanted->fetch_offset = offset;
    wanted->partition_max_bytes = 50 << 20;
    return request;
}

struct fetch_request fetch_partitions(struct test_client *client, struct topic topic,
                                      const int32_t *partitions, int32_t count)
{
    struct fetch_request request = fetch_request(client, topic, 0, 0);
    make_array(client, &fetch_request_partition_shape, count, &request.topics.items[0].partitions);
    for (int32_t i = 0; i < count; i++) {
        request.topics.items[0].partitions.items[i].partition = partitions[i];
        request.topics.items[0].partitions.items[i].fetch_offset = 0;
        request.topics.items[0].partitions.items[i].partition_max_bytes = 1 << 20;
    }
    return request;
}

struct fetch_response_partition only_partition(const struct fetch_response *response)
{
    assert_int_equal(response->error_code, 0);
    assert_int_equal(response->session_id, 0);
    assert_int_equal(response->responses.count, 1);
    assert_int_equal(response->responses.items[0].partitions.count, 1);
    return response->responses.items[0].partitions.items[0];
}

struct fetch_response_partition fetch_with(struct test_client *client, int16_t version,
                                           const struct fetch_request *request)
{
    struct fetch_response response;
    client_call(client, FETCH, version, request, &response);
    struct fetch_response_partition answer = only_partition(&response);
    const struct fetch_request_topic *wanted = &request->topics.items[0];
    if (version < TOPIC_IDS_IN_FETCH)
        assert_true(str_equal(response.responses.items[0].topic, wanted->topic));
    else
        assert_true(uuid_equal(&response.responses.items[0].topic_id, &wanted->topic_id));
    assert_in_version(version, answer.partition_index, wanted->partitions.items[0].partition);
    return answer;
}

struct fetch_response_partition fetch(struct test_client *client, struct topic topic,
                                      int32_t partition, int64_t offset)
{
    struct fetch_request request = fetch_request(client, topic, partition, offset);
    return fetch_with(client, FETCH_NEWEST, &request);
}

/* ---- offsets ---- */

struct list_offsets_response_partition list_offset(struct test_client *client, int16_t version,
                                                   struct topic topic, int32_t partition,
                                                   int64_t timestamp)
{
    struct list_offsets_request request = list_offsets_request_empty();
    request.replica_id = -1;
    make_array(client, &list_offsets_request_topic_shape, 1, &request.topics);
    struct list_offsets_request_topic *wanted = &request.topics.items[0];
    wanted->name = topic.name;
    make_array(client, &list_offsets_request_partition_shape, 1, &wanted->partitions);
    wanted->partitions.items[0].partition_index = partition;
    wanted->partitions.items[0].timestamp = timestamp;
    struct list_offsets_response response;
    client_call(client, LIST_OFFSETS, version, &request, &response);
    assert_in_version(version, response.topics.count, 1);
    assert_true(str_equal(response.topics.items[0].name, topic.name));
    assert_in_version(version, response.topics.items[0].partitions.count, 1);
    assert_in_version(version, response.topics.items[0].partitions.items[0].partition_index,
                      partition);
    return response.topics.items[0].partitions.items[0];
}

int64_t end_offset(struct test_client *client, struct topic topic, int32_t partition)
{
    struct list_offsets_response_partition latest = list_offset(client, LIST_OFFSETS_NEWEST, topic,
                                                                partition, -1);
    assert_int_equal(latest.error_code, 0);
    return latest.offset;
}

struct records batch_uncompressed(struct test_client *client, struct records batch)
{
    static const struct topic_setting settings[] = { { "compression.type", "uncompressed" },
                                                     { NULL, NULL } };
    struct topic topic = topic_new_with(client, 1, settings);
    struct records copy = records_copy(&client->arena, batch);
    memset((uint8_t *)(uintptr_t)copy.data, 0, 8); /* A producer's batch begins at offset 0. */
    produce(client, topic, 0, copy);
    struct records stored = fetch(client, topic, 0, 0).records;
    topic_delete(client, topic);
    return stored;
}
