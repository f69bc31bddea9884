// SPDX-License-Identifier: Apache-2.0
/* A partition's log: a folder with a run of segments, of which only the last is open for writing.
 *
 *  (1) Offsets grow from segment to segment; no offset is stored twice.
 *  (2) Everything below the recovery point is on disk. Nothing above it need be.
 *  (3) A closed segment never changes. Whoever reads one holds a reference to it.
 *  (4) A failed write or fsync is remembered: the log then answers ERR_KAFKA_STORAGE_ERROR to every
 *      append until it is opened again (fsync may not tell twice). A full disk is no failure: the
 *      append gets the same answer, and the next may succeed.
 *
 * Threads. Calls marked "writer" come one at a time (the owner sees to that); all others from any
 * thread beside them. Calls marked "blocks" may wait for the disk: never on a loop. The rest touch the
 * page cache at most, and give ERR_NEEDS_IO instead of waiting when `may_block` is false. */

#ifndef STORAGE_PARTITION_LOG_H
#define STORAGE_PARTITION_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "clock.h"
#include "data_dir.h"
#include "file_slice.h"
#include "producer_history.h"
#include "record_batch.h"
#include "topic_settings.h"
#include "txn_index.h"
#include "uuid.h"

struct partition_log;

struct partition_log_open_options {
    struct data_dir *dir;
    struct clock *clock;
    const char *topic;
    int32_t partition;
    struct uuid
        topic_id; /* Written to partition.metadata of a new folder, compared in an old one. */
    struct topic_settings settings;
    int64_t
        producer_expiration_ms; /* Who wrote nothing for so long is not read back; 0: who did. */
    /* The metadata log's stricter rule (DESIGN 7.1): a bad batch is cut only in the last segment, at
     * or above this offset; elsewhere opening fails with ERR_CORRUPT_MESSAGE. Offsets have no holes, and what is
     * above the recovery point is written again before it is synced; and the end is looked at after a clean stop,
     * too. -1: the usual rule. */
    int64_t cut_only_from;
    /* With it, the only offset at which partition_log_restart_at() may have been about to begin the log anew when
     * the process ended. If it begins beyond its end elsewhere, something is missing: ERR_CORRUPT_MESSAGE. */
    int64_t may_restart_at;
    /* With it, what the owner wrote into batch headers. They look at nothing else; NULL: nothing is there. */
    bool (*batch_is_right)(const struct record_batch *batch); /* Beyond its CRC. */
    /* All below this offset was on disk when the batch was written; 0: it does not say. What such a batch has
     * in front of it is not cut for damage. Asked only of batches of `on_disk_epoch` and above: those of
     * earlier epochs may be what a power cut left of a truncation. */
    int64_t (*on_disk_before)(const struct record_batch *batch);
    int64_t on_disk_epoch;
};

struct partition_log_recovery {
    bool was_recovered; /* Data above the recovery point was read again. */
    int64_t bytes_read;
    int64_t cut_bytes;     /* Bytes of a torn or bad tail that were cut. */
    int64_t cut_at_offset; /* The log end after the cut. */
    unsigned indexes_rebuilt;
    /* Damage that the stricter rule does not let go, if opening failed for that; -1: none was met. */
    int64_t refused_segment;  /* In the .log of this base offset, */
    int64_t refused_position; /* here, */
    int64_t refused_offset;   /* where this offset should be. */
};

/* Opens the folder, made if need be. After a clean stop no log data is read; otherwise what lies above
 * the recovery point is checked, and cut at the first bad batch, with one line in the trace (DESIGN
 * 4.4). Blocks. 0, ERR_NO_MEMORY, ERR_IO, ERR_NO_SPACE, ERR_INCONSISTENT_TOPIC_ID,
 * ERR_CORRUPT_MESSAGE (only with cut_only_from, or if a closed segment below the recovery point lacks
 * its file). */
int partition_log_open(struct partition_log **log, const struct partition_log_open_options *options,
                       struct partition_log_recovery *recovery);

/* Closes and frees; does not flush. What a checkpoint has not covered is looked at again when the log is
 * opened, even after a clean stop. Slices handed out stay valid. NULL is fine. Blocks. */
void partition_log_close(struct partition_log *log);

/* Changes the settings from the next append on. Writer. */
void partition_log_set_settings(struct partition_log *log, const struct topic_settings *settings);

struct log_append {
    struct log_append *next;
    uint8_t *data;                  /* One batch, checked; its offset and epoch are set in place. */
    struct record_batch batch;      /* Its header, as record_batch_validate() filled it in. */
    struct ended_transaction ended; /* The log's own. */
    bool from_client;               /* Check producer epoch and sequence; give it the next offsets.
                                * Otherwise it is a replica's: the offsets in it must fit. */
    /* The answer: */
    int err;
    bool is_repeat; /* Seen before: nothing appended, the original's offsets. */
    int64_t base_offset;
    int64_t last_offset;
    int64_t append_time_ms; /* With LogAppendTime, else -1. */
};

/* Appends a chain of batches, in order, with as few writes as can be (DESIGN 2.3), and fills in each
 * answer. Returns 0 with *rest NULL when all have their answer. ERR_NEEDS_IO with *rest the first one
 * that has none: something must wait first and `may_block` is false (a segment must be rolled, the
 * files of a log at rest opened, producers read again). Batches are refused one by one: sequence and
 * epoch errors, ERR_RECORD_LIST_TOO_LARGE (a client's, larger than segment.bytes),
 * ERR_OFFSET_OUT_OF_RANGE (a replica's, below the end), ERR_NO_MEMORY, ERR_KAFKA_STORAGE_ERROR (4). A
 * full disk refuses with ERR_KAFKA_STORAGE_ERROR too, and whatever follows in the chain, which must
 * not overtake; but the log is not failed by it: what was written is cut off again. Writer. */
int partition_log_append(struct partition_log *log, struct log_append *first, int32_t leader_epoch,
                         int64_t now_ms, bool may_block, struct log_append **rest);

/* Offsets. Any thread. */
int64_t partition_log_start_offset(const struct partition_log *log);
int64_t partition_log_end_offset(const struct partition_log *log);
int64_t partition_log_flushed_offset(const struct partition_log *log); /* All below is on disk. */
int partition_log_failed(const struct partition_log *log); /* 0, or the remembered error. */
int64_t partition_log_size_bytes(const struct partition_log *log);

/* The name of the segment in which `offset` is or would be: its base offset. Any thread. */
int64_t partition_log_segment_base(const struct partition_log *log, int64_t offset);

struct log_read {
    int64_t from_offset;
    int64_t below_offset; /* Nothing at or above it: high watermark, LSO, or INT64_MAX. */
    size_t max_bytes;     /* Whole batches up to this many bytes … */
    bool at_least_one;    /* … but at least one batch, however large (KIP-74). */
    bool skips_empty;     /* Batches that compaction emptied may be left out where others follow. */
    bool may_block;
    /* The answer: */
    struct file_slice slice; /* Length 0: nothing there (or nothing that fits). Release it. */
    int64_t next_offset;     /* Behind the last batch of the slice; from_offset if there is none. */
};

/* Finds whole batches from the one that holds `from_offset` (its base may be lower; a hole left by
 * compaction leads to the next one). May end before `max_bytes` where looking further would cost too
 * much, and does in front of damage at the end of a segment. 0, ERR_OFFSET_OUT_OF_RANGE (below the start, above
 * the end), ERR_NEEDS_IO, ERR_NO_MEMORY, ERR_CORRUPT_MESSAGE (what is there is damaged, of which the first
 * reader's thread says a line, one for each segment; the rest of the log goes on), ERR_KAFKA_STORAGE_ERROR (also
 * if the log failed: what cannot be made durable is not shown). */
int partition_log_read(struct partition_log *log, struct log_read *read);

/* First offset of the oldest transaction that is open, or ended with a marker that is not below the high
 * watermark; -1: none. Consumers of committed records must not go beyond it. Any thread; high watermarks
 * do not go back. */
int64_t partition_log_first_unstable_offset(struct partition_log *log, int64_t high_watermark);

struct log_aborted {
    int64_t from_offset;  /* Records from here on … */
    int64_t below_offset; /* … and below it, none of them in an open transaction. */
    size_t limit;         /* More are refused. */
    bool may_block;
    /* The answer, by first offset; release it after a success. */
    struct aborted_list list;
};

/* Which aborted transactions must a consumer of those records be told of? ERR_LIMIT: ask for less;
 * ERR_NEEDS_IO, ERR_NO_MEMORY, ERR_KAFKA_STORAGE_ERROR. Any thread. */
int partition_log_aborted(struct partition_log *log, struct log_aborted *wanted);
void log_aborted_release(struct log_aborted *wanted);

struct log_position {
    int64_t offset;    /* -1: none such. */
    int64_t timestamp; /* -1 */
    int32_t leader_epoch;
};

/* The first record at or after `timestamp`, below `below_offset`. What a damaged end of a segment held is passed
 * over. ERR_NEEDS_IO, ERR_NO_MEMORY, ERR_CORRUPT_MESSAGE (damage is in the way), ERR_KAFKA_STORAGE_ERROR. */
int partition_log_find_timestamp(struct partition_log *log, int64_t timestamp, int64_t below_offset,
                                 bool may_block, struct log_position *position);

/* The record with the largest timestamp (ListOffsets -3), below `below_offset`. As in Kafka, one that
 * DeleteRecords hid counts as long as its segment is there. */
int partition_log_find_max_timestamp(struct partition_log *log, int64_t below_offset,
                                     bool may_block, struct log_position *position);

/* This replica leads from here on, in `epoch`: also without a record the history says where it began
 * (KIP-101). On disk with the next checkpoint that finds records; who leads after a restart is told again.
 * An epoch not above the last one changes nothing. 0 or ERR_NO_MEMORY. Writer. */
int partition_log_begin_epoch(struct partition_log *log, int32_t epoch);

/* Leader epochs (KIP-101). The last epoch in the log, -1 if empty. */
int32_t partition_log_last_epoch(const struct partition_log *log);
/* The epoch that `offset` was or will be written in; -1 unknown. */
int32_t partition_log_epoch_of(const struct partition_log *log, int64_t offset);
/* Where `epoch` ended, as OffsetForLeaderEpoch answers it: the largest known epoch not above the asked
 * one, and the start of the following epoch (or the end of the log). If it lies before the first one
 * known: itself, and where that begins. -1 and -1 if none is known. */
void partition_log_epoch_end(const struct partition_log *log, int32_t epoch, int32_t *found_epoch,
                             int64_t *end_offset);

/* Makes everything appended so far durable (the data and the names that lead to it), then moves the
 * flushed offset. Indexes and epochs of the active segment are left to the checkpoint: above the
 * recovery point they come from the data. Also reserves space ahead for a log that grows (DESIGN 4.2).
 * Remembers a failure (4). Blocks; may run beside a writer and beside reads. */
int partition_log_flush(struct partition_log *log);

/* A checkpoint flushes and writes indexes, epochs and a producer snapshot, so that nothing below needs to
 * be read again, then moves the recovery point in the data folder's checkpoint (in memory;
 * data_dir_write_checkpoints() makes it last). Where nothing was appended since the last one, it gives
 * back memory and reserved space instead. ERR_NO_SPACE and ERR_NO_MEMORY leave the recovery point where
 * it was and the log in use.
 *
 * It has two halves, so that the writer is free again before anything is synced. */
struct log_checkpoint {
    int64_t offset;       /* The end when it began; -1: there is nothing to end. */
    int64_t segment_base; /* The active segment. */
    unsigned truncations; /* Cut since? Then what was taken down is not true any more. */
    struct buffer producers;
    struct buffer batches; /* The producers' recent ones; empty: of nobody more than the last. */
};

/* Takes down what only the writer knows. Writer. Blocks, but not for a sync. */
int partition_log_begin_checkpoint(struct partition_log *log, struct log_checkpoint *checkpoint);

/* Writes it, and frees what begin_checkpoint() took. May run beside a writer, reads and flushes, but
 * not beside the first half of another. Without `sync` nothing is synced: what was written counts
 * only after data_dir_sync_all(), which also the next write of the data folder's checkpoints calls. Blocks. */
int partition_log_end_checkpoint(struct partition_log *log, struct log_checkpoint *checkpoint,
                                 bool sync);

/* Instead of ending it. */
void partition_log_drop_checkpoint(struct log_checkpoint *checkpoint);

/* Both halves. Writer. Blocks. */
int partition_log_checkpoint(struct partition_log *log);

/* Cuts the log so that `offset` is its end; offsets then continue there. Writer. Blocks. */
int partition_log_truncate(struct partition_log *log, int64_t offset);

/* Removes all and starts again, empty, at `offset`. Writer. Blocks. */
int partition_log_restart_at(struct partition_log *log, int64_t offset);

/* Raises the start offset (DeleteRecords); ERR_OFFSET_OUT_OF_RANGE above the end. Writer. Blocks. */
int partition_log_raise_start(struct partition_log *log, int64_t offset);

/* Rolls an active segment that is past its time and removes whole segments that retention no longer
 * wants, below `below_offset` (the high watermark). Files are renamed `.deleted`, and unlinked by the
 * first call after file.delete.delay.ms. *next_ms: the wall-clock time at which there will be something
 * to do if nothing else happens (INT64_MAX: never). Writer. Blocks. */
int partition_log_retain(struct partition_log *log, int64_t below_offset, int64_t now_ms,
                         int64_t *next_ms);

/* Keeps this much space behind the end reserved from now on, so that a log that must go on does so on a
 * full disk; it stays reserved while the log is closed. Writer. Blocks. */
void partition_log_keep_reserved(struct partition_log *log, int64_t bytes);

/* Closes and renames the folder to `<topic>-<partition>.<uuid>-delete`, for data_dir's sweep. Frees the
 * log. Blocks. */
int partition_log_delete(struct partition_log *log);

/* Gives up the folder of a partition that is not open, if it is that of this topic: what a crash left of
 * a deleted one (DESIGN 8.5). Blocks. ERR_INCONSISTENT_TOPIC_ID, ERR_NOT_FOUND, ERR_MALFORMED:
 * it is another's, or says nothing, and stays. */
int partition_log_give_up(struct data_dir *dir, const char *topic, int32_t partition,
                          const struct uuid *topic_id);

/* The topic id in the partition.metadata of a folder. Blocks. 0, ERR_NOT_FOUND, ERR_MALFORMED, … */
int partition_log_topic_id(struct fs *fs, const char *folder, struct uuid *topic_id);

/* Makes a folder that nobody has open, and that does not say whose it is, that of this topic, durably. Blocks. */
int partition_log_set_topic_id(struct fs *fs, const char *folder, const struct uuid *topic_id);

/* Forgets producers that were not heard of since (wall clock), unless they have a transaction open.
 * Writer. */
void partition_log_expire_producers(struct partition_log *log, int64_t before_ms);

/* The producers' state, for answers about them. Writer. */
const struct producer_history *partition_log_producers(const struct partition_log *log);

#endif
