// SPDX-License-Identifier: Apache-2.0
/* Nodes of a quorum without disk, network or clock: each has a log in memory, what it sends waits
 * in one queue until the test delivers it, what it writes waits until the test says that it is
 * durable. */

#ifndef CORE_FIXTURE_H
#define CORE_FIXTURE_H

#include "meta_core.h"

#define CORE_NODES         5
#define CORE_ENTRIES       64
#define CORE_MEMBERS_BYTES 256
#define CORE_ELECTION_MS   300
#define CORE_HEARTBEAT_MS  40

struct core_node {
    struct meta_core_io io;
    struct meta_core *core;
    int32_t id;
    int64_t term;
    int32_t voted_for;
    int64_t first_index, last_index;
    struct meta_entry
        log[CORE_ENTRIES]; /* [0] is the entry at first_index; payloads static or owned. */
    uint64_t newest_write;
    unsigned applied;
    unsigned role_changes;
    unsigned installs;
    struct uuid directory_id;
    struct meta_core_snapshot snapshot; /* The newest; index 0: none. */
    uint8_t snapshot_members[CORE_MEMBERS_BYTES];
};

struct core_message {
    struct meta_message message;
    struct meta_entry entries[CORE_ENTRIES];
    uint8_t members[CORE_MEMBERS_BYTES];
};

struct cores {
    struct core_node nodes[CORE_NODES];
    unsigned count;
    struct core_message queue[256];
    unsigned queued;
    int64_t now_ms;
    uint32_t rules_off;    /* Of those that are started from now on. */
    bool installs_by_hand; /* cores_settle() does not do it. */
};

/* `count` nodes 0 .. count-1, of which the first `voters` vote; with entry 1, started. */
void cores_open(struct cores *cores, unsigned count, unsigned voters);
void cores_close(struct cores *cores);

/* Starts node `id` with what its disk holds. */
void cores_start(struct cores *cores, int32_t id);
void cores_crash(struct cores *cores, int32_t id);

/* The payload of a MEMBERS entry: nodes 0 .. count-1, the first `voters` vote. Lives as long. */
struct bytes cores_members(unsigned count, unsigned voters);

/* Delivers everything, makes everything durable, until nothing moves. */
void cores_settle(struct cores *cores);
void cores_drop_all(struct cores *cores);
void cores_deliver(struct cores *cores, const struct meta_message *message);

/* Everything that `id` wrote is durable. */
void cores_persist(struct cores *cores, int32_t id);

void cores_tick(struct cores *cores, int32_t id); /* At its deadline. */

/* Makes `id` the leader, and settles. */
void cores_elect(struct cores *cores, int32_t id);

/* A snapshot of all that `id` has applied, after which its log begins at `first_index`. */
void cores_take_snapshot(struct cores *cores, int32_t id, int64_t first_index);

/* The snapshot that `id` was told to install is in place. */
void cores_finish_install(struct cores *cores, int32_t id);

/* Appends a command on a leader; its index. */
int64_t cores_submit(struct cores *cores, int32_t id);

/* The newest message that `id` sent, which must be of that type. */
const struct meta_message *cores_sent(const struct cores *cores, int32_t id,
                                      enum meta_message_type type);
unsigned cores_sent_count(const struct cores *cores, int32_t id, enum meta_message_type type);

#endif
