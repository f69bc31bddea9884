// SPDX-License-Identifier: Apache-2.0
#include "compress.h"

#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "alloc.h"
#include "codec_memory.h"
#include "compressor.h"
#include "error.h"

/* A new codec: its number in enum codec, three functions and a row here, and the same in compressor.c. */
struct codec_row {
    const char *name;
    int default_level; /* As in Kafka (KIP-390). */
    int (*open)(struct decompressor *decompressor);
    int (*read)(struct decompressor *decompressor, uint8_t *out, size_t capacity, size_t *length);
    void (*close)(struct decompressor *decompressor);
};

struct decompressor {
    const struct codec_row *codec;
    const uint8_t *at, *end; /* What is still to be read. */
    int64_t bytes_left;      /* Of the output that is allowed. */
    int failed;
    bool inside; /* A member or frame has begun and not ended. */
    union {
        z_stream gzip;
        LZ4F_dctx *lz4;
        ZSTD_DStream *zstd;
        struct {
            bool is_framed;
            uint8_t *block; /* The chunk that is being handed out. */
            size_t length, taken, capacity;
        } snappy;
    };
};

static size_t input_left(const struct decompressor *decompressor)
{
    return (size_t)(decompressor->end - decompressor->at);
}

/* ---- gzip: one or several members; what follows the last one and is none is not looked at, as in
 * Kafka's reader. */

#define GZIP_WINDOW (15 + 16) /* 32 KiB, and gzip's frame around it. */

static int gzip_open(struct decompressor *decompressor)
{
    z_stream *stream = &decompressor->gzip;
    stream->zalloc = codec_zlib_alloc;
    stream->zfree = codec_zlib_free;
    decompressor->inside = true; /* Not even an empty stream is without a member. */
    return inflateInit2(stream, GZIP_WINDOW) == Z_OK ? 0 : ERR_NO_MEMORY;
}

static bool gzip_member_follows(const struct decompressor *decompressor)
{
    return input_left(decompressor) >= 2 && decompressor->at[0] == 0x1f &&
           decompressor->at[1] == 0x8b;
}

static int gzip_read(struct decompressor *decompressor, uint8_t *out, size_t capacity,
                     size_t *length)
{
    z_stream *stream = &decompressor->gzip;
    stream->next_out = out;
    stream->avail_out = capacity > UINT32_MAX ? UINT32_MAX : (unsigned)capacity;
    while (decompressor->inside && stream->next_out == out) {
        size_t given = input_left(decompressor) > UINT32_MAX ? UINT32_MAX
                                                             : input_left(decompressor);
        stream->next_in = (uint8_t *)(uintptr_t)decompressor->at;
        stream->avail_in = (unsigned)given;
        int result = inflate(stream, Z_NO_FLUSH);
        decompressor->at += given - stream->avail_in;
        if (result == Z_MEM_ERROR) return ERR_NO_MEMORY;
        if (result != Z_OK && result != Z_STREAM_END)
            return ERR_MALFORMED; /* Z_BUF_ERROR: it ends too early. */
        if (result == Z_STREAM_END) {
            decompressor->inside = gzip_member_follows(decompressor);
            inflateReset(stream);
        }
    }
    *length = (size_t)(stream->next_out - out);
    return 0;
}

static void gzip_close(struct decompressor *decompressor)
{
    inflateEnd(&decompressor->gzip);
}

/* ---- snappy: chunks in the frame of snappy-java, several streams one after the other; or one raw
 * block without a frame. */

#define SNAPPY_HEADER_SIZE 16
#define SNAPPY_RATIO_MAX   22 /* A copy of 3 bytes gives at most 64. */

static const uint8_t snappy_magic[8] = { 0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0 };

static bool snappy_header_follows(const struct decompressor *decompressor)
{
    return input_left(decompressor) >= SNAPPY_HEADER_SIZE &&
           memcmp(decompressor->at, snappy_magic, sizeof snappy_magic) == 0;
}

static int snappy_open(struct decompressor *decompressor)
{
    decompressor->snappy.is_framed = snappy_header_follows(decompressor);
    decompressor->inside = true;
    return 0;
}

static int snappy_read_block(struct decompressor *decompressor, size_t compressed)
{
    const char *block = (const char *)decompressor->at;
    size_t length;
    if (snappy_uncompressed_length(block, compressed, &length) != SNAPPY_OK ||
        length / SNAPPY_RATIO_MAX > compressed)
        return ERR_MALFORMED;
    if (length > (uint64_t)decompressor->bytes_left) return ERR_LIMIT;
    if (decompressor->snappy.block == NULL || length > decompressor->snappy.capacity) {
        mem_free(decompressor->snappy.block);
        decompressor->snappy.capacity = 0;
        decompressor->snappy.block = mem_alloc(length);
        if (decompressor->snappy.block == NULL) return ERR_NO_MEMORY;
        decompressor->snappy.capacity = length;
    }
    size_t written = decompressor->snappy.capacity;
    if (snappy_uncompress(block, compressed, (char *)decompressor->snappy.block, &written) !=
        SNAPPY_OK)
        return ERR_MALFORMED;
    decompressor->snappy.length = written;
    decompressor->snappy.taken = 0;
    return 0;
}

/* Makes the next chunk the current one; `inside` is false when there is none. */
static int snappy_next_block(struct decompressor *decompressor)
{
    size_t compressed = input_left(decompressor);
    decompressor->snappy.length = decompressor->snappy.taken = 0;
    if (decompressor->snappy.is_framed) {
        while (snappy_header_follows(decompressor)) {
            if (load_i32(decompressor->at + 8) < 1 || load_i32(decompressor->at + 12) < 1)
                return ERR_MALFORMED; /* Version, and the oldest that can read it. */
            decompressor->at += SNAPPY_HEADER_SIZE;
        }
        decompressor->inside = input_left(decompressor) > 0;
        if (!decompressor->inside) return 0;
        if (input_left(decompressor) < 4) return ERR_MALFORMED;
        int32_t chunk = load_i32(decompressor->at);
        decompressor->at += 4;
        if (chunk <= 0 || (size_t)chunk > input_left(decompressor)) return ERR_MALFORMED;
        compressed = (size_t)chunk;
    }
    int err = snappy_read_block(decompressor, compressed);
    if (err == 0) decompressor->at += compressed;
    return err;
}

static int snappy_read(struct decompressor *decompressor, uint8_t *out, size_t capacity,
                       size_t *length)
{
    int err = 0;
    while (err == 0 && decompressor->inside &&
           decompressor->snappy.taken == decompressor->snappy.length) {
        err = snappy_next_block(decompressor);
        if (!decompressor->snappy.is_framed)
            decompressor->inside = false; /* A raw block is alone. */
    }
    if (err != 0) return err;
    size_t part = decompressor->snappy.length - decompressor->snappy.taken;
    if (part > capacity) part = capacity;
    if (part > 0) memcpy(out, decompressor->snappy.block + decompressor->snappy.taken, part);
    decompressor->snappy.taken += part;
    *length = part;
    return 0;
}

static void snappy_close(struct decompressor *decompressor)
{
    mem_free(decompressor->snappy.block);
}

/* ---- lz4: frames; linked blocks and a second frame too, which Kafka's reader refuses
 * (docs/compatibility.md). What follows the last frame and is none is not looked at, as in
 * Kafka's reader. */

#define LZ4_MAGIC           0x184D2204U
#define LZ4_SKIPPABLE_MAGIC 0x184D2A50U /* To …5F. */

static int lz4_open(struct decompressor *decompressor)
{
    decompressor->inside = true;
    return LZ4F_isError(LZ4F_createDecompressionContext(&decompressor->lz4, LZ4F_VERSION))
               ? ERR_NO_MEMORY
               : 0;
}

static bool lz4_frame_follows(const struct decompressor *decompressor)
{
    uint32_t magic;
    if (input_left(decompressor) < sizeof magic) return false;
    memcpy(&magic, decompressor->at, sizeof magic);
    magic = le32toh(magic);
    return magic == LZ4_MAGIC || (magic & ~15U) == LZ4_SKIPPABLE_MAGIC;
}

static int lz4_read(struct decompressor *decompressor, uint8_t *out, size_t capacity,
                    size_t *length)
{
    size_t written = 0;
    while (decompressor->inside && written == 0) {
        size_t taken = input_left(decompressor);
        written = capacity;
        size_t wanted = LZ4F_decompress(decompressor->lz4, out, &written, decompressor->at, &taken,
                                        NULL);
        if (LZ4F_isError(wanted)) return ERR_MALFORMED;
        decompressor->at += taken;
        if (wanted == 0)
            decompressor->inside = lz4_frame_follows(decompressor);
        else if (written == 0 && taken == 0)
            return ERR_MALFORMED; /* It ends too early. */
    }
    *length = written;
    return 0;
}

static void lz4_close(struct decompressor *decompressor)
{
    LZ4F_freeDecompressionContext(decompressor->lz4);
}

/* ---- zstd: frames, and skippable ones between them. */

#define ZSTD_WINDOW_LOG_MAX 27 /* 128 MiB, as in Kafka. */

static int zstd_open(struct decompressor *decompressor)
{
    decompressor->zstd = ZSTD_createDStream();
    if (decompressor->zstd == NULL) return ERR_NO_MEMORY;
    ZSTD_DCtx_setParameter(decompressor->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
    return 0;
}

static int zstd_read(struct decompressor *decompressor, uint8_t *out, size_t capacity,
                     size_t *length)
{
    ZSTD_inBuffer from = { decompressor->at, input_left(decompressor), 0 };
    ZSTD_outBuffer to = { out, capacity, 0 };
    while (to.pos == 0 && (from.pos < from.size || decompressor->inside)) {
        size_t before = from.pos;
        size_t wanted = ZSTD_decompressStream(decompressor->zstd, &to, &from);
        if (ZSTD_getErrorCode(wanted) == ZSTD_error_memory_allocation) return ERR_NO_MEMORY;
        if (ZSTD_isError(wanted)) return ERR_MALFORMED;
        decompressor->inside = wanted != 0;
        if (wanted != 0 && to.pos == 0 && from.pos == before)
            return ERR_MALFORMED; /* It ends too early. */
    }
    decompressor->at += from.pos;
    *length = to.pos;
    return 0;
}

static void zstd_close(struct decompressor *decompressor)
{
    ZSTD_freeDStream(decompressor->zstd);
}

/* ---- the table, and what all codecs share. */

/* clang-format off */
static const struct codec_row codecs[] = {
    [CODEC_NONE]   = { "none",   0, NULL,        NULL,        NULL },
    [CODEC_GZIP]   = { "gzip",  -1, gzip_open,   gzip_read,   gzip_close },
    [CODEC_SNAPPY] = { "snappy", 0, snappy_open, snappy_read, snappy_close },
    [CODEC_LZ4]    = { "lz4",    9, lz4_open,    lz4_read,    lz4_close },
    [CODEC_ZSTD]   = { "zstd",   3, zstd_open,   zstd_read,   zstd_close },
};
/* clang-format on */

#define CODEC_COUNT (sizeof codecs / sizeof codecs[0])

int decompressor_open(struct decompressor **decompressor, enum codec codec, const void *data,
                      size_t length, int64_t max_bytes)
{
    if ((unsigned)codec >= CODEC_COUNT || codecs[codec].open == NULL)
        return ERR_UNSUPPORTED_COMPRESSION_TYPE;
    struct decompressor *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->codec = &codecs[codec];
    opened->at = data;
    opened->end = (const uint8_t *)data + length;
    opened->bytes_left = max_bytes < 0 ? 0 : max_bytes;
    int err = opened->codec->open(opened);
    if (err == 0)
        *decompressor = opened;
    else
        mem_free(opened);
    return err;
}

void decompressor_close(struct decompressor *decompressor)
{
    if (decompressor == NULL) return;
    decompressor->codec->close(decompressor);
    mem_free(decompressor);
}

int decompressor_read(struct decompressor *decompressor, void *out, size_t capacity, size_t *length)
{
    size_t got = 0;
    if (decompressor->failed == 0 && capacity > 0)
        decompressor->failed = decompressor->codec->read(decompressor, out, capacity, &got);
    if (decompressor->failed == 0 && got > (uint64_t)decompressor->bytes_left)
        decompressor->failed = ERR_LIMIT;
    if (decompressor->failed != 0) return decompressor->failed;
    decompressor->bytes_left -= (int64_t)got;
    *length = got;
    return 0;
}

int codec_compress(enum codec codec, int level, const void *data, size_t length, struct buffer *out)
{
    struct compressor *compressor = NULL;
    size_t before = out->length;
    int err = codec == CODEC_NONE
                  ? ERR_UNSUPPORTED_COMPRESSION_TYPE
                  : compressor_open(&compressor, codec, level, length, out, INT32_MAX);
    if (err == 0) err = compressor_write(compressor, data, length);
    if (err == 0) err = compressor_finish(compressor);
    compressor_close(compressor);
    if (err != 0) out->length = before;
    return err;
}

int codec_default_level(enum codec codec)
{
    return (unsigned)codec < CODEC_COUNT ? codecs[codec].default_level : 0;
}

const char *codec_name(unsigned codec)
{
    return codec < CODEC_COUNT ? codecs[codec].name : NULL;
}
