// SPDX-License-Identifier: Apache-2.0
/* Turns what the quorum decides into partitions that this broker hosts. */

#ifndef BROKER_METADATA_WATCH_H
#define BROKER_METADATA_WATCH_H

#include "meta_quorum.h"
#include "partition_set.h"

/* The exit code of a node whose metadata log, or the folder that holds it, failed: restarting it by itself
 * would not help. */
#define EXIT_METADATA_FAILED 3

struct metadata_watch {
    struct meta_watcher watcher; /* Hand this to the quorum. */
    struct partition_set *partitions;
    int32_t node_id;
    const struct meta_setting *topic_defaults;
    unsigned topic_default_count;
    /* What was set on brokers at run time is this from now on. On the meta thread. */
    void (*settings_changed)(struct metadata_watch *watch, const struct meta_view *view);
    struct loop *loop; /* Where `ready` is called. */
    void (*ready)(struct metadata_watch *watch);
    struct message message; /* The watch's: tells the loop. */
};

/* Fills in what the watch needs for itself; the fields above `message` are the caller's. */
void metadata_watch_init(struct metadata_watch *watch);

#endif
