// SPDX-License-Identifier: Apache-2.0
/* One array with open addressing: what does not find its own slot free takes the next one. */

#include "key_offsets.h"

#include <stdbool.h>

#include "alloc.h"
#include "error.h"
#include "siphash.h"

struct slot {
    uint64_t hash[2];
    int64_t next_offset; /* Offset + 1; 0: the slot is free. */
};

struct key_offsets {
    uint64_t secret[2];
    size_t slot_count;
    size_t count, count_max;
    struct slot *slots;
};

int key_offsets_open(struct key_offsets **offsets, int64_t memory_bytes, double load_factor,
                     int64_t keys_at_most)
{
    struct key_offsets *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    size_t slots = (size_t)memory_bytes / sizeof(struct slot);
    double wanted = (double)keys_at_most / load_factor + 1;
    if (wanted < (double)slots) slots = (size_t)wanted;
    opened->slot_count = slots < 2 ? 2 : slots;
    opened->count_max = (size_t)((double)opened->slot_count * load_factor);
    if (opened->count_max < 1) opened->count_max = 1;
    /* One slot stays free: it ends every search. */
    if (opened->count_max >= opened->slot_count) opened->count_max = opened->slot_count - 1;
    siphash_random_key(opened->secret);
    opened->slots = mem_calloc(opened->slot_count, sizeof(struct slot));
    if (opened->slots == NULL) {
        mem_free(opened);
        return ERR_NO_MEMORY;
    }
    *offsets = opened;
    return 0;
}

void key_offsets_close(struct key_offsets *offsets)
{
    if (offsets == NULL) return;
    mem_free(offsets->slots);
    mem_free(offsets);
}

/* The key's slot, or the free one that it would take. */
static struct slot *find(const struct key_offsets *offsets, struct bytes key, uint64_t hash[2])
{
    siphash_128(offsets->secret, key.data, (size_t)key.length, hash);
    size_t at = (size_t)(hash[0] % offsets->slot_count);
    for (;;) {
        struct slot *slot = &offsets->slots[at];
        if (slot->next_offset == 0 || (slot->hash[0] == hash[0] && slot->hash[1] == hash[1]))
            return slot;
        at = at + 1 == offsets->slot_count ? 0 : at + 1;
    }
}

int key_offsets_put(struct key_offsets *offsets, struct bytes key, int64_t offset)
{
    uint64_t hash[2];
    struct slot *slot = find(offsets, key, hash);
    if (slot->next_offset == 0) {
        if (offsets->count == offsets->count_max) return ERR_LIMIT;
        offsets->count++;
        slot->hash[0] = hash[0];
        slot->hash[1] = hash[1];
    }
    slot->next_offset = offset + 1;
    return 0;
}

int64_t key_offsets_get(const struct key_offsets *offsets, struct bytes key)
{
    uint64_t hash[2];
    return find(offsets, key, hash)->next_offset - 1;
}

size_t key_offsets_count(const struct key_offsets *offsets)
{
    return offsets->count;
}
