// SPDX-License-Identifier: Apache-2.0
/* An entry of the metadata log as a record batch. Three fields of its header are of use to producers only,
 * and there are none; the log says in two of them what Kafka's format has no place for:
 *
 *    producer epoch   the term's low 15 bits: the leader epoch, which is the term, lies in front of the CRC.
 *                     -1 in logs of before: not said
 *    base sequence    how far the log was on the disk when the batch was written: all below the base offset,
 *                     but for the last so many less one. -1 in logs of before, and where it has no room: not
 *                     said */

#ifndef META_BATCH_H
#define META_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "batch_builder.h"
#include "meta_entry.h"
#include "record_batch.h"

/* Appends the batch to `out`. `flushed_index`: all entries up to it are on the disk. 0, or as
 * batch_builder_finish(). */
int meta_batch_put(struct batch_builder *builder, struct buffer *out, int64_t index,
                   const struct meta_entry *entry, int64_t flushed_index, int64_t now_ms);

/* May the log have written a batch with this header? Says nothing of CRC and index. */
bool meta_batch_is_right(const struct record_batch *batch);

/* The index behind the last of which the batch says that it was on the disk; 0: it does not say. */
int64_t meta_batch_on_disk_before(const struct record_batch *batch);

/* The entry that the batch's record holds; its payload is the record's value. Says nothing of the payload.
 * 0 or ERR_CORRUPT_MESSAGE. */
int meta_batch_read_record(const struct record_batch *batch, const struct record *record,
                           struct meta_entry *entry);

#endif
