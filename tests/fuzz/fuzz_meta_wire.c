// SPDX-License-Identifier: Apache-2.0
/* Frames of raft messages, any bytes: one is read or is refused; what was read makes sense and can be
 * written again to the same bytes. */

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "crc32c.h"
#include "error.h"
#include "fuzz.h"
#include "fuzz_meta_entries.h"
#include "meta_wire.h"

const char fuzz_name[] = "fuzz_meta_wire";

/* In front of the frame: which allocation fails; 0: none. */
#define HEAD     1
#define CRC_AT   4
#define CRC_FROM 8
#define ENTRIES  6

static int64_t some_index(void)
{
    return (int64_t)chance_below(chance_below(4) == 0 ? 1000000 : 20);
}

static void make_append(struct meta_message *message, struct meta_entry *entries,
                        struct buffer *payloads)
{
    int64_t term = 1;
    message->as.append.previous_index = 1 + some_index();
    message->as.append.previous_term = 1;
    message->as.append.leader_commit = some_index();
    message->as.append.entries = entries;
    message->as.append.entry_count = (unsigned)chance_below(ENTRIES + 1);
    for (unsigned i = 0; i < message->as.append.entry_count; i++) {
        enum meta_entry_type type = (enum meta_entry_type)(1 + chance_below(3));
        if (chance_below(3) == 0 && term < message->term) term++;
        if (type == META_ENTRY_COMMAND) fuzz_meta_command(&payloads[i]);
        if (type == META_ENTRY_MEMBERS) fuzz_meta_members(&payloads[i]);
        entries[i] = (struct meta_entry){ term,
                                          type,
                                          { payloads[i].data, (int32_t)payloads[i].length } };
        if (type == META_ENTRY_BARRIER) entries[i].payload = BYTES_NULL;
    }
}

static void make_other(struct meta_message *message, struct buffer *payload)
{
    switch (message->type) {
    case META_MESSAGE_APPEND_RESULT:
        message->as.append_result.last_index = some_index();
        if (chance_below(2) == 0)
            message->as.append_result.rejected = message->as.append_result.last_index + 1;
        break;
    case META_MESSAGE_VOTE:
        message->as.vote.candidate = message->from;
        message->as.vote.last_index = 1 + some_index();
        message->as.vote.last_term = 1;
        message->as.vote.is_pre_vote = chance_below(2) == 0;
        break;
    case META_MESSAGE_VOTE_RESULT:
        message->as.vote_result.is_granted = chance_below(2) == 0;
        message->as.vote_result.is_pre_vote = chance_below(2) == 0;
        break;
    case META_MESSAGE_SNAPSHOT:
        fuzz_meta_members(payload);
        message->as.snapshot.index = 1 + some_index();
        message->as.snapshot.last_term = 1;
        message->as.snapshot.members_index = 1;
        message->as.snapshot.members = (struct bytes){ payload->data, (int32_t)payload->length };
        message->as.snapshot.image = message->as.snapshot.members; /* Any bytes. */
        break;
    default: break; /* Zeros are a log without entries. */
    }
}

void fuzz_make(struct buffer *input)
{
    struct meta_entry entries[ENTRIES];
    struct buffer payloads[ENTRIES];
    struct meta_message message = {
        .type = (enum meta_message_type)(1 + chance_below(META_MESSAGE_SNAPSHOT)),
        .from = (int32_t)chance_below(3),
        .to = 3,
        .term = (int64_t)(1 + chance_below(9)),
    };
    for (unsigned i = 0; i < ENTRIES; i++)
        buffer_init(&payloads[i]);
    if (message.type == META_MESSAGE_APPEND)
        make_append(&message, entries, payloads);
    else
        make_other(&message, &payloads[0]);
    buffer_i8(input, chance_below(8) == 0 ? (int8_t)(1 + chance_below(4)) : 0);
    meta_wire_encode(&message, input);
    for (unsigned i = 0; i < ENTRIES; i++)
        buffer_close(&payloads[i]);
}

void fuzz_mend(uint8_t *data, size_t length)
{
    if (length < HEAD + CRC_FROM) return;
    uint8_t *frame = data + HEAD;
    length -= HEAD;
    store_i32(frame, (int32_t)length - META_WIRE_LENGTH_SIZE);
    store_i32(frame + CRC_AT, (int32_t)crc32c(frame + CRC_FROM, length - CRC_FROM));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct meta_message message;
    struct arena arena;
    if (length < HEAD) return 0;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    mem_fail_at(data[0]);
    int err = meta_wire_decode(&message, (struct bytes){ data + HEAD, (int32_t)(length - HEAD) },
                               &arena);
    mem_fail_at(0);
    fuzz_promise(err == 0 || err == ERR_MALFORMED || err == ERR_CORRUPT_MESSAGE ||
                     err == ERR_UNSUPPORTED_VERSION || (err == ERR_NO_MEMORY && data[0] != 0),
                 "a frame is read or refused");
    if (err == 0) {
        struct buffer again;
        fuzz_promise(meta_message_check(&message) == 0, "what was read makes sense");
        buffer_init(&again);
        meta_wire_encode(&message, &again);
        fuzz_promise(again.length == length - HEAD &&
                         memcmp(again.data, data + HEAD, again.length) == 0,
                     "what was read is written the same");
        buffer_close(&again);
    }
    arena_close(&arena);
    return 0;
}
