// SPDX-License-Identifier: Apache-2.0
#include "crc32c.h"
#include "fuzz.h"
#include "record_batch.h"

#define CRC_AT   17
#define CRC_FROM 21

void fuzz_mend_batches(uint8_t *data, size_t length)
{
    struct record_batch batch;
    for (size_t at = 0; length - at >= RECORD_BATCH_HEADER_SIZE; at += batch.size) {
        if (record_batch_read_header(&batch, data + at, length - at) != 0 ||
            batch.size > length - at)
            return;
        store_i32(data + at + CRC_AT, (int32_t)crc32c(data + at + CRC_FROM, batch.size - CRC_FROM));
    }
}
