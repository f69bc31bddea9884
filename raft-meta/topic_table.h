// SPDX-License-Identifier: Apache-2.0
/* A hash table of topics that shares what did not change with its copies.
 *
 *  (1) Two levels of fixed size: a copy refs at most 64 pages; a change makes one new bucket, and
 *      copies one page if a copy of the table still holds it. Its cost does not depend on how many
 *      topics there are, but for the length of a bucket (a 4096th of them).
 *  (2) Pages and buckets are counted by reference. One that is held twice never changes. */

#ifndef TOPIC_TABLE_H
#define TOPIC_TABLE_H

#include <stdint.h>

#include "meta_view.h"

#define TOPIC_TABLE_PAGES   64
#define TOPIC_TABLE_BUCKETS 64 /* Per page. */

struct topic_page;

struct topic_table {
    struct topic_page *pages[TOPIC_TABLE_PAGES];
};

void topic_table_init(struct topic_table *table);
void topic_table_copy(struct topic_table *copy, const struct topic_table *table);
void topic_table_close(struct topic_table *table);

/* The topics whose hash falls where `hash` does. Borrowed; until the table changes. */
struct meta_topic *const *topic_table_bucket(const struct topic_table *table, uint64_t hash,
                                             unsigned *count);

/* The same by number, below TOPIC_TABLE_PAGES * TOPIC_TABLE_BUCKETS, to walk them all. */
struct meta_topic *const *topic_table_bucket_at(const struct topic_table *table, unsigned position,
                                                unsigned *count);

/* Puts `after` in the place of `before`, both with this hash; NULL before adds, NULL after removes.
 * Keeps a reference of its own. 0, or ERR_NO_MEMORY with the table as it was. One thread; copies
 * may be read and closed on others meanwhile. */
int topic_table_change(struct topic_table *table, uint64_t hash, const struct meta_topic *before,
                       struct meta_topic *after);

#endif
