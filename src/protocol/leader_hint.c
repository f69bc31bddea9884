// SPDX-License-Identifier: Apache-2.0
#include "leader_hint.h"

#include "field_macros.h"

/* In every version: the field that holds one of these says in which versions it is there. */

/* clang-format off */

#define OWNER struct leader_id_and_epoch
static const struct field leader_id_and_epoch_fields[] = {
    FIELD(leader_id,    "leaderId",    0, INT16_MAX, INT32, DEFAULT(-1)),
    FIELD(leader_epoch, "leaderEpoch", 0, INT16_MAX, INT32, DEFAULT(-1)),
};
#undef OWNER
const struct shape leader_id_and_epoch_shape = SHAPE(leader_id_and_epoch);

#define OWNER struct node_endpoint
static const struct field node_endpoint_fields[] = {
    FIELD(node_id, "nodeId", 0, INT16_MAX, INT32),
    FIELD(host,    "host",   0, INT16_MAX, STRING),
    FIELD(port,    "port",   0, INT16_MAX, INT32),
    FIELD(rack,    "rack",   0, INT16_MAX, STRING, NULLABLE(0, INT16_MAX), DEFAULT_NULL),
};
#undef OWNER
const struct shape node_endpoint_shape = SHAPE(node_endpoint);
