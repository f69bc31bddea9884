// SPDX-License-Identifier: Apache-2.0
/* What a client does with topics and records, as one call each, in any version. */

#ifndef TESTS_API_CALLS_H
#define TESTS_API_CALLS_H

#include "alter_configs.h"
#include "api_versions.h"
#include "create_partitions.h"
#include "create_topics.h"
#include "delete_records.h"
#include "delete_topics.h"
#include "describe_cluster.h"
#include "describe_configs.h"
#include "describe_log_dirs.h"
#include "describe_producers.h"
#include "describe_topic_partitions.h"
#include "fetch.h"
#include "incremental_alter_configs.h"
#include "init_producer_id.h"
#include "list_config_resources.h"
#include "list_offsets.h"
#include "metadata.h"
#include "offset_for_leader_epoch.h"
#include "produce.h"
#include "runner.h"
#include "test_batch.h"
#include "test_broker.h"
#include "test_client.h"

/* For a test that uses one version only. */
enum newest_version {
    PRODUCE_NEWEST = 13,
    FETCH_NEWEST = 18,
    LIST_OFFSETS_NEWEST = 11,
    METADATA_NEWEST = 13,
    API_VERSIONS_NEWEST = 5,
    CREATE_TOPICS_NEWEST = 7,
    DELETE_TOPICS_NEWEST = 6,
    INIT_PRODUCER_ID_NEWEST = 5,
    DESCRIBE_CONFIGS_NEWEST = 4,
    ALTER_CONFIGS_NEWEST = 2,
    INCREMENTAL_ALTER_CONFIGS_NEWEST = 1,
    DESCRIBE_CLUSTER_NEWEST = 2,
    CREATE_PARTITIONS_NEWEST = 3,
    DELETE_RECORDS_NEWEST = 2,
    OFFSET_FOR_LEADER_EPOCH_NEWEST = 4,
    DESCRIBE_TOPIC_PARTITIONS_NEWEST = 0,
    DESCRIBE_LOG_DIRS_NEWEST = 5,
    DESCRIBE_PRODUCERS_NEWEST = 0,
};

#define TOPIC_IDS_IN_PRODUCE 13 /* From this version on, and no names any more. */
#define TOPIC_IDS_IN_FETCH   13

/* Fails like assert_int_equal, and says in which version of the request. */
#define assert_in_version(version, got, expected) \
    assert_in_version_at(version, got, expected, #got, __FILE__, __LINE__)
void assert_in_version_at(int version, int64_t got, int64_t expected, const char *what,
                          const char *file, int line);

/* An array field with `n` elements at their defaults. */
#define make_array(client, element_shape, n, array) \
    assert_int_equal(array_make(element_shape, n, &(client)->arena, array), 0)

/* An array field of primitives that holds just `item`. */
#define make_array_of_one(client, array, item)                             \
    do {                                                                   \
        (array)->items = client_alloc(client, 1, sizeof(array)->items[0]); \
        (array)->items[0] = (item);                                        \
        (array)->count = 1;                                                \
    } while (0)

/* ---- topics ---- */

struct topic {
    struct str name;
    struct uuid id;
    int32_t partition_count;
};

/* A name that no test used before; it lives as long as the program. */
struct str topic_name_new(void);

struct topic_setting {
    const char *name, *value;
};

/* Creates a topic and waits until it can be used. `settings` ends with a NULL name; may be NULL. */
struct topic topic_new(struct test_client *client, int32_t partition_count);
struct topic topic_new_with(struct test_client *client, int32_t partition_count,
                            const struct topic_setting *settings);

/* The same, or false if a setting is refused, as one that is not served yet would be. */
bool topic_try_new_with(struct test_client *client, int32_t partition_count,
                        const struct topic_setting *settings, struct topic *topic);

/* Waits until a topic can be used. Its partitions are opened by the broker in the background after
 * creation and after a restart; meanwhile ListOffsets answers with what clients retry. */
struct topic await_topic(struct test_client *client, struct str name, int32_t partition_count);
void await_partition(struct test_client *client, struct topic topic, int32_t partition);

void topic_delete(struct test_client *client, struct topic topic);

/* A request for one new topic of one partition, to be changed. */
struct create_topics_request create_request(struct test_client *client, struct str name);

/* Sends it; the reply's only topic. */
struct create_topics_response_topic create_topic(struct test_client *client, int16_t version,
                                                 const struct create_topics_request *request);

/* Sends a request for one topic; the reply's only topic. By name, or by id if `id` is given. */
struct metadata_response_topic metadata_of(struct test_client *client, int16_t version,
                                           struct str name, const struct uuid *id,
                                           bool allow_auto_creation);

bool topic_exists(struct test_client *client, struct str name);

/* That of partition 0, as Metadata tells it. */
int32_t leader_epoch_of(struct test_client *client, struct str topic);

/* ---- records ---- */

/* One batch to one partition; the reply's only partition. */
struct produce_response_partition produce_to(struct test_client *client, int16_t version,
                                             struct topic topic, int32_t partition, int16_t acks,
                                             struct records records);

/* The same in the newest version with acks=all; it must succeed. Returns the base offset. */
int64_t produce(struct test_client *client, struct topic topic, int32_t partition,
                struct records records);

/* `count` one-record batches. */
void produce_some(struct test_client *client, struct topic topic, int32_t partition, int32_t count);

/* The batch as a topic with compression.type=uncompressed stores it. */
struct records batch_uncompressed(struct test_client *client, struct records batch);

/* Requests for one partition of one topic, to be changed and sent. The partition of the request is
 * in its only place. */
struct produce_request produce_request(struct test_client *client, struct topic topic,
                                       int32_t partition, struct records records);
struct fetch_request fetch_request(struct test_client *client, struct topic topic,
                                   int32_t partition, int64_t offset);

/* The same for several partitions, in the order given, from offset 0. */
struct fetch_request fetch_partitions(struct test_client *client, struct topic topic,
                                      const int32_t *partitions, int32_t count);

/* The only partition of a reply. */
struct fetch_response_partition only_partition(const struct fetch_response *response);

/* Sends the request; the reply's only partition. */
struct fetch_response_partition fetch_with(struct test_client *client, int16_t version,
                                           const struct fetch_request *request);

/* The newest version, without waiting. */
struct fetch_response_partition fetch(struct test_client *client, struct topic topic,
                                      int32_t partition, int64_t offset);

struct list_offsets_response_partition list_offset(struct test_client *client, int16_t version,
                                                   struct topic topic, int32_t partition,
                                                   int64_t timestamp);

/* Where the next record will go, and where the first is. */
int64_t end_offset(struct test_client *client, struct topic topic, int32_t partition);

int64_t producer_id_new(struct test_client *client);

/* The message structs' defaults, so that a test sets only what it is about. */
struct produce_request produce_request_empty(void);
struct fetch_request fetch_request_empty(void);
struct list_offsets_request list_offsets_request_empty(void);
struct metadata_request metadata_request_empty(void);
struct delete_topics_request delete_topics_request_empty(void);
struct init_producer_id_request init_producer_id_request_empty(void);
struct describe_producers_request describe_producers_request_empty(void);
struct describe_log_dirs_request describe_log_dirs_request_empty(void);
struct describe_topic_partitions_request describe_topic_partitions_request_empty(void);
struct offset_for_leader_epoch_request offset_for_leader_epoch_request_empty(void);
struct delete_records_request delete_records_request_empty(void);
struct create_partitions_request create_partitions_request_empty(void);
struct describe_cluster_request describe_cluster_request_empty(void);

#endif
