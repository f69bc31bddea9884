// SPDX-License-Identifier: Apache-2.0
/* A fetch on its way. fetch_parts.c finds its partitions, fetch.c lets it read and
 * wait, fetch_answer.c makes its answer; nobody else knows it. */

#ifndef API_FETCH_CALL_H
#define API_FETCH_CALL_H

#include "api.h"
#include "fetch_session.h"
#include "partition_read.h"

struct fetch_part {
    int err;                     /* Found before any partition was asked: topic, index, … */
    struct fetch_part *again_of; /* By rule 6 in fetch.c. */
    const struct uuid *topic_id; /* In the call's arena or the request, as the next. */
    const struct str *topic;
    struct session_partition *cached; /* By rule 5. */
    struct partition *partition;      /* NULL: nothing is read. */
    struct partition_read read;
    struct waiter waiter;
    int32_t max_bytes;
    struct fetch_response_partition *answer;
};

enum fetch_state { FETCH_ON_LOOP, FETCH_ON_POOL, FETCH_WAITING, FETCH_FINISHED };

struct fetch_call {
    struct call *call; /* NULL once it has ended. */
    struct api_loop *loop;
    const struct fetch_request *request; /* In the call's arena. */
    struct fetch_session *session;       /* With a reference; NULL: it stands for itself. */
    bool is_follower;

    enum fetch_state state;
    bool may_wait;          /* The deadline has not come and the client is there. */
    uint64_t waiting_bytes; /* By rule 4, while it waits. */
    int64_t max_bytes, min_bytes;
    struct timer deadline;
    struct message wake; /* From partitions. */
    struct job job;
    struct message evaluated; /* From the pool. */
    unsigned part_count;
    struct fetch_part *parts;
    struct fetch_response response;
};

/* Makes the parts of a request that stands for itself, or of its session, which is locked: finds the
 * partitions, by rule 6 each once. 0 or ERR_NO_MEMORY. */
int fetch_parts_requested(struct fetch_call *fetch);
int fetch_parts_of_session(struct fetch_call *fetch);

/* Fills in the response from what was read. The slices go to the call. 0 or ERR_NO_MEMORY. */
int fetch_build_response(struct fetch_call *fetch);

#endif
