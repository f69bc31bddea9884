// SPDX-License-Identifier: Apache-2.0

#include <string.h>

#include "batch_scan.h"
#include "crc32c.h"
#include "error.h"

/* The CRC covers what follows it: the attributes and all behind them. */
#define CRC_FROM 21

void batch_scan_init(struct batch_scan *scan, struct fs *fs, int fd, int64_t position, int64_t end,
                     bool may_block)
{
    scan->fs = fs;
    scan->fd = fd;
    scan->may_block = may_block;
    scan->position = position;
    scan->end = end;
    scan->reads = 0;
    scan->bytes_read = 0;
    scan->chunk_position = 0;
    scan->chunk_length = 0;
    scan->last_size = 0;
}

static int read_at(struct batch_scan *scan, void *to, size_t length, int64_t position, size_t *got)
{
    struct fs *fs = scan->fs;

    scan->reads++;
    int err = scan->may_block ? fs->read(fs, scan->fd, to, length, position, got)
                              : fs->read_nowait(fs, scan->fd, to, length, position, got);
    if (err == 0) scan->bytes_read += (int64_t)*got;
    return err;
}

/* Makes the header at `position` part of the chunk. */
static int load_header(struct batch_scan *scan)
{
    int64_t at = scan->position - scan->chunk_position;
    size_t wanted = scan->last_size < BATCH_SCAN_CHUNK / 2 ? BATCH_SCAN_CHUNK
                                                           : RECORD_BATCH_HEADER_SIZE;
    int64_t left = scan->end - scan->position;

    if (at >= 0 && at + RECORD_BATCH_HEADER_SIZE <= (int64_t)scan->chunk_length) return 0;
    if ((int64_t)wanted > left) wanted = (size_t)left;
    scan->chunk_length = 0;
    int err = read_at(scan, scan->chunk, wanted, scan->position, &scan->chunk_length);
    scan->chunk_position = scan->position;
    if (err == 0 && scan->chunk_length < RECORD_BATCH_HEADER_SIZE) err = ERR_CORRUPT_MESSAGE;
    return err;
}

/* Is it all there, with offsets that can be? */
static bool is_whole(const struct batch_scan *scan, const struct record_batch *batch,
                     int64_t position)
{
    return (int64_t)batch->size <= scan->end - position && batch->base_offset >= 0 &&
           batch->last_offset_delta >= 0 &&
           batch->base_offset <= INT64_MAX - batch->last_offset_delta - 1;
}

int batch_scan_next(struct batch_scan *scan, struct record_batch *batch, int64_t *position)
{
    struct record_batch found;

    if (scan->position >= scan->end) return ERR_NOT_FOUND;
    if (scan->end - scan->position < RECORD_BATCH_HEADER_SIZE) return ERR_CORRUPT_MESSAGE;
    int err = load_header(scan);
    if (err != 0) return err;
    size_t at = (size_t)(scan->position - scan->chunk_position);
    err = record_batch_read_header(&found, scan->chunk + at, scan->chunk_length - at);
    if (err != 0 || !is_whole(scan, &found, scan->position)) return ERR_CORRUPT_MESSAGE;
    *batch = found;
    *position = scan->position;
    scan->position += (int64_t)found.size;
    scan->last_size = found.size;
    return 0;
}

int batch_scan_load(struct batch_scan *scan, struct record_batch *batch, int64_t position,
                    uint8_t *buffer, size_t buffer_size)
{
    size_t got = 0;

    if (batch->size > buffer_size) return ERR_LIMIT;
    int err = read_at(scan, buffer, batch->size, position, &got);
    if (err == 0 && got < batch->size) err = ERR_CORRUPT_MESSAGE;
    if (err == 0) batch->data = buffer;
    return err;
}

int batch_scan_check_crc(struct batch_scan *scan, const struct record_batch *batch,
                         int64_t position, uint8_t *buffer, size_t buffer_size)
{
    uint32_t crc = 0;
    int64_t at = position + CRC_FROM;
    int64_t end = position + (int64_t)batch->size;
    bool is_first = true;

    while (at < end) {
        size_t length = end - at < (int64_t)buffer_size ? (size_t)(end - at) : buffer_size;
        size_t got = 0;
        int err = read_at(scan, buffer, length, at, &got);
        if (err == 0 && got < length) err = ERR_CORRUPT_MESSAGE;
        if (err != 0) return err;
        crc = is_first ? crc32c(buffer, length) : crc32c_more(crc, buffer, length);
        is_first = false;
        at += (int64_t)length;
    }
    return crc == batch->crc ? 0 : ERR_CORRUPT_MESSAGE;
}

#define MAGIC_AT 16
/* Each byte is summed so often on average, then no more is tried. */
#define SALVAGE_ROUNDS 4

/* The first batch that begins in `length` bytes from `position` on, which are `window`. */
static int find_in_window(struct batch_scan *scan, const uint8_t *window, size_t length,
                          int64_t position, int64_t *budget, uint8_t *buffer, size_t buffer_size)
{
    for (size_t i = 0; i + RECORD_BATCH_HEADER_SIZE <= length; i++) {
        struct record_batch batch;
        int64_t at = position + (int64_t)i;
        if (window[i + MAGIC_AT] != 2 ||
            record_batch_read_header(&batch, window + i, length - i) != 0 ||
            !is_whole(scan, &batch, at) || batch.record_count < 0 ||
            batch.record_count > (int64_t)batch.last_offset_delta + 1)
            continue;
        *budget -= (int64_t)batch.size;
        if (*budget < 0) return ERR_LIMIT;
        int err = batch_scan_check_crc(scan, &batch, at, buffer, buffer_size);
        if (err == 0) scan->position = at;
        if (err != ERR_CORRUPT_MESSAGE) return err;
    }
    return ERR_NOT_FOUND;
}

int batch_scan_skip_damage(struct batch_scan *scan, uint8_t *buffer, size_t buffer_size)
{
    size_t half = buffer_size / 2;
    int64_t at = scan->position + 1;
    int64_t budget = SALVAGE_ROUNDS * (scan->end - scan->position);
    int err = ERR_NOT_FOUND;

    while (err == ERR_NOT_FOUND && scan->end - at >= RECORD_BATCH_HEADER_SIZE) {
        size_t got = 0;
        size_t wanted = scan->end - at < (int64_t)half ? (size_t)(scan->end - at) : half;
        err = read_at(scan, buffer, wanted, at, &got);
        if (err == 0 && got < RECORD_BATCH_HEADER_SIZE) err = ERR_LIMIT; /* Shorter than it was. */
        if (err == 0) err = find_in_window(scan, buffer, got, at, &budget, buffer + half, half);
        at += (int64_t)got - RECORD_BATCH_HEADER_SIZE + 1;
    }
    if (err != 0) scan->position = scan->end;
    return err == ERR_LIMIT ? ERR_NOT_FOUND : err;
}
