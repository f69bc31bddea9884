// SPDX-License-Identifier: Apache-2.0
/* Where the whole batches of a segment end.
 *
 * After a clean stop nobody reads a segment that was there before. If somebody has cut its file or something
 * was added to it meanwhile, then what lies behind the last whole batch must not go to a client. So the end is
 * looked at once, before the first answer that reaches it. Any thread that holds a reference to the segment. */

#ifndef STORAGE_SEGMENT_END_H
#define STORAGE_SEGMENT_END_H

#include "segment_find.h"

/* Walks headers from the last batch that the offset index has to the view's end, and checks the last one's CRC.
 * Where that batch is not what the index says, it begins further in front: the way then is about as long as the
 * damage, or all of the segment if its index is wrong. ERR_NEEDS_IO, …; also where that is too long and it may
 * not block. */
int segment_end_find(const struct segment_view *view, struct segment_damage *damage);

/* The offset behind the last batch in front of `position`, where a batch ends; the segment's base offset
 * if there is none. ERR_CORRUPT_MESSAGE if none ends there. Looks at headers only. Blocks. */
int segment_end_offset(struct segment *segment, int64_t position, int64_t *end_offset);

#endif
