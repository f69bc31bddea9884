// SPDX-License-Identifier: Apache-2.0
/* What can change in the cluster's metadata: the commands, and their bytes in the metadata log.
 *
 * A command is two bytes of kind, two bytes of version, then its fields, big-endian. Texts are as
 * in meta_text.h, arrays are a 4-byte count and the elements, truths are one byte 0 or 1.
 *
 * To add one: a row here, its struct, its two functions in meta_command.c, apply_<stem>() in
 * meta_apply.c, a test. To change one: raise the version in the row, go on reading the old ones,
 * and write the new one only once the feature level says that every node knows it (DESIGN 7.2). */

#ifndef META_COMMAND_H
#define META_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "buffer.h"
#include "bytes.h"
#include "meta_settings.h"
#include "meta_view.h"
#include "uuid.h"

/* clang-format off */
/*      kind  version  name                       stem */
#define META_COMMAND_TABLE(ROW) \
    ROW(1,    1,       META_BOOTSTRAP,            bootstrap)       \
    ROW(2,    1,       META_REGISTER_BROKER,      register_broker) \
    ROW(3,    1,       META_TOPIC_CREATED,        topic_created)   \
    ROW(4,    1,       META_TOPIC_DELETED,        topic_deleted)   \
    ROW(5,    1,       META_PRODUCER_IDS_TAKEN,   producer_ids_taken) \
    ROW(6,    1,       META_TOPIC_SETTINGS_CHANGED,  topic_settings_changed) \
    ROW(7,    1,       META_BROKER_SETTINGS_CHANGED, broker_settings_changed) \
    ROW(8,    1,       META_PARTITIONS_ADDED,     partitions_added) \
    ROW(9,    1,       META_RESOURCE_SETTINGS_CHANGED, resource_settings_changed)
/* clang-format on */

enum meta_command_kind {
#define META_COMMAND_ENUM(kind, version, name, stem) name = kind,
    META_COMMAND_TABLE(META_COMMAND_ENUM)
#undef META_COMMAND_ENUM
};

/* The first command of a cluster: 2 cluster id. */
struct meta_bootstrap {
    struct str cluster_id; /* 1 to 63 characters. */
};

/* A broker begins a life. Its incarnation is the index of this command. In this order: id, rack
 * (may be null), fenced, page_cache_survived, directory id, endpoints (listener, host, port in
 * two bytes). */
struct meta_register_broker {
    struct meta_broker broker; /* Without incarnation. */
    struct uuid directory_id;
    bool page_cache_survived;
};

/* In this order: id, name, partitions (leader, leader epoch, partition epoch, replicas, isr),
 * settings (name, value). */
struct meta_topic_created {
    struct meta_topic topic;
};

struct meta_topic_deleted {
    struct uuid id;
};

/* The next `count` producer ids are the broker's. */
struct meta_producer_ids_taken {
    int32_t broker;
    int32_t count;
};

/* A topic has partitions from `first` on that it did not have. Those that it has by now, since another
 * such command came first, are skipped; but not if a client chose the brokers. In this order: id, first,
 * is_by_hand, partitions as above. */
struct meta_partitions_added {
    struct uuid topic_id;
    int32_t first;
    bool is_by_hand;
    const struct meta_partition *partitions;
    unsigned count;
};

/* In this order: id, replaces, changes (name, op in one byte, value and list, which may be null). */
struct meta_topic_settings_changed {
    struct uuid id;
    struct meta_settings_change change;
};

/* The same of a broker: its id, or -1 for all. */
struct meta_broker_settings_changed {
    int32_t broker;
    struct meta_settings_change change;
};

/* The same of a group or of another resource: its type in one byte, its name. */
struct meta_resource_settings_changed {
    enum meta_resource_type type;
    const char *name;
    struct meta_settings_change change;
};

struct meta_command {
    enum meta_command_kind kind;
    union {
#define META_COMMAND_FIELD(kind, version, name, stem) struct meta_##stem stem;
        META_COMMAND_TABLE(META_COMMAND_FIELD)
#undef META_COMMAND_FIELD
    } as;
};

#define META_CLUSTER_ID_SIZE 64 /* With the NUL. */

/* In its newest version; the buffer remembers a lack of memory. */
void meta_command_encode(const struct meta_command *command, struct buffer *out);

/* What it points to lives in the arena or in `payload`. 0, ERR_UNSUPPORTED_VERSION (kind or version
 * not known), ERR_MALFORMED, ERR_NO_MEMORY. */
int meta_command_decode(struct meta_command *command, struct bytes payload, struct arena *arena);

#endif
