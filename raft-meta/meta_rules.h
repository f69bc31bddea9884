// SPDX-License-Identifier: Apache-2.0
/* The rules on messages and members that libraft's defects ask for, as far as they look only at
 * their arguments. docs/metadata.md has the table of all of them; meta_core.c says when each is
 * applied, and keeps those that need libraft's state. */

#ifndef META_RULES_H
#define META_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "meta_entry.h"
#include "meta_members.h"

/* R1: an append that begins below what we have committed is taken to begin there. Every later leader
 * has all that was committed, so nothing is left unchecked. */
void meta_rules_anchor(struct meta_message *append, int64_t commit_index, int64_t commit_term);

/* How many of the entries, at least one, go into one step: R6a. A configuration that is not the first
 * would be remembered under the index of the first. */
unsigned meta_rules_run(const struct meta_entry *entries, unsigned count);

/* R2: a rejection that is late or repeated becomes a success that tells nothing; libraft would set
 * what it sends next below what it knows to be there. */
void meta_rules_forgive(struct meta_message *append_result, int64_t match_index);

/* What a snapshot or an append comes to while we cannot or need not take it: the leader lives, and its
 * log is ours up to `index`. */
struct meta_message meta_rules_heartbeat(const struct meta_message *message, int64_t index,
                                         int64_t term);

/* May `after` come in the place of `before`? One server at a time (R6b). Three voters stay once they are
 * there, and two while it grows (R7a); the leader stays one (R7b). The disk of a member is named
 * once. `rules_off`: meta_core.h. 0, ERR_INVALID_REQUEST. */
int meta_rules_check_change(const struct meta_members *before, const struct meta_members *after,
                            int32_t leader, uint32_t rules_off);

#endif
