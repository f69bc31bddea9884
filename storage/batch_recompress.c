// SPDX-License-Identifier: Apache-2.0
#include "batch_recompress.h"

#include "alloc.h"
#include "compress.h"
#include "compressor.h"
#include "error.h"

#define PIECE_BYTES 16384

/* How much records that take this much compressed may have been: sizes a window, decides nothing. */
#define USUAL_RATIO 4

static int copy_pieces(struct decompressor *from, struct compressor *to, uint8_t *piece)
{
    size_t length = 1;
    int err = 0;
    while (err == 0 && length > 0) {
        err = decompressor_read(from, piece, PIECE_BYTES, &length);
        if (err == ERR_LIMIT || err == ERR_MALFORMED) return ERR_INVALID_RECORD;
        if (err == 0) err = compressor_write(to, piece, length);
    }
    return err;
}

static int copy_records(const struct record_batch *batch, int64_t max_decompressed_bytes,
                        struct compressor *to)
{
    const uint8_t *payload = batch->data + RECORD_BATCH_HEADER_SIZE;
    size_t length = batch->size - RECORD_BATCH_HEADER_SIZE;
    unsigned codec = batch->attributes & BATCH_CODEC_MASK;
    if (codec == CODEC_NONE) return compressor_write(to, payload, length);

    struct decompressor *from = NULL;
    uint8_t *piece = mem_alloc(PIECE_BYTES);
    int err = piece == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = decompressor_open(&from, codec, payload, length, max_decompressed_bytes);
    if (err == 0) err = copy_pieces(from, to, piece);
    decompressor_close(from);
    mem_free(piece);
    return err;
}

int batch_recompress(const struct record_batch *batch, enum codec codec, int level,
                     int64_t max_decompressed_bytes, size_t max_bytes, struct buffer *out)
{
    struct compressor *compressor = NULL;
    size_t before = out->length, expected = batch->size;
    if (max_bytes < RECORD_BATCH_HEADER_SIZE) return ERR_MESSAGE_TOO_LARGE;
    if (max_bytes > INT32_MAX) max_bytes = INT32_MAX;
    if ((batch->attributes & BATCH_CODEC_MASK) != CODEC_NONE) expected *= USUAL_RATIO;
    buffer_put(out, batch->data, RECORD_BATCH_HEADER_SIZE);
    int err = out->failed ? ERR_NO_MEMORY : 0;
    if (err == 0)
        err = compressor_open(&compressor, codec, level, expected, out,
                              max_bytes - RECORD_BATCH_HEADER_SIZE);
    if (err == 0) err = copy_records(batch, max_decompressed_bytes, compressor);
    if (err == 0) err = compressor_finish(compressor);
    compressor_close(compressor);
    if (err == 0)
        record_batch_set_codec(out->data + before, out->length - before, codec);
    else
        out->length = before;
    return err == ERR_LIMIT ? ERR_MESSAGE_TOO_LARGE : err;
}
