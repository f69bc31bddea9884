// SPDX-License-Identifier: Apache-2.0
/* State + command -> state, the same on every node: no clock, no chance, no I/O (DESIGN 7.2).
 *
 * A command that no longer fits the state (another one came first) changes nothing; its outcome
 * says why, on every node alike. A command that cannot be understood, or lack of memory, is another
 * thing: the state is useless then, and the process must end. */

#ifndef META_APPLY_H
#define META_APPLY_H

#include "meta_entry.h"
#include "meta_state.h"

/* What became of one command. */
struct meta_outcome {
    int err;                  /* 0, or what the client gets; nothing changed then. */
    struct meta_topic *topic; /* Created or deleted, with a reference; otherwise NULL. */
    int64_t first_producer_id;
};

void meta_outcome_close(struct meta_outcome *outcome);

/* Changes of topics in the order in which they happened; holds references. */
struct meta_changes {
    struct meta_change *items;
    unsigned count, capacity;
};

void meta_changes_init(struct meta_changes *changes);
void meta_changes_clear(struct meta_changes *changes); /* Keeps the memory. */
void meta_changes_close(struct meta_changes *changes);

/* Takes references of its own. 0 or ERR_NO_MEMORY. */
int meta_changes_add(struct meta_changes *changes, const struct meta_topic *before,
                     const struct meta_topic *after);

/* Applies the entry at `index`, which is the one after state->index. `changes` (may be NULL) grows
 * by what changed; the outcome must be closed. 0, or why the process must end:
 * ERR_UNSUPPORTED_VERSION, ERR_MALFORMED, ERR_NO_MEMORY. */
int meta_apply(struct meta_state *state, int64_t index, const struct meta_entry *entry,
               struct meta_changes *changes, struct meta_outcome *outcome);

#endif
