// SPDX-License-Identifier: Apache-2.0
/* The two newest members entries of the log, with their payloads.
 *
 * At most one is not committed: a second one is appended only after the first was. So when the log
 * is cut and the newest goes, the one before it is in force again, and was agreed. */

#ifndef MEMBER_HISTORY_H
#define MEMBER_HISTORY_H

#include <stdint.h>

#include "buffer.h"
#include "bytes.h"

struct member_record {
    int64_t index; /* 0: there is none. */
    struct buffer payload;
};

struct member_history {
    struct member_record newest;
    struct member_record previous;
};

void member_history_init(struct member_history *history);
void member_history_close(struct member_history *history);

/* The entry at `index`; no news if that is not above the newest. Copies. 0 or ERR_NO_MEMORY. */
int member_history_add(struct member_history *history, int64_t index, struct bytes payload);

/* The log is cut: nothing at or above `index` is left. */
void member_history_truncate(struct member_history *history, int64_t index);

/* Nothing is left but this one: a snapshot's. 0 or ERR_NO_MEMORY. */
int member_history_restart(struct member_history *history, int64_t index, struct bytes payload);

/* The newest at or below `index`; NULL: it is not known. */
const struct member_record *member_history_at(const struct member_history *history, int64_t index);

struct bytes member_record_payload(const struct member_record *record);

#endif
