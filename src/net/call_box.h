// SPDX-License-Identifier: Apache-2.0
/* A call with what the net layer keeps beside it: the frame's memory and how far the reply is sent.
 *
 *                      call_reply                 all of it sent, or dropped
 *    CALL_OPEN ------------------------> CALL_READY ---------------------------> spare
 *        |  call_end_silently
 *        +-------------------------------------------------------------------------^
 *        |  call_refuse                      all before it sent: the connection closes
 *        +-----------------> CALL_REFUSED -----------------------------------------^   */

#ifndef NET_CALL_BOX_H
#define NET_CALL_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "job.h"
#include "list.h"
#include "loop.h"
#include "memory_budget.h"

struct net_loop;

enum call_state { CALL_OPEN, CALL_READY, CALL_SILENT, CALL_REFUSED };

/* Most requests are decoded within this without taking memory from the heap. */
#define CALL_INITIAL_ARENA_BYTES 1280u

/* A request may take this much beside its frame for what is decoded and built. A message whose
 * structs need more was made to need it. */
#define CALL_ARENA_BYTES_MAX (64u * 1024 * 1024)

/* How far a reply is sent: the length, then bytes and slices by turns. */
struct reply_position {
    size_t memory_sent;     /* Of the length and the encoder's bytes. */
    unsigned splice_at;     /* The next slice. */
    uint64_t slice_sent;    /* Of that slice. */
    uint64_t slice_warm_to; /* Of that slice: known to be in the page cache. */
};

struct call_box {
    struct call call;
    struct connection *home; /* Kept until the call has ended; call.connection is not. */
    uint8_t *memory;         /* The frame, if it is not borrowed; the loop's frame pool's. */
    bool is_kept;            /* The frame stays valid until the call ends. */
    bool is_warming;         /* The job runs; it needs the slice, so the call waits for it. */
    enum memory_share share; /* Where call.frame_reserved came from. */
    uint64_t burst;          /* In which it was handed over. */
    uint64_t unsent_bytes;   /* Counted in the loop's, from the reply on. */

    uint8_t length[4]; /* Goes before the reply. */
    struct reply_position position;
    uint64_t warm_from, warm_to; /* Of the slice being sent: the job's task. */
    int warm_error;
    struct job warm;
    struct message warmed;

    max_align_t initial_arena[CALL_INITIAL_ARENA_BYTES / sizeof(max_align_t)];
};

/* What a suspended call costs beside its frame; counted in the memory budget with it. */
#define CALL_BOX_BYTES ((uint64_t)sizeof(struct call_box))

static inline struct call_box *call_box_of(struct call *call)
{
    return LIST_OWNER(call, struct call_box, call);
}

static inline struct call_box *call_box_at(struct list *node)
{
    return LIST_OWNER(node, struct call_box, call.node);
}

/* A new call of `connection`, last in its line. NULL when out of memory. */
struct call_box *call_box_take(struct connection *connection);

/* The request is done with: its frame, its bytes in the budget and, unless slices lie in it, the
 * arena. */
void call_box_settle(struct call_box *box);

/* Everything of it goes, in whatever state; it leaves its connection's line. */
void call_box_finish(struct call_box *box);

void call_box_free_spares(struct net_loop *net_loop);

#endif
