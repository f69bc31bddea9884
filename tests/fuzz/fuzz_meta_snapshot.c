// SPDX-License-Identifier: Apache-2.0
/* Snapshots of the metadata, any bytes: one is read or is said to be damaged; what was read can be written
 * again, and reads the same then. */

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "crc32c.h"
#include "error.h"
#include "fuzz.h"
#include "fuzz_meta_entries.h"
#include "meta_snapshot.h"

const char fuzz_name[] = "fuzz_meta_snapshot";

/* In front of the image: which allocation fails; 0: none. */
#define HEAD   1
#define CRC_AT 8

static const uint64_t hash_key[2] = { 1, 2 };

void fuzz_make(struct buffer *input)
{
    struct meta_state state;
    struct meta_changes gone;
    struct buffer members;
    meta_state_init(&state, hash_key);
    meta_changes_init(&gone);
    buffer_init(&members);
    fuzz_meta_members(&members);
    for (size_t left = chance_below(14); left > 0; left--) {
        struct buffer payload;
        struct meta_outcome outcome;
        buffer_init(&payload);
        fuzz_meta_command(&payload);
        struct meta_entry entry = { 3,
                                    META_ENTRY_COMMAND,
                                    { payload.data, (int32_t)payload.length } };
        if (meta_apply(&state, state.index + 1, &entry, NULL, &outcome) != 0) abort();
        if (outcome.topic != NULL && chance_below(2) == 0 &&
            meta_changes_add(&gone, outcome.topic, NULL) != 0)
            abort();
        meta_outcome_close(&outcome);
        buffer_close(&payload);
    }
    state.term = 3;
    struct meta_core_snapshot at = {
        state.index + 1, 3, 1, { members.data, (int32_t)members.length }
    };
    state.index = at.index;
    buffer_i8(input, chance_below(8) == 0 ? (int8_t)(1 + chance_below(60)) : 0);
    meta_snapshot_encode(&at, &state, &gone, input);
    buffer_close(&members);
    meta_changes_close(&gone);
    meta_state_close(&state);
}

void fuzz_mend(uint8_t *data, size_t length)
{
    if (length < HEAD + CRC_AT + 4) return;
    uint8_t *image = data + HEAD;
    length -= HEAD;
    store_i32(image + CRC_AT, (int32_t)crc32c(image + CRC_AT + 4, length - CRC_AT - 4));
}

struct decoded {
    struct meta_core_snapshot at;
    struct meta_state state;
    struct meta_changes gone;
};

static int decode(struct decoded *decoded, const uint8_t *image, size_t length)
{
    meta_state_init(&decoded->state, hash_key);
    meta_changes_init(&decoded->gone);
    return meta_snapshot_decode((struct bytes){ image, (int32_t)length }, &decoded->at,
                                &decoded->state, &decoded->gone);
}

static void forget(struct decoded *decoded)
{
    meta_changes_close(&decoded->gone);
    meta_state_close(&decoded->state);
}

static void write_again(const struct decoded *first)
{
    struct buffer image;
    struct decoded second;
    buffer_init(&image);
    meta_snapshot_encode(&first->at, &first->state, &first->gone, &image);
    fuzz_promise(!image.failed, "what was read can be written");
    fuzz_promise(decode(&second, image.data, image.length) == 0, "what was written can be read");
    fuzz_promise(second.at.index == first->at.index && second.at.term == first->at.term &&
                     second.state.topic_count == first->state.topic_count &&
                     second.state.partition_count == first->state.partition_count &&
                     second.state.next_producer_id == first->state.next_producer_id &&
                     second.gone.count == first->gone.count &&
                     strcmp(second.state.cluster_id, first->state.cluster_id) == 0 &&
                     meta_state_broker_count(&second.state) ==
                         meta_state_broker_count(&first->state),
                 "and says the same");
    forget(&second);
    buffer_close(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct decoded decoded;
    if (length < HEAD) return 0;
    mem_fail_at(data[0]);
    int err = decode(&decoded, data + HEAD, length - HEAD);
    mem_fail_at(0);
    fuzz_promise(err == 0 || err == ERR_CORRUPT_MESSAGE || err == ERR_UNSUPPORTED_VERSION ||
                     (err == ERR_NO_MEMORY && data[0] != 0),
                 "a snapshot is read, or is said to be none");
    if (err == 0) write_again(&decoded);
    forget(&decoded);
    return 0;
}
