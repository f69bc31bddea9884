// SPDX-License-Identifier: Apache-2.0
/* A raft message as bytes between nodes: one frame each, big-endian.
 *
 *    at  size  meaning
 *     0    4   length of what follows
 *     4    4   CRC-32C of what follows this
 *     8    1   version, 1
 *     9    1   type (meta_entry.h)
 *    10    2   zero
 *    12    4   node id of the sender
 *    16    4   node id of the receiver
 *    20    8   term
 *    28   16   id of the disk that holds the sender's log
 *    44        by type:
 *
 *    append          previous index 8, its term 8, leader's commit index 8, count 4, then for each entry:
 *                    term 8, type 1, payload 4+n (length -1: none)
 *    append result   rejected 8, last index 8
 *    vote            candidate 4, last index 8, its term 8, flags 1: 1 disrupts the leader, 2 a pre-vote
 *    vote result     flags 1: 1 granted, 2 a pre-vote
 *    timeout now     last index 8, its term 8
 *    snapshot        index 8, its term 8, index of members 8, members 4+n, image 4+n
 *
 * The cluster is agreed on when a connection begins (DESIGN 7.7). A connection carries frames in order,
 * and none of an earlier connection. */

#ifndef META_WIRE_H
#define META_WIRE_H

#include "arena.h"
#include "buffer.h"
#include "meta_entry.h"

#define META_WIRE_LENGTH_SIZE 4

/* No frame but a snapshot's is larger: the core sends entries in messages of a megabyte, and one more
 * entry. */
#define META_WIRE_MAX_SIZE (META_ENTRY_MAX_SIZE + (2 << 20))

/* Appends one frame; the buffer remembers a lack of memory. */
void meta_wire_encode(const struct meta_message *message, struct buffer *out);

/* `frame` is all of one, with its length. What the message points to lives in the frame or in the arena.
 * Everything is looked at, also whether it makes sense (meta_message_check()). 0, ERR_MALFORMED,
 * ERR_CORRUPT_MESSAGE (its CRC), ERR_UNSUPPORTED_VERSION, ERR_NO_MEMORY. */
int meta_wire_decode(struct meta_message *message, struct bytes frame, struct arena *arena);

#endif
