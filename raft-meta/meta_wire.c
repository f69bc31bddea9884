// SPDX-License-Identifier: Apache-2.0
#include "meta_wire.h"

#include "crc32c.h"
#include "cursor.h"
#include "error.h"

#define WIRE_VERSION     1
#define CRC_AT           4
#define CRC_FROM         8
#define ENTRY_LEAST_SIZE 13 /* Term, type, and the length of the payload. */

#define FLAG_DISRUPT  1
#define FLAG_GRANTED  1
#define FLAG_PRE_VOTE 2

/* ---- encode ---- */

static void put_bytes(struct bytes bytes, struct buffer *out)
{
    buffer_i32(out, bytes.length);
    if (bytes.length > 0) buffer_put(out, bytes.data, (size_t)bytes.length);
}

static void put_append(const struct meta_message *message, struct buffer *out)
{
    buffer_i64(out, message->as.append.previous_index);
    buffer_i64(out, message->as.append.previous_term);
    buffer_i64(out, message->as.append.leader_commit);
    buffer_i32(out, (int32_t)message->as.append.entry_count);
    for (unsigned i = 0; i < message->as.append.entry_count; i++) {
        const struct meta_entry *entry = &message->as.append.entries[i];
        buffer_i64(out, entry->term);
        buffer_i8(out, (int8_t)entry->type);
        put_bytes(entry->payload, out);
    }
}

static void put_body(const struct meta_message *message, struct buffer *out)
{
    switch (message->type) {
    case META_MESSAGE_APPEND: put_append(message, out); break;
    case META_MESSAGE_APPEND_RESULT:
        buffer_i64(out, message->as.append_result.rejected);
        buffer_i64(out, message->as.append_result.last_index);
        break;
    case META_MESSAGE_VOTE:
        buffer_i32(out, message->as.vote.candidate);
        buffer_i64(out, message->as.vote.last_index);
        buffer_i64(out, message->as.vote.last_term);
        buffer_i8(out, (int8_t)((message->as.vote.disrupt_leader ? FLAG_DISRUPT : 0) |
                                (message->as.vote.is_pre_vote ? FLAG_PRE_VOTE : 0)));
        break;
    case META_MESSAGE_VOTE_RESULT:
        buffer_i8(out, (int8_t)((message->as.vote_result.is_granted ? FLAG_GRANTED : 0) |
                                (message->as.vote_result.is_pre_vote ? FLAG_PRE_VOTE : 0)));
        break;
    case META_MESSAGE_TIMEOUT_NOW:
        buffer_i64(out, message->as.timeout_now.last_index);
        buffer_i64(out, message->as.timeout_now.last_term);
        break;
    case META_MESSAGE_SNAPSHOT:
        buffer_i64(out, message->as.snapshot.index);
        buffer_i64(out, message->as.snapshot.last_term);
        buffer_i64(out, message->as.snapshot.members_index);
        put_bytes(message->as.snapshot.members, out);
        put_bytes(message->as.snapshot.image, out);
        break;
    }
}

void meta_wire_encode(const struct meta_message *message, struct buffer *out)
{
    size_t start = out->length;
    buffer_i64(out, 0); /* Length and CRC. */
    buffer_i8(out, WIRE_VERSION);
    buffer_i8(out, (int8_t)message->type);
    buffer_i16(out, 0);
    buffer_i32(out, message->from);
    buffer_i32(out, message->to);
    buffer_i64(out, message->term);
    buffer_put(out, message->directory_id.bytes, sizeof message->directory_id.bytes);
    put_body(message, out);
    if (out->failed) return;
    uint8_t *frame = out->data + start;
    size_t length = out->length - start;
    store_i32(frame, (int32_t)(length - META_WIRE_LENGTH_SIZE));
    store_i32(frame + CRC_AT, (int32_t)crc32c(frame + CRC_FROM, length - CRC_FROM));
}

/* ---- decode ---- */

/* Length -1 is null where that may be. */
static struct bytes take_bytes(struct cursor *in, bool may_be_null)
{
    int32_t length = cursor_i32(in);
    if (!in->bad && length == -1 && may_be_null) return BYTES_NULL;
    const uint8_t *data = in->bad || length < 0 ? NULL : cursor_take(in, (size_t)length);
    if (data == NULL) in->bad = true;
    return data == NULL ? BYTES_NULL : (struct bytes){ data, length };
}

/* Bits that have no meaning are none. */
static int8_t take_flags(struct cursor *in)
{
    int8_t flags = cursor_i8(in);
    if (flags < 0 || flags > 3) in->bad = true;
    return flags;
}

static int take_append(struct meta_message *message, struct cursor *in, struct arena *arena)
{
    message->as.append.previous_index = cursor_i64(in);
    message->as.append.previous_term = cursor_i64(in);
    message->as.append.leader_commit = cursor_i64(in);
    int32_t count = cursor_i32(in);
    if (in->bad || count < 0 || count > META_MESSAGE_MAX_ENTRIES ||
        (size_t)count > cursor_left(in) / ENTRY_LEAST_SIZE)
        return ERR_MALFORMED;
    message->as.append.entry_count = (unsigned)count;
    if (count == 0) return 0;
    struct meta_entry *entries = arena_calloc(arena, (size_t)count, sizeof *entries);
    if (entries == NULL) return ERR_NO_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        entries[i].term = cursor_i64(in);
        int8_t type = cursor_i8(in);
        if (type < META_ENTRY_COMMAND || type > META_ENTRY_MEMBERS) return ERR_MALFORMED;
        entries[i].type = (enum meta_entry_type)type;
        entries[i].payload = take_bytes(in, true);
    }
    message->as.append.entries = entries;
    return 0;
}

static int take_body(struct meta_message *message, struct cursor *in, struct arena *arena)
{
    int8_t flags;
    switch (message->type) {
    case META_MESSAGE_APPEND: return take_append(message, in, arena);
    case META_MESSAGE_APPEND_RESULT:
        message->as.append_result.rejected = cursor_i64(in);
        message->as.append_result.last_index = cursor_i64(in);
        return 0;
    case META_MESSAGE_VOTE:
        message->as.vote.candidate = cursor_i32(in);
        message->as.vote.last_index = cursor_i64(in);
        message->as.vote.last_term = cursor_i64(in);
        flags = take_flags(in);
        message->as.vote.disrupt_leader = (flags & FLAG_DISRUPT) != 0;
        message->as.vote.is_pre_vote = (flags & FLAG_PRE_VOTE) != 0;
        return 0;
    case META_MESSAGE_VOTE_RESULT:
        flags = take_flags(in);
        message->as.vote_result.is_granted = (flags & FLAG_GRANTED) != 0;
        message->as.vote_result.is_pre_vote = (flags & FLAG_PRE_VOTE) != 0;
        return 0;
    case META_MESSAGE_TIMEOUT_NOW:
        message->as.timeout_now.last_index = cursor_i64(in);
        message->as.timeout_now.last_term = cursor_i64(in);
        return 0;
    case META_MESSAGE_SNAPSHOT:
        message->as.snapshot.index = cursor_i64(in);
        message->as.snapshot.last_term = cursor_i64(in);
        message->as.snapshot.members_index = cursor_i64(in);
        message->as.snapshot.members = take_bytes(in, false);
        message->as.snapshot.image = take_bytes(in, false);
        return 0;
    }
    return ERR_MALFORMED;
}

static int take_head(struct meta_message *message, struct cursor *in)
{
    if (cursor_i8(in) != WIRE_VERSION) return ERR_UNSUPPORTED_VERSION;
    int8_t type = cursor_i8(in);
    if (type < META_MESSAGE_APPEND || type > META_MESSAGE_SNAPSHOT) return ERR_MALFORMED;
    message->type = (enum meta_message_type)type;
    if (cursor_i16(in) != 0) return ERR_MALFORMED;
    message->from = cursor_i32(in);
    message->to = cursor_i32(in);
    message->term = cursor_i64(in);
    const uint8_t *id = cursor_take(in, sizeof message->directory_id.bytes);
    if (id == NULL) return ERR_MALFORMED;
    memcpy(message->directory_id.bytes, id, sizeof message->directory_id.bytes);
    return 0;
}

int meta_wire_decode(struct meta_message *message, struct bytes frame, struct arena *arena)
{
    struct meta_message found = { 0 };
    if (frame.length < CRC_FROM) return ERR_MALFORMED;
    struct cursor in = cursor_over(frame.data, (size_t)frame.length);
    int32_t length = cursor_i32(&in);
    uint32_t crc = cursor_u32(&in);
    if (length != frame.length - META_WIRE_LENGTH_SIZE) return ERR_MALFORMED;
    if (crc != crc32c(in.at, cursor_left(&in))) return ERR_CORRUPT_MESSAGE;
    int err = take_head(&found, &in);
    if (err != 0) return err;
    if (frame.length > META_WIRE_MAX_SIZE && found.type != META_MESSAGE_SNAPSHOT)
        return ERR_MALFORMED;
    err = take_body(&found, &in, arena);
    if (err != 0) return err;
    if (in.bad || cursor_left(&in) != 0) return ERR_MALFORMED;
    err = meta_message_check(&found);
    if (err == 0) *message = found;
    return err;
}
