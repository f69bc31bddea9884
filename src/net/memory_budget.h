// SPDX-License-Identifier: Apache-2.0
/* How much memory requests may take in total (DESIGN 2.4).
 *
 *  (1) A frame's bytes are taken before its body is read, first come, first served. Who does not
 *      fit waits in a line, holding nothing.
 *  (2) There is a share for small frames, one for those of a usual produce, and the rest. A frame takes from its
 *      own first, then from those of larger ones, each only if nobody waits there; never from those of
 *      smaller ones. So large half-read frames cannot starve the others.
 *  (3) A frame that is larger than all the rest is counted as all the rest: it is served when it is alone.
 *  (4) What is in memory already (a frame that a call keeps) is charged without waiting, so the
 *      budget may be overdrawn, by what the loops have in their hands. memory_budget_is_tight()
 *      tells readers not to take into their hands what may not fit.
 *  (5) Who waits may have been charged by (4) before, and cannot give that back before it is served. When
 *      nothing else of the rest is in use the first in line is served, even if the budget is then overdrawn:
 *      otherwise all would wait for each other, or one for itself. Any thread. */

#ifndef NET_MEMORY_BUDGET_H
#define NET_MEMORY_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "loop.h"

#define MEMORY_SMALL_FRAME_BYTES (16u * 1024)
/* What producers send at most by default (1 MiB with Java's, 1 MB with librdkafka), and its header. */
#define MEMORY_USUAL_FRAME_BYTES ((1024u + 64) * 1024)
#define MEMORY_SMALL_SHARE       16 /* One sixteenth. */
#define MEMORY_USUAL_SHARE       4

enum memory_share { MEMORY_SMALL, MEMORY_USUAL, MEMORY_LARGE, MEMORY_SHARES };

struct memory_pool {
    uint64_t size;
    uint64_t used;       /* Above `size` when overdrawn, (4). */
    struct list waiting; /* struct memory_wait, oldest first. */
    atomic_uint waiting_count;
};

struct memory_budget {
    pthread_mutex_t lock;
    struct memory_pool pools[MEMORY_SHARES];
    uint64_t waiting_bytes;
    uint64_t beside;      /* By (5), of all who wait; part of the large pool's `used`. */
    uint64_t tight_below; /* Free bytes under which reading gets careful. */
    atomic_bool is_tight;
};

/* Bytes that somebody holds. */
struct memory_grant {
    uint64_t bytes;
    enum memory_share share; /* Whose pool they came from. */
};

/* A place in the line, embedded in its owner. */
struct memory_wait {
    struct list node;
    struct memory_grant grant; /* What is wished for; once granted, what is held. */
    uint64_t beside;           /* By (5), while it is queued. */
    struct loop *loop;         /* Where `granted` is delivered. */
    struct message granted;
    bool is_queued; /* Under the budget's lock. */
};

/* `tight_below`: the most that a reader takes from a socket without asking. 0 or ERR_NO_MEMORY. */
int memory_budget_open(struct memory_budget *budget, uint64_t total_bytes, uint64_t tight_below);
void memory_budget_close(struct memory_budget *budget); /* Nobody may wait any more. */

void memory_wait_init(struct memory_wait *wait, struct loop *loop,
                      void (*granted)(struct message *message));

/* True: wait->grant is held now. False: it stands in line, and will be held when `granted` is
 * delivered. */
bool memory_budget_take(struct memory_budget *budget, uint64_t bytes, enum memory_share share,
                        struct memory_wait *wait);

/* Leaves the line. False: too late, the message is on its way and the grant is held. */
bool memory_budget_cancel(struct memory_budget *budget, struct memory_wait *wait);

/* (5) What who waits there has been charged for, all in all. If it does not wait any more, nothing. */
void memory_budget_note_beside(struct memory_budget *budget, struct memory_wait *wait,
                               const struct memory_grant *charged);

/* (4) */
void memory_budget_charge(struct memory_budget *budget, uint64_t bytes, enum memory_share share,
                          struct memory_grant *grant);

/* Gives bytes back and wakes who fits now; the grant is then empty. An empty one is fine. */
void memory_budget_give_back(struct memory_budget *budget, struct memory_grant *grant);

/* Without the lock; for the read path. */
static inline bool memory_budget_is_tight(const struct memory_budget *budget)
{
    return atomic_load_explicit(&budget->is_tight, memory_order_relaxed);
}

/* Does anybody wait who could use what this grant holds? */
static inline bool memory_budget_is_wanted(const struct memory_budget *budget,
                                           const struct memory_grant *grant)
{
    for (unsigned share = 0; share <= grant->share; share++)
        if (atomic_load_explicit(&budget->pools[share].waiting_count, memory_order_relaxed) != 0)
            return true;
    return false;
}

static inline enum memory_share memory_share_of(uint64_t frame_bytes)
{
    if (frame_bytes <= MEMORY_SMALL_FRAME_BYTES) return MEMORY_SMALL;
    return frame_bytes <= MEMORY_USUAL_FRAME_BYTES ? MEMORY_USUAL : MEMORY_LARGE;
}

void memory_budget_usage(struct memory_budget *budget, uint64_t *reserved, uint64_t *waiting);

#endif
