// SPDX-License-Identifier: Apache-2.0
/* Finds what a request names more than once, in time that grows with the request only. */

#ifndef API_REPEATS_H
#define API_REPEATS_H

#include <stdbool.h>
#include <stddef.h>

#include "map.h"

/* Notes for one key; each member lives as long as the repeats. */
struct repeat {
    bool is_first;        /* No equal key came before. */
    bool is_repeated;     /* An equal key came before, or came later. */
    struct repeat *first; /* The note of the first equal key; of itself, where that is it. */
};

struct repeats {
    struct map first; /* Key → the first one's struct repeat. */
};

void repeats_init(struct repeats *repeats);
void repeats_close(struct repeats *repeats);

/* 0 or ERR_NO_MEMORY. Sets *repeat, and the first one's is_repeated if this is not the first. */
int repeats_note(struct repeats *repeats, const void *key, size_t length, struct repeat *repeat);

#endif
