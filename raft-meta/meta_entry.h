// SPDX-License-Identifier: Apache-2.0
/* What the metadata log holds, and what raft nodes tell each other: our own types, free of
 * libraft's.
 *
 * An entry's index is its offset in the log; the first is 1. Nodes are named by their node id,
 * which may be 0; -1 means nobody. */

#ifndef META_ENTRY_H
#define META_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "uuid.h"

#define META_NOBODY (-1)

#define META_MAX_INDEX (INT64_MAX / 4) /* Far below where arithmetic overflows, above any log. */
#define META_MAX_TERM  INT32_MAX       /* A term is a leader epoch in the log (DESIGN 7.1). */

enum meta_entry_type {
    META_ENTRY_COMMAND = 1, /* meta_command.h */
    META_ENTRY_BARRIER = 2, /* A new leader's first; no payload. */
    META_ENTRY_MEMBERS = 3, /* meta_members.h */
};

/* The log refuses more: no command that the controller makes comes near. */
#define META_ENTRY_MAX_SIZE (16 << 20)

struct meta_entry {
    int64_t term;
    enum meta_entry_type type;
    struct bytes payload; /* Borrowed. */
};

#define META_MESSAGE_MAX_ENTRIES 4096

enum meta_message_type {
    META_MESSAGE_APPEND = 1,
    META_MESSAGE_APPEND_RESULT,
    META_MESSAGE_VOTE,
    META_MESSAGE_VOTE_RESULT,
    META_MESSAGE_TIMEOUT_NOW,
    META_MESSAGE_SNAPSHOT, /* Answered with META_MESSAGE_APPEND_RESULT. */
};

/* A raft message on its way from one node to another. */
struct meta_message {
    enum meta_message_type type;
    int32_t from;
    int32_t to;
    int64_t term;
    struct uuid directory_id; /* Of the disk that holds the sender's log (DESIGN 7.6). */
    union {
        struct {
            int64_t previous_index;
            int64_t previous_term;
            int64_t leader_commit;
            const struct meta_entry *entries;
            unsigned entry_count;
        } append;
        struct {
            int64_t rejected; /* The index that did not fit; 0: it worked. */
            int64_t last_index;
        } append_result;
        struct {
            int32_t candidate;
            int64_t last_index;
            int64_t last_term;
            bool disrupt_leader;
            bool is_pre_vote;
        } vote;
        struct {
            bool is_granted;
            bool is_pre_vote;
        } vote_result;
        struct {
            int64_t last_index;
            int64_t last_term;
        } timeout_now;
        struct {
            int64_t index; /* All entries up to it are in the snapshot. */
            int64_t last_term;
            int64_t members_index; /* Of the newest members up to there … */
            struct bytes members;  /* … and their payload (meta_members.h). */
            /* The state (meta_snapshot.h). The core neither sets nor reads it: who carries the
             * message adds it, and may bring it over in pieces before. */
            struct bytes image;
        } snapshot;
    } as;
};

/* Is it a message that an honest node could send? Looks only at its arguments. Nothing else may
 * reach the core, which answers nonsense with an assert. 0 or ERR_MALFORMED. */
int meta_message_check(const struct meta_message *message);

#endif
