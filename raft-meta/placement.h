// SPDX-License-Identifier: Apache-2.0
/* Which brokers hold a new topic's partitions? */

#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stdint.h>

/* Replica `replica` of partition `partition` goes to broker (partition + replica) mod n of the live
 * ones, ascending by id: so the first replica, the preferred leader, is on broker partition mod n
 * (DESIGN 8.2). The count is above 0, and not below the number of replicas. */
int32_t placement_broker(const int32_t *live_brokers, unsigned count, uint32_t partition,
                         uint32_t replica);

#endif
