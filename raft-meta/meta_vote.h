// SPDX-License-Identifier: Apache-2.0
/* Term and vote on the disk: the file `quorum-state`, rewritten in place, so that a full disk does
 * not matter. Two copies, used in turn, each in a sector and page of its own: a torn write harms
 * only the older one. Copy n lies at n * 4096, big-endian:
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

/* One copy, as it lies in the file. */
struct meta_vote_copy {
    int64_t sequence;
    int64_t term;
    int32_t voted_for;
    int64_t persisted_index;
};

/* False: these bytes are no whole copy. */
bool meta_vote_read_copy(struct meta_vote_copy *copy, const uint8_t bytes[META_VOTE_COPY_SIZE]);

struct meta_vote {
    struct fs *fs;
    int fd;
    bool is_new;      /* There was no file. */
    int64_t sequence; /* Of the newest copy. */
    int64_t term;     /* 0: nothing was ever stored. */
    int32_t voted_for;
    int64_t persisted_index;
};

/* Opens or makes the file; what it says is durable then. One damaged copy is passed over with a line in the trace. `why` gets a
 * sentence on failure: ERR_CORRUPT_MESSAGE if both are damaged, ERR_IO, ERR_NO_SPACE. Blocks. */
int meta_vote_open(struct meta_vote *vote, struct fs *fs, const char *path, char *why,
                   size_t why_size);

/* Makes the new values durable, then remembers them. After a failure nothing is known of what the
 * disk holds: the process must end (DESIGN 7.1). Blocks. */
int meta_vote_store(struct meta_vote *vote, int64_t term, int32_t voted_for,
                    int64_t persisted_index);

void meta_vote_close(struct meta_vote *vote); /* Fine after a failed open, and twice. */

#endif
