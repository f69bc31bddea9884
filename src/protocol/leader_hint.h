// SPDX-License-Identifier: Apache-2.0
/* KIP-951: what tells a client that asked the wrong broker where the leader is now. */

#ifndef PROTOCOL_LEADER_HINT_H
#define PROTOCOL_LEADER_HINT_H

#include "codec.h"

struct leader_id_and_epoch {
    int32_t leader_id;
    int32_t leader_epoch;
};

struct node_endpoint {
    int32_t node_id;
    struct str host;
    int32_t port;
    struct str rack;
};

extern const struct shape leader_id_and_epoch_shape;
extern const struct shape node_endpoint_shape;

#endif
