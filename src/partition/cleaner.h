// SPDX-License-Identifier: Apache-2.0
/* Who compacts the logs of a broker, and when (DESIGN 4.5).
 *
 *  (1) A few threads of its own, since a pass takes long: the disk pool stays free. Only the moments in
 *      which a pass is the log's writer are jobs of the partition's lane.
 *  (2) The dirtiest log comes first, of those that are dirtier than min.cleanable.dirty.ratio or hold
 *      something older than max.compaction.lag.ms. One thread at a time cleans a log.
 *  (3) When nothing is dirty enough the threads sleep: for a while, or, if there is no compacted log at
 *      all, until there is one.
 *  (4) A log that cannot be cleaned (a damaged batch) is left alone until the broker starts again. */

#ifndef PARTITION_CLEANER_H
#define PARTITION_CLEANER_H

#include "partition.h"

struct cleaner_options {
    unsigned threads;        /* 0: nothing is cleaned but by cleaner_clean_one(). */
    int64_t map_bytes;       /* For the keys (1 MiB for each thread at least), */
    int64_t buffer_bytes;    /* and for reading and writing, of all threads together. */
    double map_load;         /* How far the map of keys is filled. */
    double bytes_per_second; /* Read and written, by all threads together. */
    int64_t backoff_ms;
};

/* Which partitions there are: calls `visit` for each. */
struct cleaner_source {
    void (*each)(struct cleaner_source *source,
                 void (*visit)(void *context, struct partition *partition), void *context);
};

struct cleaner;

/* 0, ERR_NO_MEMORY, ERR_IO. */
int cleaner_open(struct cleaner **cleaner, const struct cleaner_options *options,
                 struct clock *clock, struct cleaner_source *source);

/* Gives passes up where they are, waits for the threads, frees. NULL is fine. Blocks. */
void cleaner_close(struct cleaner *cleaner);

/* There is a compacted log, perhaps the first. Any thread. NULL is fine. */
void cleaner_wake(struct cleaner *cleaner);

/* These options from now on: threads and memory from the next pass, the pace at once. Any thread but its
 * own, one at a time. 0, or ERR_NO_MEMORY or ERR_IO with fewer threads than that. */
int cleaner_set_options(struct cleaner *cleaner, const struct cleaner_options *options);

/* Makes one pass over the dirtiest log. False: none is dirty enough; *has_compacted: there are logs that
 * could be. Blocks. */
bool cleaner_clean_one(struct cleaner *cleaner, bool *has_compacted);

/* The rate at which all read and write together. */
struct cleaner_rate {
    double bytes_per_second;
    int64_t since_us; /* Monotonic. */
    double bytes;     /* Since then. */
};

/* `bytes` more were read or written: how long to wait now, in microseconds, so that the rate is kept. */
int64_t cleaner_rate_spend(struct cleaner_rate *rate, int64_t bytes, int64_t now_us);

#endif
