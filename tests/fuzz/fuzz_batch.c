// SPDX-License-Identifier: Apache-2.0
/* Record batches from a client or a disk: whatever the bytes are, checking and walking them must
 * end well, and a batch that was accepted must be one that a reader can read, also after it was
 * compressed anew. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch_builder.h"
#include "batch_recompress.h"
#include "compress.h"
#include "error.h"
#include "fuzz.h"
#include "record_batch.h"

#define NOW_MS           1700000000000
#define DECOMPRESSED_MAX (1 << 20)

const char fuzz_name[] = "fuzz_batch";

/* Reads all records and headers. Returns how it ended, and how many records there were. */
static int walk(const struct record_batch *batch, int32_t *count, int64_t *max_timestamp)
{
    struct record_walk *walk = NULL;
    struct record record;
    int err = record_walk_open(&walk, batch, DECOMPRESSED_MAX);
    while (err == 0 && (err = record_walk_next(walk, &record)) == 0) {
        struct cursor headers = cursor_over(record.headers.data, (size_t)record.headers.length);
        struct record_header header;
        int32_t header_count = 0;
        while (record_next_header(&headers, &header) == 0)
            header_count++;
        fuzz_promise(header_count == record.header_count, "every header of a record is found");
        fuzz_promise(record.key.length >= -1 && record.value.length >= -1, "lengths make sense");
        *max_timestamp = record.timestamp > *max_timestamp ? record.timestamp : *max_timestamp;
        ++*count;
    }
    record_walk_close(walk);
    return err;
}

/* Compresses a batch anew, which it must survive if it was accepted. */
static void recompress(const struct record_batch *batch, enum codec codec, bool was_accepted,
                       int32_t count)
{
    struct buffer out;
    struct record_batch other;
    int64_t max_timestamp = -1;
    buffer_init(&out);
    int err = batch_recompress(batch, codec, codec_default_level(codec), DECOMPRESSED_MAX,
                               2 * DECOMPRESSED_MAX, &out);
    fuzz_promise(err == 0 || !was_accepted, "an accepted batch can be compressed anew");
    if (err == 0 && was_accepted) {
        int32_t found = 0;
        fuzz_promise(record_batch_read_header(&other, out.data, out.length) == 0 &&
                         other.size == out.length && record_batch_crc_is_right(&other),
                     "what comes out is a batch");
        fuzz_promise(walk(&other, &found, &max_timestamp) == ERR_NOT_FOUND && found == count,
                     "what comes out has the same records");
    }
    buffer_close(&out);
}

/* The first byte: bit 0 mends length and CRC, so that the records are reached; bit 1 compacts; the others
 * choose a codec to compress with. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (length < 1) return 0;
    uint8_t choice = data[0];
    uint8_t *copy = malloc(--length);
    if (copy == NULL) abort();
    memcpy(copy, data + 1, length);
    if ((choice & 1) != 0 && length >= RECORD_BATCH_HEADER_SIZE) {
        store_i32(copy + 8, (int32_t)length - RECORD_BATCH_OVERHEAD);
        record_batch_set_position(copy, 0, 0);
        record_batch_set_max_timestamp(copy, length, load_i64(copy + 35));
    }
    const struct batch_rules rules = {
        .max_message_bytes = INT32_MAX,
        .max_decompressed_bytes = DECOMPRESSED_MAX,
        .timestamp_before_max_ms = INT64_MAX,
        .timestamp_after_max_ms = INT64_MAX,
        .is_compacted = (choice & 2) != 0,
        .produce_version = 13,
    };
    struct record_batch batch;
    struct batch_verdict verdict;
    record_batch_validate(copy, length, &rules, NOW_MS, &batch, &verdict);
    int32_t count = 0;
    int64_t max_timestamp = -1;
    if (verdict.err == 0) {
        fuzz_promise(batch.size == length, "an accepted batch is all of the bytes");
        fuzz_promise(walk(&batch, &count, &max_timestamp) == ERR_NOT_FOUND,
                     "an accepted batch can be read");
        fuzz_promise(count == batch.record_count,
                     "an accepted batch has the records that it counts");
        fuzz_promise((batch.attributes & BATCH_LOG_APPEND_TIME) != 0 ||
                         max_timestamp == verdict.max_timestamp,
                     "the largest timestamp is the records'");
        recompress(&batch, (enum codec)((choice >> 2) % 5), true, count);
    } else if (record_batch_read_header(&batch, copy, length) == 0 && batch.size <= length) {
        walk(&batch, &count, &max_timestamp);
        recompress(&batch, (enum codec)((choice >> 2) % 5), false, count);
    }
    for (int32_t i = 0; i < verdict.record_error_count; i++)
        fuzz_promise(verdict.record_errors[i] >= i && verdict.record_errors[i] < batch.record_count,
                     "a refused record is one of the batch's");
    batch_verdict_release(&verdict);
    free(copy);
    return 0;
}

void fuzz_make(struct buffer *input)
{
    static const uint8_t text[] = "a key, a value, a header, all of the same letters, aaaaaaaaaa";
    struct batch_builder builder;
    batch_builder_init(&builder);
    buffer_i8(input, (int8_t)chance());
    builder.attributes = (int16_t)(chance() % 5);
    for (uint64_t left = 1 + chance() % 8; left > 0; left--) {
        struct bytes key = { text, (int32_t)(chance() % 20) - 1 };
        struct bytes value = { text, (int32_t)(chance() % sizeof text) - 1 };
        struct record_header header = { { text, 3 }, { text, (int32_t)(chance() % 5) - 1 } };
        batch_builder_append(&builder, NOW_MS + (int64_t)(chance() % 100000), key, value, &header,
                             (int32_t)(chance() % 2));
    }
    if (batch_builder_finish(&builder, input) != 0) abort();
    batch_builder_close(&builder);
}

/* The target mends itself, where its first byte says so. */
void fuzz_mend(uint8_t *data, size_t length)
{
    if (length > 0) data[0] |= 1;
}
