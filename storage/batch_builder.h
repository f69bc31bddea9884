// SPDX-License-Identifier: Apache-2.0
/* Makes record batches: for the metadata log, the command line, and tests. */

#ifndef STORAGE_BATCH_BUILDER_H
#define STORAGE_BATCH_BUILDER_H

#include "buffer.h"
#include "record_batch.h"

struct batch_builder {
    /* Set before batch_builder_finish(); init and finish set them to 0, -1 where that means
     * none. With BATCH_DELETE_HORIZON base_timestamp is set before the first record, too. */
    int64_t base_offset;
    int32_t leader_epoch;
    int16_t attributes; /* Codec and bits. */
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t base_sequence;
    int32_t last_offset_delta; /* -1: that of the last record. */

    /* Its own. */
    struct buffer records;
    int32_t record_count;
    int64_t base_timestamp; /* The first record's. */
    int64_t max_timestamp;
};

void batch_builder_init(struct batch_builder *builder);
void batch_builder_close(struct batch_builder *builder);

/* Adds a record; copies what it points to. Lack of memory is remembered until finish. */
void batch_builder_append(struct batch_builder *builder, int64_t timestamp, struct bytes key,
                          struct bytes value, const struct record_header *headers,
                          int32_t header_count);

/* Adds a record of another batch as it is, at an offset that leaves a hole or not. */
void batch_builder_copy(struct batch_builder *builder, const struct record *record,
                        int32_t offset_delta);

/* Bytes of the batch so far, before compression. */
size_t batch_builder_size(const struct batch_builder *builder);

/* Appends the batch to `out` and starts a new one in the same memory. Nothing is checked: tests
 * build what no producer may send. 0, ERR_NO_MEMORY, ERR_UNSUPPORTED_COMPRESSION_TYPE, ERR_LIMIT;
 * `out` is as it was then. */
int batch_builder_finish(struct batch_builder *builder, struct buffer *out);

#endif
