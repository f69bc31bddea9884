// SPDX-License-Identifier: Apache-2.0
/* The last offset of each key of a stretch of log, in bounded memory.
 *
 * A key is kept as its 128-bit hash under a secret of the map's own, so a producer cannot make two keys
 * that are taken for one another. Compaction's; not shared between threads. */

#ifndef STORAGE_KEY_OFFSETS_H
#define STORAGE_KEY_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

struct key_offsets;

/* Takes at most `memory_bytes`, of which the share `load_factor` is filled (at least one key fits), and no
 * more than `keys_at_most` keys need. 0 or ERR_NO_MEMORY. */
int key_offsets_open(struct key_offsets **offsets, int64_t memory_bytes, double load_factor,
                     int64_t keys_at_most);
void key_offsets_close(struct key_offsets *offsets); /* NULL is fine. */

/* 0, or ERR_LIMIT if the key is new and the map is full. Offsets come ascending. */
int key_offsets_put(struct key_offsets *offsets, struct bytes key, int64_t offset);

/* -1: the key is not there. */
int64_t key_offsets_get(const struct key_offsets *offsets, struct bytes key);

size_t key_offsets_count(const struct key_offsets *offsets);

#endif
