// SPDX-License-Identifier: Apache-2.0
#include "pending_writes.h"

#include "alloc.h"
#include "error.h"

void pending_writes_init(struct pending_writes *writes)
{
    *writes = (struct pending_writes){ .items = NULL };
}

void pending_writes_close(struct pending_writes *writes)
{
    mem_free(writes->items);
    pending_writes_init(writes);
}

static struct pending_write *writes_at(struct pending_writes *writes, unsigned position)
{
    return &writes->items[(writes->first + position) % writes->capacity];
}

static int writes_grow(struct pending_writes *writes)
{
    unsigned capacity = writes->capacity == 0 ? 16 : writes->capacity * 2;
    struct pending_write *items = mem_calloc(capacity, sizeof *items);
    if (items == NULL) return ERR_NO_MEMORY;
    for (unsigned i = 0; i < writes->count; i++)
        items[i] = *writes_at(writes, i);
    mem_free(writes->items);
    writes->items = items;
    writes->first = 0;
    writes->capacity = capacity;
    return 0;
}

int pending_writes_add(struct pending_writes *writes, int64_t last_index, uint64_t *number)
{
    int err = writes->count == writes->capacity ? writes_grow(writes) : 0;
    if (err != 0) return err;
    *number = ++writes->newest;
    *writes_at(writes, writes->count++) = (struct pending_write){ *number, last_index };
    return 0;
}

void pending_writes_clip(struct pending_writes *writes, int64_t index)
{
    for (unsigned i = 0; i < writes->count; i++) {
        struct pending_write *write = writes_at(writes, i);
        if (write->last_index >= index) write->last_index = index - 1;
    }
}

int64_t pending_writes_take(struct pending_writes *writes, uint64_t number)
{
    int64_t last_index = 0;
    while (writes->count > 0 && writes_at(writes, 0)->number <= number) {
        int64_t index = writes_at(writes, 0)->last_index;
        if (index > last_index) last_index = index;
        writes->first = (writes->first + 1) % writes->capacity;
        writes->count--;
    }
    return last_index;
}
