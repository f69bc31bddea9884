// SPDX-License-Identifier: Apache-2.0
#include "wire_shapes.h"

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

#define ROW(name, key, stem)                                                             \
    {                                                                                    \
        name, "wire/" #stem ".jsonl", key, &stem##_request_shape, &stem##_response_shape \
    }

const struct wire_api wire_apis[] = {
    ROW("Produce", 0, produce),
    ROW("Fetch", 1, fetch),
    ROW("ListOffsets", 2, list_offsets),
    ROW("Metadata", 3, metadata),
    ROW("ApiVersions", 18, api_versions),
    ROW("CreateTopics", 19, create_topics),
    ROW("DeleteTopics", 20, delete_topics),
    ROW("DeleteRecords", 21, delete_records),
    ROW("InitProducerId", 22, init_producer_id),
    ROW("OffsetForLeaderEpoch", 23, offset_for_leader_epoch),
    ROW("DescribeConfigs", 32, describe_configs),
    ROW("AlterConfigs", 33, alter_configs),
    ROW("DescribeLogDirs", 35, describe_log_dirs),
    ROW("CreatePartitions", 37, create_partitions),
    ROW("IncrementalAlterConfigs", 44, incremental_alter_configs),
    ROW("DescribeCluster", 60, describe_cluster),
    ROW("DescribeProducers", 61, describe_producers),
    ROW("ListConfigResources", 74, list_config_resources),
    ROW("DescribeTopicPartitions", 75, describe_topic_partitions),
};
const unsigned wire_api_count = sizeof wire_apis / sizeof wire_apis[0];

const struct wire_api *wire_api_by_key(int key)
{
    for (unsigned i = 0; i < wire_api_count; i++) {
        if (wire_apis[i].key == key) return &wire_apis[i];
    }
    return NULL;
}
