// SPDX-License-Identifier: Apache-2.0
#include "topic_table.h"

#include <assert.h>
#include <stdatomic.h>

#include "alloc.h"
#include "error.h"

struct topic_bucket {
    atomic_uint refs;
    unsigned count;
    struct meta_topic *topics[];
};

struct topic_page {
    atomic_uint refs;
    struct topic_bucket *buckets[TOPIC_TABLE_BUCKETS];
};

static unsigned position_of(uint64_t hash)
{
    return (unsigned)(hash % (TOPIC_TABLE_PAGES * TOPIC_TABLE_BUCKETS));
}

static void bucket_unref(struct topic_bucket *bucket)
{
    if (bucket == NULL || atomic_fetch_sub_explicit(&bucket->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned i = 0; i < bucket->count; i++)
        meta_topic_unref(bucket->topics[i]);
    mem_free(bucket);
}

static void page_unref(struct topic_page *page)
{
    if (page == NULL || atomic_fetch_sub_explicit(&page->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (unsigned i = 0; i < TOPIC_TABLE_BUCKETS; i++)
        bucket_unref(page->buckets[i]);
    mem_free(page);
}

void topic_table_init(struct topic_table *table)
{
    *table = (struct topic_table){ { NULL } };
}

void topic_table_copy(struct topic_table *copy, const struct topic_table *table)
{
    *copy = *table;
    for (unsigned i = 0; i < TOPIC_TABLE_PAGES; i++)
        if (copy->pages[i] != NULL)
            atomic_fetch_add_explicit(&copy->pages[i]->refs, 1, memory_order_relaxed);
}

void topic_table_close(struct topic_table *table)
{
    for (unsigned i = 0; i < TOPIC_TABLE_PAGES; i++)
        page_unref(table->pages[i]);
    topic_table_init(table);
}

struct meta_topic *const *topic_table_bucket_at(const struct topic_table *table, unsigned position,
                                                unsigned *count)
{
    const struct topic_page *page = table->pages[position / TOPIC_TABLE_BUCKETS];
    const struct topic_bucket *bucket = page == NULL
                                            ? NULL
                                            : page->buckets[position % TOPIC_TABLE_BUCKETS];
    *count = bucket == NULL ? 0 : bucket->count;
    return bucket == NULL ? NULL : bucket->topics;
}

struct meta_topic *const *topic_table_bucket(const struct topic_table *table, uint64_t hash,
                                             unsigned *count)
{
    return topic_table_bucket_at(table, position_of(hash), count);
}

/* The page at `slot`, held by nobody else. */
static int page_own(struct topic_page **slot)
{
    struct topic_page *page = *slot;
    /* Only this table could add a reference, so one is enough to know. */
    if (page != NULL && atomic_load_explicit(&page->refs, memory_order_acquire) == 1) return 0;
    struct topic_page *own = mem_zalloc(sizeof *own);
    if (own == NULL) return ERR_NO_MEMORY;
    atomic_init(&own->refs, 1);
    for (unsigned i = 0; page != NULL && i < TOPIC_TABLE_BUCKETS; i++) {
        own->buckets[i] = page->buckets[i];
        if (own->buckets[i] != NULL)
            atomic_fetch_add_explicit(&own->buckets[i]->refs, 1, memory_order_relaxed);
    }
    page_unref(page);
    *slot = own;
    return 0;
}

/* A bucket like `old` (may be NULL) but for the change; NULL in *made if nothing is left. */
static int bucket_make(struct topic_bucket **made, const struct topic_bucket *old,
                       const struct meta_topic *before, struct meta_topic *after)
{
    unsigned old_count = old == NULL ? 0 : old->count;
    unsigned count = old_count - (before != NULL) + (after != NULL);
    *made = NULL;
    if (count == 0) return 0;
    struct topic_bucket *bucket = mem_alloc(sizeof *bucket + count * sizeof bucket->topics[0]);
    if (bucket == NULL) return ERR_NO_MEMORY;
    atomic_init(&bucket->refs, 1);
    bucket->count = 0;
    for (unsigned i = 0; i < old_count; i++)
        if (old->topics[i] != before)
            bucket->topics[bucket->count++] = meta_topic_ref(old->topics[i]);
    if (after != NULL) bucket->topics[bucket->count++] = meta_topic_ref(after);
    assert(bucket->count == count);
    *made = bucket;
    return 0;
}

int topic_table_change(struct topic_table *table, uint64_t hash, const struct meta_topic *before,
                       struct meta_topic *after)
{
    unsigned position = position_of(hash);
    struct topic_page **slot = &table->pages[position / TOPIC_TABLE_BUCKETS];
    struct topic_bucket *made = NULL;
    int err = page_own(slot);
    if (err != 0) return err;
    struct topic_bucket **bucket = &(*slot)->buckets[position % TOPIC_TABLE_BUCKETS];
    err = bucket_make(&made, *bucket, before, after);
    if (err != 0) return err;
    bucket_unref(*bucket);
    *bucket = made;
    return 0;
}
