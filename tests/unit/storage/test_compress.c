// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "compress.h"
#include "error.h"

static const enum codec all_codecs[] = { CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD };

#define EACH_CODEC(codec) \
    for (const enum codec *codec = all_codecs; codec < all_codecs + 4; codec++)

static struct buffer compressed(enum codec codec, const void *data, size_t length)
{
    struct buffer out;
    buffer_init(&out);
    assert_int_equal(codec_compress(codec, codec_default_level(codec), data, length, &out), 0);
    return out;
}

/* Reads everything in pieces of `piece` bytes. */
static int decompress(enum codec codec, const void *data, size_t length, int64_t max_bytes,
                      size_t piece, struct buffer *out)
{
    struct decompressor *decompressor;
    size_t got = 1;
    int err = decompressor_open(&decompressor, codec, data, length, max_bytes);
    if (err != 0) return err;
    buffer_init(out);
    while (err == 0 && got > 0) {
        err = buffer_reserve(out, piece)
                  ? decompressor_read(decompressor, out->data + out->length, piece, &got)
                  : ERR_NO_MEMORY;
        if (err == 0) out->length += got;
    }
    if (err != 0 && !out->failed)
        assert_int_equal(decompressor_read(decompressor, out->data, piece, &got), err);
    decompressor_close(decompressor);
    return err;
}

static int read_code(enum codec codec, const void *data, size_t length, int64_t max_bytes)
{
    struct buffer out = { 0 };
    int err = decompress(codec, data, length, max_bytes, 4096, &out);
    buffer_close(&out);
    return err;
}

static uint8_t *sample(size_t length, unsigned kinds_of_bytes)
{
    uint8_t *data = malloc(length + 1);
    uint64_t chance = test_seed();
    for (size_t i = 0; i < length; i++) {
        chance = chance * 6364136223846793005u + 1442695040888963407u;
        data[i] = (uint8_t)((chance >> 33) % kinds_of_bytes);
    }
    return data;
}

TEST(what_was_compressed_comes_back_in_pieces_of_any_size)
{
    static const size_t lengths[] = { 0, 1, 100, 65536, 300001 };
    static const size_t pieces[] = { 1, 7, 4096, 1 << 20 };
    EACH_CODEC(codec)
    {
        for (size_t i = 0; i < 5; i++) {
            for (size_t kinds = 1; kinds <= 256; kinds *= 16) {
                uint8_t *data = sample(lengths[i], (unsigned)kinds);
                struct buffer packed = compressed(*codec, data, lengths[i]);
                for (size_t j = 0; j < 4; j++) {
                    struct buffer out = { 0 };
                    assert_int_equal(decompress(*codec, packed.data, packed.length,
                                                (int64_t)lengths[i], pieces[j], &out),
                                     0);
                    assert_int_equal(out.length, lengths[i]);
                    assert_memory_equal(out.data, data, lengths[i]);
                    buffer_close(&out);
                }
                buffer_close(&packed);
                free(data);
            }
        }
    }
}

TEST(one_byte_more_than_allowed_is_too_much)
{
    uint8_t *data = sample(100000, 3);
    EACH_CODEC(codec)
    {
        struct buffer packed = compressed(*codec, data, 100000);
        assert_int_equal(read_code(*codec, packed.data, packed.length, 100000), 0);
        assert_int_equal(read_code(*codec, packed.data, packed.length, 99999), ERR_LIMIT);
        buffer_close(&packed);
    }
    free(data);
}

TEST(a_stream_that_ends_early_is_broken)
{
    uint8_t *data = sample(5000, 20);
    EACH_CODEC(codec)
    {
        struct buffer packed = compressed(*codec, data, 5000);
        for (size_t length = 0; length < packed.length; length++) {
            /* Snappy's frame has no end mark: after its header, nothing is a whole stream. */
            int expected = *codec == CODEC_SNAPPY && length == 16 ? 0 : ERR_MALFORMED;
            uint8_t *cut = malloc(length);
            memcpy(cut, packed.data, length);
            /* Zstandard: no frames at all decompress to nothing. */
            if (*codec == CODEC_ZSTD && length == 0) expected = 0;
            assert_int_equal(read_code(*codec, cut, length, 5000), expected);
            free(cut);
        }
        buffer_close(&packed);
    }
    free(data);
}

TEST(a_wrong_checksum_is_noticed)
{
    struct buffer packed = compressed(CODEC_GZIP, "sluice", 6);
    packed.data[packed.length - 8] ^= 1;
    assert_int_equal(read_code(CODEC_GZIP, packed.data, packed.length, 100), ERR_MALFORMED);
    buffer_close(&packed);

    /* An LZ4 frame with content checksum, one stored block "a". */
    uint8_t frame[] = { 0x04, 0x22, 0x4d, 0x18, 0x64, 0x40, 0xa7, 0x01, 0x00, 0x00,
                        0x80, 'a',  0x00, 0x00, 0x00, 0x00, 0x56, 0x74, 0x0d, 0x55 };
    assert_int_equal(read_code(CODEC_LZ4, frame, sizeof frame, 100), 0);
    frame[16] ^= 1;
    assert_int_equal(read_code(CODEC_LZ4, frame, sizeof frame, 100), ERR_MALFORMED);
}

TEST(a_snappy_block_cannot_claim_more_than_snappy_can_reach)
{
    /* 2 GiB in 6 bytes. The allocation would fail here if it were tried. */
    static const uint8_t claims[] = { 0xff, 0xff, 0xff, 0xff, 0x07, 0x00 };
    assert_int_equal(read_code(CODEC_SNAPPY, claims, sizeof claims, INT64_MAX), ERR_MALFORMED);
}

TEST(a_snappy_chunk_cannot_be_longer_than_what_is_there)
{
    struct buffer packed = compressed(CODEC_SNAPPY, "sluice", 6);
    static const int32_t lengths[] = { INT32_MIN, -1, 0, 1000, INT32_MAX };
    for (size_t i = 0; i < 5; i++) {
        store_i32(packed.data + 16, lengths[i]);
        assert_int_equal(read_code(CODEC_SNAPPY, packed.data, packed.length, 100), ERR_MALFORMED);
    }
    buffer_close(&packed);
}

/* Window descriptor: (logarithm - 10) << 3. Then one empty last block. */
TEST(zstd_windows_above_128_mib_are_refused)
{
    uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, (27 - 10) << 3, 0x01, 0x00, 0x00 };
    assert_int_equal(read_code(CODEC_ZSTD, frame, sizeof frame, 100), 0);
    frame[5] = (28 - 10) << 3;
    assert_int_equal(read_code(CODEC_ZSTD, frame, sizeof frame, 100), ERR_MALFORMED);
}

TEST(numbers_that_are_no_codec_are_refused)
{
    for (unsigned codec = 0; codec < 8; codec++) {
        bool is_known = codec > CODEC_NONE && codec <= CODEC_ZSTD;
        int expected = is_known ? ERR_MALFORMED : ERR_UNSUPPORTED_COMPRESSION_TYPE;
        assert_int_equal(read_code(codec, "abcd", 4, 100), expected);
        assert_int_equal(codec_name(codec) == NULL, codec > CODEC_ZSTD);
    }
}

TEST(lack_of_memory_is_an_error_and_leaks_nothing)
{
    EACH_CODEC(codec)
    {
        int err = ERR_NO_MEMORY;
        for (int nth = 1; err != 0; nth++) {
            struct buffer packed, out = { 0 };
            buffer_init(&packed);
            mem_fail_at(nth);
            err = codec_compress(*codec, codec_default_level(*codec), "sluice", 6, &packed);
            if (err == 0) err = decompress(*codec, packed.data, packed.length, 6, 4096, &out);
            mem_fail_at(0);
            buffer_close(&packed);
            buffer_close(&out);
            if (err != 0) assert_int_equal(err, ERR_NO_MEMORY);
        }
    }
}
