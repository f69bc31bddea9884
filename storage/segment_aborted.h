// SPDX-License-Identifier: Apache-2.0
/* The transaction index of a segment: most segments have none, and then neither file nor memory. */

#ifndef STORAGE_SEGMENT_ABORTED_H
#define STORAGE_SEGMENT_ABORTED_H

#include "segment.h"
#include "txn_index.h"

/* The segment's index, made if need be; it lives as long as the segment. 0 or ERR_NO_MEMORY. Writer. */
int segment_aborted_index(struct segment *segment, struct txn_index **index);

/* Takes over the segment's file, as txn_index_load(). ERR_CORRUPT_MESSAGE: it is to be built again. Nobody
 * else has the segment yet. Blocks. */
int segment_aborted_load(struct segment *segment, bool may_be_torn);

/* Room for `count` more. ERR_NEEDS_IO, ERR_NO_MEMORY, …. Writer. */
int segment_aborted_reserve(struct segment *segment, size_t count, bool may_block);

/* There must be room. Writer. */
void segment_aborted_append(struct segment *segment, const struct aborted_transaction *aborted);

/* To the page cache, or to the disk but for the name of a new file; what was built again takes its place. Not
 * while it is being built. Blocks. */
int segment_aborted_write(struct segment *segment, bool sync);

/* Gives up the memory for entries, if none wait; as segment_close_indexes(). */
void segment_aborted_let_go(struct segment *segment);

/* Drops what ended at or above `offset`. Writer. Blocks. */
int segment_aborted_truncate(struct segment *segment, int64_t offset);

/* As txn_index_find(). Any thread with a reference. */
int segment_aborted_find(struct segment *segment, bool may_block, int64_t from, int64_t below,
                         size_t limit, struct aborted_list *list, bool *is_complete);

/* A `.txnindex.tmp` says that a segment's transaction index is to be built again, also if there is none or a
 * good one: it goes when the new index takes that place.
 *
 * segment_aborted_note_loss(): the other indexes are lost and will be made again, after which nothing of them
 * tells that one was lost, too. Leaves a `.txnindex.tmp` on disk, unless the segment has an index. Blocks. */
int segment_aborted_note_loss(struct segment *segment);

/* From here until segment_aborted_complete() it is built again beside the bad file, which stays until the
 * new one is complete: it would otherwise be forgotten that something is missing. Nobody else has the
 * segment yet. Blocks. */
int segment_aborted_begin_again(struct segment *segment);

/* All that a replay found was appended: what was built again is on disk but for its name, the rest in the
 * page cache. ERR_NO_SPACE: it serves, and segment_aborted_write() will do the rest. Nobody else has the
 * segment yet. Blocks. */
int segment_aborted_complete(struct segment *segment);

#endif
