// SPDX-License-Identifier: Apache-2.0
/* The metadata log: raft's entries in a partition log of storage, folder __sluice_metadata-0.
 *
 *  (1) An entry's index is its offset; the first is 1. A batch holds one entry and its leader epoch
 *      is the entry's term; what is appended together is still written together. A record's key is
 *      one byte, the entry's type (meta_entry.h), its value is the payload, null for none (DESIGN
 *      7.1). (A batch of several would be cut as a whole where a new leader's log differs in its
 *      middle, and the entries in front of that may be ones that we have acknowledged.)
 *  (2) Recovery is strict. What is known to have been on the disk must be there and right; a bad batch
 *      is cut only where nothing says so, in the last segment. It is said by the vote file
 *      (`persisted_index`), and by each batch about what was in front of it when it was written
 *      (meta_batch.h): in a write that was torn, what reached the disk says nothing of what did not.
 *      Batches of a term below the vote file's are not asked: a truncation that a power cut interrupted
 *      may leave some of them behind a hole, and only a leader of a later term removes any. What they
 *      know was stored with that term. What is found above the recovery point is written once more
 *      before it counts as stored: after an fsync that failed the page cache may show what the disk
 *      never got.
 *  (3) Every batch is checked again when it is read, also below the recovery point.
 *  (4) Group commit: one flush is on its way at a time; all that was appended meanwhile is the next
 *      one's.
 *  (5) Space behind the end is kept reserved, and on a full disk no segment is begun: the last one goes
 *      on in what is reserved, past its size. So what must be written can be.
 *
 * All on one thread, except that the flush itself runs on the executor. Appends and reads of what
 * is not in memory may wait for the disk: the meta thread serves no client. */

#ifndef META_LOG_H
#define META_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "clock.h"
#include "data_dir.h"
#include "job.h"
#include "message.h"
#include "meta_entry.h"

#define META_LOG_TOPIC "__sluice_metadata"

struct meta_log;

/* Opens or makes the log; all that it holds is on the disk then. `why` gets a sentence on failure:
 * ERR_CORRUPT_MESSAGE by (2), ERR_IO, ERR_NO_SPACE, ERR_NO_MEMORY. Blocks. `term`, `persisted_index`: the
 * vote file's. `snapshot_index`: of the newest snapshot, 0: none; only behind that may the log have been about to
 * begin anew (meta_log_restart()). */
int meta_log_open(struct meta_log **log, struct data_dir *dir, struct clock *clock, int64_t term,
                  int64_t persisted_index, int64_t snapshot_index, char *why, size_t why_size);

/* The sentence for ERR_CORRUPT_MESSAGE, also where a read gave it. */
void meta_log_explain_damage(const struct meta_log *log, char *why, size_t why_size);

/* No flush may be on its way. Does not flush. NULL is fine. Blocks. */
void meta_log_close(struct meta_log *log);

int64_t meta_log_first_index(const struct meta_log *log);
int64_t meta_log_last_index(const struct meta_log *log); /* first - 1: empty. */
int64_t meta_log_last_term(const struct meta_log *log);  /* 0: empty. */

int64_t meta_log_flushed_index(const struct meta_log *log); /* All up to it is on the disk. */

/* Removes what is at and above `first_index` and appends. 0, or an error after which the process
 * must end. May block. */
int meta_log_append(struct meta_log *log, int64_t first_index, const struct meta_entry *entries,
                    unsigned count);

/* Removes everything; the next entry is `first_index`. May block. The rest as for an append. */
int meta_log_restart(struct meta_log *log, int64_t first_index);

/* What lies in front of `first_index` is no longer needed. Whole segments go; the rest is there but not
 * read. May block. The rest as for an append. */
int meta_log_trim(struct meta_log *log, int64_t first_index);

/* Entries that are there. Payloads stay until the next append, or are copied into the arena. 0,
 * ERR_NOT_FOUND, ERR_CORRUPT_MESSAGE by (3), ERR_IO, ERR_NO_MEMORY. May block. */
int meta_log_read(struct meta_log *log, int64_t first_index, unsigned count,
                  struct meta_entry *entries, struct arena *arena);

/* Where flushes run and who hears of them, on the owner's thread: all writes up to `write` are on the
 * disk, or `err` says why they are not. */
struct meta_log_flusher {
    struct executor *executor;
    struct mailbox *owner;
    void (*flushed)(struct meta_log_flusher *flusher, uint64_t write, int err);
};
void meta_log_set_flusher(struct meta_log *log, struct meta_log_flusher *flusher);

/* Everything appended so far is `write`: makes it durable, by (4). */
void meta_log_want_flush(struct meta_log *log, uint64_t write);
bool meta_log_is_flushing(const struct meta_log *log);

/* Flushes here and now, and moves the recovery point, so that the next start reads less. Blocks. */
int meta_log_checkpoint(struct meta_log *log);

#endif
