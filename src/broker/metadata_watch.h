// SPDX-License-Identifier: Apache-2.0
/* Turns what the quorum decides into partitions that this broker hosts. */

#ifndef BROKER_METADATA_WATCH_H
#define BROKER_METADATA_WATCH_H

#include "meta_quorum.h"
#include "partition_set.h"

struct metadata_watch {
    struct meta_watcher watcher; /* Hand this to the quorum. */
    struct partition_set *partitions;
    int32_t node_id;
    const struct meta_setting *topic_defaults;
    unsigned topic_default_count;
    struct loop *loop; /* Where `ready` is called. */
    void (*ready)(struct metadata_watch *watch);
    struct message message; /* The watch's: tells the loop. */
};

/* Fills in what the watch needs for itself; the fields above `message` are the caller's. */
void metadata_watch_init(struct metadata_watch *watch);

#endif
