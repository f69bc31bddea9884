// SPDX-License-Identifier: Apache-2.0
/* A checked batch with its records in another codec, for topics that have one of their own. */

#ifndef STORAGE_BATCH_RECOMPRESS_H
#define STORAGE_BATCH_RECOMPRESS_H

#include "buffer.h"
#include "record_batch.h"

/* Appends the batch to `out`. Its records are the same bytes, so offsets and timestamps stay, as do all
 * fields of the header but codec, length and CRC. Memory: a window of either codec, and `max_bytes` for
 * the new batch. Any thread; bulky. 0, ERR_MESSAGE_TOO_LARGE (more than max_bytes), ERR_INVALID_RECORD
 * (broken, or more than max_decompressed_bytes), ERR_UNSUPPORTED_COMPRESSION_TYPE, ERR_NO_MEMORY. */
int batch_recompress(const struct record_batch *batch, enum codec codec, int level,
                     int64_t max_decompressed_bytes, size_t max_bytes, struct buffer *out);

#endif
