// SPDX-License-Identifier: Apache-2.0
/* Is damage the torn end of what nobody waited for, or was it on disk? What lies behind it may know: the blocks
 * of a power cut reach the disk in any order, but a batch that says of its past that it was synced was written
 * after that. Not so one that was on its way out with the rest: a truncation that a power cut interrupts may
 * have taken a block in front of others. */

#include "batch_scan.h"
#include "error.h"
#include "partition_log_inside.h"

/* The next whole batch whose CRC is right. ERR_NOT_FOUND: there is none. */
static int next_whole(struct batch_scan *scan, struct record_batch *batch, int64_t *position,
                      uint8_t *buffer, size_t buffer_size)
{
    int err;

    do {
        err = batch_scan_next(scan, batch, position);
        if (err == 0) {
            err = batch_scan_check_crc(scan, batch, *position, buffer, buffer_size);
            if (err == ERR_CORRUPT_MESSAGE) scan->position = *position;
        }
        if (err != ERR_CORRUPT_MESSAGE) return err;
        err = batch_scan_skip_damage(scan, buffer, buffer_size);
    } while (err == 0);
    return err;
}

/* Offsets lie in front of the CRC: no more batches than fit may be missing. */
static bool is_credible(const struct record_batch *batch, int64_t offset, int64_t bytes_between,
                        const struct partition_log_open_options *options)
{
    return batch->base_offset > offset &&
           batch->base_offset - offset <= bytes_between / RECORD_BATCH_HEADER_SIZE &&
           batch->leader_epoch >= options->on_disk_epoch &&
           (options->batch_is_right == NULL || options->batch_is_right(batch));
}

int log_was_on_disk(struct segment *segment, int64_t position, int64_t offset,
                    const struct partition_log_open_options *options, uint8_t *buffer,
                    size_t buffer_size, bool *was_on_disk)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t at;
    int fd;
    int err = segment_pin(segment, true, &fd);

    if (err != 0) return err;
    batch_scan_init(&scan, segment->folder->fs, fd, position, segment->size, true);
    *was_on_disk = false;
    while (err == 0 && !*was_on_disk) {
        err = next_whole(&scan, &batch, &at, buffer, buffer_size);
        *was_on_disk = err == 0 && is_credible(&batch, offset, at - position, options) &&
                       options->on_disk_before(&batch) > offset;
    }
    segment_unpin(segment);
    return err == ERR_NOT_FOUND ? 0 : err;
}
