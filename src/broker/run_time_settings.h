// SPDX-License-Identifier: Apache-2.0
/* Settings of the broker itself that can be changed while it runs, and whom they concern. What topics get
 * by default is not among them: topic_config.h. */

#ifndef BROKER_RUN_TIME_SETTINGS_H
#define BROKER_RUN_TIME_SETTINGS_H

#include "config_rows.h"
#include "net.h"
#include "partition_set.h"

struct run_time_settings {
    const struct broker_config *config;
    int32_t node_id;
    struct net *net;
    struct partition_set *partitions;
};

/* Is it one of them? */
bool run_time_settings_has(const char *name);

/* May it be changed to this value, which is of its type and in its range? */
bool run_time_settings_takes(const char *name, const char *value);

/* All of them are as the view says from now on. Any thread, one at a time. */
void run_time_settings_apply(const struct run_time_settings *settings,
                             const struct meta_view *view);

#endif
