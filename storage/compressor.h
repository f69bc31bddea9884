// SPDX-License-Identifier: Apache-2.0
/* Writing a compressed stream piece by piece, in the framing that Kafka writes.
 *
 * Memory stays bounded however much goes in: a window of the codec, and at most `max_bytes` of what
 * comes out. */

#ifndef STORAGE_COMPRESSOR_H
#define STORAGE_COMPRESSOR_H

#include <stddef.h>

#include "buffer.h"
#include "record_batch.h"

struct compressor;

/* What it writes is appended to `out`, which it borrows until compressor_close(). `expected` is about how
 * much will go in: small streams get small windows. CODEC_NONE copies. 0, ERR_NO_MEMORY,
 * ERR_UNSUPPORTED_COMPRESSION_TYPE. */
int compressor_open(struct compressor **compressor, enum codec codec, int level, size_t expected,
                    struct buffer *out, size_t max_bytes);
void compressor_close(struct compressor *compressor); /* NULL is fine. */

/* 0, ERR_NO_MEMORY, ERR_LIMIT (more than max_bytes came out). After a failure only close is allowed. */
int compressor_write(struct compressor *compressor, const void *data, size_t length);

/* The end of the stream. Errors as above. */
int compressor_finish(struct compressor *compressor);

#endif
