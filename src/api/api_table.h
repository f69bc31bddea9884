// SPDX-License-Identifier: Apache-2.0
/* Every API that we serve, one row each; everything else is derived from the row.
 *
 * `first` and `last` are the versions that are served, `told` is the lowest one that ApiVersions
 * tells (Produce: librdkafka before 2.11 stops compressing if 0 is missing, although nobody
 * accepts 0). How the row is used:
 *    src/protocol/<stem>.h   <stem>_request, <stem>_response and their shapes
 *    src/api/<stem>.c        handle_<stem>()
 *
 * KEEP    the frame's bytes stay valid until the call ends.
 * BORROW  they are gone after the burst: the handler copies what it needs longer (no copy of records).
 * ORDER   later requests of the connection wait until this one has ended.
 * OVERTAKE later ones are handled meanwhile; replies keep their order all the same. */

#ifndef API_API_TABLE_H
#define API_API_TABLE_H

/* clang-format off */
/*      key  name                       stem                       first last told  frame   sequence */
#define API_TABLE(ROW) \
    ROW( 0, "Produce",                 produce,                   3,    13,  0,    BORROW, OVERTAKE) \
    ROW( 1, "Fetch",                   fetch,                     4,    18,  4,    KEEP,   OVERTAKE) \
    ROW( 2, "ListOffsets",             list_offsets,              1,    11,  1,    KEEP,   ORDER)    \
    ROW( 3, "Metadata",                metadata,                  0,    13,  0,    KEEP,   ORDER)    \
    ROW(18, "ApiVersions",             api_versions,              0,    5,   0,    KEEP,   ORDER)    \
    ROW(19, "CreateTopics",            create_topics,             2,    7,   2,    KEEP,   ORDER)    \
    ROW(20, "DeleteTopics",            delete_topics,             1,    6,   1,    KEEP,   ORDER)    \
    ROW(21, "DeleteRecords",           delete_records,            0,    2,   0,    KEEP,   ORDER)    \
    ROW(22, "InitProducerId",          init_producer_id,          0,    5,   0,    KEEP,   ORDER)    \
    ROW(23, "OffsetForLeaderEpoch",    offset_for_leader_epoch,   2,    4,   2,    KEEP,   ORDER)    \
    ROW(32, "DescribeConfigs",         describe_configs,          1,    4,   1,    KEEP,   ORDER)    \
    ROW(33, "AlterConfigs",            alter_configs,             0,    2,   0,    KEEP,   ORDER)    \
    ROW(35, "DescribeLogDirs",         describe_log_dirs,         1,    5,   1,    KEEP,   ORDER)    \
    ROW(37, "CreatePartitions",        create_partitions,         0,    3,   0,    KEEP,   ORDER)    \
    ROW(44, "IncrementalAlterConfigs", incremental_alter_configs, 0,    1,   0,    KEEP,   ORDER)    \
    ROW(60, "DescribeCluster",         describe_cluster,          0,    2,   0,    KEEP,   ORDER)    \
    ROW(61, "DescribeProducers",       describe_producers,        0,    0,   0,    KEEP,   ORDER)    \
    ROW(74, "ListConfigResources",     list_config_resources,     0,    1,   0,    KEEP,   ORDER)    \
    ROW(75, "DescribeTopicPartitions", describe_topic_partitions, 0,    0,   0,    KEEP,   ORDER)
/* clang-format on */

#endif
