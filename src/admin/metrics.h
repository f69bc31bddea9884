// SPDX-License-Identifier: Apache-2.0
/* What /metrics tells. docs/operations.md has the list, and a test compares it with what is printed here.
 *
 * Everything is gathered when it is asked for: counters are added up over the loops, and each partition's lock
 * is taken for a moment. Nobody else waits for the rest. */

#ifndef ADMIN_METRICS_H
#define ADMIN_METRICS_H

#include "api.h"
#include "buffer.h"

/* Where it comes from; borrowed. */
struct metrics_sources {
    const struct api *api;
    struct net *net;
    struct partition_set *partitions;
    struct meta_quorum *meta;
    int32_t node_id;
    uint64_t request_memory_bytes; /* The limit. */
    unsigned series_max;           /* So many topics, and so many logs, have series of their own. */
};

/* Appends all families. If there is no memory for them, out->failed is set. Blocks on the disks' file systems
 * for their free space. */
void metrics_print(struct buffer *out, const struct metrics_sources *sources, bool is_ready);

/* Topics and their logs, in metrics_topics.c. */
void metrics_print_topics(struct buffer *out, const struct metrics_sources *sources,
                          const struct meta_view *view);

#endif
