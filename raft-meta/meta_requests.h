// SPDX-License-Identifier: Apache-2.0
/* Requests to the quorum, from their arrival until they are answered.
 *
 *    fresh --meta_requests_build--> proposed --meta_requests_applied--> finished --_release--> done
 *      |                               |
 *      +-------- fails, deadline ------+----------------------------------> finished
 *
 * What arrives while a batch is on its way makes the next one (DESIGN 2.3). Meta thread only. */

#ifndef META_REQUESTS_H
#define META_REQUESTS_H

#include "buffer.h"
#include "controller.h"
#include "list.h"
#include "meta_apply.h"
#include "meta_entry.h"
#include "meta_quorum.h"

/* A command in the log that somebody waits for. */
struct meta_proposal {
    int64_t index;
    struct meta_request *request; /* NULL: no longer. */
    unsigned item;
};

struct meta_requests {
    struct loop *loop;
    struct list fresh;
    struct list proposed;
    struct list finished;
    struct meta_proposal *proposals; /* Ascending by index; a ring. */
    unsigned first, count, capacity;
    /* The batch that is being built. */
    struct buffer bytes;
    struct buffer sizes; /* Of one command each, size_t. */
    unsigned batch_count;
    struct meta_entry *entries;
};

void meta_requests_init(struct meta_requests *requests, struct loop *loop);
void meta_requests_close(struct meta_requests *requests); /* None may be left. */

/* A request has arrived; its deadline counts from now. `fire` is its timer's, and calls
 * meta_requests_expire(). */
void meta_requests_take(struct meta_requests *requests, struct meta_request *request,
                        void (*fire)(struct timer *timer));
bool meta_requests_has_fresh(const struct meta_requests *requests);

/* Fails those fresh requests that would make the metadata grow: topics, settings, and `also_ids` of producers. */
void meta_requests_refuse_growth(struct meta_requests *requests, bool also_ids, int err);

/* Turns all fresh requests into commands for one batch: `*entries`, until the next build. Those
 * that ask for nothing, or for what cannot be, are finished. 0 or ERR_NO_MEMORY (all fresh ones
 * failed). */
int meta_requests_build(struct meta_requests *requests, const struct controller *controller,
                        struct meta_entry **entries, unsigned *count);

/* The batch has its places in the log, from `first_index`; or `err` (then its requests fail). */
void meta_requests_submitted(struct meta_requests *requests, int64_t first_index, int err);

/* What became of the command at `index`. Takes the outcome's topic if somebody waits for it. */
void meta_requests_applied(struct meta_requests *requests, int64_t index,
                           struct meta_outcome *outcome);

/* Fails those that are not finished. */
void meta_requests_fail_all(struct meta_requests *requests, int err);
void meta_requests_expire(struct meta_requests *requests, struct meta_request *request);

/* Posts `done` of all finished ones to their loops. */
void meta_requests_release(struct meta_requests *requests);

#endif
