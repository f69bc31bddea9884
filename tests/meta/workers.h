// SPDX-License-Identifier: Apache-2.0
/* Runs many seeds in processes of their own: a run that ends in an assert, or never, costs one seed. */

#ifndef META_WORKERS_H
#define META_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "world.h"

struct workers_options {
    struct world_options world;
    uint64_t first_seed;
    uint64_t seed_count;
    unsigned processes;
    bool stops_at_first; /* Nobody needs to know of more than one failure. */
    bool is_quiet;       /* About failures, too. */
};

struct workers_result {
    struct world_counts counts;
    uint64_t done, failed;
    uint64_t first_failed; /* Seed; if any failed. */
};

void workers_run(const struct workers_options *options, struct workers_result *result);

#endif
