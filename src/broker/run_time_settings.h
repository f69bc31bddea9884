// SPDX-License-Identifier: Apache-2.0
/* Settings of the broker itself that can be changed while it runs, and whom they concern. What topics get
 * by default is not among them: topic_config.h. */

#ifndef BROKER_RUN_TIME_SETTINGS_H
#define BROKER_RUN_TIME_SETTINGS_H

#include "config.h"
#include "config_rows.h"
#include "disk_pool.h"
#include "net.h"
#include "partition_set.h"

struct run_time_settings {
    const struct config *config; /* What counts at the start. */
    int32_t connections_max;     /* For more there are no descriptors. */
    struct net *net;
    struct disk_pool *pool;
    struct partition_set *partitions;
};

/* Is it one of them? */
bool run_time_settings_has(const char *name);

/* What the operator said at the start, for net_open() and partition_set_open(). */
struct net_limits run_time_settings_limits(const struct config *config, int32_t connections_max);
struct cleaner_options run_time_settings_cleaner(const struct config *config);

/* All of them are as the view says from now on. Any thread but the pool's, one at a time. */
void run_time_settings_apply(const struct run_time_settings *settings,
                             const struct meta_view *view);

#endif
