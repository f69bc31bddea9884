// SPDX-License-Identifier: Apache-2.0
/* The topics that `sluiced --adopt` may take over: what lies in the data folders, less what is known,
 * less what cannot or must not be taken over. Each of those is said in a line. */

#ifndef BROKER_ADOPT_FIND_H
#define BROKER_ADOPT_FIND_H

#include "data_dir.h"
#include "map.h"
#include "meta_view.h"

struct adopt_partition {
    int32_t index;
    int32_t last_epoch;   /* -1: none. */
    bool has_id;          /* Its folder says whose it is. */
    struct data_dir *dir; /* Where it lies. */
};

struct adopt_topic {
    struct uuid id; /* Zeros: no folder says. */
    struct adopt_partition *partitions;
    unsigned count, capacity;
    int32_t highest; /* Index. */
    const char *why; /* It is left alone, and why: static. NULL: it is not. */
    char name[];
};

struct adopt_find {
    struct map topics; /* Name → struct adopt_topic. */
    int64_t last_producer_id;
    unsigned left_alone;
};

/* 0 or an error of the disk. Blocks. */
int adopt_find(struct adopt_find *find, struct data_dir *const *dirs, unsigned count,
               const struct meta_view *view);
void adopt_find_close(struct adopt_find *find); /* Also after a failed adopt_find(). */

/* The format of what lies in it is ours, too. */
#define ADOPT_OFFSETS_TOPIC "__consumer_offsets"

#endif
