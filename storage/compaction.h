// SPDX-License-Identifier: Apache-2.0
/* Compaction of a log (DESIGN 4.5): of each key the last record is kept, every offset stays what it was.
 *
 *  (1) A pass looks at closed segments below the first that may not be cleaned: the active one, one that
 *      reaches to the last stable offset, one that min.compaction.lag.ms protects.
 *  (2) It reads the dirty part (from where the last pass ended) into a map of keys, as far as that has
 *      room, then writes all segments up to there anew, several small ones as one.
 *  (3) A new segment is written beside the old ones, `.cleaned`, and is on disk before it takes their
 *      place: readers of the old ones read on, a crash leaves either (partition_log_swap.c).
 *  (4) Each new segment keeps its last batch, if need be empty: so no segment ends before the next one
 *      begins, and the recovery can tell a lost end from one that was cleaned away.
 *
 *    compaction_begin ──► compaction_next ──► compaction_swap ──► compaction_next … ──► compaction_close
 *     (writer)            (long; beside        (writer, short)
 *                         the writer)
 *
 * While the log is closed, nothing of these may run but compaction_close(). */

#ifndef STORAGE_COMPACTION_H
#define STORAGE_COMPACTION_H

#include "partition_log.h"

/* How much there is to clean. */
struct cleanable {
    int64_t first_dirty_offset;
    int64_t first_uncleanable_offset; /* Base of the first segment that may not be cleaned. */
    int64_t clean_bytes, dirty_bytes; /* Of segments that may be. */
    bool is_overdue;                  /* max.compaction.lag.ms has passed for something. */
};

/* Nothing at or above `below_offset` (the last stable offset) is looked at. Reads a little of each dirty
 * segment if there is a max.compaction.lag.ms. Any thread. Blocks. */
int partition_log_cleanable(struct partition_log *log, int64_t below_offset, int64_t now_ms,
                            struct cleanable *cleanable);

struct compaction_options {
    int64_t below_offset;
    int64_t now_ms;      /* Wall clock. */
    int64_t map_bytes;   /* Memory for keys. */
    double map_load;     /* How much of it is filled, above 0, at most 1. */
    size_t buffer_bytes; /* Of reads and writes; each has so much. */
    void *owner;
    bool (*is_cancelled)(void *owner);         /* Asked at every batch. */
    void (*spend)(void *owner, int64_t bytes); /* So much was read or written; may wait. */
};

struct compaction;

/* Notes what the pass needs, after a checkpoint of the log if what is to be cleaned lies above the last
 * one. ERR_NOT_FOUND: there is nothing to clean; ERR_NO_MEMORY, ERR_NO_SPACE, ERR_KAFKA_STORAGE_ERROR. Writer. Blocks. */
int compaction_begin(struct compaction **compaction, struct partition_log *log,
                     const struct compaction_options *options);

/* Writes the next new segment, on disk when this returns; *is_ready: compaction_swap() follows; false:
 * the pass is over. ERR_CANCELED (also if the log was cut meanwhile); ERR_CORRUPT_MESSAGE,
 * ERR_INVALID_RECORD, ERR_UNSUPPORTED_COMPRESSION_TYPE, ERR_LIMIT: the log cannot be cleaned; ERR_NO_MEMORY,
 * ERR_NO_SPACE: not now; ERR_KAFKA_STORAGE_ERROR. After an error only compaction_close() may follow.
 * One caller at a time, beside the log's writer. Blocks. */
int compaction_next(struct compaction *compaction, bool *is_ready);

/* Lets it take the place of the old ones. With the last one the pass is noted in the data folder's
 * checkpoint. Errors as compaction_next(). Writer. Blocks. */
int compaction_swap(struct compaction *compaction);

struct compaction_result {
    int64_t bytes_before, bytes_after; /* Of the segments that were replaced. */
    int64_t end_offset;                /* All below it is clean. */
    int64_t keys;
};
void compaction_result(const struct compaction *compaction, struct compaction_result *result);

/* Frees. Does not touch the log, which may be closed. NULL is fine. */
void compaction_close(struct compaction *compaction);

#endif
