// SPDX-License-Identifier: Apache-2.0
#include "fuzz_meta_entries.h"

#include <string.h>

#include "fuzz.h"
#include "meta_command.h"
#include "meta_members.h"

void fuzz_meta_command(struct buffer *payload)
{
    static const struct meta_endpoint endpoint = { "PLAINTEXT", "localhost", 9092 };
    static const int32_t brokers[] = { 1, 2, 3 };
    static const struct meta_partition partitions[] = {
        { 1, 4, 5, brokers, 3, brokers, 2 }, { -1, 0, 0, brokers + 1, 1, brokers + 1, 1 }
    };
    static const struct meta_setting settings[] = { { "retention.ms", "1000" } };
    static const char *const names[] = { "orders", "a", "a.b", "x-y_z" };
    struct uuid id = { { 9 } };
    id.bytes[15] = (uint8_t)(1 + chance_below(4));
    struct meta_command command;
    memset(&command, 0, sizeof command);
    static const enum meta_command_kind kinds[] = {
        META_BOOTSTRAP,
        META_REGISTER_BROKER,
        META_TOPIC_CREATED,
        META_TOPIC_DELETED,
        META_PRODUCER_IDS_TAKEN,
        META_PARTITIONS_ADDED,
        META_TOPIC_SETTINGS_CHANGED,
        META_BROKER_SETTINGS_CHANGED,
        META_RESOURCE_SETTINGS_CHANGED,
    };
    static const struct meta_setting_change changes[] = {
        { "cleanup.policy", META_SETTING_APPEND, "compact", "delete" },
        { "retention.ms", META_SETTING_SET, "1", NULL },
        { "segment.ms", META_SETTING_DELETE, NULL, NULL },
    };
    const struct meta_settings_change change = { chance_below(2) == 0, changes, 3 };
    command.kind = kinds[chance_below(9)];
    switch (command.kind) {
    case META_BOOTSTRAP: command.as.bootstrap.cluster_id = str_from("a cluster"); break;
    case META_REGISTER_BROKER:
        command.as.register_broker.broker = (struct meta_broker){ .id = 1,
                                                                  .rack = chance_below(2) == 0
                                                                              ? NULL
                                                                              : "rack",
                                                                  .endpoints = &endpoint,
                                                                  .endpoint_count = 1 };
        break;
    case META_TOPIC_CREATED:
        command.as.topic_created.topic = (struct meta_topic){ .id = id,
                                                              .name = names[chance_below(4)],
                                                              .partition_count = 2,
                                                              .partitions = partitions,
                                                              .settings = settings,
                                                              .setting_count = 1 };
        break;
    case META_PARTITIONS_ADDED:
        command.as.partitions_added = (struct meta_partitions_added){
            .topic_id = id,
            .first = 2 + (int32_t)chance_below(2),
            .is_by_hand = chance_below(2) == 0,
            .partitions = partitions,
            .count = 2,
        };
        break;
    case META_TOPIC_SETTINGS_CHANGED:
        command.as.topic_settings_changed = (struct meta_topic_settings_changed){ id, change };
        break;
    case META_BROKER_SETTINGS_CHANGED:
        command.as.broker_settings_changed = (struct meta_broker_settings_changed){
            (int32_t)chance_below(3) - 1, change
        };
        break;
    case META_RESOURCE_SETTINGS_CHANGED:
        command.as.resource_settings_changed = (struct meta_resource_settings_changed){
            chance_below(2) == 0 ? META_RESOURCE_GROUP : META_RESOURCE_CLIENT_METRICS,
            names[chance_below(4)], change
        };
        break;
    case META_PRODUCER_IDS_TAKEN:
        command.as.producer_ids_taken = (struct meta_producer_ids_taken){ 1, 1000 };
        break;
    default:
        command.kind = META_TOPIC_DELETED;
        command.as.topic_deleted.id = id;
        break;
    }
    meta_command_encode(&command, payload);
}

void fuzz_meta_members(struct buffer *payload)
{
    struct meta_members members = { .count = 1 + (unsigned)chance_below(3) };
    for (unsigned i = 0; i < members.count; i++) {
        members.members[i].node_id = (int32_t)i + 1;
        members.members[i].role = META_VOTER;
        members.members[i].address = str_from("host:9093");
    }
    meta_members_encode(&members, payload);
}
