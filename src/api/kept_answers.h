// SPDX-License-Identifier: Apache-2.0
/* Large answers that say the same to everybody who asks the same way, encoded once for each view of the
 * metadata: whoever asks then gets the very same bytes, by reference. */

#ifndef API_KEPT_ANSWERS_H
#define API_KEPT_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "codec.h"

/* All that such an answer depends on. */
struct kept_answer_key {
    uint64_t view_version;
    unsigned listener;
    int16_t api_key, version;
    bool tells_topic_operations, tells_cluster_operations;
};

struct kept_answer;

/* Clients come in few versions. A loop's; its thread only. Zero at first. */
#define KEPT_ANSWERS_MAX 4
struct kept_answers {
    struct kept_answer *newest_first[KEPT_ANSWERS_MAX];
};

void kept_answers_close(struct kept_answers *answers);

/* NULL: there is none. Those of other views are given up. */
struct kept_answer *kept_answers_find(struct kept_answers *answers,
                                      const struct kept_answer_key *key);

/* Encodes one and keeps it in place of the oldest. It is good until the next call of this file. 0,
 * ERR_NO_MEMORY, or as message_encode(). */
int kept_answers_add(struct kept_answers *answers, const struct kept_answer_key *key,
                     const struct message_shape *shape, const void *response,
                     struct kept_answer **answer);

/* Ends the call with it; it stays until it has been sent. */
void kept_answer_reply(struct kept_answer *answer, struct call *call,
                       const struct message_shape *shape);

#endif
