// SPDX-License-Identifier: Apache-2.0
/* What the files of meta_node share: meta_node.c has events and the start, meta_node_snapshot.c
 * snapshots. */

#ifndef META_NODE_IMPL_H
#define META_NODE_IMPL_H

#include "list.h"
#include "meta_log.h"
#include "meta_node.h"
#include "meta_snapshot.h"
#include "meta_vote.h"

/* A snapshot that is being taken: what the job reads is its own until `done` is delivered. */
struct node_taking {
    struct job job;
    struct message done;
    bool is_running;
    struct meta_state state;
    struct meta_core_snapshot at;
    struct buffer members; /* What `at` points to. */
    struct meta_changes gone;
    int err;
};

struct meta_node {
    struct meta_node_options options;
    struct meta_core *core;
    struct meta_core_io io;
    struct meta_log *log;
    struct meta_log_flusher flusher;
    struct meta_vote vote;
    struct meta_state state;
    struct meta_changes changes;
    int failed;        /* 0, or why, where the core does not know it. */
    char failure[256]; /* A better sentence than the error's own, or "". */

    struct meta_core_snapshot
        snapshot; /* The newest on the disk; index 0: none. At the start only its
                                         * members are there, in snapshot_members. */
    struct buffer snapshot_members;
    struct meta_changes gone;       /* Deleted since that one, … */
    struct meta_changes gone_older; /* … and since the one before, in this life. */
    int64_t bytes_since;            /* Of log, since a snapshot was taken or tried; … */
    int64_t uncovered_since_ms;     /* … and since when there are any. */
    struct node_taking taking;

    /* A snapshot that another node sent, until the core takes it or leaves it. */
    struct meta_state incoming;
    struct meta_changes incoming_gone;
    bool has_incoming;
};

static inline struct meta_node *node_of_io(struct meta_core_io *io)
{
    return LIST_OWNER(io, struct meta_node, io);
}

int meta_node_check_cluster(struct meta_node *node);

void node_init_snapshots(struct meta_node *node);
void node_close_snapshots(struct meta_node *node);

/* At the open, after the log: the newest snapshot that is whole and that the log goes on from. */
int node_load_snapshot(struct meta_node *node, char *why, size_t why_size);

/* At the start, before the core's: what was loaded. */
int node_tell_loaded(struct meta_node *node, struct meta_members *members);

/* An entry is in the state; what it changed are the changes from `known` on. */
int node_note_applied(struct meta_node *node, const struct meta_entry *entry, unsigned known);

/* Takes one if it is time. */
void node_consider_snapshot(struct meta_node *node);

/* When the next one is due however little there is to cover; INT64_MAX: not before something else happens. */
int64_t node_snapshot_due_ms(const struct meta_node *node);

void node_receive_snapshot(struct meta_node *node, const struct meta_message *message);

/* The core's orders. */
void node_send_message(struct meta_core_io *io, const struct meta_message *message);
int node_install_snapshot(struct meta_core_io *io, const struct meta_message *message);

#endif
