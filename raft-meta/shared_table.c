// SPDX-License-Identifier: Apache-2.0
#include "shared_table.h"

#include <assert.h>
#include <stdatomic.h>

#include "alloc.h"
#include "error.h"

struct shared_bucket {
    atomic_uint refs;
    unsigned count;
    void *items[];
};

struct shared_page {
    atomic_uint refs;
    struct shared_bucket *buckets[SHARED_TABLE_BUCKETS];
};

static unsigned position_of(uint64_t hash)
{
    return (unsigned)(hash % (SHARED_TABLE_PAGES * SHARED_TABLE_BUCKETS));
}

static void bucket_unref(const struct shared_table *table, struct shared_bucket *bucket)
{
    if (bucket == NULL || atomic_fetch_sub_explicit(&bucket->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned i = 0; i < bucket->count; i++)
        table->counting->unref(bucket->items[i]);
    mem_free(bucket);
}

static void page_unref(const struct shared_table *table, struct shared_page *page)
{
    if (page == NULL || atomic_fetch_sub_explicit(&page->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned i = 0; i < SHARED_TABLE_BUCKETS; i++)
        bucket_unref(table, page->buckets[i]);
    mem_free(page);
}

void shared_table_init(struct shared_table *table, const struct shared_table_counting *counting)
{
    *table = (struct shared_table){ .counting = counting };
}

void shared_table_copy(struct shared_table *copy, const struct shared_table *table)
{
    *copy = *table;
    for (unsigned i = 0; i < SHARED_TABLE_PAGES; i++)
        if (copy->pages[i] != NULL)
            atomic_fetch_add_explicit(&copy->pages[i]->refs, 1, memory_order_relaxed);
}

void shared_table_close(struct shared_table *table)
{
    for (unsigned i = 0; i < SHARED_TABLE_PAGES; i++)
        page_unref(table, table->pages[i]);
    shared_table_init(table, table->counting);
}

static void *const *bucket_at(const struct shared_table *table, unsigned position, unsigned *count)
{
    const struct shared_page *page = table->pages[position / SHARED_TABLE_BUCKETS];
    const struct shared_bucket *bucket = page == NULL
                                             ? NULL
                                             : page->buckets[position % SHARED_TABLE_BUCKETS];
    *count = bucket == NULL ? 0 : bucket->count;
    return bucket == NULL ? NULL : bucket->items;
}

void *const *shared_table_bucket(const struct shared_table *table, uint64_t hash, unsigned *count)
{
    return bucket_at(table, position_of(hash), count);
}

void *shared_table_next(const struct shared_table *table, unsigned *bucket, unsigned *position)
{
    for (; *bucket < SHARED_TABLE_PAGES * SHARED_TABLE_BUCKETS; (*bucket)++) {
        unsigned count;
        void *const *items = bucket_at(table, *bucket, &count);
        if (*position < count) return items[(*position)++];
        *position = 0;
    }
    return NULL;
}

/* The page at `slot`, held by nobody else. */
static int page_own(const struct shared_table *table, struct shared_page **slot)
{
    struct shared_page *page = *slot;
    /* Only this table could add a reference, so one is enough to know. */
    if (page != NULL && atomic_load_explicit(&page->refs, memory_order_acquire) == 1) return 0;
    struct shared_page *own = mem_zalloc(sizeof *own);
    if (own == NULL) return ERR_NO_MEMORY;
    atomic_init(&own->refs, 1);
    for (unsigned i = 0; page != NULL && i < SHARED_TABLE_BUCKETS; i++) {
        own->buckets[i] = page->buckets[i];
        if (own->buckets[i] != NULL)
            atomic_fetch_add_explicit(&own->buckets[i]->refs, 1, memory_order_relaxed);
    }
    page_unref(table, page);
    *slot = own;
    return 0;
}

/* A bucket like `old` (may be NULL) but for the change; NULL in *made if nothing is left. */
static int bucket_make(const struct shared_table *table, struct shared_bucket **made,
                       const struct shared_bucket *old, const void *before, void *after)
{
    unsigned old_count = old == NULL ? 0 : old->count;
    unsigned count = old_count - (before != NULL) + (after != NULL);
    *made = NULL;
    if (count == 0) return 0;
    struct shared_bucket *bucket = mem_alloc(sizeof *bucket + count * sizeof bucket->items[0]);
    if (bucket == NULL) return ERR_NO_MEMORY;
    atomic_init(&bucket->refs, 1);
    bucket->count = 0;
    for (unsigned i = 0; i < old_count; i++)
        if (old->items[i] != before) bucket->items[bucket->count++] = old->items[i];
    if (after != NULL) bucket->items[bucket->count++] = after;
    for (unsigned i = 0; i < bucket->count; i++)
        table->counting->ref(bucket->items[i]);
    assert(bucket->count == count);
    *made = bucket;
    return 0;
}

int shared_table_change(struct shared_table *table, uint64_t hash, const void *before, void *after)
{
    unsigned position = position_of(hash);
    struct shared_page **slot = &table->pages[position / SHARED_TABLE_BUCKETS];
    struct shared_bucket *made = NULL;
    int err = page_own(table, slot);
    if (err != 0) return err;
    struct shared_bucket **bucket = &(*slot)->buckets[position % SHARED_TABLE_BUCKETS];
    err = bucket_make(table, &made, *bucket, before, after);
    if (err != 0) return err;
    bucket_unref(table, *bucket);
    *bucket = made;
    return 0;
}
