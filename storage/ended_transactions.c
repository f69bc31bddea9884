// SPDX-License-Identifier: Apache-2.0
#include "ended_transactions.h"

#include <string.h>

#include "alloc.h"

void ended_transactions_init(struct ended_transactions *ended)
{
    *ended = (struct ended_transactions){ .capacity = ENDED_TRANSACTIONS_FEW };
}

void ended_transactions_close(struct ended_transactions *ended)
{
    mem_free(ended->spans);
    ended_transactions_init(ended);
}

void ended_transactions_clear(struct ended_transactions *ended)
{
    ended_transactions_close(ended);
}

static struct ended_span *first_of(struct ended_transactions *ended)
{
    return (ended->spans == NULL ? ended->few : ended->spans) + ended->first;
}

static void grow(struct ended_transactions *ended)
{
    size_t capacity = ended->capacity * 2;
    struct ended_span *spans = mem_calloc(capacity, sizeof *spans);

    if (spans == NULL) return;
    memcpy(spans, first_of(ended), ended->count * sizeof *spans);
    mem_free(ended->spans);
    ended->spans = spans;
    ended->capacity = capacity;
    ended->first = 0;
}

/* Without memory there may be no room: then the next one becomes part of the last. */
static void make_room(struct ended_transactions *ended)
{
    if (ended->first + ended->count < ended->capacity) return;
    if (ended->capacity < 2 * ENDED_TRANSACTIONS_MAX) grow(ended);
    if (ended->first > 0) {
        memmove(first_of(ended) - ended->first, first_of(ended),
                ended->count * sizeof *ended->spans);
        ended->first = 0;
    }
}

void ended_transactions_add(struct ended_transactions *ended, int64_t first_offset,
                            int64_t last_offset)
{
    /* (2) */
    while (ended->count > 0 && first_of(ended)[ended->count - 1].first_offset >= first_offset)
        ended->count--;
    make_room(ended);
    if (ended->count < ENDED_TRANSACTIONS_MAX && ended->first + ended->count < ended->capacity)
        first_of(ended)[ended->count++] = (struct ended_span){ first_offset, last_offset };
    else /* (3) */
        first_of(ended)[ended->count - 1].last_offset = last_offset;
}

void ended_transactions_add_below(struct ended_transactions *ended,
                                  struct ended_transactions *others, int64_t offset)
{
    for (size_t i = 0; i < others->count; i++) {
        const struct ended_span *span = &first_of(others)[i];
        if (span->first_offset >= offset) break;
        /* By (3) it may speak of several markers, some below. */
        ended_transactions_add(ended, span->first_offset,
                               span->last_offset < offset ? span->last_offset : offset - 1);
    }
}

void ended_transactions_move(struct ended_transactions *ended, struct ended_transactions *from)
{
    mem_free(ended->spans);
    *ended = *from;
    ended_transactions_init(from);
}

int64_t ended_transactions_first(struct ended_transactions *ended, int64_t high_watermark)
{
    while (ended->count > 0 && first_of(ended)->last_offset < high_watermark) {
        ended->first++;
        ended->count--;
    }
    if (ended->count > 0) return first_of(ended)->first_offset;
    if (ended->spans != NULL) ended_transactions_clear(ended);
    ended->first = 0;
    return -1;
}
