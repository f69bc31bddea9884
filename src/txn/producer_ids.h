// SPDX-License-Identifier: Apache-2.0
/* Producer ids for this broker, out of blocks that the quorum hands out: no id is given twice.
 *
 * A block that a stopped broker did not use up is lost, which is fine: there are 2^63. */

#ifndef TXN_PRODUCER_IDS_H
#define TXN_PRODUCER_IDS_H

#include "list.h"
#include "loop.h"
#include "meta_quorum.h"

#define PRODUCER_ID_BLOCK 1000

struct producer_ids;

struct producer_id_request {
    struct list node;
    struct message message;
    struct loop *loop; /* Where `done` is called; it runs until then. */
    void (*done)(struct producer_id_request *request);
    /* The answer: */
    int err;
    int64_t producer_id;
};

/* 0 or ERR_NO_MEMORY. */
int producer_ids_open(struct producer_ids **ids, struct meta_quorum *meta, struct clock *clock);

/* Nobody may wait for an id any more. NULL is fine. */
void producer_ids_close(struct producer_ids *ids);

/* Asks for one id; `done` follows in a later message on request->loop, never inside this call. Any
 * thread. */
void producer_ids_take(struct producer_ids *ids, struct producer_id_request *request);

#endif
