// SPDX-License-Identifier: Apache-2.0
#include "compressor.h"

#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include "alloc.h"
#include "codec_memory.h"
#include "error.h"

#define PIECE_BYTES 65536 /* What goes into a codec at once, so that what comes out is bounded. */

/* A new codec: its number in enum codec, four functions, a row in the table below. */
struct compressor_row {
    int (*open)(struct compressor *compressor, int level, size_t expected);
    int (*write)(struct compressor *compressor, const uint8_t *data, size_t length);
    int (*finish)(struct compressor *compressor);
    void (*close)(struct compressor *compressor);
};

struct compressor {
    const struct compressor_row *codec;
    struct buffer *out;
    size_t most; /* The length that `out` may reach. */
    union {
        z_stream gzip;
        struct {
            LZ4F_cctx *context;
            LZ4F_preferences_t preferences;
        } lz4;
        ZSTD_CCtx *zstd;
        struct {
            uint8_t *chunk;
            size_t length;
            bool has_header;
        } snappy;
    };
};

static int within_limit(const struct compressor *compressor)
{
    if (compressor->out->failed) return ERR_NO_MEMORY;
    return compressor->out->length > compressor->most ? ERR_LIMIT : 0;
}

/* ---- none */

static int none_open(struct compressor *compressor, int level, size_t expected)
{
    (void)compressor, (void)level, (void)expected;
    return 0;
}

static int none_write(struct compressor *compressor, const uint8_t *data, size_t length)
{
    buffer_put(compressor->out, data, length);
    return within_limit(compressor);
}

static int none_finish(struct compressor *compressor)
{
    (void)compressor;
    return 0;
}

static void none_close(struct compressor *compressor)
{
    (void)compressor;
}

/* ---- gzip */

#define GZIP_WINDOW       (15 + 16) /* 32 KiB, and gzip's frame around it. */
#define GZIP_MEMORY_LEVEL 8         /* zlib's own default. */
#define GZIP_ROOM         16384

static int gzip_open(struct compressor *compressor, int level, size_t expected)
{
    (void)expected;
    compressor->gzip.zalloc = codec_zlib_alloc;
    compressor->gzip.zfree = codec_zlib_free;
    return deflateInit2(&compressor->gzip, level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY_LEVEL,
                        Z_DEFAULT_STRATEGY) == Z_OK
               ? 0
               : ERR_NO_MEMORY;
}

/* Until everything is taken; at the end, until everything is given. */
static int gzip_run(struct compressor *compressor, int flush)
{
    z_stream *stream = &compressor->gzip;
    struct buffer *out = compressor->out;
    int result = Z_OK, err = 0;
    while (err == 0 && (flush == Z_FINISH ? result != Z_STREAM_END : stream->avail_in > 0)) {
        if (!buffer_reserve(out, GZIP_ROOM)) return ERR_NO_MEMORY;
        stream->next_out = out->data + out->length;
        stream->avail_out = GZIP_ROOM;
        result = deflate(stream, flush);
        if (result == Z_STREAM_ERROR) return ERR_NO_MEMORY;
        out->length += GZIP_ROOM - stream->avail_out;
        err = within_limit(compressor);
    }
    return err;
}

static int gzip_write(struct compressor *compressor, const uint8_t *data, size_t length)
{
    compressor->gzip.next_in = (uint8_t *)(uintptr_t)data;
    compressor->gzip.avail_in = (unsigned)length;
    return gzip_run(compressor, Z_NO_FLUSH);
}

static int gzip_finish(struct compressor *compressor)
{
    compressor->gzip.avail_in = 0;
    return gzip_run(compressor, Z_FINISH);
}

static void gzip_close(struct compressor *compressor)
{
    deflateEnd(&compressor->gzip);
}

/* ---- snappy: chunks in the frame of snappy-java. */

#define SNAPPY_CHUNK_BYTES 32768 /* What snappy-java cuts its input into. */

static const uint8_t snappy_header[16] = { 0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0,
                                           0,    0,   0,   1,   0,   0,   0,   1 };

static int snappy_open(struct compressor *compressor, int level, size_t expected)
{
    (void)level;
    (void)expected;
    compressor->snappy.chunk = mem_alloc(SNAPPY_CHUNK_BYTES);
    return compressor->snappy.chunk == NULL ? ERR_NO_MEMORY : 0;
}

static int snappy_put_chunk(struct compressor *compressor)
{
    struct buffer *out = compressor->out;
    size_t length = compressor->snappy.length, written = snappy_max_compressed_length(length);
    if (!compressor->snappy.has_header) buffer_put(out, snappy_header, sizeof snappy_header);
    compressor->snappy.has_header = true;
    if (length > 0 && buffer_reserve(out, 4 + written)) {
        uint8_t *to = out->data + out->length;
        snappy_compress((const char *)compressor->snappy.chunk, length, (char *)to + 4, &written);
        store_i32(to, (int32_t)written);
        out->length += 4 + written;
    }
    compressor->snappy.length = 0;
    return within_limit(compressor);
}

static int snappy_write(struct compressor *compressor, const uint8_t *data, size_t length)
{
    int err = 0;
    while (err == 0 && length > 0) {
        size_t part = SNAPPY_CHUNK_BYTES - compressor->snappy.length;
        if (part > length) part = length;
        memcpy(compressor->snappy.chunk + compressor->snappy.length, data, part);
        compressor->snappy.length += part;
        data += part;
        length -= part;
        if (compressor->snappy.length == SNAPPY_CHUNK_BYTES) err = snappy_put_chunk(compressor);
    }
    return err;
}

static void snappy_close(struct compressor *compressor)
{
    mem_free(compressor->snappy.chunk);
}

/* ---- lz4: Kafka's independent blocks of 64 KiB, no checksums, no content size. */

static int lz4_advance(struct compressor *compressor, size_t written)
{
    if (LZ4F_isError(written)) return ERR_NO_MEMORY;
    compressor->out->length += written;
    return within_limit(compressor);
}

static int lz4_open(struct compressor *compressor, int level, size_t expected)
{
    (void)expected;
    compressor->lz4.preferences = (LZ4F_preferences_t){
        .frameInfo = { .blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockIndependent },
        .compressionLevel = level,
    };
    if (LZ4F_isError(LZ4F_createCompressionContext(&compressor->lz4.context, LZ4F_VERSION)))
        return ERR_NO_MEMORY;
    int err = ERR_NO_MEMORY;
    struct buffer *out = compressor->out;
    if (buffer_reserve(out, LZ4F_HEADER_SIZE_MAX))
        err = lz4_advance(compressor,
                          LZ4F_compressBegin(compressor->lz4.context, out->data + out->length,
                                             LZ4F_HEADER_SIZE_MAX, &compressor->lz4.preferences));
    if (err == ERR_LIMIT) err = 0; /* The end of the stream tells. */
    if (err != 0) LZ4F_freeCompressionContext(compressor->lz4.context);
    return err;
}

static int lz4_write(struct compressor *compressor, const uint8_t *data, size_t length)
{
    size_t room = LZ4F_compressBound(length, &compressor->lz4.preferences);
    struct buffer *out = compressor->out;
    if (!buffer_reserve(out, room)) return ERR_NO_MEMORY;
    return lz4_advance(compressor,
                       LZ4F_compressUpdate(compressor->lz4.context, out->data + out->length, room,
                                           data, length, NULL));
}

static int lz4_finish(struct compressor *compressor)
{
    size_t room = LZ4F_compressBound(0, &compressor->lz4.preferences);
    struct buffer *out = compressor->out;
    if (!buffer_reserve(out, room)) return ERR_NO_MEMORY;
    return lz4_advance(
        compressor, LZ4F_compressEnd(compressor->lz4.context, out->data + out->length, room, NULL));
}

static void lz4_close(struct compressor *compressor)
{
    LZ4F_freeCompressionContext(compressor->lz4.context);
}

/* ---- zstd */

/* A window that is longer than the stream is memory for nothing, and level 22 would take 128 MiB. */
static int zstd_window_log(int level, size_t expected)
{
    int usual = level < 2 ? 19 : level < 3 ? 20 : level < 17 ? 21 : 23;
    int window_log = 10;
    while (window_log < usual && (size_t)1 << window_log < expected)
        window_log++;
    return window_log;
}

static int zstd_open(struct compressor *compressor, int level, size_t expected)
{
    compressor->zstd = ZSTD_createCCtx();
    if (compressor->zstd == NULL) return ERR_NO_MEMORY;
    ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_windowLog, zstd_window_log(level, expected));
    return 0;
}

static int zstd_run(struct compressor *compressor, ZSTD_inBuffer *from, ZSTD_EndDirective end)
{
    struct buffer *out = compressor->out;
    size_t left = 1, room = ZSTD_CStreamOutSize();
    int err = 0;
    while (err == 0 && (end == ZSTD_e_end ? left > 0 : from->pos < from->size)) {
        if (!buffer_reserve(out, room)) return ERR_NO_MEMORY;
        ZSTD_outBuffer to = { out->data + out->length, room, 0 };
        left = ZSTD_compressStream2(compressor->zstd, &to, from, end);
        if (ZSTD_isError(left)) return ERR_NO_MEMORY;
        out->length += to.pos;
        err = within_limit(compressor);
    }
    return err;
}

static int zstd_write(struct compressor *compressor, const uint8_t *data, size_t length)
{
    ZSTD_inBuffer from = { data, length, 0 };
    return zstd_run(compressor, &from, ZSTD_e_continue);
}

static int zstd_finish(struct compressor *compressor)
{
    ZSTD_inBuffer nothing = { NULL, 0, 0 };
    return zstd_run(compressor, &nothing, ZSTD_e_end);
}

static void zstd_close(struct compressor *compressor)
{
    ZSTD_freeCCtx(compressor->zstd);
}

/* ---- the table, and what all codecs share. */

/* clang-format off */
static const struct compressor_row codecs[] = {
    [CODEC_NONE]   = { none_open,   none_write,   none_finish,      none_close },
    [CODEC_GZIP]   = { gzip_open,   gzip_write,   gzip_finish,      gzip_close },
    [CODEC_SNAPPY] = { snappy_open, snappy_write, snappy_put_chunk, snappy_close },
    [CODEC_LZ4]    = { lz4_open,    lz4_write,    lz4_finish,       lz4_close },
    [CODEC_ZSTD]   = { zstd_open,   zstd_write,   zstd_finish,      zstd_close },
};
/* clang-format on */

int compressor_open(struct compressor **compressor, enum codec codec, int level, size_t expected,
                    struct buffer *out, size_t max_bytes)
{
    if ((size_t)codec >= sizeof codecs / sizeof codecs[0]) return ERR_UNSUPPORTED_COMPRESSION_TYPE;
    struct compressor *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->codec = &codecs[codec];
    opened->out = out;
    opened->most = max_bytes > SIZE_MAX - out->length ? SIZE_MAX : out->length + max_bytes;
    int err = opened->codec->open(opened, level, expected);
    if (err == 0)
        *compressor = opened;
    else
        mem_free(opened);
    return err;
}

void compressor_close(struct compressor *compressor)
{
    if (compressor == NULL) return;
    compressor->codec->close(compressor);
    mem_free(compressor);
}

int compressor_write(struct compressor *compressor, const void *data, size_t length)
{
    const uint8_t *at = data;
    int err = 0;
    while (err == 0 && length > 0) {
        size_t part = length < PIECE_BYTES ? length : PIECE_BYTES;
        err = compressor->codec->write(compressor, at, part);
        at += part;
        length -= part;
    }
    return err;
}

int compressor_finish(struct compressor *compressor)
{
    return compressor->codec->finish(compressor);
}
