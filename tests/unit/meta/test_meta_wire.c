// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "alloc.h"
#include "core_fixture.h"
#include "crc32c.h"
#include "error.h"
#include "meta_wire.h"

static const uint8_t command[] = "command";

static struct meta_message any(enum meta_message_type type)
{
    return (struct meta_message){
        .type = type,
        .from = 4,
        .to = 7,
        .term = 9,
        .directory_id = { { 1, 2, 3 } },
    };
}

/* One of each. */
#define KINDS 6
static struct meta_message message_of(unsigned kind)
{
    static struct meta_entry entries[3];
    struct meta_message message;
    entries[0] = (struct meta_entry){ 5, META_ENTRY_MEMBERS, cores_members(3, 3) };
    entries[1] = (struct meta_entry){ 6, META_ENTRY_BARRIER, BYTES_NULL };
    entries[2] = (struct meta_entry){ 9, META_ENTRY_COMMAND, { command, sizeof command } };
    switch (kind) {
    case 0:
        message = any(META_MESSAGE_APPEND);
        message.as.append.previous_index = 12;
        message.as.append.previous_term = 4;
        message.as.append.leader_commit = 11;
        message.as.append.entries = entries;
        message.as.append.entry_count = 3;
        return message;
    case 1:
        message = any(META_MESSAGE_APPEND_RESULT);
        message.as.append_result.rejected = 20;
        message.as.append_result.last_index = 18;
        return message;
    case 2:
        message = any(META_MESSAGE_VOTE);
        message.as.vote.candidate = 4;
        message.as.vote.last_index = 33;
        message.as.vote.last_term = 8;
        message.as.vote.is_pre_vote = true;
        return message;
    case 3:
        message = any(META_MESSAGE_VOTE_RESULT);
        message.as.vote_result.is_granted = true;
        return message;
    case 4:
        message = any(META_MESSAGE_TIMEOUT_NOW);
        message.as.timeout_now.last_index = 50;
        message.as.timeout_now.last_term = 9;
        return message;
    default:
        message = any(META_MESSAGE_SNAPSHOT);
        message.as.snapshot.index = 60;
        message.as.snapshot.last_term = 8;
        message.as.snapshot.members_index = 3;
        message.as.snapshot.members = cores_members(4, 3);
        message.as.snapshot.image = (struct bytes){ command, sizeof command };
        return message;
    }
}

static void encode(unsigned kind, struct buffer *frame)
{
    struct meta_message message = message_of(kind);
    buffer_init(frame);
    meta_wire_encode(&message, frame);
    assert_false(frame->failed);
}

static struct bytes bytes_of(const struct buffer *buffer)
{
    return (struct bytes){ buffer->data, (int32_t)buffer->length };
}

static int decoded(struct bytes frame)
{
    struct meta_message message;
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    int err = meta_wire_decode(&message, frame, &arena);
    if (err == 0) assert_int_equal(meta_message_check(&message), 0);
    arena_close(&arena);
    return err;
}

TEST(every_message_survives_the_wire)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct buffer frame, again;
        struct meta_message message;
        struct arena arena;
        encode(kind, &frame);
        arena_init(&arena, NULL, 0, SIZE_MAX);
        assert_int_equal(meta_wire_decode(&message, bytes_of(&frame), &arena), 0);
        assert_int_equal(message.type, message_of(kind).type);
        assert_int_equal(message.from, 4);
        assert_int_equal(message.to, 7);
        assert_int_equal(message.term, 9);
        assert_int_equal(message.directory_id.bytes[2], 3);
        buffer_init(&again);
        meta_wire_encode(&message, &again);
        assert_int_equal(again.length, frame.length);
        assert_memory_equal(again.data, frame.data, frame.length);
        buffer_close(&again);
        buffer_close(&frame);
        arena_close(&arena);
    }
}

/* The bytes, once, so that a change of them shows. */
TEST(a_frame_looks_as_it_is_drawn)
{
    static const uint8_t expected[] = {
        0, 0, 0, 56, 0, 0, 0, 0, 1, 5, 0, 0, 0, 0, 0, 4,
        0, 0, 0, 7,  0, 0, 0, 0, 0, 0, 0, 9, 1, 2, 3,
    };
    struct buffer frame;
    encode(4, &frame);
    assert_int_equal(frame.length, 60);
    assert_int_equal(frame.data[3], 56);
    assert_int_equal((uint32_t)load_i32(frame.data + 4), crc32c(frame.data + 8, frame.length - 8));
    assert_memory_equal(frame.data + 8, expected + 8, sizeof expected - 8);
    assert_int_equal(load_i64(frame.data + 44), 50);
    assert_int_equal(load_i64(frame.data + 52), 9);
    buffer_close(&frame);
}

static void seal(uint8_t *frame, size_t length)
{
    store_i32(frame, (int32_t)(length - META_WIRE_LENGTH_SIZE));
    store_i32(frame + 4, (int32_t)crc32c(frame + 8, length - 8));
}

TEST(a_frame_that_ends_early_or_has_more_is_refused)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct buffer frame;
        encode(kind, &frame);
        for (size_t length = 0; length < frame.length; length++) {
            uint8_t *cut = mem_dup(frame.data, length); /* So that a read behind it shows. */
            struct bytes bytes = { cut, (int32_t)length };
            assert_int_equal(decoded(bytes), ERR_MALFORMED);
            if (length >= 8) {
                seal(cut, length);
                assert_int_not_equal(decoded(bytes), 0);
            }
            mem_free(cut);
        }
        buffer_i8(&frame, 0);
        seal(frame.data, frame.length);
        assert_int_equal(decoded(bytes_of(&frame)), ERR_MALFORMED);
        buffer_close(&frame);
    }
}

TEST(a_frame_with_a_wrong_bit_is_refused)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct buffer frame;
        encode(kind, &frame);
        for (size_t bit = 0; bit < 8 * frame.length; bit++) {
            frame.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int err = decoded(bytes_of(&frame));
            assert_true(err == ERR_CORRUPT_MESSAGE || err == ERR_MALFORMED);
            frame.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        buffer_close(&frame);
    }
}

static uint64_t chance(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

TEST(no_byte_of_a_frame_is_believed)
{
    uint64_t seed = test_seed();
    unsigned taken = 0, refused = 0;
    for (int round = 0; round < 60000; round++) {
        struct buffer frame;
        encode((unsigned)chance(&seed, KINDS), &frame);
        size_t length = chance(&seed, 5) == 0 ? 9 + chance(&seed, frame.length - 9) : frame.length;
        uint8_t *bytes = mem_dup(frame.data, length);
        for (uint64_t i = chance(&seed, 4); i > 0; i--)
            bytes[8 + chance(&seed, length - 8)] = (uint8_t)(chance(&seed, 3) == 0
                                                                 ? 0xff
                                                                 : chance(&seed, 16));
        seal(bytes, length);
        if (decoded((struct bytes){ bytes, (int32_t)length }) == 0)
            taken++;
        else
            refused++;
        mem_free(bytes);
        buffer_close(&frame);
    }
    assert_true(taken > 1000 && refused > 1000);
}

TEST(what_is_not_of_this_version_is_refused)
{
    struct buffer frame;
    encode(3, &frame);
    frame.data[8] = 2;
    seal(frame.data, frame.length);
    assert_int_equal(decoded(bytes_of(&frame)), ERR_UNSUPPORTED_VERSION);
    buffer_close(&frame);
}
