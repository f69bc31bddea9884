// SPDX-License-Identifier: Apache-2.0
/* What kind of run, and what came of it. */

#ifndef META_WORLD_OPTIONS_H
#define META_WORLD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* What is done wrong on purpose, to see that the oracle finds it. */
enum world_control {
    WORLD_CONTROL_NONE,
    WORLD_CONTROL_ACK_EARLY,  /* The log's fsync does nothing. */
    WORLD_CONTROL_LOSE_VOTE,  /* The vote file's fsync does nothing. */
    WORLD_CONTROL_LOSE_ENTRY, /* Now and then the last entry is gone after a crash. */
};

struct world_options {
    unsigned nodes;        /* Voters at the start. */
    unsigned joiners;      /* More that may be taken in. */
    bool grows;            /* Nobody is demoted or removed before there are three voters. */
    bool has_disk_trouble; /* Disks are full for a while. */
    bool has_snapshots;    /* Taken after little log; otherwise none is. */
    uint32_t rules_off;    /* meta_core.h */
    enum world_control control;
    bool is_verbose;
};

struct world_counts {
    uint64_t commits, elections, crashes, power_cuts, messages, told;
    uint64_t changes;            /* Of members. */
    uint64_t full, failed_syncs; /* Processes that ended of it. */
    uint64_t restored;           /* States that came from a snapshot. */
};

#endif
