// SPDX-License-Identifier: Apache-2.0
/* A snapshot: the state after an entry, in place of all entries up to it. Its image, big-endian:
 *
 *    at  size  meaning
 *     0    4   "SLSN"
 *     4    2   version, 1
 *     6    2   zero
 *     8    4   CRC-32C of all that follows
 *    12    8   index of the last entry that is in it
 *    20    8   its term
 *    28    8   index of the newest members entry up to there
 *    36  4+n   payload of that entry (meta_members.h)
 *         8    next producer id
 *         4    number of commands (meta_command.h) that make the state out of an empty one, then each:
 *         8      index of the entry that it counts as: a broker's incarnation; 0 for the others
 *       4+n      the command
 *         4    number of topics that are no longer there, then for each as 4+n what would create it
 *
 * What is no longer there: topics whose folders a node may have to give up that starts from here
 * (DESIGN 8.5), since the entries that say so may be gone.
 *
 * To change it: raise the version, go on reading the old one, and save one written before the change in
 * tests/data/. A command that changes brings its own version along. */

#ifndef META_SNAPSHOT_H
#define META_SNAPSHOT_H

#include <stdint.h>

#include "buffer.h"
#include "fs.h"
#include "meta_apply.h"
#include "meta_core.h"
#include "meta_state.h"

/* Appends the image; the buffer remembers a lack of memory. `gone` has topics as `before`. Any thread
 * that owns what it is given. */
void meta_snapshot_encode(const struct meta_core_snapshot *at, const struct meta_state *state,
                          const struct meta_changes *gone, struct buffer *out);

/* Fills a state that was only initialised, and adds to `gone`. `at` borrows from the image. No byte of it
 * is believed. 0, ERR_CORRUPT_MESSAGE, ERR_UNSUPPORTED_VERSION (of a newer program), ERR_NO_MEMORY; then
 * the state is still to be closed, and useless. */
int meta_snapshot_decode(struct bytes image, struct meta_core_snapshot *at,
                         struct meta_state *state, struct meta_changes *gone);

/* ---- files: metadata-<index, 20 digits>.snapshot in the data folder ---- */

#define META_SNAPSHOTS_KEPT 2

/* Their indexes, newest first, at most `most` of them. Blocks. */
int meta_snapshot_list(struct fs *fs, const char *folder, int64_t *indexes, unsigned most,
                       unsigned *count);

/* Makes one durable: all of it or nothing is found by that name. Blocks. */
int meta_snapshot_write(struct fs *fs, const char *folder, int64_t index, struct bytes image);

/* The same in two steps: first all of it under another name, later in its place. Blocks. */
int meta_snapshot_write_ahead(struct fs *fs, const char *folder, struct bytes image);
int meta_snapshot_put_in_place(struct fs *fs, const char *folder, int64_t index);

/* The whole file, to be freed with mem_free(). Does not look into it. Blocks. */
int meta_snapshot_read(struct fs *fs, const char *folder, int64_t index, struct bytes *image);

/* Removes all but the newest `kept`. Blocks. */
int meta_snapshot_prune(struct fs *fs, const char *folder, unsigned kept);

/* At the start: removes what an earlier life left half done. Blocks. */
int meta_snapshot_sweep(struct fs *fs, const char *folder);

#endif
