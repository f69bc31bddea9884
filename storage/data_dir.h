// SPDX-License-Identifier: Apache-2.0
/* One entry of log.dirs: its lock, its identity, its checkpoints, and whether it was left in order.
 *
 *    meta.properties                      version, cluster.id, node.id, directory.id, and with
 *                                         several folders sluice.directory.ids, those of all
 *    .lock                                held while we run
 *    .kafka_cleanshutdown                 there only between a clean stop and the next start
 *    recovery-point-offset-checkpoint     all on disk below it, per partition
 *    log-start-offset-checkpoint          where it is above the first segment's base offset
 *    replication-offset-checkpoint        high watermarks
 *    cleaner-offset-checkpoint            compacted below it
 *    <topic>-<partition>/                 the logs
 */

#ifndef STORAGE_DATA_DIR_H
#define STORAGE_DATA_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "block_cache.h"
#include "bytes.h"
#include "file_cache.h"
#include "fs.h"
#include "uuid.h"

struct data_dir;

struct data_dir_identity {
    char cluster_id[64]; /* "" in a new folder. */
    int32_t node_id;     /* -1 in a new folder. */
    struct uuid directory_id;
    bool is_new;
};

/* Whose the folder is by its meta.properties; only looks, and the folder need not be open. 0, ERR_NOT_FOUND,
 * ERR_MALFORMED (*wrong: the property that is missing or cannot be), or why it cannot be read: a start is refused
 * then, but for a folder without the file, which is a new one. Blocks. */
int data_dir_look_at_identity(struct fs *fs, const char *folder, struct data_dir_identity *identity,
                              const char **wrong);

/* Makes the folder if need be, locks it, reads identity, clean marker and checkpoints; changes
 * nothing. A new folder gets a random directory id, written by data_dir_set_identity(). `why`
 * gets a sentence on failure. 0, ERR_BUSY (another process), ERR_MALFORMED, ERR_IO, ERR_NO_SPACE,
 * … Blocks. */
int data_dir_open(struct data_dir **dir, struct fs *fs, const char *path, char *why,
                  size_t why_size);

/* Before anything is written: the clean marker counts once, so it goes for good; a folder in the place of a file
 * that can be done without is set aside. Without a marker, what the last
 * life left in the page cache is synced, all of the file system at once. What is refused before that
 * stays as clean as it was. Blocks. */
int data_dir_begin(struct data_dir *dir);

/* What lies there was put there by somebody else, just now perhaps: data_dir_begin() makes it last, clean marker
 * or not. */
void data_dir_distrust_cache(struct data_dir *dir);

/* Unlocks and frees; writes nothing. NULL is fine. */
void data_dir_close(struct data_dir *dir);

struct fs *data_dir_fs(const struct data_dir *dir);

/* What its logs have open, and blocks of their indexes. */
struct file_cache *data_dir_files(const struct data_dir *dir);
struct block_cache *data_dir_blocks(const struct data_dir *dir);

const char *data_dir_path(const struct data_dir *dir);
const struct data_dir_identity *data_dir_identity(const struct data_dir *dir);
/* The marker was there, and the recovery points are those that it was left with. */
bool data_dir_was_clean(const struct data_dir *dir);

/* The mark of a clean stop in a data folder. */
enum data_dir_mark {
    DATA_DIR_NO_MARK, /* A broker runs there, or its life did not end in a clean stop. */
    DATA_DIR_MARK_IS_NO_FILE,
    DATA_DIR_MARK_OF_OTHER_POINTS, /* The recovery points are not those that it was left with, */
    DATA_DIR_MARK_HOLDS,           /* or they are, or it does not say. */
};

/* Only looks: logs are taken for whole at the next start if it holds. The folder need not be open. 0, or why it,
 * or the recovery points, cannot be read. Blocks. */
int data_dir_look_at_mark(struct fs *fs, const char *folder, enum data_dir_mark *mark);

/* The directory ids of all data folders of the node, separated by commas; "" if not known. Written by
 * data_dir_set_identity(). 0 or ERR_NO_MEMORY. */
const char *data_dir_sisters(const struct data_dir *dir);
int data_dir_set_sisters(struct data_dir *dir, const char *sisters);

/* Writes meta.properties durably. Blocks. */
int data_dir_set_identity(struct data_dir *dir, const char *cluster_id, int32_t node_id);

/* The identity is another's: meta.properties is kept as meta.properties.adopted, durably, and the folder
 * is a new one. Blocks. */
int data_dir_disown(struct data_dir *dir);

enum checkpoint_kind {
    CHECKPOINT_RECOVERY_POINT,
    CHECKPOINT_LOG_START,
    CHECKPOINT_HIGH_WATERMARK,
    CHECKPOINT_CLEANED
};

/* The value read at open or set since; false if there is none. Any thread. */
bool data_dir_checkpoint(struct data_dir *dir, enum checkpoint_kind kind, const char *topic,
                         int32_t partition, int64_t *offset);

/* Remembers a value for the next data_dir_write_checkpoints(). -1 forgets it. 0 or ERR_NO_MEMORY. */
int data_dir_set_checkpoint(struct data_dir *dir, enum checkpoint_kind kind, const char *topic,
                            int32_t partition, int64_t offset);

/* May a crash find `offset` as the log's recovery point? So it is with what the file says, and with what one
 * that is being written says. What an opening there needs must be kept. Any thread. */
bool data_dir_may_name(struct data_dir *dir, const char *topic, int32_t partition, int64_t offset);

/* A new log is to be made: what the checkpoints say of an earlier one of that name is forgotten, on disk,
 * since it would be believed of the new one after a crash. Blocks if there is something to forget. */
int data_dir_forget(struct data_dir *dir, const char *topic, int32_t partition);

/* All partitions of the folder are known: forgets what is remembered of others. The number of those. `keeps` is
 * called under the lock. */
size_t data_dir_forget_others(struct data_dir *dir,
                              bool (*keeps)(void *context, const char *topic, int32_t partition),
                              void *context);

/* Replaces those of the files whose content changed, after the sync that a recovery point may wait for. Blocks. Any thread; callers wait for each
 * other, and what was set before the call is on disk after it. */
int data_dir_write_checkpoints(struct data_dir *dir);

/* Can the folder still be written to? Writes, syncs and removes a file in it. A full disk can. 0 or ERR_IO,
 * …. Blocks. */
int data_dir_probe(struct data_dir *dir);

/* Syncs the whole file system: whatever was written to the folder is on disk afterwards, unless a write of
 * it has failed since the folder was opened. Blocks. */
int data_dir_sync_all(struct data_dir *dir);

/* Does that reach all logs? Not those whose folder is a link, perhaps to another disk. Known from
 * data_dir_list() on. Any thread. */
bool data_dir_syncs_all_logs(struct data_dir *dir);

/* A write or a sync failed in the folder: what the page cache shows, now and in a life after a kill, may not be
 * on disk, and no sync brings it there. It has to be written again before it counts as durable. The next
 * clean stop ends that. Any thread. The first blocks, for no sync. */
void data_dir_note_failure(struct data_dir *dir);
bool data_dir_has_failed(struct data_dir *dir);

/* Is what a log that is opened finds in its folder on disk? So it is when all that earlier lives left was synced
 * when we began, until a log is closed, or its opening given up, with something that is not. Any thread. */
bool data_dir_holds_nothing_unsynced(struct data_dir *dir);
void data_dir_note_unsynced(struct data_dir *dir);

/* A recovery point that is set next holds only after data_dir_sync_all(): whoever writes the checkpoints first does
 * that, too. After a failure of it they are written no more. Any thread. */
void data_dir_owe_sync(struct data_dir *dir);

/* Everything was flushed and closed, and the checkpoints are written: leaves the marker. Blocks. */
int data_dir_mark_clean(struct data_dir *dir, int64_t broker_epoch);

/* May so much more be written of what only fills the disk (DESIGN 4.7)? What makes room, the metadata,
 * and what is needed to stop and to start again must still find space afterwards. Does not block. */
bool data_dir_has_room(struct data_dir *dir, int64_t bytes);

/* Renames a partition's folder to `<topic>-<partition>.<32 hex>-stray`: it belongs to another topic id
 * than the one wanted, and is not ours to remove. One line in the trace, an error if records of that name were on
 * disk. Blocks. */
int data_dir_set_aside(struct data_dir *dir, const char *topic, int32_t partition);

/* Is it the name of a partition's folder, `<topic>-<partition>`? A topic's own name may hold '-'. */
bool data_dir_parse_folder(struct str name, struct str *topic, int32_t *partition);

/* Calls `each` for every partition folder; what does not look like one is skipped, folders ending in
 * -delete are reported with is_deleted. */
int data_dir_list(struct data_dir *dir,
                  int (*each)(void *context, const char *folder, struct str topic,
                              int32_t partition, bool is_deleted),
                  void *context);

/* Renames a partition's folder to `<topic>-<partition>.<32 hex>-delete` and forgets its checkpoints:
 * data_dir_sweep_deleted() removes it. A topic may have thousands, so none is synced by itself: until the
 * next sweep or clean stop a power cut may bring the old name back, of a topic that the metadata deleted.
 * Blocks. */
int data_dir_give_up(struct data_dir *dir, const char *topic, int32_t partition);

/* Brings to disk what was given up, and removes up to `most` folders of deleted partitions, whatever is left
 * of them. *has_more: there are others. Any thread; callers wait for each other. Blocks. */
int data_dir_sweep_deleted(struct data_dir *dir, unsigned most, bool *has_more);

/* A stop does not wait for thousands of folders: what is left of them is for the next start. Any thread. */
void data_dir_stop_sweeping(struct data_dir *dir);

/* The budget of space that all logs together may reserve ahead: 1 % of the disk (DESIGN 4.2). False:
 * it is spent. Any thread. */
bool data_dir_take_reserve(struct data_dir *dir, int64_t bytes);
void data_dir_give_reserve(struct data_dir *dir, int64_t bytes);

#endif
