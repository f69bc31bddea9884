// SPDX-License-Identifier: Apache-2.0
/* A walk from batch to batch through a .log file, reading headers and, where asked, checking CRCs.
 *
 * Small batches are read many at a time, large ones by their header only. Memory does not depend on
 * what the file claims. */

#ifndef STORAGE_BATCH_SCAN_H
#define STORAGE_BATCH_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "fs.h"
#include "record_batch.h"

#define BATCH_SCAN_CHUNK 4096

struct batch_scan {
    struct fs *fs;
    int fd;
    bool may_block;
    int64_t position; /* Of the next batch. */
    int64_t end;      /* Of the file, as far as it counts. */
    unsigned reads;
    int64_t bytes_read;
    int64_t chunk_position;
    size_t chunk_length;
    size_t last_size; /* Of the batch before: tells how much to read for the next. */
    uint8_t chunk[BATCH_SCAN_CHUNK];
};

void batch_scan_init(struct batch_scan *scan, struct fs *fs, int fd, int64_t position, int64_t end,
                     bool may_block);

/* The next batch, and where it starts; of its bytes only the header is there, until the next call.
 * ERR_NOT_FOUND at the end; ERR_CORRUPT_MESSAGE if what follows is no whole batch (the position then
 * stays); ERR_NEEDS_IO, ERR_IO, … */
int batch_scan_next(struct batch_scan *scan, struct record_batch *batch, int64_t *position);

/* Reads all of a batch that batch_scan_next() returned into `buffer`, and lets it lie there. ERR_LIMIT if
 * it is larger than that; its content may be anything. */
int batch_scan_load(struct batch_scan *scan, struct record_batch *batch, int64_t position,
                    uint8_t *buffer, size_t buffer_size);

/* Reads all of a batch that batch_scan_next() returned, through `buffer`, and compares its CRC.
 * ERR_CORRUPT_MESSAGE if it is wrong. */
int batch_scan_check_crc(struct batch_scan *scan, const struct record_batch *batch,
                         int64_t position, uint8_t *buffer, size_t buffer_size);

/* Behind damage: moves to the next place where a whole batch begins whose CRC is right, as far as such
 * can be told from chance at a cost that grows with the file and not with its square. `buffer` is at
 * least BATCH_SCAN_SALVAGE_BYTES. ERR_NOT_FOUND: there is none, and the position is the end. */
#define BATCH_SCAN_SALVAGE_BYTES 65536
int batch_scan_skip_damage(struct batch_scan *scan, uint8_t *buffer, size_t buffer_size);

#endif
