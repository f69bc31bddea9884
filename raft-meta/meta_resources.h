// SPDX-License-Identifier: Apache-2.0
/* The resources that have settings and are nothing else that the cluster agrees on: consumer groups, and
 * subscriptions to clients' metrics. One is here as long as it has a setting.
 *
 * One thread changes them; copies belong to whoever has them, and share what did not change. */

#ifndef META_RESOURCES_H
#define META_RESOURCES_H

#include <stdint.h>

#include "bytes.h"
#include "meta_view.h"
#include "shared_table.h"

struct meta_resources {
    struct shared_table table;
    unsigned count;
    uint64_t hash_key[2];
};

void meta_resources_init(struct meta_resources *resources, const uint64_t hash_key[2]);
void meta_resources_copy(struct meta_resources *copy, const struct meta_resources *resources);
void meta_resources_close(struct meta_resources *resources);

/* Borrowed; NULL: it has no settings. */
const struct meta_resource *meta_resources_find(const struct meta_resources *resources,
                                                enum meta_resource_type type, struct str name);

/* Walks them all, in any order. NULL at the end. */
const struct meta_resource *meta_resources_next(const struct meta_resources *resources,
                                                struct meta_resource_cursor *cursor);

/* That resource has these settings from now on, and is gone if there are none; copies it all. 0, or
 * ERR_NO_MEMORY with everything as it was. */
int meta_resources_put(struct meta_resources *resources, const struct meta_resource *resource);

#endif
