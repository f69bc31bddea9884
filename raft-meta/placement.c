// SPDX-License-Identifier: Apache-2.0
#include "placement.h"

int32_t placement_broker(const int32_t *live_brokers, unsigned count, uint32_t partition,
                         uint32_t replica)
{
    return live_brokers[((uint64_t)partition + replica) % count];
}
