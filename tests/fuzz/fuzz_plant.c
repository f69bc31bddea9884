// SPDX-License-Identifier: Apache-2.0
/* A fault planted for the fuzzers to find: a reader of its own, in tests only, that reads one item too many
 * where the count says so and the checksum is right. tests/fuzz/run fails unless it is found. */

#include <string.h>

#include "bytes.h"
#include "crc32c.h"
#include "fuzz.h"

const char fuzz_name[] = "fuzz_plant";

/*    at  size  meaning
 *     0    4   CRC-32C of what follows
 *     4    4   count of items
 *     8        items of 8 bytes */
#define HEAD      8
#define ITEM_SIZE 8

void fuzz_make(struct buffer *input)
{
    size_t count = 1 + chance_below(20);
    buffer_i32(input, 0);
    buffer_i32(input, (int32_t)count);
    for (size_t i = 0; i < count; i++)
        buffer_i64(input, (int64_t)chance());
    fuzz_mend(input->data, input->length);
}

void fuzz_mend(uint8_t *data, size_t length)
{
    if (length >= HEAD) store_i32(data, (int32_t)crc32c(data + 4, length - 4));
}

extern int64_t last_mixed;
int64_t last_mixed;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    int64_t mixed = 0;
    if (length < HEAD || (uint32_t)load_i32(data) != crc32c(data + 4, length - 4)) return 0;
    int32_t count = load_i32(data + 4);
    /* The fault: `<=` should be `<`, and an item more than there is passes. */
    if (count < 0 || (size_t)count > length) return 0;
    for (int32_t i = 0; (size_t)i * ITEM_SIZE <= length - HEAD && i < count; i++)
        mixed ^= load_i64(data + HEAD + (size_t)i * ITEM_SIZE);
    last_mixed = mixed; /* Used, so that it is read. */
    return 0;
}
