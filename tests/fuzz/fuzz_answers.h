// SPDX-License-Identifier: Apache-2.0
/* What a broker owes a client for the bytes that it sent, and whether what came is that.
 *
 *  (1) A request that can be decoded is answered, in its version, once, in its turn, with its correlation
 *      id. With acks=0 it is not, and an error ends the connection.
 *  (2) Anything else ends the connection, after the answers to what came before.
 *  (3) An answer decodes, nothing of it is left over, and it is not longer than it may be.
 *  (4) Records come as whole batches as they were accepted, at ascending offsets. */

#ifndef TESTS_FUZZ_ANSWERS_H
#define TESTS_FUZZ_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

#define FUZZ_OWED_MAX 512

enum fuzz_owed_kind {
    FUZZ_OWED_ANSWER,
    FUZZ_OWED_NOTHING, /* Or, after an error, the end. */
    FUZZ_OWED_END,
    FUZZ_OWED_ANSWER_OR_END /* Both are right: just as much memory as a request may have. */
};

struct fuzz_owed {
    enum fuzz_owed_kind kind;
    int16_t api_key, api_version;
    int32_t correlation_id;
    int32_t request_bytes;
};

/* One connection's, oldest first. */
struct fuzz_debts {
    struct fuzz_owed owed[FUZZ_OWED_MAX];
    unsigned count;
};

/* A frame (without its length) is sent. False: no more of them now. */
bool fuzz_debts_add(struct fuzz_debts *debts, struct bytes frame);

/* An answer has come. Ends the program unless it is owed and good. Sets *session_id to that of a fetch that
 * opened a session or was within one (or to 0). */
void fuzz_debts_pay(struct fuzz_debts *debts, struct bytes answer, int32_t *session_id);

/* Is something owed that has to come? */
bool fuzz_debts_are_open(const struct fuzz_debts *debts);

/* Does a request wait that only the quorum can answer, whatever the time? */
bool fuzz_debts_wait_for_quorum(const struct fuzz_debts *debts);

/* May the connection end now? */
bool fuzz_debts_may_end(const struct fuzz_debts *debts);

#endif
