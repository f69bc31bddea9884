// SPDX-License-Identifier: Apache-2.0
/* One node of the quorum: the core, with the disk that it writes to and the state that it agrees on.
 *
 *    a message, time, commands, a flush that is done  -->  meta_core
 *    vote file, log, messages, committed entries      <--  meta_core, in the order that it gives
 *
 *  (1) No thread, no loop, no socket in here: clock, disk, who runs what may wait for the disk, the
 *      way back from there and the way to other nodes are the owner's. meta_quorum is one owner, on
 *      a thread of its own; the simulator (tests/meta) is another, with the same objects.
 *  (2) After a failure (meta_node_failed()) the node does nothing more, and the process must end: a
 *      failed write or fsync, an unknown command, lack of memory (DESIGN 7.1, 7.2).
 *
 * One thread, the owner's. Calls block on the disk for votes and appends. */

#ifndef META_NODE_H
#define META_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "data_dir.h"
#include "job.h"
#include "message.h"
#include "meta_apply.h"
#include "meta_core.h"
#include "meta_members.h"

struct meta_node;

/* What the node tells. Only `moved` may call back; the others may ask. */
struct meta_node_owner {
    /* To another node. May drop it. Borrows the message. */
    void (*send)(struct meta_node_owner *owner, const struct meta_message *message);

    /* A committed entry is in the state, and what it changed in meta_node_changes(). Each once, in
     * order. Borrows the entry; may take the outcome's topic. */
    void (*applied)(struct meta_node_owner *owner, int64_t index, const struct meta_entry *entry,
                    struct meta_outcome *outcome);

    /* Role, term or leader is another one. */
    void (*role_changed)(struct meta_node_owner *owner);

    /* What ran beside the owner's thread came back, and the node went on with it, or failed. */
    void (*moved)(struct meta_node_owner *owner);

    /* The state is a snapshot's: at the start of one that has any, and when another node sent one. What
     * that changes is in meta_node_changes(), and at the start the topics that are gone, whose folders
     * may still be there (DESIGN 8.5). */
    void (*restored)(struct meta_node_owner *owner);
};

struct meta_node_options {
    struct data_dir *dir;    /* Holds __sluice_metadata-0 and quorum-state. */
    struct executor *disk;   /* Where fsyncs of the metadata log run … */
    struct mailbox *mailbox; /* … and how they come back to the owner's thread. */
    struct clock *clock;
    struct meta_node_owner *owner;
    int32_t node_id;
    int32_t election_timeout_ms;
    int32_t heartbeat_ms;
    uint32_t seed;          /* Of the election timeouts. */
    uint32_t rules_off;     /* 0, but in tests (meta_core.h). */
    int64_t snapshot_bytes; /* A snapshot is taken after this much log; 0: the usual; and … */
    int64_t snapshot_interval_ms; /* … so long after the first entry that none covers; 0: never. */
    uint64_t hash_key[2];         /* Of the state's tables. */
    /* Of a new folder; borrowed during the open. */
    const struct meta_members *members; /* NULL: this node alone; of none: it waits until the leader
                                         * of the cluster takes it in. */
    const char *cluster_id;             /* NULL: a random one. */
};

/* Recovers log, term and vote from the disk, or makes a new folder. Refuses one of another node.
 * Tells the owner nothing yet. `why` gets a sentence on failure. Blocks. 0 or an err. */
int meta_node_open(struct meta_node **node, const struct meta_node_options *options, char *why,
                   size_t why_size);

/* `restored`, if there is a snapshot, then the core's first step. 0, or why the node has failed. */
int meta_node_start(struct meta_node *node);

/* Flushes, and notes what the next start need not look at again. Nothing may be running beside. */
void meta_node_leave(struct meta_node *node);

/* Frees; does not flush. Nothing may be running beside. NULL is fine. */
void meta_node_close(struct meta_node *node);

/* Is something running beside the owner's thread? `moved` will tell when it no longer is. */
bool meta_node_is_busy(const struct meta_node *node);

/* Events. Those that return nothing may fail the node. */
void meta_node_tick(struct meta_node *node);
void meta_node_receive(struct meta_node *node, const struct meta_message *message);

/* meta_core_change_members(), meta_core_transfer(), meta_core_snapshot_sending(). */
int meta_node_change_members(struct meta_node *node, const struct meta_members *members,
                             int64_t *index);
int meta_node_transfer(struct meta_node *node, int32_t to);
void meta_node_snapshot_sending(struct meta_node *node, int32_t to, bool is_sending);

/* meta_core_submit(). */
int meta_node_submit(struct meta_node *node, struct meta_entry *entries, unsigned count,
                     int64_t *first_index);

int meta_node_failed(const struct meta_node *node); /* 0, or why. */

/* The sentence for a failure of the node. */
void meta_node_explain(const struct meta_node *node, int err, char *why, size_t why_size);

/* When meta_node_tick() has something to do next; INT64_MAX: never. On the clock's monotonic time. */
int64_t meta_node_deadline_ms(const struct meta_node *node);

/* Questions. What is returned is the node's. */
const struct meta_core *meta_node_core(const struct meta_node *node);
const struct meta_state *meta_node_state(const struct meta_node *node);
int64_t meta_node_now_ms(const struct meta_node *node);

/* Entries of the log, as meta_log_read(). Not what is below the first or above the last index. */
int meta_node_read(struct meta_node *node, int64_t first_index, unsigned count,
                   struct meta_entry *entries, struct arena *arena);

/* Changes of topics since the owner last cleared them. */
struct meta_changes *meta_node_changes(struct meta_node *node);

#endif
