// SPDX-License-Identifier: Apache-2.0
/* Term and vote on the disk: the file `quorum-state`, rewritten in place, so that a full disk does
 * not matter. Three copies, each in a sector and page of its own. The first two are synced, and used in turn:
 * a torn write harms only the older one. The third says the same as the newer, and how much of the log has come
 * to the disk since: it is written whenever that is more, and not synced, so nothing waits for it. A kill leaves
 * it, a power cut perhaps an earlier one, which is true as well; it counts if its sequence is not below the
 * others'. Copy n lies at n * 4096, big-endian:
 *
 *    at  size  meaning
 *     0    4   "SLQS"
 *     4    2   version, 1
 *     6    2   zero
 *     8    8   sequence: the copy with the higher one counts
 *    16    8   term
 *    24    4   node id voted for in that term, -1 nobody
 *    28    8   persisted: the log is known to have been on the disk up to this index
 *    36    4   CRC-32C of the 36 bytes before */

#ifndef META_VOTE_H
#define META_VOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fs.h"

#define META_VOTE_COPY_SIZE    40
#define META_VOTE_COPY_SPACING 4096
#define META_VOTE_COPIES       3

/* One copy, as it lies in the file. */
struct meta_vote_copy {
    int64_t sequence;
    int64_t term;
    int32_t voted_for;
    int64_t persisted_index;
};

/* False: these bytes are no whole copy that may lie at place `number`. */
bool meta_vote_read_copy(struct meta_vote_copy *copy, int number,
                         const uint8_t bytes[META_VOTE_COPY_SIZE]);

struct meta_vote {
    struct fs *fs;
    int fd;
    bool is_new;      /* There was no file. */
    int64_t sequence; /* Of the newest copy. */
    int64_t term;     /* 0: nothing was ever stored. */
    int32_t voted_for;
    int64_t persisted_index;
    int64_t noted_index; /* At least that: what the third copy says. */
};

/* Opens or makes the file; what it says is durable then. One damaged copy is passed over with a line in the trace. `why` gets a
 * sentence on failure: ERR_CORRUPT_MESSAGE if both are damaged, ERR_IO, ERR_NO_SPACE. Blocks. */
int meta_vote_open(struct meta_vote *vote, struct fs *fs, const char *path, char *why,
                   size_t why_size);

/* Makes the new values durable, then remembers them. After a failure nothing is known of what the
 * disk holds: the process must end (DESIGN 7.1). Blocks. */
int meta_vote_store(struct meta_vote *vote, int64_t term, int32_t voted_for,
                    int64_t persisted_index);

/* More of the log is on the disk: remembers it without a sync. It is missed from now on if
 * it is gone at the next start: before any of it is removed, a lower index must be stored. 0, or an error after which
 * the process must end. */
int meta_vote_note(struct meta_vote *vote, int64_t persisted_index);

void meta_vote_close(struct meta_vote *vote); /* Fine after a failed open, and twice. */

#endif
