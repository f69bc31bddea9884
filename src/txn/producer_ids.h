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
    struct loop *loop; /* Where `done` is called. */
    void (*done)(struct producer_id_request *request);
    /* The answer: */
    int err;
    int64_t producer_id;
};

/* `loop` is where the quorum's answers are dealt with. 0 or ERR_NO_MEMORY. */
int producer_ids_open(struct producer_ids **ids, struct meta_quorum *meta, struct clock *clock,
                      struct loop *loop);

/* After the quorum has closed, which ends what is asked for with ERR_CANCELED. NULL is fine. */
void producer_ids_close(struct producer_ids *ids);

/* Asks for one id; `done` follows in a later message on request->loop, never inside this call. Any
 * thread. */
void producer_ids_take(struct producer_ids *ids, struct producer_id_request *request);

#endif
