// SPDX-License-Identifier: Apache-2.0
/* What the files of the partition log share; nobody else includes it, but for the test that looks into memory.
 *
 * Locks, in this order: flush_lock (held across disk I/O, by calls that block), lock (never held across
 * I/O), the file cache's, the segments' (segment_folder.h). The writer changes what `lock` guards under
 * it, and reads it without. */

#ifndef STORAGE_PARTITION_LOG_INSIDE_H
#define STORAGE_PARTITION_LOG_INSIDE_H

#include <pthread.h>

#include "ended_transactions.h"
#include "epoch_history.h"
#include "partition_log.h"
#include "segment.h"
#include "segment_find.h"

struct removed_segment {
    int64_t base_offset;
    int64_t due_ms; /* When its files are unlinked. */
};

#define LOG_OLD_SNAPSHOTS 2

/* More than that is no snapshot of ours or of a Kafka that had memory for it. */
#define SNAPSHOT_MAX_BYTES (256 << 20)

struct partition_log {
    struct fs *fs;
    struct data_dir *dir;
    struct clock *clock;
    char *topic;
    int32_t partition;
    struct segment_folder *shared; /* What its segments share, */
    const char *folder;            /* and its path. */

    /* The writer's. */
    struct producer_history *producers;
    int64_t producer_expiration_ms;
    int64_t data_end;       /* Behind the last batch; lower than the end after a cut into a gap. */
    bool tail_is_unchecked; /* A clean start has not read it. */
    bool producers_are_stale; /* They know of batches that were not written: read them again. */
    struct ended_transactions replayed; /* Takes the place of `ended` when a replay is done. */
    int64_t
        aborted_from; /* A replay adds what was aborted from here on to the transaction indexes. */

    pthread_mutex_t flush_lock;
    int64_t recovery_point;
    int64_t
        snapshot_offset; /* Of the last checkpoint's producer snapshot; -1. Read by the writer, so it
                              * changes under both locks. */
    /* Of those before, at which a crash may still find the recovery point: at most one in the data folder's
     * file, and one in that which is being written. -1: none. */
    int64_t old_snapshots[LOG_OLD_SNAPSHOTS];
    bool has_batches_file;
    bool is_full;            /* The last write found no room. Writer. */
    bool indexes_lack_space; /* The last flush could not write them. Under the flush lock. */
    /* Opening or a cut has changed indexes below the recovery point, and a full disk keeps a part of them in
     * memory. Until a checkpoint has written them the log is not at rest, and closed it is left to be
     * recovered. Changed as the recovery point. */
    bool indexes_are_behind;
    bool leaves_syncs;     /* To data_dir_sync_all(). Under the flush lock. */
    int64_t reserve_least; /* Kept behind the end of the active segment, also over restarts. */
    bool is_new;           /* Folder and partition.metadata are not known to be on disk. */
    bool is_strict;        /* Opened by the strict rule (`cut_only_from`). */
    struct removed_segment *removed; /* Oldest first. */
    size_t removed_count;

    pthread_mutex_t lock;
    struct topic_settings settings;
    struct segment **segments; /* At least one; the last is the active one. */
    size_t segment_count, segment_capacity;
    int64_t start_offset;
    int64_t end_offset;
    int64_t flushed_offset;
    int64_t first_open_offset;       /* Of the transactions that are open; -1: none is. */
    struct ended_transactions ended; /* Those that the high watermark may not have passed. */
    int64_t size_bytes;
    int failed;
    unsigned cuts;        /* Counts truncations: a search that one overtook is done again. */
    unsigned truncations; /* Counts those at the end only. Changed under both locks. */
    struct epoch_history epochs;
    bool epochs_are_dirty;
    int64_t epochs_known_from;     /* While it is opened: from here on the file has them. */
    int64_t swap_from, swap_below; /* Segments with bases between them are being replaced. */
    pthread_cond_t swapped;
    bool has_unused_epoch; /* The last one has no record yet: not worth a write of its own. */
    bool folder_is_dirty;  /* Names in it are not known to be on disk. */
};

static inline struct segment *log_active(const struct partition_log *log)
{
    return log->segments[log->segment_count - 1];
}

/* The first segment that may hold `offset`, by index: the last with a base at or below it, or 0. */
size_t log_segment_at(const struct partition_log *log, int64_t offset);

/* What a search in segment `index` may see. Under the lock; the view has its own reference. */
void log_view(struct partition_log *log, size_t index, bool may_block, struct segment_view *view);

/* Is the segment on disk under its name? While compaction replaces it its files cannot be opened: waits
 * for the end of that, or gives ERR_NEEDS_IO. ERR_BUSY: it waited, so look again. Under the lock. */
int log_await_swap(struct partition_log *log, int64_t base_offset, bool may_block);

/* Remembers `err` by rule (4) and says so once. Returns ERR_KAFKA_STORAGE_ERROR. */
int log_fail(struct partition_log *log, int err, const char *doing);

/* The disk does not give what it has: nobody can use the log. */
bool log_is_of_disk(int err);

/* `epoch` writes from `offset` on. The first one of all begins where the log does, also if its batches leave
 * a hole in front or lie across the start: an opening that finds a later beginning in the file takes it that
 * epochs are missing there, and reads the log for them. Returns whether it is news. There must be room
 * (epoch_history_reserve()). Under the lock. */
bool log_begin_epoch(struct partition_log *log, int32_t epoch, int64_t offset);

/* Room for one more segment in the list. */
int log_reserve_segment(struct partition_log *log);

/* Does the log end where it was left? What is written behind damage could never be read, and the next
 * recovery would cut it off. Before the first change after a clean start. ERR_CORRUPT_MESSAGE: no. Writer.
 * Blocks. */
int log_check_tail(struct partition_log *log);

/* Closes the active segment and goes on in a new one at `base_offset`. Writer. Blocks. */
int log_roll(struct partition_log *log, int64_t base_offset, int64_t now_ms);

/* Of a new log: before its recovery point is noted above 0, since then the folder counts as this topic's for
 * sure. Blocks. */
int log_sync_topic_id(struct partition_log *log);

/* Flushes; the flush lock is held. */
int log_flush_locked(struct partition_log *log);

/* Gives reserved space behind a segment's end back; nobody writes to it. Under the flush lock. */
int log_trim(struct partition_log *log, struct segment *segment);

/* Replaces the epoch file if it is not up to date; its name is then still to be synced. Under the flush
 * lock. */
int log_write_epochs(struct partition_log *log);

/* `<offset>.snapshot` of the producers, as they are now, unless there is one. Not synced. Writer. */
int log_write_snapshot(struct partition_log *log, int64_t offset);
int log_sync_snapshot(struct partition_log *log, int64_t offset);

/* Removes the snapshots of offsets below `from` and above `to`. */
int log_remove_snapshots(struct partition_log *log, int64_t from, int64_t to);

/* Reads the producers' state anew: the newest good snapshot at or below `at_most`, then the headers of
 * what was appended since. *snapshot: its offset, -1 if there is none. Writer. Blocks. */
int log_reload_producers(struct partition_log *log, int64_t at_most, int64_t *snapshot);

/* What a log that is to be cut at an offset will know of its producers. Zeros: nothing was prepared. */
struct log_reload {
    struct producer_history *before; /* What it knew, until it is finished. */
    bool were_stale;
    int64_t snapshot;           /* As above. */
    bool batches_are_overtaken; /* The file of recent batches tells of what is cut. */
};

/* The same for a truncation, in two steps. The first does all that can be refused for lack of
 * memory, before anything is cut; after an error all is as it was, and so it is after log_drop_reload(). The
 * second forgets what was known of files. */
int log_prepare_reload(struct partition_log *log, int64_t offset, struct log_reload *reload);
void log_drop_reload(struct partition_log *log, struct log_reload *reload);
int log_finish_reload(struct partition_log *log, struct log_reload *reload);

/* The same of a log that begins anew at `offset` and has no batch yet: that needs no memory. */
int log_reload_after_restart(struct partition_log *log, int64_t offset);

/* The snapshot of an earlier checkpoint, unless a segment begins there: a truncation may need it. */
int log_remove_old_snapshot(struct partition_log *log, int64_t offset);

/* Those of earlier checkpoints to which no recovery point leads any more. Under the flush lock. */
int log_remove_old_snapshots(struct partition_log *log);

/* Removes snapshots at which no segment begins, but for `newest` and the one that was read. Blocks. */
int log_remove_stray_snapshots(struct partition_log *log, int64_t newest);

/* Replaces the file of recent batches, or removes it if there is nothing to say. Under the flush lock. */
int log_write_batches(struct partition_log *log, const struct buffer *batches);

struct log_bases {
    const int64_t *values;
    size_t count;
};

/* The last step of opening: producers, and the transaction indexes of the segments in which something was
 * aborted. `files`: the bases of those that are there; `unfinished`: of those that an earlier life began to
 * build again; is_lost[i]: so it is with other indexes of segment i. Blocks. */
int log_recover_transactions(struct partition_log *log, struct log_bases files,
                             struct log_bases unfinished, bool *is_lost);

/* A replay met an end marker. */
int log_replay_ended(struct partition_log *log, const struct ended_transaction *ended);

/* Walks the batch headers from the one that holds `from_offset` to the end, or to the first that does not end
 * below `below_offset`. Writer. Blocks. */
int log_walk_headers(struct partition_log *log, int64_t from_offset, int64_t below_offset,
                     int (*each)(struct partition_log *log, const struct record_batch *batch),
                     int64_t *bytes_read);

/* Completes or undoes what a crash left of a compaction (partition_log_swap.c). Blocks. */
int log_complete_swap(struct partition_log *log);

/* Opening: does the recovery point lie in the segment with this base, so that a power cut may have torn the
 * ends of its indexes? What counts of them is in front of that. */
bool log_indexes_may_be_torn(const struct partition_log *log, int64_t base_offset,
                             int64_t next_base);

/* Opens the segments with these bases (ascending, at least one), brings them in order, and sets the end.
 * *indexes_are_lost, for each: those of offsets and times had to be made again. Blocks. */
int log_open_segments(struct partition_log *log, const int64_t *bases, size_t count,
                      const struct partition_log_open_options *options,
                      struct partition_log_recovery *recovery, bool *indexes_are_lost);

/* Damage that begins at `position`, where `offset` should be: does a whole batch behind it in the segment say
 * that this was on disk, as the options ask? `buffer` is at least BATCH_SCAN_SALVAGE_BYTES. Blocks. */
int log_was_on_disk(struct segment *segment, int64_t position, int64_t offset,
                    const struct partition_log_open_options *options, uint8_t *buffer,
                    size_t buffer_size, bool *was_on_disk);

/* Epochs from their file up to the recovery point, from batch headers above it. Blocks. */
int log_load_epochs(struct partition_log *log, int64_t *bytes_read);

/* `segment->top`, found out if nobody has looked yet. Blocks. */
int log_load_top(struct partition_log *log, struct segment *segment);
void log_publish_top(struct partition_log *log, struct segment *segment,
                     const struct segment_top *top);

/* Completes the indexes, in the page cache. Writer. Blocks. */
int log_finish_segment(struct segment *segment);

/* The log's reference to a segment that it no longer has. */
void log_drop_segment(struct partition_log *log, struct segment *segment);

/* Frees all; files are closed, nothing is written. */
void log_free(struct partition_log *log);

#endif
