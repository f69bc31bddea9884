// SPDX-License-Identifier: Apache-2.0
/* A hash table that shares what did not change with its copies. What it holds are values that are counted
 * by reference and never change.
 *
 *  (1) Two levels of fixed size: a copy refs at most 64 pages; a change makes one new bucket, and
 *      copies one page if a copy of the table still holds it. Its cost does not depend on how many
 *      items there are, but for the length of a bucket (a 4096th of them).
 *  (2) Pages and buckets are counted by reference. One that is held twice never changes. */

#ifndef SHARED_TABLE_H
#define SHARED_TABLE_H

#include <stdint.h>

#define SHARED_TABLE_PAGES   64
#define SHARED_TABLE_BUCKETS 64 /* Per page. */

/* How the items of a table are counted. Any thread. */
struct shared_table_counting {
    void (*ref)(void *item);
    void (*unref)(void *item);
};

struct shared_page;

struct shared_table {
    const struct shared_table_counting *counting;
    struct shared_page *pages[SHARED_TABLE_PAGES];
};

void shared_table_init(struct shared_table *table, const struct shared_table_counting *counting);
void shared_table_copy(struct shared_table *copy, const struct shared_table *table);
void shared_table_close(struct shared_table *table); /* Empty, then. */

/* The items whose hash falls where `hash` does. Borrowed; until the table changes. */
void *const *shared_table_bucket(const struct shared_table *table, uint64_t hash, unsigned *count);

/* Walks them all, in any order, each once: both numbers begin at 0. NULL at the end. */
void *shared_table_next(const struct shared_table *table, unsigned *bucket, unsigned *position);

/* Puts `after` in the place of `before`, both with this hash; NULL before adds, NULL after removes.
 * Keeps a reference of its own. 0, or ERR_NO_MEMORY with the table as it was. One thread; copies
 * may be read and closed on others meanwhile. */
int shared_table_change(struct shared_table *table, uint64_t hash, const void *before, void *after);

#endif
