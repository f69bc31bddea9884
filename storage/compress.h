// SPDX-License-Identifier: Apache-2.0
/* The codecs of record batches: reading any of them piece by piece, and writing each as Kafka does
 * (piece by piece: compressor.h).
 *
 * What is read came from a client or a disk. Memory stays bounded whatever it claims: gzip and lz4
 * need a window of fixed size, zstd one of at most 128 MiB (and only as much as really comes out),
 * a snappy block at most 22 times its compressed bytes, which is all that the format can reach.
 *
 * A codec is one row of the table in compress.c. */

#ifndef STORAGE_COMPRESS_H
#define STORAGE_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "record_batch.h"

struct decompressor;

/* Reads `data`, which must stay until decompressor_close(); more than `max_bytes` of output is an
 * error. 0, ERR_NO_MEMORY, ERR_UNSUPPORTED_COMPRESSION_TYPE (none of ours; CODEC_NONE too). */
int decompressor_open(struct decompressor **decompressor, enum codec codec, const void *data,
                      size_t length, int64_t max_bytes);
void decompressor_close(struct decompressor *decompressor); /* NULL is fine. */

/* The next bytes, at most `capacity`; 0 of them at the end of a stream that was whole.
 * ERR_MALFORMED (broken, cut, or a checksum is wrong), ERR_LIMIT (more than max_bytes),
 * ERR_NO_MEMORY; a decompressor that failed fails again. */
int decompressor_read(struct decompressor *decompressor, void *out, size_t capacity,
                      size_t *length);

/* Appends `data`, compressed at `level`, in the framing that Kafka writes. 0, ERR_NO_MEMORY,
 * ERR_UNSUPPORTED_COMPRESSION_TYPE, ERR_LIMIT (larger than the codec can take). */
int codec_compress(enum codec codec, int level, const void *data, size_t length,
                   struct buffer *out);

/* Kafka's default level; 0 for codecs that have none. */
int codec_default_level(enum codec codec);

/* "none", "gzip" …; NULL for numbers that are no codec. */
const char *codec_name(unsigned codec);

#endif
