// SPDX-License-Identifier: Apache-2.0
/* A Produce request on its way, for produce.c, which runs it, and produce_answer.c, which tells how it ended. */

#ifndef API_PRODUCE_CALL_H
#define API_PRODUCE_CALL_H

#include "api.h"
#include "partition_append.h"
#include "produce.h"

#define TOPIC_IDS_SINCE 13 /* KIP-516 */

struct produce_part {
    struct append append;
    struct produce_call *produce;
    struct produce_response_partition *answer; /* NULL: it is named again, which is what counts. */
    bool is_open;                              /* An append without its answer yet. */
};

struct produce_call {
    struct list node; /* The loop's: calls of this burst, then those that wait for the pool. */
    struct call *call;
    struct call *deferred; /* A later one of the connection, not handled before this has ended. */
    struct api_loop *loop;
    int16_t acks;
    int32_t leader_hint; /* A leader that the answer should tell the address of; -1: none. */
    unsigned part_count, open_count;
    bool is_detached;
    int32_t timeout_ms;
    struct timer deadline; /* For acknowledgements that have to wait (DESIGN 5.3). */
    struct produce_part *parts;
    struct produce_response response;
};

/* Where each partition's answer will be; parts that are not answered have none. `topics` and `answers` have
 * room for all that the request names. False: out of memory. */
bool produce_answer_shape(struct produce_call *produce, const struct produce_request *request,
                          struct produce_response_topic *topics,
                          struct produce_response_partition *answers);

/* Nothing was appended. `why` is static, or NULL. */
void produce_answer_error(struct produce_part *part, int err, const char *why);

/* KIP-951: who leads now, for clients that can be told. */
void produce_answer_leader(struct produce_part *part, int32_t leader, int32_t leader_epoch);

/* The append has ended. */
void produce_answer_append(struct produce_part *part);

#endif
