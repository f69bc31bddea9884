// SPDX-License-Identifier: Apache-2.0
/* Record batches from a client or a disk: whatever the bytes are, checking and walking them must
 * end well, and a batch that was accepted must be one that a reader can read.
 *
 *     fuzz_batch [--seed N] [--inputs N]
 *
 * Without libFuzzer (FUZZ_LIBFUZZER not defined), main() changes batches of every codec by chance;
 * the same seed gives the same inputs. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch_builder.h"
#include "error.h"
#include "record_batch.h"

#define NOW_MS           1700000000000
#define DECOMPRESSED_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "fuzz_batch: broken promise: %s\n", what);
        abort();
    }
}

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
        promise(header_count == record.header_count, "every header of a record is found");
        promise(record.key.length >= -1 && record.value.length >= -1, "lengths make sense");
        *max_timestamp = record.timestamp > *max_timestamp ? record.timestamp : *max_timestamp;
        ++*count;
    }
    record_walk_close(walk);
    return err;
}

/* The first byte: bit 0 mends length and CRC, so that the records are reached; bit 1 compacts. */
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
        promise(batch.size == length, "an accepted batch is all of the bytes");
        promise(walk(&batch, &count, &max_timestamp) == ERR_NOT_FOUND,
                "an accepted batch can be read");
        promise(count == batch.record_count, "an accepted batch has the records that it counts");
        promise((batch.attributes & BATCH_LOG_APPEND_TIME) != 0 ||
                    max_timestamp == verdict.max_timestamp,
                "the largest timestamp is the records'");
    } else if (record_batch_read_header(&batch, copy, length) == 0 && batch.size <= length) {
        walk(&batch, &count, &max_timestamp);
    }
    free(copy);
    return 0;
}

#ifndef FUZZ_LIBFUZZER

static uint64_t chance_state;

/* splitmix64 */
static uint64_t chance(void)
{
    uint64_t mixed = chance_state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

static void build(struct buffer *input)
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

static void change(struct buffer *input)
{
    static const uint8_t interesting[] = { 0x00, 0x01, 0x02, 0x7f, 0x80, 0xfe, 0xff };
    size_t at = chance() % input->length;
    switch (chance() % 5) {
    case 0: input->data[at] ^= (uint8_t)(1u << chance() % 8); break;
    case 1: input->data[at] = interesting[chance() % sizeof interesting]; break;
    case 2: input->data[at] = (uint8_t)chance(); break;
    case 3:
        if (chance() % 4 == 0) input->length = at + 1;
        break;
    default:
        buffer_put(input, &interesting[chance() % sizeof interesting], 1);
        memmove(input->data + at + 1, input->data + at, input->length - at - 1);
        break;
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, inputs = 200000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--inputs") == 0) inputs = strtoull(argv[i + 1], NULL, 0);
    }
    printf("fuzz_batch: seed %llu, %llu inputs\n", (unsigned long long)seed,
           (unsigned long long)inputs);
    for (uint64_t number = 0; number < inputs; number++) {
        struct buffer input;
        chance_state = seed * 0x9e3779b97f4a7c15 ^ number;
        buffer_init(&input);
        build(&input);
        for (uint64_t changes = chance() % 5; changes > 0; changes--)
            change(&input);
        LLVMFuzzerTestOneInput(input.data, input.length);
        buffer_close(&input);
    }
    return 0;
}

#endif
